//! Generated command lines of `find`: ours and GNU's must agree in standard output and error, exit
//! status, and the files left in a folder where they delete or write. Fixed seeds, about 300 cases.
//! This runs more of them, with another seed: `SEEKLESS_GNU_CASES=5000 SEEKLESS_GNU_SEED=7 cargo
//! test -p seekless-cli --test cli gnu_find -- --nocapture`.
//!
//! The cases leave out the differences that `seekless find --help` lists, and `nan` as an age, on
//! which GNU find aborts.

mod dates;
mod formats;
mod tree;
mod values;
mod words;

use super::random::Random;
use super::{seekless, workplace};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// A command line and its surroundings.
#[derive(Debug)]
struct Case {
    words: Vec<OsString>,
    locale: &'static str,
    posix: bool,
    zone: Option<&'static str>,
    path: &'static str,
    input: &'static [u8],
    /// Runs in a small folder of its own, since it changes files.
    changes: bool,
}

/// The result of a case.
#[derive(PartialEq, Eq)]
struct Outcome {
    out: Vec<u8>,
    messages: Vec<u8>,
    code: Option<i32>,
    left: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Case {
    fn new(random: &mut Random) -> Case {
        let changes = random.chance(12);
        let mut words = if changes { words::changing(random) } else { words::looking(random) };
        // If a word is lost, a path after it becomes a starting point. Nothing outside may be
        // deleted, and `/` is too large to search.
        let leads_out =
            words.iter().any(|word| if changes { word.starts_with(b"/") } else { word == b"/" });
        if random.chance(10) && !leads_out {
            words::spoil(&mut words, random);
        }
        Case {
            words: words.iter().map(|word| OsStr::from_bytes(word).to_owned()).collect(),
            locale: random.pick(&["C", "C.UTF-8"]),
            posix: random.chance(12),
            zone: random.pick(&[
                None,
                None,
                Some("UTC0"),
                Some("EST5EDT"),
                Some("Europe/Berlin"),
                Some("Asia/Kolkata"),
            ]),
            path: random.weighted(&[
                (30, "/usr/bin:/bin"),
                (1, "/usr/bin::/bin"),
                (1, "/usr/bin:."),
                (1, "bin:/usr/bin"),
                (1, ""),
            ]),
            input: random.pick(&[
                &b""[..],
                b"y\nn\ny\ny\n",
                b"Y",
                b" y\nyes\nn\n\xff\nY\n",
                b"a/one\0.\0",
                b"\0a\0nosuch\0d e",
            ]),
            changes,
        }
    }

    fn run(&self, mut command: Command, tree: &Path) -> Outcome {
        let scratch = self.changes.then(|| {
            let folder = workplace();
            tree::make_small(folder.path());
            folder
        });
        let folder = scratch.as_ref().map_or(tree, |folder| folder.path());
        command.current_dir(folder).args(&self.words).env_clear().env("LC_ALL", self.locale);
        command.env("PATH", self.path);
        command.envs(self.zone.map(|zone| ("TZ", zone)));
        command.envs(self.posix.then_some(("POSIXLY_CORRECT", "1")));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut input = child.stdin.take().expect("a pipe");
        let _ = input.write_all(self.input); // it may end without reading this
        drop(input);
        let output = child.wait_with_output().expect("it ends");
        Outcome {
            out: output.stdout,
            messages: output.stderr,
            code: output.status.code(),
            left: scratch.map_or_else(Vec::new, |folder| tree::contents(folder.path())),
        }
    }

    /// How the outcomes differ, if they do so in every attempt: a clock may tick over between two
    /// runs.
    fn difference(&self, gnu: &Path, tree: &Path) -> Option<String> {
        let mut difference = None;
        for _ in 0..3 {
            let mut find = Command::new(gnu);
            find.arg0("find");
            let theirs = self.run(find, tree);
            let mut command = seekless(tree);
            command.arg("find");
            let ours = self.run(command, tree);
            if ours == theirs {
                return None;
            }
            difference = Some(format!("{self:?}\n{}", ours.beside(&theirs)));
        }
        difference
    }
}

impl Outcome {
    fn beside(&self, theirs: &Outcome) -> String {
        let mut text = String::new();
        if self.code != theirs.code {
            text += &format!("  status {:?}, GNU's {:?}\n", self.code, theirs.code);
        }
        for (what, ours, gnus) in
            [("out", &self.out, &theirs.out), ("messages", &self.messages, &theirs.messages)]
        {
            if ours != gnus {
                text += &format!("  {what}:\n{}", lines(ours, gnus));
            }
        }
        if self.left != theirs.left {
            text += &format!("  left: {:?}\n  GNU's {:?}\n", self.left, theirs.left);
        }
        text
    }
}

/// The first lines that differ.
fn lines(ours: &[u8], gnus: &[u8]) -> String {
    let split = |bytes: &[u8]| -> Vec<String> {
        bytes
            .split_inclusive(|byte| b"\n\0".contains(byte))
            .map(|line| line.escape_ascii().to_string())
            .collect()
    };
    let (ours, gnus) = (split(ours), split(gnus));
    let same = ours.iter().zip(&gnus).take_while(|(ours, gnu)| ours == gnu).count();
    let some = |lines: &[String]| lines.iter().skip(same).take(3).cloned().collect::<Vec<_>>();
    format!("    ours {:?}\n    GNU's {:?}\n", some(&ours), some(&gnus))
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The path of GNU find 4.9. If it is not installed, says that the test is skipped.
pub(super) fn gnu_find() -> Option<std::path::PathBuf> {
    let path = ["/usr/bin/find", "/bin/find"].iter().map(Path::new).find(|path| path.exists());
    let path = path.filter(|path| {
        let version = Command::new(path).arg("--version").output();
        version.is_ok_and(|output| output.stdout.starts_with(b"find (GNU findutils) 4.9"))
    });
    if path.is_none() {
        eprintln!("skipped: GNU find 4.9 is not there to compare with");
    }
    path.map(Path::to_owned)
}

#[test]
fn generated_command_lines_have_gnu_finds_outcome() {
    let Some(gnu) = gnu_find() else { return };
    let place = workplace();
    let tree = place.path().join("tree");
    tree::make(&tree).expect("a tree");
    for words in [&["-L", "."][..], &[".", "-lname", "x", "-o", "-empty"], &["../many"]] {
        // The first read of a folder or a link changes its time of access.
        let _ = Command::new(&gnu).current_dir(&tree).args(words).output();
    }
    let cases = number("SEEKLESS_GNU_CASES").unwrap_or(300);
    let seed = number("SEEKLESS_GNU_SEED").unwrap_or(1);
    let only = number("SEEKLESS_GNU_ONLY");
    let mut differences = Vec::new();
    for number in 0..cases {
        let mut random = Random::new(seed, number);
        let case = Case::new(&mut random);
        if only.is_some_and(|only| only != number) {
            continue;
        }
        if let Some(difference) = case.difference(&gnu, &tree) {
            differences.push(format!("case {number} of seed {seed}: {difference}"));
        }
    }
    for difference in differences.iter().take(number("SEEKLESS_GNU_SHOWN").unwrap_or(10) as usize) {
        eprintln!("{difference}");
    }
    assert!(differences.is_empty(), "{} of {cases} cases differ", differences.len());
}
