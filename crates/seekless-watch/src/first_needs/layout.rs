//! The bytes of the records, as the programs write them and we read them, and of the rules.

use super::Rule;

/// Calls with greater numbers are not looked up.
pub(super) const NUMBERS: u32 = 512;

/// What a record is; the first word of each.
pub(super) mod kinds {
    pub(crate) const READ: i32 = 1;
    pub(crate) const WINDOW: i32 = 2;
    pub(crate) const FAULT: i32 = 3;
    pub(crate) const NAMED: i32 = 4;
    pub(crate) const LISTED: i32 = 5;
    pub(crate) const EXECUTED: i32 = 6;
    pub(crate) const MOVED: i32 = 7;
}

/// Of every record: its kind and its time.
pub(super) const KIND: i16 = 0;
pub(super) const TIME: i16 = 8;
/// Of pages: their file, the first and the last of them, and the process.
pub(super) const FILE: i16 = 16;
pub(super) const FIRST: i16 = 32;
pub(super) const LAST: i16 = 40;
pub(super) const PAGES_IDS: i16 = 48;
pub(super) const PAGES_BYTES: i16 = 56;
/// Of a name: the file that it is of, if that was opened; the directory from which it goes, the
/// call's result, the process, and the name itself.
pub(super) const BASE: i16 = 32;
pub(super) const RESULT: i16 = 48;
pub(super) const IDS: i16 = 56;
pub(super) const TEXT: i16 = 64;
pub(super) const TEXT_BYTES: i32 = 4096;
pub(super) const SCRATCH_BYTES: u32 = (TEXT as i32 + TEXT_BYTES) as u32;

/// Of a file: its inode and device.
pub(super) const DEVICE: i16 = 8;

/// A block's key: the inode, then the device in the upper half of a word and the block's number.
pub(super) const BLOCK_KEY_BYTES: u32 = 16;
/// Pages of a block, as many as a word has bits.
pub(super) const BLOCK_BITS: i32 = 6;

/// The bits of a rule, and the places of arguments in it: argument + 1, in three bits each.
pub(super) mod rule {
    pub(crate) const WANTED: i32 = 1;
    pub(crate) const OPENS: i32 = 2;
    pub(crate) const MOVES: i32 = 4;
    pub(crate) const PATH: i32 = 4;
    pub(crate) const DIRECTORY: i32 = 8;
}

pub(super) fn packed(it: &Rule) -> u64 {
    let argument = |argument: Option<usize>, at: i32| {
        argument.map_or(0, |argument| (argument as u64 + 1) << at)
    };
    let bit = |is: bool, bit: i32| if is { bit } else { 0 };
    let bits = rule::WANTED | bit(it.opens, rule::OPENS) | bit(it.moves, rule::MOVES);
    bits as u64 | argument(it.path, rule::PATH) | argument(it.directory, rule::DIRECTORY)
}
