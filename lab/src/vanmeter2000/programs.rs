//! The programs of the rivals. They run from copies in memory. A pass may take minutes, in which
//! the system may reclaim the pages of a program on the disk. To fetch them through a slow throttle
//! then took longer than the work (388 pages took 130 s).

use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The programs that the command becomes.
const OURS: [&str; 2] = ["seekless-gnu", "seekless-verbs"];
/// A file system in memory, on every Linux.
const MEMORY: &str = "/dev/shm";

/// The programs of each rival; those of other authors may be missing.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    pub(super) seekless: PathBuf,
    pub(super) lab: PathBuf,
    pub(super) wc: PathBuf,
    pub(super) grep: PathBuf,
    pub(super) ripgrep: PathBuf,
    pub(super) uutils_wc: PathBuf,
}

impl Programs {
    /// The programs as they are installed.
    pub(super) fn installed(seekless: PathBuf, lab: PathBuf) -> Self {
        Programs {
            seekless,
            lab,
            wc: "/usr/bin/wc".into(),
            grep: "/usr/bin/grep".into(),
            ripgrep: "/usr/bin/rg".into(),
            // The place of the tools in Debian's package.
            uutils_wc: "/usr/lib/cargo/bin/coreutils/wc".into(),
        }
    }

    fn all(&mut self) -> [&mut PathBuf; 6] {
        [
            &mut self.seekless,
            &mut self.lab,
            &mut self.wc,
            &mut self.grep,
            &mut self.ripgrep,
            &mut self.uutils_wc,
        ]
    }

    /// Copies the programs that exist to `folder`, each to its own folder, since some behave by
    /// their names.
    pub(super) fn copied_to(mut self, folder: &Path) -> anyhow::Result<Self> {
        for (number, program) in
            self.all().into_iter().enumerate().filter(|(_, program)| program.exists())
        {
            let name = program.file_name().context("a program has a name")?;
            let place = folder.join(number.to_string());
            fs::create_dir(&place)?;
            let copy = place.join(name);
            fs::copy(&*program, &copy)
                .with_context(|| format!("cannot copy {}", program.display()))?;
            // The command becomes one of those beside it.
            for other in OURS.iter().filter(|_| program.ends_with("seekless")) {
                let other = (program.with_file_name(other), place.join(other));
                if other.0.exists() {
                    fs::copy(&other.0, &other.1)
                        .with_context(|| format!("cannot copy {}", other.0.display()))?;
                }
            }
            *program = copy;
        }
        Ok(self)
    }

    /// Starts each program once outside the group, so that the libraries that it needs are not
    /// charged to the group.
    pub(super) fn start_once(&self) -> anyhow::Result<()> {
        let ours = [&self.seekless, &self.lab];
        let others = [&self.wc, &self.grep, &self.ripgrep, &self.uutils_wc];
        for program in ours.into_iter().chain(others.into_iter().filter(|program| program.exists()))
        {
            let status = Command::new(program)
                .arg("--version")
                .stdout(Stdio::null())
                .status()
                .with_context(|| format!("cannot start {}", program.display()))?;
            ensure!(status.success(), "{} --version ends with {status}", program.display());
        }
        Ok(())
    }
}

/// A folder in memory for the copies, if there is one in which programs may run.
pub(super) fn memory_folder() -> Option<tempfile::TempDir> {
    let about = rustix::fs::statvfs(MEMORY).ok()?;
    if about.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC) {
        return None;
    }
    tempfile::Builder::new().prefix("seekless-vanmeter2000.").tempdir_in(MEMORY).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_keep_their_names_and_what_is_missing_stays_missing() {
        let folder = tempfile::tempdir().unwrap();
        let mut programs = Programs::installed("/bin/sh".into(), "/bin/cat".into());
        programs.uutils_wc = folder.path().join("none");
        let copied = programs.copied_to(folder.path()).unwrap();
        assert!(copied.seekless.starts_with(folder.path()) && copied.seekless.ends_with("sh"));
        let status = Command::new(&copied.lab).stdin(Stdio::null()).status().unwrap();
        assert!(status.success());
        assert_eq!(copied.uutils_wc, folder.path().join("none"));
    }
}
