//! Starts the threads of a job that any number of threads can do.

use crate::error::{Error, ErrorKind, Result};
use std::io;
use std::thread::{Builder, Scope};

/// Starts up to `threads` threads that each do `work`, or fewer if the machine allows no more.
///
/// # Errors
/// No thread can be started.
pub fn start<'scope, W>(scope: &'scope Scope<'scope, '_>, threads: usize, work: W) -> Result<()>
where
    W: FnOnce() + Clone + Send + 'scope,
{
    start_by(threads, || Builder::new().spawn_scoped(scope, work.clone()).map(drop))
}

fn start_by(threads: usize, mut one: impl FnMut() -> io::Result<()>) -> Result<()> {
    for started in 0..threads {
        match one() {
            Ok(()) => {}
            Err(_) if started > 0 => break,
            Err(error) => {
                let why = "cannot start a thread to work with: raise the limit of processes (`ulimit -u`)";
                return Err(Error::because(ErrorKind::Io, why, error));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_work() {
        let worked = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let worked = &worked;
            let work = move || {
                worked.fetch_add(1, Ordering::Relaxed);
            };
            start(scope, 3, work).unwrap();
        });
        assert_eq!(worked.into_inner(), 3);
    }

    #[test]
    fn fewer_threads_are_enough_but_no_thread_is_an_error() {
        let limit = |threads: usize| {
            let mut started = 0;
            move || {
                started += 1;
                if started > threads { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
            }
        };
        assert!(start_by(4, limit(1)).is_ok());
        assert_eq!(start_by(4, limit(0)).unwrap_err().kind(), ErrorKind::Io);
    }
}
