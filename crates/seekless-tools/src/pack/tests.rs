//! Folders in all their oddity, orders that fit or not, and outputs that appear whole or not at
//! all.

mod foretold;
mod kept_folders;
mod linked;
mod repacked;
mod updated;

use super::tree::Node;
use super::*;
use seekless_job::ErrorKind;
use seekless_pack::{About, Entry, Index, Method, PackWriter, decode, prepare};
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::sync::atomic::Ordering;
use tempfile::TempDir;

/// A folder `data` with these files, and room beside it.
fn folder(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let room = tempfile::tempdir().expect("a temporary folder");
    let dir = room.path().join("data");
    fs::create_dir(&dir).expect("a new folder");
    for (name, content) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
        fs::write(path, content).expect("room");
    }
    (room, dir)
}

fn replacing(out: &Path) -> Destination {
    Destination::new(out).replacing(true)
}

fn pack_to(
    dir: &Path,
    out: impl Into<Destination>,
    order: &[&str],
    options: &Options,
) -> Result<Summary> {
    let order: Vec<String> = order.iter().map(ToString::to_string).collect();
    pack(dir, out, &order, options, &mut |_, _| {})
}

/// Packs beside `dir` and reads everything back: names in archive order, and contents.
fn packed(dir: &Path, order: &[&str], options: &Options) -> Result<Vec<(String, String)>> {
    let out = dir.with_file_name("data.zip");
    pack_to(dir, replacing(&out), order, options)?;
    Ok(contents(&out))
}

/// The folder's files in a pack.
fn contents(archive: &Path) -> Vec<(String, String)> {
    let bytes = fs::read(archive).expect("it is there");
    let index = opened(&bytes);
    let mut files = Vec::new();
    let is_file =
        |&(entry, number): &(Entry, u32)| index.name(number) != PREDICTION && !entry.is_dir();
    for (entry, number) in index.entries().zip(0..).filter(is_file) {
        let mut content = Vec::new();
        decode(&entry, index.name(number), &bytes[entry.header_offset as usize..], &mut content)
            .expect("whole");
        files.push((index.name(number).to_owned(), String::from_utf8(content).expect("text")));
    }
    files
}

fn opened(bytes: &[u8]) -> Index {
    Index::open(bytes, bytes.len() as u64).expect("our own")
}

fn names(files: Vec<(String, String)>) -> Vec<String> {
    files.into_iter().map(|file| file.0).collect()
}

/// The message of the refusal, which must leave nothing beside the folder.
fn refusal(dir: &Path, order: &[&str]) -> String {
    let strict = Options { strict: true, ..Options::default() };
    let error = packed(dir, order, &strict).expect_err("it must be refused");
    let beside = fs::read_dir(dir.parent().expect("a room")).expect("readable");
    let left: Vec<_> = beside
        .map(|entry| entry.expect("readable").file_name())
        .filter(|name| name != "data")
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    format!("{error}: {source}")
}

#[test]
fn files_lie_by_name() {
    let (_room, dir) = folder(&[("b", "2"), ("a/z", "1"), ("a.txt", "0"), ("B", "3")]);
    let files = packed(&dir, &[], &Options::default()).expect("packed");
    assert_eq!(names(files), ["B", "a.txt", "a/z", "b"]);
}

#[test]
fn an_order_goes_first_and_the_rest_follows_by_name() {
    let (_room, dir) = folder(&[("a", "0"), ("b", "1"), ("c/d", "2"), ("e", "3")]);
    let canonical = dir.canonicalize().expect("it is there");
    let absolute = canonical.join("e").display().to_string();
    let order = [absolute.as_str(), "/usr/lib/libc.so", "./c//d", "e", "gone"];
    let out = dir.with_file_name("data.zip");
    let summary = pack_to(&dir, &out, &order, &Options::default()).expect("packed");
    assert_eq!(names(contents(&out)), ["e", "c/d", "a", "b"]);
    let used = &summary.order;
    assert_eq!((used.given, used.placed, used.repeated, used.missing), (5, 2, 1, 2));
    assert_eq!(used.missing_example.as_deref(), Some("/usr/lib/libc.so"));
    assert_eq!((summary.entries, summary.bytes), (4, 4));
}

