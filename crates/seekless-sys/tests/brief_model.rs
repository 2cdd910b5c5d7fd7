//! The brief lock under every order of threads' steps, and every order of memory that C11 allows.

#![expect(
    unsafe_code,
    unreachable_pub,
    reason = "the lock is the crate's own code, which reaches its value without a check"
)]

mod sync {
    pub(super) use loom::sync::atomic::{AtomicBool, Ordering};

    /// Tells loom of each look at the value, so that two at one time are found.
    #[derive(Debug)]
    pub(super) struct UnsafeCell<T>(loom::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(super) fn new(value: T) -> Self {
            Self(loom::cell::UnsafeCell::new(value))
        }

        pub(super) fn get(&self) -> *mut T {
            self.0.with_mut(|value| value)
        }
    }

    pub(super) fn pause(_look: u32) {
        loom::thread::yield_now();
    }
}
#[path = "../src/brief/lock.rs"]
mod lock;

use lock::BriefLock;
use loom::sync::Arc;
use loom::thread;

#[test]
fn each_thread_sees_what_the_last_holder_wrote() {
    loom::model(|| {
        let lock = Arc::new(BriefLock::new(0));
        let add = |lock: Arc<BriefLock<u32>>| (0..2).for_each(|_| *lock.lock() += 1);
        let other = thread::spawn({
            let lock = lock.clone();
            move || add(lock)
        });
        add(lock.clone());
        other.join().unwrap();
        assert_eq!(*lock.lock(), 4);
    });
}
