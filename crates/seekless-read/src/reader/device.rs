//! The device of a reader: its reads under way, their buffers, the way past the page cache, and
//! what reads cost.

use super::block::Block;
use super::kernel::Kernel;
use super::learned::Learned;
use super::opened::DIRECT_BYTES;
use super::options::Options;
use super::parallel::{Parallel, READ_BYTES};
use super::threads::{Done, Job, Threads};
use crate::bypass::Way;
use seekless_device::PART_BYTES;
use seekless_engine::AlignedBuf;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Reads in flight, in a small cache and in a large one. The number is the same for every pass over
/// one cache: a pass that takes more memory pushes out some of what the pass before kept.
const DEPTH: usize = 2;
const DEPTH_LARGE: usize = 4;

#[derive(Debug)]
pub(super) struct Device {
    threads: Threads,
    depth: usize,
    /// The bytes of reads under way.
    under_way: u64,
    parallel: Parallel,
    /// The same of reads that stay in the cache, and those under way.
    kept: Parallel,
    kept_under_way: usize,
    read_bytes: u64,
    /// Unused buffers for reads from the device, and one for small cached reads.
    spare: Vec<AlignedBuf>,
    small: AlignedBuf,
    /// The best way past the cache that was not refused yet.
    bypass: Way,
    learned: Learned,
    /// A file on the device.
    path: Option<PathBuf>,
}

impl Device {
    pub(super) fn new(kernel: Arc<dyn Kernel>, options: &Options) -> Self {
        Device {
            threads: Threads::new(kernel),
            depth: DEPTH,
            under_way: 0,
            parallel: Parallel::new(DEPTH),
            kept: Parallel::of_folios(DEPTH),
            kept_under_way: 0,
            read_bytes: options.read_bytes(READ_BYTES),
            spare: Vec::new(),
            small: AlignedBuf::default(),
            bypass: Way::Direct,
            learned: Learned::default(),
            path: None,
        }
    }

    /// The best way past the cache that was not refused yet.
    pub(super) fn bypass(&self) -> Way {
        self.bypass
    }

    /// The bytes of one read in this way. A direct read of the usual size is as large as one
    /// request of the device: the kernel cuts one of a whole MiB in two. Only reads past the cache
    /// become smaller, so that many can be under way.
    pub(super) fn step_bytes(&self, way: Option<Way>) -> u64 {
        match way {
            None => self.read_bytes,
            Some(way) => match self.parallel.read_bytes().min(self.read_bytes) {
                READ_BYTES if way == Way::Direct => PART_BYTES,
                bytes => bytes,
            },
        }
    }

    /// Keeps as many reads in flight from now on as a large cache allows.
    pub(super) fn deepen(&mut self) {
        self.depth = DEPTH_LARGE;
        self.parallel.set_usual(DEPTH_LARGE);
        self.kept.set_usual(DEPTH_LARGE);
    }

    /// The bytes after which it is asked whether what was read is kept. Reads in flight count as
    /// cached already, so this is twice their size.
    pub(super) fn growth_step_bytes(&self) -> u64 {
        2 * self.depth as u64 * self.read_bytes.min(READ_BYTES)
    }

    pub(super) fn has_place(&self) -> bool {
        let bytes_max = self.depth as u64 * self.read_bytes.max(READ_BYTES);
        self.threads.in_flight() < self.parallel.reads()
            && self.kept_under_way < self.kept.reads()
            && self.under_way < bytes_max
    }

    pub(super) fn is_busy(&self) -> bool {
        self.threads.in_flight() > 0
    }

    /// A buffer for a job.
    pub(super) fn buffer(&mut self) -> AlignedBuf {
        let capacity = self.capacity();
        let fits = |spare: &AlignedBuf| (capacity..=2 * capacity).contains(&spare.capacity());
        let spare = std::iter::from_fn(|| self.spare.pop()).find(fits);
        spare.unwrap_or_else(|| AlignedBuf::with_capacity(capacity))
    }

    /// A buffer of at least `bytes` for a small read.
    pub(super) fn small_buffer(&mut self, bytes: usize) -> AlignedBuf {
        let buffer = std::mem::take(&mut self.small);
        if buffer.capacity() < bytes { AlignedBuf::with_capacity(bytes) } else { buffer }
    }

    /// Keeps a buffer for a later read.
    pub(super) fn recycle(&mut self, buffer: AlignedBuf) {
        match buffer.capacity() {
            bytes if bytes < self.capacity() => self.small = buffer,
            // Reads have become smaller, and more.
            bytes if bytes > 2 * self.capacity() => {}
            _ => self.spare.push(buffer),
        }
    }

    /// Keeps the buffer of a block that was handed out.
    pub(super) fn recycle_block(&mut self, block: Block) {
        if let Block::Read(buffer, _) = block {
            self.recycle(buffer);
        }
    }

