//! The packages in one file on the image, for programs that read them through a file system in user
//! space: as a pack that another script's recording has put in order, and as squashfs.

use crate::command::succeed;
use crate::image::Image;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packs the packages as `recording` says, and adds the pack to the image.
pub(super) fn pack(
    image: &Image,
    seekless: &Path,
    packages: &Path,
    recording: &Path,
) -> anyhow::Result<PathBuf> {
    let pack = recording.with_extension("zip");
    let mut command = Command::new(seekless);
    command.arg("pack").arg(packages).arg("-o").arg(&pack).arg("--trace").arg(recording);
    succeed(&mut command)?;
    add(image, &pack)
}

/// Makes a squashfs of the packages, and adds it to the image. `None`, said so, if the programs for
/// that are not here.
pub(super) fn squash(
    image: &Image,
    packages: &Path,
    place: &Path,
) -> anyhow::Result<Option<PathBuf>> {
    let is_here = |program: &str| Command::new(program).arg("--help").output().is_ok();
    if !is_here("mksquashfs") || !is_here("squashfuse") {
        eprintln!("bench: no mksquashfs or no squashfuse: left out (apt-get install squashfuse)");
        return Ok(None);
    }
    let squashed = place.join("packages.squashfs");
    let mut command = Command::new("mksquashfs");
    command.arg(packages).arg(&squashed).args(["-comp", "zstd", "-quiet", "-no-progress"]);
    command.stdout(std::process::Stdio::null());
    succeed(&mut command)?;
    add(image, &squashed).map(Some)
}

fn add(image: &Image, file: &Path) -> anyhow::Result<PathBuf> {
    let name = file.file_name().context("a file has a name")?.to_string_lossy();
    let added = image.add(file, &format!(".{name}"))?;
    std::fs::remove_file(file)?;
    Ok(added)
}
