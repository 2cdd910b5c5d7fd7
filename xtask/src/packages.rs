//! Builds each crate that is published from its own package, as a registry will have it. There a
//! file is missing that a crate takes from outside its folder, and a dependency needs a version.

use crate::workspace::Workspace;
use anyhow::{Context, bail};
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What a registry refuses, or a reader cannot do without.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Packages and builds all of them, in the order of their imports.
pub(crate) fn check() -> anyhow::Result<()> {
    let workspace = Workspace::own()?;
    let published: Vec<_> =
        workspace.packages.iter().filter(|package| package.is_published()).collect();
    for package in &published {
        let folder = package.folder()?;
        for file in FILES {
            if !folder.join(file).is_file() {
                bail!("{} has no {file}", folder.display());
            }
        }
    }
    forget_earlier()?;
    let status = command(&workspace).status().context("cannot start cargo")?;
    if !status.success() {
        bail!("cargo package failed: {status}");
    }
    println!("packages: {} crates, each built from its own", published.len());
    Ok(())
}

/// Cargo keeps what it has unpacked from a package and built of it by name and version, which do
/// not change while a crate does: it would build the others with an earlier form of it. What it
/// unpacked from registries that are folders of this machine goes; their names begin with a dash.
fn forget_earlier() -> anyhow::Result<()> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo"))).unwrap_or_default();
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let built = PathBuf::from(target).join("debug/.fingerprint");
    for (folder, begin) in
        [(home.join("registry/src"), "-"), (home.join("registry/cache"), "-"), (built, "seekless-")]
    {
        let Ok(kept) = fs::read_dir(folder) else { continue };
        for kept in kept {
            let kept = kept?;
            if kept.file_name().as_encoded_bytes().starts_with(begin.as_bytes()) {
                let path = kept.path();
                fs::remove_dir_all(&path)
                    .with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
    }
    Ok(())
}

/// `cargo package` for what is published. What is not is left out by name.
pub(crate) fn command(workspace: &Workspace) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["package", "--workspace", "--locked", "--quiet", "--allow-dirty"]);
    for package in workspace.packages.iter().filter(|package| !package.is_published()) {
        command.args(["--exclude", &package.name]);
    }
    command
}
