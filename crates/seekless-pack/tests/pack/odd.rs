//! Archives as other tools write them, odd in one way each: what can be read of them is, the rest
//! is counted, and Python's zipfile gives the same content.

use crate::corpus::{self, Case, cases, field};
use crate::foreign::output;
use crate::forge::{Forged, Forgery, put16, put32, put64};
use crate::memory::bounded;
use crate::support::{installed, on_disk};
#[cfg(feature = "encodings")]
use seekless_pack::Reading;
use seekless_pack::{ErrorKind, Index, decode};
use std::collections::BTreeMap;
use std::path::Path;

fn open(archive: &[u8]) -> seekless_pack::Result<Index> {
    bounded(archive.len(), || Index::open_odd(archive, archive.len() as u64))
}

/// Each file with its content; folders have none.
fn files(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let index = open(archive).expect("it is only odd");
    let mut files = BTreeMap::new();
    for (entry, number) in index.entries().zip(0..) {
        let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
        let mut content = Vec::new();
        decode(&entry, index.name(number), extent, &mut content).expect("it is whole");
        files.insert(index.name(number).to_owned(), content);
    }
    files
}

fn kinds(archive: &[u8]) -> Vec<(&'static str, u64)> {
    open(archive).unwrap().left_out().entries.iter().map(|(why, count)| (*why, *count)).collect()
}

/// A good entry, the odd ones, and another good one.
fn among(odd: impl IntoIterator<Item = Forged>) -> Vec<u8> {
    corpus::among(odd).bytes()
}

const SCRIPT: &str = r#"
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    for name in dict.fromkeys(archive.namelist()):
        print(name.encode().hex(), archive.read(name).hex())
"#;

/// Checks that Python's zipfile reads the same content under the names that both have.
fn compare_with_python(archive: &[u8]) {
    let Some(mut python) = installed("python3") else { return };
    let (_folder, path) = on_disk(archive);
    let said = output(python.args(["-c", SCRIPT]).arg(&path));
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for (name, content) in files(archive).iter().filter(|(name, _)| !name.ends_with('/')) {
        let line = format!("{} {}", hex(name.as_bytes()), hex(content));
        assert!(said.lines().any(|said| said.trim() == line.trim()), "{name}: {said}");
    }
}

/// What `unzip` says, whatever it warns of.
fn unzip(words: &[&str], archive: &Path, name: Option<&str>) -> Option<Vec<u8>> {
    let mut unzip = installed("unzip")?;
    unzip.env("LC_ALL", "C.UTF-8").args(words).arg(archive).args(name);
    Some(unzip.output().expect("it starts").stdout)
}

