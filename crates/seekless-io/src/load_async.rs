//! Loads as futures, for programs with an executor of any kind, or of their own.

use crate::reply::{Place, Promise, Reply, next_owner};
use crate::state::Waiter;
use crate::{Buffer, Error, Result, Store};
use seekless_policy::eviction::Id;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The future of [`Store::load_async`]: one load. The read ends by itself, in the store's threads.
/// It may be dropped at any time; the file is then cached as if it had been waited for. Once it has
/// been ready it stays pending.
#[must_use = "the load is under way; wait for its result"]
pub struct LoadAsync(Stage);

enum Stage {
    Ready(Result<Buffer>),
    /// `recorded` is when a recording saw it begin.
    Waiting {
        store: Store,
        id: Id,
        place: Arc<Place>,
        recorded: Option<u64>,
    },
    Taken,
}

impl Store {
    /// As [`Store::load`], for the caller to wait for when it likes. The read starts at once, not
    /// with the first poll, so that several loads can be begun and then waited for. The store
    /// itself decodes and wakes the task, so no runtime is required.
    pub fn load_async(&self, name: &str) -> LoadAsync {
        let id = match self.find_loadable(name) {
            Ok(id) => id,
            Err(error) => return LoadAsync(Stage::Ready(Err(error))),
        };
        let shared = self.shared();
        let recorded = shared.recorder.begin();
        let ready =
            |buffer| LoadAsync(Stage::Ready(Ok(shared.recorder.loaded(recorded, id, buffer))));
        if let Some(buffer) = shared.hit(id) {
            return ready(buffer);
        }
        let place = Arc::new(Place::default());
        let reply = Reply::Task(Promise(place.clone()));
        let began = Some(shared.engine.now());
        let waiter = Waiter { owner: next_owner(), began, position: 0, reply };
        match shared.begin(id, waiter) {
            Some(buffer) => ready(buffer),
            None => LoadAsync(Stage::Waiting { store: self.clone(), id, place, recorded }),
        }
    }
}

impl Future for LoadAsync {
    type Output = Result<Buffer>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Stage::Waiting { place, .. } = &self.0
            && place.is_pending(context.waker())
        {
            return Poll::Pending;
        }
        match std::mem::replace(&mut self.0, Stage::Taken) {
            Stage::Ready(result) => Poll::Ready(result),
            Stage::Waiting { store, id, place, recorded } => {
                let shared = store.shared();
                let abandoned = || Err(Error::abandoned(&shared.sources.at(id)));
                let result = place.take().unwrap_or_else(abandoned);
                Poll::Ready(result.map(|buffer| shared.recorder.loaded(recorded, id, buffer)))
            }
            Stage::Taken => Poll::Pending,
        }
    }
}

impl fmt::Debug for LoadAsync {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("LoadAsync").finish_non_exhaustive()
    }
}
