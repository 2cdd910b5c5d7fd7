//! Figs. 5 to 8: short sequences of reads that the paper follows by hand, and the pages that each
//! algorithm fetches at each read. Windows are of at most 128 KiB, as in the paper's examples.

use super::disk::Noting;
use super::method::{MIB, NEW, OLD, SEED, case};
use crate::claims::Claim;
use seekless::device::DeviceSpec;
use seekless::policy::sample::Draws;
use seekless::report::chart::{Axis, DotChart, DotSeries, Unit};
use seekless::report::{Drawing, table};
use seekless::sim::timed::{self, PAGE_BYTES, Rules, Workload};
use serde::Serialize;
use std::ops::Range;

/// The largest window of the examples.
const WINDOW_BYTES: u64 = MIB / 8;
/// So long works the program on a page. The device below answers at once beside it, so that the
/// time of a fetch gives the read at which it began.
const THINK_NS: u64 = 1_000_000;
const DEVICE: &str = "iops=1000000,bandwidth=1TB/s";

/// One figure of the paper, under one algorithm.
#[derive(Serialize)]
pub(super) struct Example {
    pub(super) figure: &'static str,
    what: &'static str,
    pub(super) algorithm: &'static str,
    /// The pages that the program reads, in its order.
    reads: Vec<u64>,
    /// At which read, and which pages.
    pub(super) fetches: Vec<(usize, Range<u64>)>,
}

