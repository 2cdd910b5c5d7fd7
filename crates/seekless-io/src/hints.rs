//! What the program said of each file: read at every request, without the cache's lock.

use crate::lock;
use seekless_policy::eviction::Id;
use seekless_policy::eviction::landlord::Hint;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

const ONCE: u8 = 1;
const LONG_LIVED: u8 = 2;
const COST: u8 = 3;
const URGENT: u8 = 4;

/// A hint for each entry; at first [`Hint::Usual`]. One byte an entry, and more for those with a
/// cost.
pub(crate) struct Hints {
    codes: Box<[AtomicU8]>,
    costs: Mutex<HashMap<Id, u32>>,
}

impl Hints {
    pub(crate) fn new(entries: usize) -> Self {
        let codes = (0..entries).map(|_| AtomicU8::new(0)).collect();
        Self { codes, costs: Mutex::default() }
    }

    pub(crate) fn set(&self, id: Id, hint: Hint) {
        let code = match hint {
            Hint::Usual => 0,
            Hint::Once => ONCE,
            Hint::LongLived => LONG_LIVED,
            Hint::Urgent => URGENT,
            Hint::Cost(cost) => {
                lock(&self.costs).insert(id, cost);
                COST
            }
        };
        self.codes[id as usize].store(code, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn get(&self, id: Id) -> Hint {
        match self.codes[id as usize].load(Ordering::Relaxed) {
            0 => Hint::Usual,
            code => self.told(id, code),
        }
    }

    #[cold]
    fn told(&self, id: Id, code: u8) -> Hint {
        match code {
            ONCE => Hint::Once,
            LONG_LIVED => Hint::LongLived,
            URGENT => Hint::Urgent,
            // The cost was stored before the code was set.
            COST => lock(&self.costs).get(&id).map_or(Hint::Usual, |&cost| Hint::Cost(cost)),
            _ => Hint::Usual,
        }
    }
}
