//! Exit codes: 0 done, 1 no (no match, differs, slower), 2 error. A closed pipe is not an error.

use std::process::ExitCode;

/// Something went wrong.
pub const ERROR: u8 = 2;

/// `record` could not do its part; its other codes are the recorded program's.
pub const RECORDER: u8 = 125;

/// Prints clap's message, which for `--help` and `--version` is no failure.
#[must_use]
pub fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    let recording = std::env::args_os().nth(1).is_some_and(|verb| verb == "record");
    match error.use_stderr() {
        true => ExitCode::from(if recording { RECORDER } else { ERROR }),
        false => ExitCode::SUCCESS,
    }
}

/// Prints an error and its causes on one line each, and says 2; a reader that went away is success.
#[must_use]
pub fn failure(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    eprintln!("seekless: {error}");
    for cause in error.chain().skip(1) {
        eprintln!("  because: {cause}");
    }
    ExitCode::from(ERROR)
}

/// Whether the reader of our output went away.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
