//! What stops of a real program cannot be made to show each time: the order of events at a death.

use super::*;
use seekless_trace::{Metadata, SpoolWriter};
use std::process::{Child, Command};

/// A tracer of this process, which knows of a stopped child that nobody has told of yet.
fn tracer_with_unknown_child(folder: &std::path::Path) -> (Tracer, Child) {
    let spool = SpoolWriter::create(&folder.join("spool"), &Metadata::default()).unwrap();
    let settings = Settings { special: false, own: Vec::new() };
    let mut tracer = Tracer::new(me(), Sink::new(spool).unwrap(), settings);
    let child = Command::new("sleep").arg("30").spawn().unwrap();
    tracer.early.insert(child.id() as i32, Stop::Trap);
    (tracer, child)
}

fn me() -> i32 {
    std::process::id() as i32
}

#[test]
fn a_child_whose_maker_ended_or_became_another_program_does_not_wait_forever() {
    let folder = tempfile::tempdir().unwrap();
    let ends: [fn(&mut Tracer); 2] =
        [|tracer| tracer.ended(me(), Status::Exited(3)), |tracer| tracer.executed(me(), me())];
    for end in ends {
        let (mut tracer, mut child) = tracer_with_unknown_child(folder.path());
        let tid = child.id() as i32;
        tracer.ended(i32::MAX, Status::Killed { signal: libc::SIGKILL, core: false });
        assert!(!tracer.threads.contains_key(&tid), "its maker may still tell of it");
        end(&mut tracer);
        assert!(tracer.threads.contains_key(&tid) && tracer.early.is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