#[test]
fn absolute_paths_that_synth_placed_below_are_found() {
    let (_room, dir) = folder(&[("home/u/game/x", "0"), ("a", "1")]);
    let files = packed(&dir, &["/home/u/game/x"], &Options::default()).expect("packed");
    assert_eq!(names(files), ["home/u/game/x", "a"]);
}

#[test]
fn an_order_of_another_folder_is_refused() {
    let (_room, dir) = folder(&[("a", "0")]);
    assert!(refusal(&dir, &["/opt/x", "y"]).contains("of 2 paths in the order none is in"));
}

#[test]
fn runs_give_the_order() {
    let (room, dir) = folder(&[("a", "0"), ("b", "1"), ("c", "2"), ("d", "3")]);
    let trace = room.path().join("run.csv");
    fs::write(&trace, "time_s,path,size\n0.0,c,1\n0.1,a,1\n0.2,/usr/lib/x,9\n").expect("room");
    let out = room.path().join("data.zip");
    let traces = [trace];
    let quiet = &mut |_, _| {};
    let options = Options::default();
    let summary = pack_for_runs(&dir, &out, &traces, &OrderBy::by("greedy"), &options, quiet)
        .expect("packed");
    assert_eq!(
        names(contents(&out)),
        ["c", "a", "b", "d"],
        "the chain c a stands where its first untraced neighbour would"
    );
    assert_eq!((summary.order.given, summary.order.placed, summary.order.missing), (3, 2, 1));
    pack_for_runs(&dir, replacing(&out), &traces, &OrderBy::by("name"), &options, quiet)
        .expect("packed");
    assert_eq!(names(contents(&out)), ["a", "b", "c", "d"]);
    assert!(
        pack_for_runs(&dir, replacing(&out), &traces, &OrderBy::by("wishful"), &options, quiet)
            .is_err()
    );
}

#[test]
fn a_path_counts_once_in_however_many_runs_it_stands() {
    let (room, dir) = folder(&[("a", "0"), ("b", "1"), ("c", "2")]);
    let (old, new) = (room.path().join("old.csv"), room.path().join("new.csv"));
    let below = |name: &str| dir.join(name).display().to_string();
    fs::write(
        &old,
        format!("time_s,path,size\n0,b,1\n1,c,1\n2,b,1\n3,/gone,1\n4,{},1\n", below("b")),
    )
    .expect("room");
    fs::write(&new, "time_s,path,size\n0,c,1\n1,/gone,1\n2,./c,1\n").expect("room");
    let out = room.path().join("data.zip");
    let options = Options::default();
    let summary =
        pack_for_runs(&dir, &out, &[old, new], &OrderBy::by("recent"), &options, &mut |_, _| {})
            .expect("packed");
    assert_eq!(names(contents(&out)), ["c", "b", "a"]);
    let OrderUse { given, placed, missing, missing_example, .. } = summary.order;
    assert_eq!((given, placed, missing, missing_example.as_deref()), (5, 4, 1, Some("/gone")));
}

#[test]
fn links_inside_are_packed_as_what_they_point_at() {
    let (_room, dir) = folder(&[("real/file", "content")]);
    symlink("real/file", dir.join("link")).expect("a link");
    symlink(dir.join("real"), dir.join("also")).expect("a link");
    let files = packed(&dir, &[], &Options::default()).expect("packed");
    let content = || "content".to_owned();
    assert_eq!(
        files,
        [
            ("also/file".into(), content()),
            ("link".into(), content()),
            ("real/file".into(), content())
        ]
    );
}

