//! A spinning disk: arm, rotation, and a cache that reads on.
//!
//! Rotation is an angle that depends on the time alone. While a command is set up, the byte behind
//! the previous command's last passes the head; it comes again almost a revolution later. So a
//! sequence of commands gets little more than half of the disk's rate, unless the disk reads on by
//! itself: 28 of 51 MB/s in commands of 512 KiB (Wu, Xi and Xu 2010, Fig. 11).
//!
//! A command takes its overhead, then the seek or the change of the head, then the rotation to its
//! first byte. The transfer follows; it pauses at each change of track. What the disk's cache holds
//! comes over the bus without the head. While the head is free, the disk reads on behind the last
//! command that used it. It stops when the segment is full of bytes that the host has not asked for
//! yet. Commands that other segments answer do not disturb it. The model knows single bytes, but no
//! sectors, defects, write cache or power states.

mod parameters;
mod platter;
mod segments;

pub use parameters::{Discipline, DiskParameters, DiskZone, LongSeek, Seek, SegmentCache};

use crate::queue::step;
use crate::{Costs, DeviceModel, Error, Io, Nanos};
use platter::Platter;
use segments::Segments;
use std::collections::VecDeque;

#[cfg(test)]
mod tests;

/// The disk's model. A command that comes while the disk is idle begins at once; of those that wait
/// at its end, [`Discipline`] chooses the next.
#[derive(Clone, Debug)]
pub struct Disk {
    parameters: DiskParameters,
    platter: Platter,
    segments: Segments,
    /// The track that the head is on, unless it reads on.
    track: u64,
    /// Behind the last byte of the last command.
    position: u64,
    fill: Option<Fill>,
    waiting: VecDeque<Io>,
    serving: Option<(Nanos, Io)>,
    ended: VecDeque<(Nanos, Io)>,
}

/// The disk reading on by itself.
#[derive(Clone, Copy, Debug)]
struct Fill {
    segment: usize,
    /// The head is at byte `from` at this time.
    begin: Nanos,
    from: u64,
    /// Where it stops, and when it comes there.
    limit: u64,
    full: Nanos,
}

impl Disk {
    /// A disk whose head is on the first track at time 0.
    ///
    /// # Errors
    /// When no disk has such numbers; see [`DiskParameters::check`].
    pub fn new(parameters: DiskParameters) -> Result<Self, Error> {
        parameters.check()?;
        let SegmentCache { segments, segment_bytes, .. } = parameters.cache;
        Ok(Disk {
            platter: Platter::new(&parameters),
            segments: Segments::new(segments, segment_bytes),
            track: 0,
            position: 0,
            fill: None,
            waiting: VecDeque::new(),
            serving: None,
            ended: VecDeque::new(),
            parameters,
        })
    }

    /// Its numbers.
    #[must_use]
    pub fn parameters(&self) -> &DiskParameters {
        &self.parameters
    }

    /// Ends what has ended by `now`, and begins what was waiting for it.
    fn run(&mut self, now: Nanos) {
        while let Some((end, io)) = self.serving
            && end <= now
        {
            self.ended.push_back((end, io));
            self.serving = self.next(end).map(|io| (self.serve(io, end), io));
        }
    }

    /// Takes the next of the waiting commands, at time `now`.
    fn next(&mut self, now: Nanos) -> Option<Io> {
        let depth = self.parameters.depth as usize;
        let choice = self.waiting.iter().take(depth).enumerate();
        let chosen = match self.parameters.queue {
            Discipline::Fifo => return self.waiting.pop_front(),
            Discipline::Elevator => {
                choice.min_by_key(|(_, io)| (io.offset < self.position, io.offset))
            }
            Discipline::ShortestPositioning => choice.min_by_key(|(_, io)| self.earliest(io, now)),
        };
        let (place, _) = chosen?;
        self.waiting.remove(place)
    }

    /// When the first byte of a command could be there.
    fn earliest(&self, io: &Io, now: Nanos) -> Nanos {
        let ready = now.saturating_add(self.parameters.overhead_ns);
        if io.bytes == 0 || !io.write && self.cached(io.offset, now) {
            return ready;
        }
        self.positioned(io.offset, ready)
    }

