//! Reads the next window of cached bytes of a file: as a mapping of the page cache, or by a copy
//! where that costs less.

use super::block::Block;
use super::device::Device;
use super::kernel::Kernel;
use super::options::Options;
use super::planned::Planned;
use crate::cached::pages;
use crate::touch::spacing;
use seekless_sys::memory::page_bytes;
use seekless_sys::reads::{Caching, fill_by};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The bytes mapped at a time: enough that system calls do not show, few enough that page tables do
/// not.
const WINDOW_BYTES: u64 = 4 << 20;
/// Below this a copy costs less than a mapping.
const MAPPED_BYTES_MIN: u64 = 128 << 10;
/// The bytes of one copy.
const COPIED_BYTES: u64 = 256 << 10;
/// A read slower than this did not come from the cache.
const SURPRISE: Duration = Duration::from_millis(4);
/// The least time between two looks because of surprises.
const LOOKS_APART: Duration = Duration::from_millis(50);

/// The outcome of a read.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A block that starts at this offset.
    Block(u64, Block),
    /// Some of the window has left the cache, so all of it counts as absent now.
    Gone,
    /// It must be asked again what is cached before more is read.
    Stale,
    /// The file is shorter than it was.
    Short,
    Failed(io::Error),
}

/// Reads the cached windows of one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows<'a> {
    pub(super) kernel: &'a dyn Kernel,
    pub(super) options: &'a Options,
    pub(super) open: &'a File,
}

impl Windows<'_> {
    /// Reads the next window.
    pub(super) fn next(&self, planned: &mut Planned, device: &mut Device) -> Outcome {
        let Some(run) = planned.left.cached.first() else { return Outcome::Gone };
        let step = self.options.read_bytes(WINDOW_BYTES);
        let window = run.start..run.end.min(run.start + (step - run.start % step));
        let just_looked = std::mem::take(&mut planned.answer.just_looked);
        let all = pages(window.start, window.end - window.start);
        let count = || self.kernel.count(self.open, window.clone()).map(|pages| pages.cached);
        let cached = if planned.answer.once { None } else { count() };
        let gone = cached.is_some_and(|cached| cached < all);
        if gone && just_looked && self.options.reach.cached_only {
            planned.left.was_absent(window.end - window.start);
            return Outcome::Gone;
        }
        if (gone && !just_looked) || planned.answer.surprised {
            return Outcome::Stale;
        }
        let whole = cached.is_some_and(|cached| cached >= all);
        match whole.then(|| self.mapped(&window)).flatten() {
            Some(block) => {
                planned.left.cached.take(window.end - window.start);
                Outcome::Block(window.start, block)
            }
            None => self.copied(planned, device),
        }
    }

    /// A mapping of the window; `None` where a copy costs less, or it cannot be mapped.
    fn mapped(&self, window: &Range<u64>) -> Option<Block> {
        let bytes = window.end - window.start;
        if bytes < MAPPED_BYTES_MIN {
            return None;
        }
        let before = window.start % page_bytes();
        let map = self.kernel.map(self.open, window.start - before, (before + bytes) as usize)?;
        Some(Block::Mapped(map, before as usize..(before + bytes) as usize))
    }

    fn copied(&self, planned: &mut Planned, device: &mut Device) -> Outcome {
        let Some(range) = planned.left.cached.take(self.options.read_bytes(COPIED_BYTES)) else {
            return Outcome::Gone;
        };
        let bytes = (range.end - range.start) as usize;
        let mut buffer = device.small_buffer(bytes);
        let started = Instant::now();
        let read = fill_by(&mut buffer.whole_mut()[..bytes], range.start, 1, |rest, at| {
            self.kernel.read_at(self.open, rest, at, Caching::Usual)
        });
        match read {
            Err(error) => Outcome::Failed(error),
            Ok(read) if read < bytes => Outcome::Short,
            Ok(read) => {
                buffer.set_len(read);
                if started.elapsed() > SURPRISE {
                    surprised(planned);
                }
                Outcome::Block(range.start, Block::Read(buffer, 0..read))
            }
        }
    }
}

/// A read of cached bytes was too slow: they were probably not cached.
fn surprised(planned: &mut Planned) {
    if planned.answer.once {
        // A sample was wrong, or pages have left since: the threads read the rest of what a sample
        // stands for.
        planned.left.was_absent(spacing(planned.stamp.bytes - planned.base));
    } else if planned.answer.looked_at.elapsed() > LOOKS_APART {
        // A busy processor makes a read slow, too, so looks because of this are apart.
        planned.answer.surprised = true;
    }
}