#[test]
fn what_a_pack_cannot_hold_is_refused_by_name() {
    let refused = |make: &dyn Fn(&Path), said: &[&str]| {
        let (_room, dir) = folder(&[("a", "0")]);
        make(&dir);
        let why = refusal(&dir, &[]);
        assert!(said.iter().all(|word| why.contains(word)), "{why}");
    };
    refused(
        &|dir| symlink("/etc/passwd", dir.join("out")).expect("a link"),
        &["data/out", "/etc/passwd", "outside"],
    );
    refused(&|dir| symlink("../..", dir.join("up")).expect("a link"), &["data/up", "outside"]);
    refused(
        &|dir| symlink("nowhere", dir.join("dangling")).expect("a link"),
        &["data/dangling", "points at nothing"],
    );
    refused(
        &|dir| symlink(".", dir.join("loop")).expect("a link"),
        &["through a link below itself"],
    );
    refused(
        &|dir| drop(UnixListener::bind(dir.join("socket")).expect("a socket")),
        &["data/socket", "is a socket"],
    );
    refused(&|dir| fs::write(dir.join("a\\b"), "").expect("a file"), &["a\\\\b", "backslash"]);
    let fifo = |dir: &Path| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, dir.join("fifo"), rustix::fs::FileType::Fifo, mode, 0)
            .expect("a pipe");
    };
    refused(&fifo, &["data/fifo", "is a pipe"]);
    let latin1 = |dir: &Path| {
        let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xe4");
        fs::write(dir.join(name), "").expect("a file");
    };
    refused(&latin1, &["not UTF-8"]);
}

#[test]
fn modes_and_times_are_kept() {
    let (_room, dir) = folder(&[("run.sh", "#!/bin/sh")]);
    let path = dir.join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).expect("ours");
    let modified = fs::metadata(&path).expect("it is there").mtime();
    let out = dir.with_file_name("data.zip");
    pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    let bytes = fs::read(&out).expect("it is there");
    let entry = Index::open(bytes.as_slice(), bytes.len() as u64).expect("our own").entry(0);
    assert_eq!((entry.mode, entry.modified), (Some(0o100_751), Some(modified)));
}

#[test]
fn an_existing_output_stays_without_force() {
    let (_room, dir) = folder(&[("a", "0")]);
    let out = dir.with_file_name("data.zip");
    fs::write(&out, "precious").expect("room");
    let why = pack_to(&dir, &out, &[], &Options::default()).expect_err("it exists").to_string();
    assert!(why.contains("--force"), "{why}");
    assert_eq!(fs::read(&out).expect("still there"), b"precious");
    pack_to(&dir, replacing(&out), &[], &Options::default()).expect("replaced");
    assert_eq!(names(contents(&out)), ["a"]);
}

#[test]
fn an_output_in_the_folder_is_refused_and_a_pack_there_is_compared_without_itself() {
    let (_room, dir) = folder(&[("a", "0")]);
    let out = dir.join("data.zip");
    for out in [Destination::new(&out), replacing(&out)] {
        let why = pack_to(&dir, &out, &[], &Options::default()).expect_err("it lies there");
        assert!(why.to_string().contains("would be a part of itself"), "{why}");
    }
    assert_eq!(fs::read_dir(&dir).expect("readable").count(), 1, "nothing was left");
    let beside = dir.with_file_name("data.zip");
    pack_to(&dir, &beside, &[], &Options::default()).expect("packed");
    fs::rename(&beside, &out).expect("the same file system");
    let (options, evidence) = (Options::default(), Evidence::SizeAndTime);
    assert!(differences(&dir, &out, evidence, &options).expect("compared").is_empty());
    let why = update(&dir, &out, evidence, &options, &mut |_, _| {}).expect_err("it lies there");
    assert!(why.to_string().contains("would be a part of itself"), "{why}");
}

