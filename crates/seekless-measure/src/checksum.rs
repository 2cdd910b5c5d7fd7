//! A digest of what a workload delivered, cheap enough to be taken inside the timed run by every
//! rival alike. The parts may come in any order, since an asynchronous reader delivers in the order
//! of completion.

const FACTORS: [u64; 4] =
    [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0xD6E8_FEB8_6659_FD93, 0xA076_1D64_78BD_642F];

/// The sum of the digests of the parts, each tied to its position. Guards against mistakes, not
/// against malice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum {
    sum: u64,
    bytes: u64,
}

impl Checksum {
    /// Adds the part at `position` (its place in the list that was asked for).
    pub fn add(&mut self, position: u64, part: &[u8]) {
        self.sum = self.sum.wrapping_add(mix(digest(part) ^ mix(position, FACTORS[0]), FACTORS[1]));
        self.bytes += part.len() as u64;
    }

    /// Adds what another thread has seen.
    pub fn merge(&mut self, other: Checksum) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.bytes += other.bytes;
    }

    /// Bytes seen.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The digest of all parts.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.sum
    }
}

/// Four lanes, so that the processor need not wait for one multiplication before the next.
fn digest(part: &[u8]) -> u64 {
    let mut lanes = FACTORS;
    let (blocks, rest) = part.as_chunks::<32>();
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for ((lane, word), factor) in lanes.iter_mut().zip(words).zip(FACTORS) {
            *lane = (*lane ^ u64::from_le_bytes(*word)).wrapping_mul(factor).rotate_left(29);
        }
    }
    let tail =
        rest.iter().fold(part.len() as u64, |tail, &byte| mix(tail ^ u64::from(byte), FACTORS[2]));
    lanes.iter().fold(tail, |all, &lane| mix(all ^ lane, FACTORS[3]))
}

fn mix(value: u64, factor: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(factor);
    value ^ (value >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of<'a>(parts: impl IntoIterator<Item = (u64, &'a [u8])>) -> Checksum {
        let mut checksum = Checksum::default();
        parts.into_iter().for_each(|(position, part)| checksum.add(position, part));
        checksum
    }

    #[test]
    fn the_order_of_arrival_does_not_matter_but_the_position_does() {
        let (one, two): (&[u8], &[u8]) = (b"first", b"second");
        assert_eq!(of([(0, one), (1, two)]), of([(1, two), (0, one)]));
        assert_ne!(of([(0, one), (1, two)]).value(), of([(1, one), (0, two)]).value());
        let mut halves = of([(0, one)]);
        halves.merge(of([(1, two)]));
        assert_eq!(halves, of([(0, one), (1, two)]));
        assert_eq!(halves.bytes(), 11);
    }

    proptest! {
        #[test]
        fn one_changed_byte_changes_it(mut part in prop::collection::vec(any::<u8>(), 1..300), at in any::<prop::sample::Index>(), flip in 1u8..) {
            let before = of([(3, &part[..])]);
            let at = at.index(part.len());
            part[at] ^= flip;
            prop_assert_ne!(before, of([(3, &part[..])]));
        }

        #[test]
        fn zeroes_at_the_end_change_it(part in prop::collection::vec(any::<u8>(), 0..100), zeroes in 1usize..70) {
            let mut longer = part.clone();
            longer.resize(part.len() + zeroes, 0);
            prop_assert_ne!(of([(0, &part[..])]).value(), of([(0, &longer[..])]).value());
        }
    }
}
