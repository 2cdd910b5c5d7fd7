//! The thread that takes what the engine has read into the cache.

use super::shared::{QUIT, Shared};
use seekless_engine::{AlignedBuf, Completion};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::{Builder, JoinHandle};

/// The thread; joined when this is dropped.
pub(super) struct Lander {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Lander {
    pub(super) fn start(
        shared: Arc<Shared>,
        completions: Receiver<Completion>,
    ) -> io::Result<Self> {
        let own = Arc::clone(&shared);
        let work = move || {
            for Completion { tag, buffer, result } in completions {
                if tag == QUIT {
                    return;
                }
                own.land(tag, buffer, result);
            }
        };
        let thread = Builder::new().name("seekless-land".to_owned()).spawn(work)?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl Drop for Lander {
    fn drop(&mut self) {
        let quit = Completion { tag: QUIT, buffer: AlignedBuf::default(), result: Ok(0) };
        // It is gone already only after a panic.
        let _ = self.shared.done.send(quit);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
