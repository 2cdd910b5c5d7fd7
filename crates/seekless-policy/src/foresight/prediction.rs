//! Which files a program will load next, from the runs that were recorded of it.
//!
//! Three ways of guessing stand side by side, and each has its own measured hit rates:
//!
//! - *position in recorded runs* (`position`): the loads so far are sought in each recorded run,
//!   at several places at once. The files behind such a place are likely next. How likely depends
//!   on how many of the runs have the file, and on how many files before it this program took;
//! - *successors* (`successors`): what followed the last load before, and, for a file that no run
//!   has, its neighbours in the archive;
//! - *references* (`referred`): what is named in the content of a file, and in that of what it
//!   names. Files that all runs have are left out: they come anyway.
//!
//! Where the names of files are known ([`Prediction::with_names`]), each file also has a chance
//! that it is loaded some day (`likely`).
//!
//! A guess carries a confidence: the share of such guesses that came true (`rates`), in the
//! recorded runs, each judged by the others, and since then in this one. The owner asks for guesses
//! that are worth their bytes ([`Prediction::next`]), reads them ahead within a budget, and
//! reports what became of them. Wrong guesses shrink the budget and right ones let it grow again.
//!
//! **Memory.** Per file of the archive 10 bytes, and 40 more where names are known; per load of a
//! recorded run about 40; per reference 5. All of this is allocated with the model, whose size is
//! bounded ([`Model`]).
//!
//! **Time.** A load costs O(runs) and a binary search. A new list of guesses, every few loads,
//! costs O(runs * `DEPTH`).

mod budget;
mod likely;
mod model;
mod position;
mod rates;
mod referred;
mod successors;

#[cfg(test)]
mod tests;

pub use budget::Budget;
pub use model::Model;

use crate::foresight::alike::Alike;
use crate::id::Id;
use crate::layout::extents::Extent;
use likely::Likely;
use position::Followers;
use rates::{Bin, Rates};
use referred::Referred;
use std::sync::Arc;
use successors::Successors;

/// Loads after which the list of guesses is made anew.
const STALE_AFTER: u32 = 8;

/// Loads after which a guess that was not used counts as wrong.
const WRONG_AFTER: u64 = 1024;

/// Files whose names are looked at, at most.
pub const NAMED_MAX: usize = 1 << 18;

/// Certain, as a confidence.
pub const CERTAIN: u32 = 256;

/// A file that may be loaded soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guess {
    /// Which.
    pub id: Id,
    /// How likely, of [`CERTAIN`].
    pub confidence: u32,
    /// How many loads ahead; negative if it is late.
    pub distance: i32,
    bin: Bin,
}

impl Guess {
    /// Whether it is a file that another names, and that no recorded run has.
    #[must_use]
    pub fn is_of_new(&self) -> bool {
        self.bin.is_of_new()
    }
}

/// What became of the guesses that were read ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Files that were read ahead because they were guessed.
    pub files: u64,
    /// Of these, those that were loaded afterwards.
    pub used: u64,
    /// Bytes of the archive that were read ahead so.
    pub bytes: u64,
    /// Of these, bytes of files that were loaded afterwards.
    pub used_bytes: u64,
    /// Bytes of files that left the cache first, or were not loaded for a long time.
    pub wasted_bytes: u64,
}

/// What is known of a file in this run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Not loaded, or released since.
    #[default]
    New,
    Loaded,
    /// Read ahead, and not loaded since.
    Ahead(Bin),
    /// As [`State::Ahead`], but counted as wrong: it was not loaded for long, or left the cache.
    Wrong(Bin),
}

/// How many of the recorded runs have a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Having {
    #[default]
    None,
    Some,
    All,
}

