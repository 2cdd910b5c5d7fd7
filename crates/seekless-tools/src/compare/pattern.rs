//! `seekless compare --pattern`: reads one file in a pattern, cold, through the kernel's page cache
//! and through ours, in turn.
//!
//! Both sides read ahead at most as far: the kernel's window on the device is set to ours where
//! that is allowed (root), and stated.

mod plan;
mod sides;
mod spec;

use super::slow;
use plan::Plan;
use seekless_device::{DeviceSpec, median_of};
use seekless_job::{Error, ErrorKind, Result};
use seekless_measure::{Dropping, Figures, KernelWindow, alternate_with_progress};
use seekless_page_cache::PageCache;
use seekless_policy::readahead::{self, named};
use serde::Serialize;
use sides::{Kernel, Side};
pub use spec::{FORMS, Kind, Pattern};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How to compare a pattern.
#[derive(Clone, Debug)]
pub struct PatternOptions {
    /// Bytes to read in a round, unless the pattern ends before.
    pub amount_bytes: u64,
    /// The largest window of both sides in bytes.
    pub window_bytes: u64,
    /// Our readahead by name.
    pub readahead: String,
    /// Our eviction policy by name.
    pub policy: String,
    /// Our cache in bytes.
    pub cache_bytes: u64,
    /// Timed rounds, after one that is discarded.
    pub rounds: u32,
    /// Limits on the real device. Needs root.
    pub throttle: Option<DeviceSpec>,
    /// Before each trial also empty the whole machine's caches. Needs root.
    pub drop_all_caches: bool,
    /// Set it from elsewhere to give up: what was changed is put back.
    pub cancel: Arc<AtomicBool>,
}

impl Default for PatternOptions {
    fn default() -> Self {
        Self {
            amount_bytes: 256 << 20,
            window_bytes: 8 << 20,
            readahead: "streams".to_owned(),
            policy: "lru".to_owned(),
            cache_bytes: 256 << 20,
            rounds: 5,
            throttle: None,
            drop_all_caches: false,
            cancel: Arc::default(),
        }
    }
}

/// One side's figures.
#[derive(Clone, Debug, Serialize)]
pub struct SideFigures {
    /// Times, ratio, requests and bytes.
    #[serde(flatten)]
    pub figures: Figures,
    /// Bytes delivered a second, in the median round.
    pub bytes_per_second: u64,
    /// Bytes that the device read for each byte delivered; `None` where the kernel does not say.
    pub waste: Option<f64>,
    /// The median time of a read in nanoseconds: the median of the rounds.
    pub p50_ns: u64,
    /// The time that 99 of 100 reads do not exceed, in nanoseconds: the median of the rounds.
    pub p99_ns: u64,
}

/// What came of one pattern.
#[derive(Clone, Debug, Serialize)]
pub struct PatternComparison {
    /// The pattern in words.
    pub pattern: Pattern,
    /// Reads in a round.
    pub reads: u64,
    /// The limits on the device, in their own words; `None` is the device as it is.
    pub device: Option<String>,
    /// The kernel's largest window in bytes; `None` where it does not say.
    pub kernel_window_bytes: Option<u64>,
    /// Ours.
    pub window_bytes: u64,
    /// Our readahead.
    pub readahead: String,
    /// Timed rounds.
    pub rounds: u32,
    /// Through the kernel.
    pub kernel: SideFigures,
    /// Through us.
    pub seekless: SideFigures,
}

/// Reads `path` in `pattern` through the kernel and through us. `progress` is given the amount
/// done, and the total.
///
/// # Errors
/// When the pattern does not fit the file, a setting is unusable, a read fails, or the device
/// cannot be throttled.
pub fn compare_pattern(
    path: &Path,
    pattern: Pattern,
    options: &PatternOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<PatternComparison> {
    let plan = Plan::new(path, pattern, options.amount_bytes)?;
    // It stays set until the end. Where it may not be set, it is stated as it is.
    let _set = KernelWindow::set(path, options.window_bytes).ok();
    let kernel_window_bytes = KernelWindow::of(path);
    let slowed = options.throttle.as_ref().map(|spec| slow(spec, &[path])).transpose()?;
    let machine = options.drop_all_caches || slowed.is_some();
    let dropping = if machine { Dropping::Machine } else { Dropping::Files };
    let (slowed, cancel, plan) = (slowed.as_ref(), &*options.cancel, &plan);
    let latencies = Vec::new();
    let mut kernel = Side { reader: Kernel, plan, slowed, dropping, cancel, latencies };
    let latencies = Vec::new();
    let mut ours = Side { reader: cache(options)?, plan, slowed, dropping, cancel, latencies };
    let rounds = options.rounds as usize;
    let ran = alternate_with_progress(&mut [&mut kernel, &mut ours], rounds, progress);
    if options.cancel.load(Ordering::Relaxed) {
        let message = "the comparison was interrupted; what it changed is put back";
        return Err(Error::new(ErrorKind::Interrupted, message));
    }
    let ended = |error| Error::because(ErrorKind::Measure, "the comparison ended early", error);
    let [of_kernel, of_ours] =
        <[Figures; 2]>::try_from(ran.map_err(ended)?).expect("two sides have two figures");
    Ok(PatternComparison {
        pattern,
        reads: plan.steps.len() as u64,
        device: options.throttle.as_ref().map(ToString::to_string),
        kernel_window_bytes,
        window_bytes: options.window_bytes,
        readahead: options.readahead.clone(),
        rounds: options.rounds,
        kernel: side(of_kernel, &kernel.latencies),
        seekless: side(of_ours, &ours.latencies),
    })
}

fn cache(options: &PatternOptions) -> Result<PageCache> {
    let invalid = |error: &dyn std::fmt::Display| Error::new(ErrorKind::Invalid, error.to_string());
    let limits = readahead::Options::with_max_bytes(options.window_bytes);
    let readahead = named(&options.readahead, limits).map_err(|error| invalid(&error))?;
    let mut builder = PageCache::builder()
        .bytes(options.cache_bytes)
        .policy(&options.policy)
        .readahead(readahead);
    if let Some(costs) = options.throttle.as_ref().map(DeviceSpec::costs) {
        builder = builder.costs(costs);
    }
    builder.build().map_err(|error| invalid(&error))
}

/// The figures of one side. The first round's latencies are discarded, as its times are.
fn side(figures: Figures, latencies: &[(u64, u64)]) -> SideFigures {
    let counted = latencies.get(1..).unwrap_or_default();
    let delivered = figures.delivered_bytes;
    let rate = u128::from(delivered) * 1_000_000_000 / u128::from(figures.median_ns.max(1));
    SideFigures {
        bytes_per_second: u64::try_from(rate).unwrap_or(u64::MAX),
        waste: figures.bytes.map(|bytes| bytes as f64 / delivered.max(1) as f64),
        p50_ns: median(counted.iter().map(|(p50, _)| *p50)),
        p99_ns: median(counted.iter().map(|(_, p99)| *p99)),
        figures,
    }
}

fn median(values: impl Iterator<Item = u64>) -> u64 {
    median_of(values).unwrap_or(0)
}

#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