#[test]
fn the_corpus_holds_what_other_readers_find() {
    let mut wrong = Vec::new();
    for case in cases() {
        let found = files(&case.archive);
        let found: Vec<_> = found.iter().filter(|(name, _)| !name.ends_with('/')).collect();
        let mut expected: Vec<_> =
            case.files.iter().map(|(name, content)| (name, content)).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}", case.what);
        let left_out: u64 = open(&case.archive).unwrap().left_out().entries.values().sum();
        assert_eq!(left_out, case.left_out, "{}", case.what);
        // Python reads no archive with a name that is not the UTF-8 it claims, and none of its
        // releases before 3.12 the field of names.
        if !["UTF-8", "a field of its own"].iter().any(|odd| case.what.contains(odd)) {
            compare_with_python(&case.archive);
        }
        // unzip gives an entry without a name that of the entry before it.
        if case.what != "no name" {
            wrong.extend(unlike_unzip(&case));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What `unzip` says otherwise of a case.
fn unlike_unzip(case: &Case) -> Vec<String> {
    let (_folder, path) = on_disk(&case.archive);
    let Some(list) = unzip(&["-l"], &path, None) else { return Vec::new() };
    let list = String::from_utf8_lossy(&list).into_owned();
    let mut wrong = Vec::new();
    for (name, content) in &case.files {
        let said = unzip(&["-p"], &path, Some(name)).unwrap_or_default();
        // Of one name it gives all.
        if !list.contains(name.as_str()) || !said.ends_with(content) {
            let said = String::from_utf8_lossy(&said).into_owned();
            wrong.push(format!("{}: {name}: {said:?} of {list}", case.what));
        }
    }
    wrong
}

#[test]
fn a_name_that_no_file_can_have_costs_its_own_entry() {
    for (name, why) in [
        ("../up", "a name that leads out by `..`"),
        ("a/../../b", "a name that leads out by `..`"),
        ("/abs", "an absolute name"),
        ("C:/win", "an absolute name"),
        ("\\x", "an absolute name"),
        ("", "no name"),
        ("a\0b", "a NUL byte in the name"),
    ] {
        let archive = among([Forged::stored(name, b"bad"), Forged::stored(name, b"bad")]);
        let found = files(&archive);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["first", "last"], "{name:?}");
        assert_eq!(kinds(&archive), [(why, 2)], "{name:?}");
        let index = open(&archive).unwrap();
        assert!(index.left_out().words().starts_with("2 entries left out"));
        assert!(index.find("last").is_some() && index.find(name).is_none());
        let strict = Index::open(&archive[..], archive.len() as u64).unwrap_err();
        assert_eq!(strict.kind(), ErrorKind::Name);
    }
    let mut latin1 = Forged::stored("a", b"bad");
    (latin1.name, latin1.flags) = (vec![b'a', 0xe4], 1 << 11);
    assert_eq!(kinds(&among([latin1])), [("a name that cannot be read", 1)]);
}

#[test]
fn of_one_name_the_last_in_the_directory_counts() {
    let twice = |one: &[u8], two: &[u8]| {
        [Forged::stored("arr/zarr.json", one), Forged::stored("arr/zarr.json", two)]
    };
    let archive = among(twice(b"old", b"newer"));
    assert_eq!(files(&archive)["arr/zarr.json"], b"newer");
    assert_eq!(kinds(&archive), [("a name that stands there again", 1)]);
    compare_with_python(&archive);
    // The same, where the directory has another order than the data.
    let mut entries = vec![Forged::stored("x", b"new"), Forged::stored("x", b"old")];
    entries.push(Forged::stored("y", b"y"));
    let right = Forgery::of(entries.clone()).bytes();
    let offsets: Vec<u32> = {
        let index = open(&among([Forged::stored("z", b"")])).unwrap();
        assert_eq!(index.len(), 3);
        let mut at = 0;
        entries
            .iter()
            .map(|entry| {
                let here = at;
                at += 30 + entry.name.len() as u32 + entry.data.len() as u32;
                here
            })
            .collect()
    };
    assert_eq!(files(&right)["x"], b"old");
    // The directory names the second entry first: so the first is the last of that name.
    entries.swap(0, 1);
    for (entry, (crc, at)) in entries.iter_mut().zip([(b"old", 1), (b"new", 0)]) {
        (entry.crc, entry.offset) = (crc32fast::hash(crc), Some(offsets[at]));
    }
    let mut swapped = right.clone();
    let directory = Forgery::of(entries).bytes();
    let from = right.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    swapped[from..].copy_from_slice(&directory[from..]);
    assert_eq!(files(&swapped)["x"], b"new");
    compare_with_python(&swapped);
}

/// As packs list their folders: an entry that lies behind others comes first in the directory.
#[test]
fn of_one_name_the_last_counts_also_where_an_entry_is_listed_before_its_place() {
    let names = ["x", "y", "x", "z"];
    let entries = names.map(|name| Forged::stored(name, &[name.as_bytes(), b"!"].concat()));
    let mut archive = Forgery::of(entries.clone()).bytes();
    let from = archive.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    let end = archive.windows(4).position(|window| window == b"PK\x05\x06").unwrap();
    let header = (end - from) / names.len();
    // The second `x`, the third entry, is listed first.
    archive[from..][..3 * header].rotate_left(2 * header);
    let index = open(&archive).unwrap();
    let places: Vec<(&str, u64)> =
        (0..3).map(|number| (index.name(number), index.entry(number).header_offset)).collect();
    let bytes = (end - from - names.len() * 16) as u64 / names.len() as u64 + 2;
    assert_eq!(places, [("x", 0), ("y", bytes), ("z", 3 * bytes)], "the first is the last");
    assert_eq!(kinds(&archive), [("a name that stands there again", 1)]);
    compare_with_python(&archive);
}

#[test]
fn bytes_behind_the_end_are_passed_over_unless_there_are_two_ends() {
    let whole = among([]);
    for tail in [&b"\n"[..], &[0; 512], b"-----SIGNATURE-----"] {
        let archive = [&whole, tail].concat();
        assert_eq!(files(&archive).len(), 2);
        assert_eq!(open(&archive).unwrap().left_out().appended_bytes, tail.len() as u64);
        assert!(Index::open(&archive[..], archive.len() as u64).is_err());
        compare_with_python(&archive);
    }
    let two = [&whole[..], &whole, b"\n"].concat();
    assert_eq!(open(&two).unwrap_err().kind(), ErrorKind::NotAZip);
    for length in 4..whole.len() {
        assert!(open(&whole[..length]).is_err(), "cut to {length} bytes");
    }
}

#[test]
fn a_folder_is_told_by_its_attributes() {
    let folder = |made_by: u16, attributes: u32| Forged {
        made_by: made_by << 8 | 20,
        attributes,
        ..Forged::stored("d", b"")
    };
    for folder in [folder(0, 0x10), folder(3, 0o040_755 << 16)] {
        let archive = among([folder, Forged::stored("d/f", b"inside")]);
        let index = open(&archive).unwrap();
        let number = index.find("d/").expect("a folder");
        assert!(index.entry(number).is_dir() && index.left_out().is_empty());
        assert_eq!(files(&archive)["d/f"], b"inside");
    }
    // With content it is a file, whatever its attributes say.
    let file = Forged { attributes: 0x10, ..Forged::stored("d", b"content") };
    assert_eq!(files(&among([file]))["d"], b"content");
}

#[test]
fn a_name_in_a_field_of_its_own_is_the_name() {
    let named = |name: &str, crc: u32| {
        let mut body = vec![1];
        put32(&mut body, &[crc]);
        body.extend(name.as_bytes());
        field(0x7075, &body)
    };
    let crc = crc32fast::hash(b"_15.txt");
    for in_header in [true, false] {
        let mut entry = Forged::stored("_15.txt", b"euro");
        entry.central_extra = named("€15.txt", crc);
        if in_header {
            entry.local_extra = entry.central_extra.clone();
        }
        assert_eq!(files(&among([entry]))["€15.txt"], b"euro");
    }
    let mut stale = Forged::stored("_15.txt", b"euro");
    stale.central_extra = named("€15.txt", crc ^ 1);
    assert_eq!(files(&among([stale]))["_15.txt"], b"euro");
    let mut leads_out = Forged::stored("_15.txt", b"euro");
    leads_out.central_extra = named("../15.txt", crc);
    assert_eq!(kinds(&among([leads_out])).len(), 1);
}

/// The name `表.txt` as Japanese Windows writes it.
#[cfg(feature = "encodings")]
#[test]
fn names_are_read_in_the_encoding_that_was_named() {
    let mut odd = Forged::stored("x", b"japanese");
    odd.name = b"\x95\x5c.txt".to_vec();
    let mut wrong = Forged::stored("x", b"wrong");
    wrong.name = b"\xff\xff".to_vec();
    let archive = among([odd.clone(), wrong]);
    let names = "cp932".parse().unwrap();
    let read =
        |strict| Index::open_as(&archive[..], archive.len() as u64, Reading { strict, names });
    let index = read(false).unwrap();
    assert_eq!(index.left_out().entries, [("a name that cannot be read", 1)].into());
    let number = index.find("表.txt").expect("it is read so");
    let (entry, mut content) = (index.entry(number), Vec::new());
    let extent = &archive[entry.header_offset as usize..];
    decode(&entry, "表.txt", extent, &mut content).expect("it is whole");
    assert_eq!(content, b"japanese");
    let why = read(true).unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Name);
    assert!(why.to_string().contains("a name that is not Shift_JIS"), "{why}");
    // Without it, the name is of code page 437; a flag, or a field of its own, stands above it.
    assert!(files(&among([odd.clone()])).contains_key("ò\\.txt"));
    let mut flagged = Forged::stored("ä.txt", b"flagged");
    flagged.flags = 1 << 11;
    let archive = among([flagged]);
    let reading = Reading { strict: false, names };
    let index = Index::open_as(&archive[..], archive.len() as u64, reading).unwrap();
    assert!(index.find("ä.txt").is_some());
}

