//! A test for each way to open, read, write, map, share and close a file.

use crate::support::{FILE_BYTES, Place, foresees, helper, program, skip, succeed};
use seekless_trace::{Access, Op};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Records a mode on the place's file; skips without a compiler.
macro_rules! recorded {
    ($place:ident, $($word:expr),+) => {
        match $place.record_mode(&[$($word),+]) {
            Some(recording) => recording,
            None => skip!("no C compiler (cc) to build the helper"),
        }
    };
}

const NO_ENTRY: Option<i32> = Some(2);

#[test]
fn positions_are_shared_through_dup_and_fork() {
    let place = Place::new();
    let recording = recorded!(place, "sharing", "file");
    let offsets: Vec<i64> =
        recording.ranges(&place.file(), Op::Read).iter().map(|range| range.0).collect();
    assert_eq!(offsets, [0, 10, 20, 35]);
    let rows = recording.of(&place.file());
    let open = rows.iter().find(|row| row.op == Op::Open).unwrap();
    assert_eq!(open.file_bytes, Some(FILE_BYTES));
    assert!(open.inode.is_some() && open.device.is_some());
    assert!(open.latency_ns.is_some() || foresees());
    let reads: Vec<&Access> = rows.iter().filter(|row| row.op == Op::Read).collect();
    assert_ne!(reads[0].pid, reads[2].pid);
    assert!(rows.iter().all(|row| row.pid == row.tid));
}

#[test]
fn exec_keeps_descriptors_but_those_to_close() {
    let place = Place::new();
    let recording = recorded!(place, "executes", "file");
    assert_eq!(recording.ranges(&place.file(), Op::Read), [(0, 7), (0, 7), (7, 7)]);
    assert_eq!(recording.count(&place.file(), Op::Open), 2);
}

#[test]
fn a_file_that_comes_through_a_socket_keeps_its_position() {
    let place = Place::new();
    let recording = recorded!(place, "passes", "file");
    assert_eq!(recording.ranges(&place.file(), Op::Read), [(0, 10), (10, 5)]);
}

#[test]
fn threads_have_a_process_and_their_own_numbers() {
    let place = Place::new();
    let recording = recorded!(place, "threads", "file");
    let mut reads = recording.of(&place.file());
    reads.retain(|row| row.op == Op::Read);
    let mut offsets: Vec<i64> = reads.iter().map(|read| read.offset).collect();
    offsets.sort_unstable();
    assert_eq!(offsets, [0, 100, 200, 300]);
    let mut threads: Vec<u32> = reads.iter().map(|read| read.tid).collect();
    threads.sort_unstable();
    threads.dedup();
    assert_eq!(threads.len(), 4);
    assert!(reads.iter().all(|read| read.pid == reads[0].pid && read.tid != read.pid));
    assert_eq!(recording.count(&place.file(), Op::Close), 4);
}

#[test]
fn exec_in_a_thread_takes_over_the_process() {
    let place = Place::new();
    let recording = recorded!(place, "exec-in-thread", "file");
    let rows = recording.of(&place.file());
    assert_eq!(recording.ranges(&place.file(), Op::Read)[..2], [(0, 3), (0, FILE_BYTES)]);
    assert!(rows.iter().all(|row| row.pid == rows[0].pid && row.tid == row.pid));
}

#[test]
fn spawned_programs_are_followed() {
    let place = Place::new();
    let recording = recorded!(place, "spawns", "file");
    let whole: Vec<(i64, u64)> = recording.ranges(&place.file(), Op::Load);
    assert_eq!(whole, [(0, FILE_BYTES); 2]);
    assert_eq!(recording.count(&place.file(), Op::Release), 2);
}

#[test]
fn a_child_that_asks_not_to_be_traced_still_runs() {
    let place = Place::new();
    let recording = recorded!(place, "untraced", "file");
    assert_eq!(recording.ranges(&place.file(), Op::Read), [(0, 9)]);
}

#[test]
fn a_child_that_asks_so_by_clone3_is_traced_too() {
    let place = Place::new();
    let recording = recorded!(place, "untraced-by-size", "file");
    assert_eq!(recording.ranges(&place.file(), Op::Read), [(0, 9)]);
}

#[test]
fn what_the_kernel_refuses_has_no_made_up_offset_or_name() {
    let place = Place::new();
    let recording = recorded!(place, "refused", "file");
    assert_eq!(recording.ranges(&place.file(), Op::Read), [(0, 0)]);
    assert!(!recording.names.iter().any(|name| name == "/relative"));
}

