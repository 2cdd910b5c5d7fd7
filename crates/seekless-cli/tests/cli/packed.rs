//! `seekless run --mount auto`: a start sees its files in a pack of its own, and never what they
//! held before they were changed, or it says so.

use crate::workplace;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);
const FILES: usize = 60;
/// So slow that whatever saves requests pays.
const DEVICE: &str = "iops=50,bandwidth=10MB";
/// Shows names, entries, contents, and how many mounts of ours there are, and may write a file.
const SCRIPT: &str = "write() { d=$WRITES.d; echo made >\"$WRITES\" && mkdir \"$d\" && \
                      cp \"$WRITES\" \"$d/a\" && ln \"$d/a\" \"$d/b\" && mv \"$d/a\" \"$d/c\" && \
                      ln -s c \"$d/l\" && echo more >>\"$d/l\" && chmod 600 \"$d/c\" && \
                      touch -d 2020-01-01 \"$d/c\" && rm \"$d/b\"; }; \
                      ls \"$0\" && stat -c '%n %i %s %a %Y %h' \"$0\"/* && cat \"$0\"/[fl]*; \
                      cat \"$0/none\" 2>/dev/null; [ -z \"$WRITES\" ] || write; \
                      grep -c seekless /proc/self/mountinfo || :";

/// A folder of files, and one for what is learned of a program that reads them.
struct Place {
    _folder: tempfile::TempDir,
    files: PathBuf,
    state: PathBuf,
    /// The file that the script writes, if any.
    writes: Option<PathBuf>,
}

impl Place {
    fn new() -> Self {
        let folder = workplace();
        let root = folder.path().canonicalize().unwrap();
        let (files, state) = (root.join("software/files"), root.join("state"));
        fs::create_dir_all(files.join("x")).unwrap();
        fs::create_dir(root.join("between")).unwrap();
        let write = |path: &Path, content: &[u8]| {
            let mut file = File::create(path).unwrap();
            file.write_all(content).unwrap();
            file.sync_data().unwrap();
        };
        for number in 0..FILES {
            let content = format!("{number} of them\n").repeat(700);
            write(&files.join(format!("f{number:02}")), content.as_bytes());
            // Else the files may lie side by side, and be brought in by one request. A file of
            // another size may be put elsewhere.
            write(&root.join(format!("between/{number}")), content.as_bytes());
        }
        std::os::unix::fs::symlink("f07", files.join("link")).unwrap();
        Self { _folder: folder, files, state, writes: None }
    }

    fn run(&self, options: &[&str]) -> Output {
        self.drop_cached();
        let mut command = Command::new("timeout");
        command.args(["--foreground", "-s", "KILL", "120", env!("CARGO_BIN_EXE_seekless"), "run"]);
        command.args(["--mount", "auto", "--device", DEVICE]).args(options);
        command.args(["--", "sh", "-c", SCRIPT]).arg(&self.files);
        command.env("WRITES", self.writes.as_deref().unwrap_or(Path::new("")));
        command.current_dir("/").env("XDG_STATE_HOME", &self.state).stdin(Stdio::null());
        command.output().unwrap()
    }

    /// A start that is not recorded and may see the pack.
    fn packed(&self) -> Output {
        self.run(&["--no-record", "--explain"])
    }

    fn plain(&self) -> String {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT]).arg(&self.files).current_dir("/");
        text(&command.output().unwrap().stdout)
    }

    fn drop_cached(&self) {
        for entry in fs::read_dir(&self.files).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let file = File::open(path).unwrap();
                file.sync_all().unwrap();
                seekless::sys::residency::drop_cached(file.as_fd()).unwrap();
            }
        }
    }

    fn of_profile(&self, extension: &str) -> Option<PathBuf> {
        let entries = fs::read_dir(self.state.join("seekless/profiles")).ok()?;
        let mut paths = entries.map(|entry| entry.unwrap().path());
        paths.find(|path| path.extension().is_some_and(|it| it == extension))
    }

    /// Waits for the pack, which is made beside a start.
    fn await_pack(&self) {
        let begun = Instant::now();
        while self.of_profile("packed").is_none() {
            assert!(begun.elapsed() < PATIENCE, "no pack");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Whether the pack stands for a folder.
    fn is_known(&self, folder: &Path) -> bool {
        let notes = fs::read(self.of_profile("packed").unwrap()).unwrap();
        text(&notes).contains(&format!("\"path\":\"{}\"", folder.display()))
    }

    /// Learns two starts; false where programs cannot be recorded, or see no pack.
    fn learn(&self) -> bool {
        for name in ["/dev/fuse", "/proc/self/ns/user"] {
            if !Path::new(name).exists() {
                println!("skipped: there is no {name}");
                return false;
            }
        }
        if let Err(error) = seekless::sys::namespaces::own_mounts_work() {
            println!("skipped: no mounts of a program's own here: {error}");
            return false;
        }
        let first = self.run(&["--record"]);
        let said = text(&first.stderr);
        if !said.is_empty() {
            println!("skipped: {said}");
            return false;
        }
        assert!(first.status.success(), "{first:?}");
        assert_eq!(said_of(&self.packed()), Some(NONE_YET));
        self.await_pack();
        true
    }
}

const NONE_YET: &str = "there is none yet; it is made beside this start";
const ALL_WRITTEN: &str = "programs may write in all folders that this start needs";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Why a start saw no pack; `None` if it did.
fn said_of(output: &Output) -> Option<&'static str> {
    const REASONS: [&str; 3] = [NONE_YET, ALL_WRITTEN, "it would come no sooner"];
    let said = text(&output.stderr);
    match said.contains("from the pack of this start") {
        true => None,
        false => Some(REASONS.into_iter().find(|why| said.contains(why)).expect(&said)),
    }
}

