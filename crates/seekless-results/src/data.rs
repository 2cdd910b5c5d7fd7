//! The folder of real traces, which are not part of the repository (`docs/data.md`).

use anyhow::ensure;
use std::path::{Path, PathBuf};

/// Names the folder, where no option does.
const VARIABLE: &str = "SEEKLESS_DATA";

/// The folder of real traces: `given`, else that of `SEEKLESS_DATA`, else `../shared/data` beside
/// the checkout. It may be missing.
#[must_use]
pub fn data_folder(given: Option<&Path>) -> PathBuf {
    let named = || std::env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    given.map(Path::to_path_buf).or_else(named).unwrap_or_else(beside)
}

/// A path in that folder.
///
/// # Errors
/// It is missing: the message says where it is from, and how to name the folder.
pub fn published(given: Option<&Path>, name: &str) -> anyhow::Result<PathBuf> {
    let path = data_folder(given).join(name);
    ensure!(
        path.exists(),
        "{} is not there: docs/data.md says where it is from; name its folder with --data or \
         {VARIABLE}",
        path.display()
    );
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_given_is_taken() {
        assert_eq!(data_folder(Some(Path::new("/data"))), Path::new("/data"));
        let error = published(Some(Path::new("/data")), "0ad/none.csv").unwrap_err().to_string();
        assert!(error.contains("/data/0ad/none.csv") && error.contains("docs/data.md"), "{error}");
        assert!(data_folder(None).is_absolute() || std::env::var_os(VARIABLE).is_some());
    }
}
