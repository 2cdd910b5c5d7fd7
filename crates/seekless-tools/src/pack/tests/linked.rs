//! Symbolic links that are kept: packed as they are, found by the paths of runs, and updated.

use super::*;
use seekless_pack::{NameEncoding, verify};

fn keeping() -> Options {
    Options { links: Links::Keep, verify: true, ..Options::default() }
}

/// A folder like an environment: its interpreter is a link out of it.
fn environment() -> (TempDir, PathBuf) {
    let (room, dir) = folder(&[("lib/a.py", "a"), ("lib/b.py", "b"), ("other/c.py", "c")]);
    let dir = dir.canonicalize().expect("it is there");
    fs::create_dir(dir.join("bin")).expect("a folder");
    symlink("/usr/bin/env", dir.join("bin/python")).expect("a link");
    symlink("python", dir.join("bin/python3")).expect("a link");
    symlink("lib", dir.join("lib64")).expect("a link");
    symlink(dir.join("lib"), dir.join("absolute")).expect("a link");
    symlink("../../lib/b.py", dir.join("other/up")).expect("a link");
    symlink("nowhere", dir.join("dangling")).expect("a link");
    symlink("loop", dir.join("loop")).expect("a link");
    (room, dir)
}

const LINKS: [&str; 7] =
    ["absolute", "bin/python", "bin/python3", "dangling", "lib64", "loop", "other/up"];

fn updated(dir: &Path, options: &Options) -> Update {
    let out = dir.with_file_name("data.zip");
    update(dir, &out, Evidence::SizeAndTime, options, &mut |_, _| {}).expect("updated")
}

fn content(dir: &Path, name: &str) -> String {
    let files = contents(&dir.with_file_name("data.zip"));
    files.into_iter().find(|file| file.0 == name).expect("it is packed").1
}

#[test]
fn each_link_is_one_stored_entry_behind_the_files() {
    let (_room, dir) = environment();
    let out = dir.with_file_name("data.zip");
    let summary = pack_to(&dir, &out, &[], &Options { strict: true, ..keeping() }).expect("packed");
    assert_eq!((summary.links, summary.left_out.count, summary.entries), (7, 0, 10));
    let files = contents(&out);
    let texts: Vec<&str> = files[3..].iter().map(|file| file.1.as_str()).collect();
    assert_eq!(names(files.clone())[..3], ["lib/a.py", "lib/b.py", "other/c.py"]);
    assert_eq!(names(files.clone())[3..], LINKS);
    let absolute = dir.join("lib").display().to_string();
    let expected =
        [&*absolute, "/usr/bin/env", "python", "nowhere", "lib", "loop", "../../lib/b.py"];
    assert_eq!(texts, expected);
    let bytes = fs::read(&out).expect("it is there");
    let index = opened(&bytes);
    for name in LINKS {
        let entry = index.entry(index.find(name).expect("packed"));
        assert_eq!((entry.mode, entry.method), (Some(0o120_777), Method::Stored), "{name}");
        let modified = dir.join(name).symlink_metadata().expect("it is there").mtime();
        assert_eq!(entry.modified, Some(modified), "the link's own time");
    }
    assert!(verify(&bytes[..], bytes.len() as u64, &mut |_, _| {}).is_ok());
}

#[test]
fn followed_they_are_packed_as_before() {
    let (_room, dir) = environment();
    let files = packed(&dir, &[], &Options::default()).expect("packed");
    let expected = [
        "absolute/a.py",
        "absolute/b.py",
        "lib/a.py",
        "lib/b.py",
        "lib64/a.py",
        "lib64/b.py",
        "other/c.py",
    ];
    assert_eq!(names(files), expected);
}

#[test]
fn an_order_names_files_by_the_links_to_them() {
    let (_room, dir) = environment();
    let absolute = dir.join("absolute/a.py").display().to_string();
    let order =
        ["other/c.py", "lib64/b.py", &absolute, "bin/python", "dangling", "loop/x", "lib/b.py"];
    let out = dir.with_file_name("data.zip");
    let summary = pack_to(&dir, &out, &order, &keeping()).expect("packed");
    assert_eq!(names(contents(&out))[..3], ["other/c.py", "lib/b.py", "lib/a.py"]);
    let used = summary.order;
    assert_eq!((used.placed, used.repeated, used.missing), (3, 1, 3));
}

