//! `seekless __man`: the man pages, which packagers take from `cargo xtask dist`.

use crate::whole;
use anyhow::Context;
use clap::{Arg, Command};
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a man page for each verb.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder to write them into; it must be there
    folder: PathBuf,
}

/// Writes them.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    clap_mangen::generate_to(with_other_names(whole()), &args.folder)
        .with_context(|| format!("cannot write into {}", crate::output::shown(&args.folder)))?;
    Ok(ExitCode::SUCCESS)
}

/// Appends the other names of each option to its help, since clap_mangen leaves them out.
fn with_other_names(command: Command) -> Command {
    command.mut_args(named).mut_subcommands(with_other_names)
}

fn named(option: Arg) -> Arg {
    let letters = option.get_visible_short_aliases().unwrap_or_default();
    let words = option.get_visible_aliases().unwrap_or_default();
    let letters = letters.iter().map(|letter| format!("-{letter}"));
    let others: Vec<String> = letters.chain(words.iter().map(|word| format!("--{word}"))).collect();
    match option.get_help() {
        Some(help) if !others.is_empty() => {
            let help = format!("{help} [also: {}]", others.join(", "));
            // clap takes static text alone; the process ends after the pages.
            option.help(&*help.leak())
        }
        _ => option,
    }
}
