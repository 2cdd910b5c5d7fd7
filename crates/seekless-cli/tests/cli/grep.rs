//! `seekless grep`: its own features, and cases in which it once differed from GNU grep.

use super::{seekless, workplace};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Runs both greps with only `variables` in the environment; panics if they differ. Returns what
/// they print.
fn assert_same(folder: &Path, words: &[&str], variables: &[(&str, &str)]) -> Vec<u8> {
    let mut gnu = Command::new("/usr/bin/grep");
    gnu.arg0("grep").current_dir(folder);
    let mut ours = seekless(folder);
    ours.arg("grep");
    let [theirs, ours] = [gnu, ours].map(|mut command| {
        command.args(words).env_clear().envs(variables.iter().copied());
        command.stdin(File::open("/dev/null").expect("there")).output().expect("it starts")
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&ours.stdout), text(&theirs.stdout), "grep {words:?} {variables:?}");
    assert_eq!(text(&ours.stderr), text(&theirs.stderr), "grep {words:?} {variables:?}");
    assert_eq!(ours.status.code(), theirs.status.code(), "grep {words:?} {variables:?}");
    ours.stdout
}

fn gnu_is_here() -> bool {
    let version = Command::new("/usr/bin/grep").arg("--version").output();
    let here = version.is_ok_and(|output| output.stdout.starts_with(b"grep (GNU grep) 3.8"));
    if !here {
        eprintln!("skipped: no GNU grep 3.8 at /usr/bin/grep");
    }
    here
}

#[test]
fn the_engines_of_gnu_grep_are_told_apart() {
    if !gnu_is_here() {
        return;
    }
    let place = workplace();
    let lines = "long a-bc\n1,2}a\nxa\n{x\n-\nb -\n^*b\naab\nb{,2,}\n\u{e9} 1}b\n";
    std::fs::write(place.path().join("a"), lines).expect("written");
    for locale in ["C", "C.UTF-8"] {
        for words in [
            // GNU's automaton decides whether these match, and glibc which text to show.
            &["-owE", "a(-b)?|long"][..],
            &["-wE", "a*"],
            &["-owE", "a*|-"],
            &["-E", "{1,2}a"],
            &["-oE", "{1,2}a"],
            &["-wE", "{1,2}a"],
            &["-owE", "({1}b)"],
            &["-E", "{x"],
            &["-oE", "a|{x"],
            &["-E", "^*b"],
            &["-oE", "^*b"],
            // Patterns that the automaton leaves to glibc, and similar ones that it does not.
            &["-E", "\\b{0}a"],
            &["-E", "[\u{e9}]|^?a"],
            &["-E", "[^\u{e9}]|^?a"],
            &["-zE", "[\u{e9}]|^?a"],
            &["-E", "-e", "x(X[^\u{e9}]?$)", "-e", "^{"],
            &["-E", "^{.[^x]"],
            &["-oE", "\\<*a"],
            &["-o", "b\\<*"],
            // Patterns that glibc rejects, and patterns that glibc accepts but the automaton does
            // not.
            &["-E", "b{,2,}"],
            &["-E", "b{1,2,}"],
            &["-E", "b{x}"],
            &["-E", "b{}"],
            &["-E", "b{2,1}"],
            &["-E", "^{2,1}b"],
            &["-E", "^{99999}b"],
            &["-E", "{99999}"],
            &["-E", "*b", "-e", "^{99999}b"],
            &["b\\<\\{2,1\\}"],
            &["b\\{1"],
        ] {
            assert_same(place.path(), &[words, &["a"]].concat(), &[("LC_ALL", locale)]);
        }
    }
}

