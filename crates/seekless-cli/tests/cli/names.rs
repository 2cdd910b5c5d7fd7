//! Names that a terminal would obey, through every verb: as names of files, in traces, packs and
//! other archives, as programs and their arguments, and in the messages about what is missing.
//!
//! A new verb fails the first test until it has its lines here.

mod place;

use crate::workplace;
use place::{ODD, Place};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many lines run at once.
const THREADS: usize = 4;

/// What a line of words may print.
#[derive(Clone, Copy, PartialEq)]
enum Prints {
    /// Text, and messages.
    Words,
    /// JSON to standard output.
    Json,
    /// Bytes for other programs to standard output, which are exact; messages.
    Data,
}

use Prints::{Data, Json, Words};

/// Each verb, with lines of words behind it. Words in capitals stand for files with odd names,
/// which [`Place`] makes; GONE for one that is missing.
const LINES: [(&str, &[(Prints, &str)]); 43] = [
    ("tour", &[(Words, "--keep FULL"), (Words, "--device GONE"), (Words, "GONE")]),
    (
        "record",
        &[
            (Words, "-o OUT -- PROGRAM ARGUMENT FILE"),
            (Words, "-o OUT --block OTHER -- PROGRAM FILE"),
            (Words, "-o OUT -- GONE"),
            (Words, "-o TRACE -- PROGRAM"),
            (Words, "-o OUT --only GONE[ -- PROGRAM"),
            (Words, "-o GONE/x -- PROGRAM"),
        ],
    ),
    (
        "trace info",
        &[
            (Words, "TRACE"),
            (Json, "TRACE --json"),
            (Words, "SPOOL"),
            (Words, "GONE"),
            (Words, "FILE"),
        ],
    ),
    (
        "trace files",
        &[
            (Words, "TRACE"),
            (Words, "TRACE --depth 9"),
            (Json, "TRACE --json"),
            (Words, "GONE"),
            (Words, "TRACE --sort GONE"),
        ],
    ),
    (
        "trace import",
        &[
            (Words, "CSV -o OUT"),
            (Words, "CSV --lenient -o OUT"),
            (Words, "CSV -o TRACE"),
            (Words, "GONE -o OUT"),
            (Words, "FILE -o OUT --format csv"),
            (Words, "FILE -o OUT --format strace"),
        ],
    ),
    (
        "trace export",
        &[(Data, "TRACE"), (Words, "TRACE -o OUT"), (Words, "GONE"), (Words, "TRACE -o TRACE")],
    ),
    (
        "trace merge",
        &[
            (Words, "TRACE SPOOL -o OUT"),
            (Json, "TRACE SPOOL --json -o OUT"),
            (Words, "TRACE -o TRACE"),
            (Words, "GONE -o OUT"),
        ],
    ),
    (
        "trace cut",
        &[(Words, "TRACE -o OUT"), (Words, "TRACE --path GONE[ -o OUT"), (Words, "GONE -o OUT")],
    ),
    (
        "trace diff",
        &[
            (Words, "TRACE PLAIN"),
            (Words, "PLAIN TRACE --fail-on-new 0"),
            (Json, "PLAIN TRACE --json"),
            (Words, "TRACE GONE"),
        ],
    ),
    (
        "trace anonymise",
        &[(Words, "TRACE -o OUT"), (Words, "TRACE --key GONE -o OUT"), (Words, "GONE -o OUT")],
    ),
    ("trace blocks", &[(Words, "TRACE -o OUT"), (Words, "GONE -o OUT")]),
    (
        "trace recover",
        &[
            (Words, "SPOOL -o OUT"),
            (Json, "SPOOL --json -o OUT"),
            (Words, "GONE"),
            (Words, "FILE -o OUT"),
            (Words, "SPOOL -o TRACE"),
        ],
    ),
    (
        "sim",
        &[
            (Words, "TRACE"),
            (Words, "TRACE --policy GONE"),
            (Words, "TRACE --picture OUT"),
            (Words, "GONE"),
            (Words, "TRACE --device GONE"),
            (Words, "TRACE --device TABLE"),
            (Words, "TRACE --pack ZIP --device TABLE"),
            (Words, "TRACE --unit page --policy lru --capacity 1MB --post-cache GONE/x"),
        ],
    ),
    (
        "order",
        &[
            (Words, "--trace TRACE PLAIN"),
            (Words, "--trace TRACE PLAIN --leave-one-out"),
            (Words, "--trace TRACE --files CSV"),
            (Words, "--trace TRACE -o OUT"),
            (Words, "--trace TRACE --contents GONE"),
            (Words, "--trace GONE"),
            (Json, "--trace TRACE --json"),
        ],
    ),
    (
        "pack",
        &[
            (Words, "TREE -o OUT"),
            (Words, "TREE -o OUT --trace TRACE"),
            (Words, "TREE -o OUT --strict"),
            (Words, "TREE -o OUT --order CSV"),
            (Words, "TREE --check ZIP"),
            (Json, "TREE --check ZIP --json"),
            (Words, "TREE -o ZIP --update"),
            (Words, "TREE -o ZIP"),
            (Words, "--check FILE"),
            (Words, "--check DAMAGED"),
            (Words, "GONE -o OUT"),
        ],
    ),
    (
        "compare",
        &[
            (Words, "TREE ZIP --trace TRACE --device iops=9000,bandwidth=1GB/s --rounds 1"),
            (Words, "TREE ZIP --trace TRACE --device TABLE --rounds 1"),
            (Words, "TREE GONE --trace TRACE"),
            (Words, "TREE DAMAGED --trace TRACE --device TABLE --rounds 1"),
            (Words, "GONE ZIP --trace TRACE"),
            (Words, "GONE --pattern backward"),
            (Words, "TREE ZIP --trace TRACE --picture GONE"),
        ],
    ),
    (
        "synth",
        &[(Words, "CSV OUT"), (Words, "TRACE OUT"), (Words, "GONE OUT"), (Words, "CSV FILE")],
    ),
    (
        "run",
        &[
            (Words, "--record -- PROGRAM ARGUMENT FILE"),
            (Words, "--dry-run -- PROGRAM ARGUMENT"),
            (Json, "--dry-run --json -- PROGRAM ARGUMENT"),
            (Words, "--explain --no-record -- PROGRAM ARGUMENT"),
            (Words, "-- GONE"),
            (Words, "--profile GONE -- PROGRAM"),
            (Words, "--mount GONE=TREE -- PROGRAM"),
            (Words, "--mount GONE -- PROGRAM"),
        ],
    ),
    (
        "warm",
        &[
            (Words, "TRACE"),
            (Words, "LIST"),
            (Words, "FILE"),
            (Words, "GONE"),
            (Json, "TRACE -n --json"),
        ],
    ),
    ("cool", &[(Words, "TREE"), (Words, "FILE TRACE"), (Words, "GONE"), (Json, "TREE --json")]),
    (
        "advise",
        &[
            (Words, "--runs 1 -- PROGRAM ARGUMENT FILE"),
            (Words, "--runs 1 --html OUT -- PROGRAM ARGUMENT"),
            (Words, "--html FILE -- PROGRAM"),
            (Words, "-- GONE"),
            (Words, "TRACE"),
            (Words, "TRACE --cache 64KiB"),
            (Json, "TRACE --json"),
            (Words, "GONE"),
        ],
    ),
    (
        "layout",
        &[
            (Words, "TRACE -n"),
            (Words, "LIST -n"),
            (Words, "FILE -n"),
            (Words, "GONE"),
            (Words, "LIST --within GONE"),
            (Json, "TRACE -n --json"),
        ],
    ),
    (
        "export",
        &[
            (Data, "TRACE --format files --unchecked"),
            (Words, "TRACE --format cvmfs-bundle --unchecked -o OUT"),
            (Words, "TRACE --format soci --unchecked -o TRACE"),
            (Words, "TRACE --format tar --root TREE -o OUT"),
            (Words, "GONE --format files"),
            (Words, "TRACE --format GONE"),
        ],
    ),
    (
        "mount",
        &[
            (Words, "GONE TREE -- PROGRAM"),
            (Words, "DAMAGED FOLDER -- PROGRAM"),
            (Words, "ZIP GONE -- PROGRAM"),
            (Words, "ZIP FOLDER -- GONE"),
            (Words, "ZIP FILE -- PROGRAM"),
        ],
    ),
    ("profiles", &[(Words, ""), (Json, "--json"), (Words, "GONE")]),
    (
        "profiles show",
        &[(Words, "TRACE"), (Json, "TRACE --json"), (Words, "GONE"), (Words, "FILE")],
    ),
    ("profiles path", &[(Data, "TRACE"), (Words, "GONE")]),
    (
        "profiles merge",
        &[
            (Words, "TRACE PLAIN -o OUT"),
            (Json, "TRACE PLAIN --json -o OUT"),
            (Words, "GONE -o OUT"),
            (Words, "TRACE -o TRACE"),
        ],
    ),
    (
        "profiles prune",
        &[
            (Words, "--older-than 0s --dry-run"),
            (Json, "--older-than 0s --dry-run --json"),
            (Words, "--older-than GONE"),
            (Words, "--older-than 0s"),
        ],
    ),
    (
        "replay",
        &[
            (Words, "TRACE"),
            (Words, "TRACE --device TABLE"),
            (Words, "TRACE --on FILE"),
            (Words, "TRACE --on GONE"),
            (Words, "TRACE --write TREE"),
            (Words, "TRACE --destroy-data FILE"),
            (Words, "GONE"),
            (Json, "TRACE --json"),
        ],
    ),
    (
        "probe",
        &[(Words, "GONE"), (Words, "TREE"), (Words, "--table GONE"), (Words, "--device GONE")],
    ),
    (
        "sleds",
        &[
            (Words, "FILE"),
            (Words, "TREE"),
            (Json, "FILE TREE --json"),
            (Words, "GONE"),
            (Words, "FILE --config FILE"),
        ],
    ),
    ("devices", &[(Words, "TABLE"), (Words, "GONE"), (Words, "FILE")]),
    ("doctor", &[(Words, "TREE"), (Json, "TREE --json"), (Words, "GONE"), (Words, "FILE")]),
    (
        "fits histogram",
        &[
            (Words, "FILE OUT"),
            (Words, "GONE OUT"),
            (Words, "FITS OUT"),
            (Words, "FITS TRACE"),
            (Words, "FITS OUT --hdu GONE"),
        ],
    ),
    ("fits rebin", &[(Words, "FITS OUT 2"), (Words, "GONE OUT 2"), (Words, "FITS TRACE 2")]),
    ("completions", &[(Data, "bash"), (Words, "GONE")]),
    ("__learn", &[(Words, "GONE"), (Words, "GONE/x")]),
    ("__man", &[(Words, "GONE/x")]),
    ("__tour-reader", &[(Words, "TREE GONE"), (Words, "TREE LIST"), (Words, "GONE LIST")]),
    ("wc", &[]),
    ("grep", &[]),
    ("find", &[]),
];

