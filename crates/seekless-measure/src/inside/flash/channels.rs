//! Channels apart from planes. Full pages of some planes are read, many of each, all at once:
//! chunks that lie `s` apart, for every divisor `s` of the degree. If such planes lie on all
//! channels, the link or the planes limit the rate. From `s` = channels on they all lie on one, and
//! its bus does. Each number of channels predicts a curve over `s`; the one that fits is taken if
//! no other does.

use super::super::finding::{Curve, Finding};
use super::super::probing::Probing;
use super::super::statistics::{mean, standard_error};
use super::super::timed::Request;
use super::meet::mean_end;
use super::times::Times;
use crate::Error;

/// Pages that each plane reads at once.
const PAGES: u64 = 8;
/// Requests at once; beyond that an engine would queue them itself.
const REQUESTS_MAX: u64 = 512;
/// By how much a queue's pace is off the slowest part's: the parts do not overlap wholly.
const QUEUE_ERROR: f64 = 0.01;

/// What was found of channels.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    pub(super) channels: Finding<u32>,
    pub(super) bus_page: Finding<f64>,
    pub(super) link_page: Finding<f64>,
}

/// Time of a page at a stride.
#[derive(Clone, Copy, Debug)]
struct Point {
    stride: u64,
    page_ns: f64,
    error_ns: f64,
}

/// Finds the channels among `degree` planes.
pub(super) fn find(
    probing: &mut Probing<'_>,
    times: &Times,
    chunk: u64,
    page: u64,
    degree: u32,
    curves: &mut Vec<Curve>,
) -> Result<Shared, Error> {
    let degree = u64::from(degree);
    let strides: Vec<u64> = (1..=degree).filter(|stride| degree.is_multiple_of(*stride)).collect();
    let mut points = Vec::new();
    for &stride in &strides {
        points.push(measure(probing, chunk, page, degree, stride)?);
    }
    curves.push(Curve {
        name: "channels",
        title: "Time of a page on planes by their distance in chunks".to_owned(),
        x: "chunks apart",
        y: "time of a page",
        points: points.iter().map(|point| (point.stride as f64, point.page_ns)).collect(),
    });
    // Beside the planes' own limit, one bus and one link explain the curve.
    let mut fits: Vec<(f64, u64, f64)> =
        strides.iter().map(|&channels| fit(&points, times, degree, channels)).collect();
    fits.sort_by(|one, other| one.0.total_cmp(&other.0));
    let Some(&(left, channels, link_ns)) = fits.first() else { return Ok(Shared::default()) };
    let rival = fits.get(1).map_or(f64::INFINITY, |fit| fit.0);
    let sigmas = (rival - left).max(0.0).sqrt().min(100.0);
    let free = points.len() as f64;
    let seen = bus_limits(&points, times, degree, channels);
    let mut shared = Shared {
        bus_page: Finding::time(
            times.bus_ns,
            times.bus_error_ns,
            "a page on one plane, less a sector",
        ),
        ..link(&points, times, degree, channels, link_ns)
    };
    if left > 4.0 * free + 20.0 || !seen || sigmas < 8.0 {
        let why = if seen {
            format!("{channels} channels fit the curve, others nearly as well ({sigmas:.1} sigma)")
        } else {
            "no bus is narrower than its planes".to_owned()
        };
        shared.channels = Finding::unidentifiable(why);
    } else if alike(probing, chunk, page, degree, channels)? {
        let why = "the bus limits planes so far apart";
        shared.channels = Finding::of(channels as u32, sigmas, why);
    } else {
        let why = "planes that should share a bus do not take alike";
        shared.channels = Finding::unidentifiable(why);
    }
    Ok(shared)
}

/// The link: the rate of the whole drive where nothing else is narrower, else what is left of a
/// page's transfer.
fn link(points: &[Point], times: &Times, degree: u64, channels: u64, link_ns: f64) -> Shared {
    let narrowest = points.iter().find(|point| {
        let others = limits(times, degree, channels, times.bus_ns, 0.0, point.stride);
        link_ns > 1.1 * others + 5.0 * point.error_ns
    });
    let (rest, error) = times.link();
    let link_page = match narrowest {
        Some(point) => Finding::time(point.page_ns, point.error_ns, "pages a second of all planes"),
        None => Finding::time(rest, error, "a page's transfer, less its bus"),
    };
    Shared { link_page, ..Shared::default() }
}

