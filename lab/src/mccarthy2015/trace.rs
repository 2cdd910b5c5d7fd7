//! The web server's requests: file ids, one a line.

use anyhow::{Context, ensure};
use seekless::policy::eviction::Id;
use seekless::policy::sample::Draws;
use std::path::Path;

/// Requests for entries. The number of an entry is the rank of its id among all ids that occur.
pub(crate) struct Trace {
    /// The id of each entry: his *k*.
    pub(crate) ids: Vec<u64>,
    /// Entries in the order of the requests.
    pub(crate) requests: Vec<Id>,
    /// Whether they stand for the published ones, which are not there.
    pub(crate) is_stand_in: bool,
}

/// The published trace: its requests, its files, and how unequal these are.
const REQUESTS: usize = 312_044;
const FILES: f64 = 59_145.0;
const SKEW: f64 = 1.9;

impl Trace {
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| {
            format!("cannot read {}; name the requests with --trace", path.display())
        })?;
        let number = |(line, word): (usize, &str)| {
            let at = || format!("{}, line {}: {word:?} is no id", path.display(), line + 1);
            word.trim().parse::<u64>().with_context(at)
        };
        let asked = text.lines().enumerate().map(number).collect::<anyhow::Result<Vec<u64>>>()?;
        ensure!(!asked.is_empty(), "{} holds no requests", path.display());
        Ok(Self::of(&asked))
    }

    /// A made-up trace of up to 300 ids, some of them much more frequent than others.
    pub(crate) fn small() -> Self {
        let mut draws = Draws::new(2015);
        let asked: Vec<u64> = (0..4000)
            .map(|_| 51 + (draws.below(300) * draws.below(300) / 300) as u64 * 7)
            .collect();
        Self::of(&asked)
    }

    /// Made-up requests of the published trace's shape: as many, of about as many files, the most
    /// wanted of which take as much of them.
    pub(crate) fn stand_in() -> Self {
        const GRAIN: usize = 1 << 30;
        let mut draws = Draws::new(2015);
        let mut unit = || draws.below(GRAIN) as f64 / GRAIN as f64;
        let asked: Vec<u64> = (0..REQUESTS).map(|_| (FILES * unit().powf(SKEW)) as u64).collect();
        Self { is_stand_in: true, ..Self::of(&asked) }
    }

    fn of(asked: &[u64]) -> Self {
        let mut ids = asked.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let requests =
            asked.iter().map(|id| ids.partition_point(|other| other < id) as Id).collect();
        Self { ids, requests, is_stand_in: false }
    }

    /// The hit ratio of a cache that holds all entries.
    pub(crate) fn perfect_hit_ratio(&self) -> f64 {
        1.0 - self.ids.len() as f64 / self.requests.len() as f64
    }
}

/// The same entries in another order.
pub(crate) fn shuffled(entries: usize, seed: u64) -> Vec<Id> {
    let mut order: Vec<Id> = (0..entries as Id).collect();
    let mut draws = Draws::new(seed);
    for place in (1..order.len()).rev() {
        order.swap(place, draws.below(place + 1));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_ranks_of_ids() {
        let trace = Trace::of(&[900, 51, 900, 361]);
        assert_eq!(
            (trace.ids.as_slice(), trace.requests.as_slice()),
            (&[51, 361, 900][..], &[2, 0, 2, 1][..])
        );
        assert!((trace.perfect_hit_ratio() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn shuffling_keeps_every_entry() {
        let mut order = shuffled(100, 1);
        assert_ne!(order, shuffled(100, 2));
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn what_stands_for_the_published_trace_has_its_shape() {
        let trace = Trace::stand_in();
        assert_eq!((trace.requests.len(), trace.is_stand_in), (REQUESTS, true));
        assert!((50_000..=59_145).contains(&trace.ids.len()), "{}", trace.ids.len());
        let first = trace.requests.iter().filter(|entry| **entry == 0).count();
        assert!((600..=1_200).contains(&first), "799 in the published one: {first}");
    }
}
