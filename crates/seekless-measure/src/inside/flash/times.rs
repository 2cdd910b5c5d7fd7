//! The times of a flash drive's parts that single reads and idle planes show.

use super::super::finding::Finding;
use super::super::probing::Probing;
use super::super::statistics::{least_squares, median, spread};
use super::super::timed::Request;
use super::meet::{last, mean_end};
use crate::Error;

/// Times in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// Of a read of one sector, and of a page.
    pub(super) small_ns: f64,
    pub(super) page_ns: f64,
    /// Of a page on a plane that has many to read, and its error.
    pub(super) plane_ns: f64,
    pub(super) plane_error_ns: f64,
    /// Of a page on a bus, and its error: what a plane takes longer for a page than for a sector.
    pub(super) bus_ns: f64,
    pub(super) bus_error_ns: f64,
    /// Error of what a page takes longer than a sector.
    pub(super) transfer_error_ns: f64,
    /// The firmware's for a command.
    pub(super) overhead: Finding<f64>,
    pub(super) overhead_ns: f64,
}

impl Times {
    /// Time to read a page from the cells.
    pub(super) fn read(&self) -> Finding<f64> {
        let error = self.plane_error_ns.hypot(self.bus_error_ns);
        Finding::time(
            self.plane_ns - self.bus_ns,
            error,
            "a page of many on one plane, less its bus",
        )
    }

    /// Time of a page on the link, and its error.
    pub(super) fn link(&self) -> (f64, f64) {
        let nanos = self.page_ns - self.small_ns - self.bus_ns;
        (nanos.max(1.0), self.transfer_error_ns.hypot(self.bus_error_ns))
    }
}

/// Measures single reads, queues on one plane, and many small reads at once.
pub(super) fn find(
    probing: &mut Probing<'_>,
    chunk: u64,
    page: u64,
    degree: u32,
) -> Result<Times, Error> {
    let grain = probing.grain();
    let chunks = (probing.capacity() / chunk).max(1);
    let mut single = |bytes: u64| -> Result<(f64, f64), Error> {
        let mut times = Vec::new();
        for _ in 0..400 {
            let place = probing.dice.below(chunks) * chunk;
            times.push(probing.read(place, bytes)?.ns() as f64);
        }
        Ok((median(&times), 1.25 * spread(&times) / 20.0))
    };
    let (small, whole) = (single(grain)?, single(page)?);
    let (plane_ns, plane_error_ns) = queue(probing, page)?;
    let (sector_ns, sector_error_ns) = queue(probing, grain)?;
    let more = 1.0 - grain as f64 / page as f64;
    let (overhead_ns, error) = overhead(probing, chunk, degree)?;
    Ok(Times {
        small_ns: small.0,
        page_ns: small.0 + (whole.0 - small.0) / more,
        transfer_error_ns: small.1.hypot(whole.1) / more,
        plane_ns,
        plane_error_ns,
        bus_ns: ((plane_ns - sector_ns) / more).max(1.0),
        bus_error_ns: plane_error_ns.hypot(sector_error_ns) / more,
        overhead: Finding::time(overhead_ns, error, "what one more command takes"),
        overhead_ns,
    })
}

/// What one more page takes on a plane that has many to read.
fn queue(probing: &mut Probing<'_>, page: u64) -> Result<(f64, f64), Error> {
    let mut steps = Vec::new();
    for _ in 0..64 {
        let few: Vec<Request> = (0..4).map(|_| Request::read(0, page)).collect();
        let many: Vec<Request> = (0..36).map(|_| Request::read(0, page)).collect();
        let less = mean_end(probing, &few)?;
        steps.push(2.0 * (mean_end(probing, &many)? - less) / 32.0);
    }
    Ok((median(&steps), 1.25 * spread(&steps) / 8.0))
}

/// What one more command takes when every plane has at most one sector to read.
fn overhead(probing: &mut Probing<'_>, chunk: u64, degree: u32) -> Result<(f64, f64), Error> {
    let grain = probing.grain();
    let counts: Vec<u64> =
        [0.125, 0.25, 0.5, 0.75, 1.0].map(|part| (f64::from(degree) * part).ceil() as u64).into();
    let (mut numbers, mut times) = (Vec::new(), Vec::new());
    for round in 0..40 {
        for &count in &counts {
            let requests: Vec<Request> =
                (0..count).map(|number| Request::read((number + round) * chunk, grain)).collect();
            numbers.push(count as f64);
            times.push(last(probing, &requests)?);
        }
    }
    let weights: Vec<f64> = times.iter().map(|time| time.powi(-2)).collect();
    let columns = [vec![1.0; times.len()], numbers.clone()];
    let Some(fit) = least_squares(&columns, &times, &weights) else {
        // One plane shows no rate of commands.
        return Ok((0.0, f64::INFINITY));
    };
    let off = |row: usize| (times[row] - fit[0].0 - fit[1].0 * numbers[row]).powi(2) * weights[row];
    let squares: f64 = (0..times.len()).map(off).sum();
    let sigma = (squares / (times.len() as f64 - 2.0)).sqrt();
    // Half as much again: planes that end together are not quite a straight line.
    Ok((fit[1].0.max(0.0), 1.5 * fit[1].1 * sigma))
}
