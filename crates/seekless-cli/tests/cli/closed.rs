//! Standard streams that are closed: nothing is lost without an error, nothing goes into a file
//! that took the number of a stream, and programs get them closed, too.

use super::pipes::shell;
use super::{printed, seekless, workplace};
use std::fs;

const TRACE: &str = "path,op,offset,bytes\na,read,0,5000\nb,read,0,5000\n";

/// A folder with two files, a folder and a trace.
fn prepared() -> tempfile::TempDir {
    let place = workplace();
    fs::create_dir(place.path().join("d")).expect("made");
    for name in ["a", "b", "d/c"] {
        fs::write(place.path().join(name), "a line\n".repeat(1_000)).expect("written");
    }
    fs::write(place.path().join("trace.csv"), TRACE).expect("written");
    printed(place.path(), "trace import trace.csv -o run.parquet");
    place
}

#[test]
fn gnus_tools_and_ours_do_the_same_with_closed_streams() {
    let place = prepared();
    let program = seekless(place.path()).get_program().to_owned().into_string().expect("text");
    for line in [
        "wc a >&-",
        "wc missing a >&-",
        "wc -l missing >&-",
        "wc --version >&-",
        "wc <&-",
        "wc -c <&-",
        "wc - a - <&-",
        "wc --files0-from=- <&-",
        "wc missing a 2>&-",
        "grep line a >&-",
        "grep -c line a >&-",
        "grep -l line a >&-",
        "grep -q line a >&-",
        "grep nothing a >&-",
        "grep line d >&-",
        "grep --help >&-",
        "grep line <&-",
        "grep -c line - a <&-",
        "grep -f - a <&-",
        "grep line missing 2>&-",
        "grep -c line missing a 2>&-",
        "find d >&-",
        "find d -name nothing >&-",
        "find d -ls >&-",
        "find d -fprint found -print >&-; cat found; rm found",
        "find missing d -fprint found 2>&-; cat found; rm found",
        "find --version >&-",
        "find d -exec echo {} ';' >&- 2>&-",
        "find d -ok echo {} ';' <&-",
        "find -files0-from - <&-",
        "find d -maxdepth 0 -exec test -e /proc/self/fd/0 ';' -print <&-",
        "find d -maxdepth 0 -exec test -e /proc/self/fd/2 ';' -print 2>&-",
        "find d -fprint found >&- 2>&- <&-; cat found; rm found",
    ] {
        let [theirs, ours] = ["/usr/bin/".to_owned(), format!("'{program}' ")].map(|tool| {
            let line = format!("export LC_ALL=C; {tool}{line}; echo $?");
            let told = shell(place.path(), &line);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("/usr/bin/", "");
            (text(&told.stderr), text(&told.stdout))
        });
        assert_eq!(ours, theirs, "{line}");
    }
}

#[test]
fn a_verb_that_cannot_print_fails() {
    let place = prepared();
    for words in [
        "--help",
        "--version",
        "sim --help",
        "completions bash",
        "devices",
        "doctor",
        "order --trace run.parquet -o -",
        "order --trace run.parquet -o order.txt",
        "pack d -o -",
        "pack d -o d.zip",
        "profiles",
        "sim run.parquet --policy lru --capacity 10pages",
        "sim run.parquet --policy lru --capacity 10pages --json",
        "sleds a",
        "sleds --json a",
        "synth run.parquet made",
        "trace files run.parquet",
        "trace info run.parquet",
        "trace info --json run.parquet",
        "trace merge run.parquet run.parquet -o merged.parquet",
        "warm -n run.parquet",
    ] {
        for (to, why) in [("&-", "Bad file descriptor"), ("/dev/full", "No space left on device")] {
            let line = format!(
                "\"$seekless\" {words} >{to}; echo $?; rm -rf order.txt d.zip made merged.parquet"
            );
            let told = shell(place.path(), &line);
            let said = String::from_utf8_lossy(&told.stderr);
            assert!(said.contains(why), "{words} >{to}: {said}");
            assert_eq!(String::from_utf8_lossy(&told.stdout), "2\n", "{words} >{to}: {said}");
        }
    }
}

#[test]
fn a_verb_that_prints_nothing_needs_no_output() {
    let place = prepared();
    fs::create_dir(place.path().join("pages")).expect("made");
    for words in ["__man pages", "run -- true"] {
        let line = format!("\"$seekless\" {words} >&-; echo $?");
        let told = shell(place.path(), &line);
        assert_eq!(String::from_utf8_lossy(&told.stdout), "0\n", "{words}");
        assert_eq!(String::from_utf8_lossy(&told.stderr), "", "{words}");
    }
}

/// Whatever starts a program, the program gets the streams that were open, and only those.
#[test]
fn programs_get_closed_streams_closed() {
    let place = prepared();
    let look = "for fd in 0 1 2; do test -e /proc/$$/fd/$fd && printf $fd >>open; done";
    fs::write(place.path().join("look.sh"), look).expect("written");
    for (closed, open) in [("<&-", "12"), (">&-", "02"), ("2>&-", "01"), ("<&- >&- 2>&-", "")] {
        for starter in ["run --", "record -o recorded.parquet --", "find a -exec"] {
            let end = if starter.starts_with("find") { "';'" } else { "" };
            let line = format!(
                "touch open; \"$seekless\" {starter} sh look.sh {end} {closed}; cat open; rm -f open recorded.parquet"
            );
            let told = shell(place.path(), &line);
            let said = String::from_utf8_lossy(&told.stderr);
            if starter.starts_with("record") && said.contains("may not trace") {
                eprintln!("skipped: recording is not possible here");
                continue;
            }
            assert_eq!(String::from_utf8_lossy(&told.stdout), open, "{starter} {closed}: {said}");
        }
    }
}
