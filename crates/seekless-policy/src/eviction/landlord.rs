//! Landlord: every file pays rent by its size, and a file that cannot pay leaves. This is exact,
//! and visits no file to charge it.

mod charging;
mod density;
mod hint;
mod lazy;

pub use charging::Charging;
pub use density::{Division, Reciprocal};
pub use hint::Hint;
pub use lazy::Lazy;

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::arrays::ranking::Ranking;
use crate::{Error, ErrorKind, Result};

/// Credit densities are fixed-point numbers with this many binary places, so sums and differences
/// are exact.
const DENSITY_BITS: u32 = 64;
/// The scale of the restored fraction.
const RESTORE_ONE: u128 = 1 << 16;

/// Landlord (Young, "On-line file caching", 1998), as Wassenberg 2006 section 3.5.3 uses it. With
/// full restoring it is GreedyDual-Size (Cao and Irani 1997).
///
/// - **Idea:** a file enters with credit equal to its cost. To make room, each file is charged rent
///   in proportion to its size until some credit is 0; those files may leave. A hit restores part
///   of the lost credit: 75 % by default, as in 0 A.D. With cost 1 a small file outlives a large
///   one.
/// - **Rent without visits:** instead of lowering every credit, an offset rises. A file stores its
///   credit density plus the offset at its last restoring. The least stored value is the next
///   victim, and becomes the offset. Densities are fixed-point integers, so this equals charging
///   every file exactly.
/// - **Ties** (equal credit density): the least recently used leaves first. Files leave one at a
///   time until there is room, so others without credit may stay.
/// - **Cost per request:** a hit O(1); the queue reads the raised value when it meets the file. A
///   miss O(1) apart from the moves of a radix heap, a few for each file.
/// - **Memory:** 32 bytes an id, which the system supplies by the page when an id of it first
///   enters, and 4 to 20 a resident file. No ghosts.
/// - **Shines** where sizes differ widely and requests count, not bytes: many small files, a few
///   huge ones. **Fails** to distinguish often used from seldom used files of one size, where it is
///   LRU. Byte hit rates gain little.
///
/// [`Use::FirstUse`](super::Use::FirstUse) restores nothing. A hit keeps the weight that was
/// admitted and takes the request's cost, which includes the [`Hint`] for the file. A lower cost
/// than before takes no credit away.
pub type Landlord = Resident<LandlordRule>;

/// The rule of [`Landlord`].
#[derive(Clone, Debug)]
pub struct LandlordRule {
    /// The rent charged so far, for each unit of weight.
    offset: u128,
    /// The fraction of lost credit that a hit restores, in units of 1 / [`RESTORE_ONE`].
    restore: u128,
    /// Whether a lower cost than before takes credit away, as in GreedyDual-Size.
    takes_back: bool,
    /// Files by credit density plus the offset at their last restoring; beside it their weight.
    ranking: Ranking<u64>,
}

impl Default for LandlordRule {
    /// A hit restores 75 % of the lost credit.
    fn default() -> Self {
        Self::restoring(RESTORE_ONE * 3 / 4)
    }
}

impl Landlord {
    /// A hit restores all lost credit: GreedyDual-Size.
    #[must_use]
    pub fn full_restore(capacity: u64) -> Self {
        Self::with_rule(capacity, LandlordRule::restoring(RESTORE_ONE))
    }

    /// A hit restores `fraction` (0 to 1) of the lost credit. With 0 files leave by size and
    /// arrival alone.
    ///
    /// # Errors
    /// `fraction` is not between 0 and 1.
    pub fn with_restore(capacity: u64, fraction: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&fraction) {
            let message = format!(
                "a hit can restore a fraction of 0 to 1 of the lost credit, not {fraction}"
            );
            return Err(Error::new(ErrorKind::BadParameter, message));
        }
        let restore = (fraction * RESTORE_ONE as f64).round() as u128;
        Ok(Self::with_rule(capacity, LandlordRule::restoring(restore)))
    }

    /// Continues from a cache of pages with full restoring, before its pages are taken over.
    /// `offset` is in whole credits; the pages were used at turns from 0 up to `turn`.
    pub(super) fn resume(capacity: u64, offset: u64, turn: u64, takes_back: bool) -> Self {
        let rule = LandlordRule {
            offset: u128::from(offset) << DENSITY_BITS,
            takes_back,
            ranking: Ranking::after_turn(turn + 1),
            ..LandlordRule::restoring(RESTORE_ONE)
        };
        Self::with_rule(capacity, rule)
    }

    /// Takes over a resident page, last used at `turn`. Its credit plus the offset at that time is
    /// `stands_at`, in whole credits.
    pub(super) fn restore_page(&mut self, id: Id, stands_at: u64, turn: u64) {
        let number = u128::from(stands_at) << DENSITY_BITS;
        self.take_over_page(|rule| rule.ranking.insert_at(id, number, turn + 1, 1));
    }
}

