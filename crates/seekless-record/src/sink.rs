//! Sends rows through a queue to a thread that writes the spool. So the traced program does not
//! wait for their encoding. Rows reach the spool within 250 ms even if no others follow.

use crate::live::Live;
use hashbrown::HashMap;
use seekless_trace::{Access, FileId, SpoolWriter};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

const BATCH_ROWS: usize = 4096;
const BATCH_TIME: Duration = Duration::from_millis(250);
/// If the queue is this long, the program waits for the disk. So memory is bounded, and no row is
/// lost.
const QUEUE_ROWS_MAX: usize = 1 << 20;
/// Fewer rows than this are copied into the queue; more change hands in their own memory.
const FEW_ROWS: usize = 256;

/// What a recording has at most; nothing beyond is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Nanoseconds from its start.
    pub time_ns: Option<u64>,
    /// Rows.
    pub rows: Option<u64>,
}

#[derive(Debug, Default)]
struct Queue {
    limits: Limits,
    /// Rows taken so far, and rows beyond the limits.
    taken: u64,
    beyond: u64,
    /// Rows that came one by one since the last batch.
    rows: Vec<Access>,
    /// Rows that were handed over together.
    batches: Vec<Vec<Access>>,
    /// How many rows these are.
    batched: usize,
    /// Batches that have been written, for their memory.
    spare: Vec<Vec<Access>>,
    /// The names of new files, in the order of their numbers.
    names: Vec<String>,
    done: bool,
}

impl Queue {
    fn len(&self) -> usize {
        self.rows.len() + self.batched
    }

    /// Makes a batch of the rows that came one by one: a batch that comes now is written after
    /// them.
    fn set_apart(&mut self) {
        if !self.rows.is_empty() {
            self.batched += self.rows.len();
            let spare = self.spare.pop().unwrap_or_default();
            self.batches.push(std::mem::replace(&mut self.rows, spare));
        }
    }
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    more: Condvar,
    room: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the writing thread returns.
pub(crate) struct Written {
    pub(crate) spool: SpoolWriter,
    /// Rows that could not be written, and the first reason.
    pub(crate) lost: u64,
    pub(crate) error: Option<seekless_trace::Error>,
}

/// The files seen so far.
#[derive(Debug, Default)]
struct Files {
    numbers: HashMap<Arc<[u8]>, FileId, foldhash::fast::RandomState>,
    names: Vec<Arc<[u8]>>,
}

/// Takes rows, from any thread.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    shared: Arc<Shared>,
    files: Arc<Mutex<Files>>,
}

/// The recorder's end of the queue.
pub(crate) struct Sink {
    rows: Rows,
    is_limited: bool,
    /// Rows that are not queued yet.
    held: Vec<Access>,
    writer: Option<JoinHandle<Written>>,
}

impl Sink {
    /// With `live`, rows are counted there for somebody who looks meanwhile.
    pub(crate) fn new(
        spool: SpoolWriter,
        limits: Limits,
        live: Option<Live>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        shared.lock().limits = limits;
        let theirs = Arc::clone(&shared);
        let writer = std::thread::Builder::new()
            .name("seekless-spool".into())
            .spawn(move || write(&theirs, Written { spool, lost: 0, error: None }, live))?;
        let rows = Rows { shared, files: Arc::default() };
        let is_limited = limits != Limits::default();
        Ok(Self { rows, is_limited, held: Vec::new(), writer: Some(writer) })
    }

    /// An end of a queue that no thread writes.
    pub(crate) fn unwritten() -> Self {
        Self { rows: Rows::unwritten(), is_limited: false, held: Vec::new(), writer: None }
    }

    /// Another end, for another thread. What it pushes after [`Sink::finish`] is lost.
    pub(crate) fn rows(&self) -> Rows {
        self.rows.clone()
    }

    pub(crate) fn file(&self, name: &[u8]) -> FileId {
        self.rows.file(name)
    }

