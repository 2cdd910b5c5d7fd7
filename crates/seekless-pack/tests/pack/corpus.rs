//! Archives as other tools write them, odd in one way each, and what every reader must find in
//! them. The tests of this crate read them with ours, Python's zipfile and unzip; those of
//! seekless-mount as a file system.

use crate::forge::{Forged, Forgery, put16, put32, put64};

/// One archive.
pub(crate) struct Case {
    /// What is odd about it.
    pub(crate) what: &'static str,
    pub(crate) archive: Vec<u8>,
    /// The files that it holds, by name.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// Entries that are left out.
    pub(crate) left_out: u64,
}

/// An extra field.
pub(crate) fn field(id: u16, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put16(&mut out, &[id, body.len() as u16]);
    out.extend(body);
    out
}

/// A good entry, the odd ones, and another good one.
pub(crate) fn among(odd: impl IntoIterator<Item = Forged>) -> Forgery {
    let mut entries = vec![Forged::stored("first", b"one")];
    entries.extend(odd);
    entries.push(Forged::stored("last", b"two"));
    Forgery::of(entries)
}

fn case(what: &'static str, forgery: &Forgery, files: &[(&str, &[u8])], left_out: u64) -> Case {
    let good: [(&str, &[u8]); 2] = [("first", b"one"), ("last", b"two")];
    let all = good.iter().chain(files);
    let files = all.map(|(name, content)| ((*name).to_owned(), content.to_vec())).collect();
    Case { what, archive: forgery.bytes(), files, left_out }
}

/// A name in Info-ZIP's field for it.
fn named(name: &str) -> Forged {
    let mut body = vec![1];
    put32(&mut body, &[crc32fast::hash(b"_15.txt")]);
    body.extend(name.as_bytes());
    let extra = field(0x7075, &body);
    Forged { central_extra: extra.clone(), local_extra: extra, ..Forged::stored("_15.txt", b"15") }
}

fn folder(made_by: u16, attributes: u32) -> Forged {
    Forged { made_by: made_by << 8 | 20, attributes, ..Forged::stored("d", b"") }
}

/// An entry whose sizes stand behind its data.
fn described() -> Forged {
    let content = b"behind";
    let mut behind = Vec::new();
    put32(&mut behind, &[0x0807_4b50, crc32fast::hash(content), 6, 6]);
    let (local_crc, local_sizes) = (Some(0), Some((0, 0)));
    Forged { flags: 1 << 3, local_crc, local_sizes, behind, ..Forged::stored("d", content) }
}

/// An entry whose sizes stand in a Zip64 field, though they are small.
fn wide() -> Forged {
    let mut sizes = Vec::new();
    put64(&mut sizes, &[4, 4]);
    let (extra, wide) = (field(1, &sizes), u32::MAX);
    Forged {
        bytes: wide,
        coded_bytes: wide,
        central_extra: extra.clone(),
        local_extra: extra,
        ..Forged::stored("wide", b"four")
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let bad = |name: &str| among([Forged::stored(name, b"bad")]);
    let inside = Forged::stored("d/f", b"inside");
    let long = "x".repeat(256);
    let twice = [Forged::stored("x/y", b"old"), Forged::stored("x/y", b"newer")];
    let mut flagged = Forged::stored("a", b"bad");
    (flagged.name, flagged.flags) = (vec![b'a', 0xe4], 1 << 11);
    let appended = Forgery { behind: b"-----SIGNATURE-----".to_vec(), ..among([]) };
    let prefixed = Forgery { before: b"#!/bin/sh\nexit\n".to_vec(), ..among([]) };
    let commented = Forgery { comment: b"a comment".to_vec(), ..among([]) };
    vec![
        case("a name that leads out", &bad("../up"), &[], 1),
        case("an absolute name", &bad("/abs"), &[], 1),
        case("a name with a NUL byte", &bad("a\0b"), &[], 1),
        case("no name", &bad(""), &[], 1),
        case("a name that is too long", &bad(&long), &[], 1),
        case("a name that is not the UTF-8 it claims", &among([flagged]), &[], 1),
        case("a name that stands there twice", &among(twice), &[("x/y", b"newer")], 1),
        case("bytes behind the end", &appended, &[], 0),
        case("bytes before the beginning", &prefixed, &[], 0),
        case("a comment", &commented, &[], 0),
        case(
            "a folder by DOS's attributes",
            &among([folder(0, 0x10), inside.clone()]),
            &[("d/f", b"inside")],
            0,
        ),
        case(
            "a folder by Unix's attributes",
            &among([folder(3, 0o040_755 << 16), inside]),
            &[("d/f", b"inside")],
            0,
        ),
        case("a name in a field of its own", &among([named("€15.txt")]), &[("€15.txt", b"15")], 0),
        case("sizes after the data", &among([described()]), &[("d", b"behind")], 0),
        case("small sizes in a Zip64 field", &among([wide()]), &[("wide", b"four")], 0),
    ]
}
