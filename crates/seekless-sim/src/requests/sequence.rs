//! The requests of a trace, in memory.

use super::distinct::Distinct;
use super::future;
use super::removal::Removal;
use super::space::Space;
use super::writes::Writes;
use crate::unit::Unit;
use seekless_policy::eviction::{Id, Needs};
use seekless_trace::Loads;
use std::ops::Range;
use std::sync::OnceLock;

/// The requests of one or more traces in order. A request takes 4 bytes, and a bit more where there
/// are writes. It takes 8 more with times, 8 more where sizes change, and 4 more where a policy
/// needs the future. An id takes 8 bytes for its key, and 8 where weights differ.
#[derive(Clone, Debug)]
pub struct Requests {
    unit: Unit,
    ids: Vec<Id>,
    /// Which requests write; empty if no request does.
    pub(super) writes: Writes,
    /// Weight of each id at its first request; empty if all weigh 1.
    pub(super) weights: Vec<u64>,
    /// Weight of each request; empty if that of no id changes.
    sizes: Vec<u64>,
    /// The place of each page, for pages that were read from a trace.
    pub(super) space: Option<Space>,
    /// The time of each request in nanoseconds, runs one after another. Empty unless
    /// [`Reading::times`](super::Reading::times) is set.
    pub(super) times: Vec<u64>,
    /// The lifetime that each request gives its object, in nanoseconds, or 0; empty if none does.
    pub(super) ttls_ns: Vec<u64>,
    pub(super) syncs: Vec<Sync>,
    pub(super) removals: Vec<Removal>,
    pub(super) unmapped: u64,
    /// In file units: the number of reads inside files, which loads of whole files do not contain.
    left_out: u64,
    /// Every id is below this.
    id_limit: u32,
    distinct: u32,
    distinct_weight: u64,
    /// Whether all ids weigh the same at their first requests. Of a window it is not known.
    first_weights_equal: bool,
    next_uses: OnceLock<Vec<u32>>,
}

/// A sync of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sync {
    /// The number of requests before it.
    pub(crate) position: u64,
    /// The keys of the file's pages.
    pub(crate) keys: Range<u64>,
}

impl Requests {
    /// The loads of all runs, one run after another. Each file weighs the largest size that the
    /// trace has for it.
    #[must_use]
    pub fn from_loads(loads: &Loads) -> Self {
        let files: Vec<Id> = loads.runs.iter().flatten().map(|load| load.file).collect();
        Self { left_out: loads.reads_inside, ..Self::from_files(&files, &loads.bytes) }
    }

    /// Requests for files by number. `bytes` has the size of each.
    ///
    /// # Panics
    /// If a number has no size.
    #[must_use]
    pub fn from_files(files: &[Id], bytes: &[u64]) -> Self {
        Self::from_numbered_files(files.to_vec(), bytes.to_vec())
    }

    /// As [`Requests::from_files`], from vectors that the caller gives away.
    ///
    /// # Panics
    /// If a number has no size.
    #[must_use]
    pub fn from_numbered_files(files: Vec<Id>, bytes: Vec<u64>) -> Self {
        Self::new(Unit::File, files, bytes)
    }

    /// Requests for pages by number; neighbours have neighbouring numbers.
    #[must_use]
    pub fn from_pages(pages: Vec<Id>) -> Self {
        Self::new(Unit::Page, pages, Vec::new())
    }

    /// The same requests; those at `positions` (from 0) write.
    #[must_use]
    pub fn with_writes(mut self, positions: impl IntoIterator<Item = usize>) -> Self {
        positions.into_iter().for_each(|position| self.writes.set(position));
        self
    }

    /// The same requests; before the one at a position (from 0) an id is removed from every cache.
    /// Positions must not fall.
    ///
    /// # Panics
    /// If a position falls, or no request is for an id.
    #[must_use]
    pub fn with_removals(mut self, removals: impl IntoIterator<Item = (u32, Id)>) -> Self {
        self.removals =
            removals.into_iter().map(|(position, id)| Removal { position, id }).collect();
        assert!(self.removals.is_sorted_by_key(|one| one.position), "positions do not fall");
        assert!(self.removals.iter().all(|one| one.id < self.id_limit), "an id with requests");
        self
    }

