//! Lays the claims of one provider over SLEDs, and joins neighbours that are alike.

use crate::provider::{Claim, Presence};
use crate::{Confidence, Level, Sled};

/// Lays `upper` (in order, not overlapping) over `lower` (in order, without gaps). Ranges that
/// `upper` leaves out stay as they are.
pub(crate) fn overlay(lower: Vec<Sled>, upper: &[Claim]) -> Vec<Sled> {
    if upper.is_empty() {
        return lower;
    }
    let mut result = Vec::with_capacity(lower.len() + upper.len());
    let mut claims = upper.iter().peekable();
    for sled in lower {
        let mut at = sled.offset;
        while at < sled.end() {
            while claims.peek().is_some_and(|claim| claim.end() <= at) {
                claims.next();
            }
            let (end, piece) = match claims.peek() {
                Some(claim) if claim.offset <= at => (claim.end(), applied(&sled, claim)),
                Some(claim) => (claim.offset, sled),
                None => (sled.end(), sled),
            };
            let end = end.min(sled.end());
            push(&mut result, Sled { offset: at, bytes: end - at, ..piece });
            at = end;
        }
    }
    result
}

/// The SLED that a claim makes of the one below it.
fn applied(below: &Sled, claim: &Claim) -> Sled {
    match claim.presence {
        Presence::Here { level, latency, bandwidth, confidence } => {
            Sled { level, latency, bandwidth, confidence, age: claim.age, ..*below }
        }
        // The zeros of a hole cost nothing on any level, and a file in memory stays in memory.
        _ if matches!(below.level, Level::Hole | Level::Memory) => *below,
        Presence::Absent(confidence) => Sled {
            confidence: below.confidence.max(confidence),
            age: below.age.max(claim.age),
            ..*below
        },
        Presence::Unknown => Sled {
            level: Level::Unknown,
            confidence: Confidence::Unknown,
            age: below.age.max(claim.age),
            ..*below
        },
    }
}

/// Appends a SLED. If it continues the last one and is alike, the last one grows instead.
pub(crate) fn push(sleds: &mut Vec<Sled>, next: Sled) {
    match sleds.last_mut() {
        Some(last) if last.end() == next.offset && alike(last, &next) => last.bytes += next.bytes,
        _ => sleds.push(next),
    }
}

fn alike(one: &Sled, other: &Sled) -> bool {
    let one = Sled { offset: other.offset, bytes: other.bytes, ..*one };
    one == *other
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn device(offset: u64, bytes: u64) -> Sled {
        let latency = Duration::from_millis(18);
        let (level, confidence) = (Level::Device, Confidence::Exact);
        Sled { offset, bytes, latency, bandwidth: 9e6, level, confidence, age: Duration::ZERO }
    }

    fn hole(offset: u64, bytes: u64) -> Sled {
        Sled {
            level: Level::Hole,
            latency: Duration::ZERO,
            bandwidth: f64::INFINITY,
            ..device(offset, bytes)
        }
    }

    fn presence(number: u8) -> Presence {
        let (level, confidence) = (Level::Memory, Confidence::Exact);
        match number {
            0 => Presence::Here {
                level,
                latency: Duration::from_nanos(175),
                bandwidth: 48e6,
                confidence,
            },
            1 => Presence::Absent(Confidence::Sampled),
            _ => Presence::Unknown,
        }
    }

    fn claim(offset: u64, bytes: u64, number: u8) -> Claim {
        Claim { offset, bytes, presence: presence(number), age: Duration::ZERO }
    }

    #[test]
    fn memory_covers_the_device_and_a_doubt_covers_no_hole() {
        let lower = vec![device(0, 100), hole(100, 50), device(150, 50)];
        let sleds = overlay(lower, &[claim(10, 20, 0), claim(90, 100, 2)]);
        let levels: Vec<_> =
            sleds.iter().map(|sled| (sled.offset, sled.bytes, sled.level)).collect();
        use Level::{Device, Hole, Memory, Unknown};
        let expected = [
            (0, 10, Device),
            (10, 20, Memory),
            (30, 60, Device),
            (90, 10, Unknown),
            (100, 50, Hole),
            (150, 40, Unknown),
            (190, 10, Device),
        ];
        assert_eq!(levels, expected);
        assert_eq!(
            sleds[3].latency,
            Duration::from_millis(18),
            "unknown costs what lies below, at most"
        );
    }

    proptest! {
        /// The naive model: a level for each byte.
        #[test]
        fn equals_the_byte_by_byte_model(
            lower in prop::collection::vec((1u64..30, any::<bool>()), 1..8),
            upper in prop::collection::vec((0u64..9, 1u64..20, 0u8..3), 0..8),
        ) {
            let mut sleds = Vec::new();
            let mut at = 0;
            for (bytes, holed) in lower {
                push(&mut sleds, if holed { hole(at, bytes) } else { device(at, bytes) });
                at += bytes;
            }
            let size = at;
            let mut claims = Vec::new();
            let mut at = 0;
            for (gap, bytes, number) in upper {
                claims.push(claim(at + gap, bytes, number));
                at += gap + bytes;
            }
            let of = |sleds: &[Sled], byte: u64| sleds.iter().find(|sled| sled.offset <= byte && byte < sled.end()).copied();
            let laid = overlay(sleds.clone(), &claims);
            let mut end = 0;
            for sled in &laid {
                prop_assert_eq!(sled.offset, end);
                prop_assert!(sled.bytes > 0);
                end = sled.end();
            }
            prop_assert_eq!(end, size);
            prop_assert!(laid.windows(2).all(|pair| !alike(&pair[0], &pair[1])), "neighbours of one kind are joined");
            for byte in 0..size {
                let below = of(&sleds, byte).expect("covered");
                let over = claims.iter().find(|claim| claim.offset <= byte && byte < claim.end());
                let expected = over.map_or(below, |claim| applied(&below, claim));
                prop_assert!(alike(&of(&laid, byte).expect("covered"), &expected), "byte {}", byte);
            }
        }
    }
}
