//! Names and inodes that programs will look up. A start that asks for thousands of names waits for
//! blocks of folders and inodes, one after the other. Here several are waited for at a time, and in
//! the order of their numbers inodes that lie together come together.

use super::{Options, THREADS, interrupted};
use seekless_job::Result;
use seekless_job::crew;
use seekless_trace::{Columns, Op, Trace, unescape_path};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder up to this size is listed for the numbers of its inodes, and a larger one if it has so
/// many bytes for each name that is wanted of it.
const FOLDER_BYTES: u64 = 32 << 10;
const NAME_BYTES: u64 = 1 << 10;
/// What the kernel makes up has no blocks.
const MADE_UP: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The names to look up: by how deep they lie, the folder, and the name in it.
#[derive(Debug, Default)]
pub(super) struct Names {
    levels: BTreeMap<usize, BTreeMap<PathBuf, BTreeSet<OsString>>>,
    /// Folders that are listed whole.
    listed: BTreeSet<PathBuf>,
    /// The names of sources, without the folders on the way.
    count: u64,
}

impl Names {
    /// Adds the names of a trace, and the folders that its programs listed.
    pub(super) fn add_trace(
        &mut self,
        trace: &Trace,
        options: &Options,
    ) -> seekless_trace::Result<()> {
        let names = trace.file_names()?;
        let mut listed = HashSet::new();
        for batch in trace.scan(Columns::OP | Columns::FILE)? {
            let batch = batch?;
            let rows = batch.op().iter().zip(batch.file());
            listed.extend(rows.filter(|(op, _)| **op == Op::List).map(|(_, file)| *file));
        }
        for (file, name) in (0..).zip(&names) {
            let Some(path) = self.add(name, options) else { continue };
            if listed.contains(&file) {
                self.listed.insert(path);
            }
        }
        Ok(())
    }

    /// Adds a name; returns where it lies now, if it may be looked up.
    pub(super) fn add(&mut self, name: &str, options: &Options) -> Option<PathBuf> {
        let path = PathBuf::from(OsString::from_vec(unescape_path(&options.roots.apply(name))));
        let within = &options.within;
        let allowed = within.is_empty() || within.iter().any(|root| path.starts_with(root));
        let made_up = MADE_UP.iter().any(|root| path.starts_with(root));
        if !path.is_absolute() || made_up || !allowed {
            return None;
        }
        if self.insert(&path) {
            self.count += 1;
        }
        let mut folder = path.parent();
        while let Some(above) = folder.filter(|above| self.insert(above)) {
            folder = above.parent();
        }
        Some(path)
    }

    /// Adds a name alone; false if it was there, and then so are the folders on its way.
    fn insert(&mut self, path: &Path) -> bool {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
        let level = self.levels.entry(path.components().count()).or_default();
        level.entry(folder.to_owned()).or_default().insert(name.to_owned())
    }

    /// How many names sources have.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Looks all up. What is not there is looked up, too: its programs will ask in vain.
    ///
    /// # Errors
    /// The caller asked to stop, or no thread can be started.
    pub(super) fn look_up(&self, options: &Options) -> Result<()> {
        for folders in self.levels.values() {
            let folders: Vec<_> = folders.iter().collect();
            let found = Mutex::new(Vec::new());
            each(&folders, options, |(folder, names)| {
                let numbered = numbered(folder, names);
                found.lock().unwrap_or_else(PoisonError::into_inner).extend(numbered);
            })?;
            let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
            found.sort_unstable();
            each(&found, options, |(_, path)| drop(path.symlink_metadata()))?;
        }
        let listed: Vec<_> = self.listed.iter().collect();
        each(&listed, options, |folder| drop(std::fs::read_dir(folder).map(Iterator::count)))
    }
}

/// Does something with each of `all`, in about their order, on a few threads.
fn each<T: Sync>(all: &[T], options: &Options, act: impl Fn(&T) + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let (next, act, cancel) = (&next, &act, &options.cancel);
    std::thread::scope(|scope| {
        crew::start(scope, THREADS.min(all.len()), move || {
            while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed))
                && !cancel.load(Ordering::Relaxed)
            {
                act(one);
            }
        })
    })?;
    if cancel.load(Ordering::Relaxed) { Err(interrupted()) } else { Ok(()) }
}

/// The names of a folder, with the numbers of their inodes where listing it pays. Those of which
/// nothing is known come last.
fn numbered(folder: &Path, names: &BTreeSet<OsString>) -> Vec<(u64, PathBuf)> {
    let found = folder.metadata();
    let pays = |found: &Metadata| {
        found.is_dir() && found.size() <= FOLDER_BYTES.max(names.len() as u64 * NAME_BYTES)
    };
    let entries = found.is_ok_and(|found| pays(&found)).then(|| std::fs::read_dir(folder));
    let entries = entries.and_then(std::io::Result::ok).into_iter().flatten().flatten();
    let wanted = entries.filter(|entry| names.contains(&entry.file_name()));
    let numbers: BTreeMap<OsString, u64> =
        wanted.map(|entry| (entry.file_name(), entry.ino())).collect();
    let number = |name: &OsStr| numbers.get(name).copied().unwrap_or(u64::MAX);
    names.iter().map(|name| (number(name), folder.join(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    fn options(within: &[&Path]) -> Options {
        let within = within.iter().map(|path| path.to_path_buf()).collect();
        Options { within, ..Options::default() }
    }

    #[test]
    fn names_are_numbered_by_their_inodes_and_folders_come_before_what_is_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        let mut names = Names::default();
        for name in ["sub/b", "sub/a", "gone"] {
            if name != "gone" {
                std::fs::write(root.join(name), "").unwrap();
            }
            let path = root.join(name).into_os_string().into_string().unwrap();
            assert!(names.add(&path, &options(&[&root])).is_some());
            names.add(&path, &options(&[])).unwrap();
        }
        assert_eq!(names.count(), 3, "each once");
        let last = names.levels.values().next_back().unwrap();
        let found = numbered(&root.join("sub"), &last[&root.join("sub")]);
        let number = |name: &str| root.join("sub").join(name).symlink_metadata().unwrap().ino();
        assert_eq!(found, [(number("a"), root.join("sub/a")), (number("b"), root.join("sub/b"))]);
        let gone = [OsString::from("gone")].into();
        assert_eq!(numbered(&root, &gone), [(u64::MAX, root.join("gone"))]);
        let levels: Vec<_> = names.levels.keys().collect();
        assert!(levels.len() >= 3 && levels.is_sorted());
        names.look_up(&options(&[])).unwrap();
        let stopped = options(&[]);
        stopped.cancel.store(true, Ordering::Relaxed);
        assert!(names.look_up(&stopped).is_err());
    }

    #[test]
    fn what_is_no_file_of_a_disk_or_lies_elsewhere_is_not_looked_up() {
        let mut names = Names::default();
        for name in ["disk", "pipe:[7]", "/proc/self/status", "/dev/null", "/elsewhere/a"] {
            let within = if name.starts_with("/else") { vec![Path::new("/here")] } else { vec![] };
            assert_eq!(names.add(name, &options(&within)), None, "{name}");
        }
        assert_eq!((names.count(), names.levels.len()), (0, 0));
        let odd = OsStr::from_bytes(b"/a\xff");
        assert_eq!(names.add(r"/a\xff", &options(&[])).as_deref(), Some(Path::new(odd)));
    }
}
