//! The caches of the machine, which all tests share. As root some commands drop all of them; then
//! what another test has just read would be cold, and its times those of a cold start.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static CACHES: RwLock<()> = RwLock::new(());

/// For what drops all caches: nothing that depends on them runs meanwhile.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    CACHES.write().unwrap_or_else(PoisonError::into_inner)
}

/// For what depends on its own files being cached or cold: none are dropped meanwhile.
pub(crate) fn kept() -> RwLockReadGuard<'static, ()> {
    CACHES.read().unwrap_or_else(PoisonError::into_inner)
}
