//! A new version of an object: what stays is copied where it lies, and only the rest travels.

use crate::common::{access, content, engine, s3_name, server, settings};
use seekless_engine::Engine;
use seekless_remote::{Kept, Plan, Version, renew};
use seekless_testing::{Conduct, Fault, ObjectServer};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

const MIB: usize = 1 << 20;

fn version(server: &ObjectServer) -> Version {
    let engine = engine(server, settings());
    let opened = engine.open("s3://bucket/object".as_ref(), 1).unwrap().unwrap();
    engine.version(&opened.file).unwrap()
}

/// A new version: the beginning and the end of the old one, with new bytes between and behind.
/// The file has holes where the old one is copied.
fn renewed(old: &[u8]) -> (Vec<u8>, Vec<Kept>) {
    let (first, new) = (12 * MIB, content(MIB, 7));
    let end = 14 * MIB..old.len();
    let bytes = [&old[..first], &new, &old[end.clone()], b"directory"].concat();
    let kept = vec![
        Kept { from: 0, to: 0, bytes: first as u64 },
        Kept { from: end.start as u64, to: (first + MIB) as u64, bytes: end.len() as u64 },
    ];
    (bytes, kept)
}

fn written(
    server: &ObjectServer,
    (bytes, kept): &(Vec<u8>, Vec<Kept>),
    old: Version,
) -> (io::Result<()>, Plan) {
    let name = s3_name("object");
    let plan = Plan::new(&name, bytes.len() as u64, kept.clone());
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(bytes, 0).unwrap();
    // What is copied is not there to be sent.
    let read = plan.to_read();
    for hole in kept {
        let zeros = vec![0; hole.bytes as usize];
        file.write_all_at(&zeros, hole.to).unwrap();
    }
    for Kept { to, bytes: length, .. } in read {
        let at = to as usize;
        file.write_all_at(&bytes[at..at + length as usize], to).unwrap();
    }
    let (access, settings) = (access(server), settings());
    (renew(&name, Arc::new(file), &plan, old, &access, &settings, |_| true), plan)
}

#[test]
fn only_what_has_changed_travels() {
    let old = content(40 * MIB, 1);
    let server = server(&old);
    let (version, new) = (version(&server), renewed(&old));
    let before = server.served().bytes;
    let (result, plan) = written(&server, &new, version);
    result.unwrap();
    assert!(server.content("/bucket/object").unwrap() == new.0);
    assert_eq!(server.parts(), 0);
    assert!(plan.copied_bytes() > 33 << 20, "{plan:?}");
    assert!(server.served().bytes - before < 1 << 20, "nothing is read");
}

#[test]
fn faults_that_pass_are_tried_again() {
    let old = content(40 * MIB, 2);
    let server = server(&old);
    let (version, new) = (version(&server), renewed(&old));
    let faults = [Fault::Internal, Fault::SlowDown, Fault::Unavailable];
    server.conduct(Conduct::plain().faulty(400, faults));
    written(&server, &new, version).0.unwrap();
    assert!(server.content("/bucket/object").unwrap() == new.0);
}

#[test]
fn one_that_was_replaced_meanwhile_stays() {
    let old = content(40 * MIB, 3);
    let server = server(&old);
    let (version, new) = (version(&server), renewed(&old));
    server.put("/bucket/object", *b"the other's");
    let error = written(&server, &new, version).0.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleNetworkFileHandle, "{error}");
    assert!(error.to_string().contains("replaced"), "{error}");
    assert_eq!(server.content("/bucket/object").unwrap(), b"the other's");
    assert_eq!(server.parts(), 0, "its parts are gone");
}

#[test]
fn a_small_one_goes_whole_and_must_be_the_same_version_too() {
    let server = server(b"old");
    let (first, new) = (version(&server), (b"new and more".to_vec(), Vec::new()));
    written(&server, &new, first.clone()).0.unwrap();
    assert_eq!(server.content("/bucket/object").unwrap(), b"new and more");
    let error = written(&server, &new, first).0.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleNetworkFileHandle, "{error}");
}

#[test]
fn one_that_is_given_up_leaves_no_parts() {
    let old = content(40 * MIB, 4);
    let server = server(&old);
    let (old_version, (bytes, kept)) = (version(&server), renewed(&old));
    let name = s3_name("object");
    let plan = Plan::new(&name, bytes.len() as u64, kept);
    let file: File = tempfile::tempfile().unwrap();
    file.write_all_at(&bytes, 0).unwrap();
    let (access, settings) = (access(&server), settings());
    let given_up = |_| false;
    let error = renew(&name, Arc::new(file), &plan, old_version, &access, &settings, given_up);
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert!(error.to_string().ends_with("nothing was left behind"), "{error}");
    assert!(server.content("/bucket/object").unwrap() == old && server.parts() == 0);
}
