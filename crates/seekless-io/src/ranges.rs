//! Parts of files: of a stored entry only the blocks that hold the part are read.

use crate::archive::fetch;
use crate::error::Error;
use crate::read_cache::ReadData;
use crate::shared::Shared;
use crate::sources::Item;
use crate::{Buffer, Result, Store};
use seekless_pack::{Chunks, Entry, Position, data_offset};
use seekless_policy::eviction::Id;
use seekless_policy::layout::extents::Extent;
use seekless_policy::planner::READ_BYTES_MAX;
use std::ops::Range;
use std::sync::Arc;

/// The fixed part of a local header, and the extra fields that most tools add.
const HEADER_BYTES: u64 = 30 + 256;

/// The fixed part, and name and extra fields at their longest.
const HEADER_BYTES_MAX: u64 = 30 + 2 * 65_535;

/// Content that is decoded only to reach a later part goes through a buffer of this size, again and
/// again.
const SKIPPED_BYTES: u64 = 64 << 10;

/// The least that is read at once of data which is decoded as a stream.
const STREAM_BYTES_MIN: u64 = 32 << 10;

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
    /// - A deflated entry of over 4 MiB in a pack that Seekless made: the chunks of 1 MiB that hold
    ///   the range are read and decoded ([`Chunks`]), and their CRCs checked. The last of them is
    ///   kept, so that small ranges that follow one another read and decode each chunk once.
    /// - Any other compressed entry that the cache can keep ([`Store::kept_file_bytes`]): a
    ///   [`Store::load`] of all of it; the range is a part of that.
    /// - A larger one: it is decoded from the nearest place before the range at which the store can
    ///   go on, in memory for the range alone. Such places are where the last range ended, and of
    ///   deflated data points at some distance, which all together take an eighth of the cache at
    ///   most. So ranges that follow one another cost what they hold, and the first one elsewhere
    ///   what lies before it. The CRC is checked when a range reaches the end of the content.
    ///
    /// # Errors
    /// As [`Store::load`]; the limit of [`max_entry_bytes`](crate::StoreBuilder::max_entry_bytes)
    /// holds for the range, and for an entry that is loaded for it.
    pub fn read_range(&self, name: &str, range: Range<u64>) -> Result<Buffer> {
        let id = self.find(name)?;
        let shared = self.shared();
        let end = range.end.min(shared.sources.bytes(id));
        let range = range.start.min(end)..end;
        if let Some(whole) = shared.hit(id) {
            return Ok(whole.part(range));
        }
        let chunks = shared.sources.chunks(id);
        let is_coded = chunks.is_none() && !shared.sources.is_stored(id);
        if is_coded && shared.sources.bytes(id) <= shared.kept_file_bytes() {
            return Ok(self.load(name)?.part(range));
        }
        let (bytes, limit) = (range.end - range.start, shared.max_entry_bytes);
        match (bytes, chunks) {
            (0, _) => shared.copied(id, &[]),
            _ if bytes > limit => Err(Error::too_large(&shared.sources.at(id), bytes, limit)),
            (_, None) if is_coded => shared.read_stream(id, range),
            (_, None) => shared.read_range(id, range),
            (_, Some(chunks)) => shared.read_chunks(id, &chunks, range),
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
        self.count_range(extent.bytes, extent.bytes);
        match read.part(within.clone()) {
            Some(part) => Ok(Buffer::new(part)),
            None => self.copied(id, &read.bytes()[within]),
        }
    }

    /// Counts a range that used this many of the bytes read.
    fn count_range(&self, bytes: u64, used_bytes: u64) {
        let mut state = self.drained();
        state.statistics.ranges += 1;
        state.statistics.delivered_bytes += bytes;
        state.statistics.unused_bytes = state.statistics.unused_bytes.saturating_sub(used_bytes);
    }

    /// Reads the chunks that hold a part of an entry, which is not empty.
    fn read_chunks(&self, id: Id, chunks: &Chunks, range: Range<u64>) -> Result<Buffer> {
        let wanted = chunks.holding(range.clone());
        let begin = chunks.content(wanted.start).start;
        let part = range.start - begin..range.end - begin;
        if wanted.len() == 1
            && let Some(content) = self.last_chunk.get(id, wanted.start)
        {
            self.count_range(range.end - range.start, 0);
            return Ok(content.part(part));
        }
        let data = self.content_offset(id)?;
        let bytes = chunks.content(wanted.end - 1).end - begin;
        let no_memory = |error| Error::no_memory(&self.sources.at(id), &error);
        let mut content = self.memory.content(bytes as usize, false).map_err(no_memory)?;
        let (mut next, mut used_bytes) = (wanted.start, 0);
        while next < wanted.end {
            // As many as one request brings.
            let first = chunks.data(next).start;
            let fits = |&number: &usize| chunks.data(number).end - first <= READ_BYTES_MAX;
            let end = next + (next..wanted.end).take_while(fits).count().max(1);
            let extent = Extent { offset: data + first, bytes: chunks.data(end - 1).end - first };
            let read = self.fetched(id, extent)?;
            for number in next..end {
                let of = chunks.data(number);
                let of = Extent { offset: data + of.start, bytes: of.end - of.start };
                let place = chunks.content(number);
                let out = (place.start - begin) as usize..(place.end - begin) as usize;
                self.inflate(id, chunks, number, &read, of, &mut content[out])?;
            }
            (next, used_bytes) = (end, used_bytes + extent.bytes);
        }
        self.count_range(range.end - range.start, used_bytes);
        let content = Buffer::new(content.freeze(self.memory.protects()));
        if wanted.len() == 1 {
            self.last_chunk.set(id, wanted.start, &content);
        }
        Ok(content.part(part))
    }

    /// Decodes a chunk, whose data lies at `data` and has been read.
    fn inflate(
        &self,
        id: Id,
        chunks: &Chunks,
        number: usize,
        read: &ReadData,
        data: Extent,
        out: &mut [u8],
    ) -> Result<()> {
        let range = read.range(data).map_err(|found| {
            let before = data.offset - self.sources.extents[id as usize].offset;
            Error::truncated(&self.sources.at(id), before + found)
        })?;
        let Item::Packed { archive, entry, name } = self.sources.item(id) else {
            return Err(Error::abandoned(&self.sources.at(id)));
        };
        let inflated = chunks.inflate(&entry, name, number, [&read.bytes()[range]], out);
        inflated.map_err(|error| Error::undecoded(&archive.path, error))
    }

    /// Where the data of an entry begins in the archive, or the content of a loose file.
    pub(crate) fn content_offset(&self, id: Id) -> Result<u64> {
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
                Err(error) => return Err(Error::undecoded(&archive.path, error)),
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
    /// Decodes a part of a coded entry, which is not empty, from the nearest place before it.
    fn read_stream(&self, id: Id, range: Range<u64>) -> Result<Buffer> {
        let Item::Packed { archive, entry, name } = self.sources.item(id) else {
            return Err(Error::abandoned(&self.sources.at(id)));
        };
        let undecoded = |error| Error::undecoded(&archive.path, error);
        let data = self.content_offset(id)?;
        let mut position = match self.positions.nearest(id, range.start) {
            Some(position) => position,
            None => Position::start(&entry, name).map_err(undecoded)?,
        };
        let no_memory = |error| Error::no_memory(&self.sources.at(id), &error);
        let bytes = (range.end - range.start) as usize;
        let mut content = self.memory.content(bytes, false).map_err(no_memory)?;
        let mut skipped = vec![0; SKIPPED_BYTES.min(range.start - position.content()) as usize];
        let spacing = self.positions.spacing(entry.bytes);
        let begun = position.data();
        while position.content() < range.end {
            let extent = next_data(&entry, &position, range.end);
            let extent = Extent { offset: data + extent.offset, ..extent };
            let read = match extent.bytes {
                0 => None, // all has been read
                _ => Some(self.fetched(id, extent)?),
            };
            let mut rest = match &read {
                None => &[][..],
                Some(read) => {
                    let found = read.range(extent).map_err(|found| {
                        let before = extent.offset - self.sources.extents[id as usize].offset;
                        Error::truncated(&self.sources.at(id), before + found)
                    });
                    &read.bytes()[found?]
                }
            };
            while position.content() < range.end {
                let at = position.content();
                let to_point = spacing - at % spacing;
                let out = match at.checked_sub(range.start) {
                    Some(within) => &mut content[within as usize..],
                    None => {
                        let bytes = (range.start - at).min(skipped.len() as u64);
                        &mut skipped[..bytes as usize]
                    }
                };
                let room = to_point.min(out.len() as u64) as usize;
                let step =
                    position.step(&entry, name, rest, &mut out[..room]).map_err(undecoded)?;
                rest = &rest[step.taken..];
                if step.made > 0 && position.content() % spacing == 0 {
                    self.positions.add_point(id, &position);
                }
                if (step.taken, step.made) == (0, 0) {
                    break;
                }
            }
        }
        self.count_range(range.end - range.start, position.data() - begun);
        self.positions.set_last(id, position);
        Ok(Buffer::new(content.freeze(self.memory.protects())))
    }

    /// A buffer of its own with these bytes, which are of entry `id`.
    fn copied(&self, id: Id, bytes: &[u8]) -> Result<Buffer> {
        let copy = self.memory.copy_of(bytes, false);
        copy.map_err(|error| Error::no_memory(&self.sources.at(id), &error))
    }
}

/// The data to be read next, in bytes from the beginning of the entry's data, to decode up to byte
/// `end` of the content: about as much as that needs. Empty once all has been used.
fn next_data(entry: &Entry, position: &Position, end: u64) -> Extent {
    let rest = entry.coded_bytes.saturating_sub(position.data());
    let content = u128::from(end - position.content());
    let share = content * u128::from(entry.coded_bytes) / u128::from(entry.bytes.max(1));
    let wanted = u64::try_from(share + share / 16).unwrap_or(u64::MAX);
    let bytes = wanted.clamp(STREAM_BYTES_MIN, READ_BYTES_MAX).min(rest);
    Extent { offset: position.data(), bytes }
}
