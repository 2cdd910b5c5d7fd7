//! The numbers of a flash drive.

use crate::figures::{duration, rate, size};
use crate::{Error, ErrorKind, Nanos};
use serde::{Deserialize, Serialize};

/// A flash drive: how it is built, how long its parts take, and how it makes room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashParameters {
    /// Bytes that the host sees. Offsets behind it begin again at 0.
    #[serde(rename = "capacity", with = "size")]
    pub capacity_bytes: u64,
    /// Channels, each with a bus of its own.
    pub channels: u32,
    /// Dies of a channel.
    pub dies: u32,
    /// Planes of a die, which work at the same time.
    pub planes: u32,
    /// Bytes of a page: what a plane reads or programs at once.
    #[serde(rename = "page", with = "size")]
    pub page_bytes: u64,
    /// Pages of a block: what is erased at once.
    pub pages_per_block: u32,
    /// Bytes that lie together before the next channel's begin; a multiple of the page.
    #[serde(rename = "chunk", with = "size")]
    pub chunk_bytes: u64,
    /// Where a page is written.
    pub mapping: Mapping,
    /// Time to read a page from the cells (tR).
    #[serde(rename = "read", with = "duration")]
    pub read_ns: Nanos,
    /// Time to program a page (tProg).
    #[serde(rename = "program", with = "duration")]
    pub program_ns: Nanos,
    /// Time to erase a block (tErase).
    #[serde(rename = "erase", with = "duration")]
    pub erase_ns: Nanos,
    /// Rate of a channel's bus in bytes a second.
    #[serde(rename = "bus", with = "rate")]
    pub bus_bytes_per_second: u64,
    /// Rate of the link to the host in bytes a second.
    #[serde(rename = "link", with = "rate")]
    pub link_bytes_per_second: u64,
    /// What the firmware takes for a command, one command after another.
    #[serde(rename = "overhead", with = "duration")]
    pub overhead_ns: Nanos,
    /// Memory for what is written: a write that has room there ends at once. With 0 a write ends
    /// when it is programmed.
    #[serde(rename = "write_buffer", with = "size")]
    pub write_buffer_bytes: u64,
    /// Bytes that the host does not see, in percent of those that it sees.
    pub over_provisioning_percent: u32,
    /// How much of the capacity holds data at the start, in percent.
    pub filled_percent: u32,
    /// When a plane collects what is no longer valid.
    pub garbage: Garbage,
}

/// Where a page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mapping {
    /// On the plane that its offset says: chunks go round over channels, then dies, then planes.
    Static,
    /// On the planes in turn, in the order in which pages are written.
    WriteOrder,
}

/// Thresholds of garbage collection, in free blocks of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Garbage {
    /// It begins when no more than these are left and one more is needed.
    pub start_blocks: u32,
    /// It ends when there are this many.
    pub stop_blocks: u32,
}

impl Garbage {
    /// The spare blocks without which a plane cannot collect.
    pub(super) fn needed_blocks(self) -> u64 {
        u64::from(self.stop_blocks) + 2
    }
}

/// The numbers of blocks and pages that follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) planes: u64,
    /// Pages that the host sees.
    pub(super) pages: u64,
    pub(super) chunk_pages: u64,
    /// Blocks of a plane that its share of those fills, and that it has.
    pub(super) visible_blocks: u64,
    pub(super) blocks: u64,
}

const PHYSICAL_PAGES_MAX: u128 = u32::MAX as u128 - 1;

impl FlashParameters {
    /// Whether a drive can have these numbers.
    ///
    /// # Errors
    /// One that it cannot have, by its name in text.
    pub fn check(&self) -> Result<(), Error> {
        let fail = |kind, what: String| Err(Error::new(kind, format!("a flash drive's {what}")));
        let above_zero = [
            ("capacity", self.capacity_bytes),
            ("channels", u64::from(self.channels)),
            ("dies", u64::from(self.dies)),
            ("planes", u64::from(self.planes)),
            ("page", self.page_bytes),
            ("pages_per_block", u64::from(self.pages_per_block)),
            ("chunk", self.chunk_bytes),
            ("bus", self.bus_bytes_per_second),
            ("link", self.link_bytes_per_second),
            ("garbage.start_blocks", u64::from(self.garbage.start_blocks)),
        ];
        for (name, value) in above_zero {
            if value == 0 {
                return fail(ErrorKind::Zero, format!("{name} must be above 0"));
            }
        }
        if !self.chunk_bytes.is_multiple_of(self.page_bytes) {
            return fail(ErrorKind::Order, "chunk must be a multiple of page".to_owned());
        }
        if self.garbage.stop_blocks < self.garbage.start_blocks {
            let what = "garbage.stop_blocks must be at least start_blocks";
            return fail(ErrorKind::Order, what.to_owned());
        }
        if self.filled_percent > 100 {
            return fail(ErrorKind::TooLarge, "filled_percent must be at most 100".to_owned());
        }
        let parts = u128::from(self.channels) * u128::from(self.dies) * u128::from(self.planes);
        let seen = u128::from(self.capacity_bytes.div_ceil(self.page_bytes));
        let factor = 100 + u128::from(self.over_provisioning_percent);
        let whole_blocks = parts * u128::from(self.pages_per_block) * 2;
        if seen * factor / 100 + whole_blocks > PHYSICAL_PAGES_MAX {
            let what = "pages must be fewer than 2^32: give a larger page or a smaller capacity";
            return fail(ErrorKind::TooLarge, what.to_owned());
        }
        let shape = self.shape();
        let spare = shape.blocks - shape.visible_blocks;
        let needed = self.garbage.needed_blocks();
        if spare < needed {
            let what = format!(
                "over_provisioning_percent leaves a plane {spare} spare blocks; with these \
                 garbage.stop_blocks it needs {needed}"
            );
            return fail(ErrorKind::Order, what);
        }
        Ok(())
    }

    pub(super) fn shape(&self) -> Shape {
        let planes = u64::from(self.channels) * u64::from(self.dies) * u64::from(self.planes);
        let pages = self.capacity_bytes.div_ceil(self.page_bytes);
        let chunk_pages = self.chunk_bytes / self.page_bytes;
        let in_plane = pages.div_ceil(planes * chunk_pages) * chunk_pages;
        let visible_blocks = in_plane.div_ceil(u64::from(self.pages_per_block));
        let hidden = visible_blocks * u64::from(self.over_provisioning_percent) / 100;
        Shape { planes, pages, chunk_pages, visible_blocks, blocks: visible_blocks + hidden }
    }
}
