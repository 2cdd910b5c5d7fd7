//! `seekless find` compared with GNU find in the C locale and in one of UTF-8: output, messages and
//! exit code.

use super::gnu_find::gnu_find;
use super::{seekless, workplace};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

fn found(mut command: Command, folder: &Path, words: &[&str], locale: &str) -> Output {
    command
        .current_dir(folder)
        .args(words)
        .env_clear()
        .env("LC_ALL", locale)
        .output()
        .expect("it starts")
}

#[test]
fn answers_are_gnu_finds_in_both_locales() {
    let Some(gnu) = gnu_find() else { return };
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
            let mut theirs = Command::new(&gnu);
            theirs.arg0("find");
            let theirs = found(theirs, folder, words, locale);
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

/// Runs ours and GNU's, each in its own folder with the same content. Returns the output of each,
/// and which files are left.
fn side_by_side(words: &[&str], search_path: &str, input: &str) -> [(Output, Vec<String>); 2] {
    let run = |mut command: Command| {
        let place = workplace();
        let folder = place.path();
        for name in ["keep/inside", "other/file", "top"] {
            std::fs::create_dir_all(folder.join(name).parent().expect("a folder")).expect("made");
            std::fs::write(folder.join(name), name).expect("written");
        }
        std::fs::write(folder.join("input"), input).expect("written");
        let stdin = std::fs::File::open(folder.join("input")).expect("open");
        std::fs::remove_file(folder.join("input")).expect("removed");
        command
            .current_dir(folder)
            .args(words)
            .env_clear()
            .env("LC_ALL", "C")
            .env("PATH", search_path)
            .stdin(stdin);
        let output = command.output().expect("it starts");
        let left = ["keep/inside", "other/file", "top"]
            .into_iter()
            .filter(|name| folder.join(name).exists());
        (output, left.map(str::to_owned).collect())
    };
    let mut ours = seekless(Path::new("."));
    ours.arg("find");
    let mut theirs = Command::new("/usr/bin/find");
    theirs.arg0("find"); // found without the PATH that it is given
    [run(ours), run(theirs)]
}

fn is_alike(words: &[&str], search_path: &str, input: &str) -> Vec<String> {
    let [(ours, left), (theirs, their_left)] = side_by_side(words, search_path, input);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&ours.stderr), text(&theirs.stderr), "find {words:?}");
    assert_eq!(text(&ours.stdout), text(&theirs.stdout), "find {words:?}");
    assert_eq!(ours.status.code(), theirs.status.code(), "find {words:?}");
    assert_eq!(left, their_left, "find {words:?}");
    left
}

const SEARCH_PATH: &str = "/usr/bin:/bin";

#[test]
fn what_was_to_be_pruned_is_not_deleted() {
    if gnu_find().is_none() {
        return;
    }
    let all = ["keep/inside", "other/file", "top"];
    for words in [
        &[".", "-name", "keep", "-prune", "-o", "-type", "f", "-delete"][..],
        &[".", "-delete", "-prune"],
        &[".", "!", "-prune", "-delete", ","],
    ] {
        assert_eq!(is_alike(words, SEARCH_PATH, ""), all);
    }
    let asked = &[".", "-depth", "-name", "keep", "-prune", "-o", "-type", "f", "-delete"];
    assert_eq!(is_alike(asked, SEARCH_PATH, ""), [""; 0]);
}

