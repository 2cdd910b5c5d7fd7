//! `seekless grep` compared with GNU grep 3.8 on cases from a seed.

mod pattern;

use super::gnu::{Case, Cases, compare, word};
use super::random::Random;
use pattern::{PIECES, Syntax, pattern};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn cases_from_a_seed_are_searched_as_gnu_grep_does() {
    compare::<Grep>();
}

struct Grep;

const FILES: [&str; 9] =
    ["a", "b", "bad", "binary", "crlf", "open", "long", "tree/c", "tree/deep/d.txt"];
const OTHERS: [&str; 13] = [
    "-",
    "missing",
    "empty",
    "tree",
    "tree/",
    "dangling",
    "loop",
    "link",
    "linked",
    "/dev/null",
    "tree/deep",
    ".",
    "tree//deep",
];
const FOLDERS: [&str; 6] = ["tree", ".", "linked", "tree/", "a", "tree/deep"];

fn line(random: &mut Random) -> Vec<u8> {
    let pieces = (0..random.below(7)).map(|_| random.pick::<&[u8]>(&PIECES));
    pieces.collect::<Vec<_>>().concat()
}

fn text(random: &mut Random, end: &[u8]) -> Vec<u8> {
    (0..random.below(12)).flat_map(|_| [line(random), end.to_vec()].concat()).collect()
}

/// A text with some of these pieces inserted.
fn spoiled(random: &mut Random, with: &[&[u8]]) -> Vec<u8> {
    let mut text = text(random, b"\n");
    for _ in 0..1 + random.below(3) {
        let at = random.below(text.len() + 1);
        text.splice(at..at, random.pick::<&[u8]>(with).iter().copied());
    }
    text
}

impl Cases for Grep {
    const TOOL: &'static str = "grep";
    const VERSION: &'static str = "grep (GNU grep) 3.8";

    fn lay_out(random: &mut Random, folder: &Path) {
        fs::create_dir_all(folder.join("tree/deep")).expect("made");
        for name in FILES {
            let text = match name {
                "bad" => spoiled(
                    random,
                    &[b"\xff", b"\xc3", b"\xa9", b"\xed\xa0\x80", b"\xe4\xb8", b"\xc0\x80"],
                ),
                "binary" => spoiled(random, &[b"\0", b"\0\0\0", b"\n\0", b"\xff"]),
                "crlf" => text(random, b"\r\n"),
                "open" => [text(random, b"\n"), line(random)].concat(),
                "long" => text(random, b"\n").repeat(1 + random.below(3000)),
                _ => text(random, b"\n"),
            };
            fs::write(folder.join(name), text).expect("written");
        }
        fs::write(folder.join("empty"), "").expect("written");
        for (target, link) in [
            ("nowhere", "dangling"),
            ("loop", "loop"),
            ("a", "link"),
            ("tree", "linked"),
            ("..", "tree/up"),
            ("none", "tree/gone"),
            ("../a", "tree/a"),
            ("self", "tree/self"),
            ("deep", "tree/beside"),
        ] {
            symlink(target, folder.join(link)).expect("linked");
        }
        let patterns: Vec<u8> = (0..random.below(4))
            .flat_map(|_| [pattern(random, Syntax::Basic), b"\n".to_vec()].concat())
            .collect();
        let cut = patterns.len() - usize::from(!patterns.is_empty() && random.chance(30));
        fs::write(folder.join("patterns"), &patterns[..cut]).expect("written");
        fs::write(folder.join("globs"), ["*.txt\n", "a\n\nb", "", "dee*\n"][random.below(4)])
            .expect("written");
    }

    /// With -q, ours may find the deciding line before it meets the errors of earlier files, as the
    /// help says.
    fn same_message(case: &Case, ours: &str, theirs: &str) -> bool {
        let quiet =
            case.words.iter().any(|word| word == "-q" || word == "--quiet" || word == "--silent");
        ours == theirs || (quiet && ours.lines().all(|line| theirs.contains(line)))
    }

    fn case(random: &mut Random, _: &Path) -> Case {
        let mut words: Vec<OsString> = Vec::new();
        let syntax = random.pick(&[
            Syntax::Basic,
            Syntax::Basic,
            Syntax::Basic,
            Syntax::Extended,
            Syntax::Extended,
            Syntax::Extended,
            Syntax::Fixed,
            Syntax::Perl,
            Syntax::Perl,
        ]);
        match syntax {
            Syntax::Basic if random.chance(80) => {}
            Syntax::Basic => words.push("-G".into()),
            Syntax::Extended => words.push(["-E", "--extended-regexp"][random.below(2)].into()),
            Syntax::Fixed => words.push("-F".into()),
            Syntax::Perl => words.push("-P".into()),
        }
        for _ in 0..random.below(5) {
            words.push(word(option(random)));
        }
        let recursive = random.chance(12);
        if recursive {
            words.push(["-r", "-R", "-d", "-rR", "-Rr"][random.below(5)].into());
            if words.last().is_some_and(|last| last == "-d") {
                words.push(["recurse", "skip", "read", "rec", "r", "x"][random.below(6)].into());
            }
        }
        let mut operands = Vec::new();
        match random.below(10) {
            0..8 => operands.push(word(pattern(random, syntax))),
            8 => words.extend([
                "-e".into(),
                word(pattern(random, syntax)),
                "-e".into(),
                word(pattern(random, syntax)),
            ]),
            _ => words.push(
                ["-fpatterns", "-f/dev/null", "-f-", "-fmissing"]
                    [[0, 0, 0, 0, 1, 1, 2, 3][random.below(8)]]
                .into(),
            ),
        }
        for _ in 0..[0, 1, 1, 1, 1, 2, 2, 3][random.below(8)] {
            operands.push(match random.below(10) {
                _ if recursive && random.chance(60) => random.pick(&FOLDERS).into(),
                0..8 => random.pick(&FILES).into(),
                _ => random.pick(&OTHERS).into(),
            });
        }
        // Otherwise a pattern that looks like an option would be taken as one.
        if operands.first().is_some_and(|first| first.as_bytes().starts_with(b"-")) {
            words.push("--".into());
        }
        words.extend(operands);
        leave_out_what_differs(&mut words);
        let mut variables = Vec::new();
        if random.chance(75) {
            let locale =
                random.pick(&["C", "C.UTF-8", "C.UTF-8", "C.UTF-8", "POSIX", "none.UTF-8"]);
            variables.push((random.pick(&["LC_ALL", "LC_CTYPE", "LANG"]), locale.into()));
        }
        if random.chance(5) {
            variables.push(("POSIXLY_CORRECT", "1".into()));
        }
        if random.chance(12) {
            const COLORS: [&str; 13] = [
                "",
                "mt=01;32",
                "ms=1:mc=2",
                "sl=1:cx=2",
                "sl=1:cx=2:rv",
                "ne",
                "fn=1:ln=2:bn=3:se=4",
                "mt=",
                "x=1:ms=3",
                "ms=1;x:sl=3",
                "mc=3:mt",
                "rv=1:sl=1:cx=4",
                "=1:ms=4",
            ];
            variables.push(("GREP_COLORS", random.pick(&COLORS).into()));
        }
        if random.chance(2) {
            variables.push(("GREP_COLOR", ["", "1;33", "x", "7"][random.below(4)].into()));
        }
        let input =
            ["a", "bad", "binary", "open", "empty", "/dev/null", "tree"][random.below(7)].into();
        Case { words, variables, input }
    }
}

