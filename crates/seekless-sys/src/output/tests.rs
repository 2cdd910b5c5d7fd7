//! A file appears whole or not at all, and replaces only what it may replace.

use super::*;
use std::os::unix::fs::symlink;

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(folder).expect("readable");
    entries.map(|entry| entry.expect("an entry").file_name()).collect()
}

fn begun(destination: &Destination) -> Output {
    destination.create(Content::Binary).expect("it can be begun")
}

/// As where the file system has no unnamed files.
fn begun_with_a_name(destination: &Destination) -> Output {
    let draft = Draft::named(destination.path(), PRIVATE).expect("a temporary file");
    Output { draft, destination: destination.clone() }
}

#[test]
fn it_appears_whole_and_replaces_when_told_to() {
    for begin in [begun, begun_with_a_name] {
        let folder = scratch();
        let path = folder.path().join("out");
        let may = Destination::new(&path).replacing(true);
        drop(begin(&may));
        assert!(names(folder.path()).is_empty(), "given up: nothing is left");
        for text in ["old", "new"] {
            let mut output = begin(&may);
            output.write_all(text.as_bytes()).expect("room");
            assert!(
                text == "old" || fs::read(&path).expect("there") == b"old",
                "not before it is published"
            );
            output.publish().expect("published");
            assert_eq!(fs::read_to_string(&path).expect("there"), text);
        }
        assert_eq!(names(folder.path()), ["out"]);
    }
}

#[test]
fn what_is_there_stays_without_force() {
    for begin in [begun, begun_with_a_name] {
        let folder = scratch();
        let path = folder.path().join("out");
        let mut late = begin(&Destination::new(&path));
        late.write_all(b"late").expect("room");
        fs::write(&path, "first").expect("room");
        let early = Destination::new(&path).create(Content::Text).expect_err("it is there");
        let late = late.publish().expect_err("somebody else was first");
        for error in [early, late] {
            assert_eq!(error.kind(), ErrorKind::Exists);
            let said = format!("{}: exists already; give --force to replace it", path.display());
            assert_eq!(error.to_string(), said);
        }
        assert_eq!(fs::read_to_string(&path).expect("there"), "first");
        assert_eq!(names(folder.path()), ["out"]);
    }
}

#[test]
fn a_link_counts_as_a_file_and_its_target_stays() {
    let folder = scratch();
    let [link, target] = ["link", "target"].map(|name| folder.path().join(name));
    symlink(&target, &link).expect("a link");
    for content in [None, Some("precious")] {
        if let Some(content) = content {
            fs::write(&target, content).expect("room");
        }
        let error = Destination::new(&link).check(Content::Binary).expect_err("a link is there");
        assert_eq!(error.kind(), ErrorKind::Exists);
    }
    let mut output = begun(&Destination::new(&link).replacing(true));
    output.write_all(b"new").expect("room");
    output.publish().expect("published");
    assert_eq!(fs::read_to_string(&link).expect("there"), "new");
    assert_eq!(fs::read_to_string(&target).expect("there"), "precious");
}

#[test]
fn folders_devices_and_pipes_are_never_replaced() {
    let folder = scratch();
    let [link, pipe] = ["link", "pipe"].map(|name| folder.path().join(name));
    symlink("/dev/null", &link).expect("a link");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).expect("a pipe");
    let none_yet = folder.path().join("none yet/");
    for path in [folder.path(), &link, &pipe, Path::new("/dev/null"), Path::new("/"), &none_yet] {
        let error =
            Destination::new(path).replacing(true).create(Content::Binary).expect_err("no file");
        assert_eq!(error.kind(), ErrorKind::Unfit, "{error}");
        assert!(error.to_string().contains("name a file to write"), "{error}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_said_without_the_temporary_name() {
    use std::error::Error as _;
    let error =
        Destination::new("/nowhere/x.zip").create(Content::Binary).expect_err("no such folder");
    assert_eq!(error.to_string(), "/nowhere/x.zip: cannot be written");
    assert_eq!(
        error.source().expect("a cause").to_string(),
        "No such file or directory (os error 2)"
    );
}

#[test]
fn a_reader_of_the_file_that_is_replaced_goes_on() {
    use std::io::Read;
    let folder = scratch();
    let path = folder.path().join("out");
    fs::write(&path, "old").expect("room");
    let mut reader = File::open(&path).expect("there");
    let mut output = begun(&Destination::new(&path).replacing(true));
    output.write_all(b"new").expect("room");
    output.publish().expect("published");
    let mut read = String::new();
    reader.read_to_string(&mut read).expect("readable");
    assert_eq!(read, "old");
}

#[test]
fn only_a_word_names_standard_output() {
    assert!(Destination::from_word(Path::new("-")).is_standard_output());
    for other in [Destination::from_word(Path::new("./-")), Destination::new("-")] {
        assert!(!other.is_standard_output());
    }
}

#[test]
fn what_goes_nowhere_leaves_nothing() {
    let destination = Destination::nowhere("/nowhere/run.csv");
    let mut output = begun(&destination);
    output.write_all(b"text").expect("room");
    output.publish().expect("nothing to do");
    assert_eq!(destination.path(), Path::new("/nowhere/run.csv"));
}