/// To glibc, a byte that is no character is the Latin-1 letter of its number, and a surrogate is a
/// character.
#[test]
fn bytes_that_are_no_characters_are_what_glibc_takes_them_for() {
    if !gnu_is_here() {
        return;
    }
    let place = workplace();
    let lines =
        b"\xe91\n\xe9\n\xa9\n\xff\xff\na\xe9\n\xe9 b\nb\n\xc0\x80ss\xed\xa0\x80s\n\xed\xa0\x80";
    std::fs::write(place.path().join("a"), lines).expect("written");
    for pattern in
        ["\\B", "\\b", "\\<", "b\\>", "x*\\B", ".", ".*s\\{0,1\\}", "\\<.", "\\(s\\)\\1\\B"]
    {
        for options in ["-n", "-an", "-c", "-ao", "-o", "-ax", "-aw", "-aow", "-m2"] {
            let words = [options, pattern, "a"];
            assert_same(place.path(), &words, &[("LC_ALL", "C.UTF-8")]);
            let words = ["--color=always", options, pattern, "a"];
            assert_same(place.path(), &words, &[("LC_ALL", "C.UTF-8")]);
        }
    }
}

#[test]
fn nothing_is_said_that_gnu_grep_does_not_get_to() {
    if !gnu_is_here() {
        return;
    }
    let place = workplace();
    std::fs::write(place.path().join("a"), "yes\n").expect("written");
    for words in [
        &["-q", "yes", "a", "missing"][..],
        &["-q", "yes", "a", "."],
        &["--color=always", "-f", "/dev/null", "a"],
        &["--color=always", "-m0", "yes", "a"],
        &["--color=always", "-L", "-f", "/dev/null", "a"],
        &["--color=always", "yes", "a"],
        &["-L", "-m0", "-q", "-P", "a\nb", "a"],
    ] {
        assert_same(place.path(), words, &[("GREP_COLOR", "1;33")]);
    }
}

