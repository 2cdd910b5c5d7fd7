//! A tree of many small files: made, and read into the caches as in normal use.

use anyhow::Context;
use seekless::sys::residency::{resident_bytes, write_back_file_system};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const FILES_IN_FOLDER: usize = 100;
/// The largest file, which fits one page.
const BYTES_MOST: usize = 4096;

/// Folders of a hundred files. One file in a few thousand is empty.
pub(super) struct Tree {
    pub(super) root: PathBuf,
    pub(super) files: usize,
}

/// The pages of the files' data in the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cached {
    pub(super) pages: u64,
    /// `None` if the kernel does not report it.
    pub(super) resident_pages: Option<u64>,
}

impl Tree {
    /// Makes the files and writes them to the device, so that no write-back disturbs later.
    pub(super) fn make(root: PathBuf, files: usize) -> anyhow::Result<Self> {
        let tree = Tree { root, files };
        tree.write().with_context(|| format!("cannot make files in {}", tree.root.display()))?;
        Ok(tree)
    }

    fn write(&self) -> io::Result<()> {
        let text = [b'x'; BYTES_MOST];
        std::fs::create_dir(&self.root)?;
        for folder in 0..self.folders() {
            std::fs::create_dir(self.folder(folder))?;
        }
        for (number, path) in self.paths().enumerate() {
            File::create(path)?.write_all(&text[..bytes(number)])?;
        }
        write_back_file_system(File::open(&self.root)?.as_fd())
    }

    pub(super) fn folders(&self) -> usize {
        self.files.div_ceil(FILES_IN_FOLDER)
    }

    /// The number of lines of a walk: files, folders and the root.
    pub(super) fn lines(&self) -> usize {
        self.files + self.folders() + 1
    }

    /// Reads names, attributes and every file.
    pub(super) fn warm(&self) -> anyhow::Result<()> {
        for folder in 0..self.folders() {
            let folder = self.folder(folder);
            warm_folder(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        }
        Ok(())
    }

    pub(super) fn cached(&self) -> anyhow::Result<Cached> {
        let mut all = Cached { pages: 0, resident_pages: Some(0) };
        for (number, path) in self.paths().enumerate() {
            let resident = File::open(&path).and_then(|file| resident_bytes(file.as_fd()));
            let resident =
                resident.with_context(|| format!("cannot ask about {}", path.display()))?;
            all.pages += u64::from(bytes(number) > 0);
            all.resident_pages =
                all.resident_pages.zip(resident).map(|(pages, bytes)| pages + u64::from(bytes > 0));
        }
        Ok(all)
    }

    fn folder(&self, number: usize) -> PathBuf {
        self.root.join(format!("folder-{number:04}"))
    }

    fn paths(&self) -> impl Iterator<Item = PathBuf> + '_ {
        (0..self.files)
            .map(|number| self.folder(number / FILES_IN_FOLDER).join(format!("file-{number:06}")))
    }
}

/// 0 to a page, in scattered order.
fn bytes(number: usize) -> usize {
    number * 1237 % (BYTES_MOST + 1)
}

fn warm_folder(folder: &Path) -> io::Result<()> {
    let mut buffer = [0; BYTES_MOST];
    for entry in std::fs::read_dir(folder)? {
        let mut file = File::open(entry?.path())?;
        if file.metadata()?.size() > 0 {
            while file.read(&mut buffer)? > 0 {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_as_large_as_it_says_and_cached_once_read() {
        let parent = tempfile::tempdir().unwrap();
        let tree = Tree::make(parent.path().join("tree"), 150).unwrap();
        assert_eq!((tree.folders(), tree.lines()), (2, 153));
        let counted: usize =
            (0..2).map(|n| std::fs::read_dir(tree.folder(n)).unwrap().count()).sum();
        assert_eq!(counted, 150);
        tree.warm().unwrap();
        let cached = tree.cached().unwrap();
        assert_eq!(cached.pages, 149);
        assert!(cached.resident_pages.is_none_or(|resident| resident <= 149));
    }

    #[test]
    fn sizes_fill_a_page_at_most() {
        assert_eq!((bytes(0), bytes(1), bytes(4)), (0, 1237, 851));
        assert!((0..=BYTES_MOST).all(|number| bytes(number) <= BYTES_MOST));
        assert_eq!((0..=BYTES_MOST).filter(|&number| bytes(number) == 0).count(), 1);
    }
}
