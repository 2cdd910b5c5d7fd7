//! Divides what is not cached of a file by where it lies, as its SLEDs say: a part in the local
//! cache of a mount, a part behind the network.

use super::left::{Class, Left};
use super::price::Price;
use super::ranges::Ranges;
use seekless_sled::Sled;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

impl Left {
    /// Divides the ranges that are not cached by what they cost a byte. What `is_left_out` says of
    /// a SLED is removed; returns whether anything was.
    pub(super) fn divide(&mut self, sleds: &[Sled], is_left_out: impl Fn(&Sled) -> bool) -> bool {
        let (mut classes, mut left_out) = (BTreeMap::<Price, Ranges>::new(), false);
        for (part, sled) in self.take_absent().into_iter().flat_map(|range| parts(range, sleds)) {
            if is_left_out(&sled) {
                left_out = true;
            } else {
                classes.entry(price(&sled, &part)).or_default().push(part);
            }
        }
        self.wait(classes.into_iter().map(|(price, ranges)| Class { price, ranges }));
        left_out
    }
}

/// The parts of a range, each with the SLED that it lies in. What the file has grown by since is
/// like its end.
fn parts(range: Range<u64>, sleds: &[Sled]) -> Vec<(Range<u64>, Sled)> {
    let first = sleds.partition_point(|sled| sled.end() <= range.start);
    let mut from = range.start;
    let mut parts = Vec::new();
    for sled in sleds[first..].iter().take_while(|sled| sled.offset < range.end) {
        let end = sled.end().min(range.end);
        parts.push((from..end, *sled));
        from = end;
    }
    parts.extend(sleds.last().filter(|_| from < range.end).map(|last| (from..range.end, *last)));
    parts
}

fn price(sled: &Sled, part: &Range<u64>) -> Price {
    let bytes = part.end - part.start;
    Price::of(Sled { bytes, ..*sled }.cost(), bytes)
}

/// The time to the last byte of a file, and its size.
pub(super) fn cost_of(sleds: &[Sled]) -> (Duration, u64) {
    let cost = sleds.iter().map(Sled::cost).fold(Duration::ZERO, Duration::saturating_add);
    (cost, sleds.iter().map(|sled| sled.bytes).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_sled::{Confidence, Level};

    const MIB: u64 = 1 << 20;

    fn sled(mib: Range<u64>, latency_ms: u64) -> Sled {
        Sled {
            offset: mib.start * MIB,
            bytes: (mib.end - mib.start) * MIB,
            latency: Duration::from_millis(latency_ms),
            bandwidth: 1e8,
            level: Level::Device,
            confidence: Confidence::Exact,
            age: Duration::ZERO,
        }
    }

    fn left(absent: &[Range<u64>]) -> Left {
        let mut left = Left::default();
        absent.iter().for_each(|mib| left.absent.push(mib.start * MIB..mib.end * MIB));
        left
    }

    fn absent(left: &Left) -> Vec<(u64, u64)> {
        left.absent.iter().map(|range| (range.start / MIB, range.end / MIB)).collect()
    }

    #[test]
    fn what_costs_less_a_byte_comes_first() {
        let sleds = [sled(0..4, 300), sled(4..6, 2), sled(6..8, 300), sled(8..9, 2)];
        let mut left = left(&[1..5, 7..10]);
        left.cached.push(0..MIB);
        assert!(!left.divide(&sleds, |_| false));
        let near = left.price;
        assert!(!left.promote(), "not before these are read");
        let mut order = Vec::new();
        while !left.absent.is_empty() {
            order.extend(absent(&left));
            while left.absent.take(u64::MAX).is_some() {}
            left.promote();
        }
        // What was appended is like the last range. Of two far ranges, three MiB share one latency.
        assert_eq!(order, [(4, 5), (8, 10), (1, 4), (7, 8)]);
        assert!(left.price > near && left.absent_bytes() == 0);
    }

    #[test]
    fn what_is_too_far_is_removed() {
        let sleds = [sled(0..4, 300), sled(4..6, 2)];
        let mut left = left(&[0..3, 3..6]);
        assert!(left.divide(&sleds, |sled| sled.latency > Duration::from_millis(100)));
        assert_eq!((absent(&left), left.absent_bytes()), (vec![(4, 6)], 2 * MIB));
        assert!(left.divide(&sleds, |_| true) && left.is_over(false));
    }
}
