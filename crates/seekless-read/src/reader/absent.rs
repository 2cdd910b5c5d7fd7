//! What is not cached: starts reads of the device, and takes in what they bring.

use super::Reader;
use super::block::Block;
use super::kernel::Kernel;
use super::opened::Opened;
use super::options::Options;
use super::parallel::READ_BYTES;
use super::planned::Answer;
use super::schedule::Turn;
use super::threads::{Delivered, Done, Job};
use crate::bypass::Way;
use crate::room::Belief;
use seekless_sys::folios::FOLIO_BYTES;
use seekless_sys::memory::page_bytes;
use std::fs::File;
use std::ops::Range;

impl Reader {
    /// Keeps the device busy, and waits for its next read; false when no read is under way.
    pub(super) fn read_absent(&mut self) -> bool {
        self.start_reads();
        let Some(done) = self.device.wait() else { return false };
        self.accept(done);
        true
    }

    /// Reads the gap before the next cached range, if it is short and reading it pushes out
    /// nothing, or next to nothing. False otherwise.
    pub(super) fn read_gap(&mut self) -> bool {
        let spared = self.judge_room().is_spared();
        let gap = spared && self.schedule.first_on_device().is_some_and(|file| self.is_gap(file));
        (gap || self.device.is_busy()) && self.read_absent()
    }

    /// Whether no cached bytes of an earlier file are to come, and the file starts with a gap
    /// before cached bytes.
    fn is_gap(&mut self, file: usize) -> bool {
        self.schedule.is_next(file)
            && self.files.planned(file).is_some_and(|planned| planned.left.starts_with_gap())
    }

    /// Keeps the device busy.
    pub(super) fn start_reads(&mut self) {
        let Options { reach, overlap, in_order, .. } = self.options;
        while !reach.cached_only && self.device.has_place() {
            let cached_over = self.schedule.next_cached().is_none() && self.files.all_surveyed();
            let Some(Turn { price, file }) = self.schedule.next_absent(cached_over) else { return };
            if in_order && !cached_over && !self.is_gap(file) {
                return;
            }
            if self.schedule.devices_differ() && price.is_dear_beside(self.reading) {
                // One that may stop early first sees all that is under way, and all that is cached.
                if !overlap && (self.device.is_busy() || !(cached_over || in_order)) {
                    return;
                }
                self.reading = price;
                self.look_at_dear();
                continue;
            }
            let Some(opened) = self.opened(file) else { return };
            if self.files.planned(file).is_some_and(|planned| planned.is_stale()) {
                self.look_again(file, &opened);
                continue;
            }
            self.reading = price;
            self.start_read(file, opened, cached_over);
        }
    }

    fn start_read(&mut self, file: usize, mut opened: Opened, cached_over: bool) {
        let life = self.files[file].life;
        let Some(planned) = self.files.planned(file) else { return };
        let Answer { known, once, .. } = planned.answer;
        let belief = self.room.belief();
        let sliver = planned.left.fills_sliver(cached_over);
        let way = match belief {
            _ if sliver => Some(Way::Exact),
            Belief::Full if known => Some(self.device.bypass()),
            _ => None,
        };
        let direct = if way == Some(Way::Direct) { opened.direct() } else { None };
        if way.is_none() {
            let bytes = planned.stamp.bytes;
            let cached = || cached_bytes(&*self.kernel, &opened.buffered, bytes);
            self.room.begin(file, || if once { None } else { cached() });
        }
        let ranges = if sliver { &mut planned.left.slivers } else { &mut planned.left.absent };
        let first = ranges.first().unwrap_or(0..0);
        let step = self.device.step_bytes(way);
        // A plain read with readahead where the cache has room; and where it is unknown what is
        // cached or whether it stays, as any other program reads.
        let unseen = !known || once;
        let plain = way.is_none() && (belief == Belief::Enough || unseen);
        let folio = way.is_none()
            && !plain
            && step >= READ_BYTES
            && starts_folio(&first, planned.stamp.bytes);
        // Up to the next multiple of the step, so that requests stay aligned.
        let taken = ranges.take(if folio { FOLIO_BYTES } else { step - first.start % step });
        let Some(range) = taken else { return self.sort(file) };
        planned.in_flight += 1;
        let buffered = if plain { opened.ahead() } else { opened.buffered.clone() };
        planned.opened = Some(opened);
        self.sort(file);
        let buffer = self.device.buffer();
        let in_turn = plain && unseen;
        let job = Job { file, life, range, way, sliver, folio, in_turn, buffered, direct, buffer };
        self.device.start(job);
    }

    /// Takes in a read that the device has ended.
    pub(super) fn accept(&mut self, done: Done) {
        let Done { job, result } = done;
        let file = job.file;
        // The job may be of an earlier life of the file, or of a file that has ended.
        let current = self.files.get(file).is_some_and(|source| source.life == job.life);
        let Some(planned) = self.files.planned(file).filter(|_| current) else {
            return self.device.recycle(job.buffer);
        };
        planned.in_flight -= 1;
        let (file_bytes, once) = (planned.stamp.bytes, planned.answer.once);
        let wanted = job.range.end - job.range.start;
        let block = match result {
            Ok(Delivered::Read(range)) if range.len() as u64 == wanted => {
                Block::Read(job.buffer, range)
            }
            Ok(Delivered::Mapped(map)) => {
                self.device.recycle(job.buffer);
                Block::Mapped(map, 0..wanted as usize)
            }
            Ok(Delivered::Read(_)) => {
                self.device.recycle(job.buffer);
                return self.restart(file); // shorter than it was
            }
            Err(error) => {
                self.device.recycle(job.buffer);
                return self.fail(file, error);
            }
        };
        self.statistics.device_bytes += wanted;
        if job.way.is_none() {
            let step = self.device.growth_step_bytes();
            let cached = || cached_bytes(&*self.kernel, &job.buffered, file_bytes);
            self.room.kept(file, wanted, step, || if once { None } else { cached() });
        } else if !job.sliver {
            self.statistics.bypassed_bytes += wanted;
        }
        self.take_in(file, job.range.start, block);
    }
}

/// The bytes of a file that are cached; `None` if unknown.
fn cached_bytes(kernel: &dyn Kernel, open: &File, file_bytes: u64) -> Option<u64> {
    kernel.count(open, 0..file_bytes).map(|pages| pages.cached * page_bytes())
}

/// Whether the range starts with a whole folio, or with the last part of one that the file has.
fn starts_folio(range: &Range<u64>, file_bytes: u64) -> bool {
    let end = (range.start + FOLIO_BYTES).min(file_bytes);
    range.start.is_multiple_of(FOLIO_BYTES) && range.start < end && end <= range.end
}