    /// Whether the byte is in the cache, or the head is just coming to it.
    fn cached(&self, byte: u64, now: Nanos) -> bool {
        let held = |end| byte < end;
        self.segments.find(byte).is_some_and(|(_, end)| held(end))
            || self.fill.is_some_and(|fill| {
                self.comes_to(&fill, byte) && (now < fill.full || held(fill.limit))
            })
    }

    /// Serves one I/O from `start` on. Returns when it ends.
    fn serve(&mut self, io: Io, start: Nanos) -> Nanos {
        if io.bytes == 0 {
            return start.saturating_add(self.parameters.overhead_ns);
        }
        let (mut now, mut from) = (start, io.offset);
        let end = io.offset.saturating_add(io.bytes);
        let step = step(io.bytes, self.parameters.command_bytes);
        while from < end {
            let to = end.min(from.saturating_add(step));
            now = if io.write { self.write(from, to, now) } else { self.read(from, to, now) };
            from = to;
        }
        self.position = end;
        now
    }

    fn write(&mut self, from: u64, to: u64, now: Nanos) -> Nanos {
        let ready = now.saturating_add(self.parameters.overhead_ns);
        self.stop_fill(ready);
        self.segments.forget(from, to);
        let done = self.media(from, to, ready);
        done.max(ready.saturating_add(self.bus_ns(to - from)))
    }

    fn read(&mut self, from: u64, to: u64, now: Nanos) -> Nanos {
        let ready = now.saturating_add(self.parameters.overhead_ns);
        let on_bus = ready.saturating_add(self.bus_ns(to - from));
        if let Some(fill) = self.fill {
            self.segments.extend(fill.segment, self.reached(&fill, ready));
        }
        let held = self.segments.find(from);
        if let Some((segment, end)) = held
            && to <= end
        {
            self.segments.touch(segment);
            self.read_further(segment, to, now, on_bus);
            return on_bus;
        }
        let ahead = self.fill.filter(|fill| now < fill.full && self.comes_to(fill, from));
        let (segment, done) = match ahead {
            Some(fill) => (Some(fill.segment), self.follow(&fill, to)),
            None => {
                self.stop_fill(ready);
                let missing = held.map_or(from, |(_, end)| end);
                let done = self.media(missing, to, ready);
                let held = held.map(|(segment, _)| segment);
                (held.or_else(|| self.segments.replace(from)), done)
            }
        };
        if let Some(segment) = segment {
            self.keep(segment, to, done);
        }
        done.max(on_bus)
    }

    /// Whether the disk, reading on, has the byte or comes to it.
    fn comes_to(&self, fill: &Fill, byte: u64) -> bool {
        (self.segments.start(fill.segment)..=fill.limit).contains(&byte)
    }

    /// Lets the head go on as it reads, up to `to`. Returns when it is there.
    fn follow(&mut self, fill: &Fill, to: u64) -> Nanos {
        self.track = self.platter.track(to - 1);
        fill.begin.saturating_add(self.platter.transfer_ns(fill.from, to))
    }

    /// Moves the head to `from` and reads up to `to`, from `ready` on.
    fn media(&mut self, from: u64, to: u64, ready: Nanos) -> Nanos {
        let begin = self.positioned(from, ready);
        self.track = self.platter.track(to - 1);
        begin.saturating_add(self.platter.transfer_ns(from, to))
    }

    /// When the head can be at a byte, if it sets out at `now` from where it is then.
    fn positioned(&self, byte: u64, now: Nanos) -> Nanos {
        let place = self.platter.place(byte);
        let track = match &self.fill {
            Some(fill) => self.fill_track(fill, now),
            None => self.track,
        };
        let cylinder = |track| self.platter.cylinder(track);
        let moving = match cylinder(track).abs_diff(cylinder(place.track)) {
            0 if track != place.track => self.parameters.head_switch_ns,
            cylinders => self.parameters.seek.ns(cylinders),
        };
        self.platter.under_head(place, now.saturating_add(moving))
    }

