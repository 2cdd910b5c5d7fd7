//! What the program said of each file's life: read at every request, without the cache's lock.

use seekless_policy::eviction::Id;
use seekless_policy::eviction::landlord::Hint;
use std::sync::atomic::{AtomicU8, Ordering};

const SHORT_LIVED: u8 = 1;
const LONG_LIVED: u8 = 2;

/// A hint for each entry; at first the usual one. One byte an entry.
pub(crate) struct Hints(Box<[AtomicU8]>);

impl Hints {
    pub(crate) fn new(entries: usize) -> Self {
        Self((0..entries).map(|_| AtomicU8::new(0)).collect())
    }

    pub(crate) fn set(&self, id: Id, hint: Hint) {
        let code = match hint {
            Hint::Usual => 0,
            Hint::ShortLived => SHORT_LIVED,
            Hint::LongLived => LONG_LIVED,
        };
        self.0[id as usize].store(code, Ordering::Relaxed);
    }

    pub(crate) fn get(&self, id: Id) -> Hint {
        match self.0[id as usize].load(Ordering::Relaxed) {
            SHORT_LIVED => Hint::ShortLived,
            LONG_LIVED => Hint::LongLived,
            _ => Hint::Usual,
        }
    }
}
