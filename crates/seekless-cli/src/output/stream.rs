//! The two streams of the command. No other file of its own verbs takes them.

#![expect(clippy::disallowed_methods, reason = "this is where they are")]

use anyhow::Context;
use seekless::sys::output::StandardOutput;
use std::io::{IsTerminal, Write};

#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    Output,
    Error,
}

/// Writes to a stream, at once.
pub(super) fn write(stream: Stream, bytes: &[u8]) -> anyhow::Result<()> {
    match stream {
        Stream::Output => {
            StandardOutput.write_all(bytes).context("cannot write to standard output")
        }
        Stream::Error => {
            std::io::stderr().write_all(bytes).context("cannot write to standard error")
        }
    }
}

/// Whether standard output is a terminal.
#[must_use]
pub fn is_shown() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether standard error is a terminal.
#[must_use]
pub fn errors_are_shown() -> bool {
    std::io::stderr().is_terminal()
}
