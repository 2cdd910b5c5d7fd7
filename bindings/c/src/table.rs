//! Which descriptors are being advised on, and the surveyors that look at them.

use crate::descriptor;
use crate::failure::Failure;
use crate::session::{Session, Wanted};
use seekless_sled::Surveyor;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

type Shared = Arc<Mutex<Session>>;

/// By descriptor, as the paper's calls name them.
static SESSIONS: LazyLock<Mutex<HashMap<c_int, Shared>>> = LazyLock::new(Mutex::default);

thread_local! {
    /// A surveyor a thread, so that nobody waits while another asks a distant machine. It reads the configuration once.
    static SURVEYOR: RefCell<Option<Surveyor>> = const { RefCell::new(None) };
}

/// Runs `call` with the thread's surveyor.
pub(crate) fn surveyed<T, E: Into<Failure>>(
    call: impl FnOnce(&mut Surveyor) -> Result<T, E>,
) -> Result<T, Failure> {
    let mut surveyor = match SURVEYOR.with_borrow_mut(Option::take) {
        Some(surveyor) => surveyor,
        None => Surveyor::new()?,
    };
    let result = call(&mut surveyor).map_err(Into::into);
    SURVEYOR.set(Some(surveyor));
    result
}

/// Begins with a descriptor, whatever there was before, and returns the size of the buffer.
pub(crate) fn begin(fd: c_int, wanted: Wanted) -> Result<i64, Failure> {
    let session = descriptor::with(fd, |file| Session::new(file, wanted))?;
    let bytes = i64::try_from(session.buffer_bytes()).unwrap_or(i64::MAX);
    sessions().insert(fd, Arc::new(Mutex::new(session)));
    Ok(bytes)
}

/// Runs `call` with the descriptor's session.
pub(crate) fn session<T>(
    fd: c_int,
    call: impl FnOnce(&mut Session) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let shared = sessions().get(&fd).cloned().ok_or_else(|| not_begun(fd))?;
    // A session that a panic left behind still hands out no byte twice.
    let mut session = shared.lock().unwrap_or_else(PoisonError::into_inner);
    call(&mut session)
}

/// Ends the descriptor's session, be it open or not.
pub(crate) fn finish(fd: c_int) -> Result<(), Failure> {
    sessions().remove(&fd).map(|_| ()).ok_or_else(|| not_begun(fd))
}

fn sessions() -> MutexGuard<'static, HashMap<c_int, Shared>> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn not_begun(fd: c_int) -> Failure {
    Failure::argument(format!("descriptor {fd}: call sleds_pick_init first"))
}
