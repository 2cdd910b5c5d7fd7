//! Plans the reads of an archive: what to read around a demand, what to join, and what to keep of
//! what was read.
//!
//! The live store and the simulator ask only this. The owner of a [`Planner`] has the cache of
//! files; it comes here with an entry that is neither cached nor held by a user. The planner
//! answers in this order ([`Planner::demand`]):
//!
//! 1. *a read under way* covers the entry;
//! 2. *a kept read* has it: bytes that were read with another entry; the pages stay that hold an
//!    entry which has not been requested ([`kept_reads`]);
//! 3. *a read* of it and of what is worth reading around it ([`ahead`]).
//!
//! Where the device serves many dear requests at once, more is read beside a demand
//! (`planner/wide.rs`), and the room for kept reads is filled with what is worth it
//! (`planner/fill.rs`).
//!
//! A list of entries is planned at once ([`Planner::plan`]) into few reads ([`extents`]). The owner
//! reports the end of each read ([`Planner::ended`]).
//!
//! How much is worth reading around a demand depends on what the device charges
//! ([`Planner::set_costs`]), on the room for kept reads, and on what became of earlier reads: what
//! lies far from a demand and is not used is read no more, and again when it would have been used
//! (`planner/worth.rs`).
//!
//! **Memory.** 25 bytes an entry of the archive: 12 each to find it in a read under way and in a
//! kept read, and 1 for what reading ahead came to. Some 80 bytes for each read that is under way
//! or kept; at most [`READS_MAX`](kept_reads::READS_MAX) are kept. The table of entries is
//! shared with the owner. Nothing is allocated after these have grown.
//!
//! **Time.** A demand looks at the entries of its window, up to 1 MiB of the archive, twice at most
//! and each by a binary search among the reads under way. The end of a read costs O(its entries).
//! For the same calls all answers are the same.
//!
//! [`extents`]: crate::layout::extents

pub mod ahead;
mod balance;
mod ended;
mod fill;
pub mod kept_reads;
mod memory;
mod predicted;
mod under_way;
mod wide;
mod worth;

#[cfg(test)]
mod tests;

pub use ended::Ended;
pub use memory::Memory;
pub use under_way::Start;

use crate::foresight::prediction::Prediction;
use crate::id::Id;
use crate::layout::extents::{Extent, Read, coalesce_into};
use ahead::{Limits, around_bytes, demand, sides};
use balance::Balance;
use fill::Fill;
use kept_reads::{Found, KeptReads, Slot};
use seekless_device::Costs;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use under_way::{Asked, UnderWay};
use worth::{Window, Worth};

/// Reads up to this size are one request to a device: 254 pages
/// (`PART_BYTES` of the volume's model). The kernel cuts larger ones into two for each MiB.
pub const READ_BYTES_MAX: u64 = 254 * 4096;

/// How many blocks of one large read are in flight, or in memory and not used yet, if they have
/// [`READ_BYTES_MAX`] bytes, and of smaller ones as many more. The device always has the next while
/// one is decoded, and they take no more than 8 MiB.
pub const BLOCKS_IN_FLIGHT: usize = 8;

/// How many of the reads planned ahead are in flight. They are enough that a device of any depth
/// finds its next request waiting. They are few enough that a demand read does not wait long, and
/// that their buffers stay a small part of the window.
const IN_FLIGHT: RangeInclusive<u32> = 8..=32;

/// A window does not reach for a file that recorded runs make unlikely, if it is larger than this
/// share of what a request costs.
const UNLIKELY_SHARE: u64 = 5;

/// How an entry will arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// With a read under way, which is to be submitted now if it had been waiting.
    Joined(Option<Start>),
    /// From a kept read.
    Kept(Found),
    /// With this read, to be submitted now.
    Read(Start),
}

/// Plans the reads of one archive.
#[derive(Clone, Debug)]
pub struct Planner {
    entries: Arc<[Extent]>,
    alignment: u64,
    memory: Memory,
    costs: Costs,
    under_way: UnderWay,
    kept: KeptReads,
    worth: Worth,
    prediction: Option<Prediction>,
    /// Used only with a prediction.
    balance: Balance,
    /// The entries that were needed last came in a list, which says more than any guess.
    is_listed: bool,
    /// The last demand that got a read, as long as what lies around it was not looked at
    /// ([`wide`]).
    lone: Option<Id>,
    /// Used only where the room is filled with what is worth it.
    fill: Fill,
    /// The entries that lie nearer than the device, by number; empty if none does.
    near: Vec<bool>,
    planned: Vec<Read>,
}

