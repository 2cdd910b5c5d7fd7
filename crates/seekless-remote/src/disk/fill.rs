//! Reading from the cache, and writing to it, one block after another.

use super::Blocks;
use super::form::{BLOCK, SECTOR};
use super::key::Key;
use super::table::SOON;
use super::writer::Piece;
use crate::cached::copy;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// A part of one block of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    block: u64,
    /// Of the object, within the block.
    bytes: Range<u64>,
}

impl Part {
    /// The parts of a range, block by block.
    fn of(range: Range<u64>) -> impl Iterator<Item = Self> {
        let blocks = range.start / BLOCK..range.end.div_ceil(BLOCK);
        blocks.map(move |block| {
            let start = range.start.max(block * BLOCK);
            let end = range.end.min((block + 1) * BLOCK);
            Self { block, bytes: start..end }
        })
    }

    /// The sectors of the block in which it lies.
    fn sectors(&self) -> Range<usize> {
        let first = self.block * BLOCK;
        let sector = |bytes: u64| bytes as usize;
        sector((self.bytes.start - first) / SECTOR)
            ..sector((self.bytes.end - first).div_ceil(SECTOR))
    }

    /// The bytes of the object in these of its sectors.
    fn bytes_of(&self, sectors: &Range<usize>, object_bytes: u64) -> Range<u64> {
        let at = |sector: usize| self.block * BLOCK + sector as u64 * SECTOR;
        at(sectors.start)..at(sectors.end).min(object_bytes)
    }
}

impl Blocks {
    /// As [`DiskCache::fill`](super::DiskCache::fill). Returns how many bytes were copied, too.
    pub(super) fn fill(
        &self,
        key: &Key,
        object_bytes: u64,
        offset: u64,
        into: &mut [u8],
    ) -> (u64, Vec<Range<u64>>) {
        let end = (offset + into.len() as u64).min(object_bytes);
        let mut missing: Vec<Range<u64>> = Vec::new();
        let (mut copied, mut content) = (0, Vec::new());
        for part in Part::of(offset..end) {
            let sectors = part.sectors();
            // What cannot be read here is read from the object.
            let here =
                self.checked(key, &part, object_bytes, &mut content)
                    .unwrap_or(vec![false; sectors.len()]);
            for (sector, here) in sectors.clone().zip(here) {
                let bytes = part.bytes_of(&(sector..sector + 1), object_bytes);
                if here {
                    let from = (sector - sectors.start) * SECTOR as usize;
                    let found = &content[from..from + (bytes.end - bytes.start) as usize];
                    copied += copy(found, bytes.start, into, offset);
                    continue;
                }
                match missing.last_mut() {
                    Some(last) if last.end == bytes.start => last.end = bytes.end,
                    _ => missing.push(bytes),
                }
            }
        }
        (copied, missing)
    }

    /// Reads the sectors of a part into `content`, and says which of them are right. One that is
    /// not is forgotten.
    fn checked(
        &self,
        key: &Key,
        part: &Part,
        object_bytes: u64,
        content: &mut Vec<u8>,
    ) -> io::Result<Vec<bool>> {
        let (set, sectors) = (self.form.set_of(key, part.block), part.sectors());
        let mut right = vec![false; sectors.len()];
        let Some((way, prediction)) = self.tags(set)?.find(key, part.block) else {
            return Ok(right);
        };
        let sums = self.sums(set, way, &sectors)?;
        let there = |sum: &u64| *sum != 0;
        let (Some(first), Some(last)) = (sums.iter().position(there), sums.iter().rposition(there))
        else {
            return Ok(right);
        };
        content.resize(sectors.len() * SECTOR as usize, 0);
        let held = first * SECTOR as usize..(last + 1) * SECTOR as usize;
        let at = self.form.place_at(set, way) + (sectors.start + first) as u64 * SECTOR;
        self.file.read_exact_at(&mut content[held], at)?;
        for (index, sum) in sums.iter().enumerate().filter(|(_, sum)| there(sum)) {
            let sector = sectors.start + index;
            let bytes = part.bytes_of(&(sector..sector + 1), object_bytes);
            let from = index * SECTOR as usize;
            let found = &content[from..from + (bytes.end - bytes.start) as usize];
            right[index] = key.sum(bytes.start / SECTOR, found) == *sum;
            if !right[index] {
                self.set_sums(set, way, sector, &[0])?;
            }
        }
        if prediction != SOON && !right.contains(&false) {
            self.used(set, way)?;
        }
        Ok(right)
    }

    /// Keeps a piece of an object.
    pub(super) fn put(&self, piece: &Piece) -> io::Result<()> {
        let Piece { key, offset, content } = piece;
        for part in Part::of(*offset..*offset + content.len() as u64) {
            let from = (part.bytes.start - offset) as usize;
            let bytes = (part.bytes.end - part.bytes.start) as usize;
            self.put_part(key, &part, &content[from..from + bytes])?;
        }
        Ok(())
    }

    fn put_part(&self, key: &Key, part: &Part, content: &[u8]) -> io::Result<()> {
        let (set, sectors) = (self.form.set_of(key, part.block), part.sectors());
        let tags = self.tags(set)?;
        let way = match tags.find(key, part.block) {
            Some((way, _)) => way,
            None => self.claim(set, &tags, *key, part.block)?,
        };
        let first = part.bytes.start / SECTOR;
        let sums: Vec<u64> = (first..)
            .zip(content.chunks(SECTOR as usize))
            .map(|(sector, content)| key.sum(sector, content))
            .collect();
        // Another reader has kept it meanwhile.
        if self.sums(set, way, &sectors)? == sums {
            return Ok(());
        }
        let at = self.form.place_at(set, way) + sectors.start as u64 * SECTOR;
        self.write(content, at)?;
        self.set_sums(set, way, sectors.start, &sums)
    }
}