    /// How many times an id is removed.
    #[must_use]
    pub fn removals(&self) -> u64 {
        self.removals.len() as u64
    }

    pub(crate) fn each_removal(&self) -> &[Removal] {
        &self.removals
    }

    /// The same requests at these times, in nanoseconds. Times must not fall.
    ///
    /// # Panics
    /// If there are not as many times as requests.
    #[must_use]
    pub fn with_times(self, times: Vec<u64>) -> Self {
        assert_eq!(times.len(), self.ids.len(), "a time for each request");
        Self { times, ..self }
    }

    /// The same requests; each gives its object this lifetime in nanoseconds, or none if it is 0.
    /// Lifetimes need times.
    ///
    /// # Panics
    /// If there are not as many lifetimes as requests.
    #[must_use]
    pub fn with_lifetimes(self, ttls_ns: Vec<u64>) -> Self {
        assert_eq!(ttls_ns.len(), self.ids.len(), "a lifetime for each request");
        Self { ttls_ns, ..self }
    }

    /// The lifetime that the request at `position` gives its object, in nanoseconds; 0 if none.
    pub(crate) fn ttl_ns(&self, position: usize) -> u64 {
        self.ttls_ns.get(position).copied().unwrap_or(0)
    }

    pub(crate) fn has_lifetimes(&self) -> bool {
        !self.ttls_ns.is_empty() && self.has_times()
    }

    /// The same requests, with weight 1 for each id. Capacities then count ids.
    #[must_use]
    pub fn with_unit_weights(self) -> Self {
        let distinct_weight = u64::from(self.distinct);
        let (weights, sizes) = (Vec::new(), Vec::new());
        Self { weights, sizes, distinct_weight, first_weights_equal: true, ..self }
    }

    /// Requests for objects by number, each with the size that it asks for.
    ///
    /// # Panics
    /// If there are not as many sizes as requests.
    #[must_use]
    pub fn from_sized(objects: &[Id], sizes: &[u64]) -> Self {
        assert_eq!(objects.len(), sizes.len(), "a size for each request");
        let limit = objects.iter().max().map_or(0, |&id| id as usize + 1);
        let mut first = vec![0; limit];
        for (&id, &bytes) in objects.iter().zip(sizes).rev() {
            first[id as usize] = bytes;
        }
        Self::new(Unit::Object, objects.to_vec(), first).with_sizes(sizes.to_vec())
    }

    /// The same requests with these sizes, one a request; none if that of no id changes.
    pub(super) fn with_sizes(self, sizes: Vec<u64>) -> Self {
        let is_first = |(&id, &bytes): (&Id, &u64)| self.weight(id) == bytes;
        let change = !self.ids.iter().zip(&sizes).all(is_first);
        Self { sizes: if change { sizes } else { Vec::new() }, ..self }
    }

    pub(crate) fn new(unit: Unit, ids: Vec<Id>, mut weights: Vec<u64>) -> Self {
        if weights.iter().all(|&weight| weight == 1) {
            weights = Vec::new();
        }
        let weight_of = |id: &Id| weights.get(*id as usize);
        let first_weights_equal = ids.iter().map(weight_of).is_sorted_by(|one, next| one == next);
        let distinct = Distinct::of(&ids);
        let distinct_weight = distinct.weight(&ids, &weights);
        Self {
            unit,
            ids,
            weights,
            sizes: Vec::new(),
            writes: Writes::default(),
            space: None,
            times: Vec::new(),
            ttls_ns: Vec::new(),
            syncs: Vec::new(),
            removals: Vec::new(),
            unmapped: 0,
            left_out: 0,
            id_limit: distinct.limit,
            distinct: distinct.count,
            distinct_weight,
            first_weights_equal,
            next_uses: OnceLock::new(),
        }
    }

