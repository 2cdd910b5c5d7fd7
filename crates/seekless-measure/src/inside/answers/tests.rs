//! Small devices in memory whose answers are known.

use super::*;
use crate::inside::{Request, Span, Timed};
use std::collections::HashSet;

/// A device on a clock of its own: a delay for each read, a rate for all, a cache of blocks that
/// forgets nothing, and readahead into it.
#[derive(Default)]
pub(in crate::inside) struct Planted {
    now: Nanos,
    delay_ns: Nanos,
    ns_per_kib: Nanos,
    block_bytes: Option<u64>,
    ahead_blocks: u64,
    cached: HashSet<u64>,
    last_end: u64,
    /// Added to every second read, and to every third twice.
    noise_ns: Nanos,
    reads: u64,
}

impl Planted {
    /// A delay of 5 ms for each read.
    pub(in crate::inside) fn delayed() -> Self {
        Planted { delay_ns: 5_000_000, ..Planted::default() }
    }

    /// The same behind a cache.
    pub(in crate::inside) fn cached(block_bytes: u64) -> Self {
        Planted { block_bytes: Some(block_bytes), ..Planted::delayed() }
    }

    fn one(&mut self, request: &Request) {
        self.reads += 1;
        self.now +=
            10_000 + self.noise_ns * (self.reads % 2 + 2 * u64::from(self.reads.is_multiple_of(3)));
        self.now += self.ns_per_kib * request.bytes / 1024;
        let end = request.offset + request.bytes;
        let Some(block) = self.block_bytes else {
            self.now += self.delay_ns;
            return;
        };
        let blocks = request.offset / block..end.div_ceil(block);
        if !blocks.clone().all(|block| self.cached.contains(&block)) {
            self.now += self.delay_ns;
        }
        let ahead = if self.last_end == request.offset { self.ahead_blocks } else { 0 };
        self.cached.extend(blocks.start..blocks.end + ahead);
        self.last_end = end;
    }
}

impl Timed for Planted {
    fn run(&mut self, requests: &[Request]) -> Result<Vec<Span>, Error> {
        let begin = self.now;
        let span = |request| {
            self.one(request);
            Span { begin, end: self.now }
        };
        Ok(requests.iter().map(span).collect())
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn pause(&mut self, nanos: Nanos) {
        self.now += nanos;
    }

    fn capacity_bytes(&self) -> u64 {
        4 << 30
    }

    fn grain_bytes(&self) -> u64 {
        512
    }
}

fn answers(mut planted: Planted) -> Answers {
    let mut silent = |_, _| {};
    find(&mut Probing::new(&mut planted, Nanos::MAX, 1, &mut silent)).expect("memory reads")
}

/// The reason of a figure that must not be given.
fn why<T: std::fmt::Debug>(finding: &Finding<T>) -> &str {
    assert!(!finding.is_identified(), "{finding:?}");
    &finding.reason
}

#[test]
fn a_delay_has_no_cache_no_readahead_and_no_limit() {
    let found = answers(Planted::delayed());
    assert_eq!(found.first_read_ns.value, Some(5_010_000.0));
    assert_eq!((found.cached.value, found.reads_ahead.value), (Some(false), Some(false)));
    assert!(why(&found.cache_block_bytes).contains("as long as the first"), "{found:?}");
    assert!(why(&found.bytes_per_second).contains("no one limit"), "{found:?}");
}

#[test]
fn a_limit_is_one_rate_for_all_sizes_and_depths() {
    let found = answers(Planted { ns_per_kib: 100_000, ..Planted::default() });
    let rate = found.bytes_per_second.value.expect("a limit");
    assert!((rate / 10_240_000.0 - 1.0).abs() < 0.02, "{found:?}");
}

#[test]
fn a_cache_shows_its_block_and_no_readahead() {
    for block in [4096, 64 << 10] {
        let found = answers(Planted::cached(block));
        assert_eq!(found.cached.value, Some(true), "{found:?}");
        assert_eq!(found.cached_read_ns.value, Some(10_000.0), "{found:?}");
        assert_eq!(found.cache_block_bytes.value, Some(block), "{found:?}");
        assert_eq!(found.reads_ahead.value, Some(false), "{found:?}");
    }
}

#[test]
fn readahead_shows_and_does_not_change_the_block() {
    let found = answers(Planted { ahead_blocks: 4, ..Planted::cached(64 << 10) });
    assert_eq!(found.cache_block_bytes.value, Some(64 << 10), "{found:?}");
    assert_eq!(found.reads_ahead.value, Some(true), "{found:?}");
}

#[test]
fn where_the_noise_is_larger_than_the_difference_the_reason_says_so() {
    let mut again = Times(vec![1e6, 2e6, 9e6, 0.5e6, 4e6]);
    let first = Times(vec![5e6, 6e6, 4e6, 5e6, 5e6]);
    assert!(why(&again.is_faster_than(&first, "a second read")).contains("noise is larger"));
    assert!(why(&again.time("reads")).contains("too noisy"));
    again.0.truncate(1);
    let noisy = answers(Planted { noise_ns: 3_000_000, ..Planted::default() });
    assert!(!noisy.first_read_ns.reason.is_empty() && !noisy.cached.reason.is_empty());
}
