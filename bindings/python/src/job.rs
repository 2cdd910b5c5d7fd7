//! Calls that take long. The work is done on a thread of its own, without the interpreter's lock.
//! The calling thread waits for it, looks for Ctrl-C meanwhile, and passes the progress on.

use crate::failure::{Class, Failure};
use crate::fork;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often the waiting thread looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// How long a cancelled job may take to end, before its thread is left to itself.
const PATIENCE: Duration = Duration::from_secs(1);

/// What worker and waiting thread share.
#[derive(Default)]
struct Shared {
    cancelled: Arc<AtomicBool>,
    done: AtomicU64,
    total: AtomicU64,
}

/// What unwinds a job whose caller waits no longer. It is not a panic: nothing is printed.
struct Cancelled;

/// The worker's end.
#[derive(Clone)]
pub(crate) struct Tick(Arc<Shared>);

impl Tick {
    /// Set after a Ctrl-C: for functions that take a flag of their own.
    pub(crate) fn cancel(&self) -> Arc<AtomicBool> {
        self.0.cancelled.clone()
    }

    /// As [`Tick::progress`], for functions that look at [`Tick::cancel`].
    pub(crate) fn told(&self) -> impl FnMut(u64, u64) + Send + use<> {
        let shared = self.0.clone();
        move |done, total| {
            shared.done.store(done, Ordering::Relaxed);
            shared.total.store(total, Ordering::Relaxed);
        }
    }

    /// A progress for the facade's functions. It ends the job at once after a Ctrl-C.
    pub(crate) fn progress(&self) -> impl FnMut(u64, u64) + Send + use<> {
        let (cancelled, mut told) = (self.cancel(), self.told());
        move |done, total| {
            if cancelled.load(Ordering::Relaxed) {
                resume_unwind(Box::new(Cancelled));
            }
            told(done, total);
        }
    }
}

/// Does `job` on a thread of its own, and waits for it without the interpreter's lock. Calls
/// `progress` now and then with what is done and what there is in all.
///
/// # Errors
/// The job's, the progress's, or that of a signal's handler, such as `KeyboardInterrupt`. Then the
/// job ends at its next step.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    job: impl FnOnce(&Tick) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let shared = Arc::new(Shared::default());
    let (sender, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver); // so that it may be borrowed without the interpreter's lock
    let tick = Tick(shared.clone());
    let work = move || run(job, &tick, &sender);
    std::thread::Builder::new()
        .name("seekless".to_owned())
        .spawn(work)
        .map_err(|error| Failure::new(Class::System, format!("no thread for the work: {error}")))?;
    loop {
        let answer = py.detach(|| lock(&receiver).recv_timeout(LOOK));
        match answer {
            Ok(result) => return result.map_err(PyErr::from),
            Err(RecvTimeoutError::Disconnected) => return Err(lost().into()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let told = py.check_signals().and_then(|()| tell(py, progress.as_ref(), &shared));
        if let Err(error) = told {
            shared.cancelled.store(true, Ordering::Relaxed);
            // Most jobs end within milliseconds, and take away what they had begun to write.
            let _ = py.detach(|| lock(&receiver).recv_timeout(PATIENCE));
            return Err(error);
        }
    }
}

fn run<T>(
    job: impl FnOnce(&Tick) -> Result<T, Failure> + Send,
    tick: &Tick,
    answer: &Sender<Result<T, Failure>>,
) where
    T: Send,
{
    let result = match catch_unwind(AssertUnwindSafe(|| with_threads(|| job(tick)))) {
        Ok(result) => result,
        Err(payload) if payload.is::<Cancelled>() => return,
        Err(payload) => Err(bug(&*payload)),
    };
    // Nobody receives it after a Ctrl-C.
    let _ = answer.send(result);
}

/// Calls `job` where it finds threads to share its work with. The common ones do not live on in the
/// child of a fork.
fn with_threads<T: Send>(job: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    if fork::generation() == 0 {
        return job();
    }
    let pool = rayon::ThreadPoolBuilder::new().build();
    let none = |error| Failure::new(Class::System, format!("no threads for the work: {error}"));
    pool.map_err(none)?.install(job)
}

/// The error for a panic.
fn bug(payload: &(dyn std::any::Any + Send)) -> Failure {
    let words = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied());
    let message = format!(
        "a mistake in seekless, please report it: {}",
        words.unwrap_or("it gave up without words")
    );
    Failure::new(Class::Internal, message)
}

fn lost() -> Failure {
    Failure::new(Class::Internal, "a mistake in seekless, please report it: a job was lost")
}

fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, shared: &Shared) -> PyResult<()> {
    let total = shared.total.load(Ordering::Relaxed);
    match progress {
        Some(progress) if total > 0 => {
            progress.call1(py, (shared.done.load(Ordering::Relaxed), total)).map(drop)
        }
        _ => Ok(()),
    }
}

/// Does `work`, which ends by itself soon, without the interpreter's lock.
pub(crate) fn short<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    Ok(result.unwrap_or_else(|payload| Err(bug(&*payload)))?)
}

/// A lock that a panic elsewhere does not make unusable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does `work` on a thread of its own, and waits for its end through all signals, which are for
/// the work.
pub(crate) fn alone<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let run = || std::thread::scope(|scope| scope.spawn(work).join());
    Ok(py.detach(run).unwrap_or_else(|payload| Err(bug(&*payload)))?)
}
