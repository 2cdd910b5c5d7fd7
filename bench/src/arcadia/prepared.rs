//! The files of the game on the disk: loose, in our pack, and in a squashfs image that lies in the
//! same order.

use super::{Args, Data};
use anyhow::{Context, bail, ensure};
use seekless::tools::{order, pack, synth};
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) struct Prepared {
    pub(super) loose: PathBuf,
    pub(super) pack: PathBuf,
    /// `Err` says why there is none.
    pub(super) squashfs: Result<Mounted, String>,
}

/// A squashfs image behind a loop device, until this is dropped.
pub(super) struct Mounted {
    pub(super) at: PathBuf,
    device: String,
}

impl Prepared {
    /// Makes all of it below `folder`, from the runs but for the one that is loaded.
    pub(super) fn new(
        args: &Args,
        data: &Data,
        number: usize,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let loose = folder.join("files");
        let files = synth::files_of(&data.files, &seekless::job::roots::Roots::default())?;
        data.contents.lay_out(&files, &loose)?;
        let others = data.without(number);
        let pack = folder.join("data.zip");
        eprintln!("bench: packs them");
        let how =
            pack::OrderBy { device: args.throttle[0].clone(), ..pack::OrderBy::by(&args.method) };
        let options = pack::Options::default();
        pack::pack_for_runs(&loose, pack.as_path(), &others, &how, &options, &mut |_, _| ())?;
        let squashfs = squashfs(args, data, &others, folder, &loose);
        let squashfs = squashfs.map_err(|error| format!("{error:#}"));
        Ok(Self { loose, pack, squashfs })
    }
}

/// Packs the files in the order of our pack, and mounts the image.
fn squashfs(
    args: &Args,
    data: &Data,
    others: &[PathBuf],
    folder: &Path,
    loose: &Path,
) -> anyhow::Result<Mounted> {
    install()?;
    let options = order::Options {
        files: Some(data.files.clone()),
        method: args.method.clone(),
        device: args.throttle[0].clone(),
        ..order::Options::default()
    };
    let order = order::order(others, &options)?.order;
    let mut sort = String::new();
    for (priority, name) in (i16::MIN..=i16::MAX).rev().zip(&order) {
        let _ = writeln!(sort, "{} {priority}", name.replace(' ', "\\ "));
    }
    let (list, image, at) =
        (folder.join("sort"), folder.join("data.squashfs"), folder.join("mounted"));
    fs::write(&list, sort)?;
    eprintln!("bench: makes a squashfs image");
    let words = ["-comp", "zstd", "-noappend", "-no-progress", "-quiet", "-sort"];
    let begin = [loose.as_os_str(), image.as_os_str()];
    run(
        "mksquashfs",
        begin.into_iter().chain(words.iter().map(OsStr::new)).chain([list.as_os_str()]),
    )?;
    fs::create_dir(&at)?;
    // Through the page cache, as `mount -o loop` does: its readahead makes the requests large.
    let show = ["--find", "--show", "--read-only"].map(OsStr::new);
    let device = run("losetup", show.into_iter().chain([image.as_os_str()]))?.trim().to_owned();
    let mounted = Mounted { at: at.clone(), device: device.clone() };
    let words = ["-t", "squashfs", "-o", "ro", &device].map(OsStr::new);
    run("mount", words.into_iter().chain([at.as_os_str()]))?;
    Ok(mounted)
}

/// Debian's squashfs-tools, if there are none.
fn install() -> anyhow::Result<()> {
    if Command::new("mksquashfs").arg("-version").output().is_ok() {
        return Ok(());
    }
    let words = ["install", "-y", "-qq", "squashfs-tools"].map(OsStr::new);
    run("apt-get", words).map(|_| ()).context("there is no mksquashfs")
}

fn run<'a>(program: &str, words: impl IntoIterator<Item = &'a OsStr>) -> anyhow::Result<String> {
    let done = Command::new(program).args(words).output();
    let done = done.with_context(|| format!("cannot run {program}"))?;
    if !done.status.success() {
        bail!("{program}: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

impl Mounted {
    /// Forgets what the file system knows: mounts it again.
    pub(super) fn again(&self) -> anyhow::Result<()> {
        run("umount", [self.at.as_os_str()])?;
        let words = ["-t", "squashfs", "-o", "ro", &self.device].map(OsStr::new);
        run("mount", words.into_iter().chain([self.at.as_os_str()]))?;
        ensure!(self.at.join("public").is_dir(), "the image holds no files");
        Ok(())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = run("umount", [self.at.as_os_str()]);
        let _ = run("losetup", [OsStr::new("--detach"), OsStr::new(&self.device)]);
    }
}
