//! Completions and man pages, made from the command's own flags.

use clap::CommandFactory;
use clap_complete::Shell;
use seekless_cli::Cli;
use std::fs;
use std::path::Path;

/// Writes `completions/` and `man/` below `folder`.
pub(crate) fn write(folder: &Path) -> anyhow::Result<()> {
    let completions = folder.join("completions");
    let man = folder.join("man");
    fs::create_dir_all(&completions)?;
    fs::create_dir_all(&man)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
        clap_complete::generate_to(shell, &mut Cli::command(), "seekless", &completions)?;
    }
    clap_mangen::generate_to(Cli::command(), &man)?;
    println!("wrote {} and {}", completions.display(), man.display());
    Ok(())
}
