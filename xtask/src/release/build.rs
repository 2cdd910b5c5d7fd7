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

/// Their files.
const C_FILES: [&str; 4] =
    ["libseekless_sleds.so", "libseekless_sleds.a", "libseekless_store.so", "libseekless_store.a"];

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

/// The architectures to build for. Says which is left out, and for lack of what.
pub(super) fn targets(release: &mut Release) -> anyhow::Result<Vec<&'static Target>> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "sysroot"]).current_dir(&release.root);
    let output = rustc.output().context("cannot start rustc")?;
    let libraries = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let mut found = Vec::new();
    for target in &TARGETS {
        let otherwise = format!("{} is left out", target.name);
        let folder = libraries.join("lib/rustlib").join(target.triple());
        let what = format!("Rust's libraries for {}", target.triple());
        let is_native = target.name == ARCH;
        if is_native
            || (release.has(&target.compiler(), &otherwise)
                && release.unless(folder.is_dir(), &what, &otherwise))
        {
            found.push(target);
        }
    }
    Ok(found)
}

/// Gives a command the settings of all builds of a release.
pub(super) fn configure(command: &mut Command, release: &Release, target: &Target) {
    let prefixes = prefixes(release);
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

/// Builds the programs and the libraries for C. These do not know object storage, whose libraries
/// export names of their own.
pub(super) fn build(release: &Release, target: &Target) -> anyhow::Result<()> {
    let triple = target.triple();
    let programs = ["--package", "seekless-cli"].into_iter().chain(dist::WHOLE);
    let libraries = LIBRARIES.into_iter().flat_map(|library| ["--package", library]);
    for packages in [libraries.collect::<Vec<_>>(), programs.collect()] {
        let mut command = dist::cargo(["build", "--release", "--locked", "--target", &triple]);
        command.args(packages);
        configure(&mut command, release, target);
        dist::run(&mut command)?;
    }
    let built = target.built(release);
    for name in PROGRAMS.iter().chain(&C_FILES) {
        names_no_path(release, &built.join(name))?;
    }
    Ok(())
}

/// Fails if a file holds the path of this checkout or of cargo's folder.
pub(super) fn names_no_path(release: &Release, file: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    for (folder, _) in prefixes(release) {
        let path = folder.as_os_str().as_encoded_bytes();
        if bytes.windows(path.len()).any(|window| window == path) {
            bail!("{} holds the path {}", file.display(), folder.display());
        }
    }
    Ok(())
}

/// Folders of this machine, and what stands for them in what is built.
fn prefixes(release: &Release) -> Vec<(PathBuf, &'static str)> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let mut prefixes = vec![(release.root.clone(), "/seekless")];
    prefixes.extend(home.map(|home| (home, "/cargo")));
    prefixes
}
