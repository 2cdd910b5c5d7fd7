//! Hits, logged by thread without the cache's lock. Whoever takes that lock drains them first: stripe by stripe, each in
//! its own order, so that one thread's requests reach the policy in the order in which it made them.

use crate::lock;
use seekless_policy::eviction::Id;
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const STRIPES: usize = 16;

/// Hits that a stripe holds before its thread drains the log itself: what bounds the log's memory.
const STRIPE_HITS_MAX: usize = 1024;

static NEXT_STRIPE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static STRIPE: Cell<usize> = const { Cell::new(usize::MAX) };
}

fn own_stripe() -> usize {
    STRIPE.with(|stripe| {
        if stripe.get() == usize::MAX {
            stripe.set(NEXT_STRIPE.fetch_add(1, Ordering::Relaxed) % STRIPES);
        }
        stripe.get()
    })
}

/// On cache lines of its own, so that two threads do not fight for one.
#[derive(Default)]
#[repr(align(128))]
struct Stripe(Mutex<Hits>);

#[derive(Default)]
struct Hits {
    ids: Vec<Id>,
    count: u64,
    bytes: u64,
}

/// The log.
pub(crate) struct HitLog {
    stripes: [Stripe; STRIPES],
}

impl HitLog {
    pub(crate) fn new() -> Self {
        Self { stripes: std::array::from_fn(|_| Stripe::default()) }
    }

    /// Logs a hit of the calling thread; true says that the log is to be drained now.
    pub(crate) fn push(&self, id: Id, bytes: u64) -> bool {
        let mut hits = lock(&self.stripes[own_stripe()].0);
        hits.ids.push(id);
        hits.count += 1;
        hits.bytes += bytes;
        hits.ids.len() >= STRIPE_HITS_MAX
    }

    /// Hands all logged hits to `apply`. `scratch` is lent to keep the stripes' locks short.
    pub(crate) fn drain(&self, scratch: &mut Vec<Id>, mut apply: impl FnMut(Id)) {
        for stripe in &self.stripes {
            {
                let mut hits = lock(&stripe.0);
                if hits.ids.is_empty() {
                    continue;
                }
                std::mem::swap(&mut hits.ids, scratch);
            }
            scratch.drain(..).for_each(&mut apply);
        }
    }

    /// Hits ever logged, and the bytes that they delivered.
    pub(crate) fn totals(&self) -> (u64, u64) {
        self.stripes.iter().fold((0, 0), |(count, bytes), stripe| {
            let hits = lock(&stripe.0);
            (count + hits.count, bytes + hits.bytes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_threads_hits_are_drained_in_order_and_once() {
        let log = HitLog::new();
        for id in [3, 1, 3, 2] {
            assert!(!log.push(id, 10));
        }
        let (mut scratch, mut seen) = (Vec::new(), Vec::new());
        log.drain(&mut scratch, |id| seen.push(id));
        log.drain(&mut scratch, |id| seen.push(id));
        assert_eq!(seen, [3, 1, 3, 2]);
        assert_eq!(log.totals(), (4, 40));
    }

    #[test]
    fn a_full_stripe_asks_to_be_drained() {
        let log = HitLog::new();
        let asked = (0..STRIPE_HITS_MAX).filter(|_| log.push(0, 1)).count();
        assert_eq!(asked, 1);
    }

    #[test]
    fn no_hit_is_lost_between_threads() {
        let log = HitLog::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|id| _ = log.push(id, 1)));
            }
        });
        let mut drained = 0;
        log.drain(&mut Vec::new(), |_| drained += 1);
        assert_eq!((drained, log.totals().0), (2000, 2000));
    }
}
