//! Parts of files: of a stored entry only the blocks that hold the part are read.

use crate::archive::fetch;
use crate::error::Error;
use crate::lock;
use crate::read_cache::ReadData;
use crate::shared::Shared;
use crate::sources::Item;
use crate::{Buffer, Result, Store};
use seekless_pack::data_offset;
use seekless_policy::eviction::Id;
use seekless_policy::extents::Extent;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// The fixed part of a local header, and the extra fields that most tools add.
const HEADER_BYTES: u64 = 30 + 256;

/// The fixed part, and name and extra fields at their longest.
const HEADER_BYTES_MAX: u64 = 30 + 2 * 65_535;

impl Store {
    /// The bytes `range` of the file called `name`. As with `pread`, a range that reaches past the
    /// file's end is cut there, and one that begins there or later is empty.
    ///
    /// What it costs:
    ///
    /// - A file that the cache has: nothing; the range shares the cached memory.
    /// - A stored entry, or a loose file: one request for the blocks that hold the range. Before
    ///   the first range of an entry, one for its local header, which says where the content
    ///   begins. Nothing is cached, and the CRC, which is of the whole content, is not checked.
    /// - A compressed entry: a [`Store::load`] of all of it, of which the range is a part, since
    ///   decoding begins at the start. It is cached like any load; a file over half of the cache is
    ///   not, and so is decoded again for each range.
    ///
    /// # Errors
    /// As [`Store::load`]; the limit of [`max_entry_bytes`](crate::StoreBuilder::max_entry_bytes)
    /// holds for the range of a stored entry, and for all of a compressed one.
    pub fn read_range(&self, name: &str, range: Range<u64>) -> Result<Buffer> {
        let id = self.find(name)?;
        let shared = self.shared();
        let end = range.end.min(shared.sources.bytes(id));
        let range = range.start.min(end)..end;
        if let Some(whole) = shared.hit(id) {
            return Ok(whole.part(range));
        }
        if !shared.sources.is_stored(id) {
            return Ok(self.load(name)?.part(range));
        }
        let (bytes, limit) = (range.end - range.start, shared.max_entry_bytes);
        match bytes {
            0 => shared.copied(id, &[]),
            _ if bytes > limit => Err(Error::too_large(&shared.sources.at(id), bytes, limit)),
            _ => shared.read_range(id, range),
        }
    }
}

impl Shared {
    /// Reads a part of a stored entry, which is not empty.
    fn read_range(&self, id: Id, range: Range<u64>) -> Result<Buffer> {
        let begin = self.content_offset(id)?;
        let extent = Extent { offset: begin + range.start, bytes: range.end - range.start };
        let read = self.fetched(id, extent)?;
        let within = read.range(extent).map_err(|found| {
            let before = extent.offset - self.sources.extents[id as usize].offset;
            Error::truncated(&self.sources.at(id), before + found)
        })?;
        let mut state = self.drained();
        state.statistics.ranges += 1;
        state.statistics.delivered_bytes += extent.bytes;
        state.statistics.unused_bytes -= extent.bytes;
        drop(state);
        match read.part(within.clone()) {
            Some(part) => Ok(Buffer::new(part)),
            None => self.copied(id, &read.bytes()[within]),
        }
    }

    /// Where the content of a stored entry begins in the archive.
    fn content_offset(&self, id: Id) -> Result<u64> {
        if let Some(offset) = self.content_offsets.get(id) {
            return Ok(offset);
        }
        let whole = self.sources.extents[id as usize];
        let Item::Packed { archive, entry, name } = self.sources.item(id) else {
            return Ok(whole.offset);
        };
        let mut longest = HEADER_BYTES + name.len() as u64;
        loop {
            let head = Extent { bytes: whole.bytes.min(longest), ..whole };
            let read = self.fetched(id, head)?;
            let found = match read.range(head) {
                Ok(range) => data_offset(&entry, name, &read.bytes()[range]),
                Err(found) => return Err(Error::truncated(&self.sources.at(id), found)),
            };
            match found {
                Ok(start) => {
                    self.content_offsets.set(id, whole.offset + start);
                    return Ok(whole.offset + start);
                }
                Err(_) if head.bytes < whole.bytes.min(HEADER_BYTES_MAX) => {
                    longest = HEADER_BYTES_MAX;
                }
                Err(error) => return Err(Error::corrupt(&archive.path, error)),
            }
        }
    }

    /// Reads the blocks that hold `extent`, which lies in entry `id`.
    fn fetched(&self, id: Id, extent: Extent) -> Result<Arc<ReadData>> {
        let blocks = extent.aligned(self.sources.alignment);
        let read = self.sources.file(blocks.offset).and_then(|(file, offset)| {
            let buffer = self.memory.read_buffer(blocks.bytes)?;
            fetch(&*self.engine, &file, offset, buffer)
        });
        let read =
            read.map_err(|error| Error::read(&self.sources.at_offset(id, extent.offset), error))?;
        let read = ReadData::new(blocks.offset, read);
        let mut state = self.drained();
        state.statistics.read_bytes += read.extent().bytes;
        state.statistics.unused_bytes += read.extent().bytes;
        drop(state);
        Ok(Arc::new(read))
    }
}

impl Shared {
    /// A buffer of its own with these bytes, which are of entry `id`.
    fn copied(&self, id: Id, bytes: &[u8]) -> Result<Buffer> {
        let copy = self.memory.copy_of(bytes, false);
        copy.map_err(|error| Error::no_memory(&self.sources.at(id), &error))
    }
}

/// Where the content of stored entries begins, as far as it has been looked up.
#[derive(Default)]
pub(crate) struct ContentOffsets(Mutex<HashMap<Id, u64>>);

impl ContentOffsets {
    fn get(&self, id: Id) -> Option<u64> {
        lock(&self.0).get(&id).copied()
    }

    fn set(&self, id: Id, offset: u64) {
        lock(&self.0).insert(id, offset);
    }
}
