//! `seekless find` beside GNU find in the C locale and in one of UTF-8: output, messages and exit code.

use super::{seekless, workplace};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output};

fn found(mut command: Command, folder: &Path, words: &[&str], locale: &str) -> Output {
    command.current_dir(folder).args(words).env_clear().env("LC_ALL", locale).output().expect("it starts")
}

fn is_gnu() -> bool {
    let version = Command::new("find").arg("--version").output();
    let gnu = version.is_ok_and(|output| output.stdout.starts_with(b"find (GNU findutils)"));
    if !gnu {
        eprintln!("skipped: GNU find is not there to compare with");
    }
    gnu
}

#[test]
fn answers_are_gnu_finds_in_both_locales() {
    if !is_gnu() {
        return;
    }
    let place = workplace();
    let folder = place.path();
    for name in ["b\u{e4}r", "\u{c4}H", "a\nb", "plain", "two words", "x\u{200b}y", "\u{1f600}"] {
        std::fs::write(folder.join(name), name).expect("written");
    }
    std::fs::write(folder.join(OsStr::from_bytes(b"bad-\xff\xfe")), "").expect("written");
    for locale in ["C", "C.UTF-8"] {
        for words in [
            &[".", "-regex", r"./b.r"][..],
            &[".", "-regex", r"./b..r"],
            &[".", "-iregex", r"./\xc3\xa4h|./\u{e4}h"],
            &[".", "-iregex", "./\u{e4}h"],
            &[".", "-regextype", "posix-extended", "-regex", r"./[[:alpha:]]+"],
            &[".", "-regextype", "egrep", "-regex", r"./\w+( \w+)?"],
            &[".", "-regextype", "emacs", "-regex", r"./a.b"],
            &[".", "-regex", r"./bad-.*"],
            &[".", "-regex", r"./bad-.."],
            &[".", "-regex", "./b\u{e4}\\("],
            &[".", "-regextype", "\u{e4}"],
            &[".", "-used", "\u{e4}"],
            &[".", "-name", "?\u{200b}y", "-o", "-name", "????"],
            &["b\u{e4}r", "bad", "n\u{f6}", "-ls"],
            &[".", "-fls", "/nowhere/\u{e4}"],
            &["-files0-from", "b\u{e4}r"],
            &["-files0-from", "/nowhere/\u{e4}"],
            &["x", "-files0-from", "plain"],
        ] {
            let theirs = found(Command::new("find"), folder, words, locale);
            let mut command = seekless(folder);
            command.arg("find");
            let ours = found(command, folder, words, locale);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert_eq!(text(&ours.stdout), text(&theirs.stdout), "find {words:?} in {locale}");
            assert_eq!(text(&ours.stderr), text(&theirs.stderr), "find {words:?} in {locale}");
            assert_eq!(ours.status.code(), theirs.status.code(), "find {words:?} in {locale}");
        }
    }
}