impl Planner {
    /// A planner for the archive whose entries lie at `entries`, in the order of their offsets.
    /// Reads are rounded to multiples of `alignment` bytes, a power of two.
    #[must_use]
    pub fn new(entries: Arc<[Extent]>, alignment: u64, memory: Memory, costs: Costs) -> Self {
        let count = entries.len() as u32;
        let kept = KeptReads::new(entries.clone(), memory.kept_now(&costs, false));
        Self {
            alignment: alignment.max(1),
            memory,
            costs,
            under_way: UnderWay::new(count, in_flight(&costs)),
            kept,
            worth: Worth::new(count),
            prediction: None,
            balance: Balance::new(),
            is_listed: false,
            lone: None,
            fill: Fill::default(),
            near: Vec::new(),
            planned: Vec::new(),
            entries,
        }
    }

    /// How many entries the archive has.
    #[must_use]
    pub fn entries(&self) -> u32 {
        self.entries.len() as u32
    }

    /// What the device charges, as far as the planner knows.
    #[must_use]
    pub fn costs(&self) -> Costs {
        self.costs
    }

    /// The device charges this from now on. Reads that were planned stay as they are.
    pub fn set_costs(&mut self, costs: Costs) {
        self.costs = costs;
        self.under_way.set_depth(in_flight(&costs));
        self.kept.set_capacity(self.memory.kept_now(&costs, self.prediction.is_some()));
    }

    /// What the cache of files may hold now. The owner gives it this capacity before it next asks
    /// it for a file that it does not have.
    #[must_use]
    pub fn files_bytes(&self) -> u64 {
        self.memory.files_beside(&self.costs, self.prediction.is_some())
    }

    /// These entries, by number, lie nearer than the device of these costs, such as in a cache on
    /// the local disk. A wait for them is short, so they are not read ahead where waits are dear.
    pub fn set_near(&mut self, near: Vec<bool>) {
        self.near = near;
    }

    fn is_near(&self, id: Id) -> bool {
        self.near.get(id as usize).copied().unwrap_or(false)
    }

    /// How far a list of loads may be read ahead of its consumer, in bytes.
    #[must_use]
    pub fn window_bytes(&self) -> u64 {
        self.memory.window_bytes(&self.costs)
    }

    /// One entry is needed now. `cached` says of each entry whether the cache of files has its
    /// bytes.
    pub fn demand(&mut self, id: Id, cached: impl Fn(Id) -> bool) -> Answer {
        self.is_listed = false;
        let extent = self.entries[id as usize];
        if let Some(tag) = self.under_way.join(id, extent) {
            self.worth.requested(id, extent.bytes);
            return Answer::Joined(self.under_way.hurry(tag));
        }
        if let Some(found) = self.kept.take(id) {
            self.worth.requested(id, extent.bytes);
            return Answer::Kept(found);
        }
        self.guess_anew();
        let around = self.around(id, &cached);
        let extent = match self.reads_widely() {
            true if self.fills() || self.is_near(id) => self.entries[id as usize],
            true => self.near(id, &cached),
            false => self.with_guesses(around, &cached),
        };
        self.lone = Some(id).filter(|&id| !self.is_near(id));
        self.fill.missed();
        let asked = match self.fills() && !self.is_near(id) {
            true => in_blocks(extent, self.alignment, self.demand_block_bytes()),
            false => asked(extent, self.alignment),
        };
        self.guessed_within(asked.offered, &cached);
        self.balance.read(asked.extent.bytes, &self.costs);
        Answer::Read(self.under_way.demand(asked, id))
    }

