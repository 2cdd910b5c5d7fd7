//! The slots and the log of hits under every order of three threads' steps, with one entry that is
//! evicted and kept again.

#![expect(unsafe_code, reason = "the count of holds is the engine's own code, which frees memory")]

use loom::sync::{Arc, Mutex};
use loom::thread;
use std::cell::Cell;

/// In place of the locks of the threads' own world.
mod sync {
    pub(super) use loom::sync::Mutex;
    use loom::sync::MutexGuard;

    pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap()
    }

    /// Stands for the brief lock, which `seekless-sys` has a model of.
    pub(super) struct Lock<T>(Mutex<T>);

    pub(super) type LockGuard<'a, T> = MutexGuard<'a, T>;

    impl<T> Lock<T> {
        pub(super) fn new(value: T) -> Self {
            Self(Mutex::new(value))
        }

        pub(super) fn lock(&self) -> MutexGuard<'_, T> {
            lock(&self.0)
        }
    }

    pub(super) fn own_number() -> usize {
        super::NUMBER.with(std::cell::Cell::get)
    }

    pub(super) use loom::sync::atomic::{AtomicU64, Ordering, fence};

    /// A hint to the processor, of no meaning.
    pub(super) fn fetch_value<T>(_value: &T) {}
}
#[path = "../../src/cached/hit_log.rs"]
mod hit_log;
#[path = "../../../seekless-engine/src/region/lent.rs"]
mod lent;
#[path = "../../src/cached/slots.rs"]
#[expect(dead_code, reason = "read-ahead is no part of the protocol")]
mod slots;

use hit_log::{EntryHits, HitLog, PausedLog};
use lent::Lent;
use slots::Slots;
use std::sync::{Arc as StdArc, Weak};

loom::thread_local! {
    static NUMBER: Cell<usize> = Cell::new(0);
}

const ENTRY: u32 = 0;
const NAME: &str = "entry";
const CONTENT: [u8; 3] = [1, 2, 3];

trait Lend {
    type Lent;

    fn lend(&mut self) -> Self::Lent;
}

#[derive(Clone, Copy)]
struct NamePlace;

trait Names {
    fn name(&self, id: u32) -> &str;

    fn place(&self, id: u32) -> NamePlace;

    fn is_at(&self, place: NamePlace, name: &str) -> bool;
}

/// The names of one entry.
struct OneName;

impl Names for OneName {
    fn name(&self, id: u32) -> &str {
        assert_eq!(id, ENTRY);
        NAME
    }

    fn place(&self, _id: u32) -> NamePlace {
        NamePlace
    }

    fn is_at(&self, _place: NamePlace, name: &str) -> bool {
        name == NAME
    }
}

/// Stands for the bytes of a file. They are shared as a buffer's are; loom does not look into an
/// `Arc` of the standard library, so what frees them is checked by itself below.
#[derive(Clone)]
struct Buffer(Lent<StdArc<[u8; 3]>>);

struct BufferLender(lent::Lender<StdArc<[u8; 3]>>);

struct WeakBuffer(Weak<[u8; 3]>);

impl Buffer {
    fn new() -> Self {
        Self(Lent::new(StdArc::new(CONTENT)))
    }

    fn lender(&self) -> BufferLender {
        BufferLender(lent::Lender::new(self.0.value().clone()))
    }

    fn downgrade(&self) -> WeakBuffer {
        WeakBuffer(StdArc::downgrade(self.0.value()))
    }

    fn bytes(&self) -> [u8; 3] {
        **self.0.value()
    }
}

impl Lend for BufferLender {
    type Lent = Buffer;

    fn lend(&mut self) -> Buffer {
        Buffer(self.0.lend())
    }
}

impl WeakBuffer {
    fn upgrade(&self) -> Option<Buffer> {
        self.0.upgrade().map(|content| Buffer(Lent::new(content)))
    }
}

/// What the cache's lock guards: whether the policy has the entry, and what was reported to it.
struct Policy {
    resident: bool,
    told: usize,
    reads: usize,
}

impl Policy {
    fn hit(&mut self, told: &[EntryHits]) {
        for told in told {
            assert!(self.resident, "a hit was reported of what it has evicted");
            self.told += told.hits as usize;
        }
    }
}

/// A store of one entry.
struct Store {
    slots: Slots,
    log: HitLog<BufferLender, 2>,
    policy: Mutex<Policy>,
}

