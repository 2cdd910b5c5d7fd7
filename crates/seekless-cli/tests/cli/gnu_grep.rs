//! `seekless grep` compared with GNU grep 3.8 on cases from a seed.

use super::gnu::{Case, Cases, compare, word};
use super::random::Random;
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

/// Pieces of text that patterns may match.
const PIECES: [&[u8]; 24] = [
    b"a",
    b"b",
    b"ab",
    b"aa",
    b"x",
    b"X",
    b"A",
    b" ",
    b"_",
    b"1",
    b"-",
    b".",
    b"s",
    b"ss",
    b"foo",
    b"Bar",
    b"\t",
    "é".as_bytes(),
    "É".as_bytes(),
    "ü".as_bytes(),
    "ß".as_bytes(),
    "中".as_bytes(),
    "ż".as_bytes(),
    "ſ".as_bytes(),
];

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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Basic,
    Extended,
    Fixed,
    Perl,
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

/// A pattern, sometimes a slightly wrong one.
fn pattern(random: &mut Random, syntax: Syntax) -> Vec<u8> {
    if random.chance(4) {
        return Vec::new();
    }
    if syntax == Syntax::Fixed || random.chance(8) {
        let text = line(random);
        return if random.chance(15) { [&text[..], b"\n", &line(random)].concat() } else { text };
    }
    let mut pattern = branches(random, syntax, 0);
    if random.chance(4) {
        let at = random.below(pattern.len() + 1);
        let stray = random.pick(&b"()[]{}\\*+?|^$\xff\xc3-,1".map(|byte| byte));
        pattern.insert(at, stray);
    }
    if random.chance(3) {
        pattern.push(b'\n');
        pattern.extend(branches(random, syntax, 0));
    }
    pattern
}

fn branches(random: &mut Random, syntax: Syntax, depth: usize) -> Vec<u8> {
    let bar: &[u8] = if syntax == Syntax::Basic { b"\\|" } else { b"|" };
    let count = if random.chance(20) { 2 + random.below(2) } else { 1 };
    let parts: Vec<Vec<u8>> = (0..count)
        .map(|_| (0..1 + random.below(4)).flat_map(|_| part(random, syntax, depth)).collect())
        .collect();
    parts.join(bar)
}

fn part(random: &mut Random, syntax: Syntax, depth: usize) -> Vec<u8> {
    let mut part = atom(random, syntax, depth);
    if random.chance(30) {
        const BASIC: [&str; 9] = [
            "*",
            "\\+",
            "\\?",
            "\\{2\\}",
            "\\{1,2\\}",
            "\\{0,1\\}",
            "\\{1,\\}",
            "\\{,2\\}",
            "\\{2,1\\}",
        ];
        const EXTENDED: [&str; 11] =
            ["*", "+", "?", "{2}", "{1,2}", "{0}", "{1,}", "{,2}", "{2,1}", "{x", "**"];
        // `{,2}` is an interval only from PCRE2 10.43 on, as the help says.
        const PERL: [&str; 11] =
            ["*", "+", "?", "{2}", "{1,2}", "*?", "+?", "*+", "{1,}", "??", "{0}"];
        // Bounds in the wrong order are rare.
        let odd = usize::from(!random.chance(10));
        let times = match syntax {
            Syntax::Basic => BASIC[random.below(BASIC.len() - odd)],
            Syntax::Extended => EXTENDED[random.below(EXTENDED.len() - 3 * odd)],
            _ => PERL[random.below(PERL.len())],
        };
        part.extend_from_slice(times.as_bytes());
    }
    part
}

fn atom(random: &mut Random, syntax: Syntax, depth: usize) -> Vec<u8> {
    const SETS: [&str; 26] = [
        "[ab]",
        "[^a]",
        "[a-c]",
        "[[:alpha:]]",
        "[[:upper:]]",
        "[^[:space:]]",
        "[[:digit:]_]",
        "[é]",
        "[à-ü]",
        "[^é]",
        "[]a]",
        "[^]a]",
        "[a-]",
        "[A-Z]",
        "[[:punct:]]",
        "[[.-.]]",
        "[[=a=]]",
        "[a\\]",
        "[[:word:]]",
        "[:alpha:]",
        "[b-a]",
        "[[.é.]]",
        "[xé-]",
        "[[:lower:]]",
        "[^\n]",
        "[X-a]",
    ];
    const ESCAPES: [&str; 17] = [
        "\\w", "\\W", "\\s", "\\S", "\\<", "\\>", "\\b", "\\B", "\\`", "\\'", "\\.", "\\*", "\\-",
        "\\a", "\\1", "\\/", "\\^",
    ];
    // Left out, as the help says: with PCRE2 10.42, which GNU grep uses here, \S, \W and \D miss
    // characters beyond ASCII, and \p{Lu} does not match a small letter with -i.
    const PERL: [&str; 26] = [
        "\\d",
        "\\w",
        "\\s",
        "\\b",
        "\\B",
        "\\A",
        "\\z",
        "\\Z",
        "\\x61",
        "\\x{e9}",
        "\\p{L}",
        "(?i)",
        "(?=a)",
        "(?!a)",
        "(?<=a)",
        "(?<!a)",
        "\\K",
        "\\N",
        "\\h",
        "\\R",
        "\\X",
        "\\Qa.b\\E",
        "(?:ab)",
        "(?>a*)",
        "\\G",
        "\\1",
    ];
    match random.below(20) {
        0..9 => random.pick::<&[u8]>(&PIECES).to_vec(),
        9 => b".".to_vec(),
        10 => b"^".to_vec(),
        11 => b"$".to_vec(),
        12..14 => random.pick(&SETS).as_bytes().to_vec(),
        14..16 if syntax == Syntax::Perl => random.pick(&PERL).as_bytes().to_vec(),
        14..16 => random.pick(&ESCAPES).as_bytes().to_vec(),
        16..19 if depth < 3 => {
            let inner = branches(random, syntax, depth + 1);
            let (open, close): (&[u8], &[u8]) =
                if syntax == Syntax::Basic { (b"\\(", b"\\)") } else { (b"(", b")") };
            let back: &[u8] = if random.chance(12) { b"\\1" } else { b"" };
            [open, &inner[..], close, back].concat()
        }
        _ => b".*".to_vec(),
    }
}
