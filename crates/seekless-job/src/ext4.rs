//! The numbers of a mounted ext4 file system: from its superblock where that may be read (root),
//! else from `statfs` and `/sys`, else as `mkfs.ext4` chooses them.

use rustix::fs::{major, minor, statfs};
use seekless_device::Geometry;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// `EXT4_SUPER_MAGIC` of linux/magic.h; also that of ext2 and ext3, whose inodes lie the same way.
const MAGIC: u64 = 0xEF53;
/// Where the superblock begins, and how much of it is needed.
const SUPERBLOCK: (u64, usize) = (1024, 96);
const SECTOR_BYTES: u64 = 512;

/// The geometry of the file system that `path` lies on; `None` if it is no ext4.
pub fn geometry(path: &Path) -> Option<Geometry> {
    let about = statfs(path).ok().filter(|about| about.f_type as u64 == MAGIC)?;
    let lies = fs::metadata(path).ok()?.dev();
    let device = PathBuf::from(format!("/sys/dev/block/{}:{}", major(lies), minor(lies)));
    let name = fs::canonicalize(&device).ok().and_then(|place| Some(place.file_name()?.to_owned()));
    let found = name.as_ref().and_then(|name| superblock(&Path::new("/dev").join(name)));
    let mut geometry = found.unwrap_or_else(|| {
        let sectors = number(&device.join("size")).unwrap_or(0);
        outline(about.f_bsize.unsigned_abs(), about.f_files, sectors * SECTOR_BYTES)
    });
    let ahead = name.and_then(|name| {
        number(&Path::new("/sys/fs/ext4").join(name).join("inode_readahead_blks"))
    });
    geometry.inode_readahead_blocks = ahead.unwrap_or(geometry.inode_readahead_blocks);
    Some(geometry)
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// What the superblock says of inodes (ext4's kernel documentation, "Super Block").
fn superblock(device: &Path) -> Option<Geometry> {
    let mut bytes = [0; SUPERBLOCK.1];
    File::open(device).ok()?.read_exact_at(&mut bytes, SUPERBLOCK.0).ok()?;
    let word = |at: usize| u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let long = |at: usize| word(at) | word(at + 2) << 16;
    let (block_bytes, inodes_per_group, inode_bytes) =
        (1024u64.checked_shl(long(0x18) as u32)?, long(0x28), word(0x58));
    let makes_sense = word(0x38) == MAGIC
        && (1024..=65_536).contains(&block_bytes)
        && (128..=block_bytes).contains(&inode_bytes)
        && inodes_per_group > 0;
    makes_sense.then(|| Geometry {
        block_bytes,
        inode_bytes,
        inodes_per_group,
        ..Geometry::default()
    })
}

/// Without the superblock: a group has as many blocks as its bitmap of one block has bits, and
/// inodes are spread evenly.
fn outline(block_bytes: u64, inodes: u64, device_bytes: u64) -> Geometry {
    let default = Geometry::default();
    let block_bytes = if block_bytes == 0 { default.block_bytes } else { block_bytes };
    let groups = (device_bytes / block_bytes).div_ceil(8 * block_bytes);
    let inodes_per_group = inodes.checked_div(groups).filter(|&inodes| inodes > 0);
    Geometry {
        block_bytes,
        inodes_per_group: inodes_per_group.unwrap_or(default.inodes_per_group),
        ..default
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn groups_are_as_large_as_their_bitmap() {
        // A file system of 256 GiB with 16,777,216 inodes.
        let found = outline(4096, 16_777_216, 268_435_456 << 10);
        assert_eq!(found.inodes_per_group, 8192);
        assert_eq!(
            outline(4096, 1000, 0),
            Geometry { inodes_per_group: 8192, ..Geometry::default() }
        );
        assert_eq!(outline(0, 0, u64::MAX).block_bytes, 4096);
    }

    #[test]
    fn the_superblock_says_it_exactly() {
        let image = tempfile::NamedTempFile::new().unwrap();
        image.as_file().set_len(64 << 20).unwrap();
        let made = ["mkfs.ext4", "/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4"].iter().any(|mkfs| {
            let words = ["-q", "-F", "-b", "1024", "-I", "512", "-N", "4096"];
            Command::new(mkfs)
                .args(words)
                .arg(image.path())
                .status()
                .is_ok_and(|status| status.success())
        });
        if !made {
            return eprintln!("skipped: mkfs.ext4 is not here");
        }
        let found = superblock(image.path()).unwrap();
        // 64 MiB are eight groups of 8,192 blocks of 1 KiB.
        assert_eq!(
            (found.block_bytes, found.inode_bytes, found.inodes_per_group),
            (1024, 512, 512)
        );
        assert_eq!(superblock(Path::new("/dev/null")), None);
        image.as_file().write_all_at(&[0; 4096], 0).unwrap();
        assert_eq!(superblock(image.path()), None);
    }
}
