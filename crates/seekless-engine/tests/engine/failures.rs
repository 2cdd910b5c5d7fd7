//! Errors belong to one read; an engine that is dropped completes what it was given.

use crate::common::{FILE_BYTES, ended, engines, expected, read_all, reads, sample};
use seekless_engine::Ring;
use seekless_sys::direct::open_direct;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::sync::{Arc, mpsc};

#[test]
fn an_error_belongs_to_its_read_alone() {
    let (file, bytes) = sample();
    let good = Arc::new(File::open(file.path()).unwrap());
    let directory = Arc::new(File::open(env!("CARGO_TARGET_TMPDIR")).unwrap());
    let write_only = Arc::new(OpenOptions::new().write(true).open(file.path()).unwrap());
    for engine in engines() {
        let (done, completions) = mpsc::channel();
        let mut batch = Vec::new();
        for file in [&good, &directory, &write_only, &good] {
            let tag = batch.len() as u64;
            batch.extend(
                reads(file, &[(100, 50)], &done)
                    .into_iter()
                    .map(|read| seekless_engine::Read { tag, ..read }),
            );
        }
        engine.submit(batch);
        drop(done);
        let mut ended = ended(&*engine, &completions, 4);
        ended.sort_by_key(|completion| completion.tag);
        let kinds: Vec<_> = ended
            .iter()
            .map(|read| read.result.as_ref().map_err(|error| error.kind()).copied())
            .collect();
        assert_eq!(kinds[1], Err(ErrorKind::IsADirectory), "{}", engine.name());
        let bad_descriptor = ended[2].result.as_ref().err().and_then(std::io::Error::raw_os_error);
        assert_eq!(
            bad_descriptor,
            Some(rustix::io::Errno::BADF.raw_os_error()),
            "{}",
            engine.name()
        );
        assert!(ended[1].buffer.is_empty() && ended[2].buffer.is_empty());
        for good in [&ended[0], &ended[3]] {
            assert!(good.buffer[..] == bytes[100..150], "{}", engine.name());
        }
    }
}

#[test]
fn dropping_an_engine_completes_every_read() {
    let (file, bytes) = sample();
    let buffered = File::open(file.path()).unwrap();
    let direct = open_direct(file.path()).unwrap();
    if direct.is_none() {
        eprintln!("skipped: direct reads in flight: this file system refuses O_DIRECT");
    }
    let ranges: Vec<(u64, usize)> = (0..400).map(|at| (at * 4_096, 204_800)).collect();
    for (engine, open) in [Some(buffered), direct].into_iter().flatten().flat_map(|file| {
        let open = Arc::new(file);
        engines().into_iter().map(move |engine| (engine, Arc::clone(&open)))
    }) {
        let (name, (done, completions)) = (engine.name(), mpsc::channel());
        engine.submit(reads(&open, &ranges, &done));
        drop(done);
        drop(engine);
        let ended: Vec<_> = completions.iter().collect();
        assert_eq!(ended.len(), ranges.len(), "{name}");
        for read in ended {
            let (offset, length) = ranges[read.tag as usize];
            match read.result {
                Ok(_) => assert!(read.buffer[..] == *expected(&bytes, offset, length), "{name}"),
                Err(error) => {
                    assert_eq!(
                        error.raw_os_error(),
                        Some(rustix::io::Errno::CANCELED.raw_os_error()),
                        "{name}"
                    );
                }
            }
        }
    }
}

#[test]
fn nobody_listening_is_no_error() {
    let (file, bytes) = sample();
    let open = Arc::new(File::open(file.path()).unwrap());
    for engine in engines() {
        let (done, _) = mpsc::channel();
        engine.submit(reads(&open, &[(0, 4096), (9, 9)], &done));
        assert!(read_all(&*engine, &open, &[(1, 5)])[0].buffer[..] == bytes[1..6]);
    }
}

#[test]
fn a_shallow_ring_reads_what_does_not_fit_later() {
    let ring = match Ring::with_depth(2) {
        Ok(ring) => ring,
        Err(error) => return eprintln!("skipped: the ring: {error}"),
    };
    let (file, bytes) = sample();
    let open = Arc::new(File::open(file.path()).unwrap());
    let ranges: Vec<(u64, usize)> =
        (0..500).map(|at| (at * 6_001 % FILE_BYTES as u64, 3_000)).collect();
    for (completion, &(offset, length)) in read_all(&ring, &open, &ranges).iter().zip(&ranges) {
        assert!(completion.buffer[..] == *expected(&bytes, offset, length));
    }
}

#[test]
fn a_fresh_engine_stops_when_dropped_unused() {
    drop(engines());
}
