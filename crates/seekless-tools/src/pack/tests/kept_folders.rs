//! Folders in packs: their modes and times are kept, and cost the files nothing.

use super::*;
use std::time::{Duration, SystemTime};

/// Gives a folder this mode and time.
fn set(path: &Path, mode: u32, unix_s: u64, ns: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    let time = SystemTime::UNIX_EPOCH + Duration::new(unix_s, ns);
    File::open(path).and_then(|folder| folder.set_modified(time)).expect("ours");
}

/// The entries of folders: name, mode, seconds and nanoseconds.
fn folders(archive: &Path) -> Vec<(String, u32, i64, u32)> {
    let bytes = fs::read(archive).expect("it is there");
    let index = opened(&bytes);
    let all = index.entries().zip(0..).filter(|(entry, _)| entry.is_dir());
    all.map(|(entry, number)| {
        let time = entry.file_time().expect("it has one");
        (index.name(number).to_owned(), entry.mode.expect("it has one"), time.seconds, time.ns)
    })
    .collect()
}

/// `data/private/deep/file`, `data/hollow` and `data/file`, and the place of the pack.
fn sample() -> (TempDir, PathBuf, PathBuf) {
    let (room, dir) = folder(&[("private/deep/file", "1"), ("file", "2")]);
    fs::create_dir(dir.join("hollow")).expect("a folder");
    set(&dir.join("private/deep"), 0o755, 1_500_000_000, 0);
    set(&dir.join("private"), 0o700, 1_600_000_000, 123_456_789);
    set(&dir.join("hollow"), 0o1777, 1_700_000_000, 0);
    let out = dir.with_file_name("data.zip");
    (room, dir, out)
}

fn updated(dir: &Path, out: &Path) -> Update {
    update(dir, out, Evidence::SizeAndTime, &Options::default(), &mut |_, _| {}).expect("updated")
}

fn differing(dir: &Path, out: &Path) -> [Vec<String>; 3] {
    let found = differences(dir, out, Evidence::SizeAndTime, &Options::default());
    let Differences { changed, added, removed, .. } = found.expect("compared");
    [changed, added, removed]
}

fn said(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn folders_keep_mode_and_time_and_lie_behind_all_files() {
    let (_room, dir, out) = sample();
    let summary = pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    assert_eq!((summary.entries, summary.directories, summary.folders), (3, 1, 3));
    assert_eq!(
        folders(&out),
        [
            ("hollow/".to_owned(), 0o41_777, 1_700_000_000, 0),
            ("private/".to_owned(), 0o40_700, 1_600_000_000, 123_456_700),
            ("private/deep/".to_owned(), 0o40_755, 1_500_000_000, 0),
        ]
    );
    let bytes = fs::read(&out).expect("it is there");
    let index = opened(&bytes);
    let kinds: Vec<bool> = index.entries().map(|entry| entry.is_dir()).collect();
    assert_eq!(kinds, [false, false, true, true, true]);
    assert_eq!(check(&out, &mut |_, _| {}).expect("whole").directories, 3);
}

#[test]
fn the_files_lie_as_if_there_were_no_folders() {
    let (_room, dir, out) = sample();
    pack_to(&dir, &out, &["private/deep/file"], &Options::default()).expect("packed");
    let bytes = fs::read(&out).expect("it is there");
    let files: Vec<Entry> = opened(&bytes).entries().filter(|entry| !entry.is_dir()).collect();
    let mut alone = PackWriter::new(Vec::new());
    for (name, content) in [("private/deep/file", "1"), ("file", "2")] {
        let time = fs::metadata(dir.join(name)).expect("it is there");
        let about = About::named(name).modified(time.mtime()).modified_ns(1);
        alone.add(prepare(about, content.into(), Codec::Auto).expect("fine")).expect("room");
    }
    let alone = alone.finish().expect("room").0;
    for (one, other) in files.iter().zip(opened(&alone).entries()) {
        assert_eq!(one.header_offset, other.header_offset);
        assert_eq!(one.extent_bytes, other.extent_bytes);
    }
}

#[test]
fn a_folder_that_has_changed_is_named_and_renewed() {
    let (_room, dir, out) = sample();
    pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    assert_eq!(differing(&dir, &out), [said(&[]), said(&[]), said(&[])]);
    assert!(updated(&dir, &out).pack.is_none(), "nothing is left to do");
    set(&dir.join("private"), 0o750, 1_600_000_000, 123_456_789);
    set(&dir.join("private/deep"), 0o755, 1_500_000_001, 0);
    let changed = said(&["private/", "private/deep/"]);
    assert_eq!(differing(&dir, &out), [changed, said(&[]), said(&[])]);
    let found = differences(&dir, &out, Evidence::Content, &Options::default());
    assert_eq!(found.expect("compared").changed, ["private/"], "a time is no content");
    let done = updated(&dir, &out);
    assert_eq!((done.kept.files, done.rewritten.files, done.removed.files), (3, 0, 0));
    assert_eq!(folders(&out)[1].1, 0o40_750);
    assert_eq!(folders(&out)[2].2, 1_500_000_001);
    assert!(updated(&dir, &out).pack.is_none(), "nothing is left to do");
    fs::remove_dir(dir.join("hollow")).expect("ours");
    fs::create_dir(dir.join("new")).expect("a folder");
    assert_eq!(differing(&dir, &out), [said(&[]), said(&["new/"]), said(&["hollow/"])]);
    let done = updated(&dir, &out);
    assert_eq!((done.kept.files, done.added.files, done.removed.files), (2, 1, 1));
    assert_eq!(folders(&out)[0].0, "new/");
}

/// As releases before this one wrote them, which a check still takes for the folder.
#[test]
fn a_pack_without_folders_gets_them_by_an_update() {
    let (_room, dir, out) = sample();
    fs::remove_dir(dir.join("hollow")).expect("ours");
    let mut pack = PackWriter::new(File::create(&out).expect("room"));
    for (name, content) in [("file", "2"), ("private/deep/file", "1")] {
        let time = fs::metadata(dir.join(name)).expect("it is there");
        let about = About::named(name).modified(time.mtime());
        let about = about.modified_ns(time.mtime_nsec() as u32);
        pack.add(prepare(about, content.into(), Codec::Auto).expect("fine")).expect("room");
    }
    pack.finish().expect("room");
    assert_eq!(differing(&dir, &out), [said(&[]), said(&[]), said(&[])]);
    let done = updated(&dir, &out);
    assert_eq!((done.kept.files, done.added.files), (2, 0));
    assert_eq!(folders(&out).len(), 2);
}

/// The folder of an unpacked prediction is of the pack that was unpacked.
#[test]
fn what_an_unpacked_prediction_leaves_is_not_packed() {
    let (_room, dir, out) = sample();
    let unpacked = dir.join(PREDICTION);
    fs::create_dir(unpacked.parent().expect("a folder")).expect("a folder");
    fs::write(&unpacked, "a prediction").expect("room");
    pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    assert!(folders(&out).iter().all(|folder| folder.0 != ".seekless/"));
    fs::write(dir.join(".seekless/own"), "mine").expect("room");
    pack_to(&dir, replacing(&out), &[], &Options::default()).expect("packed");
    assert!(folders(&out).iter().any(|folder| folder.0 == ".seekless/"));
}
