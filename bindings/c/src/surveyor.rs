//! The surveyors that look at files: one for each thread.

use crate::failure::Failure;
use seekless_sled::Surveyor;
use std::cell::RefCell;

thread_local! {
    /// One surveyor for each thread, so that no thread waits while another asks a distant machine.
    /// A surveyor reads the configuration once.
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
