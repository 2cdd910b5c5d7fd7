//! Wheels for each architecture, and the source distribution, by the packages that
//! `scripts/setup.sh` puts into an environment.

use super::Release;
use super::build::{self, Target};
use crate::dist;
use anyhow::Context;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment of `setup_release`.
const ENVIRONMENT: &str = "target/release-python/bin";

/// Writes `seekless-VERSION-*.whl` and `seekless-VERSION.tar.gz`, and has them checked.
pub(super) fn write(release: &mut Release, targets: &[&Target]) -> anyhow::Result<()> {
    let tools = release.root.join(ENVIRONMENT);
    if !release.has_file(&tools.join("maturin"), "wheels and sdist are left out") {
        return Ok(());
    }
    let folder = release.stage("python")?;
    // Where pyproject.toml has maturin look for notices, which belong into each file.
    let notices = release.root.join("THIRD-PARTY.txt");
    fs::copy(release.notices()?, &notices)?;
    let made = make(release, targets, &tools, &folder);
    fs::remove_file(&notices)?;
    made?;
    let files = super::archive::below(&folder)?;
    check(release, &tools, &files)?;
    for file in files {
        let name = file.file_name().context("a file has a name")?.to_string_lossy().into_owned();
        fs::copy(&file, release.out.join(&name))?;
        release.made(&name);
    }
    Ok(())
}

/// Has maturin write all of them into a folder.
fn make(release: &Release, targets: &[&Target], tools: &Path, folder: &Path) -> anyhow::Result<()> {
    let maturin = tools.join("maturin");
    for target in targets {
        let mut command = Command::new(&maturin);
        command.args(["build", "--release", "--locked", "--quiet", "--target", &target.triple()]);
        command.arg("--out").arg(folder).env("PATH", path_with(tools)?);
        build::configure(&mut command, release, target);
        dist::run(&mut command)?;
        build::names_no_path(release, &target.built(release).join("lib_seekless.so"))?;
    }
    let mut command = Command::new(&maturin);
    command.args(["sdist", "--out"]).arg(folder);
    command.current_dir(&release.root);
    dist::run(command.env("SOURCE_DATE_EPOCH", release.commit.seconds.to_string()))
}

fn check(release: &mut Release, tools: &Path, files: &[PathBuf]) -> anyhow::Result<()> {
    let (twine, auditwheel) = (tools.join("twine"), tools.join("auditwheel"));
    if release.has_file(&twine, "wheels and sdist are not checked") {
        dist::run(Command::new(twine).args(["check", "--strict"]).args(files))?;
    }
    if release.has_file(&auditwheel, "wheels are not audited") {
        for wheel in files.iter().filter(|file| file.extension().is_some_and(|e| e == "whl")) {
            dist::run(Command::new(&auditwheel).arg("show").arg(wheel))?;
        }
    }
    Ok(())
}

/// The search path with a folder before all others.
fn path_with(folder: &Path) -> anyhow::Result<OsString> {
    let rest = env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_owned()].into_iter().chain(env::split_paths(&rest));
    env::join_paths(folders).context("PATH cannot be extended")
}
