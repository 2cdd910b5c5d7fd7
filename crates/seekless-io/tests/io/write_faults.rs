//! Writes that fail: the error names the file and the bytes, is told once, and costs no other file
//! anything.

use crate::faults::without_hang;
use crate::logged::{Fault, Logged};
use seekless_io::ErrorKind;
use seekless_io::files::{File, PageCache};
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
fn a_write_back_that_fails_is_told_to_the_next_sync_once_and_by_name() {
    without_hang(|| {
        for engine in [Logged::new as fn() -> Logged, || Logged::holding_back(3)] {
            for (errno, word) in [(EIO, "os error 5"), (ENOSPC, "os error 28")] {
                let bench = Bench::new(engine());
                let (bad, good) = (bench.open("bad"), bench.open("good"));
                bench.fail("bad", 8192..8193, errno);
                bad.write_at(&[1; 20_000], 0).unwrap();
                good.write_at(&[2; 20_000], 0).unwrap();
                let message = bad.sync_data().unwrap_err().to_string();
                let name = bench.path("bad").display().to_string();
                for part in [name.as_str(), "bytes 0 to", "could not be written back", word] {
                    assert!(message.contains(part), "{part:?} is missing in {message:?}");
                }
                good.sync_data().unwrap();
                bad.sync_data().unwrap();
                assert_eq!(read(&bench.path("good")), [2; 20_000]);
                bench.engine.set_fault(None);
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
    bench.cache.close().unwrap();
}

#[test]
fn a_device_that_takes_no_writes_stops_no_writer() {
    without_hang(|| {
        let bench = Bench::new(Logged::holding_back(5));
        let (bad, good) = (bench.open("bad"), bench.open("good"));
        bench.fail("bad", 0..u64::MAX, EIO);
        for page in 0..1000_u64 {
            bad.write_at(&[1; 4096], page * 4096).unwrap();
            good.write_at(&[2; 4096], page * 4096).unwrap();
        }
        assert!(bad.sync_data().is_err());
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
