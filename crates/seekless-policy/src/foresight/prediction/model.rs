//! What is kept of a program between its runs.

mod wire;

use super::rates::Rates;
use super::{Guess, Prediction};
use crate::foresight::references::References;
use crate::id::Id;
use crate::layout::extents::Extent;
use crate::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Runs that are kept: the newest.
pub(super) const RUNS_MAX: usize = 16;

/// Loads that are kept, of all runs together. They bound what a model takes: some 40 MB.
pub(super) const LOADS_MAX: usize = 1 << 20;

/// How often guesses are judged while a model is trained, in loads.
const JUDGED_EVERY: usize = 16;

/// Recorded runs of a program, as entries of one archive by number, how good guesses from them are,
/// and which entries name which. At most 16 runs of 2^20 first loads together, and as many
/// references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    pub(super) entries: u32,
    pub(super) runs: Vec<Arc<[Id]>>,
    pub(super) rates: Rates,
    pub(super) references: References,
}

impl Model {
    /// Learns `runs`, the newest last, each a list of entries in the order in which they were
    /// loaded. `entries` is how many the archive has. Each run is also guessed from the others,
    /// which shows how sure such guesses are. Of more loads than are kept the oldest runs, and the
    /// end of the newest, are left out.
    #[must_use]
    pub fn train(entries: u32, runs: &[Vec<Id>]) -> Self {
        let mut seen = vec![0u32; entries as usize];
        let mut first = |(number, run): (u32, &Vec<Id>)| -> Arc<[Id]> {
            let is_first = |id: &Id| {
                seen.get_mut(*id as usize)
                    .is_some_and(|last| std::mem::replace(last, number) != number)
            };
            run.iter().copied().filter(is_first).take(LOADS_MAX).collect()
        };
        let runs = (1..).zip(runs).map(&mut first).collect();
        let mut model = Self { entries, runs: newest(runs), ..Self::default() };
        if model.runs.len() > 1 {
            (0..model.runs.len()).for_each(|run| model.judge(run));
        }
        model
    }

    /// The same, which also knows which entries name which.
    #[must_use]
    pub fn with_references(self, references: References) -> Self {
        let is_whole = references.all().all(|(from, to, _)| from.max(to) < self.entries);
        let references = match is_whole {
            true => references,
            false => references.renumbered(self.entries, Some),
        };
        Self { references, ..self }
    }

    /// Which entries name which.
    #[must_use]
    pub fn references(&self) -> &References {
        &self.references
    }

    /// Counts how guesses of one run from the others come true.
    fn judge(&mut self, run: usize) {
        let mut others = self.runs.clone();
        let run = others.remove(run);
        let extents: Arc<[Extent]> =
            vec![Extent { offset: 0, bytes: 0 }; self.entries as usize].into();
        let model = Self { entries: self.entries, runs: others, ..Self::default() };
        let Some(mut prediction) = Prediction::new(model, extents) else { return };
        let mut will = vec![false; self.entries as usize];
        run.iter().for_each(|&id| will[id as usize] = true);
        for (number, &id) in run.iter().enumerate() {
            if number % JUDGED_EVERY == 0 {
                prediction.age = None;
                prediction.refresh(false, |_, _| true);
                for &Guess { id, bin, .. } in &prediction.guesses {
                    if bin.is_judged() {
                        self.rates.count(bin, will[id as usize]);
                    }
                }
            }
            prediction.loaded(id);
        }
    }

    /// This model and one run more, the newest, of an archive of `entries` entries.
    pub(super) fn with_run(&self, entries: u32, loads: &[Id], rates: Rates) -> Self {
        let mut runs = self.runs.clone();
        runs.push(loads.into());
        Self { entries, runs: newest(runs), rates, references: self.references.clone() }
    }

    /// The same for an archive of `entries` entries that holds what this one's entry was as
    /// `number` says; `None` for what it does not hold. Two may have become one.
    #[must_use]
    pub fn renumbered(&self, entries: u32, number: impl Fn(Id) -> Option<Id>) -> Self {
        let renumber = |run: &Arc<[Id]>| -> Arc<[Id]> {
            let mut seen = HashSet::new();
            let known = run.iter().filter_map(|&id| number(id)).filter(|&id| id < entries);
            known.filter(|&id| seen.insert(id)).collect()
        };
        let runs = newest(self.runs.iter().map(renumber).collect());
        let references = self.references.renumbered(entries, &number);
        Self { entries, runs, rates: self.rates.clone(), references }
    }

    /// How many entries the archive has.
    #[must_use]
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// Files of all runs together that were loaded.
    #[must_use]
    pub fn loads(&self) -> usize {
        self.runs.iter().map(|run| run.len()).sum()
    }

    /// The files that more than half of the runs load, in the order in which the first of the runs
    /// needs them: what a program is likely to load before it has loaded anything.
    #[must_use]
    pub fn usual(&self) -> Vec<Id> {
        let mut known: HashMap<Id, (usize, usize)> = HashMap::new();
        for (position, &id) in self.runs.iter().flat_map(|run| run.iter().enumerate()) {
            let (having, first) = known.entry(id).or_insert((0, position));
            *having += 1;
            *first = position.min(*first);
        }
        let usual = known.into_iter().filter(|(_, (having, _))| having * 2 > self.runs.len());
        let mut usual: Vec<(usize, Id)> = usual.map(|(id, (_, first))| (first, id)).collect();
        usual.sort_unstable();
        usual.into_iter().map(|(_, id)| id).collect()
    }

    pub(super) fn runs(&self) -> &[Arc<[Id]>] {
        &self.runs
    }

    pub(super) fn rates(&self) -> &Rates {
        &self.rates
    }

    /// Most bytes that [`Model::to_bytes`] gives.
    pub const BYTES_MAX: u64 = 18 << 20;

    /// The model as bytes: some two a load, and some three a reference.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        wire::write(self)
    }

    /// Reads what [`Model::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`Model`](crate::ErrorKind::Model): the bytes are damaged, of another version, or no model.
    /// At most 8 times their size is allocated.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        wire::read(bytes)
    }
}

/// The newest of `runs`, as many as are kept.
fn newest(mut runs: Vec<Arc<[Id]>>) -> Vec<Arc<[Id]>> {
    runs.retain(|run| !run.is_empty());
    let mut loads = 0;
    let fits = |run: &&Arc<[Id]>| {
        loads += run.len();
        loads <= LOADS_MAX
    };
    let kept = runs.iter().rev().take(RUNS_MAX).take_while(fits).count();
    runs.split_off(runs.len() - kept)
}
