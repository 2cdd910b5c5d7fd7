//! What is noted during a play, and what it comes to.

use super::Io;
use hdrhistogram::Histogram;
use seekless_device::Nanos;

/// An I/O for a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// When it started, from the start of the play.
    pub time_ns: Nanos,
    /// How long it took.
    pub latency_ns: Nanos,
    /// Which file.
    pub file: u32,
    /// The first byte.
    pub offset: u64,
    /// Whether it was a write.
    pub write: bool,
}

/// What one play came to.
#[derive(Clone, Debug)]
pub struct Pass {
    /// From the start to the end of the last I/O.
    pub elapsed_ns: Nanos,
    /// I/Os that were reads, and their bytes.
    pub reads: (u64, u64),
    /// I/Os that were writes, and their bytes.
    pub writes: (u64, u64),
    /// How long reads took, in nanoseconds.
    pub read_latency: Histogram<u64>,
    /// How long writes took.
    pub write_latency: Histogram<u64>,
    /// How much later than at its time each I/O started; `None` if the pace knows no times.
    pub lag: Option<Histogram<u64>>,
    /// I/Os in flight, on the average of time.
    pub depth_mean: f64,
    /// I/Os in flight, the most.
    pub depth_max: u32,
    /// Some of the I/Os, spread evenly.
    pub points: Vec<Point>,
}

impl Pass {
    /// The latencies of reads and writes together.
    #[must_use]
    pub fn latency(&self) -> Histogram<u64> {
        let mut all = self.read_latency.clone();
        // Both have the same bounds, so nothing can be out of range.
        let _ = all.add(&self.write_latency);
        all
    }
}

/// An hour: a latency above it counts as this.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;

/// Three digits are kept of each time.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3).expect("bounds that the crate allows")
}

/// What a player notes.
pub(super) struct Watch {
    pass: Pass,
    begun: Nanos,
    last_end: Nanos,
    in_flight: u32,
    /// When that last changed.
    changed: Nanos,
    /// The sum of in flight × nanoseconds.
    area: u128,
    done: u64,
    total: u64,
    /// One I/O in this many becomes a point.
    step: u64,
}

impl Watch {
    pub(super) fn new(points: usize, total: u64, now: Nanos) -> Self {
        let pass = Pass {
            elapsed_ns: 0,
            reads: (0, 0),
            writes: (0, 0),
            read_latency: histogram(),
            write_latency: histogram(),
            lag: None,
            depth_mean: 0.0,
            depth_max: 0,
            points: Vec::new(),
        };
        let step = if points == 0 { u64::MAX } else { total.div_ceil(points as u64).max(1) };
        Watch {
            pass,
            begun: now,
            last_end: now,
            in_flight: 0,
            changed: now,
            area: 0,
            done: 0,
            total,
            step,
        }
    }

    pub(super) fn started(&mut self, now: Nanos, due: Option<Nanos>) {
        self.pass_time(now);
        self.in_flight += 1;
        self.pass.depth_max = self.pass.depth_max.max(self.in_flight);
        if let Some(due) = due {
            let lag = self.pass.lag.get_or_insert_with(histogram);
            lag.saturating_record(now.saturating_sub(due));
        }
    }

    pub(super) fn ended(&mut self, io: &Io, since: Nanos, at: Nanos) {
        self.pass_time(at);
        self.in_flight -= 1;
        self.last_end = self.last_end.max(at);
        let latency_ns = at.saturating_sub(since);
        let ((count, bytes), latency) = match io.write {
            false => (&mut self.pass.reads, &mut self.pass.read_latency),
            true => (&mut self.pass.writes, &mut self.pass.write_latency),
        };
        *count += 1;
        *bytes += io.bytes;
        latency.saturating_record(latency_ns);
        if self.step != u64::MAX && self.done.is_multiple_of(self.step) {
            let time_ns = since.saturating_sub(self.begun);
            let &Io { file, offset, write, .. } = io;
            self.pass.points.push(Point { time_ns, latency_ns, file, offset, write });
        }
        self.done += 1;
    }

    fn pass_time(&mut self, now: Nanos) {
        self.area += u128::from(self.in_flight) * u128::from(now.saturating_sub(self.changed));
        self.changed = self.changed.max(now);
    }

    pub(super) fn done_and_total(&self) -> (u64, u64) {
        (self.done, self.total)
    }

    pub(super) fn finish(mut self) -> Pass {
        self.pass.elapsed_ns = self.last_end - self.begun;
        self.pass.depth_mean = self.area as f64 / self.pass.elapsed_ns.max(1) as f64;
        self.pass
    }
}
