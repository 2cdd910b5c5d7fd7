//! Runs cases: one of them, or many on all cores.

use crate::Result;
use crate::case::{Case, Options};
use crate::check::check_cases;
use crate::drive::{self, Device};
use crate::figures::{Counts, Figures};
use crate::requests::{Requests, Totals};
use crate::steps::Begin;
use crate::unit::Unit;
use rayon::prelude::*;
use seekless_policy::cache::{Cache, Command, Config, Filled};
use seekless_policy::eviction::{Eviction, Id, Named, Needs, named, needs_of};
use std::sync::Mutex;

/// Runs one case over the requests, under the rules of [`Options::default`].
///
/// # Errors
/// There is no such policy, or it needs what these requests cannot supply.
pub fn simulate(requests: &Requests, case: &Case) -> Result<Figures> {
    simulate_with(requests, case, &Options::default())
}

/// Runs one case over the requests.
///
/// # Errors
/// As [`simulate`]; or the rules need times or syncs of files, which the requests do not have.
pub fn simulate_with(requests: &Requests, case: &Case, options: &Options) -> Result<Figures> {
    run(requests, case, options, None)
}

/// Runs a policy that is not among [`NAMES`](seekless_policy::eviction::NAMES), in a cache of
/// `capacity` bytes (for bare ids: ids). `make` gets that in units of weight. `name` stands in the
/// figures.
///
/// # Errors
/// As [`simulate_with`]; or the policy needs what these requests cannot supply.
pub fn simulate_own<E: Eviction + Send + 'static>(
    requests: &Requests,
    (name, capacity): (&str, u64),
    options: &Options,
    make: impl FnOnce(u64) -> E,
) -> Result<Figures> {
    check_cases(requests, &[], options)?;
    let config = config(&requests.totals(), capacity);
    let run = Run { requests, config, options, device: None };
    let totals = requests.totals_from(run.warm_up()?);
    let counts = run.counts_of_own(make(config.capacity))?;
    Ok(Figures::new(name, capacity, &totals, counts))
}

/// Runs one case over the requests. Calls `device` for each access that reaches the device.
pub(crate) fn run(
    requests: &Requests,
    case: &Case,
    options: &Options,
    device: Option<Device<'_>>,
) -> Result<Figures> {
    check_cases(requests, std::slice::from_ref(case), options)?;
    let config = config(&requests.totals(), case.capacity);
    let run = Run { requests, config, options, device };
    let totals = requests.totals_from(run.warm_up()?);
    let counts = run.counts(&case.policy)?;
    Ok(Figures::new(&case.policy, case.capacity, &totals, counts))
}

/// Runs every case on all cores, and returns the figures in the order of the cases. Calls
/// `progress` with the number of finished cases and of all.
///
/// # Errors
/// As [`simulate`], of the first case that fails.
pub fn simulate_all(
    requests: &Requests,
    cases: &[Case],
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Vec<Figures>> {
    each_case(cases, progress, |case| simulate(requests, case))
}

/// Does `job` for every case on all cores, and returns the results in the order of the cases. Calls
/// `progress` with the number of finished cases and of all. For callers that do more than
/// [`simulate`], such as timing.
///
/// # Errors
/// Of the first case whose job fails.
pub fn each_case<T: Send>(
    cases: &[Case],
    progress: &mut (dyn FnMut(u64, u64) + Send),
    job: impl Fn(&Case) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let finished = Mutex::new((0, progress));
    let total = cases.len() as u64;
    let run = |case: &Case| {
        let result = job(case)?;
        if let Ok(mut finished) = finished.lock() {
            finished.0 += 1;
            let done = finished.0;
            (finished.1)(done, total);
        }
        Ok(result)
    };
    cases.par_iter().map(run).collect()
}

/// The ids that each request evicts, in order; one list a request. Slower than [`simulate`], with
/// the same decisions.
///
/// # Errors
/// As [`simulate`].
pub fn victims(requests: &Requests, case: &Case) -> Result<Vec<Vec<Id>>> {
    let config = config(&requests.totals(), case.capacity);
    let options = &Options::default();
    let run = Run { requests, config, options, device: None };
    let policy = named(&case.policy, config.capacity)?;
    let next_uses = run.next_uses(policy.needs());
    Ok(watch(&mut run.cache(policy)?, requests, next_uses))
}

/// The counts of `policy` in a cache of any configuration, under the rules of [`Options::default`].
pub(crate) fn count(requests: &Requests, policy: &str, config: Config) -> Result<Counts> {
    Run { requests, config, options: &Options::default(), device: None }.counts(policy)
}

/// Files over half the cache bypass it; pages, objects and bare ids never do.
pub(crate) fn config(totals: &Totals, capacity: u64) -> Config {
    match (totals.unit, totals.unit_weights) {
        (Unit::File, false) => Config::files(capacity),
        _ => Config::pages(capacity / totals.unit_bytes()),
    }
}

/// A run whose policy is still to be chosen.
struct Run<'a> {
    requests: &'a Requests,
    config: Config,
    options: &'a Options,
    device: Option<Device<'a>>,
}

impl<'a> Run<'a> {
    /// How many requests are counted apart.
    fn warm_up(&self) -> Result<usize> {
        self.options.warm_up.map_or(Ok(0), |warm_up| warm_up.requests(self.requests))
    }