#[test]
fn the_same_folder_gives_the_same_bytes() {
    let (_room, dir) = folder(&[]);
    for number in 0..300 {
        fs::write(dir.join(format!("{number}")), format!("{number} ").repeat(number * 20))
            .expect("room");
    }
    let out = dir.with_file_name("data.zip");
    let mut archives = (0..2).map(|_| {
        let summary = pack_to(&dir, replacing(&out), &[], &Options::default()).expect("packed");
        assert!(summary.deflated > 200 && summary.coded_bytes < summary.bytes / 2);
        fs::read(&out).expect("it is there")
    });
    assert_eq!(archives.next(), archives.next());
}

#[test]
fn a_cancelled_pack_leaves_nothing() {
    let (_room, dir) = folder(&[("a", "0")]);
    let options = Options::default();
    options.cancel.store(true, Ordering::Relaxed);
    let error = packed(&dir, &[], &options).expect_err("it was cancelled");
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert_eq!(fs::read_dir(dir.parent().expect("a room")).expect("readable").count(), 1);
}

#[test]
fn reading_back_can_be_cancelled_too() {
    let (_room, dir) = folder(&[("a", "0")]);
    let options = Options { verify: true, ..Options::default() };
    let out = dir.with_file_name("data.zip");
    let mut cancel = |done, total| options.cancel.store(2 * done > total, Ordering::Relaxed);
    let error = pack(&dir, &out, &[], &options, &mut cancel).expect_err("it was cancelled");
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert!(!out.exists());
}

#[test]
fn a_file_that_changed_since_the_walk_is_named() {
    let (_room, dir) = folder(&[("a", "0"), ("b", "1")]);
    let none_excluded = Exclude::new(&[]).expect("no glob is malformed");
    let tree = Tree::walk(&dir, None, &none_excluded, &Options::default()).expect("walked");
    fs::write(dir.join("b"), "longer").expect("room");
    let nodes: Vec<&Node> = tree.nodes.iter().collect();
    let mut seen = Vec::new();
    let result = fill::in_order(&nodes, Codec::Auto, &AtomicBool::new(false), |node, _| {
        seen.push(node.name.clone());
        Ok(())
    });
    let error = result.expect_err("b changed");
    assert!(error.to_string().contains("data/b changed while it was packed"), "{error}");
    assert_eq!(seen, ["a"]);
}

#[test]
fn a_large_file_is_streamed_and_read_back() {
    let (_room, dir) = folder(&[("after", "small")]);
    let content = crate::synth::Content::of("large").bytes((64 << 20) + 1);
    fs::write(dir.join("a large one"), &content).expect("room");
    let zstd = Codec::Zstd("1".parse().expect("a level"));
    let methods =
        [(Codec::Auto, Method::Deflate), (Codec::Stored, Method::Stored), (zstd, Method::Zstd)];
    for (codec, method) in methods {
        let out = dir.with_file_name("data.zip");
        let mut last = (0, 0);
        let options = Options { codec, verify: true, ..Options::default() };
        pack(&dir, replacing(&out), &[], &options, &mut |done, total| last = (done, total))
            .expect("packed");
        assert_eq!(last, (2 * content.len() as u64 + 10, 2 * content.len() as u64 + 10));
        let file = File::open(&out).expect("it is there");
        let index = Index::open(&file, file.metadata().expect("ours").len()).expect("our own");
        assert_eq!(index.entry(0).method, method);
        assert_eq!(index.entry(0).crc, crc32fast::hash(&content));
        assert_eq!(index.find("after"), Some(1));
    }
}

#[test]
fn checking_finds_what_is_broken() {
    let (_room, dir) = folder(&[("a", "content"), ("b", "more")]);
    let out = dir.with_file_name("data.zip");
    pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    assert_eq!(check(&out, &mut |_, _| {}).expect("whole").entries, 2);
    let mut bytes = fs::read(&out).expect("it is there");
    bytes[31 + 9] ^= 1;
    fs::write(&out, bytes).expect("room");
    let error = check(&out, &mut |_, _| {}).expect_err("a flipped bit");
    assert!(error.to_string().contains("data.zip is not whole"), "{error}");
    assert!(check(&dir, &mut |_, _| {}).is_err(), "a folder is no pack");
}

