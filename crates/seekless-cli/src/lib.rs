//! The `seekless` command: flags, progress and words around the library; no logic of its own.

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

pub mod command;
pub mod exit;
pub mod getopt;
pub mod interrupt;
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
#[expect(missing_docs, reason = "a comment on a verb here would replace the help that stands at its Args")]
pub enum Verb {
    Tour(command::tour::Args),
    Record(command::record::Args),
    Trace(command::trace::Args),
    Sim(command::sim::Args),
    Order(command::order::Args),
    Pack(command::pack::Args),
    Compare(command::compare::Args),
    Synth(command::synth::Args),
    Probe(command::probe::Args),
    Sleds(command::sleds::Args),
    Wc(command::wc::Args),
    Grep(command::grep::Args),
    Find(command::find::Args),
    Fits(command::fits::Args),
    #[command(name = "__tour-reader", hide = true)]
    TourReader(command::tour_reader::Args),
}

/// A verb that takes the place of the tool of the same name: it reads its own command line, as that tool does, and is as
/// quick to start, since the tree of verbs is not built.
type StandIn = fn(Vec<OsString>) -> ExitCode;

const STAND_INS: [(&str, StandIn); 3] =
    [("wc", command::wc::main), ("grep", command::grep::main), ("find", command::find::main)];

/// The verb that stands in for a tool, and its words: it is the first word, or the name that the command is called by.
fn stand_in(words: impl IntoIterator<Item = OsString>) -> Option<(StandIn, Vec<OsString>)> {
    let find =
        |name: &std::ffi::OsStr| STAND_INS.iter().find(|(tool, _)| name == *tool).map(|&(_, main)| main);
    let mut words = words.into_iter();
    let called = words.next()?;
    if let Some(main) = Path::new(&called).file_name().and_then(find) {
        return Some((main, words.collect()));
    }
    let main = find(&words.next()?)?;
    Some((main, words.collect()))
}

/// Parses the command line, runs the verb, prints the error if there is one.
#[must_use]
pub fn main() -> ExitCode {
    if let Some((tool, words)) = stand_in(std::env::args_os()) {
        return tool(words);
    }
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
    match cli.verb {
        Verb::Tour(args) => command::tour::run(args),
        Verb::Record(args) => command::record::run(args),
        Verb::Trace(args) => command::trace::run(args),
        Verb::Sim(args) => command::sim::run(args),
        Verb::Order(args) => command::order::run(args),
        Verb::Pack(args) => command::pack::run(args),
        Verb::Compare(args) => command::compare::run(args),
        Verb::Synth(args) => command::synth::run(args),
        Verb::Probe(args) => command::probe::run(args),
        Verb::Sleds(args) => command::sleds::run(args),
        Verb::Fits(args) => command::fits::run(args),
        // Reached by no command line: `stand_in` takes the verb before.
        Verb::Grep(_) => Ok(command::grep::main(std::env::args_os().skip(2).collect())),
        Verb::Find(_) => Ok(command::find::main(std::env::args_os().skip(2).collect())),
        Verb::Wc(_) => Ok(command::wc::main(std::env::args_os().skip(2).collect())),
        Verb::TourReader(args) => command::tour_reader::run(args),
    }
}
