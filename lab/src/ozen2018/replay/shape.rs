//! A post-cache trace, and figures of its pattern that may explain its time beside its length.

use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::HashSet;
use std::path::Path;

/// One line: whether it writes, and the page.
pub(super) type Line = (bool, u64);

/// Pages of a flash block, which is erased at once: 256 KiB.
const BLOCK_PAGES: u64 = 64;
/// Writes that lie together in time.
const WINDOW: usize = 64;

/// I/Os that are played in sequence where only a part of a trace is: many times what his player has
/// in flight, and what a pattern is made of.
const STRETCH: usize = 4096;

/// Figures of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Shape {
    /// I/Os.
    pub(super) ios: u64,
    /// Mean number of I/Os of one kind on pages that follow each other.
    pub(super) mean_run: f64,
    /// Share of the I/Os whose page follows that of the one before.
    pub(super) sequential: f64,
    /// Of each 64 writes, the share that lies in a 256 KiB block in which another of them lies.
    pub(super) clustered: f64,
}

impl Shape {
    pub(super) fn of(lines: &[Line]) -> Self {
        let count = lines.len().max(1) as f64;
        let follows = |pair: &&[Line]| pair[1].1 == pair[0].1 + 1;
        let sequential = lines.windows(2).filter(follows).count();
        let goes_on = |pair: &&[Line]| follows(pair) && pair[0].0 == pair[1].0;
        let runs = lines.len() - lines.windows(2).filter(goes_on).count();
        Shape {
            ios: lines.len() as u64,
            mean_run: lines.len() as f64 / runs.max(1) as f64,
            sequential: sequential as f64 / count,
            clustered: clustered(lines),
        }
    }
}

/// Keeps about `most` lines, in stretches spread evenly over the trace: its first lines are those
/// of an empty cache, and unlike the others.
pub(super) fn keep(lines: &mut Vec<Line>, most: usize) {
    if lines.len() <= most {
        return;
    }
    let stretches = (most / STRETCH).max(1);
    let length = most / stretches;
    let kept = (0..stretches).flat_map(|at| {
        // The middle of its share of the trace.
        let (from, to) = (at * lines.len() / stretches, (at + 1) * lines.len() / stretches);
        let start = from + (to - from - length) / 2;
        lines[start..start + length].iter().copied()
    });
    *lines = kept.collect();
}

fn clustered(lines: &[Line]) -> f64 {
    let writes: Vec<u64> =
        lines.iter().filter(|line| line.0).map(|line| line.1 / BLOCK_PAGES).collect();
    let apart = |window: &[u64]| window.iter().collect::<HashSet<_>>().len();
    let blocks: usize = writes.chunks(WINDOW).map(apart).sum();
    1.0 - blocks as f64 / writes.len().max(1) as f64
}

/// Reads what the simulator wrote: a line of heading, then `r N` or `w N`.
pub(super) fn read(path: &Path) -> Result<Vec<Line>> {
    let text = std::fs::read_to_string(path)?;
    let line = |line: &str| {
        let (kind, page) = line.split_once(' ')?;
        Some((kind == "w", page.parse().ok()?))
    };
    let lines = text.lines().skip(1).map(|text| line(text).with_context(|| text.to_owned()));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_trace_is_taken_from_all_of_it() {
        let whole: Vec<Line> = (0..100_000).map(|page| (false, page)).collect();
        let mut part = whole.clone();
        keep(&mut part, 10_000);
        assert_eq!((part.len(), part[0].1, part[5000].1), (10_000, 22_500, 72_500));
        assert_eq!((part[4999].1, part[9999].1), (27_499, 77_499));
        for most in [0, 1, 4095, 99_999, 100_000, usize::MAX] {
            let mut part = whole.clone();
            keep(&mut part, most);
            assert!(part.len() <= most && part.len() * 2 >= most.min(whole.len()), "{most}");
        }
    }

    #[test]
    fn runs_sequences_and_clusters_are_told_apart() {
        let reads: Vec<Line> = (0..100).map(|page| (false, page)).collect();
        let shape = Shape::of(&reads);
        assert_eq!((shape.ios, shape.mean_run, shape.sequential), (100, 100.0, 0.99));
        let turns = [(false, 0), (true, 1), (false, 2), (true, 3)];
        let shape = Shape::of(&turns);
        assert_eq!((shape.mean_run, shape.sequential, shape.clustered), (1.0, 0.75, 0.5));
        let apart: Vec<Line> = (0..64).map(|at| (true, at * BLOCK_PAGES)).collect();
        assert_eq!(Shape::of(&apart).clustered, 0.0);
        assert_eq!(Shape::of(&[]).mean_run, 0.0);
    }
}
