//! What opening and reading cold files asks of the device: ext4's metadata, each block of it once,
//! and the extents of data.
//!
//! Opening a file looks its name up in each folder on the way; in a folder of many blocks it reads
//! the index and one leaf. It also reads the inode-table block of each inode met, with the blocks
//! that ext4 reads ahead beside it. Reading the file reads its extents, and the blocks of its
//! extent map if that does not fit the inode. What was read once stays in memory. Checked request
//! by request against a throttled ext4 of Linux 6.18; see `__ext4_get_inode_loc` and
//! `ext4_find_entry` in its source.

use crate::geometry::Geometry;
use crate::layout::{Entry, Layout};
use std::collections::HashSet;

#[cfg(test)]
mod tests;

/// Where the lists of names are taken to begin, and the blocks between those of two folders. What
/// matters is that they lie apart from the inodes and from the data.
const NAMES_FROM: u64 = 512 << 20;
const FOLDER_BLOCKS: u64 = 256;
/// Extents that an inode holds itself.
const EXTENTS_IN_INODE: u64 = 4;
/// Extents that a block of 4096 bytes of an extent map holds: 12 bytes each, after a header.
const EXTENT_BYTES: u64 = 12;

/// What a request fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// Inode-table blocks.
    Inodes,
    /// Part of a folder's list of names.
    Names,
    /// Part of a file's extent map.
    Map,
    /// Bytes of a file.
    Data,
}

/// One request to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// What it fetches.
    pub content: Content,
    /// Where that lies on the device. Metadata is taken to lie at the device's start: all
    /// inode tables, then the lists of names.
    pub place: u64,
    /// Its length in bytes. A device may split what is longer than it takes at once.
    pub bytes: u64,
}

/// A file system that is not cached at first.
///
/// ```
/// use seekless_device::{ColdFiles, Geometry, Layout};
///
/// let geometry = Geometry::default();
/// let layout = Layout::fresh(&[("a/one", 100), ("a/two", 5000)], &geometry);
/// let mut files = ColdFiles::new(&layout, geometry);
/// let mut bytes = Vec::new();
/// files.open(0, &mut |fetch| bytes.push(fetch.bytes));
/// assert_eq!(bytes, [33 * 4096, 4096, 4096], "the inodes of all, and the names in two folders");
/// bytes.clear();
/// files.read(0, &mut |fetch| bytes.push(fetch.bytes));
/// files.open(1, &mut |fetch| bytes.push(fetch.bytes));
/// files.read(1, &mut |fetch| bytes.push(fetch.bytes));
/// assert_eq!(bytes, [4096, 8192]);
/// ```
#[derive(Clone, Debug)]
pub struct ColdFiles<'a> {
    layout: &'a Layout,
    geometry: Geometry,
    /// Blocks of metadata in memory.
    blocks: HashSet<Block>,
    /// Folders whose inode, and files whose bytes, are in memory.
    folders: Vec<bool>,
    files: Vec<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Block {
    Inode(u64),
    Name { folder: usize, block: u64 },
}

impl<'a> ColdFiles<'a> {
    /// The files of `layout`, none of them read.
    #[must_use]
    pub fn new(layout: &'a Layout, geometry: Geometry) -> Self {
        ColdFiles {
            layout,
            geometry,
            blocks: HashSet::new(),
            folders: vec![false; layout.folders.len()],
            files: vec![false; layout.files.len()],
        }
    }

    /// Opens file number `file`: reports each request that this takes, in order.
    ///
    /// # Panics
    /// When the layout has no such file.
    pub fn open(&mut self, file: usize, tell: &mut dyn FnMut(Fetch)) {
        let found = &self.layout.files[file];
        self.enter(found.entry.folder, tell);
        self.look_up(found.entry, tell);
        self.inode(found.inode, tell);
    }

    /// Looks for a name in folder number `folder`, whether it is there or not: reports each request
    /// that this takes, in order. A name that is there has an inode, which is read too.
    ///
    /// # Panics
    /// When the layout has no such folder.
    pub fn look_for(
        &mut self,
        folder: usize,
        name: &[u8],
        inode: Option<u64>,
        tell: &mut dyn FnMut(Fetch),
    ) {
        self.enter(folder, tell);
        self.look_up(Entry::new(folder, name), tell);
        if let Some(inode) = inode {
            self.inode(inode, tell);
        }
    }

    /// Walks to folder number `folder`.
    ///
    /// # Panics
    /// When the layout has no such folder.
    pub fn walk_to(&mut self, folder: usize, tell: &mut dyn FnMut(Fetch)) {
        self.enter(folder, tell);
    }

