//! Several cases at once.

use super::case::{Rules, TimedCase, check};
use super::figures::TimedFigures;
use super::run::simulate;
use super::workload::Workload;
use crate::Result;
use rayon::prelude::*;
use seekless_device::DeviceModel;
use std::sync::Mutex;

/// Simulates every case on all cores, each with a device of its own from `device`, and returns the
/// figures in the order of the cases. Calls `progress` with the number of finished cases and of
/// all.
///
/// # Errors
/// As [`check`], of the first case that fails.
pub fn each(
    workload: &Workload,
    cases: &[TimedCase],
    rules: &Rules,
    device: &(dyn Fn() -> Box<dyn DeviceModel> + Sync),
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Vec<TimedFigures>> {
    check(cases)?;
    let finished = Mutex::new((0, progress));
    let total = cases.len() as u64;
    let run = |case: &TimedCase| {
        let figures = simulate(workload, case, rules, &mut *device())?;
        if let Ok(mut finished) = finished.lock() {
            finished.0 += 1;
            let done = finished.0;
            (finished.1)(done, total);
        }
        Ok(figures)
    };
    cases.par_iter().map(run).collect()
}
