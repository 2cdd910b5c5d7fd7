//! Recordings by programs in the kernel (eBPF), in which the recorded program does not stop.

use crate::support::{METHOD, Place, Recording, helper, run_all_by, skip, succeed};
use seekless_trace::Op;

/// Skips where the kernel does not allow it.
macro_rules! needs_ebpf {
    () => {
        if let Err(why) = seekless_record::ebpf_works() {
            skip!("no eBPF: {why}");
        }
    };
}

#[test]
fn all_that_holds_with_stops_holds_without() {
    needs_ebpf!();
    if std::env::var_os(METHOD).is_some() {
        skip!("all tests here use one method already");
    }
    // These run as nobody, or in a namespace of processes.
    let elsewhere = ["may_not_be_looked_into", "a_file_server_within", "births::"];
    run_all_by("ebpf", &elsewhere);
}

/// Records this many reads of a static program, with the usual ring or one of this many bytes.
fn reads(place: &Place, count: u64, ring: Option<&str>) -> Option<Recording> {
    let (helper, count) = (helper("static")?, count.to_string());
    let mut recorder = place.command(crate::support::recorder());
    recorder.arg(place.output()).args(["--method", "ebpf"]);
    recorder.args(ring.into_iter().flat_map(|bytes| ["--ring", bytes]));
    recorder.arg(helper).args(["preads", "file", &count, "10000"]);
    succeed(&mut recorder);
    Some(place.recording())
}

#[test]
fn of_a_million_reads_none_is_lost() {
    needs_ebpf!();
    let place = Place::new();
    let Some(recording) = reads(&place, 1_000_000, None) else { skip!("no C compiler") };
    assert_eq!(recording.trace.metadata().lost, 0);
    assert_eq!(recording.count(&place.file(), Op::Read), 1_000_000);
}

#[test]
fn each_call_is_recorded_or_counted_as_lost() {
    needs_ebpf!();
    let place = Place::new();
    let Some(recording) = reads(&place, 300_000, Some("16384")) else { skip!("no C compiler") };
    let (lost, seen) = (recording.trace.metadata().lost, recording.count(&place.file(), Op::Read));
    assert!(lost > 0 && seen > 0, "{lost} lost, {seen} seen");
    // The few calls that start and end the program may be among the lost.
    let all = lost + seen as u64;
    assert!((300_000..300_100).contains(&all), "{lost} lost, {seen} seen");
}
