//! Simulates a trace that is too long for memory while it is read, in windows: every cache takes
//! the requests of a window before the next one is read. Memory then holds what is known of each
//! object, and no request but those of two windows. Policies that need the future cannot be
//! simulated so.
//!
//! If something must be known of the whole trace before a case can begin, such as the working set,
//! the trace is read to its end, and once more from its start.

use crate::capacity::Capacities;
use crate::case::{Case, Options};
use crate::check::check_policy;
use crate::figures::Figures;
use crate::made::Made;
use crate::requests::{Reader, Reading, Requests, Totals, Window};
use crate::run::config;
use crate::steps::{Begin, Steps};
use crate::unit::Unit;
use crate::{Error, ErrorKind, Result};
use rayon::prelude::*;
use seekless_device::units::{counted, format_bytes};
use seekless_policy::cache::Changed;
use seekless_policy::eviction::{bytes_per_id, needs_of};
use std::path::PathBuf;
use std::time::Duration;

/// What is to be simulated: each policy at each capacity.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The names of the policies.
    pub policies: Vec<String>,
    /// The capacities, which may depend on the working set.
    pub capacities: Vec<Capacities>,
    /// The rules for all.
    pub options: Options,
}

impl Plan {
    /// The cases for requests with these sums: of each capacity, all policies.
    ///
    /// # Errors
    /// A capacity makes no sense for such requests.
    pub fn cases(&self, totals: &Totals) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        for capacities in &self.capacities {
            for capacity in capacities.resolve(totals)? {
                let policies = self.policies.iter().cloned();
                cases.extend(policies.map(|policy| Case { policy, capacity }));
            }
        }
        Ok(cases)
    }

    /// Whether no case looks back or ahead: no policy needs the future, and there are no points in
    /// time and no periodic writes.
    fn can_stream(&self) -> Result<bool> {
        let Options { changed, .. } = self.options;
        let mut can = self.options == Options { changed, ..Options::default() };
        for policy in &self.policies {
            can &= !needs_of(policy)?.next_use;
        }
        Ok(can)
    }

    /// Whether a case cannot begin before all sizes are known.
    fn needs_sizes(&self, unit: Unit, unit_weights: bool) -> Result<bool> {
        let mut needs = self.capacities.iter().any(Capacities::has_share);
        // Whether files bypass, and which policies are refused, depends on whether all weigh 1.
        needs |= unit == Unit::File && !unit_weights;
        for policy in &self.policies {
            needs |= needs_of(policy)?.unit_weights && !unit_weights;
        }
        Ok(needs)
    }

    /// How many caches there are.
    fn caches(&self) -> usize {
        self.policies.len() * self.capacities.iter().map(Capacities::len).sum::<usize>()
    }

    /// Most bytes of all caches for each object.
    fn bytes_per_id(&self, unit_weights: bool) -> Result<u64> {
        let capacities: usize = self.capacities.iter().map(Capacities::len).sum();
        let mut bytes = 0;
        for policy in &self.policies {
            bytes += 1 + bytes_per_id(policy, unit_weights)?;
        }
        Ok(bytes * capacities as u64)
    }
}

/// How many requests are in memory at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Those of the first window, if there are many caches, or sizes must be known before. A trace
    /// that is not longer is simulated from memory.
    pub first: usize,
    /// Those of each other window.
    pub others: usize,
}

/// The first window is so short that its requests, at this many bytes each, take no more than a
/// part of the memory allowed.
const REQUEST_BYTES_MAX: u64 = 64;

/// Up to this number, caches are few.
const FEW: usize = 4;

impl Default for Windows {
    fn default() -> Self {
        // The first takes 256 MB. The others are so long that a cache's arrays are seldom fetched
        // anew.
        Windows { first: 1 << 26, others: 1 << 20 }
    }
}

/// An opened trace.
#[derive(Debug)]
pub enum Opened {
    /// All requests, in memory.
    Kept(Box<Requests>),
    /// A long trace whose first window has been read.
    Long(Box<Stream>),
}

