//! What is kept of a program between its runs.

use super::rates::Rates;
use super::{Guess, Prediction, wire};
use crate::extents::Extent;
use crate::id::Id;
use crate::{Error, Result};
use std::sync::Arc;

/// Runs that are kept: the newest.
pub(super) const RUNS_MAX: usize = 16;

/// Loads of a run that are kept: its first ones.
pub(super) const LOADS_MAX: usize = 1 << 20;

/// How often guesses are judged while a model is trained, in loads.
const JUDGED_EVERY: usize = 16;

/// Recorded runs of a program, as entries of one archive by number, and how good guesses from them
/// are. At most 16 runs of a million first loads each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    pub(super) entries: u32,
    pub(super) runs: Vec<Arc<[Id]>>,
    pub(super) rates: Rates,
}

impl Model {
    /// Learns `runs`, the newest last, each a list of entries in the order in which they were
    /// loaded. `entries` is how many the archive has. Each run is also guessed from the others,
    /// which tells how sure such guesses are.
    #[must_use]
    pub fn train(entries: u32, runs: &[Vec<Id>]) -> Self {
        let newest = &runs[runs.len().saturating_sub(RUNS_MAX)..];
        let mut seen = vec![0u32; entries as usize];
        let mut first = |(number, run): (u32, &Vec<Id>)| -> Arc<[Id]> {
            let is_first = |id: &Id| {
                seen.get_mut(*id as usize)
                    .is_some_and(|last| std::mem::replace(last, number) != number)
            };
            run.iter().copied().filter(is_first).take(LOADS_MAX).collect()
        };
        let runs: Vec<Arc<[Id]>> = (1..).zip(newest).map(&mut first).collect();
        let runs = runs.into_iter().filter(|run| !run.is_empty()).collect();
        let mut model = Self { entries, runs, rates: Rates::default() };
        if model.runs.len() > 1 {
            (0..model.runs.len()).for_each(|run| model.judge(run));
        }
        model
    }

    /// Counts how guesses of one run from the others come true.
    fn judge(&mut self, run: usize) {
        let mut others = self.runs.clone();
        let run = others.remove(run);
        let extents: Arc<[Extent]> =
            vec![Extent { offset: 0, bytes: 0 }; self.entries as usize].into();
        let model = Self { entries: self.entries, runs: others, rates: Rates::default() };
        let Some(mut prediction) = Prediction::new(model, extents) else { return };
        let mut will = vec![false; self.entries as usize];
        run.iter().for_each(|&id| will[id as usize] = true);
        for (number, &id) in run.iter().enumerate() {
            if number % JUDGED_EVERY == 0 {
                prediction.age = None;
                prediction.refresh(|_, _| true);
                for &Guess { id, bin, .. } in &prediction.guesses {
                    if bin.is_judged() {
                        self.rates.count(bin, will[id as usize]);
                    }
                }
            }
            prediction.loaded(id);
        }
    }

    /// This model and one run more, the newest.
    pub(super) fn with_run(&self, loads: &[Id], rates: Rates) -> Self {
        let mut runs = self.runs.clone();
        if !loads.is_empty() {
            runs.push(loads.into());
        }
        let old = runs.len().saturating_sub(RUNS_MAX);
        Self { entries: self.entries, runs: runs.split_off(old), rates }
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

    pub(super) fn runs(&self) -> &[Arc<[Id]>] {
        &self.runs
    }

    pub(super) fn rates(&self) -> &Rates {
        &self.rates
    }

    /// The model as bytes: some two a load.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        wire::write(self)
    }

    /// Reads what [`Model::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`Model`](crate::ErrorKind::Model): the bytes are damaged, of another version, or no model.
    /// At most 16 times their size is allocated.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        wire::read(bytes)
    }
}
