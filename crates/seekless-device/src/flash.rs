//! A flash drive: channels of dies of planes behind one link.
//!
//! A command passes the firmware, one after another. A read then takes each of its pages from the
//! cells of a plane (one page of a plane at a time), over its channel's bus and over the link. A
//! write comes over the link, is done once the buffer has room for it, and is programmed when its
//! plane is free. A plane that runs out of free blocks collects garbage first, and whatever comes
//! to it meanwhile waits.
//!
//! Planes serve their pages in the order of arrival. Bus and link are limits on the rate: what
//! waits for its plane does not hold up what is ready. There is no read cache, and no cells of
//! different speed.

mod parameters;
mod translation;

pub use parameters::{FlashParameters, Garbage, Mapping};

use crate::completions::Completions;
use crate::object_store::transfer_ns;
use crate::{Costs, DeviceModel, Error, Io, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use translation::Translation;

#[cfg(test)]
mod tests;

/// The drive's model.
#[derive(Clone, Debug)]
pub struct Flash {
    parameters: FlashParameters,
    translation: Translation,
    /// When the firmware takes its next command.
    firmware: Nanos,
    link: Limit,
    channels: Vec<Channel>,
    /// When each plane is free.
    planes: Vec<Nanos>,
    buffer: Buffer,
    commands: u64,
    in_flight: Completions,
}

/// A limit on the rate: how far the work that came so far reaches.
#[derive(Clone, Copy, Debug, Default)]
struct Limit {
    until: Nanos,
}

impl Limit {
    /// Adds work that can begin at `from`. Returns its end if nothing but the limit matters.
    fn add(&mut self, from: Nanos, nanos: Nanos) -> Nanos {
        self.until = self.until.max(from).saturating_add(nanos);
        self.until
    }
}

/// A bus; and when the last page of a command left it, as a command's pages follow each other.
#[derive(Clone, Copy, Debug, Default)]
struct Channel {
    limit: Limit,
    command: u64,
    last: Nanos,
}

/// The buffer's pages: when each will have been programmed.
#[derive(Clone, Debug)]
struct Buffer {
    pages: usize,
    programmed: BinaryHeap<Reverse<Nanos>>,
}

impl Buffer {
    /// When there is room for a page that comes at `now`.
    fn room(&mut self, now: Nanos) -> Nanos {
        if self.programmed.len() < self.pages {
            return now;
        }
        self.programmed.pop().map_or(now, |Reverse(end)| end.max(now))
    }
}

impl Flash {
    /// An idle drive.
    ///
    /// # Errors
    /// When no drive has such numbers; see [`FlashParameters::check`].
    pub fn new(parameters: FlashParameters) -> Result<Self, Error> {
        parameters.check()?;
        let translation = Translation::new(&parameters);
        let planes = parameters.shape().planes as usize;
        let pages = parameters.write_buffer_bytes / parameters.page_bytes;
        Ok(Flash {
            translation,
            firmware: 0,
            link: Limit::default(),
            channels: vec![Channel::default(); parameters.channels as usize],
            planes: vec![0; planes],
            buffer: Buffer { pages: pages as usize, programmed: BinaryHeap::new() },
            commands: 0,
            in_flight: Completions::default(),
            parameters,
        })
    }

    /// Pages that garbage collection has moved: what was programmed beside what the host wrote.
    #[must_use]
    pub fn moved_pages(&self) -> u64 {
        self.translation.moved()
    }

    /// The pages of an I/O, with the bytes of each. An I/O over the drive's size touches every page
    /// once.
    fn pages(&self, io: Io) -> impl Iterator<Item = (u64, u64)> + use<> {
        let page = self.parameters.page_bytes;
        let end = io.offset.saturating_add(io.bytes.min(self.parameters.capacity_bytes));
        (io.offset / page..end.div_ceil(page)).map(move |number| {
            let from = io.offset.max(number * page);
            (number, end.min((number + 1).saturating_mul(page)) - from)
        })
    }

    fn read(&mut self, io: Io, ready: Nanos) -> Nanos {
        let (mut first, mut last, mut last_bytes) = (Nanos::MAX, ready, 0);
        for (number, bytes) in self.pages(io) {
            let plane = self.translation.plane(self.translation.page(number));
            let sensed = self.planes[plane].max(ready).saturating_add(self.parameters.read_ns);
            let arrived = self.over_bus(plane, ready, sensed, bytes);
            self.planes[plane] = arrived;
            first = first.min(arrived);
            if arrived >= last {
                (last, last_bytes) = (arrived, bytes);
            }
        }
        let rate = self.parameters.link_bytes_per_second;
        let transfer = transfer_ns(io.bytes, rate);
        let limit = self.link.add(ready, transfer);
        let followed = first.saturating_add(transfer);
        limit.max(followed).max(last.saturating_add(transfer_ns(last_bytes, rate)))
    }

    /// Moves a page over its plane's bus once it is `ready_page`. Returns when it has arrived.
    fn over_bus(&mut self, plane: usize, ready: Nanos, ready_page: Nanos, bytes: u64) -> Nanos {
        let transfer = transfer_ns(bytes, self.parameters.bus_bytes_per_second);
        let number = plane % self.channels.len();
        let channel = &mut self.channels[number];
        let before = if channel.command == self.commands { channel.last } else { 0 };
        let limit = channel.limit.add(ready, transfer);
        let arrived = limit.max(ready_page.max(before).saturating_add(transfer));
        (channel.command, channel.last) = (self.commands, arrived);
        arrived
    }

    fn write(&mut self, io: Io, ready: Nanos) -> Nanos {
        let transfer = transfer_ns(io.bytes, self.parameters.link_bytes_per_second);
        let here = self.link.add(ready, transfer);
        let mut end = here;
        for (number, bytes) in self.pages(io) {
            let buffered = self.buffer.pages > 0;
            let taken = if buffered { self.buffer.room(here) } else { here };
            let (plane, making_room) = self.translation.write(self.translation.page(number));
            let free = self.planes[plane].max(taken).saturating_add(making_room);
            let arrived = self.over_bus(plane, taken, free, bytes);
            let programmed = arrived.saturating_add(self.parameters.program_ns);
            self.planes[plane] = programmed;
            if buffered {
                self.buffer.programmed.push(Reverse(programmed));
            }
            end = end.max(if buffered { taken } else { programmed });
        }
        end
    }
}

impl DeviceModel for Flash {
    fn submit(&mut self, now: Nanos, io: Io) {
        self.commands += 1;
        let ready = self.firmware.max(now).saturating_add(self.parameters.overhead_ns);
        self.firmware = ready;
        let end = match (io.bytes, io.write) {
            (0, _) => ready,
            (_, true) => self.write(io, ready),
            (_, false) => self.read(io, ready),
        };
        self.in_flight.push(end, io);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.in_flight.next()
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        self.in_flight.drain(now, done);
    }

    /// Those of reads. A request costs what 4096 bytes take alone. The bandwidth is that of the
    /// narrowest of link, buses and planes. The depth is how many such requests the firmware has
    /// under way at most, or the planes serve.
    fn costs(&self) -> Costs {
        let FlashParameters { page_bytes, read_ns, overhead_ns, .. } = self.parameters;
        let (bus, link) =
            (self.parameters.bus_bytes_per_second, self.parameters.link_bytes_per_second);
        let small = page_bytes.min(4096);
        let alone = overhead_ns + read_ns + transfer_ns(small, bus) + transfer_ns(small, link);
        let page_ns = read_ns.saturating_add(transfer_ns(page_bytes, bus)).max(1);
        let planes = self.planes.len() as u128;
        let cells = planes * u128::from(page_bytes) * 1_000_000_000 / u128::from(page_ns);
        let buses = u128::from(bus) * self.channels.len() as u128;
        let rate = u128::from(link).min(buses).min(cells).max(1);
        let under_way = alone.checked_div(overhead_ns).unwrap_or(u64::MAX).max(1);
        Costs {
            request_ns: alone,
            bytes_per_second: rate as u64,
            depth: u32::try_from(under_way.min(self.planes.len() as u64)).unwrap_or(u32::MAX),
        }
    }
}
