//! Makes the order from the first runs, and rates it on the last run, which it was not made from.

use super::sample::Sample;
use crate::error::Result;
use crate::order;
use crate::pack::place_of;
use seekless_policy::eviction::Id;
use seekless_sim::score::{BLOCK_BYTES, Placement};
use seekless_trace::Loads;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

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

/// The order, and the seeks of the held-out run in both orders.
pub(crate) struct Layout {
    /// The recorded files, first to last, by their traced names.
    pub(crate) order: Vec<String>,
    pub(crate) seeks: Seeks,
}

/// Orders by the traces of `training`, as `seekless order` does. Then scores the last run of
/// `held_out` on the resulting pack: the ordered files first, then the others by name.
pub(crate) fn lay_out(
    tree: &Path,
    sample: &Sample,
    training: &[PathBuf],
    held_out: &Loads,
) -> Result<Layout> {
    let order = order::order(training, &order::Options::default())?.order;
    let universe = Universe::new(sample);
    let by_name: Vec<Id> = (0..universe.names.len() as Id).collect();
    let mut packed: Vec<Id> = order.iter().filter_map(|name| universe.id(tree, name)).collect();
    let placed: HashSet<Id> = packed.iter().copied().collect();
    packed.extend(by_name.iter().filter(|id| !placed.contains(id)));
    let run: Vec<Id> = held_out.runs.last().map_or_else(Vec::new, |run| {
        run.iter()
            .filter_map(|load| universe.id(tree, &held_out.names[load.file as usize]))
            .collect()
    });
    let score = |order: &[Id]| Placement::new(order, &universe.bytes).score(&run, BLOCK_BYTES);
    let (name, ordered) = (score(&by_name), score(&packed));
    Ok(Layout {
        order,
        seeks: Seeks { loads: ordered.loads, by_name: name.seeks, ordered: ordered.seeks },
    })
}

/// All files, numbered in the order of the bytes of their names.
struct Universe<'a> {
    names: Vec<&'a str>,
    bytes: Vec<u64>,
    ids: HashMap<&'a str, Id>,
}

impl<'a> Universe<'a> {
    fn new(sample: &'a Sample) -> Self {
        let mut files: Vec<(&str, u64)> =
            sample.paths.iter().map(String::as_str).zip(sample.bytes.iter().copied()).collect();
        files.sort_unstable();
        let (names, bytes): (Vec<&str>, Vec<u64>) = files.into_iter().unzip();
        let ids = (0..).zip(&names).map(|(id, &name)| (name, id)).collect();
        Universe { names, bytes, ids }
    }

    /// The number of the file with the traced name `recorded`.
    fn id(&self, tree: &Path, recorded: &str) -> Option<Id> {
        place_of(tree, recorded, |name| self.ids.get(name).copied())
    }
}
