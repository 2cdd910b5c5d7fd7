//! The memory that reading an archive takes, compared with its size. Every byte that a thread
//! allocates is counted, for every archive that any test reads.

#[path = "../../../../tests/allocations.rs"]
mod allocations;

use allocations::peak_of_thread;

/// Bytes for each byte of the archive, and bytes whatever its size, that reading may take.
const SHARE: usize = 16;
const BASE: usize = 64 << 20;

/// Does `act` with an archive of `archive_bytes`, and fails if it takes more memory than that
/// justifies.
pub(crate) fn bounded<T>(archive_bytes: usize, act: impl FnOnce() -> T) -> T {
    let (done, taken) = peak_of_thread(act);
    assert!(
        taken <= SHARE * archive_bytes + BASE,
        "{taken} bytes of memory for an archive of {archive_bytes} bytes"
    );
    done
}