/// What was printed but the last line, and the number of mounts in that.
fn printed(output: &str) -> (&str, usize) {
    let (before, mounts) = output.trim_end().rsplit_once('\n').unwrap();
    (before, mounts.parse().unwrap())
}

#[test]
fn a_start_sees_the_same_in_its_pack() {
    let place = Place::new();
    if !place.learn() {
        return;
    }
    assert!(place.is_known(&place.files));
    let plain = place.plain();
    let output = place.packed();
    assert_eq!(said_of(&output), None, "{}", text(&output.stderr));
    assert!(output.status.success(), "{output:?}");
    let found = text(&output.stdout);
    let ((plain, none), (found, mounts)) = (printed(&plain), printed(&found));
    assert_eq!((plain, none), (found, 0));
    assert!(mounts > 0, "it was mounted for the program alone");
    assert!(plain.contains("59 of them"));
}

#[test]
fn what_was_replaced_or_added_is_seen_as_it_is_now() {
    let place = Place::new();
    if !place.learn() {
        return;
    }
    let at = |name: &str| place.files.join(name);
    fs::write(at("x/new"), "replaced\n").unwrap();
    fs::rename(at("x/new"), at("f03")).unwrap();
    fs::write(at("none"), "added\n").unwrap();
    fs::remove_file(at("f05")).unwrap();
    let (plain, output) = (place.plain(), place.packed());
    let found = text(&output.stdout);
    assert_eq!(said_of(&output), None, "other folders come from it");
    assert!(output.status.success() && found.contains("replaced\n") && found.contains("added\n"));
    assert_eq!(printed(&found).0, printed(&plain).0);
}

#[test]
fn what_is_changed_where_it_lies_is_said_and_then_seen() {
    let place = Place::new();
    if !place.learn() {
        return;
    }
    let at = place.files.join("f04");
    let content = text(&fs::read(&at).unwrap()).replace("of them", "OF THEM");
    let mut file = File::options().write(true).open(&at).unwrap();
    file.write_all(content.as_bytes()).unwrap();
    drop(file);
    let found = text(&place.packed().stdout);
    if !found.contains("\n4 OF THEM") {
        let begun = Instant::now();
        while place.of_profile("said").is_none() {
            assert!(begun.elapsed() < PATIENCE, "nothing is said");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    let output = place.packed();
    let (found, said) = (text(&output.stdout), text(&output.stderr));
    assert!(found.contains("\n4 OF THEM"), "the next start sees it");
    assert!(said.contains("f04: changed where it lies"), "{said}");
}

#[test]
fn a_folder_in_which_the_program_writes_is_not_seen_from_a_pack() {
    let mut place = Place::new();
    place.writes = Some(place.files.join("x/made"));
    fs::write(place.files.join("x/made"), "").unwrap();
    if !place.learn() {
        return;
    }
    assert!(!place.is_known(&place.files) && !place.is_known(&place.files.join("x")));
    assert!(place.packed().status.success());
    assert!(place.files.join("x/made").exists());
}

#[test]
fn a_pack_goes_with_its_profile() {
    let place = Place::new();
    if !place.learn() {
        return;
    }
    assert!(place.of_profile("zip").is_some());
    let mut command = crate::seekless(Path::new("/"));
    command.args(["profiles", "prune", "--max-size", "1B"]).env("XDG_STATE_HOME", &place.state);
    assert!(command.output().unwrap().status.success());
    for extension in ["parquet", "flat", "zip", "packed", "served"] {
        assert_eq!(place.of_profile(extension), None);
    }
}

#[test]
fn what_the_program_writes_is_in_the_real_folders() {
    let mut place = Place::new();
    if !place.learn() {
        return;
    }
    // It did not write when it was learned.
    place.writes = Some(place.files.join("f09"));
    let output = place.packed();
    assert_eq!(said_of(&output), None, "{}", text(&output.stderr));
    assert_eq!(fs::read(place.files.join("f09")).unwrap(), b"made\n");
    let made = place.files.join("f09.d");
    let entries = fs::read_dir(&made).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(entries.collect::<BTreeSet<_>>(), ["c", "l"].map(Into::into).into());
    assert_eq!(fs::read(made.join("l")).unwrap(), b"made\nmore\n");
    let about = fs::metadata(made.join("c")).unwrap();
    assert_eq!((about.mode() & 0o777, about.nlink()), (0o600, 1));
    assert!(
        about.modified().unwrap() < std::time::UNIX_EPOCH + 51 * 365 * Duration::from_secs(86_400)
    );
}
