//! SIGKILL at random moments. If it kills the program, the trace is complete. If it kills the
//! recorder, the spool opens, and no process of the program survives.

use crate::support::{Place, Recording, Working, helper, skip};
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

const KILLS: u64 = 10;

/// Moments within the first 120 ms after the program began to read, the same in every test run.
fn moment(number: u64) -> Duration {
    let mixed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    Duration::from_micros(mixed % 120_000)
}

/// Runs the helper, which reads, forks and executes. Its processes are found by the folder's name
/// in their arguments.
fn busy(place: &Place) -> Option<Working> {
    let (helper, file) = (helper("dynamic")?, place.file());
    let working =
        Working::start(place.recorder(&[helper.as_os_str(), "busy".as_ref(), file.as_os_str()]));
    assert!(working.program() > 0);
    Some(working)
}

/// Processes other than `but` with the folder's name in their arguments. Zombies have no arguments.
fn survivors(place: &Place) -> Vec<i32> {
    let name = place.root.to_str().unwrap().as_bytes();
    let mentions = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|words| words.windows(name.len()).any(|window| window == name))
    };
    let processes = std::fs::read_dir("/proc").unwrap();
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(mentions)
        .collect()
}

fn assert_nothing_survives(place: &Place) {
    let patience = Instant::now() + Duration::from_secs(5);
    while !survivors(place).is_empty() {
        assert!(Instant::now() < patience, "{:?} live on", survivors(place));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn killing_the_program_leaves_a_complete_trace() {
    for number in 0..KILLS {
        let place = Place::new();
        let Some(working) = busy(&place) else { skip!("no C compiler") };
        std::thread::sleep(moment(number));
        seekless_sys::signals::send(working.program(), libc::SIGKILL).unwrap();
        assert_eq!(working.end().signal(), Some(libc::SIGKILL));
        let recording = place.recording();
        assert!(!recording.accesses.is_empty());
        assert_eq!(recording.trace.metadata().runs[0].exit_status, Some(128 + libc::SIGKILL));
        assert!(place.spools().is_empty());
        assert_nothing_survives(&place);
        place.close();
    }
}

#[test]
fn killing_the_recorder_ends_the_program_and_leaves_the_spool() {
    for number in 0..KILLS {
        let place = Place::new();
        let Some(working) = busy(&place) else { skip!("no C compiler") };
        std::thread::sleep(moment(number) * 5); // past a batch's time in some of them
        working.signal_recorder(libc::SIGKILL);
        assert_eq!(working.end().signal(), Some(libc::SIGKILL));
        assert_nothing_survives(&place);
        assert!(!place.output().exists());
        let recording = Recording::open(&place.spools()[0]);
        assert_eq!(recording.trace.metadata().runs[0].command[1], "busy");
        if moment(number) * 5 > Duration::from_millis(500) {
            assert!(
                !recording.accesses.is_empty(),
                "half a second and two batches, and nothing in the spool"
            );
        }
        place.close();
    }
}
