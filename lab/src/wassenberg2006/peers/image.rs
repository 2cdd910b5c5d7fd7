//! Images of the folder as read-only file systems, which the kernel mounts: squashfs, its files by
//! name or in an order, and erofs.

use super::LeftOut;
use super::ways::Way;
use crate::wassenberg2006::load::{from_folder, timed};
use anyhow::{Context, bail, ensure};
use rustix::mount::UnmountFlags;
use seekless::measure::Trial;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What can be made: the peer, the file system, and its image's name.
const KINDS: [(&str, &str, &str); 3] = [
    ("squashfs, zstd", "squashfs", "plain.squashfs"),
    ("squashfs, zstd, sorted as best", "squashfs", "sorted.squashfs"),
    ("erofs, lz4hc", "erofs", "plain.erofs"),
];

/// An image that can be mounted.
pub(super) struct Image {
    pub(super) peer: &'static str,
    file_system: &'static str,
    file: PathBuf,
    /// Where it is mounted during a trial.
    at: PathBuf,
}

impl Image {
    /// Where images are mounted below `folder`.
    pub(super) fn places(folder: &Path) -> Vec<PathBuf> {
        KINDS.iter().map(|&(.., name)| place(folder, name)).collect()
    }

    /// Makes all images of `files` that the machine can make and mount.
    pub(super) fn all(
        folder: &Path,
        files: &Path,
        best: &[String],
        left_out: &mut Vec<LeftOut>,
    ) -> Vec<Self> {
        let mut images = Vec::new();
        for (peer, file_system, name) in KINDS {
            let image =
                Self { peer, file_system, file: folder.join(name), at: place(folder, name) };
            match image.make(files, best) {
                Ok(()) => images.push(image),
                Err(why) => left_out.push(LeftOut { peer, why: format!("{why:#}") }),
            }
        }
        images
    }

    fn make(&self, files: &Path, best: &[String]) -> anyhow::Result<()> {
        ensure!(rustix::process::geteuid().is_root(), "only root may mount images");
        eprintln!("making {}", self.file.display());
        match self.file_system {
            "erofs" => {
                let (image, files) = (self.file.as_os_str(), files.as_os_str());
                run(
                    "mkfs.erofs",
                    "erofs-utils",
                    ["-zlz4hc".as_ref(), "--quiet".as_ref(), image, files],
                )?;
            }
            _ => self.make_squashfs(files, best)?,
        }
        // Mounted once, to find out whether this kernel can.
        self.mount()?;
        unmount(&self.at);
        Ok(())
    }

    fn make_squashfs(&self, files: &Path, best: &[String]) -> anyhow::Result<()> {
        let words = ["-comp", "zstd", "-noappend", "-no-progress", "-quiet"].map(OsStr::new);
        let mut all = vec![files.as_os_str(), self.file.as_os_str()];
        all.extend(words);
        let list = self.file.with_extension("sort");
        if self.file.ends_with("sorted.squashfs") {
            fs::write(&list, sort_list(best))?;
            all.extend([OsStr::new("-sort"), list.as_os_str()]);
        }
        run("mksquashfs", "squashfs-tools", all)
    }

    /// Through a loop device that goes with the mount, by way of the page cache: the readahead
    /// there makes the requests large.
    fn mount(&self) -> anyhow::Result<()> {
        unmount(&self.at);
        fs::create_dir_all(&self.at)?;
        let words = ["-t", self.file_system, "-o", "loop,ro"].map(OsStr::new);
        let places = [self.file.as_os_str(), self.at.as_os_str()];
        run("mount", "mount", words.into_iter().chain(places))
    }
}

impl Way for &Image {
    fn begin(&mut self) -> anyhow::Result<()> {
        self.mount()
    }

    fn read_from(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }

    fn load(&mut self, names: &[String]) -> anyhow::Result<Trial> {
        timed(|sum| from_folder(&self.at, names, sum))
    }

    fn end(&mut self) -> anyhow::Result<()> {
        unmount(&self.at);
        Ok(())
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        unmount(&self.at);
    }
}

fn place(folder: &Path, image: &str) -> PathBuf {
    folder.join("mounted").join(image)
}

/// Does nothing where nothing is mounted.
pub(super) fn unmount(at: &Path) {
    let _ = rustix::mount::unmount(at, UnmountFlags::empty())
        .or_else(|_| rustix::mount::unmount(at, UnmountFlags::DETACH));
}

/// squashfs's sort file: files of higher priority come first, and there are 65,535 priorities.
fn sort_list(names: &[String]) -> String {
    let share = names.len().div_ceil(usize::from(u16::MAX)).max(1);
    let mut list = String::new();
    for (files, priority) in names.chunks(share).zip((i16::MIN..=i16::MAX).rev()) {
        for name in files {
            let name = name.replace('\\', "\\\\").replace(' ', "\\ ").replace('#', "\\#");
            let _ = writeln!(list, "{name} {priority}");
        }
    }
    list
}

/// Runs a program of this Debian package, which must succeed.
fn run<'a>(
    program: &str,
    package: &str,
    words: impl IntoIterator<Item = &'a OsStr>,
) -> anyhow::Result<()> {
    let done = Command::new(program).args(words).stdin(Stdio::null()).output();
    let done = done
        .with_context(|| format!("{program} cannot be run (Debian: apt-get install {package})"))?;
    if !done.status.success() {
        bail!("{program}: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sort_list_names_each_file_once_and_falls() {
        let names: Vec<String> = (0..70_000).map(|number| format!("a b/{number}#")).collect();
        let list = sort_list(&names);
        let mut lines = list.lines();
        assert_eq!(lines.next(), Some("a\\ b/0\\# 32767"));
        let priorities: Vec<i16> = list
            .lines()
            .map(|line| line.rsplit(' ').next().expect("a word").parse().expect("a number"))
            .collect();
        assert_eq!(priorities.len(), names.len());
        assert!(priorities.is_sorted_by(|one, next| one >= next));
    }
}
