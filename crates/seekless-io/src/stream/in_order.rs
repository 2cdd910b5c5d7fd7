//! A large read whose blocks are used one after the other. The worker that gets the next block in
//! order decodes it and all that have come after it; others go on with other reads. A stored
//! entry's blocks are read into one buffer, which is handed out; of a coded entry each block has a
//! buffer for itself until it is decoded.

use super::{Block, Line, Means, Streamed};
use crate::buffer::Buffer;
use crate::error::Error;
use crate::lock;
use crate::memory::Memory;
use crate::sources::{Item, Sources};
use seekless_engine::{AlignedBuf, Completion, Piece};
use seekless_pack::{Method, Pieces};
use seekless_policy::eviction::Id;
use seekless_policy::layout::extents::Extent;
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// One large read.
pub(crate) struct InOrder(Mutex<Inbox>);

struct Inbox {
    /// Blocks that have ended and were not used yet.
    came: BTreeMap<usize, Completion>,
    /// Absent while a worker uses blocks.
    flow: Option<Flow>,
}

/// How far a large read has got.
struct Flow {
    line: Line,
    id: Id,
    used: usize,
    /// Absent for a loose file, which is content and nothing else.
    pieces: Option<Pieces>,
    content: Content,
    /// Bytes used from the beginning of the read on.
    bytes: u64,
    /// Whether nothing more is to be read.
    stopped: bool,
    error: Option<Error>,
}

enum Content {
    Coded(Piece),
    /// The blocks that were not submitted yet, and those that were read.
    Stored {
        rest: Option<Piece>,
        read: Option<Piece>,
    },
}

impl InOrder {
    /// Begins a large read of one entry. Adds the blocks to be submitted.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(super) fn begin(
        Means { sources, memory }: Means<'_>,
        line: Line,
        id: Id,
        long_lived: bool,
        out: &mut Vec<Block>,
    ) -> io::Result<Self> {
        let extent = line.extent;
        let stored = || -> io::Result<Content> {
            Ok(Content::Stored { rest: Some(memory.read_piece(extent.bytes)?), read: None })
        };
        let (pieces, content) = match sources.item(id) {
            Item::Loose { .. } => (None, stored()?),
            Item::Packed { entry, name, .. } => {
                let content = match entry.method {
                    Method::Deflate | Method::Zstd | Method::Other(_) => {
                        let bytes = usize::try_from(entry.bytes).unwrap_or(usize::MAX);
                        Content::Coded(memory.content(bytes, long_lived)?)
                    }
                    Method::Stored => stored()?,
                };
                (Some(Pieces::new(&entry, name).map_err(io::Error::other)?), content)
            }
        };
        let mut flow =
            Flow { line, id, used: 0, pieces, content, bytes: 0, stopped: false, error: None };
        while flow.line.submitted < flow.line.in_flight_max
            && let Some(block) = flow.next_block(memory)?
        {
            out.push(block);
        }
        Ok(Self(Mutex::new(Inbox { came: BTreeMap::new(), flow: Some(flow) })))
    }

    /// A block has ended. Uses all blocks whose turn has come, unless another worker does, and
    /// calls `submit` with each further one to be read.
    pub(super) fn ended(
        &self,
        means: Means<'_>,
        block: usize,
        completion: Completion,
        submit: &mut dyn FnMut(Block),
    ) -> Option<Streamed> {
        let Means { sources, memory } = means;
        let mut flow = {
            let mut inbox = lock(&self.0);
            inbox.came.insert(block, completion);
            inbox.flow.take()?
        };
        loop {
            let completion = {
                let mut inbox = lock(&self.0);
                match inbox.came.remove(&flow.used) {
                    Some(completion) => completion,
                    None if flow.used == flow.line.submitted => break,
                    None => {
                        inbox.flow = Some(flow);
                        return None;
                    }
                }
            };
            flow.used += 1;
            let used = catch_unwind(AssertUnwindSafe(|| flow.use_block(sources, completion)));
            let used = used.unwrap_or_else(|_| Err(Error::abandoned(&sources.at(flow.id))));
            match used.and_then(|()| {
                flow.next_block(memory).map_err(|error| flow.failed(sources, &error))
            }) {
                Ok(next) => next.into_iter().for_each(&mut *submit),
                Err(error) => {
                    flow.stopped = true;
                    flow.error.get_or_insert(error);
                }
            }
        }
        Some(flow.finish(sources, memory))
    }
}

