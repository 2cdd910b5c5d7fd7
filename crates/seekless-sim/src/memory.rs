//! Estimates the memory of a run beforehand.

use crate::case::Case;
use crate::requests::Requests;
use crate::{Error, Result};
use seekless_policy::eviction::{bytes_per_id, needs_of};

/// Bytes of the frame table of a cache for each id.
const FRAME_BYTES: u64 = 1;

/// Most bytes that the requests and the caches at work take at once. As many cases run as there are
/// cores; the estimate takes the policies that need most memory. It includes the next uses where a
/// policy needs them.
///
/// # Errors
/// There is no such policy.
pub fn memory_bytes_max(requests: &Requests, cases: &[Case]) -> Result<u64> {
    let (mut future, mut positions) = (0, 0);
    let mut bytes = Vec::with_capacity(cases.len());
    for case in cases {
        let needs = needs_of(&case.policy).map_err(Error::from)?;
        if needs.next_use {
            future = 4 * requests.len() as u64 + 4 * u64::from(requests.id_limit());
        }
        if needs.next_use && needs.equal_weights {
            // OPT's queues: at most two of 8 bytes for each 64 positions, and a bit.
            positions = requests.len() as u64 / 2;
        }
        bytes.push(
            FRAME_BYTES
                + bytes_per_id(&case.policy, requests.unit_weights()).map_err(Error::from)?,
        );
    }
    bytes.sort_unstable_by(|one, other| other.cmp(one));
    let at_once = cases.len().min(rayon::current_num_threads());
    let caches = bytes[..at_once].iter().sum::<u64>() * u64::from(requests.id_limit());
    Ok(requests.memory_bytes() + future + positions * at_once as u64 + caches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_ids_and_greedier_policies_take_more() {
        let of = |ids, policies: &[&str]| {
            let case = |policy: &&str| Case { policy: (*policy).into(), capacity: 1 << 20 };
            let cases: Vec<_> = policies.iter().map(case).collect();
            memory_bytes_max(&Requests::from_pages((0..ids).collect()), &cases).unwrap()
        };
        let bytes = |policy| 1 + bytes_per_id(policy, true).unwrap();
        assert_eq!(of(1000, &[]), 4 * 1000);
        assert_eq!(of(1000, &["lru"]), (4 + bytes("lru")) * 1000);
        assert!(of(1000, &["lirs"]) > of(1000, &["lru"]));
        assert!(of(2000, &["lru"]) > of(1000, &["lru"]));
    }
}
