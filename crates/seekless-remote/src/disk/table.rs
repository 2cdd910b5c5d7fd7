//! The tags of a set, and which place is used again: RRIP's, as in `seekless-policy`, whose paper
//! is about sets of 16 places. Its two bits lie in the tag, so that processes share them; a hit
//! costs one write of a byte, and only the first one after others. A scan leaves before what was
//! read twice.

use super::Blocks;
use super::form::{SUM, SUMS, TAG, TAGS, WAYS};
use super::key::{KEY, Key};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Where a tag has what: the key, the block's number, the prediction, and whether it is in use.
const NUMBER_AT: usize = KEY;
const PREDICTION_AT: usize = KEY + 8;
const USED_AT: usize = KEY + 9;
const USED: u8 = 1;

/// Predictions of the next use: soon, that of a newcomer, and far.
pub(super) const SOON: u8 = 0;
pub(super) const NEW: u8 = 2;
const FAR: u8 = 3;

/// What lies in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) key: Key,
    pub(super) block: u64,
    /// RRIP's, from 0 to 3.
    pub(super) prediction: u8,
}

impl Tag {
    fn to_bytes(self) -> [u8; TAG] {
        let mut bytes = [0; TAG];
        bytes[..KEY].copy_from_slice(self.key.bytes());
        bytes[NUMBER_AT..PREDICTION_AT].copy_from_slice(&self.block.to_le_bytes());
        bytes[PREDICTION_AT] = self.prediction;
        bytes[USED_AT] = USED;
        bytes
    }

    fn from_bytes(bytes: &[u8; TAG]) -> Option<Self> {
        let (mut key, mut block) = ([0; KEY], [0; 8]);
        key.copy_from_slice(&bytes[..KEY]);
        block.copy_from_slice(&bytes[NUMBER_AT..PREDICTION_AT]);
        let prediction = bytes[PREDICTION_AT].min(FAR);
        let (key, block) = (Key::from_bytes(key), u64::from_le_bytes(block));
        (bytes[USED_AT] == USED).then_some(Self { key, block, prediction })
    }
}

/// The tags of one set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tags(pub(super) [Option<Tag>; WAYS]);

impl Tags {
    pub(super) fn from_bytes(bytes: &[u8; TAGS]) -> Self {
        let mut tags = [None; WAYS];
        for (tag, bytes) in tags.iter_mut().zip(bytes.as_chunks().0) {
            *tag = Tag::from_bytes(bytes);
        }
        Self(tags)
    }

    /// The place of a block, and its prediction.
    pub(super) fn find(&self, key: &Key, block: u64) -> Option<(usize, u8)> {
        let is_it = |tag: &Tag| tag.key == *key && tag.block == block;
        let found = self.0.iter().position(|tag| tag.as_ref().is_some_and(is_it))?;
        self.0[found].map(|tag| (found, tag.prediction))
    }

    /// The place for a newcomer, and by how much the predictions of the others rise: a free place,
    /// else the first of those that are predicted to be used last.
    pub(super) fn victim(&self) -> (usize, u8) {
        if let Some(free) = self.0.iter().position(Option::is_none) {
            return (free, 0);
        }
        let prediction = |way: usize| self.0[way].map_or(FAR, |tag| tag.prediction);
        let farthest = (0..WAYS).map(prediction).max().unwrap_or(FAR);
        let way = (0..WAYS).find(|&way| prediction(way) == farthest).unwrap_or(0);
        (way, FAR - farthest)
    }
}

impl Blocks {
    pub(super) fn tags(&self, set: u64) -> io::Result<Tags> {
        let mut bytes = [0; TAGS];
        self.file.read_exact_at(&mut bytes, self.form.tags_at(set))?;
        Ok(Tags::from_bytes(&bytes))
    }

    /// A hit: the block is expected to be used again soon.
    pub(super) fn used(&self, set: u64, way: usize) -> io::Result<()> {
        self.write(&[SOON], self.form.tag_at(set, way) + PREDICTION_AT as u64)
    }

    /// Gives a block a place, in which nothing of it lies yet.
    pub(super) fn claim(&self, set: u64, tags: &Tags, key: Key, block: u64) -> io::Result<usize> {
        let (way, rise) = tags.victim();
        for (other, tag) in tags.0.iter().enumerate().filter(|(other, _)| *other != way) {
            if let Some(tag) = tag.filter(|_| rise > 0) {
                let at = self.form.tag_at(set, other) + PREDICTION_AT as u64;
                self.write(&[tag.prediction + rise], at)?;
            }
        }
        self.write(&[0; SUMS], self.form.sums_at(set, way))?;
        let tag = Tag { key, block, prediction: NEW };
        self.write(&tag.to_bytes(), self.form.tag_at(set, way))?;
        Ok(way)
    }

    /// The checksums of sectors of a place.
    pub(super) fn sums(
        &self,
        set: u64,
        way: usize,
        sectors: &Range<usize>,
    ) -> io::Result<Vec<u64>> {
        let mut bytes = vec![0; sectors.len() * SUM];
        self.file.read_exact_at(&mut bytes, self.sum_at(set, way, sectors.start))?;
        Ok(bytes.as_chunks().0.iter().map(|sum| u64::from_le_bytes(*sum)).collect())
    }

    pub(super) fn set_sums(
        &self,
        set: u64,
        way: usize,
        first: usize,
        sums: &[u64],
    ) -> io::Result<()> {
        let bytes: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
        self.write(&bytes, self.sum_at(set, way, first))
    }

    fn sum_at(&self, set: u64, way: usize, sector: usize) -> u64 {
        self.form.sums_at(set, way) + (sector * SUM) as u64
    }
}
