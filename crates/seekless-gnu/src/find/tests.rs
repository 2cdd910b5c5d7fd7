//! Compares our answers with GNU find's, over a tree that holds each kind of file.

mod ahead;
mod costs;
mod unopened;

use super::{Ended, find};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

/// A tree that tests only read.
static TREE: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("room for a few files");
    make(folder.path()).expect("a tree");
    folder
});

fn make(root: &Path) -> std::io::Result<()> {
    for name in ["a/b/c", "a/empty", "d e/f", ".hidden", "x\ny"] {
        std::fs::create_dir_all(root.join(name))?;
    }
    for (name, bytes, mode, day) in [
        ("a/one.txt", 1, 0o644, 0),
        ("a/b/big.bin", 1 << 20, 0o600, 3),
        ("a/b/c/ONE.TXT", 513, 0o755, 40),
        ("d e/f/spaced name", 512, 0o4711, 400),
        (".hidden/dot.txt", 0, 0o000, 1),
        ("x\ny/back\\slash", 1025, 0o666, 2),
        ("umlaut-\u{e4}", 7, 0o1777, 1),
    ] {
        let path = root.join(name);
        std::fs::write(&path, vec![b'x'; bytes])?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))?;
        let then =
            std::time::SystemTime::now() - std::time::Duration::from_secs(day * 86_400 + 1_000);
        let file = std::fs::File::open(&path)
            .or_else(|_| std::fs::OpenOptions::new().write(true).open(&path));
        if let Ok(file) = file {
            file.set_times(std::fs::FileTimes::new().set_accessed(then).set_modified(then))?;
        }
    }
    for hours in [2, 30, 50] {
        let read = std::time::SystemTime::now() + std::time::Duration::from_secs(hours * 3600);
        let file = std::fs::File::create(root.join(format!("read{hours}")))?;
        file.set_times(std::fs::FileTimes::new().set_accessed(read))?;
    }
    std::fs::write(root.join(std::ffi::OsStr::from_bytes(b"bad-\xff")), "no UTF-8")?;
    symlink("one.txt", root.join("a/link"))?;
    symlink("nowhere", root.join("a/dangling"))?;
    symlink("../..", root.join("a/b/up"))?;
    std::fs::hard_link(root.join("a/one.txt"), root.join("d e/hard"))?;
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), rustix::fs::Mode::RUSR)?;
    let _ = std::os::unix::net::UnixListener::bind(root.join("socket"))?;
    Ok(())
}

/// The result of our find: output, messages, and whether it succeeded.
fn ours(arguments: &[OsString]) -> (Vec<u8>, String, bool) {
    let (mut out, mut messages) = (Vec::new(), Vec::new());
    let ended = find(arguments, &mut out, &mut messages, false).expect("memory takes all");
    (out, String::from_utf8_lossy(&messages).into_owned(), ended == Ended::Well)
}

/// The result of GNU find, in the C locale, which is the tests' own.
fn gnus(arguments: &[OsString]) -> Option<(Vec<u8>, String, bool)> {
    let output = Command::new("find").args(arguments).output().ok()?;
    Some((
        output.stdout,
        String::from_utf8_lossy(&output.stderr).into_owned(),
        output.status.success(),
    ))
}

fn is_gnu() -> bool {
    let version = Command::new("find").arg("--version").output();
    let gnu = version.is_ok_and(|output| output.stdout.starts_with(b"find (GNU findutils)"));
    if !gnu {
        eprintln!("skipped: GNU find is not there to compare with");
    }
    gnu
}

fn words(text: &str) -> Vec<OsString> {
    text.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect()
}

/// The arguments, with the tree as the only path.
fn over_tree(leading: &str, expression: &[OsString]) -> Vec<OsString> {
    let mut arguments = words(leading);
    arguments.push(TREE.path().into());
    arguments.extend_from_slice(expression);
    arguments
}