    pub(crate) fn name(&self, file: FileId) -> Arc<[u8]> {
        self.rows.name(file)
    }

    /// As [`Rows::push`].
    pub(crate) fn push(&self, access: Access) -> bool {
        self.rows.push(access)
    }

    /// As [`Sink::push`], for a caller that calls [`Sink::hand_over`] before it waits: many rows
    /// take the lock once.
    pub(crate) fn hold(&mut self, access: Access) -> bool {
        if self.is_limited {
            return self.push(access);
        }
        if self.held.capacity() < BATCH_ROWS {
            self.held.reserve_exact(BATCH_ROWS);
        }
        self.held.push(access);
        if self.held.len() >= BATCH_ROWS {
            self.hand_over();
        }
        true
    }

    /// Queues the rows that are held.
    pub(crate) fn hand_over(&mut self) {
        if !self.held.is_empty() {
            self.rows.push_all(&mut self.held);
        }
    }

    /// Whether nothing more is taken from `now_ns` on.
    pub(crate) fn is_over(&self, now_ns: u64) -> bool {
        if !self.is_limited {
            return false; // asked at every call: without the lock
        }
        let queue = self.rows.shared.lock();
        let Limits { time_ns, rows } = queue.limits;
        time_ns.is_some_and(|most| now_ns >= most) || rows.is_some_and(|most| queue.taken >= most)
    }

    /// A call is beyond the limits, and is not looked at.
    pub(crate) fn pass_over(&self) {
        self.rows.shared.lock().beyond += 1;
    }

    /// Rows and calls that were beyond the limits.
    pub(crate) fn beyond(&self) -> u64 {
        self.rows.shared.lock().beyond
    }

    /// Waits until all rows are written. `None` if the writing thread panicked.
    pub(crate) fn finish(mut self) -> Option<Written> {
        self.end();
        self.writer.take()?.join().ok()
    }

    fn end(&mut self) {
        self.hand_over();
        self.rows.shared.lock().done = true;
        self.rows.shared.more.notify_one();
    }
}

impl Rows {
    /// A queue that no thread writes to a spool: [`Rows::drain`] empties it.
    pub(crate) fn unwritten() -> Self {
        Self { shared: Arc::default(), files: Arc::default() }
    }

    /// Appends what was pushed since the last call, and the names of the files that are new in it.
    pub(crate) fn drain(&self, names: &mut Vec<String>, rows: &mut Vec<Access>) {
        let mut queue = self.shared.lock();
        names.append(&mut queue.names);
        rows.append(&mut queue.rows);
        self.shared.room.notify_all();
    }

    /// Takes rows of a recording without limits, and leaves the memory of others.
    fn push_all(&self, rows: &mut Vec<Access>) {
        let mut queue = self.room();
        let before = queue.len();
        queue.taken += rows.len() as u64;
        if rows.len() < FEW_ROWS {
            queue.rows.append(rows);
        } else {
            queue.set_apart();
            queue.batched += rows.len();
            let spare = queue.spare.pop().unwrap_or_default();
            queue.batches.push(std::mem::replace(rows, spare));
        }
        if before < BATCH_ROWS && queue.len() >= BATCH_ROWS {
            self.shared.more.notify_one();
        }
    }

    /// The queue, once it has room.
    fn room(&self) -> MutexGuard<'_, Queue> {
        let mut queue = self.shared.lock();
        while queue.len() >= QUEUE_ROWS_MAX {
            queue = self.shared.room.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        queue
    }

    /// The number of the file with this absolute name.
    pub(crate) fn file(&self, name: &[u8]) -> FileId {
        let mut files = self.files();
        if let Some(number) = files.numbers.get(name) {
            return *number;
        }
        let number = files.names.len() as FileId;
        let name: Arc<[u8]> = name.into();
        files.names.push(Arc::clone(&name));
        // Under the lock of the numbers, so that names are queued in their order.
        self.shared.lock().names.push(seekless_trace::escape_path(&name));
        files.numbers.insert(name, number);
        number
    }

