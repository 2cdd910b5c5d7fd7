//! The bodies of the targets that hear what another machine says about SLEDs: an answer, to the
//! client; questions, to the server. Any bytes are an error or make sense; nothing outside the
//! server's folder is told of.

use seekless_sled::fuzzing::{Unconnected, taken_of};
use seekless_sled::{Config, Devices, Surveyor};
use std::path::Path;

/// The size of the file that is asked about; the seeds know it.
const BYTES: u64 = 100_000;
/// A line of the conversation has no more.
const LINE_BYTES_MAX: usize = 384 << 10;

/// An answer, as the client reads it.
pub fn answer(bytes: &[u8]) {
    for file_bytes in [BYTES, u64::MAX] {
        let Ok(sleds) = taken_of(bytes, file_bytes) else { continue };
        let mut end = 0;
        for (from, to, _, bandwidth) in sleds {
            assert!(from >= end && to > from && to <= file_bytes, "{from}..{to} after {end}");
            assert!(bandwidth > 0.0, "{bandwidth}");
            end = to;
        }
    }
}

/// Questions to a server of a folder with a file `data`; its first byte says how many come at a
/// time.
pub fn questions(bytes: &[u8]) {
    let Some((first, said)) = bytes.split_first() else { return };
    let folder =
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let root = folder.path().canonicalize().expect("its path");
    std::fs::write(root.join("data"), vec![1; BYTES as usize]).expect("room");
    let server = Unconnected::new(&root, Surveyor::with(Config::default(), Devices::default()));
    let said = replaced(said, b"ROOT", root.to_str().expect("text").as_bytes());
    let (heard, _) = server.expect("a folder").talk(&said, 1 + usize::from(*first) * 16);
    check(&said, &heard, &root);
}

/// No more answers than questions, each a line of JSON that tells of the file or why not.
fn check(said: &[u8], heard: &[u8], root: &Path) {
    let questions = said.iter().filter(|&&byte| byte == b'\n').count();
    let answers: Vec<&[u8]> =
        heard.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    assert!(answers.len() <= questions, "{} answers to {questions} questions", answers.len());
    assert!(heard.is_empty() || heard.ends_with(b"\n"), "an answer without an end");
    for answer in answers {
        assert!(answer.len() < LINE_BYTES_MAX, "{} bytes", answer.len());
        let told = taken_of(answer, BYTES);
        match &told {
            Ok(sleds) => {
                assert_eq!(sleds.last().map(|last| last.1), Some(BYTES), "not all of the file")
            }
            Err(why) => assert!(why.starts_with("Said"), "{why}"),
        }
        let text = String::from_utf8_lossy(answer);
        assert!(
            !text.contains(root.to_str().expect("text")),
            "tells where the folder lies: {text}"
        );
    }
}

/// The text with each `name` replaced.
fn replaced(text: &[u8], name: &[u8], by: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with(name) {
            out.extend_from_slice(by);
            at += name.len();
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}
