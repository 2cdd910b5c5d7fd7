//! Packs brought up to date: what stays is the same bytes in the same order, what changed is new.

use super::*;
use seekless_pack::FileTime;
use std::os::unix::fs::FileExt;
use std::time::{Duration, SystemTime};

fn write_at(path: &Path, content: &str, unix_s: u64) {
    fs::write(path, content).expect("room");
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(unix_s);
    File::options().append(true).open(path).and_then(|file| file.set_modified(time)).expect("ours");
}

fn updated_by(dir: &Path, evidence: Evidence) -> Update {
    let out = dir.with_file_name("data.zip");
    let options = Options { verify: true, ..Options::default() };
    update(dir, &out, evidence, &options, &mut |_, _| {}).expect("updated")
}

fn counts(update: &Update) -> [(u64, u64); 4] {
    [update.kept, update.rewritten, update.added, update.removed]
        .map(|part| (part.files, part.bytes))
}

#[test]
fn only_what_changed_is_packed_again_and_the_order_stays() {
    let words = "the same words again and again ".repeat(50);
    let (_room, dir) = folder(&[
        ("art/a.dds", &words),
        ("art/b.dds", "b"),
        ("maps/m.xml", "m"),
        ("old", "gone"),
        ("z", "z"),
    ]);
    let out = dir.with_file_name("data.zip");
    let order = ["z", "maps/m.xml", "old", "art/b.dds", "art/a.dds"];
    pack_to(&dir, &out, &order, &Options::default()).expect("packed");
    // The data of what stays must be copied as it is, so it is marked: no one codes it like this.
    let mark = fs::read(&out).expect("it is there");
    let index = Index::open(mark.as_slice(), mark.len() as u64).expect("our own");
    let kept = index.entry(index.find("art/a.dds").expect("packed"));
    let data = &mark[kept.header_offset as usize..][..kept.extent_bytes as usize];

    fs::write(dir.join("maps/m.xml"), "longer").expect("room");
    fs::write(dir.join("art/c.dds"), "new").expect("room");
    fs::remove_file(dir.join("old")).expect("ours");
    let before = File::open(&out).expect("it is there");
    let done = updated_by(&dir, Evidence::SizeAndTime);
    let (a, z) = (words.len() as u64, 1);
    assert_eq!(counts(&done), [(3, a + 1 + z), (1, 6), (1, 3), (1, 4)]);
    assert!(done.pack.is_some_and(|summary| summary.verified && summary.entries == 5));
    let files = contents(&out);
    let content = |name: &str| files.iter().find(|file| file.0 == name).map(|file| file.1.as_str());
    assert_eq!(content("maps/m.xml"), Some("longer"));
    assert_eq!(content("art/a.dds"), Some(words.as_str()));
    assert_eq!(names(files.clone()), ["z", "maps/m.xml", "art/b.dds", "art/c.dds", "art/a.dds"]);
    let new = fs::read(&out).expect("it is there");
    assert!(new.windows(data.len()).any(|window| window == data), "copied as it lay there");
    // Who has the old pack open reads on.
    let mut start = [0; 4];
    before.read_exact_at(&mut start, kept.header_offset).expect("still there");
    assert_eq!(start, *b"PK\x03\x04");
}

#[test]
fn a_pack_that_is_up_to_date_is_left_alone() {
    let (_room, dir) = folder(&[("a", "1"), ("b/c", "2")]);
    fs::create_dir(dir.join("hollow")).expect("a folder");
    let out = dir.with_file_name("data.zip");
    pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    let inode = || fs::metadata(&out).expect("it is there").ino();
    let before = inode();
    let done = updated_by(&dir, Evidence::SizeAndTime);
    assert_eq!((counts(&done)[0], done.pack.is_none(), inode()), ((3, 2), true, before));
}

#[test]
fn entries_that_are_damaged_in_the_pack_are_packed_again() {
    let words = "the same words again and again ".repeat(50);
    let (_room, dir) = folder(&[("a", "1"), ("b", &words), ("c", "3")]);
    let out = dir.with_file_name("data.zip");
    pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    let whole = fs::read(&out).expect("it is there");
    let index = Index::open(whole.as_slice(), whole.len() as u64).expect("our own");
    let entry = index.entry(index.find("b").expect("packed"));
    let mut damaged = whole.clone();
    damaged[(entry.header_offset + entry.extent_bytes - 3) as usize] ^= 0xFF;
    fs::write(&out, &damaged).expect("room");
    let done = updated_by(&dir, Evidence::SizeAndTime);
    assert_eq!(done.mended, ["b"]);
    assert_eq!(counts(&done)[..2], [(2, 2), (1, words.len() as u64)]);
    assert_eq!(contents(&out)[1].1, words);
    let again = updated_by(&dir, Evidence::SizeAndTime);
    assert!(again.mended.is_empty() && again.pack.is_none(), "{again:?}");
}

