//! `seekless __learn`: adds what the small program has learned of a start to its profile.

use seekless::start::profiles;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

/// A longer form is not ours.
const BYTES_MAX: u64 = 64 << 20;

/// Add what standard input says of a start to a profile.
#[derive(clap::Args, Debug)]
pub struct Args {
    profile: PathBuf,
}

/// Adds it.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut form = Vec::new();
    std::io::stdin().lock().take(BYTES_MAX).read_to_end(&mut form)?;
    profiles::add_flat(&args.profile, &form)?;
    Ok(ExitCode::SUCCESS)
}
