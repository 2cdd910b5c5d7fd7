//! Another tool is the judge: the trace lists the same opens and reads as `strace -f` of a second
//! run.

use crate::support::{Place, has, helper, skip, succeed};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::Command;

const CALLS: &str = "trace=open,openat,openat2,creat,read,pread64,readv,preadv,preadv2,sendfile,copy_file_range,splice";

/// Opened regular files, and the bytes read from each, according to strace.
fn straced(place: &Place, words: &[&str]) -> BTreeMap<String, u64> {
    let log = place.root.join("strace.log");
    let flags = ["-f", "-y", "-qq", "-s", "0", "-e", CALLS, "-e", "signal=none", "-o"];
    succeed(Command::new("strace").current_dir(&place.root).args(flags).arg(&log).args(words));
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    let mut regular = BTreeMap::new();
    let mut unfinished: HashMap<&str, &str> = HashMap::new();
    for line in text.lines() {
        let Some((pid, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(start) = rest.strip_suffix(" <unfinished ...>") {
            unfinished.insert(pid, start);
        } else if rest.starts_with("<... ") {
            let start = unfinished.remove(pid).unwrap_or_default();
            let end = rest.split_once("resumed>").map_or("", |(_, end)| end);
            tally(&format!("{start}{end}"), &mut regular);
        } else {
            tally(rest, &mut regular);
        }
    }
    regular
}

/// One finished call of the log.
fn tally(call: &str, regular: &mut BTreeMap<String, u64>) {
    let Some((name, _)) = call.split_once('(') else { return };
    let Some((arguments, result)) = call.rsplit_once(" = ") else { return };
    if name.starts_with("open") || name == "creat" {
        if let Some(path) = annotated(result).filter(|_| !arguments.contains("O_DIRECTORY"))
            && !Path::new(path).is_dir()
        {
            regular.entry(path.to_owned()).or_insert(0);
        }
        return;
    }
    let from = if name == "sendfile" {
        arguments.split_once(", ").map_or("", |(_, rest)| rest)
    } else {
        arguments
    };
    let bytes: u64 = result.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    if let Some(read) = annotated(from).and_then(|path| regular.get_mut(path)) {
        *read += bytes;
    }
}

/// The absolute name in the first `3</name>`, unless it is special.
fn annotated(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('<')?;
    let (path, _) = rest.split_once('>')?;
    let special = ["/proc/", "/sys/", "/dev/"].iter().any(|root| path.starts_with(root));
    (path.starts_with('/') && !special).then_some(path)
}

fn recorded(place: &Place, words: &[&str]) -> BTreeMap<String, u64> {
    succeed(&mut place.recorder(words));
    let recording = place.recording();
    assert_eq!(recording.trace.metadata().lost, 0);
    recording.regular()
}

/// Warms up, records one run, and straces another. `before` prepares each run; `alike` maps names
/// that differ between runs to one.
fn assert_same(place: &Place, words: &[&str], before: impl Fn(), alike: impl Fn(&str) -> String) {
    if !has("strace", "-V") {
        skip!("no strace to compare with");
    }
    before();
    succeed(Command::new(words[0]).current_dir(&place.root).args(&words[1..]));
    before();
    let ours = recorded(place, words);
    before();
    let theirs = straced(place, words);
    let normal = |found: BTreeMap<String, u64>| {
        let mut sums = BTreeMap::new();
        found.into_iter().for_each(|(name, bytes)| *sums.entry(alike(&name)).or_insert(0) += bytes);
        sums
    };
    let (ours, theirs) = (normal(ours), normal(theirs));
    let different: Vec<_> =
        theirs.iter().filter(|(name, bytes)| ours.get(*name) != Some(bytes)).collect();
    let extra: Vec<_> = ours.keys().filter(|name| !theirs.contains_key(*name)).collect();
    assert!(
        different.is_empty() && extra.is_empty(),
        "only strace: {different:?}; only ours: {extra:?}"
    );
    assert!(!ours.is_empty());
}

#[test]
fn a_python_start_up_is_the_same() {
    if !has("python3", "--version") {
        skip!("no python3");
    }
    let words = ["python3", "-c", "import json, email, http.client, sqlite3"];
    assert_same(&Place::new(), &words, || {}, str::to_owned);
}

#[test]
fn a_parallel_make_is_the_same() {
    if !has("make", "--version") || !has("cc", "--version") {
        skip!("no make or no C compiler");
    }
    let place = Place::new();
    project(&place);
    let clean = || drop(succeed(Command::new("make").current_dir(&place.root).arg("clean")));
    assert_same(&place, &["make", "-j2"], clean, without_temporary_name);
}

#[test]
fn twenty_thousand_reads_of_a_static_program_are_the_same() {
    let Some(helper) = helper("static") else { skip!("no C compiler or no static libc") };
    let place = Place::new();
    let words = [helper.to_str().unwrap(), "preads", "file", "20000", "10000"];
    assert_same(&place, &words, || {}, str::to_owned);
    let reads = place
        .recording()
        .accesses
        .iter()
        .filter(|access| access.op == seekless_trace::Op::Read)
        .count();
    assert_eq!(reads, 20_000);
}

/// Four C files, a header each, and their program.
fn project(place: &Place) {
    let mut makefile =
        "program: a.o b.o c.o d.o\n\tcc -o $@ $^\n%.o: %.c\n\tcc -O1 -c $<\n".to_owned();
    makefile += "clean:\n\trm -f *.o program\n";
    for name in ["a", "b", "c", "d"] {
        let body = if name == "a" { "int main(void) { return 0; }" } else { "" };
        let source =
            format!("#include \"{name}.h\"\n#include <stdio.h>\nint of_{name} = OF;\n{body}\n");
        std::fs::write(place.root.join(format!("{name}.c")), source).unwrap();
        std::fs::write(place.root.join(format!("{name}.h")), "#define OF 3\n").unwrap();
    }
    std::fs::write(place.root.join("Makefile"), makefile).unwrap();
}

/// `/tmp/ccXYZabc.s` → `/tmp/cc*.s`.
fn without_temporary_name(name: &str) -> String {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let temporary = std::env::temp_dir();
    match file.strip_prefix("cc").and_then(|rest| rest.get(6..)) {
        Some(rest) if Path::new(folder) == temporary => format!("{folder}/cc*{rest}"),
        _ => name.to_owned(),
    }
}
