//! Signals that are waited for instead of ending the process: by a loop that also waits for its
//! children, and must miss neither.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::Duration;

/// Signals that stay pending until [`Awaited::wait`] takes them, while this lives. Threads started
/// meanwhile leave them alone too.
pub struct Awaited {
    set: libc::sigset_t,
    before: libc::sigset_t,
}

impl Awaited {
    /// Holds these signals back from this thread.
    ///
    /// # Errors
    /// A number is not a signal's.
    pub fn hold(signals: &[i32]) -> io::Result<Self> {
        let mut set = empty();
        for &signal in signals {
            // SAFETY: the set is live and initialised.
            if unsafe { libc::sigaddset(&raw mut set, signal) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        let mut before = empty();
        // SAFETY: both sets are live and initialised.
        match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before) } {
            0 => Ok(Self { set, before }),
            number => Err(io::Error::from_raw_os_error(number)),
        }
    }

    /// Takes one that has come, or comes within `patience`. `None` if none does.
    #[must_use]
    pub fn wait(&self, patience: Duration) -> Option<i32> {
        let patience = libc::timespec {
            tv_sec: patience.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: patience.subsec_nanos().into(),
        };
        // SAFETY: the set and the time are live; the answer is not asked for.
        let signal = unsafe {
            libc::sigtimedwait(&raw const self.set, ptr::null_mut(), &raw const patience)
        };
        (signal > 0).then_some(signal)
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        // SAFETY: puts back the mask that the kernel gave.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut())
        };
    }
}

fn empty() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_came_before_the_wait_is_taken() {
        let awaited = Awaited::hold(&[libc::SIGUSR2]).unwrap();
        assert_eq!(awaited.wait(Duration::ZERO), None);
        // SAFETY: sends a signal to this thread, which holds it back.
        unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGUSR2) };
        assert_eq!(awaited.wait(Duration::from_secs(5)), Some(libc::SIGUSR2));
        assert_eq!(awaited.wait(Duration::ZERO), None);
    }
}
