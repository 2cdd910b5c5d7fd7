//! The packages in one file on the image, for programs that read them through a file system in user
//! space: as a pack that another script's recording has put in order, and as squashfs.

use super::place::Place;
use crate::command::succeed;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packs the packages as `recording` says, and adds the pack to the image.
pub(super) fn pack(
    place: &Place,
    seekless: &Path,
    packages: &Path,
    recording: &Path,
) -> anyhow::Result<PathBuf> {
    let pack = recording.with_extension("zip");
    let mut command = Command::new(seekless);
    command.arg("pack").arg(packages).arg("-o").arg(&pack).arg("--trace").arg(recording);
    succeed(&mut command)?;
    add(place, &pack)
}

/// Makes a squashfs of the packages, and adds it to the image. `None`, said so, if the programs for
/// that are not here.
pub(super) fn squash(
    place: &Place,
    packages: &Path,
    folder: &Path,
) -> anyhow::Result<Option<PathBuf>> {
    let is_here = |program: &str| Command::new(program).arg("--help").output().is_ok();
    if !is_here("mksquashfs") || !is_here("squashfuse") {
        eprintln!("bench: no mksquashfs or no squashfuse: left out (apt-get install squashfuse)");
        return Ok(None);
    }
    let squashed = folder.join("packages.squashfs");
    let mut command = Command::new("mksquashfs");
    command.arg(packages).arg(&squashed).args(["-comp", "zstd", "-quiet", "-no-progress"]);
    command.stdout(std::process::Stdio::null());
    succeed(&mut command)?;
    add(place, &squashed).map(Some)
}

fn add(place: &Place, file: &Path) -> anyhow::Result<PathBuf> {
    let name = file.file_name().context("a file has a name")?.to_string_lossy();
    let added = place.add(file, &format!(".{name}"))?;
    std::fs::remove_file(file)?;
    Ok(added)
}
