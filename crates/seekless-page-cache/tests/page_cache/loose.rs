//! Loose files through the page cache: answers are those of `pread`, whatever is read ahead, fails
//! or changes meanwhile.

use crate::flaky::{Flaky, Unreadable};
use crate::support::random;
use seekless_device::Costs;
use seekless_engine::{EngineKind, Noop};
use seekless_page_cache::PageCache;
use seekless_policy::readahead::{Options, READAHEADS, Readahead, named};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// A folder where O_DIRECT may work, and one file in it.
struct Sample {
    path: PathBuf,
    bytes: Vec<u8>,
    folder: TempDir,
}

impl Sample {
    fn new(size: usize) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = folder.path().join("sample");
        let mut seed = 42;
        let bytes: Vec<u8> = (0..size).map(|_| random(&mut seed) as u8).collect();
        write(&path, &bytes);
        Self { path, bytes, folder }
    }

    /// Bytes as a careful `pread` gives them.
    fn expected(&self, offset: u64, length: usize) -> &[u8] {
        let start = (offset as usize).min(self.bytes.len());
        &self.bytes[start..(start + length).min(self.bytes.len())]
    }
}

fn write(path: &Path, bytes: &[u8]) {
    let mut file = File::create(path).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
}

fn readahead(name: &str, max_bytes: u64) -> Box<dyn Readahead> {
    named(name, Options::with_max_bytes(max_bytes)).unwrap()
}

fn read(file: &seekless_page_cache::File, offset: u64, length: usize) -> std::io::Result<Vec<u8>> {
    let mut buffer = vec![0; length];
    let read = file.read_at(&mut buffer, offset)?;
    buffer.truncate(read);
    Ok(buffer)
}

/// The next of several reads that go on where they are, backward, in strides, and anywhere.
fn next_read(places: &mut [u64; 4], end: u64, seed: &mut u64) -> (u64, usize) {
    let length = match random(seed) % 4 {
        0 => 4096,
        1 => 1 + random(seed) % 5000,
        2 => 16 << 10,
        _ => 1 + random(seed) % 300_000,
    };
    let which = (random(seed) % 4) as usize;
    let place = &mut places[which];
    let offset = *place;
    *place = match which {
        0 => offset + length,
        1 => offset.checked_sub(length).unwrap_or(end),
        2 => offset + 10 * length,
        _ => random(seed) % (end + 10_000),
    } % (end + 5000);
    (offset, length as usize)
}

#[test]
fn answers_are_those_of_pread_whatever_is_read_ahead_and_fails() {
    let sample = Sample::new(2_500_001);
    let end = sample.bytes.len() as u64;
    let bad = 1_200_000..1_300_000;
    for (number, about) in READAHEADS.iter().enumerate() {
        for (policy, bytes, is_driven) in [
            ("lru", 256 << 10, false),
            ("arc", 1 << 20, true),
            ("s3-fifo", 100_000, false),
            ("lru", 200_000, true),
        ] {
            let make = if is_driven { Flaky::driven } else { Flaky::new };
            let engine = Arc::new(make(Unreadable::Bytes(bad.clone()), number as u64 + 1));
            let cache = PageCache::builder()
                .bytes(bytes)
                .policy(policy)
                .readahead(readahead(about.name, 256 << 10))
                .shared_engine(engine.clone())
                .build()
                .unwrap();
            let file = cache.open(&sample.path).unwrap();
            let (mut places, mut seed) = ([0, end, 0, 0], 7);
            for _ in 0..250 {
                let (offset, length) = next_read(&mut places, end, &mut seed);
                let context = format!("{} {policy} {bytes} at {offset} for {length}", about.name);
                let found = read(&file, offset, length);
                let first_bad = bad.start / 4096 * 4096;
                let bad_end = bad.end.next_multiple_of(4096);
                if (first_bad..bad_end).contains(&offset) {
                    let error = found.expect_err(&context);
                    assert_eq!(error.raw_os_error(), Some(5), "{context}");
                    continue;
                }
                let readable = match offset < first_bad {
                    true => length.min((first_bad - offset) as usize),
                    false => length,
                };
                assert!(found.expect(&context) == sample.expected(offset, readable), "{context}");
            }
            assert!(engine.spoilt() > 0, "{}: nothing went wrong", about.name);
        }
    }
}

