//! The loops that run one policy over all requests. The fast loop is for plain reads. The other one
//! supports writes, the future, keys, flushes, device traffic and points in time. On the same reads
//! both make the same decisions.

mod flush;
mod ledger;

use crate::case::Options;
use crate::figures::Counts;
use crate::lifetimes::Lifetimes;
use crate::requests::Requests;
use flush::Flusher;
use ledger::Ledger;
pub(crate) use ledger::{Device, DeviceAccess};
use seekless_policy::admission::Admission;
use seekless_policy::cache::{Cache, Changed};
use seekless_policy::eviction::{Eviction, Id, NEVER, Outcome, Pool, Request, Use};
use std::ops::Range;

/// The fast loop over a range of the requests, compiled for each type of policy. Adds to `counts`.
pub(crate) fn reads<E: Eviction>(
    cache: &mut Cache<E>,
    requests: &Requests,
    range: Range<usize>,
    changed: Changed,
    counts: &mut Counts,
) {
    let (ids, sizes) = (&requests.ids()[range.clone()], requests.sizes());
    let sizes = sizes.get(range).unwrap_or_default();
    let capacity = cache.config().capacity;
    let sized = || ids.iter().zip(sizes).map(|(&id, &bytes)| Request::file(id, bytes));
    let alike = || ids.iter().map(|&id| Request::file(id, requests.weight(id)));
    let owner = &mut Stateless;
    match (cache.policy_alone(), sizes.is_empty()) {
        (Some(policy), true) => each_read(alike(), counts, |read| policy.request(read, owner)),
        (Some(policy), false) => {
            each_read(sized(), counts, |read| changed.request(policy, capacity, read, owner));
        }
        (None, true) => each_read(alike(), counts, |read| cache.access(read)),
        (None, false) => each_read(sized(), counts, |read| cache.access(read)),
    }
}

/// An owner that keeps no state of its ids.
struct Stateless;

impl Pool for Stateless {
    #[inline]
    fn evict(&mut self, _victim: Id) {}

    #[inline]
    fn forget(&mut self, _id: Id) {}
}

#[inline]
fn each_read(
    reads: impl ExactSizeIterator<Item = Request>,
    counts: &mut Counts,
    mut access: impl FnMut(&Request) -> Outcome,
) {
    let (total, hits_before) = (reads.len() as u64, counts.hits);
    for request in reads {
        match access(&request) {
            Outcome::Hit => {
                counts.hits += 1;
                counts.hit_weight += request.weight;
            }
            Outcome::Admitted => counts.miss_weight += request.weight,
            Outcome::Bypassed => {
                counts.bypassed += 1;
                counts.miss_weight += request.weight;
            }
        }
    }
    counts.read_misses += total - (counts.hits - hits_before);
}

/// The complete loop. `next_uses` is empty if the policy does not need them; the first `warm_up`
/// requests are counted apart.
pub(crate) fn everything<E: Eviction>(
    cache: &mut Cache<E>,
    requests: &Requests,
    next_uses: &[u32],
    options: &Options,
    (warm_up, device): (usize, Option<Device<'_>>),
) -> Counts {
    let mut ledger = Ledger::new(requests, options, device);
    let mut flusher = Flusher::new(requests, options, cache.config());
    let mut gate = options.admission.map(|admit| {
        let mut gate = admit.begin(cache.config().capacity, requests.unit_bytes());
        gate.grow(requests.id_limit());
        gate
    });
    let mut lifetimes = options.expiry.map(|rule| Lifetimes::new(requests, rule));
    let mut removals = requests.each_removal().iter().peekable();
    for (position, &id) in requests.ids().iter().enumerate() {
        if flusher.is_active() {
            flusher.before(position, cache, &mut ledger);
        }
        while let Some(removal) = removals.next_if(|one| one.position <= position as u32) {
            ledger.removed(removal.id, cache.is_dirty(removal.id));
            cache.discard(removal.id, &mut ledger);
        }
        if let Some(lifetimes) = &mut lifetimes {
            lifetimes.before(position, id, cache, &mut ledger, Ledger::removed);
        }
        let request = request(requests, next_uses, position, id);
        ledger.position = position;
        let was_dirty = cache.is_dirty(id);
        let mut is_let_in = |gate| is_let_in(gate, &request, cache, &ledger);
        let outcome = match gate.as_mut().is_none_or(&mut is_let_in) {
            true => cache.access_with(&request, &mut ledger),
            false => Outcome::Bypassed,
        };
        if let Some(lifetimes) = &mut lifetimes {
            lifetimes.after(position, id, outcome);
        }
        if !was_dirty && cache.is_dirty(id) {
            ledger.soiled(request.weight);
            flusher.soiled(position, id, cache, &mut ledger);
        }
        ledger.count(&request, outcome);
        if position + 1 == warm_up {
            ledger.warmed_up(warm_up);
            lifetimes.iter_mut().for_each(|all| _ = all.take());
        }
    }
    if flusher.is_active() {
        flusher.before(requests.len(), cache, &mut ledger);
    }
    let expired = lifetimes.as_mut().map(Lifetimes::take);
    Counts { expired, ..ledger.finish(cache.dirty()) }
}

/// Whether the request may go to the policy: its object is in the cache, or may come in.
fn is_let_in<E: Eviction>(
    gate: &mut Admission,
    request: &Request,
    cache: &Cache<E>,
    ledger: &Ledger<'_>,
) -> bool {
    gate.requested(request, ledger.resident());
    cache.resident(request.id) || gate.admits(request, ledger.last_victim())
}

#[inline]
pub(crate) fn request(requests: &Requests, next_uses: &[u32], position: usize, id: Id) -> Request {
    let next_use = match next_uses.get(position) {
        Some(&next) if next != u32::MAX => u64::from(next),
        _ => NEVER,
    };
    let kind = if requests.is_write(position) { Use::Write } else { Use::Read };
    Request {
        id,
        weight: requests.weight_at(position),
        cost: 1,
        kind,
        key: requests.key(id),
        next_use,
    }
}

#[cfg(test)]
mod power;
#[cfg(test)]
mod tests;