    fn begin(&self) -> Begin {
        Begin {
            config: self.config,
            offer: self.requests.offer(),
            changed: self.options.changed,
            sizes_change: self.requests.sizes_change(),
        }
    }

    /// Whether the fast loop suffices: the requests are reads, and the policy needs neither the
    /// future nor neighbours.
    fn is_plain(&self, needs: Needs) -> bool {
        let Options { every, admission, expiry, .. } = self.options;
        let ruled = admission.is_some() || expiry.is_some();
        let simple = self.device.is_none() && every.is_none() && !ruled;
        let reads = self.requests.writes() == 0 && self.requests.removals() == 0;
        simple && reads && !needs.next_use && !needs.neighbours
    }

    fn counts(self, policy: &str) -> Result<Counts> {
        if self.is_plain(needs_of(policy)?) {
            let mut cache = self.begin().with(policy)?;
            let warm_up = self.warm_up()?;
            if warm_up > 0 {
                cache.step(self.requests, 0..warm_up);
                cache.warmed_up(warm_up, self.requests.unit_bytes());
            }
            cache.step(self.requests, warm_up..self.requests.len());
            return Ok(cache.finish().0);
        }
        let policy = named(policy, self.config.capacity)?;
        self.every_request(policy)
    }

    fn counts_of_own<E: Eviction>(self, policy: E) -> Result<Counts> {
        if !self.is_plain(policy.needs()) {
            return self.every_request(policy);
        }
        let mut cache = self.cache(policy)?;
        let (mut counts, changed) = (Counts::default(), self.options.changed);
        let warm_up = self.warm_up()?;
        if warm_up > 0 {
            drive::reads(&mut cache, self.requests, 0..warm_up, changed, &mut counts);
            counts.warmed_up(warm_up, self.requests.unit_bytes());
        }
        let rest = warm_up..self.requests.len();
        drive::reads(&mut cache, self.requests, rest, changed, &mut counts);
        Ok(counts)
    }

    fn every_request<E: Eviction>(self, policy: E) -> Result<Counts> {
        let next_uses = self.next_uses(policy.needs());
        let mut cache = self.cache(policy)?;
        if self.options.write_back.is_active() {
            cache = cache.list_dirty();
        }
        let warm_up = self.warm_up()?;
        let apart = (warm_up, self.device);
        Ok(drive::everything(&mut cache, self.requests, next_uses, self.options, apart))
    }

    fn cache<E: Eviction>(&self, policy: E) -> Result<Cache<E>> {
        let mut cache = self.begin().cache(policy)?;
        cache.grow(self.requests.id_limit());
        Ok(cache)
    }

    fn next_uses(&self, needs: Needs) -> &'a [u32] {
        if needs.next_use { self.requests.next_uses() } else { &[] }
    }
}

fn watch(cache: &mut Cache<Named>, requests: &Requests, next_uses: &[u32]) -> Vec<Vec<Id>> {
    let mut commands = Vec::new();
    let mut removals = requests.each_removal().iter().peekable();
    let mut evicted = |(position, &id): (usize, &Id)| {
        while let Some(removal) = removals.next_if(|one| one.position <= position as u32) {
            cache.discard(removal.id, &mut commands);
        }
        commands.clear();
        cache.step(&drive::request(requests, next_uses, position, id), &mut commands);
        let mut victims = Vec::new();
        for command in std::mem::take(&mut commands) {
            match command {
                Command::Drop(victim) => victims.push(victim),
                Command::WriteBack(victim) => {
                    victims.push(victim);
                    cache.written(victim, &mut commands);
                }
                Command::Fetch(id) => cache.complete(id, Filled::Yes, &mut commands),
            }
        }
        commands.clear();
        victims
    };
    requests.ids().iter().enumerate().map(&mut evicted).collect()
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
        let mut reports = 0;
        let figures = simulate_all(&requests, &cases, &mut |_, _| reports += 1).unwrap();
        assert_eq!(reports, 19);
        assert_eq!(
            figures.iter().map(|row| row.capacity_units).collect::<Vec<_>>(),
            (1..20).collect::<Vec<_>>()
        );
        assert!(
            figures
                .iter()
                .all(|row| row.hits + row.misses == 5000 && row.misses >= row.compulsory_misses)
        );
    }

    #[test]
    fn objects_of_one_size_have_an_optimum() {
        let ids: Vec<u32> = (0..3000).map(|turn| turn * turn % 97).collect();
        let bare = Requests::from_files(&ids, &[1; 97]);
        let alike = Requests::from_files(&ids, &[7; 97]);
        for policy in ["opt", "opt@bypass"] {
            let hits =
                |requests, capacity| simulate(requests, &case(policy, capacity)).unwrap().hits;
            for objects in [2, 10, 50] {
                assert_eq!(hits(&alike, objects * 7 + 6), hits(&bare, objects), "{policy}");
            }
            assert_eq!(simulate(&alike, &case(policy, 6)).unwrap().bypassed, 3000);
        }
        let mut sizes = [7; 97];
        sizes[1] = 8;
        let error = simulate(&Requests::from_files(&ids, &sizes), &case("opt", 100)).unwrap_err();
        assert!(error.to_string().contains("belady-size"), "{error}");
        assert!(error.to_string().contains("of one size"), "{error}");
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
