//! A thread that must not wait long for a processor: what it empties fills meanwhile.

use rustix::process::{getpriority_process, setpriority_process};

/// The highest priority of those that share processors.
const HIGHEST: i32 = -20;

/// The calling thread has the highest priority until this is dropped. Threads and processes that it
/// starts meanwhile have it, too.
#[derive(Debug)]
pub struct Urgent {
    former: i32,
}

impl Urgent {
    /// `None` if this process may not (CAP_SYS_NICE).
    #[must_use]
    pub fn begin() -> Option<Self> {
        // To the kernel a thread is a process here.
        let former = getpriority_process(None).ok()?;
        setpriority_process(None, HIGHEST).ok()?;
        Some(Self { former })
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        let _ = setpriority_process(None, self.former); // lower is always allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_its_former_priority_afterwards() {
        let now = || getpriority_process(None).unwrap();
        let former = now();
        let Some(urgent) = Urgent::begin() else {
            return eprintln!("skipped: a higher priority is for root (CAP_SYS_NICE)");
        };
        assert_eq!(now(), HIGHEST);
        assert_eq!(std::thread::spawn(now).join().unwrap(), HIGHEST);
        drop(urgent);
        assert_eq!(now(), former);
    }
}
