//! `seekless wc` and GNU wc print the same, byte for byte, and end with the same code.

use super::{seekless, workplace};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const GNU: &str = "/usr/bin/wc";

/// Whether GNU wc is installed. The output of another wc proves nothing.
fn gnu_is_here() -> bool {
    let version = Command::new(GNU).arg("--version").output();
    let here = version.is_ok_and(|output| output.stdout.starts_with(b"wc (GNU coreutils)"));
    if !here {
        eprintln!("skipped: no GNU wc at {GNU}");
    }
    here
}

/// Runs a counting command with `locale` instead of the environment's locale.
fn counted(mut command: Command, words: &[&str], locale: &str, input: &Path) -> Output {
    command
        .args(words)
        .env_remove("LANG")
        .env_remove("LC_CTYPE")
        .env_remove("POSIXLY_CORRECT")
        .env("LC_ALL", locale);
    command
        .stdin(fs::File::open(input).expect("the input"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.output().expect("the command starts")
}

fn ours(folder: &Path) -> Command {
    let mut command = seekless(folder);
    command.arg("wc");
    command
}

fn gnu(folder: &Path) -> Command {
    let mut command = Command::new(GNU);
    // Otherwise its messages show its whole path.
    command.arg0("wc").current_dir(folder);
    command
}

fn assert_same(folder: &Path, words: &[&str], locale: &str) {
    let input = folder.join("input");
    let [theirs, ours] =
        [gnu(folder), ours(folder)].map(|command| counted(command, words, locale, &input));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&ours.stdout), text(&theirs.stdout), "wc {words:?} in {locale}");
    assert_eq!(text(&ours.stderr), text(&theirs.stderr), "wc {words:?} in {locale}");
    assert_eq!(ours.status.code(), theirs.status.code(), "wc {words:?} in {locale}");
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }

    fn text(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        for _ in 0..self.below(24) {
            match self.below(8) {
                0..3 => text.extend(
                    (0..self.below(9)).map(|_| b'a' + self.below(26) as u8).collect::<Vec<u8>>(),
                ),
                3..5 => text.push(b" \n\t\r\x0b\x0c"[self.below(6)]),
                5 => text.extend(self.character().to_string().bytes()),
                6 => text
                    .extend((0..self.below(6)).map(|_| self.below(256) as u8).collect::<Vec<u8>>()),
                _ => text.extend(b"plain words in lines\n".repeat(self.below(200))),
            }
        }
        text
    }

    /// A character: one that is wide, combines, prints nothing or looks like a blank, or else any.
    fn character(&mut self) -> char {
        const TELLING: [char; 9] = [
            '\u{a0}',
            '\u{2060}',
            '\u{3000}',
            '\u{2028}',
            '\u{85}',
            '\u{301}',
            '\u{1f600}',
            '中',
            '\u{200b}',
        ];
        let any = [0x800, 0x1_0000, 0x11_0000][self.below(3)];
        match self.below(2) {
            0 => TELLING[self.below(TELLING.len())],
            _ => char::from_u32(0x80 + self.below(any - 0x80) as u32).unwrap_or('é'),
        }
    }
}

#[test]
fn random_files_count_as_gnu_says() {
    if !gnu_is_here() {
        return;
    }
    let folder = workplace();
    let mut random = Random(4);
    for round in 0..30 {
        for name in ["a", "b", "input"] {
            fs::write(folder.path().join(name), random.text()).unwrap();
        }
        let words: &[&str] =
            [&["a"][..], &["-m", "a"], &["-lwcmL", "a", "b"], &["-L", "-", "b"], &["-w"], &[]]
                [round % 6];
        for locale in ["C", "C.UTF-8", "no_SUCH.UTF-8"] {
            assert_same(folder.path(), words, locale);
        }
    }
}

