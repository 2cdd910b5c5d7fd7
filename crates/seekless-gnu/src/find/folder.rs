//! The list of a folder: the names, types and inode numbers of its entries, in the order in which
//! GNU find visits them. All entries share two allocations.

use rustix::fs::{FileType, RawDir, fstatfs};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd};

/// GNU find sorts a larger folder by inode, in batches of [`BATCH`], where that saves seeks.
const SORTED_MIN: usize = 10_000;
const BATCH: usize = 100_000;
/// The initial capacity: enough for most folders.
const CHILDREN: usize = 32;
const NAMES_BYTES: usize = 512;
/// The buffer for one system call.
const BUFFER_BYTES: usize = 64 << 10;

/// A folder as it was when it was listed.
#[derive(Debug)]
pub(super) struct Folder {
    /// The path as find prints it.
    pub(super) path: Vec<u8>,
    /// The length of the argument below which it lies.
    pub(super) root_bytes: usize,
    /// Its depth below that argument.
    pub(super) depth: usize,
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) list: List,
    /// Listed by a helper thread.
    pub(super) by_helper: bool,
}

impl Folder {
    /// Replaces the contents of `path` by the path of a child and a NUL. Returns the offset of the
    /// child's name.
    pub(super) fn path_of(&self, child: usize, path: &mut Vec<u8>) -> usize {
        path.clear();
        path.extend_from_slice(&self.path);
        if path.last() != Some(&b'/') {
            path.push(b'/');
        }
        let name_at = path.len();
        path.extend_from_slice(self.list.name_with_nul(child));
        name_at
    }
}

/// The entries of a folder, without `.` and `..`.
#[derive(Debug, Default)]
pub(super) struct List {
    names: Vec<u8>,
    children: Vec<Child>,
}

#[derive(Clone, Copy, Debug)]
struct Child {
    name_at: usize,
    name_bytes: u16,
    kind: Option<FileType>,
    inode: u64,
}

impl List {
    /// Lists a folder. `buffer` is reused between calls.
    pub(super) fn read(folder: BorrowedFd<'_>, buffer: &mut Vec<u8>) -> Result<List, Errno> {
        let mut list =
            List { names: Vec::with_capacity(NAMES_BYTES), children: Vec::with_capacity(CHILDREN) };
        buffer.reserve(BUFFER_BYTES);
        let mut lines = RawDir::new(folder, buffer.spare_capacity_mut());
        while let Some(line) = lines.next() {
            let line = match line {
                Ok(line) => line,
                Err(Errno::NOENT) => break, // removed since: it is empty
                Err(error) => return Err(error),
            };
            let name = line.file_name().to_bytes_with_nul();
            if name == b".\0" || name == b"..\0" {
                continue;
            }
            let kind = Some(line.file_type()).filter(|kind| *kind != FileType::Unknown);
            // Linux limits names to 255 bytes.
            let name_bytes = u16::try_from(name.len()).map_err(|_| Errno::NAMETOOLONG)?;
            list.children.push(Child {
                name_at: list.names.len(),
                name_bytes,
                kind,
                inode: line.ino(),
            });
            list.names.extend_from_slice(name);
        }
        if list.len() > SORTED_MIN && sorting_helps(folder) {
            for batch in list.children.chunks_mut(BATCH).filter(|batch| batch.len() > SORTED_MIN) {
                batch.sort_by_key(|child| child.inode);
            }
        }
        Ok(list)
    }

    pub(super) fn len(&self) -> usize {
        self.children.len()
    }

    pub(super) fn name_with_nul(&self, child: usize) -> &[u8] {
        let Child { name_at, name_bytes, .. } = self.children[child];
        &self.names[name_at..name_at + usize::from(name_bytes)]
    }

    /// The type from the folder's list, if the file system fills it in.
    pub(super) fn kind(&self, child: usize) -> Option<FileType> {
        self.children[child].kind
    }

    pub(super) fn inode(&self, child: usize) -> u64 {
        self.children[child].inode
    }
}

/// Inode numbers follow the places of inodes on a disk, but not in memory or across a network.
fn sorting_helps(folder: impl AsFd) -> bool {
    const TMPFS: i64 = 0x0102_1994;
    const NFS: i64 = 0x6969;
    const CIFS: i64 = 0xFF53_4D42;
    !fstatfs(folder).is_ok_and(|system| [TMPFS, NFS, CIFS].contains(&system.f_type))
}
