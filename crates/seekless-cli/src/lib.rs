//! The `seekless` command: flags, progress and words around the library; no logic of its own.
//!
//! ```console
//! $ cargo install seekless-cli
//! $ seekless advise -- ls     # what does it wait for, and what would help?
//! $ seekless tour             # the whole path on a sample, in a minute
//! ```

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use seekless::start::start::LEARN;
use seekless::sys::inherited::keep_closed;
use seekless::tools::remote::{self, Watch};
use std::process::ExitCode;

pub mod command;
pub mod disk_cache;
pub mod encoding;
pub mod exit;
pub mod front;
pub mod getopt;
mod groups;
pub mod interrupt;
pub mod launch;
pub mod next;
pub mod output;
pub mod price;
pub mod stand_in;

/// Find out what your program reads, and make those reads cheap.
#[derive(Parser, Debug)]
#[command(name = "seekless", version, propagate_version = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// One verb each; the file of the same name under `command/` holds its flags and its job. Those
/// that stand in for a tool read their words themselves (`stand_in`).
#[derive(Subcommand, Debug)]
#[expect(
    missing_docs,
    reason = "a comment on a verb here would replace the help that stands at its Args"
)]
pub enum Verb {
    Advise(command::advise::Args),
    Tour(command::tour::Args),
    Record(command::record::Args),
    Trace(command::trace::Args),
    Sim(Box<command::sim::Args>),
    Order(command::order::Args),
    Pack(command::pack::Args),
    Compare(command::compare::Args),
    Synth(command::synth::Args),
    Run(command::run::Args),
    Warm(command::warm::Args),
    Cool(command::cool::Args),
    Layout(command::layout::Args),
    Export(command::export::Args),
    Mount(command::mount::Args),
    Profiles(command::profiles::Args),
    Replay(command::replay::Args),
    Probe(command::probe::Args),
    Sleds(command::sleds::Args),
    Devices(command::devices::Args),
    Doctor(command::doctor::Args),
    #[command(display_order = stand_in::DISPLAY_ORDER + 3)]
    Fits(command::fits::Args),
    #[command(display_order = stand_in::DISPLAY_ORDER + 4)]
    Completions(command::completions::Args),
    #[command(name = "__man", hide = true)]
    Man(command::man::Args),
    #[command(name = LEARN, hide = true)]
    Learn(command::learn::Args),
    #[command(name = "__tour-reader", hide = true)]
    TourReader(command::tour_reader::Args),
}

/// Parses the command line, runs the verb, prints the error if there is one.
#[must_use]
pub fn main() -> ExitCode {
    keep_closed();
    remote::provide(Watch {
        progress: |what| Box::new(output::progress(what)),
        is_cancelled: interrupt::is_cancelled,
    });
    if let Some(code) = stand_in::run(std::env::args_os()) {
        return code;
    }
    if std::env::args_os().len() == 1 {
        return match output::text(&groups::welcome()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => exit::failure(&error),
        };
    }
    let whole = prose_last(Cli::command()).subcommands(stand_in::commands());
    let read =
        groups::in_help(whole).try_get_matches().and_then(|words| Cli::from_arg_matches(&words));
    let cli = match read {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    match run(cli) {
        Ok(code) => code,
        Err(error) => exit::failure(&error),
    }
}

/// The command with all its verbs, as the help, the man pages and the completions show it.
#[must_use]
pub fn whole() -> clap::Command {
    Cli::command().subcommands(stand_in::commands())
}

/// What `--help` shows first is what is looked up most: usage, arguments and options. Then come the
/// examples, and the prose last. A man page has the prose in front.
fn prose_last(command: clap::Command) -> clap::Command {
    let about = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    let command = match about.split_once("\n\n") {
        None => command,
        Some((first, rest)) => {
            let examples = command.get_after_long_help().or(command.get_after_help());
            let examples = examples.map(|text| format!("{text}\n\n"));
            let last = examples.unwrap_or_default() + rest;
            command.long_about(first.to_owned()).after_long_help(last)
        }
    };
    command.mut_subcommands(prose_last)
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.verb {
        Verb::Advise(args) => command::advise::run(args),
        Verb::Tour(args) => command::tour::run(args),
        Verb::Record(args) => command::record::run(args),
        Verb::Trace(args) => command::trace::run(args),
        Verb::Sim(args) => command::sim::run(*args),
        Verb::Order(args) => command::order::run(args),
        Verb::Pack(args) => command::pack::run(args),
        Verb::Compare(args) => command::compare::run(args),
        Verb::Synth(args) => command::synth::run(args),
        Verb::Run(args) => command::run::run(args),
        Verb::Warm(args) => command::warm::run(args),
        Verb::Cool(args) => command::cool::run(args),
        Verb::Layout(args) => command::layout::run(args),
        Verb::Export(args) => command::export::run(args),
        Verb::Mount(args) => command::mount::run(args),
        Verb::Profiles(args) => command::profiles::run(args),
        Verb::Replay(args) => command::replay::run(args),
        Verb::Probe(args) => command::probe::run(args),
        Verb::Sleds(args) => command::sleds::run(args),
        Verb::Devices(args) => command::devices::run(args),
        Verb::Doctor(args) => command::doctor::run(args),
        Verb::Fits(args) => command::fits::run(args),
        Verb::Completions(args) => command::completions::run(args),
        Verb::Man(args) => command::man::run(args),
        Verb::Learn(args) => command::learn::run(args),
        Verb::TourReader(args) => command::tour_reader::run(args),
    }
}