#[test]
fn readers_of_one_handle_and_of_many_share_the_cache() {
    let sample = Sample::new(3_000_000);
    for kind in [EngineKind::Auto, EngineKind::Threads] {
        let cache = PageCache::builder()
            .bytes(1 << 20)
            .readahead(readahead("linux", 256 << 10))
            .engine(kind)
            .build()
            .unwrap();
        let shared = cache.open(&sample.path).unwrap();
        std::thread::scope(|scope| {
            for number in 0..6u64 {
                let (cache, shared, sample) = (&cache, &shared, &sample);
                scope.spawn(move || {
                    let own = cache.open(&sample.path).unwrap();
                    let file = if number % 2 == 0 { shared } else { &own };
                    let (mut places, mut seed) = ([number * 400_000; 4], number + 1);
                    for _ in 0..300 {
                        let (offset, length) = next_read(&mut places, 3_000_000, &mut seed);
                        let found = read(file, offset, length).unwrap();
                        assert!(found == sample.expected(offset, length), "{number} at {offset}");
                    }
                });
            }
        });
    }
}

#[test]
fn a_file_that_changes_is_read_as_it_is() {
    let mut sample = Sample::new(500_000);
    let cache = PageCache::builder().readahead(readahead("ondemand", 1 << 20)).build().unwrap();
    let file = cache.open(&sample.path).unwrap();
    let raw = OpenOptions::new().write(true).open(&sample.path).unwrap();
    let check = |sample: &Sample, when: &str| {
        for offset in [0, 4000, 290_000, 299_990, 480_000, 499_000, 600_000] {
            let found = read(&file, offset, 30_000).unwrap();
            assert!(found == sample.expected(offset, 30_000), "{when}: at {offset}");
        }
        assert_eq!(file.size().unwrap(), sample.bytes.len() as u64);
    };
    check(&sample, "as made");
    sample.bytes.truncate(299_999);
    raw.set_len(299_999).unwrap();
    // What is cut off is seen once the size was asked for, or after a tick of the kernel's clock.
    assert_eq!(file.size().unwrap(), 299_999);
    check(&sample, "cut");
    sample.bytes.resize(700_000, 0);
    raw.set_len(700_000).unwrap();
    check(&sample, "grown by a hole");
    sample.bytes[4000..14_000].fill(9);
    raw.write_all_at(&[9; 10_000], 4000).unwrap();
    // Bytes in place are seen after a tick of the kernel's clock.
    std::thread::sleep(std::time::Duration::from_millis(20));
    check(&sample, "written to");
    sample.bytes.truncate(650_000);
    raw.set_len(650_000).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    let found = read(&file, 640_000, 4000).unwrap();
    assert!(found == sample.bytes[640_000..644_000]);
    let found = read(&file, 640_000, 20_000).unwrap();
    assert!(found == sample.bytes[640_000..], "cut without asking for the size");
    sample.bytes.resize(700_000, 0);
    raw.set_len(700_000).unwrap();
    sample.bytes.extend([3; 1000]);
    raw.write_all_at(&[3; 1000], 700_000).unwrap();
    check(&sample, "appended to");
}

#[test]
fn a_file_that_another_replaced_is_opened_anew() {
    let mut sample = Sample::new(100_000);
    let cache = PageCache::builder().build().unwrap();
    let old = cache.open(&sample.path).unwrap();
    assert!(read(&old, 0, 100_000).unwrap() == sample.bytes);
    let other = sample.folder.path().join("other");
    let before = std::mem::replace(&mut sample.bytes, vec![8; 50_000]);
    write(&other, &sample.bytes);
    std::fs::rename(&other, &sample.path).unwrap();
    let new = cache.open(&sample.path).unwrap();
    assert!(read(&new, 0, 100_000).unwrap() == sample.bytes);
    assert!(read(&old, 0, 100_000).unwrap() == before, "the old one is still open");
}

