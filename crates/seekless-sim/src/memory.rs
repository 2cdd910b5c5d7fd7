//! How much memory a run will take, told beforehand.

use crate::requests::Requests;
use crate::run::Case;
use crate::{Error, Result};
use seekless_policy::eviction::needs_of;

/// What a cache may take for each id: policy, ghosts, weights and frame table.
const ID_BYTES_MAX: u64 = 64;

/// Bytes that the requests and the caches at work on them will take at most: those of as many cases as there are cores, and
/// the future where a policy must know it.
///
/// # Errors
/// There is no such policy.
pub fn memory_bytes_max(requests: &Requests, cases: &[Case]) -> Result<u64> {
    let mut future = 0;
    for case in cases {
        if needs_of(&case.policy).map_err(Error::from)?.next_use {
            future = 4 * requests.len() as u64 + 4 * u64::from(requests.id_limit());
        }
    }
    let at_once = cases.len().min(rayon::current_num_threads()) as u64;
    Ok(requests.memory_bytes() + future + at_once * ID_BYTES_MAX * u64::from(requests.id_limit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_ids_and_more_cases_take_more() {
        let case = Case { policy: "lru".into(), capacity: 1 << 20 };
        let of = |ids, cases| {
            memory_bytes_max(&Requests::from_pages((0..ids).collect()), &vec![case.clone(); cases]).unwrap()
        };
        assert_eq!(of(1000, 1), 4 * 1000 + 64 * 1000);
        assert_eq!(of(1000, 0), 4 * 1000);
        assert!(of(2000, 1) > of(1000, 1));
    }
}
