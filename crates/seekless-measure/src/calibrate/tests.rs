use super::*;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

fn small() -> Budget {
    Budget { time: Duration::from_millis(400), bytes: 32 << 20 }
}

fn written(folder: &Path, bytes: usize) -> PathBuf {
    let path = folder.join("data");
    let mut file = File::create(&path).expect("made");
    file.write_all(&vec![7; bytes]).expect("room");
    file.sync_all().expect("synced");
    path
}

fn workplace() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder")
}

#[test]
fn a_file_tells_what_its_device_costs_within_the_budget() {
    let folder = workplace();
    let path = written(folder.path(), 16 << 20);
    let found =
        calibrate(&[&path], small(), &mut |done, total| assert!(done <= total)).expect("measured");
    assert!(
        found.latency_ns > 0
            && found.bytes_per_second > 0
            && found.latency_p90_ns >= found.latency_ns
    );
    assert!(found.bytes_read <= 32 << 20, "{found:?}");
    assert!(
        found.sizes.len() >= 2
            && found.sizes.iter().all(|size| size.reads > 0 && size.p90_ns >= size.median_ns)
    );
    assert_eq!(found.files, 1);
}

#[test]
fn nothing_is_written_and_nothing_cached_by_measuring() {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let folder = workplace();
    let path = written(folder.path(), 8 << 20);
    let file = File::open(&path).expect("there");
    seekless_sys::residency::drop_cached(file.as_fd()).expect("dropped");
    let state = || {
        let about = file.metadata().expect("known");
        let resident = seekless_sys::residency::resident_bytes(file.as_fd()).expect("answered");
        (about.mtime_nsec(), about.ctime_nsec(), about.blocks(), resident)
    };
    let before = state();
    let found = calibrate(&[&path], small(), &mut |_, _| {}).expect("measured");
    if !found.direct {
        eprintln!("skipped: the file system refuses O_DIRECT");
        return;
    }
    assert_eq!(state(), before);
}

#[test]
fn holes_and_small_files_are_nothing_to_measure() {
    let folder = workplace();
    let path = folder.path().join("hole");
    File::create(&path).expect("made").set_len(1 << 30).expect("sparse");
    let kind = |path: &Path| {
        calibrate(&[path], small(), &mut |_, _| {}).expect_err("nothing to read").kind()
    };
    assert_eq!(kind(&path), ErrorKind::Nothing);
    assert_eq!(kind(&written(folder.path(), 5000)), ErrorKind::Nothing);
    assert_eq!(kind(&folder.path().join("missing")), ErrorKind::Io);
}

#[test]
fn memory_is_measured_too() {
    let found = calibrate_memory(Budget { time: Duration::from_millis(200), bytes: 64 << 20 })
        .expect("measured");
    assert!(found.latency_ns > 0 && found.bytes_per_second > 1_000_000);
    assert!(found.bytes_read <= 64 << 20);
}

#[test]
fn a_device_that_stops_the_clock_gets_no_second_read() {
    let mut bytes = 0;
    let budget = Budget { time: Duration::from_millis(20), bytes: 1 << 30 };
    let mut reads = 0;
    let mut read = |_| {
        reads += 1;
        std::thread::sleep(Duration::from_millis(30));
        Some(Ok(30_000_000))
    };
    alternate_sizes(budget, &mut bytes, &mut read, &mut || {}).expect("some times");
    assert_eq!(reads, 1);
}