#[test]
fn the_usual_codec_of_an_update_is_that_of_the_pack() {
    let words = "the same words again and again ".repeat(50);
    let (_room, dir) = folder(&[("a", &words)]);
    let out = dir.with_file_name("data.zip");
    for (codec, usual) in
        [(Codec::Auto, Codec::Auto), (Codec::Zstd(Level::default()), Codec::Zstd(Level::default()))]
    {
        pack_to(&dir, replacing(&out), &[], &Options { codec, ..Options::default() }).expect("ok");
        assert_eq!(codec_of(&out).expect("our own"), usual);
    }
}

#[test]
fn contents_decide_when_asked() {
    let (_room, dir) = folder(&[("a", "1"), ("b", "2")]);
    let out = dir.with_file_name("data.zip");
    write_at(&dir.join("a"), "1", 1_600_000_000);
    write_at(&dir.join("b"), "2", 1_600_000_000);
    pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    // The same content at another time, and another content at the same time.
    write_at(&dir.join("a"), "1", 1_700_000_000);
    write_at(&dir.join("b"), "3", 1_600_000_000);
    let changed = |evidence| {
        let found = differences(&dir, &out, evidence, &Options::default()).expect("compared");
        assert!(found.added.is_empty() && found.removed.is_empty());
        found.changed
    };
    assert_eq!(changed(Evidence::SizeAndTime), ["a"]);
    assert_eq!(changed(Evidence::Content), ["b"]);
    assert_eq!(counts(&updated_by(&dir, Evidence::Content))[..2], [(1, 1), (1, 1)]);
    assert_eq!(contents(&out)[1].1, "3");
}

#[test]
fn a_file_that_was_touched_gets_its_new_time_and_keeps_its_data() {
    let words = "the same words again and again ".repeat(50);
    let (_room, dir) = folder(&[("a", "1"), ("b", &words), ("c", "3"), ("d", "4")]);
    let out = dir.with_file_name("data.zip");
    pack_to(&dir, &out, &["d", "b", "a", "c"], &Options::default()).expect("packed");
    let entry_of_b = |bytes: &[u8]| {
        let index = Index::open(bytes, bytes.len() as u64).expect("our own");
        index.entry(index.find("b").expect("packed"))
    };
    let old = fs::read(&out).expect("it is there");
    write_at(&dir.join("b"), &words, 1_700_000_000);
    let done = updated_by(&dir, Evidence::Content);
    assert_eq!(counts(&done)[..2], [(4, words.len() as u64 + 3), (0, 0)]);
    let new = fs::read(&out).expect("it is there");
    assert_eq!(entry_of_b(&new).modified, Some(1_700_000_000));
    let data = |bytes: &[u8]| {
        let entry = entry_of_b(bytes);
        let end = (entry.header_offset + entry.extent_bytes) as usize;
        bytes[end - entry.coded_bytes as usize..end].to_vec()
    };
    assert_eq!(data(&new), data(&old));
    assert_eq!(names(contents(&out)), ["d", "b", "a", "c"]);
    assert!(updated_by(&dir, Evidence::SizeAndTime).pack.is_none(), "nothing is left to do");
}

#[test]
fn a_file_that_others_may_read_no_longer_gets_its_new_mode() {
    let (_room, dir) = folder(&[("a", "1"), ("b", "2")]);
    let out = dir.with_file_name("data.zip");
    pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    fs::set_permissions(dir.join("b"), fs::Permissions::from_mode(0o600)).expect("ours");
    let done = updated_by(&dir, Evidence::SizeAndTime);
    assert_eq!(counts(&done)[..2], [(2, 2), (0, 0)]);
    let bytes = fs::read(&out).expect("it is there");
    assert_eq!(opened(&bytes).entry(1).mode, Some(0o100_600));
    assert!(updated_by(&dir, Evidence::SizeAndTime).pack.is_none(), "nothing is left to do");
}