impl LandlordRule {
    fn restoring(restore: u128) -> Self {
        Self { offset: 0, restore, takes_back: false, ranking: Ranking::default() }
    }

    /// A file that has lost credit, or whose cost has changed, is used.
    #[inline(never)]
    fn give_back(&mut self, request: &Request, density: u128, weight: u64) {
        let full = self.offset + full_density(request.cost, weight);
        if full < density && self.takes_back {
            return self.ranking.lower(request.id, full, weight);
        }
        let restored = full.saturating_sub(density) * self.restore / RESTORE_ONE;
        self.ranking.raise(request.id, density + restored, weight);
    }
}

impl Rule for LandlordRule {
    const FOLDS_HITS: bool = true;

    fn grow(&mut self, ids: u32) {
        self.ranking.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.ranking.contains(id)
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        let (density, weight) = self.ranking.get(request.id);
        if is_full(density - self.offset, request.cost, weight) {
            self.ranking.renew(request.id);
        } else {
            self.give_back(request, density, weight);
        }
    }

    #[inline]
    fn hit_times(&mut self, request: &Request, times: u32) {
        for _ in 0..times {
            let (before, _) = self.ranking.get(request.id);
            self.hit(request);
            // What one hit leaves as it is, the others do too. Each restores a share of what is
            // lost, so that is so after some hundred at most, unless a hit restores little.
            if self.ranking.get(request.id).0 == before {
                break;
            }
        }
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        let density = self.offset + full_density(request.cost, request.weight);
        self.ranking.insert(request.id, density, request.weight);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let (density, victim) = self.ranking.take_least()?;
        self.offset = density;
        Some(victim)
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.ranking.remove(id);
    }

    /// The file keeps its credit.
    fn reweigh(&mut self, request: &Request) {
        let (before, weight) = self.ranking.get(request.id);
        let density = self.offset + spread(before - self.offset, weight, request.weight);
        if density < before {
            self.ranking.lower(request.id, density, request.weight);
        } else {
            self.ranking.raise(request.id, density, request.weight);
        }
    }

    #[inline]
    fn weight(&self, id: Id) -> Option<u64> {
        Some(self.ranking.get(id).1)
    }
}

/// The credit for each unit of weight of a file that lost none. A weight of 0 counts as 1, so that
/// the file has a rank.
#[inline]
fn full_density(cost: u32, weight: u64) -> u128 {
    match (weight, cost) {
        (0 | 1, _) => u128::from(cost) << DENSITY_BITS,
        (_, 1) => reciprocal(weight),
        _ => (u128::from(cost) << DENSITY_BITS) / u128::from(weight),
    }
}

/// The density of the same credit over another weight, rounded down. A credit has 96 bits at most:
/// it never exceeds a cost.
fn spread(density: u128, weight: u64, other: u64) -> u128 {
    density * u128::from(weight.max(1)) / u128::from(other.max(1))
}

/// Whether a credit density is that of a file of cost 1 that lost none: true of most hits while
/// nothing is evicted. Two products, in place of a division that takes far longer.
#[inline]
fn is_full(density: u128, cost: u32, weight: u64) -> bool {
    let Ok(density) = u64::try_from(density) else { return false };
    let (one, credit) = (1 << DENSITY_BITS, u128::from(density) * u128::from(weight));
    cost == 1 && credit <= one && one - credit < u128::from(weight)
}

/// 2^64 / weight, rounded down, by a division of 64 bits. The weight is above 1.
#[inline]
fn reciprocal(weight: u64) -> u128 {
    let below = u64::MAX / weight;
    // One more if 2^64 is a multiple of the weight: then 2^64 - 1 leaves the largest remainder.
    u128::from(below) + u128::from(u64::MAX - below * weight == weight - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_tell_a_full_credit_as_division_does() {
        let near = |of: u64| [of.wrapping_sub(1), of, of.wrapping_add(1)];
        let weights = (1..64).flat_map(|bit| near(1 << bit)).chain([3, 1000, 12_345, u64::MAX]);
        for weight in weights.filter(|&weight| weight > 1) {
            let full = full_density(1, weight);
            assert_eq!(full, (1 << DENSITY_BITS) / u128::from(weight));
            for density in [0, full - 1, full, full + 1, 2 * full + 1, u128::from(u64::MAX)] {
                assert_eq!(is_full(density, 1, weight), density == full, "{density} {weight}");
                assert!(!is_full(density, 2, weight));
            }
        }
        assert!(!is_full(full_density(1, 1), 1, 1), "it is a product of over 64 bits");
    }
}
