//! `-exec`, `-execdir` and `-ok`: run a command for each file, or for many files at once.

use super::entry::Entry;
use super::expression::Command;
use super::quote::{quoted, say};
use crate::clib::locale::{c_string, is_yes};
use crate::words::words as in_words;
use rustix::io::Errno;
use seekless_sys::signals::pass_on_ignored_pipe;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::rc::Rc;

/// The most bytes of arguments for one command, as in GNU find: 128 KiB less room for the
/// environment.
const ARGUMENTS_MAX: usize = 128 << 10;

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ran {
    Succeeded,
    Failed,
    /// It could not be started; a message was printed.
    NotStarted,
}

/// Files waiting for a command that takes many.
#[derive(Debug, Default)]
pub(super) struct Batch {
    folder: Option<Rc<OwnedFd>>,
    paths: Vec<OsString>,
    bytes: usize,
}

impl Batch {
    /// Whether the batch holds a single file: it was empty, or its command has just run, before
    /// this file was added.
    pub(super) fn is_first(&self) -> bool {
        self.paths.len() == 1
    }

    /// Whether no file is waiting.
    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }
}

impl Command {
    /// The command's words, with each `{}` replaced by the file's path.
    fn filled(&self, path: &OsStr) -> Vec<OsString> {
        self.words.iter().map(|word| replace(word, path)).collect()
    }

    /// Runs the command for one file.
    pub(super) fn run(
        &self,
        entry: &Entry<'_>,
        messages: &mut dyn Write,
        utf8: bool,
    ) -> io::Result<Ran> {
        let words = self.filled(&self.path_of(entry));
        if self.ask && !confirmed(&self.words[0], entry, messages)? {
            return Ok(Ran::Failed);
        }
        start(&words, self.folder_of(entry), self.ask, messages, utf8)
    }

    /// Adds a file to the batch. The command runs when the batch is full or the walk leaves its
    /// folder.
    pub(super) fn add(
        &self,
        entry: &Entry<'_>,
        batch: &mut Batch,
        messages: &mut dyn Write,
        utf8: bool,
    ) -> io::Result<Ran> {
        let path = self.path_of(entry);
        let folder = self.folder_of(entry);
        let same_folder = match (&folder, &batch.folder) {
            (Some(new), Some(old)) => Rc::ptr_eq(new, old),
            (None, None) => true,
            _ => false,
        };
        let cost = path.len() + 1 + size_of::<usize>();
        let full = batch.bytes + cost > self.room();
        let mut ran = Ran::Succeeded;
        if (full || !same_folder) && !batch.paths.is_empty() {
            ran = self.run_batch(batch, messages, utf8)?;
        }
        batch.folder = folder;
        batch.bytes += cost;
        batch.paths.push(path);
        Ok(ran)
    }

    fn room(&self) -> usize {
        let words: usize = self.words.iter().map(|word| word.len() + 1 + size_of::<usize>()).sum();
        let environment: usize = std::env::vars_os()
            .map(|(name, value)| name.len() + value.len() + 2 + size_of::<usize>())
            .sum();
        ARGUMENTS_MAX.saturating_sub(words + environment).max(4096)
    }

    /// Runs the command for all files of the batch, and empties the batch.
    pub(super) fn run_batch(
        &self,
        batch: &mut Batch,
        messages: &mut dyn Write,
        utf8: bool,
    ) -> io::Result<Ran> {
        let Batch { folder, paths, .. } = std::mem::take(batch);
        if paths.is_empty() {
            return Ok(Ran::Succeeded);
        }
        let mut words = self.words.clone();
        words.extend(paths);
        start(&words, folder, false, messages, utf8)
    }

    fn path_of(&self, entry: &Entry<'_>) -> OsString {
        if !self.in_folder {
            return OsStr::from_bytes(entry.bytes()).to_owned();
        }
        match entry.name() {
            b"/" => "/".into(),
            name => OsString::from_vec([b"./", name].concat()),
        }
    }

    /// The folder in which `-execdir` runs: the one that holds the file.
    fn folder_of(&self, entry: &Entry<'_>) -> Option<Rc<OwnedFd>> {
        use rustix::fs::{CWD, Mode, OFlags, openat};
        if !self.in_folder {
            return None;
        }
        if let Some(folder) = &entry.folder {
            return Some(folder.clone());
        }
        let path = &entry.bytes()[..entry.name_at];
        let path = if path.is_empty() { b"." } else { path };
        openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .ok()
            .map(Rc::new)
    }
}

fn replace(word: &OsStr, path: &OsStr) -> OsString {
    let mut rest = word.as_bytes();
    let mut filled = Vec::new();
    while let Some(at) = rest.windows(2).position(|pair| pair == b"{}") {
        filled.extend_from_slice(&rest[..at]);
        filled.extend_from_slice(path.as_bytes());
        rest = &rest[at + 2..];
    }
    filled.extend_from_slice(rest);
    OsString::from_vec(filled)
}

fn start(
    words: &[OsString],
    folder: Option<Rc<OwnedFd>>,
    detached: bool,
    messages: &mut dyn Write,
    utf8: bool,
) -> io::Result<Ran> {
    let mut status = prepared(&words[0], &words[1..], folder.as_deref(), detached).status();
    if status
        .as_ref()
        .is_err_and(|error| error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()))
    {
        // The script has no `#!` line, so the shell runs it, as in execvp(3).
        status = prepared("/bin/sh".as_ref(), words, folder.as_deref(), detached).status();
    }
    let name = || quoted(words[0].as_bytes(), utf8);
    match status {
        Ok(status) => {
            if let Some(signal) = status.signal() {
                writeln!(messages, "find: {} terminated by signal {signal}", name())?;
            }
            Ok(if status.success() { Ran::Succeeded } else { Ran::Failed })
        }
        Err(error) => {
            writeln!(messages, "find: {}: {}", name(), in_words(&error))?;
            Ok(Ran::NotStarted)
        }
    }
}

fn prepared(
    program: &OsStr,
    words: &[OsString],
    folder: Option<&OwnedFd>,
    detached: bool,
) -> std::process::Command {
    let mut command = std::process::Command::new(program);
    command.args(words);
    if detached {
        command.stdin(Stdio::null()); // the answers on standard input are find's
    }
    if let Some(folder) = folder {
        // Name the folder by our open descriptor: the child then starts in it even if it was
        // renamed.
        command.current_dir(format!("/proc/self/fd/{}", folder.as_raw_fd()));
    }
    pass_on_ignored_pipe(&mut command);
    command
}

/// `-ok`: asks, and reads a line of standard input. The end of input means no.
fn confirmed(program: &OsStr, entry: &Entry<'_>, messages: &mut dyn Write) -> io::Result<bool> {
    messages.write_all(&say!("< ", program.as_bytes(), " ... ", entry.bytes(), " > ? "))?;
    messages.flush()?;
    let mut answer = Vec::new();
    // If standard input cannot be read, the answer is no.
    let _ = io::stdin().lock().read_until(b'\n', &mut answer);
    if answer.last() == Some(&b'\n') {
        answer.pop();
    }
    Ok(is_yes(&c_string(&answer)))
}
