//! What the timing of reads shows of a flash drive: page, chunk, how many planes work at once, and
//! how many channels they share.
//!
//! Two reads that meet on a plane wait for each other, and so take twice as long; everything else
//! follows from which reads meet (Chen, Lee and Zhang, "Essential Roles of Exploiting Internal
//! Parallelism of Flash Memory based Solid State Drives", HPCA 2011). Planes on one channel meet
//! only where the channel is the narrowest part, so channels show when full pages are asked of all
//! planes of a channel at once.

mod channels;
mod mapping;
mod meet;
mod times;

use super::finding::{Curve, Finding, OUT_OF_TIME, Open, explain_all};
use super::probing::Probing;
use crate::{Error, ErrorKind};
use meet::Meeting;
use seekless_device::{FlashParameters, Garbage, Mapping};
use serde::Serialize;

/// A flash drive's inside as far as its timing shows it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FlashInside {
    /// Bytes that a plane reads at once.
    pub page_bytes: Finding<u64>,
    /// Bytes that lie together before the next plane's begin.
    pub chunk_bytes: Finding<u64>,
    /// Planes that work at the same time: channels × dies × planes of a die.
    pub degree: Finding<u32>,
    /// Channels.
    pub channels: Finding<u32>,
    /// Whether pages lie where their offset says, or in the order of writes.
    pub mapping: Finding<Mapping>,
    /// Time to read a page from the cells, in nanoseconds.
    pub read_ns: Finding<f64>,
    /// Time of the firmware for a command, in nanoseconds.
    pub overhead_ns: Finding<f64>,
    /// Time of a channel's bus for a page, in nanoseconds.
    pub bus_page_ns: Finding<f64>,
    /// Time of the link to the host for a page, in nanoseconds.
    pub link_page_ns: Finding<f64>,
    /// Curves for pictures.
    #[serde(skip)]
    pub curves: Vec<Curve>,
    /// The numbers as a device model takes them, once the degree is known.
    #[serde(skip)]
    pub parameters: Option<FlashParameters>,
}

impl FlashInside {
    /// Gives each figure that has neither a value nor a reason this one.
    fn explain_rest(&mut self, why: &str) {
        let figures: &mut [&mut dyn Open] = &mut [
            &mut self.page_bytes,
            &mut self.chunk_bytes,
            &mut self.degree,
            &mut self.channels,
            &mut self.mapping,
            &mut self.read_ns,
            &mut self.overhead_ns,
            &mut self.bus_page_ns,
            &mut self.link_page_ns,
        ];
        explain_all(figures, why);
    }
}

/// Looks for a flash drive's inside; writes only if `destroy` says so. Stops where the time is up,
/// with what has been found so far.
pub(super) fn find(probing: &mut Probing<'_>, destroy: bool) -> Result<FlashInside, Error> {
    let mut inside = FlashInside::default();
    match steps(probing, &mut inside, destroy) {
        Err(error) if error.kind() == ErrorKind::OutOfTime => inside.explain_rest(OUT_OF_TIME),
        other => other?,
    }
    inside.explain_rest("it follows from figures that were not found");
    Ok(inside)
}

fn steps(probing: &mut Probing<'_>, inside: &mut FlashInside, destroy: bool) -> Result<(), Error> {
    let meeting = match Meeting::learn(probing)? {
        Ok(meeting) => meeting,
        Err(why) => {
            inside.degree = Finding::unidentifiable(why.clone());
            inside.chunk_bytes = Finding::unidentifiable(why);
            inside.explain_rest("no plane shows");
            return Ok(());
        }
    };
    let chunk = meet::chunk(probing, &meeting, &mut inside.curves)?;
    inside.chunk_bytes = chunk;
    let Some(chunk_bytes) = inside.chunk_bytes.value else {
        inside.explain_rest("the chunk is not known");
        return Ok(());
    };
    inside.page_bytes = meet::page(probing, &meeting, chunk_bytes, &mut inside.curves)?;
    inside.degree = meet::degree(probing, &meeting, chunk_bytes, &mut inside.curves)?;
    let Some(degree) = inside.degree.value else {
        inside.explain_rest("the interleave degree is not known");
        return Ok(());
    };
    let page_bytes = inside.page_bytes.value.unwrap_or(chunk_bytes);
    let times = times::find(probing, chunk_bytes, page_bytes, degree)?;
    inside.overhead_ns = times.overhead.clone();
    inside.read_ns = times.read();
    let shared =
        channels::find(probing, &times, chunk_bytes, page_bytes, degree, &mut inside.curves)?;
    inside.channels = shared.channels;
    inside.bus_page_ns = shared.bus_page;
    inside.link_page_ns = shared.link_page;
    if destroy {
        inside.mapping = mapping::find(probing, &meeting, chunk_bytes, page_bytes, degree)?;
    } else {
        inside.mapping = Finding::unidentifiable("only writes show it: see --destroy-data");
    }
    inside.parameters =
        Some(parameters(probing.capacity(), inside, &times, page_bytes, chunk_bytes, degree));
    Ok(())
}

/// The model's numbers. What reads do not show is taken from a drive of our days.
fn parameters(
    capacity_bytes: u64,
    inside: &FlashInside,
    times: &times::Times,
    page_bytes: u64,
    chunk_bytes: u64,
    degree: u32,
) -> FlashParameters {
    let rate = |page_ns: f64| (page_bytes as f64 * 1e9 / page_ns.max(1.0)).max(1.0) as u64;
    let channels = inside.channels.value.unwrap_or(degree);
    let mut parameters = FlashParameters {
        capacity_bytes,
        channels,
        dies: (degree / channels).max(1),
        planes: 1,
        page_bytes,
        pages_per_block: 256,
        chunk_bytes,
        mapping: inside.mapping.value.unwrap_or(Mapping::Static),
        read_ns: (times.plane_ns - times.bus_ns).round().max(1.0) as u64,
        program_ns: 600_000,
        erase_ns: 3_500_000,
        bus_bytes_per_second: rate(times.bus_ns),
        link_bytes_per_second: rate(inside.link_page_ns.value.unwrap_or(times.link().0)),
        overhead_ns: times.overhead_ns.round() as u64,
        write_buffer_bytes: 32 << 20,
        over_provisioning_percent: 9,
        filled_percent: 100,
        garbage: Garbage { start_blocks: 2, stop_blocks: 3 },
    };
    // A plane of a small drive needs a larger share of spare blocks.
    while parameters.check().is_err() && parameters.over_provisioning_percent < 10_000 {
        parameters.over_provisioning_percent *= 2;
    }
    parameters
}
