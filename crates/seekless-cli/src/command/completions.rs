//! `seekless completions`: what a shell needs to complete the command's words.

use crate::{output, whole};
use clap_complete::Shell;
use std::process::ExitCode;

/// Print the completions for a shell.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless completions bash > ~/.local/share/bash-completion/completions/seekless
  seekless completions zsh > ~/.zfunc/_seekless
  seekless completions fish > ~/.config/fish/completions/seekless.fish")]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Prints them.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut whole(), "seekless", &mut script);
    output::data(&script)?;
    Ok(ExitCode::SUCCESS)
}