#[test]
fn odd_inputs_and_options_are_met_with_the_same_words() {
    if !gnu_is_here() {
        return;
    }
    let folder = workplace();
    let path = folder.path();
    fs::create_dir(path.join("dir")).unwrap();
    for (name, text) in [
        ("a", &b"one two\n"[..]),
        ("input", b"three\n"),
        ("c d", b"4\n"),
        ("n\nl", b""),
        ("list", b"a\0\0-\0missing\0dir"),
        ("one", b"a\0"),
        ("none", b""),
    ] {
        fs::write(path.join(name), text).unwrap();
    }
    fs::write(path.join("page"), [b'x'; 4096]).unwrap();
    for words in [
        &["a", "missing", "c d", "n\nl", "", "x:y", "n'o", "é"][..],
        &["dir", "a"],
        &["-c", "dir", "a", "page"],
        &["-c", "page"],
        &["-c", "-"],
        &["-l", "/proc/self/limits"],
        &["-c", "/proc/version"],
        &["-", "-"],
        &["-x"],
        &["--foo"],
        &["--li", "a"],
        &["--lines=3"],
        &["--files0-from"],
        &["--files0-from=missing"],
        &["--files0-from=dir"],
        &["--files0-from=list"],
        &["--files0-from=one"],
        &["--files0-from=none"],
        &["--files0-from=-"],
        &["--files0-from=list", "a"],
        &["a", "-l", "--", "-c"],
    ] {
        for locale in ["C", "C.UTF-8"] {
            assert_same(path, words, locale);
        }
    }
}

#[test]
fn a_total_is_printed_when_asked() {
    let folder = workplace();
    for (name, text) in [("a", "1\n"), ("b", "2\n3\n")] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    for (when, expected) in [
        ("auto", "1 a\n2 b\n3 total\n"),
        ("always", "1 a\n2 b\n3 total\n"),
        ("only", "3\n"),
        ("never", "1 a\n2 b\n"),
    ] {
        let output = ours(folder.path()).args(["-l", "a", "b", "--total", when]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{when}");
    }
    let output = ours(folder.path()).args(["--total=sometimes"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Valid arguments are:"));
}

#[test]
fn called_wc_it_is_wc() {
    let folder = workplace();
    let link = folder.path().join("wc");
    symlink(env!("CARGO_BIN_EXE_seekless"), &link).unwrap();
    fs::write(folder.path().join("a"), "1\n").unwrap();
    let output = Command::new(&link).current_dir(folder.path()).args(["-l", "a"]).output().unwrap();
    assert_eq!(output.stdout, b"1 a\n");
}

#[test]
fn figures_come_as_json_and_in_words() {
    let folder = workplace();
    fs::write(folder.path().join("a"), "one two\n").unwrap();
    let output =
        ours(folder.path()).args(["-lw", "--json", "--stats", "--linear", "a"]).output().unwrap();
    let figures: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(figures["files"][0]["name"], "a");
    assert_eq!((&figures["total"]["lines"], &figures["total"]["words"]), (&1.into(), &2.into()));
    assert_eq!(figures["total"].get("bytes"), None);
    assert_eq!(figures["complete"], true);
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("wc: 8 B counted; "));
}

#[test]
fn what_is_cached_can_be_held_within_a_bound() {
    let _kept = crate::caches::kept();
    let folder = workplace();
    fs::write(folder.path().join("a"), vec![b'\n'; 1 << 20]).unwrap();
    let output =
        ours(folder.path()).args(["-l", "--hold", "512KiB", "--json", "a"]).output().unwrap();
    let figures: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(figures["total"]["lines"], 1 << 20);
    let (resident, held) =
        (figures["resident_bytes"].as_u64().unwrap(), figures["held_bytes"].as_u64().unwrap());
    assert!(held <= 512 << 10 && (held > 0) == (resident > 0), "{held} of {resident}");
    let output = ours(folder.path()).args(["--hold=much", "a"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .starts_with("wc: invalid argument 'much' for '--hold': ")
    );
}

#[test]
fn a_full_device_is_an_error() {
    let folder = workplace();
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        eprintln!("skipped: no /dev/full");
        return;
    };
    let output = ours(folder.path())
        .arg("--total=always")
        .stdin(Stdio::null())
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "wc: write error\n");
}

/// The command accepts every flag that its help shows.
#[test]
fn the_help_and_the_reader_of_flags_agree() {
    let folder = workplace();
    let output = ours(folder.path()).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let flags = help.split_whitespace().filter_map(|word| word.strip_prefix("--"));
    let flags: Vec<&str> =
        flags.map(|flag| flag.split([']', '=', '.']).next().unwrap_or("")).collect();
    assert!(flags.contains(&"max-line-length"), "{help}");
    for flag in flags {
        let value = match flag {
            "help" | "version" | "files0-from" => continue,
            "total" => "=always",
            "hold" => "=1MiB",
            "max-latency" | "max-wait" => "=100ms",
            _ => "",
        };
        let output = ours(folder.path())
            .arg(OsStr::new(&format!("--{flag}{value}")))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "--{flag}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
