//! Rates the pack's order on the last run, which it was not made from.

use super::sample::Sample;
use crate::compare::read_index;
use crate::pack::place_of;
use seekless_job::{Error, Result};
use seekless_policy::eviction::Id;
use seekless_sim::score::{BLOCK_BYTES, Placement};
use seekless_trace::Loads;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

/// Seeks of the held-out run: first loads whose file does not lie directly after the file loaded
/// before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Seeks {
    /// First loads of the run.
    pub loads: u64,
    /// Seeks if the files are in the order of their names.
    pub by_name: u64,
    /// Seeks in the order made from the other runs.
    pub ordered: u64,
}

/// Scores the last run of `held_out` on `pack`, the pack of `tree`, and on its files by name.
pub(crate) fn seeks(tree: &Path, sample: &Sample, pack: &Path, held_out: &Loads) -> Result<Seeks> {
    let universe = Universe::new(sample);
    let file = File::open(pack).map_err(|error| Error::unreadable(pack, error))?;
    let index = read_index(pack, &file)?;
    let names = (0..index.len() as u32).map(|entry| index.name(entry));
    let packed: Vec<Id> = names.filter_map(|name| universe.ids.get(name).copied()).collect();
    let by_name: Vec<Id> = (0..universe.bytes.len() as Id).collect();
    let run: Vec<Id> = held_out.runs.last().map_or_else(Vec::new, |run| {
        run.iter()
            .filter_map(|load| universe.id(tree, &held_out.names[load.file as usize]))
            .collect()
    });
    let score = |order: &[Id]| Placement::new(order, &universe.bytes).score(&run, BLOCK_BYTES);
    let (name, ordered) = (score(&by_name), score(&packed));
    Ok(Seeks { loads: ordered.loads, by_name: name.seeks, ordered: ordered.seeks })
}

/// All files, numbered in the order of the bytes of their names.
struct Universe<'a> {
    bytes: Vec<u64>,
    ids: HashMap<&'a str, Id>,
}

impl<'a> Universe<'a> {
    fn new(sample: &'a Sample) -> Self {
        let mut files: Vec<(&str, u64)> =
            sample.paths.iter().map(String::as_str).zip(sample.bytes.iter().copied()).collect();
        files.sort_unstable();
        let bytes = files.iter().map(|file| file.1).collect();
        let ids = (0..).zip(&files).map(|(id, file)| (file.0, id)).collect();
        Universe { bytes, ids }
    }

    /// The number of the file with the traced name `recorded`.
    fn id(&self, tree: &Path, recorded: &str) -> Option<Id> {
        place_of(tree, recorded, |name| self.ids.get(name).copied())
    }
}
