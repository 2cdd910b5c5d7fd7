//! Choosing an engine by name, and falling back where the kernel refuses one.

use crate::ring::why_refused;
use crate::{Clock, DrivenRing, Engine, Ring, Threads, Throttled};
use seekless_device::DeviceSpec;
use std::io;
use std::sync::Arc;

/// Which engine to read with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineKind {
    /// io_uring, or threads where it is refused; the engine's name says so.
    #[default]
    Auto,
    /// io_uring or an error.
    Ring,
    /// A pool of threads that call `pread`.
    Threads,
    /// The automatic choice, slowed to this device.
    Throttled(DeviceSpec),
}

/// Makes an engine.
///
/// # Errors
/// When [`EngineKind::Ring`] is asked for and io_uring is refused, or a thread cannot be started.
pub fn build(kind: EngineKind) -> io::Result<Arc<dyn Engine>> {
    match kind {
        EngineKind::Auto => Ok(automatic()),
        EngineKind::Ring => Ok(Arc::new(Ring::new().map_err(refused)?)),
        EngineKind::Threads => Ok(Arc::new(Threads::new())),
        EngineKind::Throttled(spec) => build_throttled(spec, Clock::wall()),
    }
}

/// Makes an engine for a caller that waits for its reads by [`Engine::drive`]: io_uring then needs
/// no thread of its own.
///
/// # Errors
/// As [`build`].
pub fn build_driven(kind: EngineKind) -> io::Result<Arc<dyn Engine>> {
    match kind {
        EngineKind::Auto => Ok(match DrivenRing::new() {
            Ok(ring) => Arc::new(ring),
            Err(error) => Arc::new(Threads::named(why_refused(&error))),
        }),
        EngineKind::Ring => Ok(Arc::new(DrivenRing::new().map_err(refused)?)),
        kind => build(kind),
    }
}

/// Makes the automatic choice, slowed to `spec` on `clock`.
///
/// # Errors
/// When a thread cannot be started.
pub fn build_throttled(spec: DeviceSpec, clock: Clock) -> io::Result<Arc<dyn Engine>> {
    Ok(Arc::new(Throttled::new(automatic(), Box::new(spec.model()), clock)?))
}

/// Makes io_uring's engine, or threads where it is refused.
#[must_use]
pub fn automatic() -> Arc<dyn Engine> {
    match Ring::new() {
        Ok(ring) => Arc::new(ring),
        Err(error) => Arc::new(Threads::named(why_refused(&error))),
    }
}

fn refused(error: io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("io_uring cannot be used here ({error}): read with the threads engine"),
    )
}