/// Follows one program.
#[derive(Clone, Debug)]
pub struct Prediction {
    entries: Arc<[Extent]>,
    model: Model,
    followers: Followers,
    successors: Successors,
    referred: Referred,
    rates: Rates,
    states: Vec<State>,
    /// First loads in this run, in order, to be learned.
    loaded: Vec<Id>,
    /// Whether a file is one of these: one that has left the cache is loaded again, and guessed
    /// again, but learned once.
    is_learned: Vec<bool>,
    /// What was read ahead, the oldest first, and at which load.
    ahead: std::collections::VecDeque<(Id, u64)>,
    guesses: Vec<Guess>,
    /// Whether these are in the order of their distance, which only [`Prediction::next`] needs.
    is_sorted: bool,
    /// The confidence and kind of each guess in the list, by file; 0 for others.
    listed: Vec<(u16, Bin)>,
    /// How many of the recorded runs have a file, by file.
    having: Vec<Having>,
    /// If the names of files are known.
    likely: Option<Likely>,
    /// Confidence that a file which every recorded run loads will still be loaded. 0 turns this
    /// kind of guess off.
    core_confidence: u32,
    /// Guesses of the list before this one need not be looked at again.
    next: usize,
    loads: u64,
    /// Loads since the list was made; `None` if there is no list.
    age: Option<u32>,
    budget: Budget,
    score: Score,
}

impl Prediction {
    /// Begins to follow a program that loads from the archive whose entries lie at `entries`.
    /// `None` if the model is of another archive.
    #[must_use]
    pub fn new(model: Model, entries: Arc<[Extent]>) -> Option<Self> {
        if model.entries() as usize > entries.len() {
            return None;
        }
        let rates = model.rates().clone();
        let followers = Followers::new(model.runs());
        let mut having = vec![Having::None; entries.len()];
        followers.files().for_each(|(id, is_common)| {
            having[id as usize] = if is_common { Having::All } else { Having::Some };
        });
        Some(Self {
            followers,
            having,
            likely: None,
            core_confidence: 0,
            successors: Successors::new(model.runs()),
            referred: Referred::new(model.references().clone(), entries.len()),
            rates,
            states: vec![State::New; entries.len()],
            loaded: Vec::new(),
            is_learned: vec![false; entries.len()],
            ahead: std::collections::VecDeque::new(),
            guesses: Vec::new(),
            is_sorted: false,
            listed: vec![(0, Bin::NONE); entries.len()],
            next: 0,
            loads: 0,
            age: None,
            budget: Budget::default(),
            score: Score::default(),
            model,
            entries,
        })
    }

    /// Also predicts by what is alike by name. Of more than [`NAMED_MAX`] files nothing is
    /// predicted so: each would be looked at again and again.
    #[must_use]
    pub fn with_names(self, alike: Arc<Alike>) -> Self {
        if self.entries.len() > NAMED_MAX {
            return self;
        }
        let mut having = vec![0; self.entries.len()];
        let runs = self.model.runs();
        runs.iter().flat_map(|run| run.iter()).for_each(|&id| having[id as usize] += 1);
        let core = self.rates.of(Bin::CORE);
        let likely = Likely::new(alike, &having, runs.len() as u32, core);
        Self { likely: Some(likely), ..self }
    }

    /// Whether [`Prediction::chance`] says more than [`Prediction::confidence`].
    #[must_use]
    pub fn knows_names(&self) -> bool {
        self.likely.is_some()
    }

    /// How likely the program is to load `id` at some time from now on, of 1. 0 if it has.
    #[must_use]
    pub fn chance(&self, id: Id) -> f32 {
        if self.states[id as usize] == State::Loaded {
            return 0.0;
        }
        let guessed = f32::from(self.listed[id as usize].0) / CERTAIN as f32;
        self.likely.as_ref().map_or(guessed, |likely| likely.chance(id).max(guessed))
    }

