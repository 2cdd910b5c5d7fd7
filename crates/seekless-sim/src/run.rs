//! The loop: one policy over all requests, and many of those on all cores.

use crate::figures::{Counts, Figures};
use crate::requests::{Requests, Unit};
use crate::{Error, Result};
use rayon::prelude::*;
use seekless_policy::cache::{Cache, Command, Config, Filled};
use seekless_policy::eviction::{Eviction, Id, Needs, Outcome, Request, Visitor, visit};
use std::sync::Mutex;

/// What to simulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Name of the policy, one of [`NAMES`](seekless_policy::eviction::NAMES).
    pub policy: String,
    /// Bytes; in page units it holds the whole pages of them, and for bare ids it is a number of ids.
    pub capacity: u64,
}

/// Runs one case over the requests.
///
/// # Errors
/// There is no such policy, or it needs what a trace cannot tell.
pub fn simulate(requests: &Requests, case: &Case) -> Result<Figures> {
    let config = config(requests, case.capacity);
    let counts = visit(&case.policy, config.capacity, Run { requests, config })??;
    Ok(Figures::new(&case.policy, case.capacity, requests, counts))
}

/// Runs every case on all cores; figures come in the order of the cases. `progress` hears of finished cases.
///
/// # Errors
/// As [`simulate`], of the first case that fails.
pub fn simulate_all(
    requests: &Requests,
    cases: &[Case],
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Vec<Figures>> {
    let finished = Mutex::new((0, progress));
    let total = cases.len() as u64;
    let run = |case: &Case| {
        let figures = simulate(requests, case)?;
        if let Ok(mut finished) = finished.lock() {
            finished.0 += 1;
            let done = finished.0;
            (finished.1)(done, total);
        }
        Ok(figures)
    };
    cases.par_iter().map(run).collect()
}

/// The ids that each request pushes out, in order, a list a request. Slower than [`simulate`] and makes the same decisions.
///
/// # Errors
/// As [`simulate`].
pub fn victims(requests: &Requests, case: &Case) -> Result<Vec<Vec<Id>>> {
    let config = config(requests, case.capacity);
    visit(&case.policy, config.capacity, Watch(Run { requests, config }))?
}

/// Files over half the cache bypass it; pages and bare ids, which all weigh the same, never do.
fn config(requests: &Requests, capacity: u64) -> Config {
    match (requests.unit(), requests.unit_weights()) {
        (Unit::File, false) => Config::files(capacity),
        _ => Config::pages(capacity / requests.unit_bytes()),
    }
}

/// Waits for the policy's type.
struct Run<'a> {
    requests: &'a Requests,
    config: Config,
}

impl Run<'_> {
    fn cache<E: Eviction>(&self, policy: E) -> Result<Cache<E>> {
        let offer = Needs { unit_weights: self.requests.unit_weights(), ..Needs::default() };
        let mut cache = Cache::with_offer(policy, self.config, offer).map_err(Error::from)?;
        cache.grow(self.requests.id_limit());
        Ok(cache)
    }
}

impl Visitor for Run<'_> {
    type Output = Result<Counts>;

    fn visit<E: Eviction + Send + 'static>(self, policy: E) -> Self::Output {
        Ok(drive(&mut self.cache(policy)?, self.requests))
    }
}

/// As [`Run`], for the victims.
struct Watch<'a>(Run<'a>);

impl Visitor for Watch<'_> {
    type Output = Result<Vec<Vec<Id>>>;

    fn visit<E: Eviction + Send + 'static>(self, policy: E) -> Self::Output {
        Ok(watch(&mut self.0.cache(policy)?, self.0.requests))
    }
}

fn watch<E: Eviction>(cache: &mut Cache<E>, requests: &Requests) -> Vec<Vec<Id>> {
    let dropped = |command: Command| match command {
        Command::Drop(victim) => Some(victim),
        Command::Fetch(_) | Command::WriteBack(_) => None,
    };
    let mut commands = Vec::new();
    let mut evicted = |&id: &Id| {
        cache.step(&Request::file(id, requests.weight(id)), &mut commands);
        let victims = commands.drain(..).filter_map(dropped).collect();
        if cache.in_flight(id) {
            cache.complete(id, Filled::Yes, &mut commands);
        }
        victims
    };
    requests.ids().iter().map(&mut evicted).collect()
}

/// The fast loop: nothing in it depends on the policy's name, only on its type.
fn drive<E: Eviction>(cache: &mut Cache<E>, requests: &Requests) -> Counts {
    let mut counts = Counts::default();
    for &id in requests.ids() {
        let request = Request::file(id, requests.weight(id));
        match cache.access(&request) {
            Outcome::Hit => {
                counts.hits += 1;
                counts.hit_weight += request.weight;
            }
            Outcome::Admitted => counts.miss_weight += request.weight,
            Outcome::Bypassed => {
                counts.bypassed += 1;
                counts.miss_weight += request.weight;
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use seekless_policy::eviction::{NAMES, needs_of};

    fn case(policy: &str, capacity: u64) -> Case {
        Case { policy: policy.to_owned(), capacity }
    }

    #[test]
    fn page_capacity_is_whole_pages() {
        let requests = Requests::from_pages(vec![0, 1, 0, 1]);
        let hits = |bytes| simulate(&requests, &case("lru", bytes)).unwrap().hits;
        assert_eq!([hits(4095), hits(8191), hits(8192)], [0, 0, 2]);
    }

    #[test]
    fn a_file_over_half_the_cache_bypasses_under_every_policy() {
        let requests = Requests::from_files(&[0, 0, 1, 1], &[51, 50]);
        let of_files = |name: &&&str| needs_of(name).unwrap() == Needs::default();
        for policy in NAMES.iter().filter(of_files) {
            let figures = simulate(&requests, &case(policy, 100)).unwrap();
            assert_eq!(
                (figures.bypassed, figures.hits, figures.miss_bytes),
                (2, 1, 51 + 51 + 50),
                "{policy}"
            );
        }
    }

    #[test]
    fn a_cache_of_one_id_keeps_it() {
        let requests = Requests::from_files(&[3, 3, 3], &[1; 4]);
        assert_eq!(simulate(&requests, &case("lru", 1)).unwrap().hits, 2);
    }

    #[test]
    fn cases_come_back_in_order_whatever_runs_first() {
        let requests = Requests::from_pages((0..5000).map(|turn| turn * turn % 97).collect());
        let cases: Vec<_> = (1..20).map(|pages| case("arc", pages * 4096)).collect();
        let mut heard = 0;
        let figures = simulate_all(&requests, &cases, &mut |_, _| heard += 1).unwrap();
        assert_eq!(heard, 19);
        assert_eq!(
            figures.iter().map(|row| row.capacity_units).collect::<Vec<_>>(),
            (1..20).collect::<Vec<_>>()
        );
        assert!(
            figures.iter().all(|row| row.hits + row.misses == 5000 && row.misses >= row.compulsory_misses)
        );
    }

    #[test]
    fn an_unknown_policy_is_an_error() {
        let error = simulate(&Requests::from_pages(vec![0]), &case("magic", 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Policy);
        assert!(error.to_string().contains("magic"));
    }

    #[test]
    fn no_requests_give_figures_of_zero() {
        let figures = simulate(&Requests::from_pages(Vec::new()), &case("landlord", 4096)).unwrap();
        assert_eq!((figures.requests, figures.hit_ratio), (0, 0.0));
    }
}
