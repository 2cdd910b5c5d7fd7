//! Decodes one entry from the bytes of a read: checked, and inflated if it is compressed. A stored
//! entry that is not small is left in place.

use crate::archive::Archive;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::memory::Memory;
use crate::read_cache::ReadData;
use crate::sources::{Item, Sources};
use seekless_pack::{Entry, Method, coded_data, data_range, decode_to};
use seekless_policy::eviction::Id;
use seekless_policy::layout::extents::Extent;
use std::ops::Range;
use std::sync::Arc;

/// A stored entry of at least this size is handed out where the device put it: what it keeps of the
/// read are whole pages, at most a sixteenth more than it has bytes. A smaller one is copied once:
/// it shares its sectors with others, so the device cannot put it into memory of its own.
pub(crate) const IN_PLACE_BYTES: usize = 128 << 10;

/// The content of entry `id`, which must lie in `read`.
pub(crate) fn decode(
    sources: &Sources,
    memory: &Memory,
    read: &Arc<ReadData>,
    id: Id,
    long_lived: bool,
) -> Result<Buffer, Error> {
    let extent = sources.extents[id as usize];
    let within =
        |extent| read.range(extent).map_err(|found| Error::truncated(&sources.at(id), found));
    let no_memory = |error| Error::no_memory(&sources.at(id), &error);
    match sources.item(id) {
        Item::Loose { bytes } => {
            let data = within(Extent { bytes, ..extent })?;
            match in_place(read, &data) {
                Some(buffer) => Ok(buffer),
                None => memory.copy_of(&read.bytes()[data], long_lived).map_err(no_memory),
            }
        }
        Item::Packed { archive, entry, name } => {
            let range = within(extent)?;
            if let Some(buffer) = stored_in_place(archive, &entry, name, read, range.clone())? {
                return Ok(buffer);
            }
            let undecoded = |error| Error::undecoded(&archive.path, error);
            let data = coded_data(&entry, name, &read.bytes()[range]).map_err(undecoded)?;
            // What is over `usize` is over memory.
            let bytes = usize::try_from(entry.bytes).unwrap_or(usize::MAX);
            let mut content = memory.content(bytes, long_lived).map_err(no_memory)?;
            decode_to(&entry, name, data, &mut content).map_err(undecoded)?;
            if entry.method == Method::Stored {
                memory.note_copy(bytes);
            }
            Ok(Buffer::new(content.freeze(memory.protects())))
        }
    }
}

/// A stored entry where it lies in `range` of the read, if it may be handed out there.
fn stored_in_place(
    archive: &Archive,
    entry: &Entry,
    name: &str,
    read: &Arc<ReadData>,
    range: Range<usize>,
) -> Result<Option<Buffer>, Error> {
    if entry.method != Method::Stored || entry.coded_bytes != entry.bytes {
        return Ok(None);
    }
    let data = data_range(entry, name, &read.bytes()[range.clone()])
        .map_err(|error| Error::undecoded(&archive.path, error))?;
    let data = range.start + data.start..range.start + data.end;
    if data.len() < IN_PLACE_BYTES || crc32fast::hash(&read.bytes()[data.clone()]) != entry.crc {
        return Ok(None);
    }
    Ok(in_place(read, &data))
}

/// A part of the read as it lies there, if it is not small and the memory is the store's.
fn in_place(read: &ReadData, data: &Range<usize>) -> Option<Buffer> {
    (data.len() >= IN_PLACE_BYTES).then(|| read.part(data.clone()))?.map(Buffer::new)
}
