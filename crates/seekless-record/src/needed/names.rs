//! The names of files without links, as the kernel would name them: found after the program's end
//! by the names that it passed, and compared by inode.

use super::seen::{Fast, id_of};
use hashbrown::HashMap;
use seekless_watch::first_needs::FileId;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A file's name, and its size if it is a regular file.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) name: Vec<u8>,
    pub(super) bytes: Option<u64>,
}

#[derive(Default)]
pub(super) struct Names {
    named: HashMap<FileId, Named, Fast>,
    /// Folders without links, by their names.
    real: HashMap<PathBuf, Option<PathBuf>, Fast>,
}

impl Names {
    pub(super) fn of(&self, id: FileId) -> Option<&Named> {
        self.named.get(&id)
    }

    /// A file was opened by this absolute name. Returns its name without links, if the file is
    /// still there.
    pub(super) fn offer(&mut self, id: FileId, name: &[u8]) -> Option<&Named> {
        if !self.named.contains_key(&id) {
            let (path, found) = self.without_links(Path::new(OsStr::from_bytes(name)))?;
            if found.ino() != id.inode {
                return None; // it is another file by now, or was looked up from another root
            }
            let name = path.into_os_string().into_encoded_bytes();
            let bytes = found.is_file().then_some(found.len());
            self.named.insert(id, Named { name, bytes });
        }
        self.named.get(&id)
    }

    /// Names of programs that were executed. What loads them is opened by the kernel itself.
    pub(super) fn offer_programs(&mut self, mut executed: Vec<Vec<u8>>) {
        executed.sort_unstable();
        executed.dedup();
        let loaders: Vec<Vec<u8>> = executed.iter().filter_map(|name| loader(name)).collect();
        for name in executed.into_iter().chain(loaders) {
            if let Some(id) = id_of(Path::new(OsStr::from_bytes(&name))) {
                let _ = self.offer(id, &name); // it may have gone
            }
        }
    }

    fn without_links(&mut self, path: &Path) -> Option<(PathBuf, Metadata)> {
        let (Some(folder), Some(last)) = (path.parent(), path.file_name()) else {
            return Some((path.to_owned(), fs::metadata(path).ok()?));
        };
        if !self.real.contains_key(folder) {
            self.real.insert(folder.to_owned(), folder.canonicalize().ok());
        }
        let whole = self.real.get(folder)?.as_ref()?.join(last);
        let found = fs::symlink_metadata(&whole).ok()?;
        if !found.is_symlink() {
            return Some((whole, found));
        }
        let whole = whole.canonicalize().ok()?;
        let found = fs::metadata(&whole).ok()?;
        Some((whole, found))
    }
}

/// The loader that an ELF program asks for (PT_INTERP).
fn loader(program: &[u8]) -> Option<Vec<u8>> {
    const HEADER_BYTES: usize = 64;
    const ENTRY_BYTES: usize = 56;
    const INTERPRETER: u32 = 3;
    const READ_BYTES: usize = 4096;
    let file = File::open(OsStr::from_bytes(program)).ok()?;
    let mut head = vec![0; READ_BYTES];
    let read = file.read_at(&mut head, 0).ok()?;
    head.truncate(read);
    if head.len() < HEADER_BYTES || &head[..5] != b"\x7fELF\x02" {
        return None; // a script, or a 32-bit program
    }
    let word = |at: usize| Some(u64::from_le_bytes(head.get(at..at + 8)?.try_into().ok()?));
    let table = usize::try_from(word(32)?).ok().filter(|at| *at < READ_BYTES)?;
    let entries = usize::from(u16::from_le_bytes([head[56], head[57]]));
    (0..entries).map(|number| table + number * ENTRY_BYTES).find_map(|at| {
        let kind = u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?);
        let (offset, bytes) = (word(at + 8)?, usize::try_from(word(at + 32)?).ok()?);
        if kind != INTERPRETER || bytes > READ_BYTES {
            return None;
        }
        let mut name = vec![0; bytes];
        file.read_exact_at(&mut name, offset).ok()?;
        name.split(|byte| *byte == 0).next().map(<[u8]>::to_vec)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_of_a_program_is_named_by_it() {
        let own = std::env::current_exe().unwrap();
        if let Some(loader) = loader(own.as_os_str().as_bytes()) {
            assert!(Path::new(OsStr::from_bytes(&loader)).is_file());
        }
        assert_eq!(loader(b"/etc/passwd"), None);
    }

    #[test]
    fn a_name_is_without_links_and_of_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("a")).unwrap();
        fs::write(root.join("a/file"), "x").unwrap();
        std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        std::os::unix::fs::symlink("file", root.join("a/other")).unwrap();
        let path = root.join("link/other");
        let id = id_of(&path).unwrap();
        let mut names = Names::default();
        let wrong = FileId { inode: id.inode + 1, ..id };
        assert!(names.offer(wrong, path.as_os_str().as_bytes()).is_none());
        let named = names.offer(id, path.as_os_str().as_bytes()).unwrap();
        assert_eq!(named.name, root.join("a/file").as_os_str().as_bytes());
        assert_eq!(named.bytes, Some(1));
    }
}
