//! A folder that is removed at the end, however the end comes, and the command in it as an installation would lay it down.

use crate::rounds::Rival;
use anyhow::{Context, ensure};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Waits until the other end of its standard input is gone.
const REMOVE_LATER: &str = "read -r nothing; rm -rf -- \"$1\"";

/// A folder that is removed at the end.
pub(crate) struct Folder {
    path: PathBuf,
    /// Removes the folder if this process dies, of Ctrl-C for one: a shell out of the terminal's reach.
    heir: Child,
}

impl Folder {
    pub(crate) fn in_(parent: &Path) -> anyhow::Result<Self> {
        let path = parent.join(format!("seekless-bench.{}", std::process::id()));
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        // One that is there already is not ours to remove.
        std::fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", REMOVE_LATER, "sh"]).arg(&path).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        match shell.spawn() {
            Ok(heir) => Ok(Folder { path, heir }),
            Err(error) => {
                let _ = std::fs::remove_dir(&path);
                Err(error).context("cannot run /bin/sh, which removes the folder if this is interrupted")
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The command that stands beside this program, or the one that is named, asked by `verb`.
    pub(crate) fn seekless(&self, named: Option<&Path>, verb: &str) -> anyhow::Result<Rival> {
        let seekless = match named {
            Some(path) => path.to_owned(),
            None => std::env::current_exe()?.with_file_name("seekless"),
        };
        ensure!(
            seekless.exists(),
            "{}: not there; build it (`./run --version`) or name it with --seekless",
            seekless.display()
        );
        Ok(Rival::new("seekless", &self.installed(&seekless)?, &[verb]))
    }

    /// A copy of a program. A linker writes through a mapping, and its file then lies in the page cache in pages of 4 KiB, which
    /// take longer to map at a start than those of a file that was copied as an installation does, the rivals' among them.
    fn installed(&self, program: &Path) -> anyhow::Result<PathBuf> {
        let copy = self.path.join(program.file_name().context("a program has a name")?);
        std::fs::copy(program, &copy).with_context(|| format!("cannot copy {}", program.display()))?;
        Ok(copy)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
        drop(self.heir.stdin.take());
        let _ = self.heir.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::in_(parent.path()).unwrap();
        std::fs::write(folder.path().join("file"), "text").unwrap();
        drop(folder);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_there_already_is_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        let theirs = parent.path().join(format!("seekless-bench.{}", std::process::id()));
        std::fs::create_dir(&theirs).unwrap();
        assert!(Folder::in_(parent.path()).is_err());
        assert!(theirs.exists());
    }

    #[test]
    fn the_heir_removes_what_a_dead_process_left() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = Folder::in_(parent.path()).unwrap();
        std::fs::write(folder.path().join("file"), "text").unwrap();
        drop(folder.heir.stdin.take());
        assert!(folder.heir.wait().unwrap().success());
        assert!(!folder.path().exists());
    }
}
