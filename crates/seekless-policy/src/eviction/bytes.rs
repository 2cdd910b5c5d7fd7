//! What each policy takes of memory, so that a long run can say beforehand how much it will need.

use super::named::unknown;
use crate::Result;

/// Bytes that the policy called `name` takes at most for each id below the largest, its ghosts and weights included, and the
/// room that arrays which double keep for more; `unit_weights` if every weight and cost is 1. What [`Opt`](super::Opt) keeps
/// for the positions of the trace is not in it. `tests/memory.rs` counts what is really allocated.
///
/// # Errors
/// There is no such policy.
pub fn bytes_per_id(name: &str, unit_weights: bool) -> Result<u64> {
    let (pages, files) = match name {
        "lru" | "fifo" | "fwf" => (9, 17),
        "arc" | "arc@ozen" | "slru" | "slru@4" | "2q@simple" => (10, 18),
        "clock" | "clock@read-hits" | "clock@ozen" | "lru-wsr" | "sieve" | "clock-pro@ozen" => (10, 18),
        "car" | "car@read-hits" | "car@ozen" | "s3-fifo" | "s3-fifo@2024" | "qdlp" => (11, 19),
        "random" => (13, 21),
        "random2" | "random2@ozen" => (21, 29),
        "rrip" | "brrip" | "brrip@alone" | "brrip@ozen" => (15, 15),
        "2q" | "2q@ozen" | "clock-pro" | "lirs" => (18, 26),
        "clock2q+" | "clock2q+@short-ghosts" | "linux" => (19, 27),
        "opt" | "opt@bypass" => (21, 21),
        "mq" | "mq@fixed" => (22, 22),
        "cflru" => (26, 26),
        "w-tinylfu" | "w-tinylfu@fixed" => (34, 42),
        "landlord@naive" | "landlord@cached" => (29, 37),
        "landlord@naive-reciprocal" | "landlord@cached-reciprocal" => (37, 45),
        "landlord@lazy" => (45, 53),
        "landlord@lazy-reciprocal" => (53, 61),
        "landlord" => (48, 48),
        "landlord@full" | "gds" => (17, 50),
        "lfu" => (35, 43),
        "lfu-da" => (48, 56),
        "gdsf" => (48, 53),
        "spatial-clock" | "spatial-clock@ozen" => (34, 34),
        "belady-size" => (57, 57),
        "hyperbolic" => (61, 61),
        "lru-2" | "lru-2@history" => (52, 60),
        "fab" => (46, 46),
        "fab@ozen" => (61, 61),
        _ => return Err(unknown(name)),
    };
    Ok(if unit_weights { pages } else { files })
}
