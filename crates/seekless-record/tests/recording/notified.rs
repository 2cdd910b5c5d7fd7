//! Recordings by notifications, which report calls before they happen. What is foreseen must come
//! to what the stops of ptrace tell.

use crate::support::{
    FILE_BYTES, METHOD, Place, Recording, has, helper, recorder, run_all_by, skip, succeed,
};
use seekless_trace::Op;
use std::path::Path;

#[test]
fn all_that_holds_with_stops_holds_with_notifications() {
    if std::env::var_os(METHOD).is_some() {
        skip!("all tests here use one method already");
    }
    run_all_by("notify", &[]);
}

/// Records a program by a method.
fn record(place: &Place, method: &str, words: &[&str]) -> Recording {
    let mut command = place.command(recorder());
    command.arg(place.output()).args(["--force", "--method", method]).args(words);
    succeed(&mut command);
    let recording = place.recording();
    assert_eq!(recording.trace.metadata().lost, 0, "{method}: {words:?}");
    recording
}

/// The names of the files that were read whole, in order, and their bytes.
fn loads(recording: &Recording) -> Vec<(&str, u64)> {
    let loads = recording.accesses.iter().filter(|row| row.op == Op::Load);
    loads.map(|row| (recording.names[row.file as usize].as_str(), row.bytes)).collect()
}

/// Of each read, its file, offset and bytes.
fn reads(recording: &Recording) -> Vec<(&str, i64, u64)> {
    let reads = recording.accesses.iter().filter(|row| row.op == Op::Read);
    let read = |file: u32| recording.names[file as usize].as_str();
    reads.map(|row| (read(row.file), row.offset, row.bytes)).collect()
}

fn assert_same<T: PartialEq + std::fmt::Debug>(ours: &[T], theirs: &[T], words: &[&str]) {
    let different = ours.iter().zip(theirs).find(|(ours, theirs)| ours != theirs);
    assert!(different.is_none(), "{words:?}: {different:?}");
    assert_eq!(ours.len(), theirs.len(), "{words:?}");
}

fn assert_loads_are_those_of_stops(words: &[&str]) {
    let place = Place::new();
    succeed(place.command(words[0]).args(&words[1..])); // once, so that caches are written
    let stops = record(&place, "ptrace", words);
    let foreseen = record(&place, "notify", words);
    assert!(!loads(&stops).is_empty(), "{words:?}");
    assert_same(&loads(&foreseen), &loads(&stops), words);
    assert_same(&reads(&foreseen), &reads(&stops), words);
}

#[test]
fn loads_and_reads_are_those_that_stops_tell() {
    let Some(helper) = helper("dynamic") else { skip!("no C compiler") };
    let helper = helper.to_str().unwrap();
    for mode in ["sharing", "executes", "exec-in-thread", "spawns", "vectors", "maps", "passes"] {
        assert_loads_are_those_of_stops(&[helper, mode, "file"]);
    }
    // No pipeline, whose programs would take turns in another way each time.
    let script = "cat file > copy; head -c 15000 file copy > part; cat < part > /dev/null; \
                  ln -s file link; cat ./link ../root/link; rm link; grep -c . file part || true";
    assert_loads_are_those_of_stops(&["sh", "-c", script]);
}

#[test]
fn loads_and_reads_of_a_python_start_are_those_that_stops_tell() {
    if !has("python3", "--version") {
        skip!("no python3");
    }
    assert_loads_are_those_of_stops(&["python3", "-c", "import json, email, sqlite3"]);
}

#[test]
fn rows_without_results_say_nothing_of_them() {
    let Some(helper) = helper("dynamic") else { skip!("no C compiler") };
    let place = Place::new();
    let recording = record(&place, "notify", &[helper.to_str().unwrap(), "missing", "file"]);
    let reported: Vec<Op> = vec![Op::Open, Op::Read, Op::Close, Op::Stat];
    let mut foreseen = recording.accesses.iter().filter(|row| reported.contains(&row.op));
    assert!(foreseen.all(|row| row.latency_ns.is_none()));
    let source = &recording.trace.metadata().runs[0].source;
    assert!(source.contains("notifications") && source.contains("without latencies"), "{source}");
}

