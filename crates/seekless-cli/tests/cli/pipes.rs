//! A reader of standard output that goes away: the stand-ins for GNU's tools end as GNU's do.

use super::{seekless, workplace};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs a line of `sh` in `folder`, where `seekless` is the command.
pub(super) fn shell(folder: &Path, line: &str) -> Output {
    let program = seekless(folder).get_program().to_owned();
    let mut command = Command::new("sh");
    // The shell starts with SIGPIPE at its default, whatever the tests were started with: Rust
    // resets it for every child.
    command.current_dir(folder).arg("-c").arg(line).env("seekless", program).stdin(Stdio::null());
    command.output().expect("sh starts")
}

/// A folder for which every tool prints more than a pipe holds.
fn full_folder() -> tempfile::TempDir {
    let place = workplace();
    for number in 0..3_000 {
        let name = format!("{number:0>60}");
        std::fs::write(place.path().join(&name), name).expect("written");
    }
    place
}

/// Command lines that print hundreds of kilobytes each.
const LINES: [&str; 3] =
    ["\"$seekless\" wc *", "\"$seekless\" grep -H 0 *", "\"$seekless\" find ."];

#[test]
fn a_reader_that_goes_away_ends_the_tool_by_sigpipe() {
    let place = full_folder();
    for line in LINES {
        // A shell's status for a program that ended by signal 13 is 141.
        let told = shell(place.path(), &format!("{{ {line}; echo $? >status; }} | head -n 1"));
        assert_eq!(told.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1, "{line}");
        assert_eq!(String::from_utf8_lossy(&told.stderr), "", "{line}");
        let status = std::fs::read_to_string(place.path().join("status")).expect("a status");
        assert_eq!(status, "141\n", "{line}");
        std::fs::remove_file(place.path().join("status")).expect("removed");
    }
}

#[test]
fn the_wait_status_is_a_death_by_signal() {
    let place = full_folder();
    let mut child = seekless(place.path())
        .args(["find", "."])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").signal(), Some(13));
}

#[test]
fn with_sigpipe_ignored_by_inheritance_a_failed_write_is_an_error() {
    let place = full_folder();
    for (line, message, code) in [
        (LINES[0], "wc: write error\n", "1\n"),
        (LINES[1], "grep: write error: Broken pipe\n", "2\n"),
        (LINES[2], "find: 'standard output': Broken pipe\nfind: write error\n", "1\n"),
    ] {
        let line =
            format!("export LC_ALL=C; trap '' PIPE; {{ {line}; echo $? >status; }} | head -n 1");
        let told = shell(place.path(), &line);
        let messages = String::from_utf8_lossy(&told.stderr);
        assert_eq!(messages, message, "{line}");
        assert_eq!(
            std::fs::read_to_string(place.path().join("status")).expect("a status"),
            code,
            "{line}"
        );
        std::fs::remove_file(place.path().join("status")).expect("removed");
    }
}

/// GNU grep reads a pipe to its end where it could stop early: its writer would end by SIGPIPE, and
/// a script under `pipefail` would fail. It also leaves nothing of a file on standard input to the
/// next reader.
#[test]
fn grep_drains_what_it_reads_from_standard_input_as_gnu_grep_does() {
    let version = Command::new("/usr/bin/grep").arg("--version").output();
    if !version.is_ok_and(|output| output.stdout.starts_with(b"grep (GNU grep) 3.8")) {
        return eprintln!("skipped: no GNU grep 3.8 at /usr/bin/grep");
    }
    let place = workplace();
    let numbers: String = (0..100_000).map(|number| format!("{number}\n")).collect();
    std::fs::write(place.path().join("text"), &numbers).expect("written");
    std::fs::write(place.path().join("binary"), numbers.clone() + "a\0b\n" + &numbers)
        .expect("written");
    let program = seekless(place.path()).get_program().to_owned().into_string().expect("text");
    let options = [
        "", "-c", "-v", "-o", "-n", "-l", "-L", "-q", "-ql", "-m1", "-m5", "-m1 -l", "-I", "-a",
        "-z", "-A1", "-qI",
    ];
    for (option, to) in options.iter().flat_map(|option| [(option, ">/dev/null"), (option, ">out")])
    {
        for (input, pattern) in [("text", "7"), ("text", "z"), ("binary", "7"), ("binary", "z")] {
            let [theirs, ours] = ["/usr/bin/".to_owned(), format!("'{program}' ")].map(|tool| {
                let grep = format!("{tool}grep {option} {pattern} {to}");
                // What is left of a file is not compared where GNU's buffers decide.
                let left = match option.contains(['l', 'L', 'q']) {
                    true => "true",
                    false => "wc -c",
                };
                let line = format!(
                    "{{ cat {input}; echo $? >writer; }} | {grep}; echo $?; cat writer; \
                     {{ {grep} - text; echo $?; {left}; }} <{input}"
                );
                String::from_utf8_lossy(&shell(place.path(), &line).stdout).into_owned()
            });
            assert_eq!(ours, theirs, "grep {option} {pattern} {to} of {input}");
        }
    }
}

#[test]
fn what_cannot_be_written_is_said_as_gnus_tools_say_it() {
    let place = workplace();
    std::fs::write(place.path().join("a"), "a line\n").expect("written");
    let program = seekless(place.path()).get_program().to_owned().into_string().expect("text");
    for line in [
        "wc a",
        "wc missing a missing",
        "wc --help",
        "wc --version",
        "grep line a",
        "grep -c line missing a",
        "grep --version",
        "grep --help",
        "find a",
        "find --version",
        "find --help",
    ] {
        let [theirs, ours] = ["/usr/bin/".to_owned(), format!("'{program}' ")].map(|tool| {
            let line = format!("export LC_ALL=C; {tool}{line} >/dev/full; echo $?");
            let told = shell(place.path(), &line);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("/usr/bin/", "");
            (text(&told.stderr), text(&told.stdout))
        });
        assert_eq!(ours, theirs, "{line}");
    }
}

#[test]
fn commands_of_find_get_the_disposition_that_find_was_given() {
    let place = workplace();
    let line = "\"$seekless\" find . -maxdepth 0 -exec grep SigIgn /proc/self/status \\;";
    let ignored = |line: &str| {
        let told = shell(place.path(), line);
        let mask = String::from_utf8_lossy(&told.stdout)
            .trim()
            .rsplit('\t')
            .next()
            .unwrap_or_default()
            .to_owned();
        u64::from_str_radix(&mask, 16).expect("a mask") & (1 << 12) != 0
    };
    assert!(!ignored(line));
    assert!(ignored(&format!("trap '' PIPE; {line}")));
}

#[test]
fn find_learns_what_became_of_commands_where_sigchld_is_ignored() {
    let place = workplace();
    let program = seekless(place.path()).get_program().to_owned();
    // bash is the shell that lets the program inherit the ignored signal.
    let line = "trap '' CHLD; \"$seekless\" find . -maxdepth 0 -exec true \\; -print";
    let mut command = Command::new("bash");
    let Ok(told) =
        command.current_dir(place.path()).arg("-c").arg(line).env("seekless", program).output()
    else {
        eprintln!("skipped: no bash, which starts commands with SIGCHLD ignored");
        return;
    };
    assert_eq!(
        String::from_utf8_lossy(&told.stdout),
        ".\n",
        "{}",
        String::from_utf8_lossy(&told.stderr)
    );
}