    /// The program loads `id`.
    pub fn loaded(&mut self, id: Id) {
        self.loads += 1;
        self.age = self.age.map(|age| age + 1);
        let before = std::mem::replace(&mut self.states[id as usize], State::Loaded);
        self.successors.loaded(id);
        if before == State::Loaded {
            return;
        }
        self.listed[id as usize] = (0, Bin::NONE);
        let is_learned = std::mem::replace(&mut self.is_learned[id as usize], true);
        if !is_learned && self.loaded.len() < model::LOADS_MAX {
            self.loaded.push(id);
        }
        self.followers.loaded(id);
        if !is_learned && self.having[id as usize] != Having::All {
            self.likely.iter_mut().for_each(|likely| likely.loaded(id));
        }
        let Self { referred, having, states, .. } = self;
        let is_common = |id: Id| having[id as usize] == Having::All;
        let may_come = |id: Id| !is_common(id) && states[id as usize] == State::New;
        if !is_learned && !is_common(id) && referred.loaded(id, self.loads, may_come) {
            self.age = None;
        }
        self.expire();
        self.came_true(id, before);
    }

    /// Counts the first load of a file that had been read ahead.
    fn came_true(&mut self, id: Id, before: State) {
        let bytes = self.entries[id as usize].bytes;
        match before {
            State::Ahead(bin) => {
                self.rates.count(bin, true);
                self.budget.used(bytes);
            }
            State::Wrong(bin) => {
                self.rates.correct(bin);
                self.score.wasted_bytes -= bytes;
            }
            State::New | State::Loaded => return,
        }
        self.score.used += 1;
        self.score.used_bytes += bytes;
    }

    /// The owner reads the file of this guess ahead.
    pub fn reads(&mut self, id: Id) {
        if self.confidence(id) == 0 {
            return;
        }
        let (_, bin) = std::mem::replace(&mut self.listed[id as usize], (0, Bin::NONE));
        let bin = if bin == Bin::NONE { Bin::CORE } else { bin };
        let bytes = self.entries[id as usize].bytes;
        self.states[id as usize] = State::Ahead(bin);
        self.ahead.push_back((id, self.loads));
        self.budget.ahead(bytes);
        self.score.files += 1;
        self.score.bytes += bytes;
    }

    /// Whether `id` was read ahead and not loaded since.
    #[must_use]
    pub fn is_ahead(&self, id: Id) -> bool {
        matches!(self.states[id as usize], State::Ahead(_) | State::Wrong(_))
    }

    /// `id` was loaded, and has left the cache since: it may be guessed again.
    pub fn evicted(&mut self, id: Id) {
        if self.states[id as usize] == State::Loaded {
            self.states[id as usize] = State::New;
        }
    }

    /// `id` was read ahead, and its bytes were released before it was loaded, or did not come. It
    /// is not guessed again before it is loaded.
    pub fn gone_unused(&mut self, id: Id) {
        if let State::Ahead(bin) = self.states[id as usize] {
            self.wasted(id, bin);
            self.states[id as usize] = State::Wrong(bin);
        }
    }

    fn wasted(&mut self, id: Id, bin: Bin) {
        let bytes = self.entries[id as usize].bytes;
        self.rates.count(bin, false);
        self.budget.wasted(bytes);
        self.score.wasted_bytes += bytes;
    }

    /// What was guessed long ago and not loaded since was guessed wrongly.
    fn expire(&mut self) {
        while let Some(&(id, at)) = self.ahead.front()
            && at + WRONG_AFTER < self.loads
        {
            self.ahead.pop_front();
            if let State::Ahead(bin) = self.states[id as usize] {
                self.wasted(id, bin);
                self.states[id as usize] = State::Wrong(bin);
            }
        }
    }

