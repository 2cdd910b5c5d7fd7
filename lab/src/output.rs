//! The output of a lab: text on standard output, which may be closed at any time (`| head`), and
//! errors on standard error.

use anyhow::Context;
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// The exit code of a failure.
const ERROR: u8 = 2;

/// Writes `text` and a newline to standard output.
pub(crate) fn text(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    // Flushed here, since a failure to write the buffer at exit would not be reported.
    writeln!(out, "{text}").and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Writes `value` to standard output as one indented JSON document.
pub(crate) fn json<T: Serialize>(value: &T) -> anyhow::Result<()> {
    text(&serde_json::to_string_pretty(value)?)
}

/// Prints clap's message. For `--help` and `--version` that is no failure.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(ERROR) } else { ExitCode::SUCCESS }
}

/// Prints an error and its causes. A reader that closed the pipe is no failure.
pub(crate) fn failure(error: &anyhow::Error) -> ExitCode {
    let is_closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == ErrorKind::BrokenPipe)
    };
    if error.chain().any(is_closed) {
        return ExitCode::SUCCESS;
    }
    let _ = writeln!(std::io::stderr(), "lab: {error:#}");
    ExitCode::from(ERROR)
}
