//! The slots and the log of hits under every order of three threads' steps, with one entry that is
//! evicted and kept again.

use loom::sync::{Arc, Mutex};
use loom::thread;
use std::cell::Cell;

/// In place of the locks of the threads' own world.
mod sync {
    pub(super) use loom::sync::{Mutex, MutexGuard};

    pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap()
    }

    pub(super) fn own_number() -> usize {
        super::NUMBER.with(std::cell::Cell::get)
    }
}
#[path = "../../src/cached/hit_log.rs"]
#[expect(dead_code, reason = "the totals are no part of the protocol")]
mod hit_log;
#[path = "../../src/cached/slots.rs"]
#[expect(dead_code, reason = "read-ahead is no part of the protocol")]
mod slots;

use hit_log::{HitLog, Stopped};
use slots::Slots;

loom::thread_local! {
    static NUMBER: Cell<usize> = Cell::new(0);
}

const ENTRY: u32 = 0;
const CONTENT: [u8; 3] = [1, 2, 3];

/// Stands for the bytes of a file.
#[derive(Clone)]
struct Buffer(std::sync::Arc<Share>);

struct Share(std::sync::Arc<[u8; 3]>);

struct WeakBuffer(std::sync::Weak<[u8; 3]>);

impl Buffer {
    fn new() -> Self {
        Self(std::sync::Arc::new(Share(std::sync::Arc::new(CONTENT))))
    }

    fn share(&self) -> Self {
        Self(std::sync::Arc::new(Share(self.0.0.clone())))
    }

    fn downgrade(&self) -> WeakBuffer {
        WeakBuffer(std::sync::Arc::downgrade(&self.0.0))
    }
}

impl WeakBuffer {
    fn upgrade(&self) -> Option<Buffer> {
        self.0.upgrade().map(|content| Buffer(std::sync::Arc::new(Share(content))))
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &*self.0.0
    }
}

/// What the cache's lock guards: whether the policy has the entry, and what it was told.
struct Policy {
    resident: bool,
    told: usize,
    reads: usize,
}

impl Policy {
    fn hit(&mut self) {
        assert!(self.resident, "told of a hit of what it has let go");
        self.told += 1;
    }
}

/// A store of one entry.
struct Store {
    slots: Slots,
    log: HitLog<Buffer, 2>,
    policy: Mutex<Policy>,
}

impl Store {
    fn new() -> Arc<Self> {
        let slots = Slots::new(1);
        slots.keep(ENTRY, Buffer::new());
        let policy = Mutex::new(Policy { resident: true, told: 0, reads: 0 });
        Arc::new(Self { slots, log: HitLog::new(), policy })
    }

    /// A load without the cache's lock.
    fn hit(&self) -> Option<Buffer> {
        let (buffer, _) = self.log.hit(ENTRY, || self.slots.kept(ENTRY))?;
        assert_eq!(buffer.as_ref(), CONTENT);
        Some(buffer)
    }

    /// What a request does that found no hit, with the decision left to `decide`.
    fn request(&self, decide: impl FnOnce(&mut Policy, &mut Stopped<'_, Buffer, 2>)) {
        let mut policy = self.policy.lock().unwrap();
        self.log.drain(&mut Vec::new(), |_| policy.hit());
        let mut stopped = self.log.stop();
        stopped.drain(|_| policy.hit());
        decide(&mut policy, &mut stopped);
    }

    fn evict(&self) {
        self.request(|policy, stopped| {
            policy.resident = false;
            stopped.forget(ENTRY);
            drop(self.slots.orphan(ENTRY));
        });
    }

    /// Loads the entry: a hit, a buffer that a user still holds, or a read.
    fn load(&self) -> Buffer {
        self.hit().unwrap_or_else(|| {
            let mut found = None;
            self.request(|policy, _| {
                let buffer = self.slots.alive(ENTRY).unwrap_or_else(|| {
                    policy.reads += 1;
                    Buffer::new()
                });
                policy.resident = true;
                policy.told += 1;
                self.slots.keep(ENTRY, buffer.clone());
                found = Some(buffer);
            });
            found.expect("it was decided")
        })
    }

    /// How many loads the policy was told of, in the end.
    fn told(&self) -> usize {
        self.request(|_, _| {});
        self.policy.lock().unwrap().told
    }
}

fn start(store: &Arc<Store>, number: usize, act: fn(&Store) -> usize) -> thread::JoinHandle<usize> {
    let store = store.clone();
    thread::spawn(move || {
        NUMBER.with(|own| own.set(number));
        act(&store)
    })
}

#[test]
fn the_policy_is_told_of_each_hit_while_it_has_the_entry() {
    loom::model(|| {
        let store = Store::new();
        let twice = |store: &Store| (0..2).filter(|_| store.hit().is_some()).count();
        let other = start(&store, 1, twice);
        store.evict();
        let hits = other.join().unwrap();
        assert_eq!(store.told(), hits);
    });
}

#[test]
fn hits_evictions_and_misses_of_three_threads_are_all_told() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let store = Store::new();
        let load = |store: &Store| usize::from(store.load().as_ref() == CONTENT);
        let others = [start(&store, 0, load), start(&store, 1, load)];
        store.evict();
        let loads: usize = others.into_iter().map(|other| other.join().unwrap()).sum();
        assert_eq!((loads, store.told()), (2, 2));
    });
}

#[test]
fn what_a_user_holds_is_found_again_without_a_read() {
    loom::model(|| {
        let store = Store::new();
        let held = store.hit();
        let other = start(&store, 1, |store| store.load().as_ref().len());
        store.evict();
        assert_eq!(other.join().unwrap(), CONTENT.len());
        assert_eq!(store.policy.lock().unwrap().reads, 0);
        drop(held);
    });
}
