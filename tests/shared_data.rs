//! Real traces and archives, which are too large for the repository: the folder that SEEKLESS_DATA
//! names, or one beside the checkout. docs/data.md says where they are from.

use std::env;
use std::path::{Path, PathBuf};

/// The file or folder of that name. If it is missing, prints that the test is skipped.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = env::var_os("SEEKLESS_DATA").map_or_else(beside, PathBuf::from).join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there: see docs/data.md", path.display());
        return None;
    }
    Some(path)
}