/// The verbs of the command, as one types them.
fn verbs() -> BTreeSet<String> {
    fn below(command: &clap::Command, before: &str, verbs: &mut BTreeSet<String>) {
        for verb in command.get_subcommands() {
            let name = format!("{before} {}", verb.get_name()).trim().to_owned();
            let mut inner = verb.get_subcommands().peekable();
            if inner.peek().is_none() || !verb.is_arg_required_else_help_set() {
                verbs.insert(name.clone());
            }
            below(verb, &name, verbs);
        }
    }
    let mut all = BTreeSet::new();
    below(&seekless_cli::whole(), "", &mut all);
    all.retain(|name| name != "fits"); // needs a verb of its own
    all
}

#[test]
fn every_verb_has_its_lines() {
    let here: BTreeSet<String> = LINES.iter().map(|(verb, _)| (*verb).to_owned()).collect();
    assert_eq!(here, verbs());
}

#[test]
fn no_verb_lets_a_name_command_the_terminal() {
    let lines: Vec<(&str, Prints, &str)> = LINES
        .into_iter()
        .flat_map(|(verb, lines)| lines.iter().map(move |&(prints, words)| (verb, prints, words)))
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some(&(verb, prints, words)) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
            wrong.extend(faults_of(verb, prints, words));
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is wrong with a line of the command.
fn faults_of(verb: &str, prints: Prints, words: &str) -> Vec<String> {
    let place = Place::new(words); // some lines change it
    let output = place.run(verb, words);
    let shown = |fault| format!("seekless {verb} {words}: {fault}\n{}", quoted(&output));
    faults(&output, prints).map(shown).chain(place.unused_words(words)).collect()
}

/// What is wrong with the streams.
fn faults(output: &Output, prints: Prints) -> impl Iterator<Item = String> {
    let mut found = Vec::new();
    if output.status.code().is_none() {
        found.push(format!("ended by {}", output.status));
    }
    if prints != Data {
        found.extend(raw(&output.stdout).map(|what| format!("standard output has {what}")));
    }
    found.extend(raw(&output.stderr).map(|what| format!("standard error has {what}")));
    if prints == Json && serde_json::from_slice::<serde_json::Value>(&output.stdout).is_err() {
        found.push("standard output is no JSON".to_owned());
    }
    found.into_iter()
}

/// What a terminal would obey, or take for a row of ours.
fn raw(stream: &[u8]) -> impl Iterator<Item = String> {
    let text = String::from_utf8_lossy(stream).into_owned();
    let odd = |char: char| {
        (char.is_control() && char != '\n') || ('\u{202a}'..='\u{202e}').contains(&char)
    };
    let mut found: Vec<String> =
        text.chars().filter(|char| odd(*char)).map(|char| format!("{char:?}")).collect();
    found.dedup();
    found.extend(
        text.lines()
            .filter(|line| line.trim_start().starts_with("FORGED"))
            .map(|_| "a forged row".to_owned()),
    );
    if std::str::from_utf8(stream).is_err() {
        found.push("bytes that are not UTF-8".to_owned());
    }
    found.into_iter()
}

fn quoted(output: &Output) -> String {
    let quoted = |stream: &[u8]| String::from_utf8_lossy(stream).escape_debug().to_string();
    format!("  {}: out {}\n  err {}", output.status, quoted(&output.stdout), quoted(&output.stderr))
}

/// wc, grep and find print names as GNU's do, also in messages, if nobody looks.
#[test]
fn the_stand_ins_show_odd_names_as_gnu_does() {
    let folder = workplace();
    let name = OsStr::from_bytes(ODD);
    std::fs::create_dir(folder.path().join("tree")).unwrap();
    std::fs::write(folder.path().join("tree").join(name), "one\ntwo\n").unwrap();
    std::fs::write(folder.path().join(name), "one\ntwo\n").unwrap();
    let gone = OsStr::from_bytes(b"gone\x1b\r\n\t\xe2\x80\xae\xff");
    let lines: [(&str, Vec<&OsStr>); 6] = [
        ("wc", vec![name, gone]),
        ("grep", vec![OsStr::new("one"), name, gone]),
        ("grep", vec![OsStr::new("-r"), OsStr::new("two"), OsStr::new("tree")]),
        ("find", vec![OsStr::new("tree")]),
        ("find", vec![OsStr::new("tree"), OsStr::new("-ls"), OsStr::new("-false")]),
        ("find", vec![gone]),
    ];
    for (tool, words) in lines {
        let of = |mut command: Command| {
            let output = command.args(&words).current_dir(folder.path()).env("LC_ALL", "C.UTF-8");
            output.output().map(|output| (output.status.code(), output.stdout, output.stderr))
        };
        let mut ours = Command::new(env!("CARGO_BIN_EXE_seekless"));
        ours.arg(tool);
        match of(Command::new(tool)) {
            Ok(gnu) => assert_eq!(of(ours).unwrap(), gnu, "{tool} {words:?}"),
            Err(error) => println!("skipped: there is no {tool} to compare with: {error}"),
        }
    }
}
