//! A folder that is removed at the end, even if the program is killed, and in it programs as an
//! installation would copy them.

use anyhow::Context;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Waits until the other end of its standard input is closed.
const REMOVE_LATER: &str = "read -r nothing; rm -rf -- \"$1\"";

/// A folder that is removed at the end.
pub(crate) struct Folder {
    path: PathBuf,
    /// A shell that removes the folder if this process dies, for example by Ctrl-C. It is in its
    /// own process group.
    heir: Child,
}

impl Folder {
    pub(crate) fn in_(parent: &Path) -> anyhow::Result<Self> {
        let path = parent.join(format!("seekless-bench.{}", std::process::id()));
        std::fs::create_dir_all(parent)
            .with_context(|| format!("cannot make {}", parent.display()))?;
        // A folder that exists already belongs to another process.
        std::fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", REMOVE_LATER, "sh"]).arg(&path).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        match shell.spawn() {
            Ok(heir) => Ok(Folder { path, heir }),
            Err(error) => {
                let _ = std::fs::remove_dir(&path);
                Err(error)
                    .context("cannot run /bin/sh, which removes the folder if this is interrupted")
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Copies a program as an installation does. A linker writes through a mapping, so its file
    /// lies in the page cache in pages of 4 KiB. These take longer to map at a start than those of
    /// a copied file, and the rivals are copied files. The copy lies in a folder called `name`.
    pub(crate) fn installed(&self, program: &Path, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.path.join(name);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let copy = folder.join(program.file_name().context("a program has a name")?);
        std::fs::copy(program, &copy)
            .with_context(|| format!("cannot copy {}", program.display()))?;
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
