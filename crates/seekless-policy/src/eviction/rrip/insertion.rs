//! What RRIP predicts for a newcomer: the only thing in which its kinds differ.

use crate::eviction::Id;
use crate::lehmer::Lehmer;
use crate::sample::Draws;

/// Predictions are 0 (soon) to 3 (far): the paper's M = 2 bits.
pub(super) const FAR: usize = 3;
/// One newcomer in this many is given a chance by bimodal insertion.
const CHANCE: usize = 32;
/// Ids are spread over this many groups, two of which are dedicated, one to each kind.
const GROUPS_BITS: u32 = 6;
/// The duel's counter saturates at its largest value; from half on, bimodal insertion has missed less.
const DUEL_MAX: u16 = 1023;

/// How newcomers come in.
#[derive(Clone, Debug, Default)]
pub(super) enum Insertion {
    /// All alike.
    #[default]
    Static,
    /// Most as those to leave first.
    Bimodal(Draws),
    /// As whichever of the two misses less.
    Duel {
        draws: Draws,
        /// Raised by a miss of an id dedicated to static insertion, lowered by one dedicated to bimodal.
        static_misses: u16,
    },
    /// As Ozen's program draws.
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

/// A group by the id alone, spread evenly (Fibonacci hashing).
fn group(id: Id) -> u32 {
    id.wrapping_mul(0x9E37_79B9) >> (Id::BITS - GROUPS_BITS)
}