#[test]
fn names_that_no_file_system_holds_cost_their_own_entries() {
    let (long, deep) = ("x".repeat(256), "deep/".repeat(820));
    let archive = among([
        Forged::stored(&long, b"1"),
        Forged::stored(&format!("a/{long}/b"), b"2"),
        Forged::stored(&format!("a/{}", "y".repeat(255)), b"3"),
        Forged::stored(&deep, b""),
        Forged::stored(&long, b"4"),
    ]);
    assert_eq!(files(&archive).len(), 3);
    let (name, path) = ("a name longer than 255 bytes", "a path longer than 4,095 bytes");
    assert_eq!(kinds(&archive), [(name, 3), (path, 1)]);
}

#[test]
fn all_fields_of_times_are_read() {
    const TIME: u32 = 1_717_433_653;
    let two_times = |id: u16, more: &[u8]| {
        let mut body = Vec::new();
        put32(&mut body, &[TIME + 9, TIME]);
        body.extend(more);
        field(id, &body)
    };
    let mut ntfs = vec![0; 4];
    put16(&mut ntfs, &[1, 24]);
    let steps = (u64::from(TIME) + 11_644_473_600) * 10_000_000;
    put64(&mut ntfs, &[steps, steps, steps]);
    let mut extended = vec![1];
    put32(&mut extended, &[TIME]);
    for extra in [
        field(0x5455, &extended),
        field(0x000a, &ntfs),
        two_times(0x5855, &[]),
        two_times(0x5855, &[1, 0, 2, 0]),
        two_times(0x000d, &[1, 0, 2, 0]),
    ] {
        let entry = Forged { central_extra: extra, ..Forged::stored("t", b"") };
        let archive = among([entry]);
        let index = open(&archive).unwrap();
        let entry = index.entry(index.find("t").unwrap());
        assert_eq!(entry.modified, Some(i64::from(TIME)));
    }
}

#[test]
fn two_ends_that_contradict_each_other_are_refused() {
    let plain = among([]);
    let from = plain.windows(4).position(|window| window == b"PK\x01\x02").unwrap() as u64;
    let end = plain.windows(4).position(|window| window == b"PK\x05\x06").unwrap() as u64;
    let mut between = Vec::new();
    put32(&mut between, &[0x0606_4b50]);
    put64(&mut between, &[44]);
    put16(&mut between, &[45, 45]);
    put32(&mut between, &[0, 0]);
    put64(&mut between, &[2, 2, end - from, from]);
    put32(&mut between, &[0x0706_4b50, 0]);
    put64(&mut between, &[end]);
    put32(&mut between, &[1]);
    let entries = [Forged::stored("first", b"one"), Forged::stored("last", b"two")];
    let both = Forgery { between: between.clone(), ..Forgery::of(entries.clone()) };
    assert_eq!(files(&both.bytes()).len(), 2);
    let none =
        Forgery { between, count: Some(0), directory_bytes: Some(0), ..Forgery::of(entries) };
    let archive = none.bytes();
    for result in [open(&archive), Index::open(&archive[..], archive.len() as u64)] {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Sizes);
    }
}