#[test]
fn runs_place_and_predict_the_files_behind_links() {
    let (room, dir) = environment();
    let trace = room.path().join("run.csv");
    let rows = "time_s,path,size\n0.0,/gone/lib64/b.py,1\n0.1,/gone/other/c.py,1\n";
    fs::write(&trace, rows.replace("/gone", &dir.display().to_string())).expect("room");
    let out = room.path().join("new.zip");
    let how = OrderBy::by("recent");
    let summary = pack_for_runs(&dir, &out, &[trace], &how, &keeping(), &mut |_, _| {});
    let summary = summary.expect("packed");
    assert_eq!((summary.order.placed, summary.order.missing, summary.links), (2, 0, 7));
    assert_eq!(names(contents(&out))[..3], ["lib/b.py", "other/c.py", "lib/a.py"]);
    assert!(summary.prediction_bytes > 0);
}

#[test]
fn an_update_packs_links_that_changed_and_what_became_one() {
    let (_room, dir) = environment();
    let out = dir.with_file_name("data.zip");
    pack_to(&dir, &out, &["other/c.py"], &keeping()).expect("packed");
    assert_eq!(links_of(&out, NameEncoding::default()).expect("ours"), Links::Keep);
    assert!(updated(&dir, &keeping()).pack.is_none(), "nothing has changed");
    let relink = |text: &str, name: &str| {
        fs::remove_file(dir.join(name)).expect("ours");
        symlink(text, dir.join(name)).expect("a link");
    };
    // The same length; a file that becomes a link, and a link that becomes one; a folder, too.
    relink("nowhare", "dangling");
    relink("a.py", "lib/b.py");
    fs::remove_file(dir.join("bin/python3")).expect("ours");
    fs::write(dir.join("bin/python3"), "python").expect("room");
    fs::remove_file(dir.join("lib64")).expect("ours");
    fs::create_dir(dir.join("lib64")).expect("a folder");
    fs::write(dir.join("lib64/new.py"), "new").expect("room");
    let found = differences(&dir, &out, Evidence::SizeAndTime, &keeping()).expect("compared");
    let changed: Vec<_> = found.changed.iter().filter(|name| !name.ends_with('/')).collect();
    assert_eq!(changed, ["lib/b.py", "bin/python3", "dangling"]);
    assert_eq!(
        (&*found.added, &*found.removed),
        (&["lib64/new.py".to_owned()][..], &["lib64".to_owned()][..])
    );
    let done = updated(&dir, &keeping());
    assert_eq!((done.kept.files, done.rewritten.files), (6, 3));
    assert_eq!(done.pack.map(|pack| (pack.links, pack.verified)), Some((6, true)));
    assert_eq!(content(&dir, "dangling"), "nowhare");
    assert_eq!(
        (content(&dir, "lib/b.py"), content(&dir, "bin/python3")),
        ("a.py".into(), "python".into())
    );
    let names = names(contents(&out));
    assert_eq!(names[0], "other/c.py", "the order stays");
    let links = ["lib/b.py", "absolute", "bin/python", "dangling", "loop", "other/up"];
    assert_eq!(names[4..], links);
    assert!(updated(&dir, &keeping()).pack.is_none(), "nothing has changed");
    assert!(differences(&dir, &out, Evidence::Content, &keeping()).expect("compared").is_empty());
}

#[test]
fn a_pack_of_followed_links_can_be_updated_to_kept_ones() {
    let (_room, dir) = environment();
    let out = dir.with_file_name("data.zip");
    pack_to(&dir, &out, &[], &Options::default()).expect("packed");
    assert_eq!(links_of(&out, NameEncoding::default()).expect("ours"), Links::Follow);
    let done = updated(&dir, &keeping());
    assert_eq!((done.kept.files, done.added.files, done.removed.files), (3, 7, 4));
    assert_eq!(names(contents(&out))[3..], LINKS);
}
