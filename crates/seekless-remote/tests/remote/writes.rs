//! An object appears whole or not at all, and replaces another only on request.

use crate::common::{access, content, s3_name, server, settings};
use seekless_remote::{Condition, put};
use seekless_testing::{Conduct, Fault, ObjectServer};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::sync::Arc;

fn file(content: &[u8]) -> Arc<File> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    Arc::new(file)
}

fn written(server: &ObjectServer, content: &[u8], condition: Condition) -> io::Result<()> {
    let (name, access) = (s3_name("new"), access(server));
    put(&name, file(content), condition, &access, &settings(), |_| true)
}

/// One that goes in one request, and one that goes in three parts.
const SIZES: [usize; 2] = [1000, 20 << 20];

#[test]
fn an_object_appears_with_all_its_bytes() {
    for bytes in SIZES {
        let (server, bytes) = (server(b""), content(bytes, 1));
        written(&server, &bytes, Condition::New).unwrap();
        assert!(server.content("/bucket/new") == Some(bytes));
        assert_eq!(server.parts(), 0);
    }
}

#[test]
fn faults_that_pass_are_tried_again() {
    let (server, bytes) = (server(b""), content(SIZES[1], 2));
    server.conduct(Conduct::plain().faulty(300, [Fault::Internal, Fault::SlowDown]));
    written(&server, &bytes, Condition::New).unwrap();
    assert!(server.content("/bucket/new") == Some(bytes));
    assert!(server.served().faults > 0 || server.served().requests < 6);
}

#[test]
fn one_that_is_there_is_replaced_only_on_request() {
    for bytes in SIZES {
        let (server, bytes) = (server(b""), content(bytes, 3));
        server.put("/bucket/new", *b"old");
        let error = written(&server, &bytes, Condition::New).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(error.to_string(), "exists already; give --force to replace it");
        assert_eq!(server.content("/bucket/new").unwrap(), b"old");
        written(&server, &bytes, Condition::Any).unwrap();
        assert!(server.content("/bucket/new") == Some(bytes));
        assert_eq!(server.parts(), 0);
    }
}

#[test]
fn of_two_writers_the_later_gets_an_error() {
    let server = Arc::new(server(b""));
    let other = server.clone();
    let (name, access, mut began) = (s3_name("new"), access(&server), false);
    let progress = move |_| {
        if !std::mem::replace(&mut began, true) {
            other.put("/bucket/new", *b"the other's");
        }
        true
    };
    let content = file(&content(SIZES[1], 4));
    let error = put(&name, content, Condition::New, &access, &settings(), progress).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
    assert_eq!(server.content("/bucket/new").unwrap(), b"the other's");
    assert_eq!(server.parts(), 0, "its parts are gone");
}

#[test]
fn one_that_is_given_up_leaves_nothing() {
    let server = server(b"");
    let (name, access) = (s3_name("new"), access(&server));
    let content = file(&content(SIZES[1], 5));
    let error = put(&name, content, Condition::New, &access, &settings(), |_| false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert!(error.to_string().ends_with("nothing was left behind"), "{error}");
    assert_eq!((server.content("/bucket/new"), server.parts()), (None, 0));
}

#[test]
fn who_may_only_write_is_not_asked_to_look_first() {
    let server = server(b"");
    server.conduct(Conduct::plain().faulty(1000, [Fault::Skewed]));
    // Of the question for the object the answer has no text: this is that of the write.
    let words = written(&server, b"x", Condition::New).unwrap_err().to_string();
    assert!(words.contains("(RequestTimeTooSkewed)") && !words.contains("the-"), "{words}");
}

#[test]
fn web_servers_take_none() {
    let name = seekless_engine::ObjectName::parse("https://host/a".as_ref()).unwrap().unwrap();
    let access = seekless_remote::Access::default();
    let error = put(&name, file(b"x"), Condition::New, &access, &settings(), |_| true);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
}
