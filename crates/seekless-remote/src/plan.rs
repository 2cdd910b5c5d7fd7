//! The parts of a new version of an object: what the old one has is copied where it lies, as far as
//! the provider can, and the rest is sent.

use seekless_engine::{ObjectName, Scheme};
use std::ops::Range;

/// Parts but the last have at least this, by the rules of S3.
const PART_BYTES_MIN: u64 = 5 << 20;
/// A part that is sent is in memory.
const SENT_BYTES: u64 = 16 << 20;
/// The most that one request copies. S3 allows five times this.
const COPIED_BYTES: u64 = 1 << 30;
/// Providers allow 10,000 parts.
const PARTS_MAX: u64 = 4000;

/// Bytes that the new version has of the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where they lie in the old version.
    pub from: u64,
    /// Where they lie in the new one.
    pub to: u64,
    /// How many they are.
    pub bytes: u64,
}

/// A part of the new version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// These bytes of the old version.
    Copy(Range<u64>),
    /// These bytes of the new one.
    Send(Range<u64>),
}

/// How a new version is made of the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(crate) parts: Vec<Part>,
    kept: Vec<Kept>,
}

impl Plan {
    /// Plans a version of `bytes` bytes. `kept` lies in it in order, and nowhere twice.
    #[must_use]
    pub fn new(name: &ObjectName, bytes: u64, kept: Vec<Kept>) -> Self {
        // Google composes whole objects, and Azure's copies are not to be had here.
        let copies = cfg!(feature = "aws") && name.scheme() == Scheme::S3;
        let parts = if copies { parts(bytes, &joined(&kept)) } else { send(0..bytes, bytes) };
        Self { parts, kept }
    }

    /// What must be read of the old version, since it is sent with new bytes around it.
    #[must_use]
    pub fn to_read(&self) -> Vec<Kept> {
        let sent = self.parts.iter().filter_map(|part| match part {
            Part::Send(range) => Some(range),
            Part::Copy(_) => None,
        });
        let of = |range: &Range<u64>| {
            let range = range.clone();
            let first = self.kept.partition_point(|kept| kept.to + kept.bytes <= range.start);
            let within = self.kept[first..].iter().take_while(move |kept| kept.to < range.end);
            let cut = move |kept: &Kept| {
                let to = kept.to.max(range.start);
                let end = (kept.to + kept.bytes).min(range.end);
                Kept { from: kept.from + (to - kept.to), to, bytes: end - to }
            };
            within.map(cut).collect::<Vec<_>>()
        };
        joined(&sent.flat_map(of).collect::<Vec<_>>())
    }

    /// Bytes that are copied where they lie.
    #[must_use]
    pub fn copied_bytes(&self) -> u64 {
        let bytes = |part: &Part| match part {
            Part::Copy(range) => range.end - range.start,
            Part::Send(_) => 0,
        };
        self.parts.iter().map(bytes).sum()
    }
}

/// Joins what follows each other in both versions.
fn joined(kept: &[Kept]) -> Vec<Kept> {
    let mut joined: Vec<Kept> = Vec::new();
    for next in kept.iter().filter(|kept| kept.bytes > 0) {
        match joined.last_mut() {
            Some(last)
                if last.from + last.bytes == next.from && last.to + last.bytes == next.to =>
            {
                last.bytes += next.bytes;
            }
            _ => joined.push(*next),
        }
    }
    joined
}

/// What is sent takes so much of what is kept behind it that its part is large enough.
fn parts(bytes: u64, kept: &[Kept]) -> Vec<Part> {
    let (mut parts, mut done) = (Vec::new(), 0);
    for kept in kept {
        let end = kept.to + kept.bytes;
        let first = match kept.to - done {
            0 => kept.to,
            _ => kept.to.max(done + PART_BYTES_MIN),
        };
        if end < first + PART_BYTES_MIN {
            continue;
        }
        parts.extend(send(done..first, bytes));
        let from = kept.from + (first - kept.to);
        parts.extend(pieces(from..from + (end - first), COPIED_BYTES, bytes).map(Part::Copy));
        done = end;
    }
    parts.extend(send(done..bytes, bytes));
    parts
}

