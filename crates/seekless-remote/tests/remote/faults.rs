//! Whatever a server does: no wrong byte, no wait beyond the deadline, and an error that says what
//! to do and holds no secret.

use crate::common::{content, engine, open, read, server, settings};
use seekless_engine::Engine;
use seekless_testing::{Conduct, Fault};
use std::io::ErrorKind;
use std::time::{Duration, Instant};

const BYTES: usize = 1 << 20;

#[test]
fn faults_that_pass_cost_time_and_no_byte() {
    let bytes = content(BYTES, 1);
    let server = server(&bytes);
    let engine = engine(&server, settings());
    let opened = open(&engine, &server);
    for fault in Fault::PASSING {
        server.conduct(Conduct::plain().faulty(50, [fault]));
        let offsets: Vec<u64> = (0..200).map(|turn| turn * 5003).collect();
        let found = read(&engine, &opened, &offsets, 20_000);
        for (offset, found) in offsets.iter().zip(found) {
            let start = *offset as usize;
            let end = (start + 20_000).min(BYTES);
            let found = found.unwrap_or_else(|error| panic!("{fault:?} at {offset}: {error}"));
            assert!(*found == bytes[start..end], "{fault:?} at {offset}");
        }
    }
    assert!(server.served().faults > 30, "{:?}", server.served());
}

#[test]
fn ten_thousand_loads_with_a_twentieth_of_faults_are_all_right() {
    let bytes = content(BYTES, 2);
    let server = server(&bytes);
    let delay = Duration::from_millis(1);
    server.conduct(Conduct::plain().delayed(delay, delay).faulty(50, Fault::PASSING));
    let engine = engine(&server, settings());
    let opened = open(&engine, &server);
    let mut wrong = 0;
    for round in 0..10u64 {
        let offsets: Vec<u64> = (0..1000).map(|turn| (turn * 7919 + round) % 1_040_000).collect();
        for (offset, found) in offsets.iter().zip(read(&engine, &opened, &offsets, 700)) {
            let start = *offset as usize;
            wrong += u32::from(found.unwrap()[..] != bytes[start..start + 700]);
        }
    }
    assert_eq!(wrong, 0);
    assert!(server.served().faults > 300, "{:?}", server.served());
}

#[test]
fn a_replaced_object_is_an_error_and_never_other_bytes() {
    let server = server(&content(BYTES, 3));
    let engine = engine(&server, settings());
    let opened = open(&engine, &server);
    assert!(read(&engine, &opened, &[0], 100)[0].is_ok());
    server.put("/bucket/object", content(BYTES, 4));
    let error = read(&engine, &opened, &[0], 100).remove(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleNetworkFileHandle);
    assert_eq!(
        error.to_string(),
        "bytes 0 to 99: the object was replaced after it was opened: open it again"
    );
    let again = open(&engine, &server);
    assert!(*read(&engine, &again, &[5], 100).remove(0).unwrap() == content(BYTES, 4)[5..105]);
}

#[test]
fn a_server_that_ignores_the_condition_gives_no_bytes_of_another_object() {
    let server = server(&content(BYTES, 5));
    let engine = engine(&server, settings());
    let opened = open(&engine, &server);
    server.conduct(Conduct::plain().faulty(1000, [Fault::WrongTag]));
    let error = read(&engine, &opened, &[7], 100).remove(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleNetworkFileHandle, "{error}");
}

#[test]
fn a_proxy_that_ignores_ranges_is_named() {
    let server = server(&content(BYTES, 6));
    let engine = engine(&server, settings());
    let opened = open(&engine, &server);
    server.conduct(Conduct::plain().faulty(1000, [Fault::IgnoredRange]));
    let error = read(&engine, &opened, &[7], 100).remove(0).unwrap_err();
    assert!(error.to_string().contains("header `Range`"), "{error}");
}

#[test]
fn a_busy_server_is_an_error_at_the_deadline() {
    let server = server(&content(BYTES, 7));
    let mut settings = settings();
    settings.deadline = Duration::from_millis(300);
    let engine = engine(&server, settings);
    let opened = open(&engine, &server);
    server.conduct(Conduct::plain().faulty(1000, [Fault::SlowDown]));
    let error = read(&engine, &opened, &[7], 100).remove(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let words = error.to_string();
    assert!(
        words.starts_with("bytes 7 to 106: the server answered 503 (SlowDown), in "),
        "{words}"
    );
    assert!(words.ends_with("try again later"), "{words}");
}

#[test]
fn a_server_that_never_answers_is_an_error_at_the_deadline() {
    let server = server(&content(BYTES, 8));
    let mut settings = settings();
    settings.deadline = Duration::from_millis(300);
    let engine = engine(&server, settings);
    let opened = open(&engine, &server);
    server.conduct(Conduct::plain().delayed(Duration::from_secs(3600), Duration::ZERO));
    let began = Instant::now();
    let error = read(&engine, &opened, &[7], 100).remove(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
    // Only that it does not wait for the server.
    assert!(began.elapsed() < Duration::from_secs(600));
}

#[test]
fn refused_credentials_are_named_by_the_servers_code_and_shown_nowhere() {
    let server = server(&content(BYTES, 9));
    let engine = engine(&server, settings());
    for (fault, says) in [(Fault::Expired, "(ExpiredToken)"), (Fault::Skewed, "TimeTooSkewed")] {
        server.conduct(Conduct::plain().faulty(1000, [fault]));
        let before = server.served().requests;
        let opened = engine.open("s3://bucket/object".as_ref(), 100).unwrap();
        let message = opened.unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
        assert!(!message.contains("the-"), "no key and no secret: {message}");
        assert_eq!(server.served().requests, before + 1, "another try does not help");
    }
    assert!(!format!("{engine:?}").contains("the-"));
}

#[test]
fn late_requests_are_made_again_where_a_few_are_very_late() {
    let bytes = content(BYTES, 10);
    let server = server(&bytes);
    let engine = engine(&server, settings());
    let opened = open(&engine, &server);
    // One connection after another is slow, then fast again: a long tail.
    for turn in 0..100u64 {
        let delay = Duration::from_millis(if turn % 25 == 0 { 80 } else { 2 });
        server.conduct(Conduct::plain().delayed(delay, Duration::ZERO));
        let found = read(&engine, &opened, &[turn], 100).remove(0).unwrap();
        assert!(*found == bytes[turn as usize..][..100]);
    }
    let counted = engine.counters().requests;
    assert_eq!(counted, 101 + engine.hedges(), "each request is counted");
    assert!(engine.hedges() >= 1, "at least one was late");
}