#[test]
fn it_reads_and_seeks_as_a_file_of_std_does() {
    let sample = Sample::new(200_001);
    let cache = PageCache::builder().readahead(readahead("linux", 64 << 10)).build().unwrap();
    let (mut ours, mut std) =
        (cache.open(&sample.path).unwrap(), File::open(&sample.path).unwrap());
    let mut seed = 3;
    for _ in 0..200 {
        let by = (random(&mut seed) % 60_000) as i64 - 30_000;
        let to = match random(&mut seed) % 4 {
            0 => SeekFrom::Start(by.unsigned_abs()),
            1 => SeekFrom::End(by),
            _ => SeekFrom::Current(by),
        };
        assert_eq!(ours.seek(to).ok(), std.seek(to).ok(), "{to:?}");
        let length = (random(&mut seed) % 20_000) as usize;
        let (mut a, mut b) = (vec![0; length], vec![0; length]);
        let found = ours.read(&mut a).unwrap();
        assert_eq!(found, std.read(&mut b).unwrap());
        assert!(a[..found] == b[..found]);
    }
    let mut rest = Vec::new();
    ours.seek(SeekFrom::Start(1000)).unwrap();
    ours.read_to_end(&mut rest).unwrap();
    assert!(rest == sample.bytes[1000..]);
}

#[test]
fn what_is_not_a_file_is_refused_by_name() {
    let cache = PageCache::builder().build().unwrap();
    let error = cache.open("/nonexistent/file").unwrap_err();
    assert!(error.to_string().contains("/nonexistent/file"), "{error}");
    assert!(cache.open("/").unwrap_err().to_string().contains("directory"));
    let few = PageCache::builder().bytes(1000).build().unwrap_err();
    assert!(few.to_string().contains("65536"), "{few}");
    assert!(PageCache::builder().policy("opt").build().is_err(), "it knows the future");
}

#[test]
fn a_file_whose_size_the_kernel_does_not_know_is_read() {
    let cache = PageCache::builder().build().unwrap();
    let Ok(mut file) = cache.open("/proc/self/limits") else {
        return eprintln!("skipped: no /proc/self/limits here");
    };
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, std::fs::read_to_string("/proc/self/limits").unwrap());
}

#[test]
fn a_file_system_that_refuses_direct_reads_is_read_through_its_cache() {
    let sample = Sample::new(100_000);
    let engine = Arc::new(Flaky::new(Unreadable::Direct, 1));
    let cache = PageCache::builder().shared_engine(engine.clone()).build().unwrap();
    let file = cache.open(&sample.path).unwrap();
    if !file.is_direct() {
        return eprintln!("skipped: this file system refuses O_DIRECT already");
    }
    assert!(read(&file, 100, 99_000).unwrap() == sample.bytes[100..99_100]);
    assert!(!file.is_direct() && engine.spoilt() > 0);
    assert!(read(&file, 0, 100_000).unwrap() == sample.bytes);
}

#[test]
fn what_is_announced_as_needed_is_read_once_and_what_is_not_needed_leaves() {
    let sample = Sample::new(1 << 20);
    let engine = Arc::new(Flaky::new(Unreadable::Nothing, 1));
    let cache = PageCache::builder().shared_engine(engine.clone()).build().unwrap();
    let file = cache.open(&sample.path).unwrap();
    file.will_need(100..300_000);
    assert!(engine.reads() <= 2, "{} reads", engine.reads());
    let before = engine.bytes();
    assert!(read(&file, 0, 300_000).unwrap() == sample.bytes[..300_000]);
    assert_eq!(engine.bytes(), before);
    assert_eq!(cache.account().prefetched, cache.account().used);
    file.wont_need(1..300_000);
    assert!(read(&file, 0, 4096).unwrap() == sample.bytes[..4096], "still there");
    assert_eq!(engine.bytes(), before);
    assert!(read(&file, 4096, 4096).unwrap() == sample.bytes[4096..8192]);
    assert_eq!(engine.bytes(), before + 4096);
}

#[test]
fn a_large_read_is_few_requests_without_any_readahead() {
    let sample = Sample::new(4 << 20);
    let engine = Arc::new(Flaky::new(Unreadable::Nothing, 1));
    let cache = PageCache::builder().shared_engine(engine.clone()).build().unwrap();
    let file = cache.open(&sample.path).unwrap();
    assert!(read(&file, 0, 256 << 10).unwrap() == sample.bytes[..256 << 10]);
    assert_eq!((engine.reads(), engine.bytes()), (1, 256 << 10));
}