#[test]
fn the_comment_of_the_archive_stays() {
    let (_room, dir) = folder(&[("a", "1")]);
    let out = dir.with_file_name("data.zip");
    pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    // As another tool writes one: its length ends the archive's last record, and it follows.
    let mut archive = fs::read(&out).expect("it is there");
    archive.truncate(archive.len() - 2);
    archive.extend(b"\x05\x00v 1.2");
    fs::write(&out, archive).expect("room");
    fs::write(dir.join("b"), "2").expect("room");
    updated_by(&dir, Evidence::SizeAndTime);
    let archive = fs::read(&out).expect("it is there");
    let index = Index::open(archive.as_slice(), archive.len() as u64).expect("whole");
    assert_eq!((index.comment(), index.len()), (b"v 1.2" as &[u8], 2));
}

#[test]
fn a_failed_update_leaves_the_pack_as_it_was() {
    let (_room, dir) = folder(&[("a", "1")]);
    let out = dir.with_file_name("data.zip");
    pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    let before = fs::read(&out).expect("it is there");
    fs::write(dir.join("b"), "2").expect("room");
    let options = Options { cancel: Arc::new(AtomicBool::new(true)), ..Options::default() };
    let error = update(&dir, &out, Evidence::SizeAndTime, &options, &mut |_, _| {});
    assert_eq!(error.expect_err("cancelled").kind(), ErrorKind::Interrupted);
    assert_eq!(fs::read(&out).expect("still there"), before);
    assert_eq!(fs::read_dir(dir.parent().expect("a room")).expect("readable").count(), 2);
    let absent = dir.with_file_name("absent.zip");
    let error = update(&dir, &absent, Evidence::SizeAndTime, &options, &mut |_, _| {});
    assert!(error.expect_err("absent").to_string().contains("absent.zip"));
}

/// `zip` writes times of its own and may write sizes behind the data.
#[test]
fn an_archive_of_another_tool_is_updated_too() {
    let (_room, dir) = folder(&[("a", "1"), ("b/c", "2")]);
    let out = dir.with_file_name("data.zip");
    let made = std::process::Command::new("python3")
        .args(["-c", "import sys, zipfile; z = zipfile.ZipFile(open(sys.argv[1], 'wb'), 'w'); z.writestr('b/c', '2'); z.writestr('a', '1'); z.close()"])
        .arg(&out)
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return eprintln!("skipped: no python3 here");
    }
    write_at(&dir.join("a"), "1", 1_700_000_001);
    write_at(&dir.join("b/c"), "2", 1_700_000_001);
    let done = updated_by(&dir, Evidence::Content);
    assert_eq!((counts(&done)[0].0, done.pack.is_none()), (2, false), "with the files' times");
    assert!(updated_by(&dir, Evidence::Content).pack.is_none());
    fs::write(dir.join("b/d"), "3").expect("room");
    updated_by(&dir, Evidence::Content);
    assert_eq!(names(contents(&out)), ["b/c", "b/d", "a"]);
}

#[test]
fn a_large_entry_that_stays_keeps_its_chunks() {
    let text: String = (0..700_000).map(|number: u32| format!("{} ", number % 9_973)).collect();
    assert!(text.len() > 3 << 20);
    let text = text.repeat(2);
    let (_room, dir) = folder(&[("a", "1"), ("large.txt", &text), ("z", "2")]);
    let out = dir.with_file_name("data.zip");
    pack_to(&dir, &out, &["z", "large.txt", "a"], &Options::default()).expect("packed");
    let open = || {
        let bytes = fs::read(&out).expect("it is there");
        Index::open(bytes.as_slice(), bytes.len() as u64).expect("our own")
    };
    let before = open().chunks(1).expect("it is large");
    fs::write(dir.join("z"), "longer than before").expect("room");
    assert_eq!(counts(&updated_by(&dir, Evidence::SizeAndTime))[0], (2, text.len() as u64 + 1));
    assert_eq!(open().chunks(1), Some(before));
}

