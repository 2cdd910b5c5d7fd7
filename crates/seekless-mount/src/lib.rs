//! A pack as a read-only file system, through FUSE: programs that cannot be changed read it through
//! our store, with its cache, its joined reads and its prediction.
//!
//! What was read once lies in the kernel's page cache, as for any file system, and is not asked for
//! again: a pack does not change while it is mounted.
//!
//! ```no_run
//! use seekless_io::Store;
//! use seekless_mount::{Options, mount};
//! use std::path::Path;
//!
//! let store = Store::open("data.zip")?;
//! let mounted = mount(store, Path::new("data"), Options::default())?;
//! println!("{}", std::fs::read_to_string("data/settings.txt")?);
//! mounted.unmount()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod ahead;
mod answer;
mod detached;
mod error;
mod held;
pub mod mirror;
mod mount;
mod open;
mod serve;
mod streams;
mod tree;

pub use answer::answer_s;
pub use detached::Detached;
pub use error::{Error, ErrorKind, Result};
pub use mount::{Mounted, Options, mount};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic elsewhere does not make what the lock guards unusable: each change under it is complete
/// when it is released.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
