//! Which share of the guesses of each kind came true.

use super::CERTAIN;

/// How many of the recorded runs have a file: one, up to a half, most, all.
const CLASSES: usize = 4;

/// The class of files that all runs have.
pub(super) const COMMON: u8 = 3;

/// Files before a place that are looked at.
pub(super) const LOOKED_BACK: usize = 8;

/// How many of these may have been loaded.
const TAKEN: usize = LOOKED_BACK + 1;

/// Steps of a distance: late, near, further, far.
const DISTANCES: usize = 4;

/// Steps of how often one file followed another.
pub(super) const SHARES: usize = 4;

/// Neighbours in the archive, before and after.
pub(super) const NEIGHBOURS: usize = 8;

/// Steps of the chance of a reference.
const REFERRED: usize = 8;

const FOLLOWED: usize = CLASSES * TAKEN * DISTANCES;

/// Kinds before those of references.
const NAMED: usize = FOLLOWED + SHARES + NEIGHBOURS;

/// How many kinds there are. References to files that some runs have are the last [`REFERRED`].
pub(super) const BINS: usize = NAMED + 2 * REFERRED;

/// What a first assumption counts for, in guesses.
const PRIOR: u32 = 4;

/// Counts are halved at this many guesses, so that the last ones count most.
const GUESSES_MAX: u32 = 1 << 12;

/// Names a kind of guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bin(u8);

const _: () = assert!(BINS <= u8::MAX as usize);

impl Bin {
    /// A kind for what is no guess.
    pub(super) const NONE: Self = Self(u8::MAX);

    /// That of a file which all runs have, far behind a place.
    pub(super) const CORE: Self =
        Self(((COMMON as usize * TAKEN + LOOKED_BACK) * DISTANCES + DISTANCES - 1) as u8);

    pub(super) fn followed(class: u8, taken: usize, distance: usize) -> Self {
        Self(((usize::from(class) * TAKEN + taken) * DISTANCES + distance) as u8)
    }

    /// Whether guesses of this kind can be judged by the runs that the archive's order was made of.
    /// Neighbours cannot: the order has put together what these runs load together.
    pub(super) fn is_judged(self) -> bool {
        usize::from(self.0) < FOLLOWED + SHARES
    }

    pub(super) fn successor(share: usize) -> Self {
        Self((FOLLOWED + share) as u8)
    }

    pub(super) fn neighbour(number: usize) -> Self {
        Self((FOLLOWED + SHARES + number) as u8)
    }

    /// Whether it is a reference to a file that no run has.
    pub(super) fn is_of_new(self) -> bool {
        (NAMED..NAMED + REFERRED).contains(&usize::from(self.0))
    }

    /// Whether it is a reference.
    pub(super) fn is_referred(self) -> bool {
        (NAMED..BINS).contains(&usize::from(self.0))
    }

    /// What a file names with this chance of 255: a file that no run has, or that some have.
    pub(super) fn referred(chance: u8, is_new: bool) -> Self {
        let step = usize::from(chance) * REFERRED / 256;
        Self((NAMED + step + if is_new { 0 } else { REFERRED }) as u8)
    }
}

/// Guesses, and those that came true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) guesses: u32,
    pub(super) right: u32,
}

/// How sure guesses of each kind are.
pub(super) struct Confidences([u32; BINS]);

impl Confidences {
    pub(super) fn of(&self, bin: Bin) -> u32 {
        self.0[bin.0 as usize]
    }
}

/// The counts of all kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rates(pub(super) [Count; BINS]);

impl Default for Rates {
    fn default() -> Self {
        Self([Count::default(); BINS])
    }
}

impl Rates {
    /// How sure a guess of this kind is, of [`CERTAIN`].
    pub(super) fn of(&self, bin: Bin) -> u32 {
        let Count { guesses, right } = self.0[bin.0 as usize];
        (right * CERTAIN + assumed(bin) * PRIOR) / (guesses + PRIOR)
    }

    /// The same of all kinds: a list of guesses asks for each of them many times.
    pub(super) fn all(&self) -> Confidences {
        Confidences(std::array::from_fn(|bin| self.of(Bin(bin as u8))))
    }

    pub(super) fn count(&mut self, bin: Bin, right: bool) {
        let count = &mut self.0[bin.0 as usize];
        if count.guesses >= GUESSES_MAX {
            *count = Count { guesses: count.guesses / 2, right: count.right / 2 };
        }
        count.guesses += 1;
        count.right += u32::from(right);
    }

    /// A guess that was counted as wrong came true after all.
    pub(super) fn correct(&mut self, bin: Bin) {
        let count = &mut self.0[bin.0 as usize];
        count.right = (count.right + 1).min(count.guesses);
    }
}

/// How sure a kind is before anything was counted: files of more runs, and of runs that this one
/// was like so far, are surer. A reference is as sure as it says.
fn assumed(bin: Bin) -> u32 {
    let number = bin.0 as usize;
    if number < FOLLOWED {
        let (class, taken) = (number / (TAKEN * DISTANCES), number / DISTANCES % TAKEN);
        let taken = if class == usize::from(COMMON) { LOOKED_BACK } else { taken };
        return CERTAIN * (taken as u32 * 2 + class as u32 + 1) / (LOOKED_BACK as u32 * 2 + 5);
    }
    match number - FOLLOWED {
        share if share < SHARES => CERTAIN * (share as u32 + 1) / (SHARES as u32 + 1),
        number if number < SHARES + NEIGHBOURS => CERTAIN / 8,
        step => {
            let step = ((step - SHARES - NEIGHBOURS) % REFERRED) as u32;
            CERTAIN * (step * 2 + 1) / (REFERRED as u32 * 2)
        }
    }
}