    /// Some of the requests of a trace, with the weights of all its `distinct` ids. If no weights
    /// are given, all weigh 1. `sizes` are those of the requests, or none if they do not change.
    pub(crate) fn part(
        unit: Unit,
        ids: Vec<Id>,
        (weights, sizes): (Vec<u64>, Vec<u64>),
        distinct: u32,
    ) -> Self {
        let distinct_weight = match weights.is_empty() {
            true => distinct.into(),
            false => weights.iter().sum(),
        };
        let ones = weights.iter().all(|&weight| weight == 1);
        let first_weights_equal = weights.is_sorted_by(|one, next| one == next);
        let weights = if ones { Vec::new() } else { weights };
        let none = Self::new(unit, Vec::new(), Vec::new());
        let id_limit = distinct;
        Self {
            ids,
            weights,
            sizes,
            id_limit,
            distinct,
            distinct_weight,
            first_weights_equal,
            ..none
        }
    }

    /// No requests, in whose place [`Requests::swap_window`] puts those of a window.
    pub(crate) fn window(unit: Unit) -> Self {
        Self { first_weights_equal: false, ..Self::new(unit, Vec::new(), Vec::new()) }
    }

    /// Exchanges the requests and weights for others, and takes the sizes of the requests, or none
    /// if they do not change. All ids are below `id_limit`.
    pub(crate) fn swap_window(
        &mut self,
        ids: &mut Vec<Id>,
        weights: &mut Vec<u64>,
        sizes: Vec<u64>,
        id_limit: u32,
    ) {
        std::mem::swap(&mut self.ids, ids);
        std::mem::swap(&mut self.weights, weights);
        self.sizes = sizes;
        self.id_limit = id_limit;
    }

    /// Exchanges the weights for others.
    pub(crate) fn swap_weights(&mut self, weights: &mut Vec<u64>) {
        std::mem::swap(&mut self.weights, weights);
    }

    /// Only the requests for ids that `keep` accepts, renumbered by first appearance, without times
    /// and places.
    pub(crate) fn of_ids(&self, keep: impl Fn(Id) -> bool) -> Self {
        let mut numbers = vec![Id::MAX; self.id_limit() as usize];
        let (mut ids, mut weights, mut writes) = (Vec::new(), Vec::new(), Vec::new());
        let mut sizes = Vec::new();
        for (position, &id) in self.ids.iter().enumerate().filter(|&(_, &id)| keep(id)) {
            let number = &mut numbers[id as usize];
            if *number == Id::MAX {
                *number = weights.len() as Id;
                weights.push(self.weight(id));
            }
            if self.sizes_change() {
                sizes.push(self.weight_at(position));
            }
            if self.is_write(position) {
                writes.push(ids.len());
            }
            ids.push(*number);
        }
        Self::new(self.unit, ids, weights).with_sizes(sizes).with_writes(writes)
    }

    /// The unit of the requests.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The number of requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no requests.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The number of different pages, files or objects.
    #[must_use]
    pub fn distinct(&self) -> u32 {
        self.distinct
    }

    /// The weight of all different ids, each at its first request: the working set.
    #[must_use]
    pub fn distinct_weight(&self) -> u64 {
        self.distinct_weight
    }

    /// The id of each request.
    #[must_use]
    pub fn ids(&self) -> &[Id] {
        &self.ids
    }

    /// Whether the request at `position` (from 0) writes.
    #[inline]
    #[must_use]
    pub fn is_write(&self, position: usize) -> bool {
        self.writes.get(position)
    }

