//! A large read of an entry whose chunks can be inflated one by one. A chunk is decoded as soon as
//! the blocks that hold it have come: by any worker, and by several at the same time.
//!
//! Blocks are taken in their order. Each worker has the memory of its chunk's content for itself;
//! once a chunk is decoded, it is joined to those before it. Most blocks are in memory when all
//! wait for the first chunk, and even the largest chunk that an archive may claim lies in fewer.

use super::{Block, Line, Means, Progress, Streamed};
use crate::buffer::Buffer;
use crate::error::Error;
use crate::lock;
use crate::memory::Memory;
use crate::sources::{Item, Sources};
use seekless_engine::{AlignedBuf, Completion, Piece};
use seekless_pack::{Chunks, data_offset};
use seekless_policy::eviction::Id;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

/// One large read.
pub(crate) struct Chunked {
    id: Id,
    chunks: Arc<Chunks>,
    state: Mutex<State>,
}

struct State {
    line: Line,
    /// Blocks that have ended before one that comes earlier in the entry.
    came: BTreeMap<usize, Completion>,
    /// How many blocks were taken, and their bytes from the beginning of the read on.
    taken: usize,
    bytes: u64,
    /// Blocks that hold data of chunks that are not ready.
    blocks: VecDeque<Arc<Held>>,
    /// Where the entry's data begins in the read, once the first block has been taken.
    start: Option<u64>,
    /// Chunks from this one on are not ready, and this is the memory for them.
    next: usize,
    empty: Option<Piece>,
    ready: VecDeque<Job>,
    running: usize,
    /// Chunks up to this one are decoded: the content so far. Later ones wait for their turn.
    decoded: usize,
    content: Option<Piece>,
    early: BTreeMap<usize, Piece>,
    /// Whether nothing more is to be read or decoded.
    stopped: bool,
    error: Option<Error>,
    is_over: bool,
}

/// A block in memory, and where it lies in the read.
struct Held {
    offset: u64,
    bytes: AlignedBuf,
}

impl Held {
    fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// What the block has of the bytes `range` of the read.
    fn part(&self, range: &Range<u64>) -> &[u8] {
        let within = |at: u64| (at.clamp(self.offset, self.end()) - self.offset) as usize;
        &self.bytes[within(range.start)..within(range.end)]
    }
}

/// A chunk to be decoded.
struct Job {
    number: usize,
    /// Where its data lies in the read, and the blocks that hold it.
    data: Range<u64>,
    blocks: Vec<Arc<Held>>,
    out: Piece,
}

