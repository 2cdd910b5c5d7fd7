//! Without faults: the right bytes, in no more requests than reads.

use crate::common::{content, engine, open, read, server, settings, web_name};
use seekless_engine::{AlignedBuf, Engine};
use seekless_testing::Conduct;
use std::sync::{Arc, mpsc};
use std::time::Duration;

#[test]
fn an_object_is_opened_with_its_end_in_one_request() {
    let bytes = content(10_000, 1);
    let server = server(&bytes);
    let engine = engine(&server, settings());
    let opened = open(&engine, &server);
    assert_eq!((opened.bytes, &*opened.tail), (10_000, &bytes[9000..]));
    assert_eq!(server.served().requests, 1);
    assert_eq!((engine.counters().requests, engine.counters().bytes), (1, 1000));
}

#[test]
fn one_shorter_than_its_end_comes_whole() {
    let server = server(b"short");
    let opened = open(&engine(&server, settings()), &server);
    assert_eq!((opened.bytes, &*opened.tail), (5, &b"short"[..]));
}

#[test]
fn ranges_come_as_they_are_and_end_with_the_object() {
    let bytes = content(300_000, 2);
    let server = server(&bytes);
    let engine = engine(&server, settings());
    let opened = open(&engine, &server);
    let offsets = [0, 1, 77_777, 250_000, 299_999, 300_000, 400_000];
    let found = read(&engine, &opened, &offsets, 100_000);
    for (offset, found) in offsets.iter().zip(found) {
        let start = (*offset as usize).min(bytes.len());
        let end = (start + 100_000).min(bytes.len());
        assert!(*found.unwrap() == bytes[start..end], "at {offset}");
    }
    // Behind the end nothing is asked for.
    assert_eq!(server.served().requests, 1 + 5);
    let mut read = engine.read_now(opened.file, 5, AlignedBuf::with_capacity(5));
    assert_eq!((&*read.0, read.1.as_mut().ok().copied()), (&bytes[5..10], Some(5)));
}

#[test]
fn requests_run_at_once_up_to_the_limit() {
    let server = server(&content(100_000, 3));
    server.conduct(Conduct::plain().delayed(Duration::from_millis(50), Duration::ZERO));
    let mut settings = settings();
    settings.streams = 8;
    let engine = engine(&server, settings);
    let opened = open(&engine, &server);
    let offsets: Vec<u64> = (0..64).map(|turn| turn * 1000).collect();
    assert!(read(&engine, &opened, &offsets, 1000).iter().all(Result::is_ok));
    let at_once = server.served().at_once;
    assert!((2..=8).contains(&at_once), "{at_once} at once");
}

#[test]
fn costs_are_learned() {
    let server = server(&content(4 << 20, 4));
    let delayed = Conduct::plain().delayed(Duration::from_millis(30), Duration::from_millis(5));
    server.conduct(delayed.limited(40_000_000));
    let engine = engine(&server, settings());
    let opened = open(&engine, &server);
    let offsets: Vec<u64> = (0..8).map(|turn| turn << 19).collect();
    assert!(read(&engine, &opened, &offsets, 1 << 19).iter().all(Result::is_ok));
    let costs = engine.costs();
    // The server waits at least this long; how much longer a busy machine takes is not said.
    assert!(costs.request_ns >= 25_000_000, "{costs:?}");
    assert!(costs.bytes_per_second <= 50_000_000, "{costs:?}");
}

#[test]
fn files_are_read_too_and_objects_by_nothing_else() {
    let server = server(&content(5000, 5));
    let engine = engine(&server, settings());
    let opened = open(&engine, &server);
    let file = Arc::new(std::fs::File::open("Cargo.toml").unwrap());
    let (buffer, result) = engine.read_now(file, 0, AlignedBuf::with_capacity(9));
    assert_eq!((&buffer[..], result.unwrap()), (&b"[package]"[..], 9));
    let by_files = seekless_engine::automatic();
    let (_, result) = by_files.read_now(opened.file, 0, AlignedBuf::with_capacity(9));
    assert!(result.is_err());
    assert!(engine.open("Cargo.toml".as_ref(), 10).is_none());
}

#[test]
fn an_engine_that_goes_away_cancels_what_waits() {
    let server = server(&content(5000, 6));
    let engine = engine(&server, settings());
    let opened = open(&engine, &server);
    server.conduct(Conduct::plain().delayed(Duration::from_secs(3600), Duration::ZERO));
    let (done, ended) = mpsc::channel();
    engine.submit(vec![seekless_engine::Read {
        file: opened.file,
        offset: 0,
        buffer: AlignedBuf::with_capacity(10),
        tag: 9,
        done: done.into(),
    }]);
    drop(engine);
    let completion = ended.recv().unwrap();
    let code = rustix::io::Errno::CANCELED.raw_os_error();
    assert_eq!((completion.tag, completion.result.unwrap_err().raw_os_error()), (9, Some(code)));
    assert!(ended.recv().is_err(), "each read completes once");
}

#[test]
fn names_that_lead_nowhere_say_so() {
    let server = server(b"x");
    let engine = engine(&server, settings());
    let absent = format!("http://{}/bucket/absent", server.address());
    let message = |name: &str| engine.open(name.as_ref(), 10).unwrap().unwrap_err().to_string();
    assert_eq!(message(&absent), "there is no such object");
    assert!(message("s3://bucket/").contains("names a folder"));
    server.put("/bucket/object", Vec::new());
    let empty = engine.open(&web_name(&server), 10).unwrap().unwrap_err().to_string();
    assert!(empty.contains("empty"), "{empty}");
}