    /// The name behind a number from [`Rows::file`].
    pub(crate) fn name(&self, file: FileId) -> Arc<[u8]> {
        Arc::clone(&self.files().names[file as usize])
    }

    /// Takes a row. False if it is beyond the limits of the recording.
    pub(crate) fn push(&self, access: Access) -> bool {
        let mut queue = self.room();
        let Limits { time_ns, rows } = queue.limits;
        if time_ns.is_some_and(|most| access.time_ns >= most)
            || rows.is_some_and(|most| queue.taken >= most)
        {
            queue.beyond += 1;
            return false;
        }
        queue.taken += 1;
        queue.rows.push(access);
        if queue.len() == BATCH_ROWS {
            self.shared.more.notify_one();
        }
        true
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.end(); // the thread writes what is queued and ends; the spool is kept
        if let Some(writer) = self.writer.take() {
            let _ = writer.join(); // from then on no thread writes to the spool or holds its lock
        }
    }
}

/// What the writing thread has taken out of the queue.
#[derive(Default)]
struct Taken {
    names: Vec<String>,
    batches: Vec<Vec<Access>>,
    /// It is the end.
    done: bool,
    /// The time is up.
    late: bool,
}

fn write(shared: &Shared, mut written: Written, live: Option<Live>) -> Written {
    let mut taken = Taken::default();
    loop {
        take(shared, &mut taken);
        shared.room.notify_all();
        if let Some(live) = &live {
            let mut names = taken.names.as_slice();
            for rows in &taken.batches {
                live.count(std::mem::take(&mut names), rows);
            }
        }
        for name in taken.names.drain(..) {
            written.spool.file(name); // its number is the sink's: both count up from 0
        }
        for rows in &mut taken.batches {
            write_rows(rows, &mut written);
            rows.clear();
        }
        if (taken.done || taken.late) && written.error.is_none() {
            written.error = written.spool.flush().err();
        }
        if taken.done {
            return written;
        }
    }
}

fn write_rows(rows: &[Access], written: &mut Written) {
    let before = match written.error {
        Some(_) => 0,
        None => match written.spool.push_all(rows) {
            Ok(()) => return,
            Err((before, error)) => {
                written.error = Some(error);
                before
            }
        },
    };
    written.lost += (rows.len() - before) as u64;
}

/// Waits for a full batch, for the end, or until the time is up, and takes all that there is. Gives
/// the memory of written batches back.
fn take(shared: &Shared, taken: &mut Taken) {
    let queue = shared.lock();
    let waited = shared
        .more
        .wait_timeout_while(queue, BATCH_TIME, |queue| queue.len() < BATCH_ROWS && !queue.done);
    let (mut queue, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
    taken.names.append(&mut queue.names);
    let rows = taken.batches.pop().unwrap_or_default();
    queue.spare.append(&mut taken.batches);
    let rows = std::mem::replace(&mut queue.rows, rows);
    taken.batches.append(&mut queue.batches);
    taken.batches.push(rows);
    queue.batched = 0;
    (taken.done, taken.late) = (queue.done, timeout.timed_out());
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::Op;

    #[test]
    fn rows_come_out_as_they_went_in_however_many_at_a_time() {
        let rows = Rows::unwritten();
        let mut number = 0;
        for count in [3, FEW_ROWS, 1, 2, FEW_ROWS + 5, FEW_ROWS, 7] {
            let mut some = Vec::new();
            for _ in 0..count {
                some.push(Access { time_ns: number, ..Access::new(Op::Read, 0) });
                number += 1;
            }
            rows.push_all(&mut some);
        }
        rows.shared.lock().done = true;
        let mut taken = Taken::default();
        take(&rows.shared, &mut taken);
        let times: Vec<u64> = taken.batches.iter().flatten().map(|row| row.time_ns).collect();
        assert_eq!(times, (0..number).collect::<Vec<u64>>());
    }
}