    /// Makes the list of guesses anew, if it is old. `worth` says which are worth reading. If
    /// `is_far`, a file that all runs have is likely long before its turn
    /// ([`Prediction::confidence`]).
    pub fn refresh(&mut self, is_far: bool, worth: impl Fn(&Guess, u64) -> bool) {
        if self.age.is_some_and(|age| age < STALE_AFTER) {
            return;
        }
        self.age = Some(0);
        self.next = 0;
        self.core_confidence = if is_far { self.rates.of(Bin::CORE) } else { 0 };
        for guess in self.guesses.drain(..) {
            self.listed[guess.id as usize] = (0, Bin::NONE);
        }
        let loads = self.loads;
        self.referred.forget(loads, |id| self.states[id as usize] != State::New);
        let Self {
            followers,
            having,
            successors,
            referred,
            rates,
            states,
            guesses,
            listed,
            entries,
            ..
        } = self;
        let is_new = |id: Id| having[id as usize] == Having::None;
        let rates = rates.all();
        let mut add = |id: Id, bin: Bin, distance: i32, chance: u32| {
            if states[id as usize] != State::New {
                return;
            }
            let guess = Guess { id, confidence: rates.of(bin) * chance / CERTAIN, distance, bin };
            let known = &mut listed[id as usize];
            let bytes = entries[id as usize].bytes;
            if guess.confidence > u32::from(known.0) && worth(&guess, bytes) {
                *known = (guess.confidence as u16, bin);
                guesses.push(guess);
            }
        };
        followers.guesses(|id| states[id as usize] == State::Loaded, &mut add);
        successors.guesses(entries.len() as u32, &mut add);
        referred.guesses(loads, is_new, &mut add);
        // Of several guesses of a file the surest is left.
        guesses.retain(|guess| guess.confidence == u32::from(listed[guess.id as usize].0));
        self.is_sorted = false;
    }

    /// The guess that is needed first, among those for which `needed` is true. The others are not
    /// looked at again before the next list.
    pub fn next(&mut self, needed: impl Fn(&Guess, u32) -> bool) -> Option<Guess> {
        if !std::mem::replace(&mut self.is_sorted, true) {
            self.guesses.sort_unstable_by_key(|guess| (guess.distance, guess.id));
        }
        while let Some(&guess) = self.guesses.get(self.next) {
            let confidence = self.confidence(guess.id);
            if confidence > 0 && needed(&guess, confidence) {
                return Some(guess);
            }
            self.next += 1;
        }
        None
    }

    /// Whether something would announce `id`, and has not: some recorded runs have it and others do
    /// not, or none has it and a file names it.
    #[must_use]
    pub fn is_unlikely(&self, id: Id) -> bool {
        let would_be_announced = match self.having[id as usize] {
            Having::None => self.referred.is_named(id),
            Having::Some => true,
            Having::All => false,
        };
        would_be_announced && self.confidence(id) == 0
    }

    /// Whether `id` is more likely to be loaded than not.
    #[must_use]
    pub fn announces(&self, id: Id) -> bool {
        self.confidence(id) * 2 >= CERTAIN
    }

    /// The guess that [`Prediction::next`] gave is not worth a read of its own for now.
    pub fn skip(&mut self) {
        self.next += 1;
    }

    /// How sure it is that `id` will be loaded, of [`CERTAIN`]. 0 if it was loaded or read ahead
    /// since, or is neither in the list nor, if that is asked, a file that all recorded runs have.
    #[must_use]
    pub fn confidence(&self, id: Id) -> u32 {
        match self.listed[id as usize].0 {
            0 if self.is_core(id) => self.core_confidence,
            listed => listed.into(),
        }
    }

    /// Whether the turn of `id` is expected to be near: it is in the list of guesses.
    #[must_use]
    pub fn is_near(&self, id: Id) -> bool {
        self.listed[id as usize].0 > 0
    }

    /// Whether all recorded runs have `id`, and this one has not come to it.
    fn is_core(&self, id: Id) -> bool {
        let index = id as usize;
        self.having[index] == Having::All
            && self.states[index] == State::New
            && !self.is_learned[index]
    }

    /// How much may be read ahead.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What became of the guesses so far.
    #[must_use]
    pub fn score(&self) -> Score {
        self.score
    }

    /// What was known before the first load of this run.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model with what was learned since: this run is its newest.
    #[must_use]
    pub fn learned(&self) -> Model {
        self.model.with_run(self.entries.len() as u32, &self.loaded, self.rates.clone())
    }
}
