//! `seekless __tour-reader`: the program that the tour records. It loads the files of a list, like
//! a game.

use crate::interrupt;
use crate::output::shown;
use anyhow::Context;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

/// Open, read whole and close each file of a list, in its order.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder that contains the list's paths.
    directory: PathBuf,
    /// The list: one path a line.
    list: PathBuf,
}

/// Loads one file after another.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    interrupt::end_when_interrupted()?;
    let list = std::fs::read_to_string(&args.list)
        .with_context(|| format!("cannot read the list {}", shown(&args.list)))?;
    for name in list.lines() {
        let path = args.directory.join(name);
        load(&path).with_context(|| format!("cannot load {}", shown(&path)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn load(path: &PathBuf) -> std::io::Result<()> {
    let mut file = File::open(path)?;
    let mut content = Vec::with_capacity(usize::try_from(file.metadata()?.len()).unwrap_or(0));
    file.read_to_end(&mut content)?;
    Ok(())
}
