//! The sessions by descriptor.

use crate::descriptor;
use crate::failure::Failure;
use crate::session::{Session, Wanted};
use seekless_read::Keeper;
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

type Shared = Arc<Mutex<Session>>;

/// By descriptor: the paper's calls name a session by it.
static SESSIONS: LazyLock<Mutex<HashMap<c_int, Shared>>> = LazyLock::new(Mutex::default);

/// Begins a session on a descriptor, in place of an earlier one, and returns the size of the buffer
/// to use.
pub(crate) fn begin(fd: c_int, wanted: Wanted) -> Result<i64, Failure> {
    let session = descriptor::with(fd, |file| Session::new(file, wanted))?;
    let bytes = i64::try_from(session.buffer_bytes()).unwrap_or(i64::MAX);
    let before = sessions().insert(fd, Arc::new(Mutex::new(session)));
    before.into_iter().for_each(|before| end(fd, &before));
    Ok(bytes)
}

/// Runs `call` with the descriptor's session.
pub(crate) fn session<T>(
    fd: c_int,
    call: impl FnOnce(&mut Session) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let shared = sessions().get(&fd).cloned().ok_or_else(|| not_begun(fd))?;
    // A session in which a call panicked is still consistent: it hands out no byte twice.
    let mut session = shared.lock().unwrap_or_else(PoisonError::into_inner);
    call(&mut session)
}

/// The keeper through which the descriptor is read. Several threads may read at a time.
pub(crate) fn keeper(fd: c_int) -> Result<Arc<Keeper>, Failure> {
    session(fd, |session| Ok(session.keeper()))
}

/// Ends the descriptor's session, whether the descriptor is still open or not.
pub(crate) fn finish(fd: c_int) -> Result<(), Failure> {
    let ended = sessions().remove(&fd).ok_or_else(|| not_begun(fd))?;
    end(fd, &ended);
    Ok(())
}

/// Takes back the advice about the descriptor, if it is still open.
fn end(fd: c_int, ended: &Shared) {
    let keeper = ended.lock().unwrap_or_else(PoisonError::into_inner).keeper();
    let open = descriptor::with(fd, |file| {
        keeper.finish(file);
        Ok::<(), Failure>(())
    });
    drop(open); // of a closed descriptor there is nothing to take back
}

fn sessions() -> MutexGuard<'static, HashMap<c_int, Shared>> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn not_begun(fd: c_int) -> Failure {
    Failure::argument(format!("descriptor {fd}: call sleds_pick_init first"))
}
