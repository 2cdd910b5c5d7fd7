//! Ranges of one file as sets of bytes: sorted by offset, and not meeting.

use seekless_policy::layout::extents::Extent;

/// The same bytes as ranges by offset that do not meet.
pub fn union(mut ranges: Vec<Extent>) -> Vec<Extent> {
    ranges.sort_by_key(|range| range.offset);
    ranges.dedup_by(|later, range| {
        let joins = later.offset <= range.end();
        if joins {
            range.bytes = later.end().max(range.end()) - range.offset;
        }
        joins
    });
    ranges
}

/// How many bytes they hold.
pub fn bytes(ranges: &[Extent]) -> u64 {
    ranges.iter().map(|range| range.bytes).sum()
}

/// A sum over files. A trace may claim more than a number holds.
pub fn total(bytes: impl Iterator<Item = u64>) -> u64 {
    bytes.fold(0, u64::saturating_add)
}

/// The bytes that are in both.
pub fn common_bytes(one: &[Extent], other: &[Extent]) -> u64 {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut sum = 0;
    while let (Some(left), Some(right)) = (one.peek(), other.peek()) {
        let (start, end) = (left.offset.max(right.offset), left.end().min(right.end()));
        sum += end.saturating_sub(start);
        if left.end() < right.end() {
            one.next();
        } else {
            other.next();
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_bytes_are_those_in_both() {
        let ranges = |list: &[(u64, u64)]| -> Vec<Extent> {
            union(list.iter().map(|&(offset, bytes)| Extent { offset, bytes }).collect())
        };
        let (one, other) = (ranges(&[(0, 10), (20, 10)]), ranges(&[(5, 20), (29, 9)]));
        assert_eq!((common_bytes(&one, &other), common_bytes(&other, &one)), (11, 11));
        assert_eq!(common_bytes(&one, &[]), 0);
        assert_eq!(ranges(&[(8, 4), (0, 6), (5, 3)]), ranges(&[(0, 12)]));
    }
}
