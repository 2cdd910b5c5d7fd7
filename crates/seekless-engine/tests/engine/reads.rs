//! Every engine reads the file's bytes: any range, buffered and direct, from one thread and from
//! many.

use crate::common::{FILE_BYTES, engines, expected, next_random, read_all, sample};
use seekless_engine::{AlignedBuf, Engine, Noop, Read};
use seekless_sys::direct::open_direct;
use std::fs::File;
use std::sync::{Arc, mpsc};

/// Reads all `ranges`, offset and length each, and compares them with `bytes`, the whole file.
fn assert_reads(engine: &dyn Engine, open: &Arc<File>, ranges: &[(u64, usize)], bytes: &[u8]) {
    for (completion, &(offset, length)) in read_all(engine, open, ranges).iter().zip(ranges) {
        let wanted = expected(bytes, offset, length);
        let context = format!("{} at {offset} for {length}", engine.name());
        assert_eq!(completion.result.as_ref().ok(), Some(&wanted.len()), "{context}");
        assert!(completion.buffer[..] == *wanted, "{context}: other bytes");
    }
}

#[test]
fn the_same_bytes_as_std_at_any_offset_and_size() {
    let (file, bytes) = sample();
    let open = Arc::new(File::open(file.path()).unwrap());
    let mut state = 7;
    let mut ranges: Vec<(u64, usize)> = (0..300)
        .map(|_| (next_random(&mut state) % 3_200_000, (next_random(&mut state) % 70_000) as usize))
        .collect();
    let end = FILE_BYTES as u64;
    ranges.extend([
        (0, 0),
        (end, 0),
        (end, 10),
        (end - 1, 10),
        (1 << 40, 5),
        (0, FILE_BYTES),
        (5, 2 * FILE_BYTES),
    ]);
    for engine in engines() {
        assert_reads(&*engine, &open, &ranges, &bytes);
    }
}

#[test]
fn a_read_that_is_waited_for_is_the_same_and_is_counted() {
    let (file, bytes) = sample();
    let open = Arc::new(File::open(file.path()).unwrap());
    let end = FILE_BYTES as u64;
    for engine in engines() {
        for (offset, length) in [(0, 10), (4097, 70_000), (end - 1, 10), (end, 10)] {
            let before = engine.counters().bytes;
            let buffer = AlignedBuf::with_capacity(length);
            let (buffer, result) = engine.read_now(Arc::clone(&open), offset, buffer);
            let wanted = expected(&bytes, offset, length);
            assert_eq!(result.ok(), Some(wanted.len()), "{} at {offset}", engine.name());
            assert!(buffer[..] == *wanted, "{} at {offset}: other bytes", engine.name());
            assert_eq!(engine.counters().bytes - before, wanted.len() as u64);
        }
        let unreadable = Arc::new(File::open(std::env::temp_dir()).unwrap());
        let (_, result) = engine.read_now(unreadable, 0, AlignedBuf::with_capacity(10));
        assert!(result.is_err(), "{}", engine.name());
    }
}

#[test]
fn direct_reads_are_exact_up_to_the_end_of_the_file_and_counted_so() {
    let (file, bytes) = sample();
    let Some(open) = open_direct(file.path()).unwrap().map(Arc::new) else {
        return eprintln!("skipped: direct reads: this file system refuses O_DIRECT");
    };
    let end = (FILE_BYTES as u64).next_multiple_of(4096);
    let ranges =
        [(0, 4096), (4096, 2 << 20), (end - 4096, 4096), (end - 8192, 65_536), (end, 4096)];
    for engine in engines() {
        assert_reads(&*engine, &open, &ranges, &bytes);
        let counters = engine.counters();
        let total: usize =
            ranges.iter().map(|&(offset, length)| expected(&bytes, offset, length).len()).sum();
        assert!(counters.exact, "{}", engine.name());
        assert_eq!(counters.bytes, total as u64, "{}", engine.name());
    }
}

#[test]
fn reads_through_the_page_cache_are_never_called_exact() {
    let (file, _) = sample();
    let open = Arc::new(File::open(file.path()).unwrap());
    for engine in engines() {
        read_all(&*engine, &open, &[(0, 10)]);
        assert_eq!(engine.counters().exact, engine.name() == "throttled", "{}", engine.name());
    }
}

#[test]
fn many_threads_submit_at_once() {
    let (file, bytes) = sample();
    let open = Arc::new(File::open(file.path()).unwrap());
    for engine in engines() {
        std::thread::scope(|scope| {
            for seed in 1..=8 {
                let (engine, open, bytes) = (&engine, &open, &bytes);
                scope.spawn(move || {
                    let mut state = seed;
                    for _ in 0..20 {
                        let ranges: Vec<(u64, usize)> = (0..20)
                            .map(|_| {
                                (
                                    next_random(&mut state) % 3_000_000,
                                    (next_random(&mut state) % 9_000) as usize,
                                )
                            })
                            .collect();
                        for (completion, &(offset, length)) in
                            read_all(&**engine, open, &ranges).iter().zip(&ranges)
                        {
                            assert!(
                                completion.buffer[..] == *expected(bytes, offset, length),
                                "{}",
                                engine.name()
                            );
                        }
                    }
                });
            }
        });
    }
}

#[test]
fn noop_fills_by_the_pattern_and_counts() {
    let engine = Noop::patterned();
    let file = Arc::new(File::open("/dev/null").unwrap());
    let (done, completions) = mpsc::channel();
    let buffer = AlignedBuf::with_capacity(5);
    engine.submit(vec![Read {
        file: Arc::clone(&file),
        offset: 250,
        buffer,
        tag: 9,
        done: done.into(),
    }]);
    let read = completions.recv().unwrap();
    assert_eq!((read.tag, read.result.unwrap(), &read.buffer[..]), (9, 5, &[250, 0, 1, 2, 3][..]));
    assert_eq!((engine.counters().requests, engine.counters().bytes), (1, 5));
    let zeroes = read_all(&Noop::zeroed(), &file, &[(3, 1 << 20)]);
    assert!(zeroes[0].buffer.iter().all(|&byte| byte == 0) && zeroes[0].buffer.len() == 1 << 20);
}
