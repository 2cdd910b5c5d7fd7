//! Asks cargo which packages, with which features, are built for some of the crates.

use anyhow::{Context, bail};
use std::collections::BTreeSet;
use std::env;
use std::process::Command;

/// One line a package: its name, version and features. `words` choose the crates and the kinds of
/// dependencies, as `cargo tree` takes them.
pub(crate) fn packages_with_features(words: &[&str]) -> anyhow::Result<BTreeSet<String>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--prefix", "none", "--no-dedupe", "--format", "{p} {f}"])
        .args(words)
        // A build that shares packages between crates may have set this to `workspace`.
        .env("CARGO_RESOLVER_FEATURE_UNIFICATION", "selected")
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cargo tree failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}
