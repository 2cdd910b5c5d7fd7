//! Fills the room for kept reads with what is worth its bytes, where many requests run at once and
//! the names of files are known.
//!
//! A file that is not at hand when it is needed costs a request's time. One that is read ahead
//! costs the time of its bytes, and room. So a file pays if its chance, times a request, comes to
//! several times its bytes in vain: that is [`is_worth`] of every guess, for files of any chance.
//! Of those that pay the room goes to the ones with the most chance a byte. What a run loads
//! changes the chances, so the plan is made anew after each demand that nothing had brought; what
//! is no longer in it goes first when room is needed.
//!
//! Simulated on 20 ms a request and 50 MB/s a stream, with 256 MiB of memory, five starts of 0
//! A.D., each from an order and a model made of the other four, take 1.58 s and wait for 58 reads
//! of their own. Guesses of what comes next and what lies around demands alone take 2.30 s, and
//! wait for 72. The constants were chosen on these starts. With a server on the same two cores it
//! took longer than without: it makes two thirds more requests.
//!
//! **Memory.** One byte a file. **Time.** A plan looks at each file once.

use super::kept_reads::PAGE_BYTES;
use super::predicted::is_worth;
use super::{Planner, READ_BYTES_MAX, Start, asked};
use crate::foresight::prediction::Prediction;
use crate::id::Id;
use crate::layout::extents::Extent;

/// Loads after which a plan is made anew in any case.
const STALE_AFTER: u32 = 64;

/// What a file takes beside its bytes, since rooms and reads begin at pages.
const AROUND_BYTES: u64 = 512;

/// The share of the room that is planned for, in sixteenths. The rest is for what comes with
/// demands.
const ROOM: u64 = 14;

/// Files are joined to one read over gaps of this share of what a request costs.
const GAP_SHARE: u64 = 16;

/// A guess must save this many times what it costs: all streams share a machine's network, and
/// bytes may be charged.
const SAVED: u64 = 3;

/// A request itself costs this share of a wait: the time of processors, and what providers charge.
/// S3's 0.4 millionths of a dollar are a fourteenth of 20 ms of a machine at a dollar an hour.
const REQUEST_SHARE: f32 = 1.0 / 16.0;

/// Larger files are not read ahead, in reads of [`READ_BYTES_MAX`].
const LARGE: u64 = 2;

/// A demand is read in blocks of this share of what a request costs, and of these bytes at least.
const BLOCK_SHARE: u64 = 4;
const BLOCK_BYTES_MIN: u64 = 128 << 10;

/// Guesses of which a chance is a share.
const ALL: u32 = 1 << 16;

/// The share of the requests at once that may be for what is planned, in quarters: a demand finds
/// another one free.
const AT_ONCE: u32 = 3;

/// What is to be at hand.
#[derive(Clone, Debug, Default)]
pub(super) struct Fill {
    /// Whether a file is in the plan, by number. Empty before the first plan.
    planned: Vec<bool>,
    /// Reads that have not begun, the next last.
    reads: Vec<Extent>,
    /// Loads since the plan was made; `None` if it is to be made anew.
    age: Option<u32>,
}

/// A file that is worth its bytes.
#[derive(Clone, Copy, Debug)]
struct Pays {
    /// The chance a byte.
    density: f32,
    chance: f32,
    id: Id,
}

impl Fill {
    /// A demand had to be read: what the plan went by has changed.
    pub(super) fn missed(&mut self) {
        self.age = None;
    }

    /// The program has loaded a file.
    pub(super) fn loaded(&mut self) {
        self.age = self.age.map(|age| age + 1).filter(|&age| age < STALE_AFTER);
    }

    /// Whether `id` is to be kept.
    pub(super) fn plans(&self, id: Id) -> bool {
        self.planned.get(id as usize).copied().unwrap_or(false)
    }
}

impl Planner {
    /// Whether the room is filled with what is worth it.
    pub(super) fn fills(&self) -> bool {
        self.reads_widely() && self.prediction.as_ref().is_some_and(Prediction::knows_names)
    }

    /// Adds reads for what is planned, as many as may be under way.
    pub(super) fn fill(&mut self, cached: &impl Fn(Id) -> bool, starts: &mut Vec<Start>) {
        if !self.fills() {
            return;
        }
        if self.fill.age.is_none() {
            self.plan_fill(cached);
        }
        let at_once = self.costs.depth / 4 * AT_ONCE;
        while self.under_way.in_flight() < at_once
            && let Some(extent) = self.fill.reads.pop()
        {
            // A demand may have brought a part of it since.
            let extent = self.still_missing(extent, cached);
            if extent.bytes == 0 {
                continue;
            }
            let asked = asked(extent, self.alignment);
            self.guessed_within(asked.offered, cached);
            starts.push(self.under_way.guess(asked));
        }
    }

