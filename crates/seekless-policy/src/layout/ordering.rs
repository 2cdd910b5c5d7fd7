//! The order of the files in an archive, from the runs that read them.
//!
//! Ids number the files in the order in which untraced files should stand: the order of the user's
//! list, or of the paths. An ordering returns a permutation of all ids.

mod beside;
mod best;
mod bound;
mod greedy;
mod kin;

pub use beside::beside;
pub use best::Best;
pub(crate) use best::likelihoods;
pub use bound::seeks_min;
pub use greedy::Greedy;
pub use kin::Kin;

use crate::eviction::Id;
use crate::{Error, ErrorKind, Result};
use seekless_device::Costs;

/// A way to lay files out.
pub trait Ordering {
    /// Returns all ids, `0..bytes.len()`, each once. `runs` are the loads of each run in time
    /// order, oldest run first. An id may occur any number of times; ids outside the range are
    /// ignored. `bytes` is the size of each file.
    fn order(&self, runs: &[&[Id]], bytes: &[u64], costs: &Costs) -> Vec<Id>;
}

/// Every name that [`by_method`] knows.
pub const METHODS: &[&str] = &["best", "name", "recent", "greedy"];

/// The ordering called `method`. That called `best` takes all files to be alike by name; give it
/// their [`Kin`] where names are known. `cache` is the size in bytes of the cache that is assumed
/// in front of the archive, for methods that assume one; `None` is unlimited.
///
/// # Errors
/// There is no such method.
pub fn by_method(method: &str, cache: Option<u64>) -> Result<Box<dyn Ordering + Send + Sync>> {
    Ok(match method {
        "best" => Box::new(Best::default()),
        "name" => Box::new(ByName),
        "recent" => Box::new(Recent),
        "greedy" => Box::new(Greedy { cache }),
        _ => {
            let message =
                format!("no order is called {method:?}; there are {}", METHODS.join(", "));
            return Err(Error::new(ErrorKind::UnknownName, message));
        }
    })
}

/// The ids in ascending order: the order in which an archiver walks folders. The other orders are
/// compared with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByName;

impl Ordering for ByName {
    fn order(&self, _runs: &[&[Id]], bytes: &[u64], _costs: &Costs) -> Vec<Id> {
        (0..bytes.len() as Id).collect()
    }
}

/// First the files of the newest run by their first load, then the remaining files of the run
/// before it, and so on; untraced files last. It is perfect for the newest run, and does not see
/// what the runs have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recent;

impl Ordering for Recent {
    fn order(&self, runs: &[&[Id]], bytes: &[u64], _costs: &Costs) -> Vec<Id> {
        let mut placed = vec![false; bytes.len()];
        let newest_first = runs.iter().rev().flat_map(|run| run.iter().copied());
        newest_first
            .chain(0..bytes.len() as Id)
            .filter(|&id| {
                placed.get_mut(id as usize).is_some_and(|placed| !std::mem::replace(placed, true))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const COSTS: Costs =
        Costs { request_ns: 1_000_000, bytes_per_second: 100_000_000, depth: 1 };

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
        assert_eq!(by_method("worst", None).err().unwrap().kind(), ErrorKind::UnknownName);
    }
}
