//! A lock for work of a few instructions, such as noting one event. It is released by a plain
//! store, where the lock of the standard library needs a second locked instruction: as long as
//! noting the event takes, and all reads behind it wait.

mod lock;
mod sync;

pub use lock::{BriefGuard, BriefLock};

#[cfg(test)]
mod tests {
    use super::BriefLock;

    #[test]
    fn no_step_of_any_thread_is_lost() {
        let lock = BriefLock::new(0_u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..20_000).for_each(|_| *lock.lock() += 1));
            }
        });
        assert_eq!(*lock.lock(), 80_000);
    }

    #[test]
    fn a_waiter_gets_a_lock_that_was_held_for_long() {
        let lock = BriefLock::new(1);
        std::thread::scope(|scope| {
            let mut held = lock.lock();
            let waiter = scope.spawn(|| *lock.lock());
            std::thread::sleep(std::time::Duration::from_millis(5));
            *held = 2;
            drop(held);
            assert_eq!(waiter.join().unwrap(), 2);
        });
    }

    #[test]
    fn a_panic_releases_the_lock() {
        let lock = BriefLock::new(());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = lock.lock();
            panic!("while it is held");
        }));
        assert!(panicked.is_err());
        drop(lock.lock());
    }
}
