//! `seekless wc` compared with GNU wc 9.1 on cases from a seed.

use super::gnu::{Case, Cases, compare, word};
use super::random::Random;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn cases_from_a_seed_count_as_gnu_wc_says() {
    compare::<Wc>();
}

struct Wc;

const NAMES: [&[u8]; 22] = [
    b"a",
    b"b",
    b"long",
    b"empty",
    b"page",
    b"two words",
    b"new\nline",
    b"it's",
    b"new\nline's",
    b"quote\"s",
    b"'both\"",
    b"tab\tbed",
    b"colon:",
    b"~home",
    b"#hash",
    b"{",
    b"a}b",
    b"dollar$",
    b"bad\xff",
    b"\xc3\xa9",
    b"esc\x1b\n'",
    b"a=b",
];
const OTHERS: [&[u8]; 13] = [
    b"missing",
    b"folder",
    b"dangling",
    b"loop",
    b"link",
    b"/dev/null",
    b"",
    b"/proc/version",
    b"/proc/self/mem",
    b"no such\nfile",
    b"folder/none",
    b"a/b",
    b"linked",
];
const LISTS: [&[u8]; 7] = [b"list", b"odd-list", b"empty", b"folder", b"missing", b"-", b"a"];

fn text(random: &mut Random) -> Vec<u8> {
    const PIECES: [&[u8]; 26] = [
        b"word",
        b"a",
        b" ",
        b"\n",
        b"\t",
        b"\r\n",
        b"\x0b",
        b"\x0c",
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xa9",
        b"\x7f",
        "é".as_bytes(),
        "中".as_bytes(),
        "\u{301}".as_bytes(),
        "\u{a0}".as_bytes(),
        "\u{2060}".as_bytes(),
        "\u{3000}".as_bytes(),
        "\u{1f600}".as_bytes(),
        "\u{200b}".as_bytes(),
        "\u{2028}".as_bytes(),
        "\u{85}".as_bytes(),
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\x1b",
    ];
    let mut text = Vec::new();
    for _ in 0..random.below(30) {
        text.extend_from_slice(random.pick::<&[u8]>(&PIECES));
    }
    text
}

impl Cases for Wc {
    const TOOL: &'static str = "wc";
    const VERSION: &'static str = "wc (GNU coreutils) 9.1";

    fn lay_out(random: &mut Random, folder: &Path) {
        let path = |name: &[u8]| folder.join(word(name));
        for name in NAMES {
            fs::write(path(name), text(random)).expect("written");
        }
        let long = text(random).repeat(1 + random.below(4000));
        fs::write(folder.join("long"), long).expect("written");
        fs::write(folder.join("empty"), "").expect("written");
        fs::write(folder.join("page"), vec![b'x'; 4096 * random.below(3)]).expect("written");
        fs::create_dir(folder.join("folder")).expect("made");
        for (target, link) in
            [("nowhere", "dangling"), ("loop", "loop"), ("a", "link"), ("folder", "linked")]
        {
            symlink(target, folder.join(link)).expect("linked");
        }
        for list in ["list", "odd-list"] {
            let mut names = Vec::new();
            for _ in 0..random.below(5) {
                names.extend_from_slice(name(random).as_bytes());
                names.push(0);
            }
            if list == "odd-list" && random.chance(50) {
                names.extend_from_slice(&b"\0a\0-"[..random.below(5)]);
            }
            fs::write(folder.join(list), names).expect("written");
        }
    }

    fn case(random: &mut Random, _: &Path) -> Case {
        let mut words: Vec<OsString> = Vec::new();
        for _ in 0..random.below(4) {
            words.push(word(option(random)));
        }
        if random.chance(15) {
            let list = random.pick(&LISTS);
            words.push(word([b"--files0-from=", list].concat()));
        }
        if !words.iter().any(|word| word.as_bytes().starts_with(b"--files0-from="))
            || random.chance(10)
        {
            for _ in 0..random.below(4) {
                let at = random.below(words.len() + 1);
                words.insert(at, name(random));
            }
        }
        let mut variables = Vec::new();
        if random.chance(70) {
            let locale =
                random.pick(&["C", "C.UTF-8", "C.utf8", "POSIX", "none.UTF-8", "C.UTF-8", ""]);
            let name = random.pick(&["LC_ALL", "LC_CTYPE", "LANG"]);
            variables.push((name, locale.into()));
        }
        if random.chance(15) {
            variables.push(("POSIXLY_CORRECT", ["", "1"][random.below(2)].into()));
        }
        let input =
            ["a", "long", "list", "empty", "page", "folder", "/dev/null"][random.below(7)].into();
        Case { words, variables, input }
    }
}

fn name(random: &mut Random) -> OsString {
    word(match random.below(10) {
        0..6 => random.pick(&NAMES),
        6..9 => random.pick(&OTHERS),
        _ => b"-",
    })
}

fn option(random: &mut Random) -> Vec<u8> {
    const LONG: [&str; 18] = [
        "--bytes",
        "--chars",
        "--lines",
        "--words",
        "--max-line-length",
        "--byt",
        "--c",
        "--l",
        "--w",
        "--m",
        "--f",
        "--files0-from",
        "--lines=3",
        "--none",
        "--",
        "--li",
        "--b=",
        "--\u{e9}",
    ];
    if random.chance(25) {
        return random.pick(&LONG).as_bytes().to_vec();
    }
    let letters = if random.chance(4) { &b"clmLwxW0\xff-"[..] } else { b"clmLw" };
    let mut option = vec![b'-'];
    option.extend((0..1 + random.below(3)).map(|_| random.pick(letters)));
    option
}
