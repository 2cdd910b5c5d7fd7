//! The thread that writes to the cache, so that no read waits for that.

use super::key::Key;
use super::{Blocks, Note};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Most bytes that wait to be written. What comes beyond them is not kept.
const WAITING_MAX: u64 = 64 << 20;

/// A part of an object.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) key: Key,
    /// Where it begins in the object: with a sector.
    pub(super) offset: u64,
    pub(super) content: Vec<u8>,
}

/// Writes pieces in the order in which they come. Dropped, it writes those that wait.
pub(super) struct Writer {
    pieces: Option<Sender<Piece>>,
    shared: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes that wait.
    waiting: AtomicU64,
    /// The disk has failed once: nothing more is written.
    failed: AtomicBool,
}

impl Writer {
    pub(super) fn start(store: Arc<Blocks>, path: &Path, note: Note) -> io::Result<Self> {
        let shared = Arc::new(State::default());
        let (pieces, come) = channel();
        let (state, path) = (shared.clone(), path.to_owned());
        let write = move || {
            write(&come, &store, &state, |error| note(&note_of(&path, error)));
        };
        let thread = Builder::new().name("seekless-cache".to_owned()).spawn(write)?;
        Ok(Self { pieces: Some(pieces), shared, thread: Some(thread) })
    }

    pub(super) fn take(&self, piece: Piece) {
        let (State { waiting, failed }, bytes) = (&*self.shared, piece.content.len() as u64);
        if failed.load(Ordering::Relaxed) {
            return;
        }
        let fits = |waiting: u64| Some(waiting + bytes).filter(|after| *after <= WAITING_MAX);
        if waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
            && let Some(pieces) = &self.pieces
        {
            // It ends with this.
            let _ = pieces.send(piece);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.pieces = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write(come: &Receiver<Piece>, store: &Blocks, state: &State, note: impl Fn(&io::Error)) {
    for piece in come {
        if !state.failed.load(Ordering::Relaxed)
            && let Err(error) = store.put(&piece)
        {
            state.failed.store(true, Ordering::Relaxed);
            note(&error);
        }
        state.waiting.fetch_sub(piece.content.len() as u64, Ordering::Relaxed);
    }
}

/// What the user is told, once.
fn note_of(path: &Path, error: &io::Error) -> String {
    let why = match error.kind() {
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::QuotaExceeded => "the quota is used up".to_owned(),
        _ => error.to_string(),
    };
    format!("{}: nothing more is cached: {why}", path.display())
}
