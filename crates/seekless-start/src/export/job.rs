//! A list that is being written, for whatever tool.

use super::{Listed, Options};
use std::path::Path;

/// A list that is being written.
pub(super) struct Job<'a> {
    pub(super) listed: &'a [Listed],
    pub(super) options: &'a Options,
    /// Where it goes, for messages.
    pub(super) path: &'a Path,
}
