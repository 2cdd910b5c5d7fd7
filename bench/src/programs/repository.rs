//! Git trees whose index is fresh.

use crate::command::succeed;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Commits of this repository that are checked out one after another, back from its newest.
const AGES: [usize; 6] = [400, 200, 100, 50, 20, 0];

/// Makes a repository of all files of a folder, and commits them.
pub(crate) fn commit(folder: &Path) -> anyhow::Result<()> {
    git(folder, &["init", "--quiet"])?;
    git(folder, &["add", "--all"])?;
    git(folder, &["commit", "--quiet", "--message", "all"])
}

/// Clones this repository, and ages the clone: its files are written by several checkouts. Returns
/// whether this is a checkout of git.
pub(crate) fn aged_clone(folder: &Path) -> anyhow::Result<bool> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !here.join("../.git").exists() {
        return Ok(false);
    }
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet", "--no-hardlinks"]).arg(here.join("..")).arg(folder);
    succeed(clone.env("GIT_CONFIG_GLOBAL", "/dev/null").stdout(Stdio::null()))?;
    for age in AGES {
        let commit = format!("origin/HEAD~{age}");
        let checkout = git(folder, &["checkout", "--quiet", &commit]);
        // A shallow clone has fewer.
        if age == 0 {
            checkout?;
        }
    }
    let old = SystemTime::now() - Duration::from_secs(3600);
    grow_old(folder, old)?;
    refresh(folder)?;
    Ok(true)
}

/// Brings the index up to date with where the files lie and when they changed: git would read each
/// file that is as new as its index, or lies elsewhere.
pub(crate) fn refresh(folder: &Path) -> anyhow::Result<()> {
    git(folder, &["update-index", "-q", "--refresh"])
}

fn git(folder: &Path, words: &[&str]) -> anyhow::Result<()> {
    let mut git = Command::new("git");
    git.args(["-c", "safe.directory=*", "-C"]).arg(folder).args(words);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").stdout(Stdio::null());
    for name in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{name}_NAME"), "bench").env(format!("GIT_{name}_EMAIL"), "bench");
    }
    succeed(&mut git)
}

/// Sets the time of change of all files but git's own.
fn grow_old(folder: &Path, old: SystemTime) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && entry.file_name() != ".git" {
            grow_old(&entry.path(), old)?;
        } else if kind.is_file() {
            fs::File::open(entry.path())?.set_modified(old)?;
        }
    }
    Ok(())
}
