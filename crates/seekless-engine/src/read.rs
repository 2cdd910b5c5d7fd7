//! The interface of an engine: reads and writes go in, completions come out, and both are counted.

use crate::AlignedBuf;
use crate::done::Done;
use crate::tally::Counters;
use crate::write::Write;
use seekless_device::{Costs, Nanos};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// One read to be made.
#[derive(Debug)]
pub struct Read {
    /// The file to read. Opened with O_DIRECT, its offsets and lengths must be aligned as the file
    /// demands.
    pub file: Arc<File>,
    /// First byte to read.
    pub offset: u64,
    /// Where the bytes go; its capacity is the length asked for.
    pub buffer: AlignedBuf,
    /// The caller's name for this read, handed back with it.
    pub tag: u64,
    /// Where the completion goes.
    pub done: Done,
}

/// A read or write that has ended, well or badly.
#[derive(Debug)]
pub struct Completion {
    /// Its tag.
    pub tag: u64,
    /// The read's buffer; its length is the number of bytes read. Empty for a write.
    pub buffer: AlignedBuf,
    /// Bytes read, fewer than asked only at the end of the file; or bytes written, all of them; or
    /// the error of this one alone.
    pub result: io::Result<usize>,
    /// The bytes of a read came from a cache before the device: the time that it took says nothing
    /// of the device.
    pub cached: bool,
}

/// The buffer of a read that has ended, and the bytes read or the error.
pub type BufferAndResult = (AlignedBuf, io::Result<usize>);

/// What an engine has opened by a name of its own, such as an object in object storage.
#[derive(Debug)]
pub struct Opened {
    /// Stands for it in the [`Read`]s of this engine. It is no file that anything else can read:
    /// each attempt fails with `EBADF`.
    pub file: Arc<File>,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its last bytes, which came with the request that opened it.
    pub tail: AlignedBuf,
}

/// Something that reads and writes.
///
/// Each submitted read or write completes exactly once, once its caller [drives](Engine::drive) the
/// engine if it must be driven, also when the engine is dropped first: what the kernel has is
/// waited for, what still waits in line completes with `ECANCELED`.
pub trait Engine: Send + Sync {
    /// Starts these reads, handing as many as fit to the kernel at once. Does not block on I/O.
    fn submit(&self, reads: Vec<Read>);
    /// Makes one read and returns when it has ended: for a caller that waits for it anyway. Engines
    /// that can make it on the calling thread do, since on a fast device the way to another thread
    /// and back takes as long as the read.
    fn read_now(&self, file: Arc<File>, offset: u64, buffer: AlignedBuf) -> BufferAndResult {
        let (done, ended) = channel();
        self.submit(vec![Read { file, offset, buffer, tag: 0, done: done.into() }]);
        match ended.recv() {
            Ok(Completion { buffer, result, .. }) => (buffer, result),
            Err(_) => (AlignedBuf::default(), Err(io::Error::other("the engine dropped a read"))),
        }
    }
    /// Starts these writes. A device may carry out what is in flight in any order, so two writes of
    /// one place must not be in flight together. By default the calling thread makes them.
    fn write(&self, writes: Vec<Write>) {
        writes.into_iter().for_each(Write::run);
    }
    /// Makes one write; its completion has been sent when this returns.
    fn write_now(&self, write: Write) {
        let (done, ended) = channel();
        let answer = write.done.clone();
        self.write(vec![Write { done: done.into(), ..write }]);
        if let Ok(completion) = ended.recv() {
            answer.send(completion);
        }
    }
    /// Returns when the device has all that was written to the file by writes that have completed:
    /// fdatasync, or fsync unless `data_only`.
    ///
    /// # Errors
    /// The device does not have it.
    fn sync_now(&self, file: &File, data_only: bool) -> io::Result<()> {
        if data_only { file.sync_data() } else { file.sync_all() }
    }
    /// Gives the file a new size: ftruncate.
    ///
    /// # Errors
    /// The file system refuses it.
    fn resize_now(&self, file: &File, bytes: u64) -> io::Result<()> {
        file.set_len(bytes)
    }
    /// Does the work of an engine that has no thread of its own: sends what has ended to the
    /// channels, and with `wait`, if nothing has, waits until something does. Returns false at once
    /// if the engine works by itself: then the channel is what to wait at.
    ///
    /// What a caller waits for may be sent before this call waits, on behalf of another thread. So
    /// callers that share an engine look at their channels one at a time, or expect to wait for one
    /// read more.
    fn drive(&self, _wait: bool) -> bool {
        false
    }
    /// What has been read so far.
    fn counters(&self) -> Counters;
    /// Which engine this is and, after a fallback, why.
    fn name(&self) -> &'static str;
    /// What a read costs on the device behind this engine: the model's figures, or those of a plain
    /// flash drive.
    fn costs(&self) -> Costs;
    /// Whether [`Engine::costs`] is known of the device, from its model or from the user. If not,
    /// it is what is assumed of any.
    fn knows_costs(&self) -> bool {
        true
    }
    /// The ranges of `file` that lie nearer than the device, such as in a cache on the local disk:
    /// reading them takes none of its requests. In order, and apart from each other.
    fn near(&self, _file: &Arc<File>) -> Vec<Range<u64>> {
        Vec::new()
    }
    /// What its own requests have cost so far, of an engine that measures each of them: better than
    /// the ends of reads show it.
    fn learned_costs(&self) -> Option<Costs> {
        None
    }
    /// The time on the clock of the device, in nanoseconds: a model may keep its own.
    fn now(&self) -> Nanos {
        static STARTED: OnceLock<Instant> = OnceLock::new();
        let passed = STARTED.get_or_init(Instant::now).elapsed();
        Nanos::try_from(passed.as_nanos()).unwrap_or(Nanos::MAX)
    }
    /// Opens what `path` names, if it is a name of this engine's and not of a file: then with one
    /// request, which also brings the last `tail_bytes` of it. Blocks until it has ended.
    ///
    /// # Errors
    /// It is not there, or cannot be read. The message says what to do; the name is the caller's.
    fn open(&self, _path: &Path, _tail_bytes: u64) -> Option<io::Result<Opened>> {
        None
    }
    /// Accounts for the requests by which the caller opened a file without the engine. Blocks as
    /// long as the device model says, where there is one; counts nothing otherwise.
    fn opened(&self) {}
}