#[test]
fn the_next_files_of_a_list_are_read_before_they_are_opened() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let paths: Vec<PathBuf> =
        (0..200).map(|number| folder.path().join(format!("{number:03}"))).collect();
    let content = |number: usize| vec![number as u8; 10_000 + 100 * number];
    paths.iter().enumerate().for_each(|(number, path)| write(path, &content(number)));
    let cache = PageCache::builder().build().unwrap();
    let absent = folder.path().join("absent");
    cache.announce(paths.iter().take(100).chain([&absent]).chain(&paths[100..]));
    for (number, path) in paths.iter().enumerate() {
        if number == 150 {
            let other = folder.path().join("other");
            write(&other, b"another file took its name");
            std::fs::rename(&other, path).unwrap();
            let mut file = cache.open(path).unwrap();
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text, "another file took its name");
            continue;
        }
        // The first is opened before the thread had time; it must work all the same.
        let file = cache.open(path).unwrap();
        assert!(read(&file, 0, 1 << 20).unwrap() == content(number), "file {number}");
    }
    let account = cache.account();
    assert!(account.used > account.demanded / 2, "{account:?}");
    assert!(cache.open(&absent).is_err());
}

#[test]
fn memory_stays_within_its_bound_with_a_hundred_thousand_streams() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("sparse");
    File::create(&path).unwrap().set_len(1 << 42).unwrap();
    for about in READAHEADS {
        check_memory_of_many_streams(about.name, &path);
    }
}

/// Each stream is read once, and an eighth of them again soon after. Then all go on, in turn.
fn check_memory_of_many_streams(name: &str, path: &Path) {
    let (bound, slack) = (8 << 20, 1 << 20);
    let cache = PageCache::builder()
        .bytes(bound)
        .readahead(readahead(name, 1 << 20))
        .shared_engine(Arc::new(Noop::zeroed()))
        .build()
        .unwrap();
    let file = cache.open(path).unwrap();
    let mut buffer = vec![1; 4096];
    let mut check = |place: u64| {
        buffer.fill(1);
        assert_eq!(file.read_at(&mut buffer, place).unwrap(), 4096, "{name}");
        assert!(buffer.iter().all(|&byte| byte == 0), "{name}");
        let bytes = cache.memory_bytes();
        assert!(bytes <= bound + slack, "{name}: {bytes} bytes");
    };
    let mut seed = 5;
    let places: Vec<u64> =
        (0..100_000).map(|_| random(&mut seed) % ((1 << 30) - 256) * 4096).collect();
    for (number, &place) in places.iter().enumerate() {
        check(place);
        if number.is_multiple_of(8) {
            check(place + 4096);
        }
    }
    for page in 2..4 {
        places.iter().step_by(16).for_each(|place| check(place + page * 4096));
    }
}

#[test]
fn commands_are_larger_where_requests_are_dear() {
    let sample = Sample::new(16 << 20);
    for (request_ns, largest) in [(100_000, 1 << 20), (5_000_000, 4 << 20)] {
        let engine = Arc::new(Flaky::new(Unreadable::Nothing, 1));
        let costs = Costs { request_ns, bytes_per_second: 150_000_000, depth: 8 };
        let cache = PageCache::builder().bytes(64 << 20).shared_engine(engine.clone());
        let cache = cache.costs(costs).build().unwrap();
        let file = cache.open(&sample.path).unwrap();
        assert!(read(&file, 0, 16 << 20).unwrap() == sample.bytes);
        assert_eq!(engine.reads(), (16 << 20) / largest);
        cache.clear();
        cache.set_costs(Costs { request_ns: 10_000, ..costs });
        assert!(read(&file, 0, 16 << 20).unwrap() == sample.bytes);
        assert_eq!(engine.reads(), (16 << 20) / largest + 16);
    }
}

#[test]
fn many_handles_take_no_frames_and_closed_ones_leave_their_pages() {
    let sample = Sample::new(100_000);
    let engine = Arc::new(Flaky::new(Unreadable::Nothing, 1));
    let cache = PageCache::builder().bytes(1 << 20).shared_engine(engine.clone()).build().unwrap();
    let before = cache.memory_bytes();
    let handles: Vec<_> = (0..300).map(|_| cache.open(&sample.path).unwrap()).collect();
    assert_eq!(cache.memory_bytes(), before);
    assert!(read(&handles[7], 0, 100_000).unwrap() == sample.bytes);
    let reads = engine.reads();
    drop(handles);
    let again = cache.open(&sample.path).unwrap();
    assert!(read(&again, 0, 100_000).unwrap() == sample.bytes);
    assert_eq!(engine.reads(), reads, "all of it was cached");
    cache.clear();
    assert!(read(&again, 0, 100_000).unwrap() == sample.bytes);
    assert!(engine.reads() > reads, "nothing of it was");
}
