//! What of an object is in the cache, and where: a look into the tables alone.

use super::Blocks;
use super::form::{BLOCK, SECTOR, SECTORS, SET, SUM, SUMS, TAGS, WAYS};
use super::key::Key;
use super::table::Tags;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Sets whose tables are read at once.
const SETS_AT_ONCE: usize = 64;

/// What the disk cache has of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cached {
    /// The file that holds it.
    pub path: PathBuf,
    /// Ranges of the object, in order. Their content is checked only when it is read.
    pub ranges: Vec<CachedRange>,
}

/// A range of an object that lies in the cache in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachedRange {
    /// Its first byte in the object.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// Its first byte in the cache's file.
    pub place: u64,
}

impl CachedRange {
    /// The first byte of the object after it.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset + self.bytes
    }
}

impl Blocks {
    pub(super) fn ranges(&self, key: &Key, object_bytes: u64) -> io::Result<Vec<CachedRange>> {
        let mut found = Vec::new();
        let mut tables = vec![0; SETS_AT_ONCE * SET];
        for first in (0..self.form.sets).step_by(SETS_AT_ONCE) {
            let sets = (self.form.sets - first).min(SETS_AT_ONCE as u64);
            let tables = &mut tables[..sets as usize * SET];
            self.file.read_exact_at(tables, self.form.tags_at(first))?;
            for (set, table) in (first..).zip(tables.as_chunks::<SET>().0) {
                self.of_set(set, table, key, object_bytes, &mut found);
            }
        }
        found.sort_unstable_by_key(|range: &CachedRange| (range.offset, range.place));
        Ok(joined(found))
    }

    fn of_set(
        &self,
        set: u64,
        table: &[u8; SET],
        key: &Key,
        object_bytes: u64,
        found: &mut Vec<CachedRange>,
    ) {
        let Some((tags, sums)) = table.split_first_chunk::<TAGS>() else { return };
        let Tags(tags) = Tags::from_bytes(tags);
        let blocks = object_bytes.div_ceil(BLOCK);
        for way in 0..WAYS {
            let Some(tag) = tags[way].filter(|tag| tag.key == *key && tag.block < blocks) else {
                continue;
            };
            let sums = &sums[way * SUMS..(way + 1) * SUMS];
            for sector in 0..SECTORS {
                let offset = tag.block * BLOCK + sector as u64 * SECTOR;
                let is_here = sums[sector * SUM..(sector + 1) * SUM].iter().any(|byte| *byte != 0);
                if is_here && offset < object_bytes {
                    let bytes = SECTOR.min(object_bytes - offset);
                    let place = self.form.place_at(set, way) + sector as u64 * SECTOR;
                    found.push(CachedRange { offset, bytes, place });
                }
            }
        }
    }
}

/// Joins ranges that touch in the object and in the file. Of two places of one range, the first
/// counts.
fn joined(ranges: Vec<CachedRange>) -> Vec<CachedRange> {
    let mut joined: Vec<CachedRange> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.offset < last.end() => {}
            Some(last) if (last.end(), last.place + last.bytes) == (range.offset, range.place) => {
                last.bytes += range.bytes;
            }
            _ => joined.push(range),
        }
    }
    joined
}