#[test]
fn an_open_without_permission_failed() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    if !rustix::process::geteuid().is_root() {
        skip!("not root, who can become nobody");
    }
    let place = Place::new();
    for (path, mode) in [(place.root.clone(), 0o777), (place.state.clone(), 0o777)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    std::fs::set_permissions(place.file(), std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = place.command(recorder());
    command.arg(place.output()).args(["--method", "notify", "sh", "-c", "cat file; true"]);
    match command.uid(65534).gid(65534).output() {
        Ok(output) if output.status.success() => {}
        other => skip!("nobody may not run it: {other:?}"),
    }
    let opens = place.recording().of(&place.file());
    assert_eq!(
        opens.iter().map(|row| (row.op, row.error)).collect::<Vec<_>>(),
        [(Op::Open, Some(libc::EACCES))]
    );
}

#[test]
fn at_the_grain_of_files_what_is_opened_for_reading_is_loaded_and_what_is_mapped_is_known() {
    let Some(helper) = helper("static") else { skip!("no C compiler or no static libc") };
    let helper = helper.to_str().unwrap();
    let place = Place::new();
    let file = place.file();
    let loaded = |words: &[&str], place: &Place| {
        let recording = record(place, "notify-files", words);
        assert!(recording.accesses.iter().all(|row| !matches!(row.op, Op::Read | Op::Close)));
        recording.ranges(&file, Op::Load)
    };
    let whole = (0, FILE_BYTES);
    assert_eq!(loaded(&[helper, "preads", "file", "3", "100"], &place), [whole], "taken for it");
    assert_eq!(loaded(&[helper, "maps", "file"], &place), [whole], "mapped whole");
    assert_eq!(loaded(&[helper, "spawns", "file"], &place), [whole, whole]);
    assert_eq!(loaded(&[helper, "appends", "file"], &place), [], "opened for writing");
    std::fs::write(&file, vec![b'.'; 500 * 4096 + 1]).unwrap();
    assert_eq!(loaded(&[helper, "touches", "file"], &place), [], "mapped in parts");
    let recording = record(&place, "notify-files", &["sh", "-c", "cat file gone; cat file; :"]);
    assert_eq!(recording.count(&file, Op::Open), 2);
    let gone = recording.of(&place.root.join("gone"));
    assert_eq!((gone.len(), gone[0].error), (1, Some(libc::ENOENT)));
}

#[test]
fn a_path_that_is_too_long_is_counted_as_lost() {
    let Some(helper) = helper("dynamic") else { skip!("no C compiler") };
    let place = Place::new();
    for method in ["notify", "ptrace"] {
        let mut recorder = place.command(recorder());
        recorder.arg(place.output()).args(["--method", method, "--force"]).arg(helper).arg("deep");
        succeed(&mut recorder);
        let metadata = place.recording().trace.metadata().clone();
        let paths = metadata.blind_spots().get("path over 4,096 bytes").copied().unwrap_or(0);
        assert!(paths >= 2 && metadata.lost >= paths, "{method}: {metadata:?}");
        for entry in std::fs::read_dir(&place.root).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap();
            }
        }
    }
}

#[test]
fn in_a_chroot_a_name_is_not_the_hosts_file() {
    let Some(helper) = helper("static") else { skip!("no C compiler or no static libc") };
    if !rustix::process::geteuid().is_root() || !has("chroot", "--version") {
        skip!("not root, or no chroot");
    }
    let place = Place::new();
    let jail = place.root.join("jail");
    std::fs::create_dir_all(jail.join("etc")).unwrap();
    // Not by `fs::copy`: a child of another test could inherit the descriptor, and it cannot run.
    let copied = std::process::Command::new("cp").arg(helper).arg(jail.join("helper")).status();
    assert!(copied.unwrap().success());
    std::fs::write(jail.join("etc/passwd"), "not the host's").unwrap();
    let words = ["chroot", jail.to_str().unwrap(), "/helper", "preads", "/etc/passwd", "3", "14"];
    let recording = record(&place, "notify", &words);
    let (inside, outside) = (jail.join("etc/passwd"), Path::new("/etc/passwd"));
    assert_eq!(recording.of(outside), []);
    assert_eq!([Op::Open, Op::Read].map(|op| recording.count(&inside, op)), [1, 3]);
    let spots = recording.trace.metadata().blind_spots();
    assert_eq!(spots["open in a chroot or in mounts of its own"], 1, "{spots:?}");
}

#[test]
fn a_recorder_within_another_says_that_one_is_enough() {
    let place = Place::new();
    let inner = recorder();
    let words = [inner.to_str().unwrap(), "inner.parquet", "--method", "notify", "true"];
    let mut outer = place.command(recorder());
    let output =
        outer.arg(place.output()).args(["--method", "notify"]).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("leave this one out"), "{said}");
}
