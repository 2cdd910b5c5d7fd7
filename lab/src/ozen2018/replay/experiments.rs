//! The two experiments that his conclusion proposes: clustered against separate writes, and
//! sequential against shuffled reads of the same pages.

use super::player::{Player, io};
use anyhow::Result;
use seekless::device::SplitMix64;
use seekless::measure::replay::Io;
use serde::Serialize;

/// I/Os of each side.
const IOS: u64 = 20_000;
const PAGE_BYTES: u64 = 4096;
/// Pages of a flash block: 256 KiB.
const BLOCK_PAGES: u64 = 64;

/// Two patterns of the same length.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Experiment {
    pub(super) question: &'static str,
    pub(super) ios: u64,
    pub(super) first: &'static str,
    pub(super) first_seconds: f64,
    pub(super) second: &'static str,
    pub(super) second_seconds: f64,
}

/// Plays both experiments. The sides take turns, and the shortest of three turns counts.
pub(super) fn run(player: &mut Player) -> Result<Vec<Experiment>> {
    let pages = player.bytes() / PAGE_BYTES;
    let blocks = pages / BLOCK_PAGES;
    let count = IOS.min(pages) / BLOCK_PAGES * BLOCK_PAGES;
    let mut seed = SplitMix64::new(2018);
    let starts: Vec<u64> =
        (0..count / BLOCK_PAGES).map(|_| seed.below(blocks) * BLOCK_PAGES).collect();
    let clustered: Vec<Io> = starts
        .iter()
        .flat_map(|&start| (start..start + BLOCK_PAGES).map(|page| io(true, page)))
        .collect();
    // As many writes, each in another block than the one before.
    let apart = |at: u64| at % blocks * BLOCK_PAGES + at / blocks % BLOCK_PAGES;
    let mut separate: Vec<Io> = (0..count).map(|at| io(true, apart(at))).collect();
    shuffle(&mut separate, &mut seed);
    let sequential: Vec<Io> = (0..count).map(|page| io(false, page)).collect();
    let mut shuffled = sequential.clone();
    shuffle(&mut shuffled, &mut seed);
    Ok(vec![
        compare(player, "writes", ("clustered by 256 KiB", clustered), ("separate", separate))?,
        compare(player, "reads", ("sequential", sequential), ("shuffled", shuffled))?,
    ])
}

fn compare(
    player: &mut Player,
    question: &'static str,
    (first, one): (&'static str, Vec<Io>),
    (second, other): (&'static str, Vec<Io>),
) -> Result<Experiment> {
    let (mut first_seconds, mut second_seconds) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        first_seconds = first_seconds.min(player.seconds(&one)?);
        second_seconds = second_seconds.min(player.seconds(&other)?);
    }
    let ios = one.len() as u64;
    Ok(Experiment { question, ios, first, first_seconds, second, second_seconds })
}

/// Fisher and Yates.
fn shuffle(ios: &mut [Io], seed: &mut SplitMix64) {
    for last in (1..ios.len()).rev() {
        ios.swap(last, seed.below(last as u64 + 1) as usize);
    }
}