impl Store {
    /// Whose log folds hits, or does not.
    fn new(folds: bool) -> Arc<Self> {
        let slots = Slots::new(1);
        slots.keep(ENTRY, Buffer::new());
        let policy = Mutex::new(Policy { resident: true, told: 0, reads: 0 });
        Arc::new(Self { slots, log: HitLog::new(folds), policy })
    }

    /// A load without the cache's lock.
    fn hit(&self) -> Option<Buffer> {
        let known = self.log.hit(NAME, &OneName);
        let hit =
            known.or_else(|| self.log.hit_or(ENTRY, &OneName, || self.slots.lender(ENTRY)))?;
        assert_eq!((hit.id, hit.is_full, hit.buffer.bytes()), (ENTRY, false, CONTENT));
        Some(hit.buffer)
    }

    /// What a request does that found no hit, with the decision left to `decide`.
    fn request(
        &self,
        decide: impl FnOnce(&mut Policy, &mut PausedLog<'_, BufferLender, OneName, 2>),
    ) {
        let mut policy = self.policy.lock().unwrap();
        self.log.drain(&mut Vec::new(), |told| policy.hit(told));
        let mut stopped = self.log.stop(&OneName);
        stopped.drain(&mut Vec::new(), |told| policy.hit(told));
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

    /// How many loads were reported to the policy, in the end.
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
    [false, true].into_iter().for_each(told_of_each_hit);
}

fn told_of_each_hit(folds: bool) {
    loom::model(move || {
        let store = Store::new(folds);
        let twice = |store: &Store| (0..2).filter(|_| store.hit().is_some()).count();
        let other = start(&store, 1, twice);
        store.evict();
        let hits = other.join().unwrap();
        assert_eq!(store.told(), hits);
    });
}

#[test]
fn hits_evictions_and_misses_of_three_threads_are_all_told() {
    [false, true].into_iter().for_each(all_told);
}

fn all_told(folds: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let store = Store::new(folds);
        let load = |store: &Store| usize::from(store.load().bytes() == CONTENT);
        let others = [start(&store, 0, load), start(&store, 1, load)];
        store.evict();
        let loads: usize = others.into_iter().map(|other| other.join().unwrap()).sum();
        assert_eq!((loads, store.told()), (2, 2));
    });
}

#[test]
fn what_a_user_holds_is_found_again_without_a_read() {
    loom::model(|| {
        let store = Store::new(true);
        let held = store.hit();
        let other = start(&store, 1, |store| store.load().bytes().len());
        store.evict();
        assert_eq!(other.join().unwrap(), CONTENT.len());
        assert_eq!(store.policy.lock().unwrap().reads, 0);
        drop(held);
    });
}

/// Loom notes who looks at these bytes and who frees them: a look beside
/// the freeing, or one that does not come before it, is an error.
struct Content(loom::cell::UnsafeCell<[u8; 3]>);

impl Content {
    fn bytes(&self) -> [u8; 3] {
        // SAFETY: nothing writes to the bytes before they are freed, and loom checks that.
        self.0.with(|bytes| unsafe { *bytes })
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        // SAFETY: `self` is exclusive here, and loom checks that it is.
        self.0.with_mut(|bytes| unsafe { *bytes = [0; 3] });
    }
}

/// A lender that goes while its holds end on other threads: the last of all frees the content, once
/// and after all have looked at it.
#[test]
fn what_was_lent_is_freed_by_the_last_who_holds_it() {
    loom::model(|| {
        let freed = Arc::new(loom::sync::atomic::AtomicUsize::new(0));
        let mut lender = lent::Lender::new(Counted {
            content: Content(loom::cell::UnsafeCell::new(CONTENT)),
            freed: freed.clone(),
        });
        let holds = [lender.lend(), lender.lend()];
        let others = holds.map(|hold| {
            thread::spawn(move || {
                let another = hold.clone();
                drop(hold);
                assert_eq!(another.value().content.bytes(), CONTENT);
            })
        });
        drop(lender);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(freed.load(loom::sync::atomic::Ordering::Relaxed), 1);
    });
}

/// Content that counts how often it was freed.
struct Counted {
    content: Content,
    freed: Arc<loom::sync::atomic::AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.freed.fetch_add(1, loom::sync::atomic::Ordering::Relaxed);
    }
}