fn send(range: Range<u64>, all: u64) -> Vec<Part> {
    pieces(range, SENT_BYTES, all).map(Part::Send).collect()
}

/// Cuts a range into equal pieces of at most `bytes_max`, or of more if there would be too many.
fn pieces(range: Range<u64>, bytes_max: u64, all: u64) -> impl Iterator<Item = Range<u64>> {
    let bytes = range.end - range.start;
    let count = bytes.div_ceil(bytes_max.max(all.div_ceil(PARTS_MAX)));
    let at = move |piece: u64| {
        range.start + (u128::from(bytes) * u128::from(piece) / u128::from(count)) as u64
    };
    (0..count).map(move |piece| at(piece)..at(piece + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_device::SplitMix64;

    const MIB: u64 = 1 << 20;

    fn s3() -> ObjectName {
        ObjectName::parse("s3://bucket/a".as_ref()).unwrap().unwrap()
    }

    /// Checks that the parts make the new version, each of a size that S3 takes.
    fn check(plan: &Plan, bytes: u64) {
        let (mut at, count) = (0, plan.parts.len());
        for (number, part) in plan.parts.iter().enumerate() {
            let range = match part {
                Part::Send(range) => {
                    assert_eq!(range.start, at);
                    range
                }
                Part::Copy(range) => {
                    let holds = |kept: &Kept| {
                        let from = at.checked_sub(kept.to).map(|skipped| kept.from + skipped);
                        from == Some(range.start) && range.end <= kept.from + kept.bytes
                    };
                    assert!(joined(&plan.kept).iter().any(holds), "{at}: {range:?}");
                    range
                }
            };
            let length = range.end - range.start;
            assert!(length >= PART_BYTES_MIN || number + 1 == count, "{plan:?}");
            at += length;
        }
        assert_eq!(at, bytes);
        // What is read and what is copied is all that is kept.
        let read: u64 = plan.to_read().iter().map(|kept| kept.bytes).sum();
        let kept: u64 = plan.kept.iter().map(|kept| kept.bytes).sum();
        assert_eq!(read + plan.copied_bytes(), kept, "{plan:?}");
    }

    #[test]
    fn a_file_that_changed_costs_its_bytes_and_a_part() {
        // 100 MiB stay, 1 MiB is new, 3 GiB stay, and the directory is new.
        let bytes = 101 * MIB + 3072 * MIB + 1000;
        let kept = vec![
            Kept { from: 0, to: 0, bytes: 100 * MIB },
            Kept { from: 100 * MIB, to: 101 * MIB, bytes: 3072 * MIB },
        ];
        let plan = Plan::new(&s3(), bytes, kept);
        check(&plan, bytes);
        assert_eq!(plan.to_read(), [Kept { from: 100 * MIB, to: 101 * MIB, bytes: 4 * MIB }]);
        assert_eq!(plan.parts[0], Part::Copy(0..100 * MIB));
        assert_eq!(plan.parts[1], Part::Send(100 * MIB..105 * MIB));
        assert_eq!(plan.parts.last(), Some(&Part::Send(bytes - 1000..bytes)));
    }

    #[test]
    fn where_nothing_can_be_copied_all_that_is_kept_is_read() {
        let kept = vec![Kept { from: 7, to: 9, bytes: 100 * MIB }];
        let name = ObjectName::parse("gs://bucket/a".as_ref()).unwrap().unwrap();
        let plan = Plan::new(&name, 101 * MIB, kept.clone());
        check(&plan, 101 * MIB);
        assert_eq!((plan.copied_bytes(), plan.to_read()), (0, kept));
    }

    #[test]
    fn any_plan_makes_the_new_version_of_parts_that_are_taken() {
        let mut draws = SplitMix64::new(1);
        let mut below = |limit: u64| draws.bits() % limit;
        for _ in 0..300 {
            let (mut kept, mut bytes) = (Vec::new(), 0);
            for _ in 0..below(12) {
                bytes += below(2) * below(20 * MIB);
                let length = below(30 * MIB) >> below(20);
                kept.push(Kept { from: below(100 * MIB), to: bytes, bytes: length });
                bytes += length;
            }
            bytes += below(2) * below(20 * MIB);
            check(&Plan::new(&s3(), bytes, kept), bytes);
        }
    }
}