/// All of them.
pub(super) fn all() -> anyhow::Result<Vec<Example>> {
    let examples = [
        ("5", "cp reads a file", (0..28).collect(), &[NEW][..]),
        ("6", "two streams interleave", two_streams(), &[OLD, NEW]),
        ("7", "random reads in a sequence", disturbed(), &[OLD, NEW]),
        ("8", "one seek in a sequence", vec![1, 2, 3, 1000, 4, 5, 6, 7, 8, 9, 10], &[OLD, NEW]),
    ];
    let each = |(figure, what, reads, algorithms): (_, _, Vec<u64>, &[&'static str])| {
        algorithms
            .iter()
            .map(|&algorithm| {
                let fetches = fetches(&reads, algorithm)?;
                Ok(Example { figure, what, algorithm, reads: reads.clone(), fetches })
            })
            .collect::<Vec<anyhow::Result<_>>>()
    };
    examples.into_iter().flat_map(each).collect()
}

/// Pages 1 to 20 and 51 to 70. The order begins as the paper's: {1, 51, 52, 53, 54, 2, 3, …}.
fn two_streams() -> Vec<u64> {
    let mut reads = vec![1, 51, 52, 53, 54, 2, 3];
    let (mut one, mut other) = ((4..=20).peekable(), (55..=70).peekable());
    let mut draws = Draws::new(SEED);
    while one.peek().is_some() || other.peek().is_some() {
        let first = other.peek().is_none() || (one.peek().is_some() && draws.below(2) == 0);
        reads.extend(if first { one.next() } else { other.next() });
    }
    reads
}

/// Pages 1 to 20 with the paper's random reads among them: {1, 56, 72, 2, 3, 4, …}, 67 and 60.
fn disturbed() -> Vec<u64> {
    let mut reads = vec![1, 56, 72];
    reads.extend(2..=8);
    reads.push(67);
    reads.extend(9..=14);
    reads.push(60);
    reads.extend(15..=20);
    reads
}

fn fetches(reads: &[u64], algorithm: &str) -> anyhow::Result<Vec<(usize, Range<u64>)>> {
    let last = reads.iter().max().copied().unwrap_or(0);
    let reads = reads.iter().map(|page| (page * PAGE_BYTES, PAGE_BYTES));
    let workload = Workload::of_one_file((last + 256) * PAGE_BYTES, reads);
    let device: DeviceSpec = DEVICE.parse()?;
    let mut noting = Noting::new(device.model());
    let rules = Rules { think_ns: THINK_NS, ..Rules::default() };
    timed::simulate(&workload, &case(algorithm, WINDOW_BYTES), &rules, &mut noting)?;
    let fetch = |(now, io): &(u64, seekless::device::Io)| {
        let first = io.offset / PAGE_BYTES;
        (
            usize::try_from(now / THINK_NS).unwrap_or(usize::MAX),
            first..first + io.bytes / PAGE_BYTES,
        )
    };
    Ok(noting.ios.iter().map(fetch).collect())
}

/// What the paper's text and Table 2 say of the fetches.
pub(super) fn claims(examples: &[Example]) -> Vec<Claim> {
    let pages = |figure: &str, algorithm: &str, count: usize| {
        let of = |one: &&Example| (one.figure, one.algorithm) == (figure, algorithm);
        let example = examples.iter().find(of)?;
        // Single pages are those that the program reads itself.
        let ahead = example.fetches.iter().filter(|(_, pages)| pages.end - pages.start > 1);
        Some(ahead.take(count).map(|(_, pages)| shown(pages)).collect::<Vec<_>>().join(", "))
    };
    let expected = [
        ("fig. 5: the first windows of cp", pages("5", NEW, 3), "0-3, 4-11, 12-27"),
        ("fig. 8: the old algorithm around a seek", pages("8", OLD, 3), "2-5, 6-13, 14-16"),
    ];
    let claim = |(claim, found, wanted): (&str, Option<String>, &str)| {
        let found = found?;
        let holds = found == wanted;
        Some(Claim::new(claim, found, wanted, holds))
    };
    expected.into_iter().filter_map(claim).collect()
}

fn shown(pages: &Range<u64>) -> String {
    match pages.end - pages.start {
        1 => pages.start.to_string(),
        _ => format!("{}-{}", pages.start, pages.end - 1),
    }
}

pub(super) fn words(examples: &[Example]) -> String {
    let row = |example: &Example| {
        let fetches = example.fetches.iter();
        let fetched: Vec<String> = fetches.map(|(_, pages)| shown(pages)).collect();
        vec![
            format!("{}: {}", example.figure, example.what),
            example.algorithm.to_owned(),
            fetched.join(", "),
        ]
    };
    format!(
        "Figs. 5 to 8: the pages that are fetched, in order; windows of at most 128 KiB\n\n{}",
        table(&["figure", "readahead", "fetches"], examples.iter().map(row).collect())
    )
}

/// One picture a figure: what is fetched, and what is read, by the number of the read. A panel an
/// algorithm.
pub(super) fn pictures(examples: &[Example]) -> Vec<(&'static str, Drawing)> {
    examples
        .chunk_by(|one, next| one.figure == next.figure)
        .map(|examples| (examples[0].figure, picture(examples)))
        .collect()
}

fn picture(examples: &[Example]) -> Drawing {
    let place = |example: &Example, read: usize| {
        read as f64 / example.reads.len().saturating_sub(1).max(1) as f64
    };
    // A page far away, as that of the one seek, would hide the others.
    let near = |page: u64| page < 100;
    let fetched = |example: &Example| {
        let dots = example.fetches.iter().flat_map(|(read, pages)| {
            pages
                .clone()
                .filter(|&page| near(page))
                .map(|page| (place(example, *read), page as f64))
        });
        dots.collect()
    };
    let read = |example: &Example| {
        let pages = example.reads.iter().enumerate().filter(|&(_, &page)| near(page));
        pages.map(|(number, &page)| (place(example, number), page as f64)).collect()
    };
    DotChart {
        title: format!("Wu 2010, Fig. {}: {}", examples[0].figure, examples[0].what),
        x_label: "reads of the program, in order".to_owned(),
        y: Axis::linear("page", Unit::Count),
        panels: examples.iter().map(|example| example.algorithm.to_owned()).collect(),
        // Of dots at one place the first is drawn: a page that is read when it is fetched.
        series: vec![
            DotSeries { name: "read".to_owned(), panels: examples.iter().map(read).collect() },
            DotSeries {
                name: "fetched".to_owned(),
                panels: examples.iter().map(fetched).collect(),
            },
        ],
        caption: "Windows of at most 128 KiB; pages below 100.".to_owned(),
    }
    .draw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_are_fetched_as_the_paper_follows_them() {
        let examples = all().unwrap();
        let claims = claims(&examples);
        assert_eq!(claims.len(), 2);
        assert!(claims.iter().all(|claim| claim.holds), "{}", words(&examples));
        let reads = |figure| {
            let of = |one: &&Example| one.figure == figure && one.algorithm == NEW;
            &examples.iter().find(of).unwrap().reads
        };
        assert_eq!((reads("6").len(), reads("7").len()), (40, 24));
    }
}
