//! `-exec`, `-execdir`, `-ok` and `-okdir`: the words of a command.

use super::{Parser, Stop};
use crate::find::expression::{Action, Command};
use crate::find::quote::{quoted, say};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

impl Parser<'_> {
    /// The words up to `;`, or up to `{} +`.
    pub(super) fn command(&mut self, name: &[u8]) -> Result<Action, Stop> {
        let missing = || Stop::from(say!("missing argument to `", name, "'"));
        let (in_folder, ask) = (name.ends_with(b"dir"), name.starts_with(b"-ok"));
        if self.peek().is_none() {
            return Err(missing());
        }
        if in_folder {
            self.plan.ignores_gone = false;
            check_search_path(name, self.utf8)?;
        }
        let mut words: Vec<OsString> = Vec::new();
        let mut placed = Vec::new();
        loop {
            let Some(word) = self.take() else { return Err(missing()) };
            if word == ";" {
                break;
            }
            if word == "+" && !ask && words.last().is_some_and(|last| has_place(last)) {
                check_single_place(name, &placed, self.utf8)?;
                words.pop();
                let number = self.plan.batches;
                self.plan.batches += 1;
                return Ok(Action::ExecuteMany {
                    number,
                    command: Command { words, in_folder, ask },
                });
            }
            if has_place(word) {
                placed.push(word);
            }
            words.push(word.to_owned());
        }
        match words.is_empty() {
            true => Err(say!("invalid argument `;' to `", name, "'").into()),
            false => Ok(Action::Execute(Command { words, in_folder, ask })),
        }
    }
}

fn has_place(word: &std::ffi::OsStr) -> bool {
    word.as_bytes().windows(2).any(|pair| pair == b"{}")
}

/// Where a command takes many files, they stand at its end.
fn check_single_place(name: &[u8], placed: &[&std::ffi::OsStr], utf8: bool) -> Result<(), Stop> {
    match placed {
        [_, _, ..] => {
            Err(say!("Only one instance of {} is supported with ", name, " ... +").into())
        }
        [word] if word.len() != 2 => Err(say!(
            "In ",
            quoted(&say!(name, " ... {} +"), utf8),
            " the ",
            quoted(b"{}", utf8),
            " must appear by itself, but you specified ",
            quoted(word.as_bytes(), utf8)
        )
        .into()),
        _ => Ok(()),
    }
}

/// A command that runs in any folder must not be taken from that folder, where anybody may have put
/// it.
fn check_search_path(name: &[u8], utf8: bool) -> Result<(), Stop> {
    let Some(path) = std::env::var_os("PATH") else { return Ok(()) };
    for entry in path.as_bytes().split(|&byte| byte == b':') {
        match entry {
            b"" | b"." => {
                return Err(say!(
                    "The current directory is included in the PATH environment variable, which is insecure in \
                     combination with the ",
                    name,
                    " action of find.  Please remove the current directory from your $PATH (that is, remove \".\", \
                     doubled colons, or leading or trailing colons)"
                )
                .into());
            }
            [b'/', ..] => {}
            _ => {
                return Err(say!(
                    "The relative path ",
                    quoted(entry, utf8),
                    " is included in the PATH environment variable, which is insecure in combination with the ",
                    name,
                    " action of find.  Please remove that entry from $PATH"
                )
                .into());
            }
        }
    }
    Ok(())
}