/// Removes the options with which the two differ, as the help says.
fn leave_out_what_differs(words: &mut Vec<OsString>) {
    let context = |word: &OsString| {
        let bytes = word.as_bytes();
        let digits = bytes.len() > 1 && bytes[0] == b'-' && bytes[1].is_ascii_digit();
        digits
            || [&b"-A"[..], b"-B", b"-C", b"--after", b"--context"]
                .iter()
                .any(|name| bytes.starts_with(name))
    };
    if words.iter().any(context) {
        words.retain(|word| word != "-m-1");
    }
    if words.iter().any(|word| repeats_group(word.as_bytes())) {
        let shows = |word: &OsString| {
            word == "-o" || word == "--only-matching" || word.as_bytes().starts_with(b"--col")
        };
        words.retain(|word| !shows(word));
    }
}

/// Whether the pattern has the end of a group followed by a repetition operator.
fn repeats_group(pattern: &[u8]) -> bool {
    pattern.windows(3).any(|three| {
        three[0] == b')'
            && (b"*+?{".contains(&three[1]) || (three[1] == b'\\' && b"+?{".contains(&three[2])))
    }) || pattern.ends_with(b")*")
        || pattern.ends_with(b")+")
        || pattern.ends_with(b")?")
}

fn option(random: &mut Random) -> Vec<u8> {
    const LETTERS: [&str; 29] = [
        "-i", "-v", "-w", "-x", "-c", "-n", "-b", "-o", "-H", "-h", "-l", "-L", "-q", "-s", "-a",
        "-I", "-z", "-Z", "-T", "-U", "-y", "-i", "-v", "-w", "-o", "-n", "-x", "-c", "-in",
    ];
    const LONG: [&str; 39] = [
        "--ignore-case",
        "--no-ignore-case",
        "--invert-match",
        "--word-regexp",
        "--line-regexp",
        "--count",
        "--line-number",
        "--byte-offset",
        "--only-matching",
        "--with-filename",
        "--no-filename",
        "--files-with-matches",
        "--files-without-match",
        "--quiet",
        "--silent",
        "--no-messages",
        "--text",
        "--null-data",
        "--null",
        "--initial-tab",
        "--binary",
        "--line-buffered",
        "--color=always",
        "--colour=always",
        "--color=always",
        "--color=never",
        "--color=auto",
        "--color",
        "--label=name",
        "--binary-files=text",
        "--binary-files=without-match",
        "--binary-files=binary",
        "--group-separator=##",
        "--no-group-separator",
        "--inv",
        "--files-with",
        "--nu",
        "--no",
        "--group-separator=",
    ];
    const VALUES: [&str; 29] = [
        "-m1",
        "-m2",
        "-m0",
        "-m-1",
        "-m1k",
        "-A1",
        "-B1",
        "-C1",
        "-1",
        "-2",
        "-12",
        "-A2",
        "-B2",
        "-A0",
        "-C0",
        "--context=1",
        "--after-context=1",
        "--max-count=1",
        "-m3",
        "--include=*.txt",
        "--exclude=*.txt",
        "--exclude=a",
        "--exclude-dir=deep",
        "--include=a",
        "--exclude-dir=tree",
        "--exclude-from=globs",
        "-Dskip",
        "-Dread",
        "--exclude=b*",
    ];
    const WRONG: [&str; 19] = [
        "-Ax",
        "-mx",
        "-m",
        "-C-1",
        "-A",
        "--none",
        "--include",
        "--binary-files=x",
        "-dx",
        "-Dx",
        "--count=1",
        "-Xgrep",
        "-Xx",
        "-u",
        "-m1x",
        "-k",
        "--directories=r",
        "-E",
        "-F",
    ];
    match random.below(40) {
        0..20 => random.pick(&LETTERS).as_bytes().to_vec(),
        20..30 => random.pick(&LONG).as_bytes().to_vec(),
        30..39 => random.pick(&VALUES).as_bytes().to_vec(),
        _ => random.pick(&WRONG).as_bytes().to_vec(),
    }
}