/// Answers of `-ok` come from standard input, so the list of paths must not: one that begins with
/// `y` would be the user's yes.
#[test]
fn a_list_of_paths_gives_no_answers() {
    let Some(gnu) = gnu_find() else { return };
    let place = workplace();
    let folder = place.path();
    std::fs::write(folder.join("list"), "y\0y/f\0").expect("written");
    std::fs::write(folder.join("answers"), "y\0y/f\0").expect("written");
    std::fs::hard_link(folder.join("list"), folder.join("hard")).expect("linked");
    std::os::unix::fs::symlink("list", folder.join("link")).expect("linked");
    for list in ["-", "list", "hard", "link", "/dev/stdin", "/proc/self/fd/0", "answers", "nosuch"]
    {
        for action in ["-ok", "-okdir", "-exec"] {
            let run = |mut command: Command| {
                std::fs::create_dir_all(folder.join("y")).expect("made");
                std::fs::write(folder.join("y/f"), "").expect("written");
                command.current_dir(folder).args(["-files0-from", list, "-type", "f", action]);
                command.args(["rm", "{}", ";"]).env("LC_ALL", "C").env("PATH", SEARCH_PATH);
                command.stdin(std::fs::File::open(folder.join("list")).expect("there"));
                let output = command.output().expect("it starts");
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let said = (text(&output.stdout), text(&output.stderr), output.status.code());
                (said, folder.join("y/f").exists())
            };
            let mut ours = seekless(folder);
            ours.arg("find");
            let mut theirs = Command::new(&gnu);
            theirs.arg0("find");
            let (ours, theirs) = (run(ours), run(theirs));
            assert_eq!(ours, theirs, "{action} from {list}");
            let may_go = action == "-exec" || list == "answers";
            assert!(may_go || ours.1, "{action} from {list} removes a file");
        }
    }
}

#[test]
fn only_gnus_yes_is_a_yes() {
    if gnu_find().is_none() {
        return;
    }
    for input in
        ["y\ny\ny\n", "Y", "yes\n", " y\n\ty\n y\n", "", "n\ny\n", "ja\n", "\u{1}y\nyy\n1\n"]
    {
        for words in [
            &[".", "-type", "f", "-ok", "rm", "{}", ";"],
            &[".", "-type", "f", "-okdir", "rm", "{}", ";"],
        ] {
            is_alike(words, SEARCH_PATH, input);
        }
    }
}

#[test]
fn commands_in_any_folder_are_refused_where_that_folder_is_searched_for_them() {
    if gnu_find().is_none() {
        return;
    }
    for search_path in [
        "/usr/bin:",
        ":/bin",
        "/usr/bin::/bin",
        "/usr/bin:.",
        "/usr/bin:./x",
        "x:/usr/bin",
        "",
        "/usr/bin:/bin",
    ] {
        for words in [
            &[".", "-execdir", "echo", "{}", ";"][..],
            &[".", "-execdir", "echo", "{}", "+"],
            &[".", "-okdir", "echo", "{}", ";"],
            &[".", "-exec", "/bin/echo", "{}", ";"],
            &[".", "-execdir"],
        ] {
            is_alike(words, search_path, "");
        }
    }
}

#[test]
fn files_of_unknown_owners_are_named_by_their_numbers() {
    let place = workplace();
    let file = place.path().join("x");
    std::fs::write(&file, "").expect("written");
    if std::os::unix::fs::chown(&file, Some(4242), Some(4343)).is_err() {
        eprintln!("skipped: only root may give a file away");
        return;
    }
    let told = super::printed(place.path(), "find . -nouser -nogroup -printf %f:%u:%g:%U:%G\\n");
    assert_eq!(told, "x:4242:4343:4242:4343\n");
    assert!(super::printed(place.path(), "find . -name x -ls").contains(" 4242     4343 "));
    let refused = super::run(place.path(), "find . -user no-such-user-here");
    assert_eq!(refused.status.code(), Some(1));
}

/// The output of a shell's line on a terminal; `None` if script(1) cannot run it.
fn on_a_terminal(folder: &Path, line: &str, locale: &str) -> Option<Vec<u8>> {
    let mut command = Command::new("script");
    command
        .args(["-qec", line, "/dev/null"])
        .current_dir(folder)
        .stdin(std::process::Stdio::null());
    let output = command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", locale).output();
    output.ok().filter(|output| output.status.success()).map(|output| output.stdout)
}

