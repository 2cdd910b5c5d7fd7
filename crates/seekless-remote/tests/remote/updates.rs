//! A small object is changed in one step, and of several writers at once none loses what another
//! wrote.

use crate::common::{access, s3_name, server, settings};
use seekless_engine::ObjectName;
use seekless_remote::{Access, update};
use seekless_testing::{Conduct, Fault, ObjectServer};
use std::io::{self, ErrorKind};

/// Adds a line.
fn add(name: &ObjectName, access: &Access, line: &str) -> io::Result<()> {
    update(name, 1 << 20, access, &settings(), |before| {
        let mut all = before.unwrap_or_default().to_vec();
        all.extend_from_slice(format!("{line}\n").as_bytes());
        Ok(Some(all))
    })
}

fn lines(server: &ObjectServer) -> Vec<String> {
    let content = server.content("/bucket/list").unwrap_or_default();
    let mut lines: Vec<String> =
        String::from_utf8(content).unwrap().lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn of_writers_at_once_none_loses_what_another_wrote() {
    let server = server(b"");
    let (name, access) = (s3_name("list"), access(&server));
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let (name, access) = (&name, &access);
            scope.spawn(move || {
                for turn in 0..4 {
                    add(name, access, &format!("{writer}.{turn}")).unwrap();
                }
            });
        }
    });
    let expected = (0..6).flat_map(|writer| (0..4).map(move |turn| format!("{writer}.{turn}")));
    assert_eq!(lines(&server), expected.collect::<Vec<_>>());
}

#[test]
fn a_writer_that_was_faster_is_seen() {
    let server = server(b"");
    let (name, access) = (s3_name("list"), access(&server));
    for before in ["none", "some"] {
        let mut calls = 0;
        update(&name, 1 << 20, &access, &settings(), |found| {
            calls += 1;
            if calls == 1 {
                server.put("/bucket/list", before.as_bytes());
                return Ok(Some(b"lost".to_vec()));
            }
            assert_eq!(found, Some(before.as_bytes()), "what the other wrote");
            Ok(Some([before.as_bytes(), b" and more"].concat()))
        })
        .unwrap();
        assert_eq!(calls, 2);
        assert_eq!(lines(&server), [format!("{before} and more")]);
    }
}

#[test]
fn faults_that_pass_are_tried_again_and_each_line_stands_there() {
    let server = server(b"");
    let faults = [Fault::Internal, Fault::SlowDown, Fault::Truncated, Fault::Reset];
    server.conduct(Conduct::plain().faulty(300, faults));
    let (name, access) = (s3_name("list"), access(&server));
    let expected: Vec<String> = (10..30).map(|line| line.to_string()).collect();
    expected.iter().for_each(|line| add(&name, &access, line).unwrap());
    let mut found = lines(&server);
    found.dedup(); // an answer that is lost has a line written twice
    assert_eq!(found, expected);
}

#[test]
fn what_is_to_stay_is_not_written_and_what_is_too_large_is_refused() {
    let server = server(b"0123456789");
    let (name, access) = (s3_name("object"), access(&server));
    let before = server.served().requests;
    update(&name, 10, &access, &settings(), |found| {
        assert_eq!(found, Some(&b"0123456789"[..]));
        Ok(None)
    })
    .unwrap();
    assert_eq!(server.served().requests, before + 1);
    let error = update(&name, 9, &access, &settings(), |_| Ok(None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    let fails = |_: Option<&[u8]>| Err(io::Error::other("it makes no sense"));
    let error = update(&name, 10, &access, &settings(), fails).unwrap_err();
    assert_eq!(error.to_string(), "it makes no sense");
}
