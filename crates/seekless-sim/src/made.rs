//! Traces that are made on the fly, named where a file could be: popularity by Zipf's law, loops,
//! a hot set with scans, popularity that shifts, and mixes of these. A seed gives the same requests
//! on every machine: all arithmetic is exact or IEEE's, and no library computes a power.
//!
//! ```
//! use seekless_sim::made::Made;
//!
//! let made: Made = "zipf:objects=1K,alpha=0.9,requests=5+loop:objects=3,requests=4".parse()?;
//! assert_eq!(made.requests(), 9);
//! assert_eq!(made.objects().count(), 9);
//! # Ok::<(), seekless_sim::Error>(())
//! ```

mod parse;
mod part;
mod power;
mod ranks;

use crate::requests::{Reading, Requests};
use crate::unit::Unit;
use crate::{Error, ErrorKind, Result};
use part::{Part, Running};
use power::Sizes;
use seekless_device::SplitMix64;
use seekless_device::units::{counted, format_bytes};
use seekless_policy::eviction::Id;
use seekless_trace::import::NOT_SAMPLED;
use std::path::{Path, PathBuf};

/// What separates the parts of a mix.
const MIX: char = '+';
/// The most objects and requests of a made trace.
const COUNT_MAX: u64 = u32::MAX as u64 - 1;

/// The description of a trace that is made on the fly, parsed from `zipf:objects=1M,requests=10M`,
/// or several with `+` between: a mix, whose parts come in turns drawn by their shares, each with
/// objects of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    parts: Vec<Part>,
    seed: u64,
    sizes: Option<Sizes>,
}

impl Made {
    /// The description that stands where a file could; `None` if it is the name of a file.
    ///
    /// # Errors
    /// It begins as a description does, but cannot be understood.
    pub fn of(path: &Path) -> Result<Option<Self>> {
        let text = path.to_str().unwrap_or_default();
        match parse::is_made(text) && !path.exists() {
            true => text.parse().map(Some),
            false => Ok(None),
        }
    }

    /// How many requests it has.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.parts.iter().map(|part| part.requests).sum()
    }

    /// Objects have numbers below this.
    #[must_use]
    pub fn objects_max(&self) -> u64 {
        self.parts.iter().map(Part::objects_max).sum()
    }

    /// The object of each request.
    pub fn objects(&self) -> impl Iterator<Item = u64> + use<> {
        let mut first = 0;
        let mut running = Vec::with_capacity(self.parts.len());
        for (at, part) in self.parts.iter().enumerate() {
            running.push(Running::new(part, first, self.seed.wrapping_add(at as u64)));
            first += part.objects_max();
        }
        let mut left = self.requests();
        let mut turns = SplitMix64::new(!self.seed);
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let mut turn = if running.len() > 1 { turns.below(left) } else { 0 };
            left -= 1;
            let next = running.iter_mut().find(|part| {
                let is_next = turn < part.left;
                turn = turn.saturating_sub(part.left);
                is_next
            });
            next.map(Running::next)
        })
    }

    /// The size of an object in bytes: 1 unless sizes are given.
    #[must_use]
    pub fn bytes(&self, object: u64) -> u64 {
        self.sizes.as_ref().map_or(1, |sizes| sizes.of(object, self.seed))
    }
}

/// The requests of traces that are all made on the fly; `None` if none is.
pub(crate) fn read(traces: &[PathBuf], reading: &Reading) -> Result<Option<Requests>> {
    let each = traces.iter().map(|path| Made::of(path)).collect::<Result<Vec<_>>>()?;
    let all: Vec<Made> = each.into_iter().flatten().collect();
    if all.is_empty() {
        return Ok(None);
    }
    if all.len() < traces.len() {
        return Err(mixed());
    }
    check(&all, reading)?;
    let mut gathered = Gathered::new(&all, reading.unit == Some(Unit::Page));
    let select = &reading.import.select;
    for made in &all {
        let limit = select.limit.unwrap_or(u64::MAX);
        for object in made.objects().take(usize::try_from(limit).unwrap_or(usize::MAX)) {
            if select.sample.is_none_or(|sample| sample.keeps_number(object)) {
                gathered.push(made, object);
            } else {
                reading.import.left_out.count(NOT_SAMPLED, 1);
            }
        }
    }
    Ok(Some(gathered.finish(reading)))
}

fn mixed() -> Error {
    let message = "traces made on the fly and files cannot be simulated one after another; give \
                   each a simulation of its own";
    Error::new(ErrorKind::Usage, message)
}

/// Refuses what takes too much memory, or has no meaning.
fn check(all: &[Made], reading: &Reading) -> Result<()> {
    if !reading.import.select.wheres.is_empty() || reading.lifetimes {
        let message = "traces made on the fly have no columns and no lifetimes";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let limit = reading.import.select.limit.unwrap_or(u64::MAX);
    let requests: u64 = all.iter().map(|made| made.requests().min(limit)).sum();
    let objects = all.iter().map(Made::objects_max).max().unwrap_or(0);
    if requests > COUNT_MAX {
        let message = "these are more than 2^32 requests; give fewer";
        return Err(Error::new(ErrorKind::Limit, message));
    }
    let times = if reading.times { size_of::<u64>() as u64 } else { 0 };
    let bytes = requests * (size_of::<Id>() as u64 + times) + objects * part::OBJECT_BYTES;
    if reading.memory_bytes_max.is_some_and(|bytes_max| bytes > bytes_max) {
        let message = format!(
            "{} for {} take {} of memory; make fewer, or allow more with --memory",
            counted(requests, "request"),
            counted(objects, "object"),
            format_bytes(bytes)
        );
        return Err(Error::new(ErrorKind::Limit, message));
    }
    Ok(())
}

/// The requests so far. Objects are numbered by first appearance; pages keep their numbers.
struct Gathered {
    ids: Vec<Id>,
    sizes: Vec<u64>,
    numbers: Vec<Id>,
    are_pages: bool,
}

impl Gathered {
    fn new(all: &[Made], are_pages: bool) -> Self {
        let objects = all.iter().map(Made::objects_max).max().unwrap_or(0);
        let numbers = if are_pages { Vec::new() } else { vec![Id::MAX; objects as usize] };
        Self { ids: Vec::new(), sizes: Vec::new(), numbers, are_pages }
    }

    fn push(&mut self, made: &Made, object: u64) {
        if self.are_pages {
            self.ids.push(object as Id);
            return;
        }
        let number = &mut self.numbers[object as usize];
        if *number == Id::MAX {
            *number = self.sizes.len() as Id;
            self.sizes.push(made.bytes(object));
        }
        self.ids.push(*number);
    }

    fn finish(self, reading: &Reading) -> Requests {
        let requests = match reading.unit {
            Some(Unit::Page) => Requests::from_pages(self.ids),
            unit => Requests::new(unit.unwrap_or(Unit::Object), self.ids, self.sizes),
        };
        match reading.times {
            true => {
                let times = (0..requests.len() as u64).collect();
                requests.with_times(times)
            }
            false => requests,
        }
    }
}

#[cfg(test)]
mod tests;
