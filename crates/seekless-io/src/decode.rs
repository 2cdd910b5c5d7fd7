//! Decodes one entry from the bytes of a read: checked, and inflated if it is compressed. A stored
//! entry that fills nearly the whole read is left in place.

use crate::archive::Archive;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::read_cache::ReadData;
use seekless_pack::{Method, data_range};
use seekless_policy::eviction::Id;
use seekless_policy::planner::READ_BYTES_MAX;
use std::ops::Range;
use std::sync::Arc;

/// A stored entry is left in place if the rest of the read is at most one sixteenth of it. The
/// cache counts only the bytes of the entry, so it exceeds its capacity by no more than that.
const SLACK_SHARE: usize = 16;

/// The content of entry `id`, which must lie in `read`.
pub(crate) fn decode(archive: &Archive, read: &Arc<ReadData>, id: Id) -> Result<Buffer, Error> {
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
        if worth_sharing(read, &data) && crc32fast::hash(&read.bytes()[data.clone()]) == entry.crc {
            return Ok(Buffer::within(read.clone(), data));
        }
    }
    let mut bytes = Vec::new();
    seekless_pack::decode(entry, name, coded, &mut bytes).map_err(corrupt)?;
    Ok(Buffer::own(bytes))
}

/// Smaller reads are made into buffers that are used again, and that may be larger than they look.
fn worth_sharing(read: &ReadData, data: &Range<usize>) -> bool {
    let read_bytes = read.bytes().len();
    read_bytes as u64 > READ_BYTES_MAX && read_bytes - data.len() <= data.len() / SLACK_SHARE
}
