//! Reads `cargo metadata`: the workspace's crates, and every package that they are built with.

use anyhow::{Context, bail};
use serde::Deserialize;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The part of cargo's answer that xtask uses.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    pub(crate) workspace_root: PathBuf,
    pub(crate) packages: Vec<Package>,
    /// Absent if cargo was asked for no dependencies.
    pub(crate) resolve: Option<Graph>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    /// The oldest Rust that it builds with.
    pub(crate) rust_version: Option<String>,
    /// Absent for the workspace's own crates.
    pub(crate) source: Option<String>,
    /// An SPDX expression.
    pub(crate) license: Option<String>,
    pub(crate) repository: Option<String>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    /// The registries that it may be published to: absent for all, empty for none.
    pub(crate) publish: Option<Vec<String>>,
}

impl Package {
    /// Whether it is one of ours that is published.
    pub(crate) fn is_published(&self) -> bool {
        self.source.is_none() && self.publish.is_none()
    }

    /// The folder of its manifest.
    pub(crate) fn folder(&self) -> anyhow::Result<&Path> {
        self.manifest_path.parent().context("a manifest lies in a folder")
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Edge {
    pub(crate) pkg: String,
    pub(crate) dep_kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Kind {
    /// `dev` or `build`; absent for a normal dependency.
    pub(crate) kind: Option<String>,
}

impl Workspace {
    /// The workspace's own crates alone.
    pub(crate) fn own() -> anyhow::Result<Self> {
        read(&["--no-deps"])
    }

    /// The workspace's crates, and every package that they need on Linux.
    pub(crate) fn whole() -> anyhow::Result<Self> {
        read(&["--locked", "--filter-platform", "x86_64-unknown-linux-gnu"])
    }
}

fn read(more: &[&str]) -> anyhow::Result<Workspace> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output =
        Command::new(cargo).args(["metadata", "--format-version", "1"]).args(more).output();
    let output = output.context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("cannot read what cargo metadata printed")
}
