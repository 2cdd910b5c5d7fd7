//! Writes that fail: the error names the file and all bytes that the device lacks, until it has
//! them, and costs no other file anything.

use crate::logged::{Fault, Logged};
use crate::without_hang::without_hang;
use seekless_page_cache::ErrorKind;
use seekless_page_cache::{File, PageCache};
use std::fs::OpenOptions;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

const ENOSPC: i32 = 28;
const EIO: i32 = 5;

struct Bench {
    engine: Arc<Logged>,
    cache: PageCache,
    folder: TempDir,
}

impl Bench {
    fn new(engine: Logged) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let engine = Arc::new(engine);
        let builder = PageCache::builder().bytes(256 << 10).wake_every(None);
        let cache = builder.shared_engine(engine.clone()).build().unwrap();
        Self { engine, cache, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn open(&self, name: &str) -> File {
        self.cache.open_to_write(self.path(name)).unwrap()
    }

    fn fail(&self, name: &str, bytes: std::ops::Range<u64>, errno: i32) {
        let inode = self.path(name).metadata().unwrap().ino();
        self.engine.set_fault(Some(Fault { inode, bytes, errno }));
    }
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn each_sync_names_what_the_device_does_not_take() {
    without_hang(|| {
        for engine in [Logged::new as fn() -> Logged, || Logged::holding_back(3)] {
            for (errno, word) in [(EIO, "os error 5"), (ENOSPC, "os error 28")] {
                let bench = Bench::new(engine());
                let (bad, good) = (bench.open("bad"), bench.open("good"));
                bench.fail("bad", 8192..8193, errno);
                bad.write_at(&[1; 20_000], 0).unwrap();
                good.write_at(&[2; 20_000], 0).unwrap();
                let message = bad.sync_data().unwrap_err().to_string();
                assert_eq!(bad.sync_all().unwrap_err().to_string(), message, "said again");
                let name = bench.path("bad").display().to_string();
                for part in
                    [name.as_str(), "bytes 0 to 16384 could not", "could not be written back", word]
                {
                    assert!(message.contains(part), "{part:?} is missing in {message:?}");
                }
                good.sync_data().unwrap();
                assert_eq!(read(&bench.path("good")), [2; 20_000]);
                assert_eq!(bad.write_at(&[9], 0).unwrap_err().to_string(), message);
                bench.engine.set_fault(None);
                bad.sync_data().unwrap();
                assert_eq!(read(&bench.path("bad")), [1; 20_000], "nothing is lost");
                bad.write_at(&[3; 20_000], 0).unwrap();
                bad.sync_all().unwrap();
                assert_eq!(read(&bench.path("bad")), [3; 20_000], "it works again");
            }
        }
    });
}

#[test]
fn an_error_that_no_sync_was_told_of_is_told_when_the_cache_is_closed() {
    let bench = Bench::new(Logged::new());
    bench.open("good").write_at(&[2; 5000], 0).unwrap();
    let bad = bench.open("bad");
    bad.write_at(&[1; 5000], 0).unwrap();
    bench.fail("bad", 0..1, ENOSPC);
    drop(bad);
    let error = bench.cache.clone().close().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Write);
    let name = bench.path("bad").display().to_string();
    assert!(error.to_string().contains(&name), "{error}");
    assert_eq!(read(&bench.path("good")), [2; 5000]);
    let bad = bench.open("bad");
    let mut buffer = [0; 5000];
    assert_eq!(bad.read_at(&mut buffer, 0).unwrap(), 5000);
    assert_eq!(buffer, [1; 5000], "what the device lacks is read from the cache");
    drop(bad);
    bench.engine.set_fault(None);
    bench.cache.close().unwrap();
    assert_eq!(read(&bench.folder.path().join("bad")), [1; 5000]);
}

/// The case of old: all writes were accepted, one sync named a part of what was lost, and the next
/// one was Ok.
#[test]
fn a_full_disk_loses_nothing_that_a_write_has_accepted() {
    without_hang(|| {
        for engine in [Logged::new as fn() -> Logged, || Logged::holding_back(3)] {
            let bench = Bench::new(engine());
            let file = bench.open("full");
            // What lies before is taken.
            bench.fail("full", 40_960..u64::MAX, ENOSPC);
            let mut content = Vec::new();
            let error = loop {
                let bytes = [content.len() as u8 | 1; 3000];
                match file.write_at(&bytes, content.len() as u64) {
                    Ok(written) => content.extend_from_slice(&bytes[..written]),
                    Err(error) => break error,
                }
                assert!(content.len() < 1 << 20, "a writer goes on for ever");
            };
            assert_eq!(error.raw_os_error().or(Some(ENOSPC)), Some(ENOSPC));
            assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
            for _ in 0..3 {
                let message = file.sync_all().unwrap_err().to_string();
                let end = format!(" to {}", content.len());
                assert!(message.contains(&end), "{end:?} is missing in {message:?}");
                assert!(message.contains("os error 28"), "{message:?}");
            }
            let mut found = vec![0; content.len()];
            assert_eq!(file.read_at(&mut found, 0).unwrap(), content.len());
            assert!(found == content, "what the device lacks is read from the cache");
            bench.engine.set_fault(None);
            bench.cache.flush_due();
            file.sync_all().unwrap();
            assert!(read(&bench.path("full")) == content);
            file.write_at(&[7; 100], 5).unwrap();
            file.sync_all().unwrap();
            assert!(read(&bench.path("full"))[5..105] == [7; 100]);
        }
    });
}

/// The kernel reports an error to one sync, and counts the bytes as written.
#[test]
fn what_was_written_before_a_sync_that_failed_is_named_until_it_is_written_again() {
    let bench = Bench::new(Logged::new());
    let (bad, good) = (bench.open("bad"), bench.open("good"));
    bad.write_at(&[1; 10_000], 0).unwrap();
    bad.sync_data().unwrap();
    bad.write_at(&[2; 100], 5000).unwrap();
    bad.write_at(&[2; 5000], 20_000).unwrap();
    bench.engine.set_sync_fault(Some(EIO));
    bad.sync_data().unwrap_err();
    bench.engine.set_sync_fault(None);
    for _ in 0..2 {
        let message = bad.sync_all().unwrap_err().to_string();
        let name = bench.path("bad").display().to_string();
        let doubtful = "bytes 4096 to 8192, 16384 to 25000 (12712 bytes) may not be on the device";
        for part in [name.as_str(), doubtful, "os error 5"] {
            assert!(message.contains(part), "{part:?} is missing in {message:?}");
        }
    }
    good.write_at(&[3; 100], 0).unwrap();
    good.sync_data().unwrap();
    bad.write_at(&[4; 5000], 20_000).unwrap();
    assert!(bad.sync_data().unwrap_err().to_string().contains("bytes 4096 to 8192 may not"));
    bad.write_at(&[4; 1], 4096).unwrap();
    bad.sync_data().unwrap();
    assert_eq!(read(&bench.path("bad"))[20_000..], [4; 5000]);
}

#[test]
fn what_is_cut_off_need_not_be_written_any_more() {
    without_hang(|| {
        let bench = Bench::new(Logged::new());
        let file = bench.open("a");
        bench.fail("a", 8192..u64::MAX, EIO);
        file.write_at(&[1; 30_000], 0).unwrap();
        file.sync_data().unwrap_err();
        file.set_len(10_000).unwrap();
        let message = file.sync_data().unwrap_err().to_string();
        assert!(message.contains(" to 10000 could not"), "{message}");
        file.set_len(5000).unwrap();
        bench.engine.set_fault(None);
        file.sync_data().unwrap();
        assert_eq!(read(&bench.path("a")), [1; 5000]);
        file.write_at(&[2; 100], 20_000).unwrap();
        file.sync_data().unwrap();
        let found = read(&bench.path("a"));
        assert!(found.len() == 20_100 && found[5000..20_000].iter().all(|&byte| byte == 0));
    });
}

#[test]
fn a_page_that_is_written_again_while_the_device_does_not_take_it_gets_the_newest_bytes() {
    without_hang(|| {
        let bench = Bench::new(Logged::holding_back(3));
        let file = bench.open("a");
        file.write_at(&[1; 8192], 0).unwrap();
        bench.fail("a", 0..u64::MAX, ENOSPC);
        bench.cache.flush_due();
        // Written to while its write-back may be under way or has failed.
        let _ = file.write_at(&[2; 4096], 0);
        file.sync_data().unwrap_err();
        bench.engine.set_fault(None);
        file.write_at(&[3; 4096], 0).unwrap();
        file.sync_data().unwrap();
        let found = read(&bench.path("a"));
        assert!(found[..4096] == [3; 4096] && found[4096..] == [1; 4096]);
    });
}

/// A small file system of its own, taken away when dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(at: &Path, kibibytes: u32) -> Option<Self> {
        std::fs::create_dir(at).unwrap();
        let size = format!("size={kibibytes}k");
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "none"]).arg(at);
        let done = mount.stderr(std::process::Stdio::null()).status();
        done.is_ok_and(|status| status.success()).then(|| Self(at.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_is_full_and_has_room_again_has_all() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Mounted::new(&folder.path().join("disk"), 2048) else {
        return eprintln!("skipped: no tmpfs can be mounted here (root)");
    };
    without_hang(move || {
        std::fs::write(disk.0.join("ballast"), vec![0; 1 << 20]).unwrap();
        let cache = PageCache::builder().bytes(4 << 20).wake_every(None).build().unwrap();
        let file = cache.open_to_write(disk.0.join("log")).unwrap();
        let mut content: Vec<u8> = Vec::new();
        while content.len() < 1_800_000 {
            let bytes: Vec<u8> = (0..10_000_u32).map(|at| (at % 251) as u8).collect();
            match file.write_at(&bytes, content.len() as u64) {
                Ok(written) => content.extend(&bytes[..written]),
                Err(error) => {
                    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
                    break;
                }
            }
        }
        assert!(content.len() > 1 << 20);
        for _ in 0..2 {
            let message = file.sync_all().unwrap_err().to_string();
            assert!(message.contains(&format!(" to {}", content.len())), "{message}");
        }
        std::fs::remove_file(disk.0.join("ballast")).unwrap();
        file.sync_all().unwrap();
        assert!(read(&disk.0.join("log")) == content);
        drop((file, cache));
    });
}

#[test]
fn a_device_that_takes_no_writes_stops_no_writer() {
    without_hang(|| {
        let bench = Bench::new(Logged::holding_back(5));
        let (bad, good) = (bench.open("bad"), bench.open("good"));
        bench.fail("bad", 0..u64::MAX, EIO);
        let mut refused = 0;
        for page in 0..1000_u64 {
            refused += u32::from(bad.write_at(&[1; 4096], page * 4096).is_err());
            good.write_at(&[2; 4096], page * 4096).unwrap();
        }
        assert!(bad.sync_data().is_err());
        assert!(refused > 900, "{refused} of 1000");
        assert!(bench.cache.memory_bytes() < 1 << 20, "memory is bounded");
        good.sync_data().unwrap();
        assert!(read(&bench.path("good")) == vec![2; 1000 * 4096]);
    });
}

#[test]
fn a_page_that_cannot_be_read_fails_a_write_to_a_part_of_it_by_name() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("a");
    std::fs::write(&path, [1; 20_000]).unwrap();
    let bad = crate::flaky::Unreadable::Bytes(5000..5001);
    let engine = Arc::new(crate::flaky::Flaky::new(bad, 1));
    let cache = PageCache::builder().shared_engine(engine).build().unwrap();
    let file = cache.open_to_write(&path).unwrap();
    let message = file.write_at(&[2; 10], 4100).unwrap_err().to_string();
    for part in [path.to_str().unwrap(), "byte 4096", "os error 5"] {
        assert!(message.contains(part), "{part:?} is missing in {message:?}");
    }
    file.write_at(&[2; 4096], 4096).unwrap();
    file.write_at(&[3; 10], 100).unwrap();
    file.sync_data().unwrap();
    let found = read(&path);
    assert!(found[4096..8192] == [2; 4096] && found[100..110] == [3; 10] && found[0] == 1);
}

