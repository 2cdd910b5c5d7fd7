//! A real file or device as a device to be timed: I/O past the page cache, from one thread.

use super::{Request, Span, Timed};
use crate::replay::{Ended, Io, Live, Stage, Target};
use crate::{Error, ErrorKind};
use seekless_device::Nanos;
use seekless_sys::extents::extents;
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

/// I/Os at once, and the length of one; longer requests are cut.
const SLOTS: u32 = 512;
const SLOT_BYTES: u64 = 256 << 10;
/// The last stretch of a pause is waited for awake: a sleeping thread comes back late.
const AWAKE: Duration = Duration::from_micros(150);
/// Extents of a file that are looked at.
const EXTENTS_MAX: usize = 16_384;
/// With less room, nothing of a device's inside would show.
const BYTES_MIN: u64 = 32 << 20;

/// A target and the longest range of it that lies in one piece on the device.
pub struct Probed {
    live: Live,
    from: u64,
    bytes: u64,
    grain: u64,
    ended: Vec<Ended>,
}

impl std::fmt::Debug for Probed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Probed").field("from", &self.from).field("bytes", &self.bytes).finish()
    }
}

impl Probed {
    /// Sets up I/O on an open target.
    ///
    /// # Errors
    /// The page cache cannot be passed by, the target is too small, or memory is short.
    pub fn new(path: &Path, target: &Target) -> Result<Self, Error> {
        if !target.is_direct() {
            let why = "cannot be read past the page cache (O_DIRECT), so that reads would show the \
                       memory's times: name a file of another file system, or the device";
            return Err(Error::new(ErrorKind::Nothing, format!("{}: {why}", path.display())));
        }
        let size = target.file_bytes().first().copied().unwrap_or(0);
        let range = longest(path, size)?;
        let grain = target.limits().alignment.max(512);
        let from = range.0.next_multiple_of(grain);
        let bytes = range.1.saturating_sub(from) / grain * grain;
        if bytes < BYTES_MIN {
            let why = format!(
                "its longest piece on the device has {} MiB of data; a probe needs {} MiB in one \
                 piece: name a larger file that is not sparse, or the device",
                bytes >> 20,
                BYTES_MIN >> 20
            );
            return Err(Error::new(ErrorKind::Nothing, format!("{}: {why}", path.display())));
        }
        let live = Live::new(target, SLOTS, SLOT_BYTES, vec![0x5E], false)?;
        Ok(Probed { live, from, bytes, grain, ended: Vec::new() })
    }

    /// With what it reads.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        self.live.engine()
    }
}

/// The longest range of a file that lies in one piece; a whole device.
fn longest(path: &Path, size: u64) -> Result<(u64, u64), Error> {
    let failed = |error| Error::io(path, "cannot be examined", error);
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.file_type().is_block_device() {
        return Ok((0, size));
    }
    let Some(found) = extents(&file, 0..size, EXTENTS_MAX).map_err(failed)? else {
        return Ok((0, size));
    };
    let mut pieces: Vec<(u64, u64, u64)> = Vec::new();
    for extent in found.list.iter().filter(|extent| !extent.unwritten) {
        let Some(place) = extent.place else { continue };
        let end = extent.offset.saturating_add(extent.bytes).min(size);
        match pieces.last_mut() {
            Some(last) if last.1 == extent.offset && last.2 + (last.1 - last.0) == place => {
                last.1 = end;
            }
            _ => pieces.push((extent.offset, end, place)),
        }
    }
    let longest = pieces.iter().max_by_key(|piece| piece.1.saturating_sub(piece.0));
    Ok(longest.map_or((0, 0), |piece| (piece.0, piece.1)))
}

impl Timed for Probed {
    fn run(&mut self, requests: &[Request]) -> Result<Vec<Span>, Error> {
        let begin = self.live.now();
        let mut spans = vec![Span { begin, end: begin }; requests.len()];
        // The pieces of each request, in order, and which request has which slot.
        let mut pieces: VecDeque<(usize, Io)> = VecDeque::new();
        for (number, request) in requests.iter().enumerate() {
            let mut done = 0;
            while done < request.bytes {
                let bytes = (request.bytes - done).min(SLOT_BYTES);
                let offset = self.from + (request.offset + done).min(self.bytes - bytes);
                let write = request.write;
                pieces.push_back((
                    number,
                    Io { time_ns: 0, offset, bytes, file: 0, thread: 0, write },
                ));
                done += bytes;
            }
        }
        let slots = SLOTS.min(self.live.depth());
        let mut free: Vec<u32> = (0..slots).rev().collect();
        let mut doing = vec![0usize; slots as usize];
        while !pieces.is_empty() || free.len() < slots as usize {
            while let (Some(&slot), false) = (free.last(), pieces.is_empty()) {
                let Some((number, io)) = pieces.pop_front() else { break };
                free.pop();
                doing[slot as usize] = number;
                self.live.push(slot, &io);
            }
            self.ended.clear();
            self.live.turn(None, &mut self.ended)?;
            for ended in &self.ended {
                let span = &mut spans[doing[ended.slot as usize]];
                span.end = span.end.max(ended.at);
                free.push(ended.slot);
            }
        }
        Ok(spans)
    }

    fn now(&self) -> Nanos {
        self.live.now()
    }

    fn pause(&mut self, nanos: Nanos) {
        let until = self.live.now().saturating_add(nanos);
        let asleep = Duration::from_nanos(nanos).saturating_sub(AWAKE);
        if !asleep.is_zero() {
            std::thread::sleep(asleep);
        }
        while self.live.now() < until {
            std::hint::spin_loop();
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.bytes
    }

    fn grain_bytes(&self) -> u64 {
        self.grain
    }
}
