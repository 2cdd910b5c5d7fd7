//! The `seekless` command: flags, progress and words around the library; no logic of its own.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

pub mod command;
pub mod exit;
pub mod output;

/// Find out what your program reads, and make those reads cheap.
#[derive(Parser, Debug)]
#[command(name = "seekless", version, propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// One verb each; the file of the same name under `command/` holds its flags and its job.
#[derive(Subcommand, Debug)]
pub enum Verb {}

/// Parses the command line, runs the verb, prints the error if there is one.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    match run(cli) {
        Ok(code) => code,
        Err(error) => exit::failure(&error),
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.verb {}
}
