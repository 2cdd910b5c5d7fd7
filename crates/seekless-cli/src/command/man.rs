//! `seekless __man`: the man pages, which packagers take from `cargo xtask dist`.

use crate::whole;
use anyhow::Context;
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
    clap_mangen::generate_to(whole(), &args.folder)
        .with_context(|| format!("cannot write into {}", args.folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
