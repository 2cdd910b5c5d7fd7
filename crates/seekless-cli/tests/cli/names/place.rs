//! A folder of things with odd names, and the words that stand for them in the lines of the sweep.

use crate::{workplace, write_script};
use seekless::trace::{
    Access, Metadata, Op, RunInfo, SpoolWriter, Writer, escape_path, spool_path,
};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A colour, a return, a row that looks like ours, a tab, the end of left to right, a control
/// character of eight bits, and bytes that are not UTF-8.
pub(super) const ODD: &[u8] = b"odd\x1b[31m\r\nFORGED row\t\xe2\x80\xae\xc2\x9b\xff";
/// The same for where only UTF-8 can stand.
const TEXT: &str = "odd\u{1b}[31m\r\nFORGED row\t\u{202e}\u{9b}";

pub(super) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// With what these words stand for.
    pub(super) fn new(words: &str) -> Self {
        let place = Self { folder: workplace() };
        let path = |word: &str| place.path(word);
        for folder in ["TREE", "FOLDER", "FULL", "state", "temporary"] {
            fs::create_dir(path(folder)).unwrap();
        }
        fs::write(path("FULL").join("file"), "").unwrap();
        fs::write(path("FILE"), format!("{TEXT}\n{TEXT}\n").repeat(50)).unwrap();
        for name in [ODD, TEXT.as_bytes(), b"plain"] {
            fs::write(path("TREE").join(OsStr::from_bytes(name)), "0123456789".repeat(1000))
                .unwrap();
        }
        fs::write(path("CSV"), format!("path,size,{TEXT}\n\"{}\",10000\n{TEXT},x\n", "plain"))
            .unwrap();
        let listed = path("TREE").join("plain");
        fs::write(
            path("LIST"),
            [listed.as_os_str().as_bytes(), b"\n/", TEXT.as_bytes(), b"\n"].concat(),
        )
        .unwrap();
        write_script(&path("PROGRAM"), "#!/bin/sh\n[ $# = 0 ] || cat < \"$0\" > /dev/null\n");
        fs::write(path("TABLE"), "kind = \"volume\"\niops = 500\nbandwidth = 150000000\n").unwrap();
        fits(&path("FITS"));
        place.traces();
        if words.contains("ZIP") || words.contains("DAMAGED") {
            place.packs();
        }
        place
    }

    fn traces(&self) {
        let tree = self.path("TREE");
        let inside = |name: &[u8]| tree.join(OsStr::from_bytes(name)).into_os_string().into_vec();
        let names =
            [inside(b"plain"), inside(ODD), inside(TEXT.as_bytes()), inside(b"gone\r\nFORGED\x1b")];
        let metadata = Metadata { runs: vec![run()], ..Metadata::default() };
        let mut writer = Writer::create(self.path("TRACE"), metadata.clone()).unwrap();
        for (at, name) in names.iter().enumerate() {
            let file = writer.file(&escape_path(name));
            for op in [Op::Open, Op::Read, Op::Load] {
                writer.push(access(op, file, at as u64)).unwrap();
            }
        }
        writer.finish().unwrap();
        let mut writer = Writer::create(self.path("PLAIN"), Metadata::default()).unwrap();
        let file = writer.file(&escape_path(&names[0]));
        writer.push(access(Op::Load, file, 0)).unwrap();
        writer.finish().unwrap();
        // One of a recording that was killed, and one in the folder of the user.
        let killed = self.state_spool();
        for path in [self.path("SPOOL"), killed] {
            let mut spool = SpoolWriter::create_for(&self.path("OUT"), &path, &metadata).unwrap();
            let file = spool.file(escape_path(&names[1]));
            spool.push(access(Op::Read, file, 0)).unwrap();
        }
    }

    /// Where a spool of a recording that this user killed would lie.
    fn state_spool(&self) -> PathBuf {
        let folder = self.path("state").join("seekless/spool");
        fs::create_dir_all(&folder).unwrap();
        let name = spool_path(&self.path("OUT")).unwrap();
        folder.join(name.file_name().unwrap())
    }

    /// Packs take no odd names, so one is put into the place of another of its length.
    fn packs(&self) {
        let folder = self.path("TREE").join("packed");
        let stand_in = "n".repeat(TEXT.len());
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(&stand_in), "0123456789".repeat(1000)).unwrap();
        fs::write(folder.join("plain"), "0123456789".repeat(1000)).unwrap();
        let archive = self.path("plain.zip");
        let made = self.command("pack").arg(&folder).arg("-o").arg(&archive).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        fs::remove_dir_all(&folder).unwrap();
        let bytes = fs::read(&archive).unwrap();
        fs::copy(&archive, self.path("ZIP")).unwrap();
        let mut odd = bytes;
        let places: Vec<usize> = (0..odd.len() - TEXT.len())
            .filter(|&at| odd[at..].starts_with(stand_in.as_bytes()))
            .collect();
        for at in places {
            odd[at..at + TEXT.len()].copy_from_slice(TEXT.as_bytes());
        }
        fs::write(self.path("DAMAGED"), odd).unwrap();
    }

    /// The path of what a word stands for: all but our own have odd names.
    fn path(&self, word: &str) -> PathBuf {
        if word.chars().all(char::is_uppercase) {
            let ending = match word {
                "TABLE" => ".toml",
                "CSV" => ".csv",
                "SPOOL" => ".spool",
                _ => "",
            };
            let name = [word.as_bytes(), ODD, ending.as_bytes()].concat();
            return self.folder.path().join(OsString::from_vec(name));
        }
        self.folder.path().join(word)
    }

    fn word(&self, word: &str) -> OsString {
        let is_one = |part: &str| part.len() > 2 && part.chars().all(char::is_uppercase);
        let mut whole = OsString::new();
        for part in word.split_inclusive(['=', '/', '[']) {
            let name = part.trim_end_matches(['=', '/', '[']);
            if is_one(name) {
                whole.push(self.path(name));
            } else {
                whole.push(name);
            }
            whole.push(&part[name.len()..]);
        }
        whole
    }

    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--foreground", "-s", "KILL", "120", env!("CARGO_BIN_EXE_seekless")]);
        command.args(verb.split(' ')).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("XDG_STATE_HOME", self.folder.path().join("state"));
        command.env("TMPDIR", self.folder.path().join("temporary"));
        command
    }

    pub(super) fn run(&self, verb: &str, words: &str) -> Output {
        let words = words.split(' ').filter(|word| !word.is_empty()).map(|word| self.word(word));
        self.command(verb).args(words).output().unwrap()
    }

    /// Words that stand for nothing here: the line would test another thing than it seems to.
    pub(super) fn unused_words(&self, words: &str) -> Option<String> {
        let free = ["GONE", "OUT", "OTHER", "ARGUMENT"];
        let mut parts = words.split([' ', '=', '/', '[']);
        let missing = parts.find(|part| {
            let is_one = part.len() > 2 && part.chars().all(char::is_uppercase);
            is_one && !free.contains(part) && !self.path(part).exists()
        });
        missing.map(|word| format!("{words}: {word} is not there"))
    }
}

