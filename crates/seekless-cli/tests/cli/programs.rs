//! The command is three programs: `seekless`, which starts quickly, and `seekless-gnu` and
//! `seekless-verbs`, which it becomes.

use super::{copy_program, printed, run, seekless, workplace};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

/// A copy of `seekless` without `seekless-verbs`, in a folder of its own.
fn alone(folder: &Path) -> Command {
    for program in [env!("CARGO_BIN_EXE_seekless"), env!("CARGO_BIN_EXE_seekless-gnu")] {
        let program = Path::new(program);
        let copy = folder.join(program.file_name().expect("a program"));
        if !copy.exists() {
            copy_program(program, &copy);
        }
    }
    Command::new(folder.join("seekless"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn alone_it_counts_searches_and_finds_and_says_what_the_other_verbs_need() {
    let folder = workplace();
    fs::write(folder.path().join("a"), "one\n").expect("room");
    let output = alone(folder.path())
        .current_dir(folder.path())
        .args(["wc", "-l", "a"])
        .output()
        .expect("it starts");
    assert_eq!(output.stdout, b"1 a\n");
    let output = alone(folder.path()).args(["sim", "a"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("seekless-verbs: No such file"), "{}", said(&output));
    assert!(said(&output).contains("install it beside seekless"), "{}", said(&output));
}

#[test]
fn through_a_link_elsewhere_it_finds_the_other_verbs() {
    let folder = workplace();
    let link = folder.path().join("seekless");
    symlink(env!("CARGO_BIN_EXE_seekless"), &link).expect("a link");
    let output = Command::new(&link).arg("--version").output().expect("it starts");
    assert!(output.stdout.starts_with(b"seekless "), "{}", said(&output));
}

#[test]
fn it_is_position_independent_and_stripped() {
    let all = [
        env!("CARGO_BIN_EXE_seekless"),
        env!("CARGO_BIN_EXE_seekless-gnu"),
        env!("CARGO_BIN_EXE_seekless-verbs"),
    ];
    for program in all {
        let bytes = fs::read(program).expect("the program");
        let kind = u16::from_le_bytes([bytes[16], bytes[17]]);
        assert_eq!(kind, 3, "{program} is not ET_DYN");
        if !cfg!(debug_assertions) {
            let holds = |name: &[u8]| memchr::memmem::find(&bytes, name).is_some();
            assert!(
                !holds(b"\0.symtab\0") && !holds(b"\0.debug_info\0"),
                "{program} holds symbols"
            );
        }
    }
}

/// A recorded program inherits the state in which the command was started: SIGPIPE ignored or not,
/// standard streams open or closed.
#[test]
fn the_other_program_gets_what_the_first_was_started_with() {
    let folder = workplace();
    let script = "grep -i SigIgn /proc/self/status > ignored; test -e /proc/self/fd/0 && echo open || echo closed";
    fs::write(folder.path().join("look.sh"), script).expect("room");
    let record = format!("{} record -o run.parquet", env!("CARGO_BIN_EXE_seekless"));
    for (how, streams, pipe_ignored) in
        [("", "open", false), ("trap '' PIPE;", "open", true), ("exec <&-;", "closed", false)]
    {
        let shell = format!("{how} {record} -- sh look.sh");
        let output = Command::new("sh")
            .args(["-c", &shell])
            .current_dir(folder.path())
            .output()
            .expect("sh");
        if said(&output).contains("may not trace") {
            eprintln!("skipped: recording is not possible here");
            return;
        }
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("{streams}\n"),
            "{how}: {}",
            said(&output)
        );
        let ignored = fs::read_to_string(folder.path().join("ignored")).expect("written");
        let mask = u64::from_str_radix(ignored.split_whitespace().nth(1).expect("a mask"), 16)
            .expect("hexadecimal");
        assert_eq!(mask >> 12 & 1 == 1, pipe_ignored, "{how} {ignored}");
        fs::remove_file(folder.path().join("run.parquet")).expect("recorded");
    }
}

#[test]
fn completions_name_the_verbs() {
    let folder = workplace();
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(folder.path(), &format!("completions {shell}"));
        assert!(script.contains("compare") && script.contains("sleds"), "{shell}");
    }
    let output = seekless(folder.path()).args(["completions", "tcsh"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
}

/// Of each tool that is stood in for: some options, by what the help, the man page and the
/// completions call them.
const OPTIONS: [(&str, &[&str]); 3] = [
    ("wc", &["--max-line-length", "--files0-from", "--cached-only", "--help"]),
    (
        "grep",
        &["--after-context", "--perl-regexp", "--files-without-match", "--colour", "--hold", "-I"],
    ),
    (
        "find",
        &["-maxdepth", "-newerXY", "-daystart", "-exec", "-latency", "--cheapest-first", "-not"],
    ),
];

#[test]
fn an_option_that_is_declared_is_shown_everywhere() {
    let folder = workplace();
    printed(folder.path(), &format!("__man {}", folder.path().display()));
    let script = printed(folder.path(), "completions bash");
    let list = printed(folder.path(), "--help");
    for (tool, options) in OPTIONS {
        assert!(list.contains(&format!("\n  {tool} ")), "{list}");
        let help = printed(folder.path(), &format!("{tool} --help"));
        let page =
            fs::read_to_string(folder.path().join(format!("seekless-{tool}.1"))).expect("a page");
        // roff has its dashes escaped, in most places.
        let page = page.replace("\\-", "-");
        let words = script
            .split(&format!("seekless__subcmd__{tool})"))
            .nth(1)
            .or_else(|| script.split(&format!("seekless__{tool})")).nth(1));
        let words = words
            .and_then(|text| text.split("opts=\"").nth(1))
            .and_then(|text| text.split('"').next());
        let words: Vec<&str> =
            words.unwrap_or_else(|| panic!("{script}")).split_whitespace().collect();
        for option in options {
            assert!(help.contains(option), "{option} in\n{help}");
            assert!(page.contains(option), "{option} in\n{page}");
            assert!(words.contains(option), "{option} in {words:?}");
        }
    }
}

/// A word in the help of find that the parser does not know would be called so.
#[test]
fn find_knows_the_words_that_its_help_lists() {
    let folder = workplace();
    let help = printed(folder.path(), "find --help");
    let lines = help
        .lines()
        .skip_while(|line| !line.starts_with("Options before"))
        .take_while(|line| !line.starts_with("N is exactly"));
    let words: Vec<&str> = lines
        .filter(|line| line.starts_with("  -"))
        .flat_map(|line| line.split("  ").nth(1).unwrap_or_default().split(", "))
        .filter_map(|shown| shown.split([' ', '=']).next())
        .collect();
    assert!(words.len() > 80, "{words:?}");
    for word in words {
        let output = run(folder.path(), &format!("find {word}"));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !told.contains("unknown predicate") && !told.contains("paths must precede"),
            "{word}: {told}"
        );
    }
}