#[test]
fn what_another_program_cuts_off_is_lost_and_said_so() {
    let bench = Bench::new(Logged::new());
    let (cut, other) = (bench.open("cut"), bench.open("other"));
    cut.write_at(&[1; 40_000], 0).unwrap();
    cut.sync_data().unwrap();
    cut.write_at(&[2; 5000], 20_000).unwrap();
    other.write_at(&[3; 5000], 0).unwrap();
    OpenOptions::new().write(true).open(bench.path("cut")).unwrap().set_len(10_000).unwrap();
    assert_eq!(cut.size().unwrap(), 10_000);
    let message = cut.sync_data().unwrap_err().to_string();
    for part in [bench.path("cut").to_str().unwrap(), "cut it to 10000", "from byte 16384 on"] {
        assert!(message.contains(part), "{part:?} is missing in {message:?}");
    }
    cut.sync_data().unwrap();
    assert_eq!(read(&bench.path("cut")), [1; 10_000]);
    cut.write_at(&[4; 10], 10_000).unwrap();
    let mut buffer = [0; 20_000];
    assert_eq!(cut.read_at(&mut buffer, 0).unwrap(), 10_010);
    assert!(buffer[..10_000] == [1; 10_000] && buffer[10_000..10_010] == [4; 10]);
    other.sync_data().unwrap();
    assert_eq!(read(&bench.path("other")), [3; 5000]);
}

