//! What a cache and its open files share.

use super::announce::Announcer;
use super::shared::Shared;
use std::sync::Arc;

pub(super) struct Core {
    pub(super) announcer: Announcer,
    pub(super) shared: Arc<Shared>,
}
