//! Real traces and archives, which are too large for the repository: a folder beside the checkout.

use std::path::{Path, PathBuf};

/// The file or folder of that name. If it is missing, prints that the test is skipped.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let path = folder.join(name);
    if !path.exists() {
        eprintln!("skipped: {name} is not in ../shared/data");
        return None;
    }
    Some(path)
}