#[test]
fn the_window_is_narrower_than_the_folder() {
    let (_room, dir) = folder(&[]);
    let content = vec![b'x'; 40 << 20];
    for name in ["a", "b", "c", "d", "e"] {
        fs::write(dir.join(name), &content).expect("room");
    }
    let files = packed(&dir, &["e", "a"], &Options::default()).expect("packed");
    assert!(files.iter().all(|file| file.1.len() == content.len()));
    assert_eq!(names(files), ["e", "a", "b", "c", "d"]);
}

#[test]
fn one_odd_thing_does_not_refuse_the_others() {
    let (_room, dir) = folder(&[("a", "0"), ("b/c", "1")]);
    symlink("nowhere", dir.join("dangling")).expect("a link");
    symlink(".", dir.join("b/loop")).expect("a link");
    symlink("/etc/passwd", dir.join("out")).expect("a link");
    let _socket = UnixListener::bind(dir.join("socket")).expect("a socket");
    fs::write(dir.join("back\\slash"), "").expect("a file");
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"b/\xe4");
    fs::write(dir.join(name), "").expect("a file");
    let out = dir.with_file_name("data.zip");
    let summary = pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    assert_eq!(names(contents(&out)), ["a", "b/c"]);
    assert_eq!(
        (summary.left_out.count, summary.left_out.examples.len()),
        (6, 5),
        "{:?}",
        summary.left_out
    );
    assert!(
        summary.left_out.examples.iter().all(|why| why.contains("data/")),
        "{:?}",
        summary.left_out
    );
}

#[test]
fn globs_leave_out_files_and_folders() {
    let files = [
        "a.tmp",
        "art/b.psd",
        "art/deep/c.psd",
        "art/d.dds",
        "cache/e",
        "keep/cache.txt",
        "keep/f.tmp",
    ];
    let (_room, dir) = folder(&files.map(|name| (name, "0")));
    let kept = |globs: &[&str]| {
        let exclude = globs.iter().map(ToString::to_string).collect();
        names(packed(&dir, &[], &Options { exclude, ..Options::default() }).expect("packed"))
    };
    assert_eq!(
        kept(&["*.tmp", "cache"]),
        ["art/b.psd", "art/d.dds", "art/deep/c.psd", "keep/cache.txt"]
    );
    assert_eq!(kept(&["art/*.psd", "/keep/"])[..3], ["a.tmp", "art/d.dds", "art/deep/c.psd"]);
    assert_eq!(kept(&["art/**/*.psd"])[..2], ["a.tmp", "art/d.dds"]);
    let wrong = Options { exclude: vec!["[".to_owned()], ..Options::default() };
    let error = packed(&dir, &[], &wrong).expect_err("no glob");
    assert!(
        error.kind() == ErrorKind::Invalid && error.to_string().contains("--exclude ["),
        "{error}"
    );
}

#[test]
fn a_tree_that_moved_is_found_where_it_is_now() {
    let (_room, dir) = folder(&[("art/a", "0"), ("art/b", "1"), ("c", "2")]);
    let out = dir.with_file_name("data.zip");
    let order = ["/old/game/c", "/old/game/art/b", "/usr/lib/x"];
    let summary = pack_to(&dir, &out, &order, &Options::default()).expect("packed");
    assert_eq!(names(contents(&out)), ["c", "art/b", "art/a"]);
    let moved = summary.order.moved.expect("found by the tails of names");
    assert_eq!((moved.old.as_str(), moved.new.as_str()), ("/old/game", ""));
    assert_eq!((summary.order.placed, summary.order.missing), (2, 1));

    let roots = Roots::new(vec![format!("/old/game={}", dir.display()).parse().expect("a root")]);
    let out = dir.with_file_name("again.zip");
    let summary =
        pack_to(&dir, &out, &order, &Options { roots, ..Options::default() }).expect("packed");
    assert_eq!(names(contents(&out)), ["c", "art/b", "art/a"]);
    assert_eq!(summary.order.moved, None);
}