/// The case of old: the pack kept the content of the first write for ever.
#[test]
fn a_file_that_is_written_to_again_at_once_is_packed_again() {
    let (_room, dir) = folder(&[("a", "0000")]);
    let out = dir.with_file_name("data.zip");
    for round in 0..5 {
        fs::write(dir.join("a"), format!("a{round:03}")).expect("room");
        pack_to(&dir, replacing(&out), &[], &Options::default()).expect("packed");
        fs::write(dir.join("a"), format!("b{round:03}")).expect("room");
        updated_by(&dir, Evidence::SizeAndTime);
        assert_eq!(contents(&out)[0].1, format!("b{round:03}"));
    }
}

/// Packs of earlier releases, and those of `zip`, keep whole seconds.
#[test]
fn where_a_pack_has_whole_seconds_the_content_decides_and_its_times_become_exact() {
    let (_room, dir) = folder(&[("a", "1111"), ("b", "2222"), ("c", "3333")]);
    let out = dir.with_file_name("data.zip");
    let set = |name: &str, content: &str, ns: u32| {
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_600_000_000, ns);
        fs::write(dir.join(name), content).expect("room");
        let file = File::options().append(true).open(dir.join(name)).expect("ours");
        file.set_modified(time).expect("ours");
    };
    let mut pack = PackWriter::new(File::create(&out).expect("room"));
    for (name, content) in [("a", "1111"), ("b", "2222"), ("c", "3333")] {
        let about = About::named(name).modified(1_600_000_000);
        let ready = prepare(about, content.into(), Codec::Auto).expect("a good name");
        pack.add(ready).expect("room");
    }
    pack.finish().expect("room");
    set("a", "1111", 123_456_789);
    set("b", "BBBB", 123_456_789);
    set("c", "3333", 0);
    let found = differences(&dir, &out, Evidence::SizeAndTime, &Options::default());
    assert_eq!(found.expect("compared").changed, ["b"]);
    let done = updated_by(&dir, Evidence::SizeAndTime);
    assert_eq!(counts(&done)[..2], [(2, 8), (1, 4)]);
    assert_eq!(contents(&out)[1].1, "BBBB");
    let bytes = fs::read(&out).expect("it is there");
    let index = Index::open(bytes.as_slice(), bytes.len() as u64).expect("our own");
    let ns: Vec<u32> = index.entries().map(|entry| entry.modified_ns).collect();
    assert_eq!(ns, [123_456_700, 123_456_700, 0]);
    assert!(updated_by(&dir, Evidence::SizeAndTime).pack.is_none(), "nothing is left to do");
    // Now the time alone shows it, without a look at the content.
    set("a", "1111", 123_456_800);
    let found = differences(&dir, &out, Evidence::SizeAndTime, &Options::default());
    assert_eq!(found.expect("compared").changed, ["a"]);
}

/// DOS knows 1980 to 2107, and a timestamp of 32 bits 1901 to 2038.
#[test]
fn a_file_of_another_century_is_packed_once() {
    let day = Duration::from_secs(86_400);
    let epoch = SystemTime::UNIX_EPOCH;
    let times = [
        ("1901", epoch - 24_900 * day),
        ("1970", epoch),
        ("1975", epoch + 2_000 * day + Duration::from_nanos(500)),
        ("2150", epoch + 65_800 * day),
        ("2400", epoch + 157_100 * day + Duration::from_millis(5)),
    ];
    let (_room, dir) = folder(&times.map(|(year, _)| (year, year)));
    for (name, time) in times {
        let file = File::options().append(true).open(dir.join(name)).expect("ours");
        file.set_modified(time).expect("ours");
    }
    let out = dir.with_file_name("data.zip");
    pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    let bytes = fs::read(&out).expect("it is there");
    let index = opened(&bytes);
    for (name, _) in times {
        let found = fs::metadata(dir.join(name)).expect("it is there");
        let time = FileTime::new(found.mtime(), found.mtime_nsec()).in_steps();
        let entry = index.entry(index.find(name).expect("packed"));
        assert_eq!(entry.file_time(), Some(time), "{name}");
    }
    let done = updated_by(&dir, Evidence::SizeAndTime);
    assert_eq!((counts(&done)[0].0, done.pack.is_none()), (5, true), "all is as it was");
    fs::write(dir.join("new"), "1").expect("room");
    let done = updated_by(&dir, Evidence::SizeAndTime);
    assert_eq!((counts(&done)[0].0, counts(&done)[1].0), (5, 0));
    assert!(updated_by(&dir, Evidence::SizeAndTime).pack.is_none(), "nothing is left to do");
}
