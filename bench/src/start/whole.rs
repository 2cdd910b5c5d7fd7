//! All that a start touches in one folder, our own command as well, so that all of it is cold. The
//! C library stays on the machine's disk, and cached.

use super::Args;
use crate::command::succeed;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where things lie on the image.
const PACKAGES: &str = "packages";
const PYTHON: &str = "python";
const OWN: &str = "own";

/// Puts copies of our own command, and of Python and its packages if they are asked for, in a new
/// folder in `place`. `ours` is the command.
pub(super) fn stage(args: &Args, place: &Path, ours: &Path) -> anyhow::Result<PathBuf> {
    let staged = place.join("staged");
    std::fs::create_dir(&staged)?;
    if let Some(packages) = args.imports_from()? {
        copy(packages, &staged.join(PACKAGES))?;
        copy(&prefix(&args.python)?, &staged.join(PYTHON))?;
    }
    std::fs::create_dir(staged.join(OWN))?;
    for program in ["seekless", "seekless-gnu", "seekless-verbs"] {
        copy(&ours.with_file_name(program), &staged.join(OWN).join(program))?;
    }
    Ok(staged)
}

/// Where Python is installed.
fn prefix(python: &Path) -> anyhow::Result<PathBuf> {
    let words = ["-c", "import sys; print(sys.base_prefix)"];
    let output = Command::new(python).args(words).output().context("cannot start Python")?;
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    succeed(Command::new("cp").args(["-a", "--reflink=auto"]).arg(from).arg(to))
}

pub(super) fn packages(mounted: &Path) -> PathBuf {
    mounted.join(PACKAGES)
}

pub(super) fn python(mounted: &Path) -> PathBuf {
    mounted.join(PYTHON).join("bin/python3")
}

/// The folder of Python's own library.
pub(super) fn libraries(mounted: &Path) -> PathBuf {
    mounted.join(PYTHON).join("lib")
}

pub(super) fn ours(mounted: &Path) -> PathBuf {
    mounted.join(OWN).join("seekless")
}
