//! The numbers of an ext4 file system that decide where its metadata lies and how much of it is
//! read at once.

/// The numbers of an ext4 file system that decide where its metadata lies. The default is what
/// `mkfs.ext4` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Bytes of an inode.
    pub inode_bytes: u64,
    /// Inodes of a block group. The tables of neighbouring groups lie end to end, as `flex_bg`
    /// packs them.
    pub inodes_per_group: u64,
    /// Inode-table blocks that are read ahead (`/sys/fs/ext4/*/inode_readahead_blks`): a power of
    /// two, or 0 for none.
    pub inode_readahead_blocks: u64,
    /// Whether blocks that lie side by side and are asked for at once count as one request, as they
    /// do on a volume. Linux's blk-throttle counts them before they are joined.
    pub joins: bool,
}

impl Default for Geometry {
    fn default() -> Self {
        Geometry {
            block_bytes: 4096,
            inode_bytes: 256,
            inodes_per_group: 8192,
            inode_readahead_blocks: 32,
            joins: true,
        }
    }
}

impl Geometry {
    /// The first inode that is not reserved.
    pub const FIRST_INODE: u64 = 11;

    /// The block of `inode`, counted through the tables of all groups.
    pub(crate) fn inode_block(&self, inode: u64) -> u64 {
        let in_block = (self.block_bytes / self.inode_bytes.max(1)).max(1);
        let per_group = self.inodes_per_group.max(1);
        let number = inode.saturating_sub(1);
        number / per_group * per_group.div_ceil(in_block) + number % per_group / in_block
    }
}