#[test]
fn what_is_cached_can_be_held_within_a_bound() {
    let _kept = crate::caches::kept();
    let place = workplace();
    std::fs::write(place.path().join("a"), "yes\n".repeat(1 << 18)).expect("written");
    let grep = |words: &[&str]| {
        seekless(place.path()).arg("grep").args(words).output().expect("it starts")
    };
    let output = grep(&["-c", "--hold", "512KiB", "--stats", "e", "a"]);
    assert_eq!(output.stdout, b"262144\n");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let resident = !told.contains(" 0 B resident at the start");
    assert_eq!(told.contains("524288 B of them held"), resident, "{told}");
    let output = grep(&["--hold=much", "e", "a"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .starts_with("grep: invalid argument 'much' for '--hold': ")
    );
}

/// All letters that are the same without regard to case, in any direction.
fn letters_by_kind() -> Vec<Vec<char>> {
    let one = |mut mapped: Box<dyn Iterator<Item = char>>, letter| {
        let first = mapped.next();
        first.filter(|_| mapped.next().is_none()).unwrap_or(letter)
    };
    let mut kinds = std::collections::BTreeMap::<char, Vec<char>>::new();
    for letter in ('A'..'\u{1ffff}').filter(|letter| letter.is_alphabetic() || *letter > '\x7f') {
        let capital = one(Box::new(letter.to_uppercase()), letter);
        kinds.entry(one(Box::new(capital.to_lowercase()), capital)).or_default().push(letter);
    }
    kinds.into_values().filter(|kind| kind.len() > 1).collect()
}

/// Each letter is searched for among those of its kind: by automata, by the C library (with a
/// back-reference), in a set, and as a fixed string. GNU's lists of letters are older than
/// Unicode's, so only a part of what Unicode says is the same matches.
#[test]
fn letters_are_the_same_without_regard_to_case_as_in_gnu_grep() {
    let gnu_is_here = gnu_is_here();
    let place = workplace();
    let kinds = letters_by_kind();
    assert!(kinds.len() > 1_350, "{}", kinds.len());
    for some in kinds.chunks(20) {
        let letters = || some.iter().flatten();
        let lines = some.iter().enumerate().flat_map(|(number, kind)| {
            kind.iter().flat_map(move |one| {
                let tag = format!("{number}.{}", u32::from(*one));
                kind.iter().map(move |other| format!("{tag}{other}\n"))
            })
        });
        std::fs::write(place.path().join("a"), lines.collect::<String>()).expect("written");
        let tagged = |form: &dyn Fn(&str, char) -> String| -> String {
            let number = |letter: &char| some.iter().position(|kind| kind.contains(letter));
            let tag = |letter: &char| format!("{}.{}", number(letter).unwrap(), u32::from(*letter));
            letters().map(|letter| form(&tag(letter), *letter) + "\n").collect()
        };
        let mut found = Vec::new();
        for (options, form) in [
            (
                "-ix",
                (&|tag: &str, letter| format!("{tag}{letter}")) as &dyn Fn(&str, char) -> String,
            ),
            ("-ix", &|tag, letter| format!("\\(\\)\\1{tag}{letter}")),
            ("-ix", &|tag, letter| format!("{tag}[{letter}]")),
            ("-ixF", &|tag, letter| format!("{tag}{letter}")),
        ] {
            std::fs::write(place.path().join("patterns"), tagged(form)).expect("written");
            let words = [options, "-f", "patterns", "a"];
            let mut ours = seekless(place.path());
            ours.arg("grep").args(words).env("LC_ALL", "C.UTF-8");
            found.push(match gnu_is_here {
                true => assert_same(place.path(), &words, &[("LC_ALL", "C.UTF-8")]),
                false => ours.output().expect("it starts").stdout,
            });
        }
        assert!(found.iter().all(|one| *one == found[0]), "the ways of search differ");
    }
}

/// GNU's own limit depends on the stack; up to 5,000 levels it has none.
#[test]
fn deep_expressions_work_or_are_refused() {
    let place = workplace();
    let nested = |open: &str, inner: &str, close: &str, levels: usize| {
        [open.repeat(levels), inner.to_owned(), close.repeat(levels)].concat()
    };
    let ends = |flag: &str, pattern: String| {
        std::fs::write(place.path().join("deep"), pattern).expect("written");
        std::fs::write(place.path().join("text"), "xa\n").expect("written");
        let output = seekless(place.path())
            .args(["grep", "-c", flag, "-f", "deep", "text"])
            .output()
            .expect("it starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for levels in [300, 10_000] {
        for (flag, pattern) in [
            ("-E", nested("(", "x", ")", levels)),
            ("-E", nested("(a|b(", "x", "))", levels / 2)),
            ("-E", nested("(a*", "x", ")*", levels)),
            ("-G", nested("\\(", "x", "\\)", levels)),
            ("-oE", nested("(x|", "x", ")", levels)),
        ] {
            assert_eq!(ends(flag, pattern), (Some(0), String::new()), "{flag}, {levels} levels");
        }
    }
    let refused = (Some(2), "grep: stack overflow\n".to_owned());
    for levels in [20_001, 100_000] {
        assert_eq!(ends("-E", nested("(", "x", ")", levels)), refused, "{levels} levels");
        assert_eq!(ends("-E", "(".repeat(levels)), refused, "{levels} levels");
        assert_eq!(ends("-G", nested("\\(", "x", "\\)", levels)), refused, "{levels} levels");
    }
}

#[test]
fn many_words_and_a_few_expressions_are_found_as_gnu_grep_does() {
    if !gnu_is_here() {
        return;
    }
    let place = workplace();
    let word = |number: usize| format!("w{}\u{e9}s{}", number * 7919 % 1000, number % 13);
    let words: Vec<String> = (0..100).map(word).collect();
    let line = |number: usize| match number % 4 {
        0 => word(number * 3),
        1 => format!("x {} y", word(number * 5)).to_uppercase(),
        2 => format!("_{}", word(number)),
        _ => format!("{} {}z", word(number * 2), word(number * 7)),
    };
    let text: Vec<String> = (0..400).map(line).collect();
    std::fs::write(place.path().join("text"), text.join("\n") + "\n").expect("written");
    std::fs::write(place.path().join("fixed"), words.join("\n")).expect("written");
    let some = words.join("\n") + "\nw1.*s7\n\\(3\\|4\\)z$\n";
    std::fs::write(place.path().join("some"), some).expect("written");
    for locale in ["C", "C.UTF-8"] {
        for file in ["fixed", "some"] {
            for flag in ["-n", "-in", "-xn", "-ixn", "-wn", "-vn", "-on", "-ion", "-c", "-iwc"] {
                for syntax in ["-G", "-F"] {
                    assert_same(
                        place.path(),
                        &[flag, syntax, "-f", file, "text"],
                        &[("LC_ALL", locale)],
                    );
                }
            }
        }
    }
}

#[test]
fn without_regard_to_case_upper_and_lower_are_letters() {
    if !gnu_is_here() {
        return;
    }
    let place = workplace();
    let text = "K\nk\n\u{212a}\n\u{6f22}\n1\n\u{17f}\n\u{e9}\n\u{aa}\n \n";
    std::fs::write(place.path().join("a"), text).expect("written");
    for locale in ["C", "C.UTF-8"] {
        for pattern in ["[[:upper:]]", "[[:lower:]]", "[^[:lower:]]", "[^[:upper:]k]", "[^k]"] {
            for flag in ["-in", "-ion", "-ivn", "-ixn"] {
                assert_same(place.path(), &[flag, pattern, "a"], &[("LC_ALL", locale)]);
            }
        }
    }
}

#[test]
fn the_position_after_q_is_that_of_gnu_grep() {
    if !gnu_is_here() {
        return;
    }
    let place = workplace();
    let text: String = (0..60_000).map(|number| format!("aab {number}\n")).collect();
    let path = place.path().join("text");
    std::fs::write(&path, &text).expect("written");
    for pattern in ["a", r"\(a\)\1", r"\(a\)\1b 30000$", r"\(a\)\1b 59999", "none"] {
        let [ours, theirs] = [false, true].map(|gnu| {
            let mut file = File::open(&path).expect("there");
            let mut command =
                if gnu { Command::new("/usr/bin/grep") } else { seekless(place.path()) };
            if !gnu {
                command.arg("grep");
            }
            command.args(["-q", pattern]).stdin(file.try_clone().expect("a descriptor"));
            let code = command.status().expect("it starts").code();
            (code, std::io::Seek::stream_position(&mut file).expect("a position"))
        });
        assert_eq!(ours, theirs, "{pattern}");
    }
}

/// With a locale that has collation rules, if one can be made.
#[test]
fn collating_elements_are_the_locales() {
    if !gnu_is_here() {
        return;
    }
    let place = workplace();
    let locale = place.path().join("en_US.UTF-8");
    let made = Command::new("localedef")
        .args(["-i", "en_US", "-f", "UTF-8", "--no-archive"])
        .arg(&locale)
        .output();
    if !made.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: localedef cannot make en_US.UTF-8");
        return;
    }
    std::fs::write(place.path().join("a"), "a\n\u{e0}\nA\nb\nch\nxa\u{e0}y\n-\n").expect("written");
    let path = place.path().to_string_lossy().into_owned();
    for name in ["en_US.UTF-8", "C"] {
        let variables = [("LOCPATH", path.as_str()), ("LC_ALL", name)];
        for pattern in [
            "[[=a=]]",
            "[^[=a=]]",
            "x[[=a=]]*y",
            "[[.a.]]",
            "[[.hyphen.]]",
            "[[.ch.]]",
            "[[.nothing.]]",
            "[[.-.]-a]",
            "b\\|[[=a=]]",
        ] {
            for flag in ["-n", "-on", "-in", "-xn", "-wn", "-vn"] {
                assert_same(place.path(), &[flag, pattern, "a"], &variables);
            }
        }
    }
}