/// The kernel lets root read every program, so the user `nobody` runs this one.
#[test]
fn calls_of_a_program_that_may_not_be_looked_into_are_lost_and_counted() {
    const NOBODY: u32 = 65534;
    let place = Place::new();
    let Some(helper) = helper("dynamic") else { skip!("no C compiler") };
    std::fs::set_permissions(&place.root, std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = place.recorder(&[helper.to_str().unwrap(), "undumpable", "file"]);
    if rustix::process::geteuid().is_root() {
        if Command::new(helper).args(["exits", "0"]).uid(NOBODY).gid(NOBODY).status().is_err() {
            skip!("nobody may not run {}", helper.display());
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    succeed(&mut command);
    let trace = place.recording().trace;
    assert_eq!(trace.metadata().lost, 3, "an open, a read, a stat");
    assert_eq!(trace.metadata().blind_spots().into_values().collect::<Vec<_>>(), [3]);
}

#[test]
fn failed_opens_are_there_with_their_error_and_absolute_name() {
    let place = Place::new();
    let recording = recorded!(place, "missing", "file");
    for name in ["gone/one", "two", "three"] {
        let rows = recording.of(&place.root.join(name));
        assert_eq!(rows.len(), 1, "{name}");
        assert_eq!((rows[0].op, rows[0].error, rows[0].bytes), (Op::Open, NO_ENTRY, 0));
    }
    assert!(recording.names.iter().all(|name| !name.starts_with("/proc")), "{:?}", recording.names);
}

#[test]
fn every_way_to_open() {
    let place = Place::new();
    let recording = recorded!(place, "open-ways", "file");
    assert_eq!(recording.ranges(&place.file(), Op::Read), [(0, 1), (0, 2)]);
    let created = place.root.join("created");
    assert_eq!(recording.ranges(&created, Op::Write), [(0, 3)]);
    assert_eq!(recording.count(&created, Op::Sync), 2);
    assert_eq!(recording.count(&created, Op::Load), 0);
}

#[test]
fn a_closed_range_is_closed() {
    let place = Place::new();
    let recording = recorded!(place, "close-ranges", "file");
    assert_eq!(recording.count(&place.file(), Op::Close), 3);
    assert_eq!(recording.count(&place.file(), Op::Open), 4);
}

#[test]
fn vectors_read_at_positions_and_offsets() {
    let place = Place::new();
    let recording = recorded!(place, "vectors", "file");
    assert_eq!(
        recording.ranges(&place.file(), Op::Read),
        [(0, 7), (20, 7), (7, 7), (40, 7), (14, 1)]
    );
}

#[test]
fn a_map_of_the_whole_file_is_a_load_until_it_is_unmapped() {
    let place = Place::new();
    let recording = recorded!(place, "maps", "file");
    let rows = recording.of(&place.file());
    let ops: Vec<Op> = rows.iter().map(|row| row.op).collect();
    assert_eq!(ops, [Op::Open, Op::Load, Op::Map, Op::Close, Op::Sync, Op::Release]);
    let load = rows[1];
    assert_eq!((load.time_ns, load.offset, load.bytes), (rows[0].time_ns, 0, FILE_BYTES));
    assert_eq!(load.file_bytes, Some(FILE_BYTES));
    assert_eq!((rows[2].offset, rows[2].bytes), (0, FILE_BYTES));
    assert_eq!(rows[4].offset, 4096);
}

#[test]
fn touches_of_a_mapped_file_are_faults_at_the_grain_of_what_the_kernel_maps() {
    let place = Place::new();
    // Smaller than a huge page, which the kernel may map whole at one touch.
    std::fs::write(place.file(), vec![b'.'; 500 * 4096]).unwrap();
    let recording = recorded!(place, "touches", "file");
    let source = &recording.trace.metadata().runs[0].source;
    if source.contains("at the grain of calls") {
        skip!("no perf events here: {source}");
    }
    let faults = recording.ranges(&place.file(), Op::Fault);
    let holds = |page: i64| {
        let at = page * 4096;
        faults.iter().filter(|(from, bytes)| (*from..*from + *bytes as i64).contains(&at)).count()
    };
    // Page 300 is touched by the kernel alone, which only some users may see.
    for page in [0, 150, 220, 224, 229, 450] {
        assert_eq!(holds(page), 1, "page {page}: {faults:?}");
    }
    for page in [40, 60, 110, 190, 260, 400] {
        assert_eq!(holds(page), 0, "page {page}: {faults:?}");
    }
    assert!(faults.iter().all(|(_, bytes)| (4096..=65536).contains(bytes)), "{faults:?}");
    let row = recording.of(&place.file()).into_iter().find(|row| row.op == Op::Fault).unwrap();
    assert_eq!(row.file_bytes, Some(500 * 4096));
    assert!(row.inode.is_some() && row.device.is_some() && row.latency_ns.is_none());
}

#[test]
fn the_kernels_own_copies_are_reads_and_writes() {
    let place = Place::new();
    let recording = recorded!(place, "transfers", "file", "copy");
    assert_eq!(
        recording.ranges(&place.file(), Op::Read),
        [(0, 10), (100, 10), (10, 10), (20, 10), (30, 1)]
    );
    let copy = place.root.join("copy");
    assert_eq!(recording.ranges(&copy, Op::Write), [(0, 10), (10, 10), (50, 10), (20, 10)]);
}

#[test]
fn appends_are_where_the_file_ended() {
    let place = Place::new();
    let recording = recorded!(place, "appends", "file");
    assert_eq!(recording.ranges(&place.file(), Op::Write), [(10_000, 5), (3, 2), (10_005, 3)]);
}

#[test]
fn questions_about_names_are_stats() {
    let place = Place::new();
    let recording = recorded!(place, "asks", "file");
    let rows = recording.of(&place.file());
    assert_eq!(rows.iter().filter(|row| row.op == Op::Stat).count(), 7);
    let nowhere = recording.of(&place.root.join("nowhere"));
    assert_eq!((nowhere.len(), nowhere[0].op), (1, Op::Stat));
    if !foresees() {
        assert_eq!(rows.iter().filter(|row| row.error == Some(22)).count(), 1); // readlink of no link
        assert_eq!(nowhere[0].error, NO_ENTRY);
    }
}

#[test]
fn old_calls_of_a_64_bit_program_are_read() {
    let Some(helper) = helper("dynamic") else { skip!("no C compiler") };
    let place = Place::new();
    let words = [helper.to_str().unwrap(), "old-calls", "file"];
    if !place.command(words[0]).args(&words[1..]).status().unwrap().success() {
        skip!("this machine makes no 32-bit calls");
    }
    succeed(&mut place.recorder(&words));
    let recording = place.recording();
    assert_eq!(recording.ranges(&place.file(), Op::Read), [(0, 10)]);
    assert_eq!([Op::Open, Op::Close].map(|op| recording.count(&place.file(), op)), [1, 1]);
    assert_eq!(recording.trace.metadata().lost, 0);
    assert!(recording.trace.metadata().blind_spots().is_empty());
}

#[test]
fn a_32_bit_program_is_seen_like_any_other() {
    let flags = &["-m32", "-nostdlib", "-static", "-fno-pic", "-no-pie"];
    let Some(program) = program("thirty_two", flags) else { skip!("no C compiler for 32 bits") };
    let place = Place::new();
    if !place.command(program).status().is_ok_and(|status| status.code() == Some(3)) {
        skip!("no 32-bit programs run here");
    }
    assert_eq!(place.recorder(&[program]).status().unwrap().code(), Some(3));
    let recording = place.recording();
    let file = place.file();
    let beyond = (1 << 32) + 5;
    let reads = [(0, 10), (100, 7), (beyond, 0), (200, 5), (205, 3), (208, 1), (209, 2)];
    assert_eq!(recording.ranges(&file, Op::Read), reads);
    assert_eq!(recording.ranges(&file, Op::Map), [(4096, 4096)]);
    assert_eq!([Op::Open, Op::Close, Op::Stat].map(|op| recording.count(&file, op)), [1, 1, 1]);
    assert_eq!(recording.of(&place.root.join("gone"))[0].error, NO_ENTRY);
    assert_eq!(recording.trace.metadata().lost, 0);
    assert!(recording.trace.metadata().blind_spots().is_empty());
}

#[test]
fn x32_calls_are_counted_and_come_to_the_same() {
    let Some(helper) = helper("dynamic") else { skip!("no C compiler") };
    let place = Place::new();
    let words = [helper.to_str().unwrap(), "x32-calls", "file"];
    let plain = place.command(words[0]).args(&words[1..]).output().unwrap();
    if plain.status.code() == Some(77) {
        skip!("this machine makes no x32 calls");
    }
    let recorded = succeed(&mut place.recorder(&words));
    assert!(plain.status.success() && !plain.stdout.is_empty());
    assert_eq!(String::from_utf8_lossy(&recorded.stdout), String::from_utf8_lossy(&plain.stdout));
    let metadata = place.recording().trace.metadata().clone();
    assert_eq!((metadata.lost, metadata.blind_spots()["x32 call"]), (3, 3));
}

#[test]
fn what_outlives_the_program_is_waited_for() {
    let place = Place::new();
    let recording = recorded!(place, "outlived", "file");
    assert_eq!(recording.ranges(&place.file(), Op::Read), [(0, 11)]);
}

#[test]
fn a_static_program_is_seen_like_any_other() {
    let Some(helper) = helper("static") else { skip!("no C compiler or no static libc") };
    let place = Place::new();
    let words = [helper.to_str().unwrap(), "sharing", "file"];
    assert!(place.recorder(&words).status().unwrap().success());
    assert_eq!(place.recording().count(&place.file(), Op::Read), 4);
}

#[test]
fn inherited_files_have_a_rundown_and_special_ones_only_on_request() {
    let place = Place::new();
    let input = std::fs::File::open(place.file()).unwrap();
    let special = [
        "--special",
        "sh",
        "-c",
        "read line; cat /proc/self/stat >/dev/null; echo out | cat >/dev/null",
    ];
    assert!(place.recorder(&special).stdin(input).status().unwrap().success());
    let recording = place.recording();
    let first = recording.of(&place.file())[0];
    assert_eq!((first.op, first.latency_ns, first.file_bytes), (Op::Open, None, Some(FILE_BYTES)));
    for prefix in ["/proc/", "/dev/null", "pipe:["] {
        assert!(
            recording.names.iter().any(|name| name.starts_with(prefix)),
            "{prefix}: {:?}",
            recording.names
        );
    }
}

#[test]
fn directories_are_listed_and_the_recorders_files_are_not_in_them() {
    let place = Place::new();
    let script = "ls -a; ls -a; stat -c %n run.parquet || echo none; ls -a";
    let plain = succeed(place.command("sh").args(["-c", script]));
    let output = succeed(&mut place.recorder(&["sh", "-c", script]));
    assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&plain.stdout));
    let recording = place.recording();
    assert!(recording.ranges(&place.root, Op::List).iter().any(|(_, bytes)| *bytes > 0));
    assert!(recording.of(&place.output()).is_empty());
    let run = &recording.trace.metadata().runs[0];
    assert_eq!(run.command, ["sh", "-c", script]);
    assert_eq!(Path::new(&run.directory), place.root);
    assert_eq!((run.clock.as_str(), run.exit_status), ("monotonic", Some(0)));
    assert!(run.duration_ns.is_some() && run.started_unix_ns.is_some() && !run.kernel.is_empty());
}

#[test]
fn files_are_kept_or_left_out_whole() {
    let place = Place::new();
    std::fs::create_dir(place.root.join("data")).unwrap();
    for name in ["data/one.db", "data/one.tmp", "two.db"] {
        std::fs::copy(place.file(), place.root.join(name)).unwrap();
    }
    let script =
        "cat data/one.db data/one.tmp two.db file >/dev/null; cat data/gone data/gone.tmp gone; :";
    let words = ["--only", "data", "--only", "two.*", "--exclude", "*.tmp", "sh", "-c", script];
    succeed(&mut place.recorder(&words));
    let recording = place.recording();
    let mut kept = recording.names.clone();
    kept.sort();
    let expected = ["data/gone", "data/one.db", "two.db"].map(|name| place.root.join(name));
    assert_eq!(kept, expected.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>());
    for name in ["data/one.db", "two.db"] {
        assert_eq!(recording.ranges(&place.root.join(name), Op::Load), [(0, FILE_BYTES)]);
    }
    let run = &recording.trace.metadata().runs[0];
    assert_eq!(
        (run.only.as_slice(), run.exclude.as_slice()),
        (&["data".into(), "two.*".into()][..], &["*.tmp".into()][..])
    );
    let all = Place::new();
    std::fs::create_dir(all.root.join("data")).unwrap();
    for name in ["data/one.db", "data/one.tmp", "two.db"] {
        std::fs::copy(all.file(), all.root.join(name)).unwrap();
    }
    succeed(&mut all.recorder(&["sh", "-c", script]));
    let calls = |accesses: &[Access]| {
        accesses
            .iter()
            .filter(|row| row.latency_ns.is_some() || foresees())
            .filter(|row| !matches!(row.op, Op::Load | Op::Release | Op::Fault))
            .count() as u64
    };
    assert_eq!(run.left_out + calls(&recording.accesses), calls(&all.recording().accesses));
}

#[test]
fn the_spool_is_not_seen_either() {
    let place = Place::new();
    let script =
        "for spool in $XDG_STATE_HOME/seekless/spool/*; do cat \"$spool\" >/dev/null; done";
    succeed(&mut place.recorder(&["sh", "-c", script]));
    let recording = place.recording();
    assert!(recording.names.iter().any(|name| name.ends_with("/state/seekless/spool")));
    assert!(!recording.names.iter().any(|name| name.ends_with(".spool")));
}
