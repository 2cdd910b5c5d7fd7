//! Where the files of a profile lie on their device, once they were moved.

use super::learn::{identify, place};
use super::{between, read, update};
use seekless_job::Result;
use std::path::Path;

/// Notes where the files of a profile lie now, of those that are still the same.
///
/// # Errors
/// The profile cannot be read or written.
pub(crate) fn renew_places(path: &Path) -> Result<()> {
    read(path)?; // a file that is not a profile is left as it is
    update(path, |profile| {
        let mut profile = profile.unwrap_or_default();
        for file in &mut profile.files {
            let found = identify(&file.name).map(|(_, identity)| identity);
            if found.is_some() && found == file.identity {
                file.place = place(&file.name);
            }
        }
        profile.between = between::find(&profile);
        profile
    })
}