    /// The extent to read for `id`. Also begins to follow what the widest window around it would
    /// have brought.
    fn around(&mut self, id: Id, cached: impl Fn(Id) -> bool) -> Extent {
        let (index, entry) = (id as usize, self.entries[id as usize]);
        let (read_bytes_max, widest) = (self.unrounded(READ_BYTES_MAX), self.widest(entry));
        let Self { entries, under_way, kept, worth, costs, prediction, .. } = self;
        let prediction = prediction.as_ref();
        let large_bytes = costs.gap_bytes() / UNLIKELY_SHARE;
        let is_unlikely = |id: Id| {
            entries[id as usize].bytes > large_bytes
                && prediction.is_some_and(|prediction| prediction.is_unlikely(id))
        };
        // Reads in flight share the device, as far as it serves several at once. A reader that is
        // alone waits for the whole of each request.
        let at_once = costs.depth.min(under_way.in_flight() + 1).max(1);
        let needed = |number: usize| {
            let id = number as Id;
            !cached(id) && !is_unlikely(id) && !kept.has(id) && !under_way.covers(entries[number])
        };
        let read = |sides| demand(entries, index, costs, sides, read_bytes_max, needed);
        let whole = read(sides(widest));
        // If an earlier window would have brought this file, it does not begin a window of its own.
        let expected = worth.expects(id);
        worth.requested(id, entry.bytes);
        if let Some(Read { first, count, .. }) = whole
            && !expected
        {
            let span = first..first + count;
            let window = Window { entries, index, span, around_bytes: widest };
            let request_bytes = costs.gap_bytes() / u64::from(at_once);
            // What is announced comes in any case. The window must pay by what it adds to that.
            let is_announced = |id| prediction.is_some_and(|prediction| prediction.announces(id));
            let is_added = |number: usize| needed(number) && !is_announced(number as Id);
            worth.begin(&window, request_bytes, is_added, |id| kept.has(id));
        }
        let read = match worth.of(widest) {
            around if around == sides(widest) => whole,
            around => read(around),
        };
        read.map_or(entry, |read| read.extent)
    }

    /// The most bytes to read around `entry`: what a request is worth, as far as the kept reads
    /// have room for it.
    fn widest(&self, entry: Extent) -> u64 {
        let room =
            self.kept.capacity().saturating_sub(entry.bytes.saturating_add(self.rounding_bytes()));
        self.balanced(around_bytes(&self.costs, &Limits::default())).min(room)
    }

    /// Bytes that rounding to the alignment may add to a read.
    fn rounding_bytes(&self) -> u64 {
        2 * (self.alignment - 1)
    }

    /// What may be asked for so that a rounded read still has `bytes` at most.
    fn unrounded(&self, bytes: u64) -> u64 {
        bytes.saturating_sub(self.rounding_bytes())
    }

    /// A caller waits for an entry that was planned ahead: its read is to be submitted now, unless
    /// it has been.
    pub fn hurry(&mut self, id: Id) -> Option<Start> {
        self.under_way.hurry_covering(self.entries[id as usize])
    }

    /// All of `ids` are needed, in any order. Entries in kept reads are added to `found`. The
    /// others join reads under way or get reads of their own, which wait in a line. Reads to be
    /// submitted now are added to `starts`. Sorts `ids`, and leaves in it the entries with reads of
    /// their own.
    pub fn plan(
        &mut self,
        ids: &mut Vec<Id>,
        found: &mut Vec<(Id, Found)>,
        starts: &mut Vec<Start>,
    ) {
        self.line_up(ids, found);
        self.under_way.start_next(starts);
    }

    /// As [`Planner::plan`], before all reads that wait: those that bring these entries go to the
    /// head of the line, also if they had been planned before.
    pub fn plan_first(
        &mut self,
        ids: &mut Vec<Id>,
        found: &mut Vec<(Id, Found)>,
        starts: &mut Vec<Start>,
    ) {
        let all = ids.clone();
        self.line_up(ids, found);
        for id in all.into_iter().rev() {
            self.under_way.put_first(self.entries[id as usize]);
        }
        self.under_way.start_next(starts);
    }

    /// Puts the reads of `ids` at the end of the line.
    fn line_up(&mut self, ids: &mut Vec<Id>, found: &mut Vec<(Id, Found)>) {
        self.is_listed = true;
        self.lone = None;
        let read_bytes_max = self.unrounded(READ_BYTES_MAX);
        let Self { entries, alignment, costs, under_way, kept, worth, planned, .. } = self;
        ids.sort_unstable();
        ids.retain(|&id| {
            let extent = entries[id as usize];
            worth.requested(id, extent.bytes);
            if let Some(slot) = kept.take(id) {
                found.push((id, slot));
                return false;
            }
            under_way.join(id, extent).is_none()
        });
        let extents = ids.iter().map(|&id| entries[id as usize]);
        coalesce_into(extents, costs, read_bytes_max, planned);
        for read in planned {
            let wanted = &ids[read.first..read.first + read.count];
            under_way.enqueue(asked(read.extent, *alignment), wanted);
        }
    }

    /// Where the read of this tag begins, which has not ended.
    #[must_use]
    pub fn offset(&self, tag: u64) -> u64 {
        self.under_way.extent(tag).offset
    }

