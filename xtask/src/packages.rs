//! Builds each crate that is published from its own package, as a registry will have it. There a
//! file is missing that a crate takes from outside its folder, and a dependency needs a version.

use crate::workspace::Workspace;
use anyhow::{Context, bail};
use std::env;
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
    let status = command(&workspace).status().context("cannot start cargo")?;
    if !status.success() {
        bail!("cargo package failed: {status}");
    }
    println!("packages: {} crates, each built from its own", published.len());
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
