//! Orders of events at a death, which real programs cannot be made to repeat.

use super::*;
use crate::sink::Limits;
use seekless_trace::{Metadata, SpoolWriter};
use std::process::{Child, Command};

/// A tracer of this process that has seen a stopped child, but not yet the event of its fork.
fn tracer_with_unknown_child(folder: &std::path::Path) -> (Tracer, Child) {
    let spool = SpoolWriter::create(&folder.join("spool"), &Metadata::default()).unwrap();
    let settings = Settings::default();
    let mut tracer =
        Tracer::new(me(), Sink::new(spool, Limits::default(), None).unwrap(), settings.into());
    let child = Command::new("sleep").arg("30").spawn().unwrap();
    tracer.early.insert(child.id() as i32, (Stop::Trap, 0));
    (tracer, child)
}

fn me() -> i32 {
    std::process::id() as i32
}

#[test]
fn a_child_whose_maker_does_not_report_it_does_not_wait_forever() {
    let silences: [fn(&mut Tracer); 2] =
        [|tracer| tracer.ended(me(), Status::Exited(3)), |tracer| tracer.now_ns = 60_000_000_000];
    for silence in silences {
        // A program that another test is starting may hold the lock of a spool for a moment.
        let folder = tempfile::tempdir().unwrap();
        let (mut tracer, mut child) = tracer_with_unknown_child(folder.path());
        let tid = child.id() as i32;
        tracer.adopt_orphans();
        assert!(!tracer.threads.contains_key(&tid), "its maker may still report it");
        silence(&mut tracer);
        tracer.adopt_orphans();
        assert!(tracer.threads.contains_key(&tid) && tracer.early.is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn the_programs_number_after_its_end_is_anothers() {
    let folder = tempfile::tempdir().unwrap();
    let (mut tracer, mut child) = tracer_with_unknown_child(folder.path());
    tracer.ended(me(), Status::Exited(3));
    tracer.ended(me(), Status::Exited(4));
    assert_eq!(tracer.status, Some(Status::Exited(3)));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_the_recorder_does_before_it_lets_a_call_go_on_is_not_the_calls_latency() {
    let folder = tempfile::tempdir().unwrap();
    let (mut tracer, mut child) = tracer_with_unknown_child(folder.path());
    (tracer.resumed_ns, tracer.now_ns) = (90, 100);
    let row =
        tracer.call_row(seekless_trace::Op::Read, 0, Moment { time_ns: 20, pid: 1, tid: 1 }, Ok(5));
    assert_eq!((row.time_ns, row.latency_ns), (20, Some(10)));
    child.kill().unwrap();
    child.wait().unwrap();
}
