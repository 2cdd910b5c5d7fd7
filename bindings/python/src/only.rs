//! The source that the errors of a store name.

use crate::failure::Failure;
use seekless::io;
use std::path::PathBuf;

/// The only source of a store, which its errors name.
pub(crate) struct Only(pub(crate) Option<PathBuf>);

impl Only {
    /// An error of a load.
    pub(crate) fn failure(&self, error: io::Error) -> Failure {
        let failure = Failure::from(error);
        match &self.0 {
            Some(path) => failure.at(path),
            None => failure,
        }
    }
}