#[test]
fn a_file_whose_name_another_took_is_the_one_that_was_opened() {
    let bench = Bench::new(Logged::new());
    let old = bench.open("a");
    old.write_at(&[1; 5000], 0).unwrap();
    std::fs::write(bench.path("other"), [9; 100]).unwrap();
    std::fs::rename(bench.path("other"), bench.path("a")).unwrap();
    let new = bench.open("a");
    new.write_at(&[8; 10], 0).unwrap();
    old.sync_data().unwrap();
    new.sync_data().unwrap();
    let found = read(&bench.path("a"));
    assert!(found.len() == 100 && found[..10] == [8; 10] && found[10..] == [9; 90]);
    let mut buffer = [0; 5000];
    assert_eq!(old.read_at(&mut buffer, 0).unwrap(), 5000);
    assert_eq!(buffer, [1; 5000]);
}

#[test]
fn what_the_flusher_wakes_for_is_written_without_a_sync() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("a");
    let rule = seekless_policy::cache::write_back::FlushRule {
        expire: Some(1),
        ..seekless_policy::cache::write_back::FlushRule::LINUX
    };
    let builder = PageCache::builder().flush(rule).wake_every(Duration::from_millis(1));
    let cache = builder.build().unwrap();
    let file = cache.open_to_write(&path).unwrap();
    file.write_at(&[1; 10_000], 0).unwrap();
    while read(&path).len() < 10_000 {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(read(&path), [1; 10_000]);
}

#[test]
fn a_name_that_is_no_file_to_write_to_is_refused() {
    let cache = PageCache::builder().build().unwrap();
    let error = cache.open_to_write("/nonexistent/file").unwrap_err();
    assert!(error.to_string().contains("/nonexistent/file"), "{error}");
    assert!(cache.open_to_write("/").is_err());
}
