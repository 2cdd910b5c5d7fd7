//! Which files a list holds, and in which order.

use super::candidates::{Candidate, Part};
use super::{Options, Order};
use seekless_job::ranges::{bytes, union};
use seekless_policy::layout::extents::Extent;
use std::collections::HashSet;
use std::path::PathBuf;

/// A file of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name below the root, without a slash in front.
    pub name: Vec<u8>,
    /// Where it lies here.
    pub path: PathBuf,
    /// Its size.
    pub file_bytes: u64,
    /// What runs need of it, by offset; the ranges do not meet.
    pub ranges: Vec<Extent>,
    /// How many runs need it.
    pub runs: u32,
    /// Its number among the candidates.
    pub(super) file: u32,
}

impl Listed {
    /// What runs need of it.
    #[must_use]
    pub fn needed_bytes(&self) -> u64 {
        bytes(&self.ranges)
    }

    /// What a tool will bring in for it: its ranges, if the format has them, or all of it.
    #[must_use]
    pub fn listed_bytes(&self, ranges: bool) -> u64 {
        if ranges { self.needed_bytes() } else { self.file_bytes }
    }
}

/// What a list may hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) min_runs: u32,
    pub(super) budget_bytes: Option<u64>,
    /// Whether ranges are listed, and not whole files.
    pub(super) ranges: bool,
    pub(super) order: Order,
}

impl Rule {
    pub(super) fn of(options: &Options) -> Self {
        let Options { min_runs, budget_bytes, format, .. } = *options;
        let order = options.order.unwrap_or(format.order());
        Self { min_runs, budget_bytes, ranges: format.has_ranges(), order }
    }
}

/// The files of a list, and how many were left out.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) listed: Vec<Listed>,
    /// Files that too few runs need.
    pub(super) rare: u64,
    /// Files that the budget does not hold.
    pub(super) over: u64,
}

/// What runs need of one file.
#[derive(Clone, Default)]
struct Need {
    runs: u32,
    /// The run that was counted last, from 1.
    counted: usize,
    ranges: Vec<Extent>,
}

/// Chooses files that `runs` need, oldest run first. They are in the order of the newest run, then
/// what older runs add; unless the order is that of need alone, those that most runs need come
/// first.
pub(super) fn choose(files: &[Candidate], runs: &[&[Part]], rule: &Rule) -> Chosen {
    let mut needs = vec![Need::default(); files.len()];
    let mut order: Vec<u32> = Vec::new();
    for (number, run) in runs.iter().rev().enumerate() {
        for &(file, range) in *run {
            let need = &mut needs[file as usize];
            if need.runs == 0 {
                order.push(file);
            }
            if need.counted != number + 1 {
                need.counted = number + 1;
                need.runs += 1;
            }
            need.ranges.push(range);
        }
    }
    if rule.order == Order::Runs {
        order.sort_by_key(|&file| std::cmp::Reverse(needs[file as usize].runs)); // stable
    }
    let mut chosen = Chosen::default();
    let mut left = rule.budget_bytes.unwrap_or(u64::MAX);
    let mut inodes = HashSet::new();
    for file in order {
        let Need { runs, ranges, .. } = std::mem::take(&mut needs[file as usize]);
        if runs < rule.min_runs {
            chosen.rare += 1;
            continue;
        }
        let Candidate { name, path, file_bytes, inode } = files[file as usize].clone();
        let listed = Listed { name, path, file_bytes, ranges: union(ranges), runs, file };
        // Another name of a file brings in nothing more.
        let is_again = inode.is_some_and(|inode| !inodes.insert(inode));
        let bytes = if is_again { 0 } else { listed.listed_bytes(rule.ranges) };
        if bytes > left {
            left = 0; // the list ends here, so that a larger budget only adds to it
            chosen.over += 1;
            continue;
        }
        left -= bytes;
        chosen.listed.push(listed);
    }
    chosen
}