    /// A demand comes by several requests at once: its bytes take a small share of the time of one.
    pub(super) fn demand_block_bytes(&self) -> u64 {
        let bytes = self.costs.gap_bytes() / BLOCK_SHARE / PAGE_BYTES * PAGE_BYTES;
        bytes.clamp(BLOCK_BYTES_MIN, READ_BYTES_MAX)
    }

    /// Chooses what is to be at hand, and the reads for what is missing of it.
    fn plan_fill(&mut self, cached: &impl Fn(Id) -> bool) {
        self.kept.begin_round();
        let Some(prediction) = &self.prediction else { return };
        let request_bytes = self.costs.gap_bytes() / SAVED;
        let most = LARGE * READ_BYTES_MAX;
        let (mut paying, mut bytes) = (Vec::new(), 0);
        for (id, entry) in (0..).zip(&*self.entries) {
            let chance = prediction.chance(id);
            let takes = entry.bytes + AROUND_BYTES;
            let right = (chance * ALL as f32) as u32;
            if is_worth((right, ALL), takes, request_bytes)
                && entry.bytes <= most
                && !cached(id)
                && !self.is_near(id)
            {
                paying.push(Pays { density: chance / takes as f32, chance, id });
                bytes += takes;
            }
        }
        let room = self.kept.capacity() / 16 * ROOM;
        if bytes > room {
            paying.sort_unstable_by(|one, next| {
                next.density.total_cmp(&one.density).then(one.id.cmp(&next.id))
            });
            let mut bytes = 0;
            let fits = paying.iter().take_while(|pays| {
                bytes += self.entries[pays.id as usize].bytes + AROUND_BYTES;
                bytes <= room
            });
            paying.truncate(fits.count());
        }
        let mut planned = std::mem::take(&mut self.fill.planned);
        planned.clear();
        planned.resize(self.entries.len(), false);
        paying.iter().for_each(|pays| planned[pays.id as usize] = true);
        let reads = self.reads_of(&mut paying, cached);
        self.fill = Fill { planned, reads, age: Some(0) };
    }

    /// The reads for those of `paying` that are missing: what has the most chance a byte last.
    fn reads_of(&self, paying: &mut Vec<Pays>, cached: &impl Fn(Id) -> bool) -> Vec<Extent> {
        let (most, gap) = (self.unrounded(READ_BYTES_MAX), self.costs.gap_bytes() / GAP_SHARE);
        paying.retain(|pays| self.is_missing(pays.id, cached));
        paying.sort_unstable_by_key(|pays| pays.id);
        // Of each its best file, and the chances of all its files together.
        let mut reads: Vec<(f32, f32, Extent)> = Vec::new();
        let mut last = 0;
        for &Pays { density, chance, id } in &*paying {
            let entry = self.entries[id as usize];
            // What is on its way is not read again between two others.
            let is_apart = |number| self.under_way.covers(self.entries[number]);
            match reads.last_mut() {
                Some((best, chances, read))
                    if entry.offset.saturating_sub(read.end()) <= gap
                        && entry.end() - read.offset <= most
                        && !(last + 1..id as usize).any(is_apart) =>
                {
                    read.bytes = entry.end() - read.offset;
                    *best = best.max(density);
                    *chances += chance;
                }
                _ => reads.push((density, chance, entry)),
            }
            last = id as usize;
        }
        reads.retain(|&(_, chances, _)| chances >= REQUEST_SHARE);
        reads.sort_by(|one, next| one.0.total_cmp(&next.0)); // stable
        reads.into_iter().map(|(_, _, read)| read).collect()
    }