    /// Reads the whole list of names of folder number `folder`.
    ///
    /// # Panics
    /// When the layout has no such folder.
    pub fn list(&mut self, folder: usize, tell: &mut dyn FnMut(Fetch)) {
        self.enter(folder, tell);
        for block in 0..self.layout.folders[folder].blocks {
            self.names(folder, block, tell);
        }
    }

    /// The name and the inode of folder number `folder` are in memory already.
    ///
    /// # Panics
    /// When the layout has no such folder.
    pub fn know(&mut self, folder: usize) {
        self.folders[folder] = true;
    }

    /// Reads the whole of an open file; nothing of it the second time.
    ///
    /// # Panics
    /// When the layout has no such file.
    pub fn read(&mut self, file: usize, tell: &mut dyn FnMut(Fetch)) {
        if std::mem::replace(&mut self.files[file], true) {
            return;
        }
        let found = &self.layout.files[file];
        if found.extents > EXTENTS_IN_INODE {
            let in_block = (self.geometry.block_bytes / EXTENT_BYTES).saturating_sub(1).max(1);
            let blocks = found.extents.div_ceil(in_block);
            // ext4 gives the map blocks near the first data.
            let first = found.pieces.first().and_then(|piece| piece.place).unwrap_or(0);
            let bytes = self.geometry.block_bytes;
            for block in (1..=blocks).rev() {
                let place = first.saturating_sub(block * bytes);
                tell(Fetch { content: Content::Map, place, bytes });
            }
        }
        for piece in &found.pieces {
            let place = piece.place.unwrap_or(0);
            tell(Fetch { content: Content::Data, place, bytes: piece.bytes });
        }
    }

    /// Walks from the root to `folder`, which is then known.
    fn enter(&mut self, folder: usize, tell: &mut dyn FnMut(Fetch)) {
        let layout = self.layout;
        let mut way = Vec::new();
        let mut next = Some(folder);
        while let Some(number) = next.filter(|&number| !self.folders[number]) {
            way.push(number);
            next = layout.folders[number].entry.map(|entry| entry.folder);
        }
        for number in way.into_iter().rev() {
            self.folders[number] = true;
            if let Some(entry) = layout.folders[number].entry {
                self.look_up(entry, tell);
            }
            self.inode(layout.folders[number].inode, tell);
        }
    }

    /// Reads what finding a name takes: the only block, or the index and the leaf that the name
    /// falls into.
    fn look_up(&mut self, entry: Entry, tell: &mut dyn FnMut(Fetch)) {
        let folder = entry.folder;
        let blocks = self.layout.folders[folder].blocks;
        let leaf = (blocks > 1).then(|| 1 + entry.hash % (blocks - 1));
        for block in [0].into_iter().chain(leaf) {
            self.names(folder, block, tell);
        }
    }

    /// Reads a block of a folder's list of names.
    fn names(&mut self, folder: usize, block: u64, tell: &mut dyn FnMut(Fetch)) {
        if self.blocks.insert(Block::Name { folder, block }) {
            let bytes = self.geometry.block_bytes;
            let number = (folder as u64).saturating_mul(FOLDER_BLOCKS) + block % FOLDER_BLOCKS;
            let place = NAMES_FROM.saturating_add(number.saturating_mul(bytes));
            tell(Fetch { content: Content::Names, place, bytes });
        }
    }

    /// Reads the block of an inode and, as ext4 does, those up to and with the end of the aligned
    /// window around it.
    fn inode(&mut self, inode: u64, tell: &mut dyn FnMut(Fetch)) {
        let block = self.geometry.inode_block(inode);
        if self.blocks.contains(&Block::Inode(block)) {
            return;
        }
        let window = match self.geometry.inode_readahead_blocks {
            0 => block..=block,
            ahead => block / ahead * ahead..=(block / ahead * ahead).saturating_add(ahead),
        };
        let (mut first, mut run) = (block, 0);
        for block in window {
            let is_new = self.blocks.insert(Block::Inode(block));
            if run > 0 && !(is_new && self.geometry.joins) {
                self.tell_inodes(first, run, tell);
                run = 0;
            }
            if run == 0 {
                first = block;
            }
            run += u64::from(is_new);
        }
        if run > 0 {
            self.tell_inodes(first, run, tell);
        }
    }

    fn tell_inodes(&self, first: u64, blocks: u64, tell: &mut dyn FnMut(Fetch)) {
        let block_bytes = self.geometry.block_bytes;
        let place = first.saturating_mul(block_bytes);
        tell(Fetch { content: Content::Inodes, place, bytes: blocks * block_bytes });
    }
}