/// Reads `PAGES` pages from each of the planes `stride` chunks apart, all at once.
fn measure(
    probing: &mut Probing<'_>,
    chunk: u64,
    page: u64,
    degree: u64,
    stride: u64,
) -> Result<Point, Error> {
    let planes = degree / stride;
    let pages = PAGES.min((REQUESTS_MAX / planes).max(2));
    let mut times = Vec::new();
    for round in 0..24 {
        let first = round % stride;
        let batch = |pages: u64| -> Vec<Request> {
            (0..planes * pages)
                .map(|number| Request::read((first + number % planes * stride) * chunk, page))
                .collect()
        };
        // Without what the first page of each takes: only the rate counts.
        let few = mean_end(probing, &batch(pages / 2))?;
        let many = mean_end(probing, &batch(pages))?;
        times.push(2.0 * (many - few) / ((pages - pages / 2) * planes) as f64);
    }
    let error_ns = standard_error(&times);
    Ok(Point { stride, page_ns: mean(&times), error_ns: error_ns.max(QUEUE_ERROR * mean(&times)) })
}

/// Time of a page at a stride: the slowest of planes, buses and link.
fn limits(times: &Times, degree: u64, channels: u64, bus: f64, link: f64, stride: u64) -> f64 {
    let planes = (degree / stride) as f64;
    // Chunks `stride` apart lie on every channel that `stride` and the channels' number leave.
    let used = (channels / gcd(stride, channels)) as f64;
    (times.plane_ns / planes).max(bus / used).max(link).max(times.overhead_ns)
}

fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

/// The least squares for this many channels, and the link that gives them.
fn fit(points: &[Point], times: &Times, degree: u64, channels: u64) -> (f64, u64, f64) {
    let (rest, rest_error) = times.link();
    let left = |bus: f64, link: f64| -> f64 {
        let off = |point: &Point| {
            let planes = times.plane_error_ns * point.stride as f64 / degree as f64;
            let expected = limits(times, degree, channels, bus, link, point.stride);
            ((point.page_ns - expected) / point.error_ns.hypot(planes)).powi(2)
        };
        let known = (bus - times.bus_ns) / times.bus_error_ns.max(1.0);
        let alone = (link - rest) / rest_error.max(1.0);
        points.iter().map(off).sum::<f64>() + known * known + alone * alone
    };
    let mut best = (f64::INFINITY, channels, 0.0);
    let mut range = (0.0, rest + 5.0 * rest_error);
    // A coarse search for the link, then a finer one.
    for _ in 0..4 {
        for bus_part in -6..=6 {
            for link_part in 0..=60 {
                let bus = times.bus_ns + f64::from(bus_part) / 2.0 * times.bus_error_ns;
                let link = range.0 + (range.1 - range.0) * f64::from(link_part) / 60.0;
                let squares = left(bus, link);
                if squares < best.0 {
                    best = (squares, channels, link);
                }
            }
        }
        let reach = (range.1 - range.0) / 15.0;
        range = ((best.2 - reach).max(0.0), best.2 + reach);
    }
    best
}

/// Whether at some stride the bus is clearly what limits.
fn bus_limits(points: &[Point], times: &Times, degree: u64, channels: u64) -> bool {
    points.iter().any(|point| {
        let planes = times.plane_ns * point.stride as f64 / degree as f64;
        let used = (channels / gcd(point.stride, channels)) as f64;
        times.bus_ns / used > planes + 5.0 * point.error_ns
    })
}

/// Whether the planes of each presumed channel take as long as those of the others.
fn alike(
    probing: &mut Probing<'_>,
    chunk: u64,
    page: u64,
    degree: u64,
    channels: u64,
) -> Result<bool, Error> {
    let planes = degree / channels;
    let mut means = Vec::new();
    for first in 0..channels.min(16) {
        let mut times = Vec::new();
        for _ in 0..8 {
            let requests: Vec<Request> = (0..planes * 4)
                .map(|number| Request::read((first + number % planes * channels) * chunk, page))
                .collect();
            times.push(mean_end(probing, &requests)?);
        }
        means.push(mean(&times));
    }
    let middle = mean(&means);
    Ok(means.iter().all(|mean| (mean / middle - 1.0).abs() < 0.08))
}
