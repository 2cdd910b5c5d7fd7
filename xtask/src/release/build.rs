//! Builds what is released, for each architecture that this machine can build for: without the
//! paths of this machine, so that two builds give the same bytes.

use super::Release;
use crate::dist::{self, PROGRAMS};
use anyhow::{Context, bail};
use std::env;
use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An architecture, by its names.
pub(super) struct Target {
    /// Rust's and GNU's.
    pub(super) name: &'static str,
    /// Debian's and that of container images.
    pub(super) debian: &'static str,
}

const TARGETS: [Target; 2] =
    [Target { name: "x86_64", debian: "amd64" }, Target { name: "aarch64", debian: "arm64" }];

/// The libraries for C, as cargo names their packages.
const LIBRARIES: [&str; 2] = ["seekless-c", "seekless-store-c"];

impl Target {
    pub(super) fn triple(&self) -> String {
        format!("{}-unknown-linux-gnu", self.name)
    }

    fn compiler(&self) -> String {
        format!("{}-linux-gnu-gcc", self.name)
    }

    /// Where cargo puts what it builds for it.
    pub(super) fn built(&self, release: &Release) -> PathBuf {
        release.target_dir().join(self.triple()).join("release")
    }
}

/// The architectures to build for. Says which is left out.
pub(super) fn targets(release: &mut Release) -> Vec<&'static Target> {
    let mut found = Vec::new();
    for target in &TARGETS {
        let compiler = target.compiler();
        if target.name == ARCH || release.has(&compiler, &format!("{} is left out", target.name)) {
            found.push(target);
        }
    }
    found
}

/// Gives a command the settings of all builds of a release.
pub(super) fn configure(command: &mut Command, release: &Release, target: &Target) {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let mut prefixes = vec![(release.root.clone(), "/seekless")];
    prefixes.extend(home.map(|home| (home, "/cargo")));
    let words = |option: &str| {
        let words = prefixes.iter().map(|(from, to)| format!("{option}={}={to}", from.display()));
        words.collect::<Vec<_>>().join(" ")
    };
    command
        .current_dir(&release.root)
        .env("CARGO_TARGET_DIR", release.target_dir())
        .env("CARGO_INCREMENTAL", "0")
        .env("RUSTFLAGS", words("--remap-path-prefix"))
        .env("CFLAGS", words("-ffile-prefix-map"))
        .env("SOURCE_DATE_EPOCH", release.commit.seconds.to_string())
        .env("SEEKLESS_STATIC", "1");
    if target.name != ARCH {
        let variable = target.triple().to_uppercase().replace('-', "_");
        command.env(format!("CARGO_TARGET_{variable}_LINKER"), target.compiler());
    }
}

/// Builds the programs and the libraries for C.
pub(super) fn build(release: &Release, target: &Target) -> anyhow::Result<()> {
    let triple = target.triple();
    let mut command = dist::cargo(["build", "--release", "--locked", "--target", &triple]);
    command.args(["--package", "seekless-cli"]).args(dist::WHOLE);
    for library in LIBRARIES {
        command.args(["--package", library]);
    }
    configure(&mut command, release, target);
    dist::run(&mut command)?;
    for name in PROGRAMS {
        names_no_path(release, &target.built(release).join(name))?;
    }
    Ok(())
}

/// Fails if a program holds the path of this checkout.
fn names_no_path(release: &Release, program: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    let path = release.root.as_os_str().as_encoded_bytes();
    if bytes.windows(path.len()).any(|window| window == path) {
        bail!("{} holds the path {}", program.display(), release.root.display());
    }
    Ok(())
}
