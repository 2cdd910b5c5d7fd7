//! Exit codes: 0 success; 1 a negative result (no match, differs, slower); 2 an error. A closed
//! pipe is not an error.

use crate::output::{self, Words, line, note, say, shown};
use clap::FromArgMatches;
use seekless::engine::ObjectName;
use seekless::sys::mounts::{Mount, Mounts};
use std::borrow::Cow;
use std::ffi::OsString;
use std::process::ExitCode;

/// The exit code of an error.
pub const ERROR: u8 = 2;

/// The exit code if `record` or `run` itself fails. All its other codes are the program's.
pub const RECORDER: u8 = 125;

/// Verbs with an option that takes several values, which may take words meant for other arguments.
/// Each comes with the form of its command line.
const FORMS: [(&str, &str); 3] = [
    ("compare", "seekless compare DIR PACK --trace RUN..."),
    ("pack", "seekless pack DIR -o ZIP --trace RUN..."),
    ("order", "seekless order --trace RUN... -o ORDER.txt"),
];

/// Advice on what to type, if a missing word may have been taken as one of the runs of `--trace`.
fn advice(error: &clap::Error, words: &[String]) -> Option<String> {
    use clap::error::ErrorKind;
    let is_missing =
        matches!(error.kind(), ErrorKind::MissingRequiredArgument | ErrorKind::UnknownArgument);
    let (verb, form) =
        FORMS.iter().find(|(verb, _)| words.first().is_some_and(|word| word == verb))?;
    let many =
        words.iter().find(|word| ["--trace", "--score", "--rivals"].contains(&word.as_str()));
    match many {
        Some(many) if is_missing => Some(format!(
            "{many} takes every word after it, up to the next option: put it last, as in `{form}`"
        )),
        None if is_missing && *verb == "order" => {
            Some(format!("name the runs with --trace: `{form}`"))
        }
        _ => None,
    }
}

/// Prints clap's message. For `--help` and `--version` that is no failure.
#[must_use]
pub fn usage(error: &clap::Error) -> ExitCode {
    let wraps = std::env::args_os().nth(1).is_some_and(|verb| verb == "record" || verb == "run");
    let code = if wraps { RECORDER } else { ERROR };
    if !error.use_stderr() {
        return match output::data(help(error).as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&error, code),
        };
    }
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    print(error);
    if let Some(advice) = advice(error, &words) {
        note("\n");
        say(advice);
    }
    ExitCode::from(code)
}

/// A help or version as it is shown on standard output: with styles on a terminal.
fn help(error: &clap::Error) -> String {
    if std::env::args_os().any(|word| is_odd(&word)) {
        return escaped(error, std::env::args_os());
    }
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
    match output::is_shown() && !plain {
        true => error.render().ansi().to_string(),
        false => error.render().to_string(),
    }
}

/// Whether a word would not be shown as it is.
fn is_odd(word: &OsString) -> bool {
    matches!(shown(word), Cow::Owned(_))
}

/// Prints clap's message. It repeats words of the command line, which a shell may have taken from
/// the names of files: if one of them is odd, clap reads the line again with that word escaped.
#[expect(clippy::disallowed_methods, reason = "what clap prints here was looked at")]
fn print(error: &clap::Error) {
    if std::env::args_os().any(|word| is_odd(&word)) {
        let _ = Words::Error.text(&escaped(error, std::env::args_os()));
    } else {
        let _ = error.print();
    }
}

/// The message with escaped words. If clap finds another fault in these, the one that it found
/// first, on one line.
fn escaped(error: &clap::Error, words: impl Iterator<Item = OsString>) -> String {
    let words = words.map(|word| shown(&word).into_owned());
    let again = crate::whole().try_get_matches_from(words);
    match again.and_then(|words| crate::Cli::from_arg_matches(&words)) {
        Err(again) if again.kind() == error.kind() => again.render().to_string(),
        _ => line(error.render().to_string().trim_end()).into_owned() + "\n",
    }
}

/// Prints an error and its causes, each on one line, and returns [`ERROR`]. If the reader of our
/// output closed the pipe, prints nothing and returns success.
#[must_use]
pub fn failure(error: &anyhow::Error) -> ExitCode {
    failed(error, ERROR)
}

fn failed(error: &anyhow::Error, code: u8) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let said = words(error);
    note(&said);
    hint(&said);
    ExitCode::from(code)
}

/// Says what to do after a message about a mount whose server has ended.
pub fn hint(said: &str) {
    let dead = std::io::Error::from(rustix::io::Errno::NOTCONN).to_string();
    if said.contains(&dead) {
        note(&dead_mount());
    }
}

/// What to do about mounts whose server has ended.
fn dead_mount() -> String {
    let mounts = Mounts::read().ok();
    let served = mounts.iter().flat_map(Mounts::iter).filter(|it| it.kind.starts_with("fuse"));
    let is_dead = |mount: &&Mount| {
        let found = std::fs::metadata(&mount.point);
        found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotConnected)
    };
    let dead: Vec<String> = served
        .filter(is_dead)
        .map(|mount| {
            let point = shown(&mount.point);
            format!(
                "  the server of the mount {point} has ended; undo it: fusermount3 -u {point}\n"
            )
        })
        .collect();
    match dead.is_empty() {
        true => "  the server of a mount has ended; undo it: fusermount3 -u DIR\n".to_owned(),
        false => dead.concat(),
    }
}

/// The text of an error and of its causes, each in one line. No error of ours says what its cause
/// says.
fn words(error: &anyhow::Error) -> String {
    let causes = error.chain().skip(1);
    let causes = causes.map(|cause| format!("  because: {}\n", line(&cause.to_string())));
    let first = format!("seekless: {}\n", line(&error.to_string()));
    let all: String = std::iter::once(first).chain(causes).collect();
    ObjectName::without_secrets(&all).into_owned()
}

/// Whether the reader of our output has closed the pipe.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use anyhow::Context;
    use clap::Parser;

    #[test]
    fn each_cause_has_a_line() {
        let error = Err::<(), _>(std::io::Error::other("no such file"))
            .context("cannot open a.zip")
            .context("cannot compare")
            .unwrap_err();
        let expected =
            "seekless: cannot compare\n  because: cannot open a.zip\n  because: no such file\n";
        assert_eq!(words(&error), expected);
    }

    #[test]
    fn words_in_a_message_of_clap_are_escaped() {
        let words = ["seekless", "doctor", "--no\x1b[31m\nFORGED row"];
        let error = Cli::try_parse_from(words).unwrap_err();
        let said = escaped(&error, words.iter().map(OsString::from));
        assert!(said.contains("'--no\\x1b[31m\\x0aFORGED row' found\n"), "{said}");
    }

    fn advised(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let error =
            Cli::try_parse_from(std::iter::once("seekless").chain(line.split(' '))).unwrap_err();
        advice(&error, &words)
    }

    #[test]
    fn words_that_an_option_swallowed_are_asked_for_in_their_place() {
        let said = advised("compare --trace run.parquet data data.zip").unwrap();
        assert!(
            said.contains("--trace takes every word") && said.contains("compare DIR PACK --trace"),
            "{said}"
        );
        let said = advised("pack -o data.zip --trace run.parquet data").unwrap();
        assert!(said.contains("pack DIR -o ZIP --trace"), "{said}");
        let said = advised("order run.parquet").unwrap();
        assert!(said.contains("order --trace RUN..."), "{said}");
        assert_eq!(advised("compare data"), None);
        assert_eq!(advised("sim"), None);
    }
}
