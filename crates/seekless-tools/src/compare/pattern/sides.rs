//! The two sides of a pattern as workloads that take turns: through the kernel, and through us.

use super::plan::Plan;
use seekless_job::{Error, ErrorKind, Result};
use seekless_measure::{
    BoxError, Checksum, Coldness, Dropping, Slowed, Trial, Workload, make_cold,
};
use seekless_page_cache::PageCache;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Opens and reads files.
pub(super) trait Reader {
    type File;

    fn name(&self) -> &'static str;

    /// Forgets what it has cached itself.
    fn forget(&self) {}

    /// Receives the list of files that will be opened, in their order.
    fn announce(&self, _plan: &Plan) {}

    fn open(&self, path: &Path) -> io::Result<Self::File>;

    fn read_at(file: &Self::File, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

/// `pread` through the kernel's page cache.
pub(super) struct Kernel;

impl Reader for Kernel {
    type File = File;

    fn name(&self) -> &'static str {
        "kernel"
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        File::open(path)
    }

    fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.read_at(buffer, offset)
    }
}

impl Reader for PageCache {
    type File = seekless_page_cache::File;

    fn name(&self) -> &'static str {
        "seekless"
    }

    fn forget(&self) {
        self.clear();
    }

    fn announce(&self, plan: &Plan) {
        PageCache::announce(self, plan.descriptors.iter().cloned());
    }

    fn open(&self, path: &Path) -> io::Result<seekless_page_cache::File> {
        PageCache::open(self, path).map_err(io::Error::other)
    }

    fn read_at(
        file: &seekless_page_cache::File,
        buffer: &mut [u8],
        offset: u64,
    ) -> io::Result<usize> {
        file.read_at(buffer, offset)
    }
}

/// One side, and how long its reads took.
pub(super) struct Side<'a, R> {
    pub(super) reader: R,
    pub(super) plan: &'a Plan,
    pub(super) slowed: Option<&'a Slowed>,
    pub(super) dropping: Dropping,
    pub(super) cancel: &'a AtomicBool,
    /// The median and the 99th percentile of the reads of each round, in nanoseconds.
    pub(super) latencies: Vec<(u64, u64)>,
}

impl<R: Reader> Side<'_, R> {
    /// Makes all reads. Returns how long that took, what came, and how long each read took.
    fn read(&self, progress: &mut dyn FnMut(f64)) -> Result<(Duration, Checksum, Vec<u64>)> {
        let plan = self.plan;
        let mut seen = Checksum::default();
        let mut latencies = Vec::with_capacity(plan.steps.len());
        let most = plan.steps.iter().map(|step| step.bytes).max().unwrap_or(0);
        let mut buffer = vec![0; most as usize];
        let began = Instant::now();
        let mut open = Vec::new();
        if plan.in_turn {
            self.reader.announce(plan);
        } else {
            for path in &plan.descriptors {
                open.push(self.open(path)?);
            }
        }
        let mut turn = None;
        for (number, step) in plan.steps.iter().enumerate() {
            if number.is_multiple_of(1024) {
                stop_if(self.cancel)?;
                progress(number as f64 / plan.steps.len() as f64);
            }
            let path = &plan.descriptors[step.descriptor as usize];
            let before = Instant::now();
            if plan.in_turn && turn != Some(step.descriptor) {
                open.clear();
                open.push(self.open(path)?);
                turn = Some(step.descriptor);
            }
            let file = if plan.in_turn { &open[0] } else { &open[step.descriptor as usize] };
            let target = &mut buffer[..step.bytes as usize];
            read_whole::<R>(file, target, step.offset)
                .map_err(|error| Error::unreadable(path, error))?;
            latencies.push(u64::try_from(before.elapsed().as_nanos()).unwrap_or(u64::MAX));
            seen.add(number as u64, target);
        }
        let elapsed = began.elapsed();
        Ok((elapsed, seen, latencies))
    }

    fn open(&self, path: &Path) -> Result<R::File> {
        self.reader.open(path).map_err(|error| Error::unreadable(path, error))
    }
}

fn read_whole<R: Reader>(file: &R::File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        match R::read_at(file, &mut buffer[filled..], offset + filled as u64) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl<R: Reader> Workload for Side<'_, R> {
    fn name(&self) -> &str {
        self.reader.name()
    }

    fn make_cold(&mut self) -> std::result::Result<Coldness, BoxError> {
        stop_if(self.cancel)?;
        self.reader.forget();
        Ok(make_cold(self.plan.files(), self.dropping)?)
    }

    fn run(&mut self, progress: &mut dyn FnMut(f64)) -> std::result::Result<Trial, BoxError> {
        let before = bytes_read();
        let (read, served) = match self.slowed {
            Some(slowed) => {
                let (read, served) = slowed.during(|| self.read(progress))?;
                (read?, Some(served))
            }
            None => (self.read(progress)?, None),
        };
        let (elapsed, seen, mut latencies) = read;
        latencies.sort_unstable();
        self.latencies.push((share(&latencies, 0.5), share(&latencies, 0.99)));
        let trial = Trial::ended(elapsed, seen);
        Ok(match served {
            Some(served) => trial.served(served.requests, served.bytes),
            None => {
                let bytes = before.zip(bytes_read()).map(|(before, after)| after - before);
                Trial { bytes, ..trial }
            }
        })
    }
}

/// The value below which so large a share of the sorted values lies.
fn share(sorted: &[u64], share: f64) -> u64 {
    let place = (sorted.len() as f64 * share) as usize;
    sorted.get(place.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0)
}

/// Bytes that this process has had read from devices, past the page cache or into it:
/// proc_pid_io(5).
fn bytes_read() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}

fn stop_if(cancel: &AtomicBool) -> Result<()> {
    match cancel.load(Ordering::Relaxed) {
        true => Err(Error::new(
            ErrorKind::Interrupted,
            "the comparison was interrupted; what it changed is put back",
        )),
        false => Ok(()),
    }
}