/// A long trace that is simulated while it is read.
#[derive(Debug)]
pub struct Stream {
    reader: Reader,
    /// The window that was read last.
    window: Window,
    /// Whether more follow it.
    more: bool,
    windows: Windows,
    plan: Plan,
    unit: Unit,
    unit_weights: bool,
    memory_bytes_max: Option<u64>,
    /// The size of each object at its last request.
    sizes: Vec<u64>,
    /// The sum of the sizes of all objects, each at its first request.
    first_bytes: u64,
    /// The least and the largest size so far.
    size_min: u64,
    size_max: u64,
    /// Whether a size has changed.
    change: bool,
    /// Whether the trace was read to its end.
    surveyed: bool,
}

/// The figures of a case, and the time that its simulation took.
pub type Timed = (Figures, Duration);

impl Reading {
    /// Reads traces as [`Reading::read`] does, to simulate `plan` on them. A long trace of records
    /// is not kept in memory if the plan allows that, and the caches of the plan take less than
    /// half of the memory allowed. A pipe, which cannot be read twice, is kept if the plan needs
    /// sums before.
    ///
    /// # Errors
    /// As [`Reading::read`]; or there is no such policy.
    pub fn open(
        &self,
        traces: &[PathBuf],
        plan: &Plan,
        windows: Windows,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Opened> {
        let is_made = traces.iter().any(|path| matches!(Made::of(path), Ok(Some(_)) | Err(_)));
        if self.times || is_made || !plan.can_stream()? {
            return self.read(traces, progress).map(kept);
        }
        let Some((unit, mut reader)) = self.reader(traces)? else {
            return self.read(traces, progress).map(kept);
        };
        let mut window = Window::default();
        let mut progress = |done, total| progress(done, total);
        let needs_sizes = plan.needs_sizes(unit, self.unit_weights)?;
        if needs_sizes && !reader.can_rewind() {
            reader.read(&mut window, usize::MAX, &mut progress)?;
            return Ok(kept(self.weighed(Requests::of_window(unit, window))));
        }
        // Few caches keep most of their arrays in the processor's cache from window to window, so
        // that small windows cost them nothing, and their requests stay there too.
        let starts_small = plan.caches() <= FEW && !needs_sizes;
        let mut more = reader.read(&mut window, windows.others, &mut progress)?;
        if more && !starts_small {
            let first = match self.memory_bytes_max {
                Some(bytes) => windows.first.min((bytes / REQUEST_BYTES_MAX) as usize),
                None => windows.first,
            };
            more = reader.read(&mut window, first, &mut progress)?;
        }
        let caches = plan.bytes_per_id(self.unit_weights)? * u64::from(reader.objects.len());
        if more && self.memory_bytes_max.is_some_and(|bytes| caches > bytes / 2) {
            more = reader.read(&mut window, usize::MAX, &mut progress)?;
        }
        if !more {
            return Ok(kept(self.weighed(Requests::of_window(unit, window))));
        }
        Ok(Opened::Long(Box::new(Stream {
            reader,
            window,
            more,
            windows,
            plan: plan.clone(),
            unit,
            unit_weights: self.unit_weights,
            memory_bytes_max: self.memory_bytes_max,
            sizes: Vec::new(),
            first_bytes: 0,
            size_min: u64::MAX,
            size_max: 0,
            change: false,
            surveyed: false,
        })))
    }
}

fn kept(requests: Requests) -> Opened {
    Opened::Kept(Box::new(requests))
}

impl Stream {
    /// Simulates every case, and returns the sums of the requests and the figures in the order of
    /// [`Plan::cases`]. Calls `progress` with the rows read and those of the trace, estimated; it
    /// may begin again once.
    ///
    /// # Errors
    /// The trace cannot be read; a policy cannot run on these requests; or the caches take more
    /// memory than allowed.
    pub fn simulate(
        mut self,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<(Totals, Vec<Timed>)> {
        if self.plan.needs_sizes(self.unit, self.unit_weights)? {
            self.survey(progress)?;
        }
        self.pass(progress)
    }

    /// Reads to the end for the sizes, then begins again.
    fn survey(&mut self, progress: &mut (dyn FnMut(u64, u64) + Send)) -> Result<()> {
        self.weigh();
        while self.more {
            self.next_window(progress)?;
            self.weigh();
        }
        self.unit_weights |= self.are_ones();
        self.surveyed = true;
        self.reader.rewind();
        self.next_window(progress)
    }

    /// Whether all sizes so far are 1.
    fn are_ones(&self) -> bool {
        self.size_min >= 1 && self.size_max <= 1
    }

    /// Notes what the window shows of sizes. Returns those of its requests, if one has ever
    /// changed: then what a cache holds may differ from what is asked for.
    fn weigh(&mut self) -> Vec<u64> {
        self.first_bytes += self.window.new_sizes().iter().sum::<u64>();
        for size in self.window.unknown_sizes() {
            self.size_min = self.size_min.min(size);
            self.size_max = self.size_max.max(size);
        }
        let sizes = self.window.weigh(&mut self.sizes);
        self.change |= !sizes.is_empty();
        match self.change && sizes.is_empty() {
            true => self.window.ids.iter().map(|&id| self.sizes[id as usize]).collect(),
            false => sizes,
        }
    }

    fn next_window(&mut self, progress: &mut (dyn FnMut(u64, u64) + Send)) -> Result<()> {
        self.window.clear();
        self.window.ids.shrink_to(self.windows.others);
        let mut report = |done, total| progress(done, total);
        self.more = self.reader.read(&mut self.window, self.windows.others, &mut report)?;
        Ok(())
    }

    /// Simulates window by window.
    fn pass(
        &mut self,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<(Totals, Vec<Timed>)> {
        let mut totals = self.totals(0);
        let cases = self.plan.cases(&totals)?;
        let changed = self.plan.options.changed;
        let begin = |case: &Case| begin(case, &totals, changed);
        let mut caches = cases.iter().map(begin).collect::<Result<Vec<_>>>()?;
        let mut requests = Requests::window(self.unit);
        loop {
            let sizes = self.weigh();
            let objects = self.reader.objects.len();
            self.check(objects)?;
            match self.unit_weights {
                true => {
                    requests.swap_window(&mut self.window.ids, &mut Vec::new(), Vec::new(), objects)
                }
                false => {
                    requests.swap_window(&mut self.window.ids, &mut self.sizes, sizes, objects);
                }
            }
            totals.requests += requests.len() as u64;
            let more = self.more;
            let ((), read) = rayon::join(
                || caches.par_iter_mut().for_each(|cache| cache.step(&requests, 0..requests.len())),
                || if more { self.next_window(progress) } else { Ok(()) },
            );
            if !self.unit_weights {
                requests.swap_weights(&mut self.sizes);
            }
            read?;
            if !more {
                break;
            }
        }
        totals = self.totals(totals.requests);
        let finish = |(case, cache): (Case, Box<dyn Steps>)| {
            let (counts, time) = cache.finish();
            (Figures::new(&case.policy, case.capacity, &totals, counts), time)
        };
        let figures = cases.into_iter().zip(caches).map(finish).collect();
        Ok((totals, figures))
    }

    /// The sums, as far as they are known, of `requests` requests.
    fn totals(&self, requests: u64) -> Totals {
        let distinct = self.reader.objects.len();
        let is_known = self.surveyed || requests > 0;
        let unit_weights = self.unit_weights || (is_known && self.are_ones());
        let are_equal = is_known && self.size_min >= self.size_max;
        Totals {
            unit: self.unit,
            unit_weights,
            equal_weights: unit_weights || are_equal,
            requests,
            writes: 0,
            distinct,
            distinct_weight: if self.unit_weights { distinct.into() } else { self.first_bytes },
        }
    }

    /// Refuses caches that take too much memory for this many objects.
    fn check(&self, objects: u32) -> Result<()> {
        let bytes = self.plan.bytes_per_id(self.unit_weights)? * u64::from(objects);
        if self.memory_bytes_max.is_none_or(|bytes_max| bytes <= bytes_max) {
            return Ok(());
        }
        let message = format!(
            "{} for {} take {} of memory at once; simulate fewer at a time, or allow more with --memory",
            counted(self.plan.caches() as u64, "cache"),
            counted(objects.into(), "object"),
            format_bytes(bytes)
        );
        Err(Error::new(ErrorKind::Limit, message))
    }
}

fn begin(case: &Case, totals: &Totals, changed: Changed) -> Result<Box<dyn Steps>> {
    check_policy(totals, &case.policy)?;
    let config = config(totals, case.capacity);
    let (offer, sizes_change) = (totals.offer(), !totals.unit_weights);
    Begin { config, offer, changed, sizes_change }.with(&case.policy)
}
