//! What `seekless probe` has measured of a store's device.

use seekless_device::Costs;
use std::path::Path;

/// What the device under `archive` charges, as `table` says, or the user's device table; `None` if
/// it does not say, or cannot be read.
#[cfg(feature = "probed")]
pub(crate) fn costs(archive: &Path, table: Option<&Path>) -> Option<Costs> {
    use seekless_sled::{Config, Devices, Surveyor};
    let devices = table.map_or_else(Devices::load, Devices::read).ok()?;
    Surveyor::with(Config::load().ok()?, devices).costs(archive).ok()?
}

/// Nothing is looked up without the feature `probed`.
#[cfg(not(feature = "probed"))]
pub(crate) fn costs(_archive: &Path, _table: Option<&Path>) -> Option<Costs> {
    None
}