impl Chunked {
    /// Begins a large read of one entry. Adds the blocks to be submitted.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(super) fn begin(
        Means { sources, memory }: Means<'_>,
        line: Line,
        id: Id,
        chunks: Arc<Chunks>,
        long_lived: bool,
        out: &mut Vec<Block>,
    ) -> io::Result<Self> {
        let bytes = usize::try_from(sources.bytes(id)).unwrap_or(usize::MAX);
        let mut state = State {
            line,
            came: BTreeMap::new(),
            taken: 0,
            bytes: 0,
            blocks: VecDeque::new(),
            start: None,
            next: 0,
            empty: Some(memory.content(bytes, long_lived)?),
            ready: VecDeque::new(),
            running: 0,
            decoded: 0,
            content: None,
            early: BTreeMap::new(),
            stopped: false,
            error: None,
            is_over: false,
        };
        state.fill_line(&chunks, memory, out)?;
        Ok(Self { id, chunks, state: Mutex::new(state) })
    }

    /// A block has ended. Takes all blocks whose turn has come.
    pub(super) fn ended(
        &self,
        means: Means<'_>,
        block: usize,
        completion: Completion,
        submit: &mut dyn FnMut(Block),
    ) -> Progress {
        let mut state = lock(&self.state);
        state.came.insert(block, completion);
        let before = state.ready.len();
        while let Some(completion) = state.next_block() {
            if let Err(error) = self.take(&mut state, means.sources, completion) {
                state.fail(error);
            }
        }
        let chunks = state.ready.len().saturating_sub(before);
        Progress { chunks, ..self.go_on(state, means, submit) }
    }

    /// Decodes a chunk, if one is ready.
    pub(super) fn decode(&self, means: Means<'_>, submit: &mut dyn FnMut(Block)) -> Progress {
        let job = {
            let mut state = lock(&self.state);
            let Some(job) = state.ready.pop_front() else { return Progress::default() };
            state.running += 1;
            job
        };
        let number = job.number;
        let decoded = catch_unwind(AssertUnwindSafe(|| self.inflate(means.sources, job)));
        let decoded = decoded.unwrap_or_else(|_| Err(Error::abandoned(&means.sources.at(self.id))));
        let mut state = lock(&self.state);
        state.running -= 1;
        match decoded {
            Ok(content) => state.join(number, content),
            Err(error) => state.fail(error),
        }
        self.go_on(state, means, submit)
    }

    /// Takes the next block in order, and finds the chunks that are now whole.
    fn take(
        &self,
        state: &mut State,
        sources: &Sources,
        completion: Completion,
    ) -> Result<(), Error> {
        if state.stopped {
            return Ok(());
        }
        let Completion { buffer, result, .. } = completion;
        result.map_err(|error| Error::read(&sources.at(self.id), error))?;
        // The file ends here; whether the entry does too is seen at the end.
        let is_short = buffer.len() < buffer.capacity();
        let held = Held { offset: state.bytes, bytes: buffer };
        state.bytes = held.end();
        let start = match state.start {
            Some(start) => start,
            None => *state.start.insert(self.data_start(state, sources, &held)?),
        };
        state.blocks.push_back(Arc::new(held));
        while state.next < self.chunks.len() {
            let data = self.chunks.data(state.next);
            let data = start + data.start..start + data.end;
            if data.end > state.bytes {
                break;
            }
            state.make_ready(data, self.chunks.chunk_bytes());
        }
        state.stopped |= is_short;
        Ok(())
    }

    /// Where the data begins in the read; `first` is its first block.
    fn data_start(&self, state: &State, sources: &Sources, first: &Held) -> Result<u64, Error> {
        let before = sources.extents[self.id as usize].offset - state.line.extent.offset;
        let head = first.bytes.get(before as usize..).unwrap_or_default();
        let Item::Packed { archive, entry, name } = sources.item(self.id) else {
            return Err(Error::abandoned(&sources.at(self.id)));
        };
        let start = data_offset(&entry, name, head);
        Ok(before + start.map_err(|error| Error::undecoded(&archive.path, error))?)
    }

    fn inflate(&self, sources: &Sources, job: Job) -> Result<Piece, Error> {
        let Job { number, data, blocks, mut out } = job;
        let Item::Packed { archive, entry, name } = sources.item(self.id) else {
            return Err(Error::abandoned(&sources.at(self.id)));
        };
        let parts = blocks.iter().map(|block| block.part(&data));
        let inflated = self.chunks.inflate(&entry, name, number, parts, &mut out);
        inflated.map_err(|error| Error::undecoded(&archive.path, error)).map(|()| out)
    }

    /// Submits the blocks for which there is room now; ends the read if nothing is left to do.
    fn go_on(
        &self,
        mut state: MutexGuard<'_, State>,
        means: Means<'_>,
        submit: &mut dyn FnMut(Block),
    ) -> Progress {
        let mut blocks = Vec::new();
        if let Err(error) = state.fill_line(&self.chunks, means.memory, &mut blocks) {
            state.fail(Error::no_memory(&means.sources.at(self.id), &error));
        }
        let streamed = state.has_ended().then(|| {
            state.is_over = true;
            let result = self.result(&mut state, means);
            // What is answered now must not be held for a moment longer.
            state.early.clear();
            (state.content, state.empty) = (None, None);
            Streamed { id: self.id, bytes: state.bytes, result }
        });
        drop(state);
        blocks.into_iter().for_each(submit);
        Progress { chunks: 0, streamed }
    }

    fn result(&self, state: &mut State, means: Means<'_>) -> Result<Buffer, Error> {
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        match state.content.take() {
            Some(content) if state.decoded == self.chunks.len() => {
                Ok(Buffer::new(content.freeze(means.memory.protects())))
            }
            _ => {
                let whole = means.sources.extents[self.id as usize];
                let found = (state.line.extent.offset + state.bytes).saturating_sub(whole.offset);
                Err(Error::truncated(&means.sources.at(self.id), found))
            }
        }
    }
}

impl State {
    /// Makes a block of each request that may be in flight now.
    fn fill_line(
        &mut self,
        chunks: &Chunks,
        memory: &Memory,
        out: &mut Vec<Block>,
    ) -> io::Result<()> {
        let used = match self.start {
            Some(start) if self.decoded > 0 => start + chunks.data(self.decoded - 1).end,
            _ => 0,
        };
        while !self.stopped
            && self.line.has_room(used)
            && let Some(bytes) = self.line.next_bytes()
        {
            out.extend(self.line.submit(memory.read_buffer(bytes)?));
        }
        Ok(())
    }

    fn next_block(&mut self) -> Option<Completion> {
        let completion = self.came.remove(&self.taken)?;
        self.taken += 1;
        Some(completion)
    }

    /// The next chunk, whose data lies at `data` of the read, can be decoded.
    fn make_ready(&mut self, data: Range<u64>, chunk_bytes: u64) {
        let Some(mut out) = self.empty.take() else { return };
        self.empty = out.split_off(chunk_bytes as usize);
        let blocks = self.blocks.iter().filter(|block| block.offset < data.end).cloned().collect();
        while self.blocks.front().is_some_and(|block| block.end() <= data.end) {
            self.blocks.pop_front();
        }
        self.ready.push_back(Job { number: self.next, data, blocks, out });
        self.next += 1;
    }

    /// A chunk has been decoded.
    fn join(&mut self, number: usize, content: Piece) {
        self.early.insert(number, content);
        while let Some(next) = self.early.remove(&self.decoded) {
            match &mut self.content {
                Some(content) => content.append(next),
                None => self.content = Some(next),
            }
            self.decoded += 1;
        }
    }

    fn fail(&mut self, error: Error) {
        self.stopped = true;
        self.error.get_or_insert(error);
        self.ready.clear();
        self.blocks.clear();
    }

    /// Whether all blocks have ended and nothing is being decoded, for the first time.
    fn has_ended(&self) -> bool {
        let is_read = self.taken == self.line.submitted;
        is_read && self.running == 0 && self.ready.is_empty() && !self.is_over
    }
}
