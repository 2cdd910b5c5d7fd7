//! Which file comes after which in an archive, from the runs that read them.
//!
//! Ids number the files of the archive in the order in which untraced files should stand: that of the user's list, or of
//! their paths. An ordering answers with a permutation of all ids.

mod greedy;

pub use greedy::Greedy;

use crate::eviction::Id;
use crate::{Error, ErrorKind, Result};
use seekless_device::Costs;

/// A way to lay files out.
pub trait Ordering {
    /// All ids, `0..bytes.len()`, each once. `runs` are the loads of each run in time order, oldest run first; an id may
    /// occur any number of times. `bytes` is the size of each file. Ids outside are ignored.
    fn order(&self, runs: &[&[Id]], bytes: &[u64], costs: &Costs) -> Vec<Id>;
}

/// Every name that [`by_method`] knows.
pub const METHODS: &[&str] = &["name", "recent", "greedy"];

/// The ordering called `method`; `cache` is the size in bytes of the cache that is assumed before the archive, unlimited
/// if not given, where the method asks for one.
pub fn by_method(method: &str, cache: Option<u64>) -> Result<Box<dyn Ordering + Send + Sync>> {
    Ok(match method {
        "name" => Box::new(ByName),
        "recent" => Box::new(Recent),
        "greedy" => Box::new(Greedy { cache }),
        _ => {
            let message = format!("no order is called {method:?}; there are {}", METHODS.join(", "));
            return Err(Error::new(ErrorKind::UnknownName, message));
        }
    })
}

/// The ids as they are numbered: what an archiver does that walks its folders, and the yardstick for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByName;

impl Ordering for ByName {
    fn order(&self, _runs: &[&[Id]], bytes: &[u64], _costs: &Costs) -> Vec<Id> {
        (0..bytes.len() as Id).collect()
    }
}

/// First loads of the newest run, then those of the one before that were not placed yet, and so on; untraced files last.
/// Perfect for one run, and blind to what the runs have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recent;

impl Ordering for Recent {
    fn order(&self, runs: &[&[Id]], bytes: &[u64], _costs: &Costs) -> Vec<Id> {
        let mut placed = vec![false; bytes.len()];
        let newest_first = runs.iter().rev().flat_map(|run| run.iter().copied());
        newest_first
            .chain(0..bytes.len() as Id)
            .filter(|&id| placed.get_mut(id as usize).is_some_and(|placed| !std::mem::replace(placed, true)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const COSTS: Costs = Costs { request_ns: 1_000_000, bytes_per_second: 100_000_000, depth: 1 };

    #[test]
    fn the_most_recent_run_comes_first_and_untraced_files_last() {
        let order = Recent.order(&[&[4, 0, 2], &[2, 9, 3, 2]], &[1; 6], &COSTS);
        assert_eq!(order, [2, 3, 4, 0, 1, 5]);
    }

    #[test]
    fn every_method_has_a_name() {
        for method in METHODS {
            assert_eq!(by_method(method, None).unwrap().order(&[], &[1, 1], &COSTS), [0, 1]);
        }
        assert_eq!(by_method("best", None).err().unwrap().kind(), ErrorKind::UnknownName);
    }
}
