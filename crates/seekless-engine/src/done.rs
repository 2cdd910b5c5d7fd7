//! Where completions go.

use crate::Completion;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// Where the completion of a read or write goes: a channel, or a function that passes it on. It is
/// called on the engine's thread, so it must not block.
#[derive(Clone)]
pub struct Done(Arc<dyn Fn(Completion) + Send + Sync>);

impl Done {
    /// Calls `take` with each completion.
    pub fn new(take: impl Fn(Completion) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Passes a completion on.
    pub fn send(&self, completion: Completion) {
        (self.0)(completion);
    }
}

impl From<Sender<Completion>> for Done {
    /// Sends each completion. If the receiver has been dropped, the completion is dropped too.
    fn from(sender: Sender<Completion>) -> Self {
        Self::new(move |completion| {
            let _ = sender.send(completion);
        })
    }
}

impl fmt::Debug for Done {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Done")
    }
}
