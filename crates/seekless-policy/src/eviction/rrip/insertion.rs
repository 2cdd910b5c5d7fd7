//! RRIP's prediction for a newcomer, in which its variants differ.

use crate::eviction::Id;
use crate::lehmer::Lehmer;
use crate::sample::Draws;

/// Predictions are 0 (soon) to 3 (far): the paper's M = 2 bits.
pub(super) const FAR: usize = 3;
/// Bimodal insertion predicts a sooner use for one newcomer in this many.
const CHANCE: usize = 32;
/// Ids are spread over 2 to the power of this many groups. Two groups are dedicated, one to each
/// kind of insertion.
const GROUPS_BITS: u32 = 6;
/// The duel's counter saturates at this value. Above half of it, bimodal insertion has missed less.
const DUEL_MAX: u16 = 1023;

/// The kinds of insertion.
#[derive(Clone, Debug, Default)]
pub(super) enum Insertion {
    /// All newcomers get the same prediction.
    #[default]
    Static,
    /// Most newcomers are predicted to leave first.
    Bimodal(Draws),
    /// Follows the kind that misses less.
    Duel {
        draws: Draws,
        /// A miss of an id dedicated to static insertion raises it; one of an id dedicated to
        /// bimodal lowers it.
        static_misses: u16,
    },
    /// With the draws of Ozen's program.
    Ozen(Lehmer),
}

impl Insertion {
    pub(super) fn bimodal(seed: u64) -> Self {
        Self::Bimodal(Draws::new(seed))
    }

    pub(super) fn duel(seed: u64) -> Self {
        Self::Duel { draws: Draws::new(seed), static_misses: DUEL_MAX / 2 }
    }

    pub(super) fn ozen() -> Self {
        Self::Ozen(Lehmer::default())
    }

    /// The prediction for a page that missed.
    #[inline]
    pub(super) fn prediction(&mut self, id: Id) -> usize {
        match self {
            Self::Static => FAR - 1,
            Self::Bimodal(draws) => bimodal(draws),
            Self::Duel { draws, static_misses } => match group(id) {
                0 => {
                    *static_misses = (*static_misses + 1).min(DUEL_MAX);
                    FAR - 1
                }
                1 => {
                    *static_misses = static_misses.saturating_sub(1);
                    bimodal(draws)
                }
                _ if *static_misses > DUEL_MAX / 2 => bimodal(draws),
                _ => FAR - 1,
            },
            Self::Ozen(draws) => FAR - usize::from(draws.below(100) >= 95),
        }
    }
}

fn bimodal(draws: &mut Draws) -> usize {
    FAR - usize::from(draws.below(CHANCE) == 0)
}

/// The group of an id, spread evenly (Fibonacci hashing).
fn group(id: Id) -> u32 {
    id.wrapping_mul(0x9E37_79B9) >> (Id::BITS - GROUPS_BITS)
}
