//! What the lock is made of. The loom model (`tests/brief_model.rs`) replaces it by its own.

pub(super) use std::cell::UnsafeCell;
pub(super) use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Up to this look at the lock a waiter does nothing else. The holder needs less, if it runs.
const SPINS_END: u32 = 64;

/// Up to this one it offers its processor to others.
const YIELDS_END: u32 = 80;

/// A waiter that found the lock held so long sleeps, so that a holder of lower priority can run.
const SLEEP: Duration = Duration::from_micros(50);

/// What a waiter does before it looks at the lock for the time `look`, counted from 0.
pub(super) fn pause(look: u32) {
    match look {
        0..SPINS_END => std::hint::spin_loop(),
        SPINS_END..YIELDS_END => thread::yield_now(),
        _ => thread::sleep(SLEEP),
    }
}