    fn bus_ns(&self, bytes: u64) -> Nanos {
        let Some(rate) = self.parameters.bus_bytes_per_second else { return 0 };
        let nanos = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(rate));
        Nanos::try_from(nanos).unwrap_or(Nanos::MAX)
    }

    /// Notes that a segment has all bytes up to `to`, read at `done`, and lets the disk read on.
    fn keep(&mut self, segment: usize, to: u64, done: Nanos) {
        self.segments.extend(segment, to);
        self.segments.touch(segment);
        let begin = done.saturating_add(self.platter.gap_ns(to));
        self.fill = self.fill_from(segment, to, begin, self.fill_limit(to));
    }

    /// How far the disk reads on behind a command that ended at `to`.
    fn fill_limit(&self, to: u64) -> u64 {
        let capacity = self.parameters.capacity_bytes.max(to);
        capacity.min(to.saturating_add(self.segments.bytes()))
    }

    fn fill_from(&self, segment: usize, from: u64, begin: Nanos, limit: u64) -> Option<Fill> {
        if !self.parameters.cache.read_on {
            return None;
        }
        let full = begin.saturating_add(self.platter.transfer_ns(from, limit));
        Some(Fill { segment, begin, from, limit, full })
    }

    /// The disk answered up to `to` from a segment, at `now` until `end`. If it is the one that is
    /// being filled, the disk reads on further.
    fn read_further(&mut self, segment: usize, to: u64, now: Nanos, end: Nanos) {
        let limit = self.fill_limit(to);
        let Some(fill) = self.fill.filter(|fill| fill.segment == segment && fill.limit < limit)
        else {
            return;
        };
        let (from, begin) = if now < fill.full {
            let passed = fill.begin.saturating_add(self.platter.transfer_ns(fill.from, to));
            (to, passed.saturating_add(self.platter.gap_ns(to)))
        } else {
            (fill.limit, self.positioned(fill.limit, end))
        };
        self.fill = self.fill_from(segment, from, begin, limit);
    }

    fn reached(&self, fill: &Fill, now: Nanos) -> u64 {
        if now >= fill.full {
            return fill.limit;
        }
        self.platter.reach(fill.from, now.saturating_sub(fill.begin), fill.limit)
    }

    fn fill_track(&self, fill: &Fill, now: Nanos) -> u64 {
        let reached = self.reached(fill, now);
        if reached > fill.from { self.platter.track(reached - 1) } else { self.track }
    }

    /// The head is needed elsewhere at `now`.
    fn stop_fill(&mut self, now: Nanos) {
        if let Some(fill) = self.fill {
            self.track = self.fill_track(&fill, now);
            self.segments.extend(fill.segment, self.reached(&fill, now));
            self.fill = None;
        }
    }
}

impl DeviceModel for Disk {
    fn submit(&mut self, now: Nanos, io: Io) {
        self.run(now);
        if self.serving.is_none() {
            self.serving = Some((self.serve(io, now), io));
        } else {
            self.waiting.push_back(io);
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        let ended = self.ended.front().map(|&(end, _)| end);
        ended.or_else(|| self.serving.map(|(end, _)| end))
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        self.run(now);
        while let Some((end, io)) = self.ended.pop_front() {
            done(end, io);
        }
    }

    /// A request costs its overhead, a seek over a third of the cylinders and half a revolution:
    /// what a request to a random place takes. The bandwidth is that of one long transfer over the
    /// whole disk.
    fn costs(&self) -> Costs {
        let capacity = self.parameters.capacity_bytes;
        let cylinders = self.platter.cylinder(self.platter.track(capacity - 1));
        let seek = self.parameters.seek.ns(cylinders / 3);
        let turn = self.platter.revolution_ns() / 2;
        let nanos = self.platter.transfer_ns(0, capacity).max(1);
        let rate = u128::from(capacity) * 1_000_000_000 / u128::from(nanos);
        Costs {
            request_ns: self.parameters.overhead_ns.saturating_add(seek).saturating_add(turn),
            bytes_per_second: u64::try_from(rate).unwrap_or(u64::MAX).max(1),
            depth: 1,
        }
    }
}
