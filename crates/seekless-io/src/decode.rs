//! Decodes one entry from the bytes of a read: checked, and inflated if it is compressed. A stored
//! entry that is not small is left in place.

use crate::archive::Archive;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::memory::Memory;
use crate::read_cache::ReadData;
use seekless_pack::{Method, coded_data, data_range, decode_to};
use seekless_policy::eviction::Id;
use std::sync::Arc;

/// A stored entry of at least this size is handed out where the device put it: what it keeps of the
/// read are whole pages, at most a sixteenth more than it has bytes. A smaller one is copied once:
/// it shares its sectors with others, so the device cannot put it into memory of its own.
pub(crate) const IN_PLACE_BYTES: usize = 128 << 10;

/// The content of entry `id`, which must lie in `read`.
pub(crate) fn decode(
    archive: &Archive,
    memory: &Memory,
    read: &Arc<ReadData>,
    id: Id,
    long_lived: bool,
) -> Result<Buffer, Error> {
    let entry = &archive.index.entries()[id as usize];
    let name = archive.index.name(id);
    let range = read
        .range(archive.extents[id as usize])
        .map_err(|found| Error::truncated(&archive.at(id), found))?;
    let coded = &read.bytes()[range.clone()];
    let corrupt = |error| Error::corrupt(&archive.path, error);
    if entry.method == Method::Stored && entry.coded_bytes == entry.bytes {
        let data = data_range(entry, name, coded).map_err(corrupt)?;
        let data = range.start + data.start..range.start + data.end;
        if data.len() >= IN_PLACE_BYTES
            && crc32fast::hash(&read.bytes()[data.clone()]) == entry.crc
            && let Some(part) = read.part(data)
        {
            return Ok(Buffer::within(part));
        }
    }
    let data = coded_data(entry, name, coded).map_err(corrupt)?;
    let no_memory = |error| Error::no_memory(&archive.at(id), &error);
    // What is over `usize` is over memory.
    let bytes = usize::try_from(entry.bytes).unwrap_or(usize::MAX);
    let mut content = memory.content(bytes, long_lived).map_err(no_memory)?;
    decode_to(entry, name, data, &mut content).map_err(corrupt)?;
    Ok(Buffer::own(content.freeze(memory.protects())))
}
