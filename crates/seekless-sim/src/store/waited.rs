//! The reads that loads waited for: where the time of loads on demand goes.

use super::{Archive, Reader, Settings, StoreFigures};
use crate::error::Result;
use seekless_device::DeviceModel;
use seekless_policy::eviction::Id;
use seekless_policy::layout::extents::Extent;

/// A read that a load had to wait for, since nothing before had brought its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DemandRead {
    /// The entry that was loaded.
    pub id: Id,
    /// What was read: the entry and what lies around it.
    pub extent: Extent,
}

/// As [`on_demand`](super::on_demand); also returns the reads that loads began, in their order.
///
/// # Errors
/// As [`on_demand`](super::on_demand).
pub fn demand_reads(
    archive: &Archive,
    loads: &[Id],
    settings: &Settings,
    model: &mut dyn DeviceModel,
) -> Result<(StoreFigures, Vec<DemandRead>)> {
    let mut reader = Reader::open(archive, settings, model)?;
    reader.reads = Some(Vec::new());
    loads.iter().for_each(|&id| reader.load(id, settings.work));
    let figures = reader.figures();
    Ok((figures, reader.reads.unwrap_or_default()))
}