    fn capacity(&self) -> usize {
        (self.read_bytes.min(self.parallel.read_bytes()) + 2 * DIRECT_BYTES) as usize
    }

    /// Starts a read.
    pub(super) fn start(&mut self, job: Job) {
        self.learned.starts();
        self.under_way += job.range.end - job.range.start;
        self.kept_under_way += usize::from(job.way.is_none());
        self.threads.submit(job);
    }

    /// The oldest read, if it has ended.
    pub(super) fn ready(&mut self) -> Option<Done> {
        let done = self.threads.ready();
        self.ended(done)
    }

    /// The oldest read, as soon as it has ended; `None` if no read is under way.
    pub(super) fn wait(&mut self) -> Option<Done> {
        let done = self.threads.wait();
        self.ended(done)
    }

    fn ended(&mut self, done: Option<Done>) -> Option<Done> {
        let done = done?;
        let Job { range, way, sliver, .. } = &done.job;
        let past_cache = matches!(way, Some(Way::Direct | Way::Leave)) && done.result.is_ok();
        let (bytes, idle) = (range.end - range.start, self.threads.in_flight() == 0);
        self.under_way -= bytes;
        self.learned.ended(past_cache.then_some(bytes), idle);
        let is_kept = way.is_none();
        self.kept_under_way -= usize::from(is_kept);
        match is_kept {
            _ if *sliver || done.result.is_err() => {}
            true => self.kept.ended(bytes, idle, Instant::now()),
            false => self.parallel.ended(bytes, idle, Instant::now()),
        }
        if let Some(way) = way.filter(|_| done.result.is_ok() && !sliver) {
            self.bypass = self.bypass.max(way);
            if way == Way::Exact {
                self.parallel.set_cut();
            }
        }
        Some(done)
    }

    /// Says on which device the reads are: that of the first file named.
    pub(super) fn note_file(&mut self, path: &Path) {
        self.path.get_or_insert_with(|| path.to_owned());
    }

    /// Reports once to the device table what reads have cost.
    pub(super) fn tell_table(&mut self, kernel: &dyn Kernel) {
        let cost = std::mem::take(&mut self.learned).cost();
        if let (Some(cost), Some(path)) = (cost, &self.path) {
            kernel.learn(path, cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::kernel::Linux;
    use seekless_device::parts;
    use std::io::Write;

    fn device(chunk_bytes: usize) -> Device {
        Device::new(Arc::new(Linux::default()), &Options { chunk_bytes, ..Options::default() })
    }

    #[test]
    fn a_direct_read_is_one_request() {
        let step = |chunk_bytes, way| device(chunk_bytes).step_bytes(way);
        let direct = step(256 << 10, Some(Way::Direct));
        assert_eq!((parts(direct), parts(direct + 1), direct % DIRECT_BYTES), (1, 2, 0));
        assert_eq!(step(256 << 10, Some(Way::Leave)), READ_BYTES);
        assert_eq!(step(256 << 10, None), READ_BYTES);
        assert_eq!(step(4096, Some(Way::Direct)), 4096, "small chunks make small reads");
    }

    #[test]
    fn buffers_are_used_again_for_what_they_are_large_enough_for() {
        let mut device = device(256 << 10);
        let (large, small) = (device.buffer(), device.small_buffer(1000));
        assert!(
            large.capacity() as u64 >= READ_BYTES + 2 * DIRECT_BYTES
                && small.capacity() < large.capacity()
        );
        let addresses = [large.as_ptr(), small.as_ptr()];
        device.recycle(large);
        device.recycle_block(Block::Read(small, 0..0));
        assert_eq!([device.buffer().as_ptr(), device.small_buffer(1000).as_ptr()], addresses);
    }

    #[test]
    fn as_many_reads_are_under_way_as_the_depth_says_and_a_refused_way_is_not_tried_again() {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&[7; 100_000]).unwrap();
        let file = Arc::new(file);
        let mut device = device(10_000);
        assert_eq!((device.step_bytes(None), device.growth_step_bytes()), (10_000, 40_000));
        let mut started = 0;
        while device.has_place() {
            let buffer = device.buffer();
            let range = started * 10_000..(started + 1) * 10_000;
            // No descriptor for direct reads: that way is refused.
            let (way, direct, buffered) = (Some(device.bypass()), None, Arc::clone(&file));
            device.start(Job {
                file: 3,
                life: 0,
                range,
                way,
                sliver: false,
                folio: false,
                in_turn: false,
                buffered,
                direct,
                buffer,
            });
            started += 1;
        }
        assert_eq!(started, DEPTH as u64);
        assert!(device.is_busy());
        for _ in 0..started {
            assert!(device.wait().is_some_and(|done| done.result.is_ok()));
        }
        assert!(device.wait().is_none() && !device.is_busy());
        assert!(device.bypass() > Way::Direct);
        device.deepen();
        assert_eq!(device.growth_step_bytes(), 80_000);
    }
}