impl Flow {
    /// The next block to be submitted, if there is one.
    fn next_block(&mut self, memory: &Memory) -> io::Result<Option<Block>> {
        let Some(bytes) = self.line.next_bytes().filter(|_| !self.stopped) else {
            return Ok(None);
        };
        let buffer = match &mut self.content {
            Content::Coded(_) => memory.read_buffer(bytes)?,
            Content::Stored { rest, .. } => {
                let mut block = rest.take().ok_or(io::ErrorKind::InvalidData)?;
                *rest = block.split_off(bytes as usize);
                AlignedBuf::from(block)
            }
        };
        Ok(self.line.submit(buffer))
    }

    fn failed(&self, sources: &Sources, error: &io::Error) -> Error {
        Error::no_memory(&sources.at(self.id), error)
    }

    /// Decodes the next block in order.
    fn use_block(&mut self, sources: &Sources, completion: Completion) -> Result<(), Error> {
        if self.stopped {
            return Ok(());
        }
        let Completion { buffer, result, .. } = completion;
        result.map_err(|error| Error::read(&sources.at(self.id), error))?;
        let asked = buffer.capacity();
        let whole = sources.extents[self.id as usize];
        // What rounding put before the entry is in the first block.
        let skip = whole.offset.saturating_sub(self.line.extent.offset + self.bytes) as usize;
        self.bytes += buffer.len() as u64;
        // The file ends here; whether the entry does too is seen at the end.
        self.stopped = buffer.len() < asked;
        let piece = buffer.get(skip..).unwrap_or_default();
        if let (Some(pieces), Item::Packed { archive, entry, name }) =
            (&mut self.pieces, sources.item(self.id))
        {
            let out = match &mut self.content {
                Content::Coded(content) => &mut content[..],
                Content::Stored { .. } => &mut [],
            };
            let added = pieces.add(&entry, name, piece, out);
            added.map_err(|error| Error::undecoded(&archive.path, error))?;
        }
        match &mut self.content {
            Content::Coded(_) => Ok(()),
            Content::Stored { read, .. } => {
                if let Ok(block) = buffer.into_piece() {
                    match read {
                        Some(read) => read.append(block),
                        None => *read = Some(block),
                    }
                }
                Ok(())
            }
        }
    }

    fn finish(self, sources: &Sources, memory: &Memory) -> Streamed {
        let (id, bytes) = (self.id, self.bytes);
        let read = Extent { bytes, ..self.line.extent };
        Streamed { id, bytes, result: self.decoded(sources, memory, read) }
    }

    /// The whole content; `read` is the extent that has been read.
    fn decoded(self, sources: &Sources, memory: &Memory, read: Extent) -> Result<Buffer, Error> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let (whole, item) = (sources.extents[self.id as usize], sources.item(self.id));
        let needed = match item {
            Item::Loose { bytes } => Extent { bytes, ..whole },
            Item::Packed { .. } => whole,
        };
        if !read.covers(needed) {
            let found = read.end().saturating_sub(whole.offset);
            return Err(Error::truncated(&sources.at(self.id), found));
        }
        let data = match (self.pieces, item) {
            (Some(pieces), Item::Packed { archive, entry, name }) => pieces
                .finish(&entry, name)
                .map_err(|error| Error::undecoded(&archive.path, error))?,
            _ => 0..needed.bytes,
        };
        let start = (whole.offset - read.offset) as usize;
        match self.content {
            Content::Coded(content) => Ok(Buffer::new(content.freeze(memory.protects()))),
            Content::Stored { read: Some(read), .. } => {
                let data = start + data.start as usize..start + data.end as usize;
                Ok(Buffer::new(read.freeze(false).part(data)))
            }
            // An engine gave back buffers that are not ours.
            Content::Stored { read: None, .. } => Err(Error::abandoned(&sources.at(self.id))),
        }
    }
}