    /// The number of requests that write.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.writes.count()
    }

    /// The weight of an id at its first request: bytes of a file or object, 1 for a page.
    #[inline]
    #[must_use]
    pub fn weight(&self, id: Id) -> u64 {
        if self.weights.is_empty() { 1 } else { self.weights[id as usize] }
    }

    /// The weight that the request at `position` (from 0) asks for.
    #[inline]
    #[must_use]
    pub fn weight_at(&self, position: usize) -> u64 {
        if self.sizes.is_empty() { self.weight(self.ids[position]) } else { self.sizes[position] }
    }

    /// The weight of each request, if that of an id changes; else empty.
    pub(crate) fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Whether the weight of an id changes.
    #[must_use]
    pub fn sizes_change(&self) -> bool {
        !self.sizes.is_empty()
    }

    /// The weight of all requests.
    #[must_use]
    pub fn requested_weight(&self) -> u64 {
        (0..self.len()).map(|position| self.weight_at(position)).sum()
    }

    /// Whether all ids that are requested always have the same weight.
    #[must_use]
    pub fn equal_weights(&self) -> bool {
        self.first_weights_equal && !self.sizes_change()
    }

    /// Whether every id always weighs 1: pages, or bare ids.
    #[must_use]
    pub fn unit_weights(&self) -> bool {
        self.weights.is_empty() && self.sizes.is_empty()
    }

    /// The stable name of an id: for pages as the live page cache names them ([`page_keys`]), so
    /// that in a single file or device it is the page's number.
    ///
    /// [`page_keys`]: seekless_policy::cache::page_keys
    #[inline]
    #[must_use]
    pub fn key(&self, id: Id) -> u64 {
        self.space.as_ref().map_or(u64::from(id), |space| space.key(id))
    }

    /// The number of rows at offset −1, which Ozen's traces have for sectors without a place. With
    /// raw lines such a row is page 0, as in his program; otherwise it is left out.
    #[must_use]
    pub fn unmapped(&self) -> u64 {
        self.unmapped
    }

    /// In file units: the number of reads inside files. Such a file is one load, and these reads
    /// are not simulated. 0 in other units.
    #[must_use]
    pub fn reads_inside(&self) -> u64 {
        self.left_out
    }

    /// Every id is below this.
    #[must_use]
    pub fn id_limit(&self) -> u32 {
        self.id_limit
    }

    /// Bytes of a unit of weight.
    #[must_use]
    pub fn unit_bytes(&self) -> u64 {
        self.unit.weight_bytes()
    }

    /// What these requests can supply to a policy.
    #[must_use]
    pub fn offer(&self) -> Needs {
        self.totals().offer()
    }

    /// The position of the next request for the same id, for each request; `u32::MAX` if there is
    /// no next one. Computed at the first call, from the last request to the first.
    #[must_use]
    pub fn next_uses(&self) -> &[u32] {
        self.next_uses.get_or_init(|| future::next_uses(&self.ids, &self.removals, self.id_limit()))
    }

    /// The time of a request, or its position where times were not read.
    pub(crate) fn time(&self, position: usize) -> u64 {
        self.times.get(position).copied().unwrap_or(position as u64)
    }

    pub(crate) fn has_times(&self) -> bool {
        !self.times.is_empty()
    }

    pub(crate) fn syncs(&self) -> &[Sync] {
        &self.syncs
    }

    /// The same requests with syncs: the number of requests before each, and the keys of its file.
    #[cfg(test)]
    pub(crate) fn with_syncs(mut self, syncs: Vec<(u64, Range<u64>)>) -> Self {
        self.syncs = syncs.into_iter().map(|(position, keys)| Sync { position, keys }).collect();
        self
    }

    pub(crate) fn space(&self) -> Option<&Space> {
        self.space.as_ref()
    }

    /// Bytes in memory.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let space = self.space.as_ref().map_or(0, Space::memory_bytes);
        let futures = self.next_uses.get().map_or(0, |next| 4 * next.len() as u64);
        4 * self.ids.len() as u64
            + self.writes.memory_bytes()
            + 8 * self.removals.len() as u64
            + 8 * (self.weights.len() + self.sizes.len() + self.times.len() + self.ttls_ns.len())
                as u64
            + space
            + futures
    }
}