#[test]
fn a_terminal_is_shown_no_control_characters() {
    let place = workplace();
    let folder = place.path();
    if gnu_find().is_none() {
        return;
    }
    if on_a_terminal(folder, "true", "C").is_none() {
        return eprintln!("skipped: no script(1), which lends a terminal");
    }
    let names: [&[u8]; 9] = [
        b"a\nb",
        b"esc\x1b[1m",
        b"\xc3\xa9",
        b"bad\xffx",
        b"cut\xe4\xb8",
        b"width\xe2\x80\x8b",
        b"del\x7f",
        b"nel\xc2\x85",
        b"plain",
    ];
    names.iter().for_each(|name| {
        std::fs::write(folder.join(OsStr::from_bytes(name)), "").expect("written")
    });
    std::os::unix::fs::symlink("x\ty", folder.join("link")).expect("linked");
    let program = seekless(folder).get_program().to_owned().into_string().expect("text");
    for locale in ["C", "C.UTF-8"] {
        for words in [
            "",
            "-print0",
            "-printf '%p|%f|%h|%P|%H|%l|\\n'",
            "-printf '%-9f|%.3f|\\n'",
            "-fprint /dev/stdout",
            "-fprint /dev/tty",
            "-fprint /dev/stderr",
            "-fprintf /dev/tty '%f\\n'",
            "-printf '%p\\n' | cat",
        ] {
            let [theirs, ours] = ["/usr/bin/find", &format!("'{program}' find")]
                .map(|find| format!("{find} . {words}"));
            let [theirs, ours] = [theirs, ours].map(|line| on_a_terminal(folder, &line, locale));
            let text =
                |bytes: Option<Vec<u8>>| bytes.unwrap_or_default().escape_ascii().to_string();
            assert_eq!(text(ours), text(theirs), "find . {words} in {locale}");
        }
    }
}

#[test]
fn a_folder_that_a_command_removed_is_pruned() {
    let Some(gnu) = gnu_find() else { return };
    for words in [
        &["t", "-name", "a", "-exec", "rm", "-rf", "{}", ";", "-prune"][..],
        &["t", "-name", "a", "-exec", "rm", "-rf", "{}", ";", "-prune", "-printf", "%p %s\n"],
        &["t", "-name", "a", "-exec", "rm", "-rf", "{}", ";", "-size", "+0", "-prune"],
        &["t", "-name", "f", "-exec", "rm", "-rf", "{}", ";", "-prune"],
        &["t", "-name", "a", "-exec", "rm", "-rf", "{}", ";"],
    ] {
        let outputs = ["ours", "theirs"].map(|who| {
            let place = workplace();
            std::fs::create_dir_all(place.path().join("t/a/x")).expect("made");
            std::fs::create_dir_all(place.path().join("t/b/a/y")).expect("made");
            std::fs::write(place.path().join("t/b/f"), "").expect("written");
            let mut command = match who {
                "ours" => seekless(place.path()),
                _ => Command::new(&gnu),
            };
            match who {
                "ours" => command.arg("find"),
                _ => command.arg0("find"),
            };
            command.current_dir(place.path()).args(words).env("LC_ALL", "C");
            let output = command.output().expect("it starts");
            let sorted = |bytes: &[u8]| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines.sort_unstable();
                lines
            };
            (sorted(&output.stdout), sorted(&output.stderr), output.status.code())
        });
        assert_eq!(outputs[0], outputs[1], "{words:?}");
    }
}

#[test]
fn deep_expressions_work_or_are_refused() {
    let place = workplace();
    let find = |words: Vec<&str>| {
        seekless(place.path()).arg("find").arg(".").args(words).output().expect("it starts")
    };
    let nested =
        |levels: usize| [vec!["("; levels], vec!["-name", "."], vec![")"; levels]].concat();
    let mixed = |levels: usize| {
        let opening = ["(", "!", "-name", "q", "-a"].repeat(levels);
        [opening, vec!["-name", "."], vec![")"; levels]].concat()
    };
    for words in [nested(10_000), [vec!["!"; 10_000], vec!["-name", "."]].concat(), mixed(5_000)] {
        let output = find(words);
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b".\n"[..]));
    }
    for words in [nested(30_000), vec!["!"; 60_000], vec!["("; 60_000]] {
        let output = find(words);
        assert_eq!(output.status.code(), Some(1));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("more than 20000 parentheses and '!' are nested"), "{message}");
    }
}
