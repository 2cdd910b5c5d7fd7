//! The NTFS extra field (APPNOTE 4.5.5): when a file was modified, in UTC to 100 ns. Info-ZIP's
//! timestamp keeps whole seconds, which cannot distinguish two writes within a second.
//!
//! ```text
//! reserved (4) | tag 1 (2) | 24 (2) | modified (8) | accessed (8) | created (8)
//! ```

use crate::format::{u16_at, u64_at};

/// The tag of the three times.
const TIMES: u16 = 1;
/// Their bytes. Java's reader wants all three.
const TIMES_BYTES: u16 = 24;
/// From 1601, where NTFS begins to count, to 1970.
const EPOCH_S: i64 = 11_644_473_600;
const STEPS_PER_S: u64 = 10_000_000;
/// Nanoseconds of one step.
pub(crate) const STEP_NS: u32 = 100;

/// The first and the last time that the field can hold: in 1601, and in 30828. (0 steps stand for a
/// time that is not known.)
const FIRST: (i64, u32) = (-EPOCH_S, STEP_NS);
const LAST: (i64, u32) = {
    let steps = i64::MAX.cast_unsigned();
    ((steps / STEPS_PER_S).cast_signed() - EPOCH_S, (steps % STEPS_PER_S) as u32 * STEP_NS)
};

/// The time nearest to this one that the field can hold: in seconds since 1970 UTC, and
/// nanoseconds.
pub(crate) fn nearest(unix_s: i64, ns: u32) -> (i64, u32) {
    (unix_s, ns / STEP_NS * STEP_NS).clamp(FIRST, LAST)
}

/// The field's body. `None` for a time that it cannot hold.
pub(crate) fn body(unix_s: i64, ns: u32) -> Option<Vec<u8>> {
    let seconds = u64::try_from(unix_s.checked_add(EPOCH_S)?).ok()?;
    let steps = seconds.checked_mul(STEPS_PER_S)?.checked_add(u64::from(ns / STEP_NS))?;
    let mut out = vec![0; 4];
    out.extend_from_slice(&TIMES.to_le_bytes());
    out.extend_from_slice(&TIMES_BYTES.to_le_bytes());
    // The format wants all three. Of a pack the time of modification is the only one that counts.
    (0..3).for_each(|_| out.extend_from_slice(&steps.to_le_bytes()));
    Some(out)
}

/// When the file was modified: seconds since 1970 UTC, and nanoseconds. `None` if the body does not
/// say.
pub(crate) fn modified(body: &[u8]) -> Option<(i64, u32)> {
    let mut attributes = body.get(4..)?;
    while attributes.len() >= 4 {
        let (tag, length) = (u16_at(attributes, 0), usize::from(u16_at(attributes, 2)));
        let value = attributes.get(4..4 + length)?;
        if tag == TIMES && length >= 8 {
            return known(u64_at(value, 0));
        }
        attributes = &attributes[4 + length..];
    }
    None
}

/// 0 and the largest number stand for a time that the writer did not know.
fn known(steps: u64) -> Option<(i64, u32)> {
    let is_known = steps != 0 && i64::try_from(steps).is_ok();
    let seconds = (steps / STEPS_PER_S).cast_signed() - EPOCH_S;
    is_known.then_some((seconds, (steps % STEPS_PER_S) as u32 * STEP_NS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_to_100_ns() {
        for (unix_s, ns, back) in [
            (0, 0, Some((0, 0))),
            (1_700_000_000, 123_456_789, Some((1_700_000_000, 123_456_700))),
            (-5, 999_999_999, Some((-5, 999_999_900))),
            (4_000_000_001, 100, Some((4_000_000_001, 100))),
            (-EPOCH_S - 1, 0, None),
            (i64::MAX, 0, None),
        ] {
            assert_eq!(body(unix_s, ns).and_then(|body| modified(&body)), back, "{unix_s}.{ns:09}");
        }
    }

    #[test]
    fn what_the_field_cannot_hold_becomes_the_nearest_that_it_can() {
        for time in [(i64::MIN, 7), (-EPOCH_S, 0), (i64::MAX, 999), LAST, (5, 199)] {
            let (unix_s, ns) = nearest(time.0, time.1);
            let back = body(unix_s, ns).and_then(|body| modified(&body));
            assert_eq!(back, Some((unix_s, ns)), "{time:?}");
        }
        assert_eq!((nearest(i64::MIN, 7), nearest(5, 199)), (FIRST, (5, 100)));
    }

    #[test]
    fn a_body_that_does_not_say_has_no_time() {
        let whole = body(1_700_000_000, 5_000).expect("a time");
        assert_eq!(whole.len(), 32);
        for length in 0..16 {
            assert_eq!(modified(&whole[..length]), None, "{length} bytes");
        }
        let mut unknown = whole.clone();
        unknown[8..16].fill(0);
        assert_eq!(modified(&unknown), None);
        unknown[8..16].fill(0xFF);
        assert_eq!(modified(&unknown), None);
        // Another attribute before it.
        let mut behind = whole[..4].to_vec();
        behind.extend([9, 0, 2, 0, 7, 7]);
        behind.extend(&whole[4..]);
        assert_eq!(modified(&behind), Some((1_700_000_000, 5_000)));
    }
}