fn compare(arguments: &[OsString]) {
    let Some(expected) = gnus(arguments) else { return };
    let (out, messages, well) = ours(arguments);
    let lines = |out: &[u8]| {
        out.split(|byte| b"\n\0".contains(byte)).map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    for (line, expected) in lines(&out).iter().zip(lines(&expected.0)) {
        assert_eq!(
            String::from_utf8_lossy(line),
            String::from_utf8_lossy(&expected),
            "{arguments:?}"
        );
    }
    assert!(out == expected.0, "{arguments:?}");
    assert_eq!(unquoted(&messages), unquoted(&expected.1), "{arguments:?}");
    assert_eq!(well, expected.2, "{arguments:?}");
}

/// Removes quotes, which differ between locales.
fn unquoted(text: &str) -> String {
    text.replace(['‘', '’', '`', '\''], "")
}

const PARTS: &[&str] = &[
    "-name *.txt",
    "-iname ONE*",
    "-name [!.]*",
    "-path */b/*",
    "-ipath *A*",
    "-lname one*",
    "-regex .*/[ab].*",
    "-iregex .*ONE.*",
    "-regex .*\\(txt\\|bin\\)",
    "-regextype posix-extended -regex .*/(b|c)(/.*)?",
    "-regextype awk -regex .*[.]txt+",
    "-regextype posix-basic -regex .*\\(n\\)\\1*.*",
    "-regextype emacs -regex .*x.y",
    "-regex .*x.y",
    "-type f -used 0",
    "-type f -used +1",
    "-type f -used -1",
    "-type f -used -40",
    "-type f -used 2",
    "-type f -used 1.5",
    "-type f -used +0",
    "-type f",
    "-type d,l",
    "-type p",
    "-type s",
    "-xtype f",
    "-xtype l",
    "-size 1",
    "-size +1",
    "-size -2k",
    "-size 513c",
    "-size +0M",
    "-size 1M",
    "-empty",
    "-mtime 0",
    "-mtime +1",
    "-mtime -2",
    "-mtime 40",
    "-mmin -30",
    "-mmin +60",
    "-daystart -mtime 1",
    "-newermt 2020-01-05",
    "-newerct now",
    "-newermt yesterday",
    "-newerat tomorrow",
    "-newermt @1600000000.25",
    "-newermt 2026-02-03T04:05:06.7",
    "-perm 644",
    "-perm -u+x",
    "-perm /222",
    "-perm -4000",
    "-perm u=rw,go=r",
    "-perm /a+t",
    "-links +1",
    "-links 2",
    "-uid 0",
    "-user root",
    "-nouser",
    "-nogroup",
    "-readable",
    "-executable",
    "-true",
    "-false",
    "-prune",
    "-print0",
    "-print",
    "-maxdepth 2",
    "-mindepth 1",
    "-depth",
    "-xdev",
    "-printf %p|%f|%h|%P|%H|%d|%s|%m|%M|%y|%Y|%l|%n|%i|%b|%k|%u|%g|%U|%G|%D|%F\\n",
    "-printf %T+|%T@|%t|%TY-%Tm-%Td|%TH:%TM:%TS|%Ta|%Tj|%TT|%TD|%TF\\n",
    "-printf %-12f|%12f|%.3f|%05m|%#m|%10s|%%|\\101\\t\\0\\n",
    "-printf %S\\n",
    "-ls",
    "-exec test -d {} ;",
    "-execdir test -f {} ;",
    "-exec false {} +",
    "-quit",
    "-name *.txt , -type f",
    "-print0 , -type d -print",
    "-type d -print0 , -name *b* -o -size +1",
];

#[test]
fn each_part_answers_as_gnu_find() {
    if !is_gnu() {
        return;
    }
    for part in PARTS {
        for leading in ["", "-L", "-H"] {
            compare(&over_tree(leading, &words(part)));
        }
    }
}

#[test]
fn arguments_that_make_no_sense_are_refused_in_the_same_words() {
    if !is_gnu() {
        return;
    }
    for text in [
        "-foo",
        "-name",
        "( -name a",
        "-name a )",
        "( )",
        "!",
        "-o -name a",
        "-name a -o",
        "-size 3x",
        "-mtime x",
        "-type q",
        "-type fd",
        "-name x c",
        "-exec ls {} +x",
        "-exec ;",
        "-user nobody-of-that-name",
        "-newer /nowhere",
        "-maxdepth -1",
        "-links x",
        "-printf %q\\x\\n",
        "-regex (\\(",
        "-regex [",
        "-regex",
        "-regextype posix-extended -iregex a{3,1}",
        "-regextype perl -name a",
        "-used x",
        "-newermt",
        "-newerma",
        "-newermt foo",
        "-newermt 2020-13-01",
        "-newermt 2020-02-30",
        "-newermt @x",
        "-newerat 2020-01-01T24:00",
        "-used",
        "-context",
        "-context x",
        "-newerXY /",
        "-newerBt now",
        "-newermB /",
        "-type D",
        "-xtype f,D",
        "-fls",
        "-fls /nowhere/file",
        "-fprint /nowhere/file",
        "-files0-from",
        "-files0-from /dev/null",
    ] {
        compare(&over_tree("", &words(text)));
    }
    compare(&words("/nowhere"));
}

#[test]
fn arguments_of_every_shape_are_walked_as_gnu_find_walks_them() {
    if !is_gnu() {
        return;
    }
    let tree = TREE.path().as_os_str().to_str().expect("a temporary name").to_owned();
    for text in [
        format!("{tree}/ -printf [%f][%h][%P][%p]\\n"),
        format!("{tree}// -name *"),
        format!("{tree}/a/link {tree}/a/b"),
        format!("-H {tree}/a/link {tree}/a/b/up -maxdepth 1"),
        format!("{tree}/a/dangling -xtype l"),
        "/ -maxdepth 0 -printf [%f][%h][%P][%p]\\n".to_owned(),
    ] {
        compare(&words(&text));
    }
}

#[test]
fn paths_come_from_a_file_as_in_gnu_find() {
    if !is_gnu() {
        return;
    }
    let folder = tempfile::tempdir().expect("room");
    let list = folder.path().join("list");
    let tree = TREE.path().as_os_str().as_bytes();
    let named = |names: &[&[u8]]| {
        names.iter().map(|name| [tree, name].concat()).collect::<Vec<_>>().join(&0)
    };
    for text in [
        Vec::new(),
        b"\0".to_vec(),
        named(&[b"/a", b"/d e/f", b""]),
        named(&[b"/a/b", b"/nowhere"]),
        [named(&[b"/a/one.txt"]), b"\0\0".to_vec(), named(&[b"/x\ny"])].concat(),
    ] {
        std::fs::write(&list, text).expect("written");
        for expression in ["", "-type f -print0", "-maxdepth 0 -printf [%H][%P]\\n", "-quit"] {
            let mut arguments: Vec<OsString> = vec!["-files0-from".into(), list.clone().into()];
            arguments.extend(words(expression));
            compare(&arguments);
        }
    }
    for file in ["/nowhere", "/"] {
        compare(&words(&format!("-files0-from {file}")));
    }
    compare(&words("-files0-from - -ok true ;"));
}

#[test]
fn files_that_actions_write_hold_what_gnu_find_writes() {
    if !is_gnu() {
        return;
    }
    let folder = tempfile::tempdir().expect("room");
    let written = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
    let arguments = |names: [&str; 4]| {
        let mut all: Vec<OsString> = vec![TREE.path().into()];
        for (action, name) in ["-fls", "-fprint", "-fprint0", "-fprintf"].iter().zip(names) {
            // Longer than the new contents, so that the file must be emptied.
            std::fs::write(folder.path().join(name), vec![b'-'; 100_000]).expect("written");
            all.extend([action.into(), folder.path().join(name).into()]);
        }
        all.push("%f %s\\n".into());
        all
    };
    let (our_names, gnu_names) = (["a", "b", "c", "d"], ["A", "B", "C", "D"]);
    let (_, messages, well) = ours(&arguments(our_names));
    assert!(well, "{messages}");
    gnus(&arguments(gnu_names)).expect("GNU find is there");
    for (ours, gnus) in our_names.iter().zip(gnu_names) {
        assert_eq!(
            String::from_utf8_lossy(&written(ours)),
            String::from_utf8_lossy(&written(gnus))
        );
    }
}

#[test]
fn columns_grow_as_gnu_finds() {
    if !is_gnu() {
        return;
    }
    let folder = tempfile::tempdir().expect("room");
    let path = |name: &str| folder.path().join(name);
    let nobody: Option<u32> = Some(123_456_789);
    for (name, bytes, owner) in
        [("a", 0, None), ("b", 10 << 30, None), ("c", 1, Some(12_345)), ("d", 2, nobody)]
    {
        std::fs::File::create(path(name)).and_then(|file| file.set_len(bytes)).expect("a file");
        // Only root may change owners. For other users the owner stays.
        let _ = std::os::unix::fs::chown(path(name), owner, owner.map(|owner| owner / 3));
    }
    let _ = rustix::fs::mknodat(
        rustix::fs::CWD,
        path("e"),
        rustix::fs::FileType::CharacterDevice,
        rustix::fs::Mode::RUSR,
        rustix::fs::makedev(1234, 56789),
    );
    let order = ["a", "c", "a", "d", "c", "a", "b", "a", "e", "a"];
    let mut arguments: Vec<OsString> = order.iter().map(|name| path(name).into()).collect();
    arguments.extend([OsString::from("/dev/null"), "-maxdepth".into(), "0".into(), "-ls".into()]);
    compare(&arguments);
}

#[test]
fn dates_are_gnu_finds() {
    if !is_gnu() {
        return;
    }
    for date in [
        "3 days ago",
        "41 day ago",
        "1 week ago",
        "-1 month",
        "2 months ago",
        "1 year ago",
        "90 minutes ago",
        "-30 hours",
        " 2025-1-2  3:04",
        "2025-11-12 03:04:05Z",
        "61 sec ago",
    ] {
        for test in ["-newermt", "-newerct"] {
            compare(&over_tree("", &["(".into(), test.into(), date.into(), ")".into()]));
        }
    }
}

/// A fixed seed, unless the environment sets one.
fn fixed_seed() -> RngSeed {
    match ProptestConfig::default().rng_seed {
        RngSeed::Random => RngSeed::Fixed(2000),
        fixed => fixed,
    }
}

proptest! {
    // The cases are the same each time. GNU's rare oddities are for a long run with
    // PROPTEST_RNG_SEED, not for every test run.
    #![proptest_config(ProptestConfig { cases: 64, rng_seed: fixed_seed(), ..ProptestConfig::default() })]

    #[test]
    fn joined_parts_answer_as_gnu_find(
        parts in prop::collection::vec((0..PARTS.len(), 0..3_u8, any::<bool>()), 1..6),
        leading in prop::sample::select(vec!["", "-L", "-P"]),
    ) {
        // GNU find drops options from the expression, so its operators get other operands.
        let option = |part: &str| ["-maxdepth", "-mindepth", "-depth", "-xdev", "-daystart"].iter().any(|word| part.starts_with(word));
        if is_gnu() && !parts.iter().any(|(part, ..)| option(PARTS[*part])) {
            let mut expression = Vec::new();
            for (number, (part, join, not)) in parts.iter().enumerate() {
                if number > 0 {
                    expression.extend(words(["", "-o", "-a"][usize::from(*join)]));
                }
                expression.extend(words(if *not { "! (" } else { "(" }));
                expression.extend(words(PARTS[*part]));
                expression.push(")".into());
            }
            compare(&over_tree(leading, &expression));
        }
    }
}

#[test]
fn deep_nesting_and_deep_trees_have_no_stack_to_exhaust() {
    let (_, messages, well) = ours(&over_tree("", &vec!["(".into(); 30_000]));
    assert!(!well && messages.contains("nested"), "{messages}");
    let folder = tempfile::tempdir().expect("room");
    let mut inner =
        rustix::fs::open(folder.path(), rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty())
            .expect("open");
    for _ in 0..600 {
        rustix::fs::mkdirat(&inner, "d", rustix::fs::Mode::RWXU).expect("a folder");
        inner = rustix::fs::openat(
            &inner,
            "d",
            rustix::fs::OFlags::DIRECTORY,
            rustix::fs::Mode::empty(),
        )
        .expect("open");
    }
    let (out, messages, well) = ours(&[folder.path().into()]);
    assert!(well, "{messages}");
    assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 601);
}

#[test]
fn files_are_deleted_that_were_asked_for_and_no_others() {
    let folder = tempfile::tempdir().expect("room");
    make(folder.path()).expect("a tree");
    let lines = |arguments: &[&str]| {
        let mut all: Vec<OsString> = vec![folder.path().into()];
        all.extend(arguments.iter().map(OsString::from));
        let (out, messages, well) = ours(&all);
        assert!(well, "{messages}");
        out.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let mut expected = lines(&["-print0"]);
    expected.retain(|path| !path.ends_with(b".txt"));
    lines(&["-name", "*.txt", "-delete"]);
    assert_eq!(lines(&["-print0"]), expected);
    assert!(expected.len() > 15);
}
