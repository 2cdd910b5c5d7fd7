//! Reads of many files at once, in the order in which they lie on the device and handed over
//! together: the kernel then joins those that lie side by side into one request, also where they
//! are of several files.

use super::bring::Opened;
use rustix::fs::{Advice, fadvise};
use seekless_engine::{AlignedBuf, Completion, Engine, Read, Ring, automatic};
use seekless_policy::layout::extents::Extent;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A wave has at most so many reads, and so many bytes beyond the first: a program's own reads wait
/// behind it.
pub(crate) const READS_MAX: usize = 1024;
pub(crate) const BYTES_MAX: u64 = 32 << 20;

/// How full a wave is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fill {
    reads: usize,
    bytes: u64,
}

impl Fill {
    /// Adds a read of so many bytes; false if it is one of the next wave.
    pub(crate) fn add(&mut self, bytes: u64) -> bool {
        let sum = self.bytes.saturating_add(bytes);
        let fits = self.reads == 0 || self.reads < READS_MAX && sum <= BYTES_MAX;
        if fits {
            (self.reads, self.bytes) = (self.reads + 1, sum);
        }
        fits
    }
}

/// Makes waves.
pub(crate) struct Waves {
    engine: Arc<dyn Engine>,
}

/// A wave under way.
pub(crate) struct Wave(Receiver<Completion>);

/// A range of a file, and where it lies.
struct Placed {
    place: u64,
    opened: Arc<Opened>,
    extent: Extent,
}

impl Waves {
    pub(crate) fn new() -> Self {
        let ring = Ring::with_depth(READS_MAX as u32);
        let ring = ring.ok().map(|ring| Arc::new(ring) as Arc<dyn Engine>);
        Self { engine: ring.unwrap_or_else(automatic) }
    }

    /// Begins a wave: what is cached, and what there is no memory for, is left out.
    pub(crate) fn begin(&self, reads: impl Iterator<Item = (Arc<Opened>, Extent)>) -> Wave {
        let placed = |(opened, extent): (Arc<Opened>, Extent)| {
            let place = opened.place(extent.offset).unwrap_or(u64::MAX);
            Placed { place, opened, extent }
        };
        let mut wave: Vec<Placed> = reads.map(placed).collect();
        wave.sort_by_key(|read| read.place);
        let (done, ended) = channel();
        self.engine.submit(wave.into_iter().filter_map(|read| read.asked(&done)).collect());
        Wave(ended)
    }
}

impl Wave {
    /// Waits until all of it has been read.
    pub(crate) fn wait(self) {
        // Of a read that failed the program hears itself.
        self.0.iter().for_each(drop);
    }
}

impl Placed {
    fn asked(self, done: &Sender<Completion>) -> Option<Read> {
        let Self { opened, extent, .. } = self;
        if opened.cached(extent).is_some_and(|bytes| bytes >= extent.bytes) {
            return None;
        }
        let buffer = AlignedBuf::try_with_capacity(usize::try_from(extent.bytes).ok()?).ok()?;
        // Else the kernel reads more than is asked for.
        let _ = fadvise(&opened.file, 0, None, Advice::Random);
        let (file, done) = (Arc::clone(&opened.file), done.clone().into());
        Some(Read { file, offset: extent.offset, buffer, tag: 0, done })
    }
}

#[cfg(test)]
mod tests {
    use super::super::bring::{Recorded, open};
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_wave_is_full_by_reads_or_by_bytes_and_holds_one_of_any_size() {
        let mut many = Fill::default();
        assert_eq!((0..2 * READS_MAX).filter(|_| many.add(1)).count(), READS_MAX);
        let mut large = Fill::default();
        assert!(large.add(2 * BYTES_MAX) && !large.add(1));
        let mut exact = Fill::default();
        assert!(exact.add(BYTES_MAX - 1) && exact.add(1) && !exact.add(1));
    }

    #[test]
    fn after_a_wave_all_of_it_is_cached_and_nothing_else() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let mut opened = Vec::new();
        for name in 0..40 {
            let path = folder.path().join(name.to_string());
            std::fs::write(&path, vec![7; 256 << 10]).unwrap();
            std::fs::File::open(&path).unwrap().sync_all().unwrap();
            let found = open(&path, &Recorded::default(), &[]).unwrap();
            seekless_sys::residency::drop_cached(found.file.as_fd()).unwrap();
            opened.push(Arc::new(found));
        }
        let part = Extent { offset: 64 << 10, bytes: 8 << 10 };
        let all = Extent { offset: 0, bytes: 256 << 10 };
        if opened.iter().any(|file| file.cached(all) != Some(0)) {
            return eprintln!("skipped: the files cannot be dropped from the cache");
        }
        let waves = Waves::new();
        waves.begin(opened.iter().map(|file| (Arc::clone(file), part))).wait();
        for file in &opened {
            let counts = (file.cached(part), file.cached(all));
            assert_eq!(counts.0, Some(8 << 10), "{counts:?}");
            assert!(counts.1.unwrap() < 128 << 10, "{counts:?}");
        }
    }
}