fn access(op: Op, file: u32, time_ns: u64) -> Access {
    let bytes = if op == Op::Open { 0 } else { 10_000 };
    Access { time_ns, bytes, file_bytes: Some(10_000), ..Access::new(op, file) }
}

fn run() -> RunInfo {
    let odd = || TEXT.to_owned();
    RunInfo {
        command: vec![odd(), odd()],
        directory: odd(),
        host: odd(),
        kernel: odd(),
        source: odd(),
        only: vec![odd()],
        exclude: vec![odd()],
        left_out: 3,
        blind_spots: [(odd(), 2)].into(),
        ..RunInfo::default()
    }
}

/// An image of 4 x 2 pixels of 16 bits.
fn fits(path: &Path) {
    let cards = ["SIMPLE  = T", "BITPIX  = 16", "NAXIS   = 2", "NAXIS1  = 4", "NAXIS2  = 2", "END"];
    let card = |card: &&str| match card.split_once("= ") {
        Some((key, value)) => format!("{key}= {value:>20}{:50}", "").into_bytes(),
        None => format!("{card:<80}").into_bytes(),
    };
    let mut bytes: Vec<u8> = cards.iter().flat_map(card).collect();
    bytes.resize(2880, b' ');
    bytes.extend((0..8_i16).flat_map(i16::to_be_bytes));
    bytes.resize(5760, 0);
    fs::write(path, bytes).unwrap();
}
