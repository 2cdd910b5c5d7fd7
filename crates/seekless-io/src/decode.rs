//! One entry out of an extent: checked, inflated, or left where it is if it fills nearly the whole extent.

use crate::archive::Archive;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::extent_cache::Extent;
use crate::reads::READ_BYTES_MAX;
use seekless_pack::{Method, data_range};
use seekless_policy::eviction::Id;
use std::ops::Range;
use std::sync::Arc;

/// A stored file is served where it was read if all else in the extent is under one sixteenth of it: the cache counts
/// its bytes alone, and must not be that much larger than it says.
const SLACK_SHARE: usize = 16;

/// The content of entry `id`, which must lie in `extent`.
pub(crate) fn decode(archive: &Archive, extent: &Arc<Extent>, id: Id) -> Result<Buffer, Error> {
    let entry = &archive.index.entries()[id as usize];
    let name = archive.index.name(id);
    let range =
        extent.range(archive.spans[id as usize]).map_err(|found| Error::truncated(&archive.at(id), found))?;
    let coded = &extent.bytes()[range.clone()];
    let corrupt = |error| Error::corrupt(&archive.path, error);
    if entry.method == Method::Stored && entry.coded_bytes == entry.bytes {
        let data = data_range(entry, name, coded).map_err(corrupt)?;
        let data = range.start + data.start..range.start + data.end;
        if worth_sharing(extent, &data) && crc32fast::hash(&extent.bytes()[data.clone()]) == entry.crc {
            return Ok(Buffer::within(extent.clone(), data));
        }
    }
    let mut bytes = Vec::new();
    seekless_pack::decode(entry, name, coded, &mut bytes).map_err(corrupt)?;
    Ok(Buffer::own(bytes))
}

/// Smaller reads are made into buffers that are used again, and that may be larger than they look.
fn worth_sharing(extent: &Extent, data: &Range<usize>) -> bool {
    let read_bytes = extent.bytes().len();
    read_bytes as u64 > READ_BYTES_MAX && read_bytes - data.len() <= data.len() / SLACK_SHARE
}
