//! The slots of guarded maps under every order of two threads' steps, and every order of memory
//! that C11 allows. The threads take one page of address space from each other.
//!
//! In a process of its own: loom puts a handler of SIGBUS in place, which the guarded maps' tests
//! cannot have beside theirs.

mod atomic {
    pub(super) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
}
#[path = "../src/guarded/slots.rs"]
mod slots;

use atomic::{AtomicBool, AtomicU64, Ordering};
use loom::sync::Arc;
use slots::{FREE, Pages, Slot, Slots};

/// The number of the only page.
const PAGE: u64 = 7;

/// What the page shows.
const NOTHING: u64 = 0;
const FILE: u64 = 1;
const CUT: u64 = 2;
const ZEROS: u64 = 3;

struct Machine {
    slots: Slots<2>,
    page: AtomicU64,
}

impl Machine {
    fn new() -> Arc<Self> {
        let slot = |_| Slot { range: AtomicU64::new(FREE), lost: AtomicBool::new(false) };
        Arc::new(Machine { slots: Slots(std::array::from_fn(slot)), page: AtomicU64::new(NOTHING) })
    }

    /// The kernel gives the page to one thread at a time.
    fn map(&self) -> bool {
        self.page.compare_exchange(NOTHING, FILE, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    fn unmap(&self) {
        self.page.store(NOTHING, Ordering::Release);
    }

    fn guard(&self) -> Option<usize> {
        let mapped = || self.map().then(|| (Pages::new(PAGE, 1).unwrap(), ()));
        Some(self.slots.guard(mapped)?.0)
    }

    fn cut(&self) {
        self.page.store(CUT, Ordering::Release);
    }

    /// What the page shows. By an exchange: loom 0.7 leaves orders out where a thread loads a word
    /// and then stores to it.
    fn look(&self) -> u64 {
        self.page.fetch_or(0, Ordering::Relaxed)
    }

    /// Reads the page, with the handler's help if it must be; false if the handler knew nothing of
    /// it.
    fn read(&self) -> bool {
        let put_zeros = || {
            self.page.store(ZEROS, Ordering::Release);
            true
        };
        self.look() != CUT || self.slots.on_loss(PAGE, put_zeros)
    }

    fn release(&self, slot: usize) {
        self.slots.release(slot, || self.unmap());
    }
}

#[test]
fn each_loss_is_told_to_the_thread_whose_window_it_was() {
    loom::model(|| {
        let machine = Machine::new();
        let lose = |machine: &Machine| {
            let Some(slot) = machine.guard() else { return };
            assert!(!machine.slots.is_lost(slot), "a new window has lost nothing");
            machine.cut();
            assert!(machine.read(), "the window is known");
            assert!(machine.slots.is_lost(slot), "and its loss is told");
            machine.release(slot);
        };
        let other = machine.clone();
        let thread = loom::thread::spawn(move || lose(&other));
        lose(&machine);
        thread.join().unwrap();
        lose(&machine);
    });
}

#[test]
fn a_mapping_of_the_program_at_a_freed_address_is_not_taken_for_a_window() {
    loom::model(|| {
        let machine = Machine::new();
        let slot = machine.guard().unwrap();
        let other = machine.clone();
        let thread = loom::thread::spawn(move || {
            if other.map() {
                other.cut();
                assert!(!other.read(), "not guarded");
            }
        });
        machine.release(slot);
        thread.join().unwrap();
    });
}

#[test]
fn who_reads_the_zeros_is_told_of_the_loss() {
    loom::model(|| {
        let machine = Machine::new();
        let slot = machine.guard().unwrap();
        machine.cut();
        let other = machine.clone();
        let thread = loom::thread::spawn(move || assert!(other.read()));
        if machine.look() == ZEROS {
            assert!(machine.slots.is_lost(slot));
        }
        thread.join().unwrap();
    });
}
