//! Reads and codes files on all cores and hands them on in order, with a bound on the bytes in
//! flight.

use super::archive::Archive;
use super::tree::Node;
use seekless_job::crew;
use seekless_job::{Error, ErrorKind, Result};
use seekless_pack::{Codec, ContentReader, Prepared, prepare};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Content and data that wait for their turn, in bytes.
const WINDOW_BYTES: u64 = 256 << 20;
/// A file from this size on is streamed alone.
const LARGE_BYTES: u64 = 64 << 20;
/// What an opened large file counts for, so that not too many are open.
const LARGE_WEIGHT: u64 = 4 << 20;
/// Reading waits where compressing works: more threads than cores keep both busy.
const THREADS_PER_CORE: usize = 2;
const THREADS_MAX: usize = 64;

/// A file whose turn has come.
pub(super) enum Ready {
    Entry(Prepared),
    /// Opened, unread.
    Large(File),
    /// An entry of an archive, unread.
    LargeEntry(Box<ContentReader<Arc<Archive>>>),
}

/// Calls `take` with each node and its coded content, in the order of `nodes`; the first error ends
/// it.
pub(super) fn in_order(
    nodes: &[&Node],
    codec: Codec,
    cancel: &AtomicBool,
    take: impl FnMut(&Node, Ready) -> Result<()>,
) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (cores * THREADS_PER_CORE).min(THREADS_MAX).min(nodes.len().max(1));
    let gate = Gate { nodes, cancel, state: Mutex::default(), changed: Condvar::new() };
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        let _closing = Closing(&gate); // also when `take` panics: the threads must not wait for ever
        let worked = &gate;
        crew::start(scope, threads, move || work(worked, codec, &sender))?;
        hand_on(&gate, &receiver, take)
    })
}

type Numbered = (usize, Result<Ready>);

fn work(gate: &Gate<'_>, codec: Codec, sender: &Sender<Numbered>) {
    while let Some(number) = gate.next() {
        if sender.send((number, make(gate.nodes[number], codec))).is_err() {
            return;
        }
    }
}

fn hand_on(
    gate: &Gate<'_>,
    receiver: &Receiver<Numbered>,
    mut take: impl FnMut(&Node, Ready) -> Result<()>,
) -> Result<()> {
    let mut early = BTreeMap::new();
    for (number, node) in gate.nodes.iter().enumerate() {
        let ready = loop {
            if let Some(ready) = early.remove(&number) {
                break ready;
            }
            // Workers end before their time only when cancelled.
            let Ok((other, ready)) = receiver.recv() else { return Ok(()) };
            early.insert(other, ready);
        };
        take(node, ready?)?;
        gate.release(node);
    }
    Ok(())
}

fn make(node: &Node, codec: Codec) -> Result<Ready> {
    let said = |error| {
        Error::because(ErrorKind::Pack, format!("cannot pack {}", node.path.display()), error)
    };
    if let Some((archive, number)) = &node.packed {
        let bytes = node.stamp.bytes.max(archive.extent_bytes(*number));
        if bytes >= LARGE_BYTES {
            return Ok(Ready::LargeEntry(Box::new(archive.reader(*number)?)));
        }
        return prepare(node.about(), archive.content(*number)?, node.codec(codec))
            .map(Ready::Entry)
            .map_err(said);
    }
    if let Some(text) = &node.link {
        node.check_link_unchanged(text)?;
        return prepare(node.about(), text.to_vec(), node.codec(codec))
            .map(Ready::Entry)
            .map_err(said);
    }
    let unreadable = |error| Error::unreadable(&node.path, error);
    let file = File::open(&node.path).map_err(unreadable)?;
    node.check_unchanged(&file)?;
    if node.stamp.bytes >= LARGE_BYTES {
        return Ok(Ready::Large(file));
    }
    let mut content = Vec::with_capacity(node.stamp.bytes as usize + 1);
    (&file).take(node.stamp.bytes + 1).read_to_end(&mut content).map_err(unreadable)?;
    if content.len() as u64 != node.stamp.bytes {
        return Err(node.changed());
    }
    node.check_unchanged(&file)?;
    prepare(node.about(), content, codec).map(Ready::Entry).map_err(said)
}

/// Gives out numbers in order while the window has room. The next file to be written always has its
/// number already, so no thread waits for one that cannot start.
struct Gate<'a> {
    nodes: &'a [&'a Node],
    cancel: &'a AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    next: usize,
    bytes_in_flight: u64,
    closed: bool,
}

impl Gate<'_> {
    fn next(&self) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if state.closed || self.cancel.load(Ordering::Relaxed) {
                return None;
            }
            let bytes = weight(self.nodes.get(state.next)?);
            if state.bytes_in_flight == 0 || state.bytes_in_flight + bytes <= WINDOW_BYTES {
                state.bytes_in_flight += bytes;
                state.next += 1;
                return Some(state.next - 1);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn release(&self, node: &Node) {
        self.lock().bytes_in_flight -= weight(node);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Content and data, and an allowance for the rest.
fn weight(node: &Node) -> u64 {
    let memory = if node.stamp.bytes < LARGE_BYTES { 2 * node.stamp.bytes } else { LARGE_WEIGHT };
    memory + 4096
}

struct Closing<'a, 'b>(&'a Gate<'b>);

impl Drop for Closing<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}