    /// What is left of a planned read, from the first file that is missing to the last.
    fn still_missing(&self, extent: Extent, cached: &impl Fn(Id) -> bool) -> Extent {
        let held = super::within(&self.entries, extent);
        let missing = |number: &usize| {
            self.fill.plans(*number as Id) && self.is_missing(*number as Id, cached)
        };
        let (first, last) = (held.clone().find(&missing), held.rev().find(&missing));
        match (first, last) {
            (Some(first), Some(last)) => {
                let (first, last) = (self.entries[first], self.entries[last]);
                Extent { offset: first.offset, bytes: last.end() - first.offset }
            }
            _ => Extent { bytes: 0, ..extent },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foresight::alike::Alike;
    use crate::foresight::prediction::Model;
    use crate::planner::{Answer, Ended, Memory};
    use seekless_device::Costs;
    use std::sync::Arc;

    /// A stream brings 1 MB in the time of a request.
    const OBJECTS: Costs =
        Costs { request_ns: 20_000_000, bytes_per_second: 50_000_000, depth: 128 };

    /// 400 folders of 10 files of 200,000 bytes each; the runs load the first 10 folders and some
    /// file in each of the next 40.
    fn planner(costs: Costs) -> Planner {
        let entries: Arc<[Extent]> =
            (0..4000).map(|number| Extent { offset: number * 200_000, bytes: 200_000 }).collect();
        let memory = Memory { cache_bytes: 256 << 20, read_ahead_bytes: None, window_bytes: None };
        let mut planner = Planner::new(entries.clone(), 1, memory, costs);
        let run = |of: u32| (0..100).chain((10..50).map(|folder| folder * 10 + of)).collect();
        let model = Model::train(4000, &[run(1), run(3), run(5)]);
        let names: Vec<String> =
            (0..4000).map(|id| format!("{}/wall{}", id / 10, id % 10)).collect();
        let alike = Alike::new(names.iter().map(String::as_str));
        let prediction = Prediction::new(model, entries).unwrap().with_names(Arc::new(alike));
        planner.set_prediction(Some(prediction));
        planner
    }

    /// Ends all reads, and those that follow.
    fn bring(planner: &mut Planner, mut starts: Vec<Start>) -> u64 {
        let (mut ended, mut bytes) = (Ended::default(), 0);
        while let Some(start) = starts.pop() {
            bytes += start.extent.bytes;
            planner.ended(start.tag, start.extent.bytes, |_| false, &mut ended);
            planner.foresee(|_| false, &mut starts);
            starts.append(&mut ended.starts);
        }
        bytes
    }

    fn load(planner: &mut Planner, id: Id) -> bool {
        planner.loaded(id);
        let mut starts = Vec::new();
        let answer = planner.demand(id, |_| false);
        starts.extend(if let Answer::Read(start) = answer { Some(start) } else { None });
        planner.foresee(|_| false, &mut starts);
        bring(planner, starts);
        matches!(answer, Answer::Read(_))
    }

    #[test]
    fn what_all_runs_have_comes_first_and_like_names_of_a_new_file_with_it() {
        let mut planner = planner(OBJECTS);
        let mut starts = Vec::new();
        planner.foresee(|_| false, &mut starts);
        bring(&mut planner, starts);
        assert!((0..100).all(|id| !load(&mut planner, id)), "all runs have these");
        // A folder that no run has.
        let missed = (3000..3010).filter(|&id| load(&mut planner, id)).count();
        assert_eq!(missed, 1);
    }

    #[test]
    fn what_comes_fits_the_room_and_goes_when_something_else_is_likelier() {
        let mut planner = planner(OBJECTS);
        let mut bytes = 0;
        for folder in 60..360 {
            assert!(load(&mut planner, folder * 10), "folder {folder} is new");
            assert!(planner.kept.bytes() <= planner.kept.capacity());
            assert!(planner.kept.has(folder * 10 + 7), "it is the newest");
            bytes = bytes.max(planner.kept.bytes());
        }
        assert!(bytes > planner.kept.capacity() / 2, "{bytes}");
    }

    #[test]
    fn what_lies_near_is_not_read_ahead() {
        let mut planner = planner(OBJECTS);
        planner.set_near((0..4000).map(|id| id < 50).collect());
        let mut starts = Vec::new();
        planner.foresee(|_| false, &mut starts);
        bring(&mut planner, starts);
        assert!(!planner.kept.has(20) && planner.kept.has(70));
        assert!(load(&mut planner, 20), "it is read when it is asked for");
    }

    #[test]
    fn elsewhere_nothing_is_filled() {
        let one_at_once = Costs { depth: 1, ..OBJECTS };
        let flash = Costs { request_ns: 100_000, bytes_per_second: 1_250_000_000, depth: 32 };
        for costs in [one_at_once, flash] {
            let mut planner = planner(costs);
            planner.fill(&|_| false, &mut Vec::new());
            assert!(!planner.fill.plans(0));
        }
    }
}