    /// The read of this tag has ended and brought its first `bytes` bytes. `cached` is as for
    /// [`Planner::demand`].
    ///
    /// Entries that a read of several did not bring are read again alone, before all that wait: one
    /// bad page fails only what lies on it.
    pub fn ended(&mut self, tag: u64, bytes: u64, cached: impl Fn(Id) -> bool, out: &mut Ended) {
        out.clear();
        let Self { entries, under_way, kept, worth, prediction, fill, .. } = self;
        let whole = under_way.extent(tag);
        let read = Extent { bytes, ..whole };
        debug_assert!(bytes <= whole.bytes, "a read of {whole:?} brought {bytes} bytes");
        let is_shared = under_way.is_shared(tag);
        if is_shared {
            let others = within(entries, read).map(|number| number as Id);
            out.unused.extend(others.filter(|&id| !under_way.wants(tag, id) && !cached(id)));
        }
        let Ended { freed, dropped, unused, .. } = out;
        let mut owner = Owner { worth, prediction: prediction.as_mut(), fill, freed, dropped };
        out.kept = kept.insert(read, unused, &mut owner);
        if out.kept.is_none() {
            self.not_kept(&out.unused);
        }
        if is_shared && read.bytes < whole.bytes {
            self.not_brought(whole, read);
        }
        let Self { entries, under_way, .. } = self;
        under_way.finish(tag, &mut out.arrived);
        let Ended { arrived, lost, starts, unused, .. } = out;
        unused.clear();
        arrived.retain(|&id| {
            let extent = entries[id as usize];
            let here = read.covers(extent);
            if !here && extent.aligned(self.alignment) == whole {
                lost.push(id);
            } else if !here {
                unused.push(id);
            }
            here
        });
        for id in unused.drain(..).rev() {
            under_way.enqueue_first(asked(entries[id as usize], self.alignment), id);
        }
        under_way.start_next(starts);
    }

    /// What is kept of the read in a slot that is in use: its pages that hold an entry which has
    /// not been requested, in pieces apart from each other.
    pub fn pieces(&self, slot: Slot) -> impl Iterator<Item = Extent> + '_ {
        self.kept.pieces(slot)
    }

    /// Removes from the reads that wait in line the entries for which `unwanted` is true, and reads
    /// that hold no others.
    pub fn cancel(&mut self, unwanted: impl FnMut(Id) -> bool) {
        self.under_way.cancel(unwanted);
    }
}

/// Keeps the planner's other parts true to what is kept of reads.
struct Owner<'a> {
    worth: &'a mut Worth,
    prediction: Option<&'a mut Prediction>,
    fill: &'a Fill,
    freed: &'a mut Vec<Found>,
    dropped: &'a mut Vec<Slot>,
}

impl kept_reads::Owner for Owner<'_> {
    fn expects(&self, entry: Id) -> bool {
        let expects = |known: &&mut Prediction| known.is_ahead(entry) || known.announces(entry);
        self.fill.plans(entry) || self.prediction.as_ref().is_some_and(expects)
    }

    fn wasted(&mut self, entry: Id) {
        self.worth.wasted(entry);
        if let Some(prediction) = &mut self.prediction {
            prediction.gone_unused(entry);
        }
    }

    fn freed(&mut self, found: Found) {
        self.freed.push(found);
    }

    fn dropped(&mut self, slot: Slot) {
        self.dropped.push(slot);
    }
}

/// A read of `extent`, rounded to the alignment. One that is larger than a block is for one entry
/// alone, and nothing else is served from it: its blocks are gone once they are decoded.
fn asked(extent: Extent, alignment: u64) -> Asked {
    in_blocks(extent, alignment, READ_BYTES_MAX)
}

/// The same, if blocks have this many bytes.
fn in_blocks(extent: Extent, alignment: u64, block_bytes: u64) -> Asked {
    let rounded = extent.aligned(alignment);
    let offered = if rounded.bytes > block_bytes { extent } else { rounded };
    Asked { extent: rounded, offered, block_bytes }
}

/// Entries that lie wholly in `extent`, by number.
fn within(entries: &[Extent], extent: Extent) -> Range<usize> {
    let first = entries.partition_point(|entry| entry.offset < extent.offset);
    let count = entries[first..].partition_point(|entry| entry.end() <= extent.end());
    first..first + count
}

fn in_flight(costs: &Costs) -> usize {
    // Where many are dear, what waits for its turn waits for long.
    let most = match ahead::many_are_dear(costs) {
        true => costs.depth / 2,
        false => *IN_FLIGHT.end(),
    };
    costs.depth.clamp(*IN_FLIGHT.start(), most.max(*IN_FLIGHT.start())) as usize
}
