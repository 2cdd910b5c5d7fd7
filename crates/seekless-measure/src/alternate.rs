//! The rounds: rivals take turns, so that other work on the machine slows all of them alike.

use crate::figures::Rounds;
use crate::{Coldness, Error, ErrorKind, Figures, Trial, Workload};

#[cfg(test)]
mod tests;

/// Runs all workloads in turn, once to be thrown away and then `rounds` times (at least five for a
/// figure that is quoted), each from cold. Every round another workload goes first. The first
/// workload is the baseline.
///
/// # Errors
/// When there is nothing to run, a workload fails, or two trials delivered different bytes.
pub fn alternate(
    workloads: &mut [&mut dyn Workload],
    rounds: usize,
) -> Result<Vec<Figures>, Error> {
    alternate_with_progress(workloads, rounds, &mut |_, _| ())
}

/// The parts of a trial in which progress is reported.
const PARTS: u64 = 1000;

/// As [`alternate`]. Calls `progress` with the thousandths of trials that are done, and of all
/// trials. The discarded trials count too.
///
/// # Errors
/// As [`alternate`].
pub fn alternate_with_progress(
    workloads: &mut [&mut dyn Workload],
    rounds: usize,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Figures>, Error> {
    if workloads.is_empty() || rounds == 0 {
        let message = "nothing to measure: name at least one workload and one round".to_owned();
        return Err(Error::new(ErrorKind::Nothing, message));
    }
    let count = workloads.len();
    let mut seen: Vec<Rounds> = workloads.iter().map(|_| Rounds::default()).collect();
    let mut expected = None;
    let total = count as u64 * (rounds as u64 + 1) * PARTS;
    for turn in 0..count * (rounds + 1) {
        let round = turn / count;
        let which = (turn + round) % count;
        let done = turn as u64 * PARTS;
        progress(done, total);
        let workload = &mut *workloads[which];
        let mut within =
            |share: f64| progress(done + (share.clamp(0.0, 1.0) * PARTS as f64) as u64, total);
        let (coldness, trial) = one(workload, round, &mut within)?;
        check(&mut expected, workload.name(), &trial)?;
        match round {
            0 => seen[which].at_start = coldness,
            _ => seen[which].count(trial, coldness),
        }
    }
    progress(total, total);
    Ok(workloads
        .iter()
        .zip(&seen)
        .map(|(workload, own)| own.figures(workload.name(), &seen[0]))
        .collect())
}

/// One trial from cold. Round 0 is the discarded one.
fn one(
    workload: &mut dyn Workload,
    round: usize,
    progress: &mut dyn FnMut(f64),
) -> Result<(Coldness, Trial), Error> {
    let outcome = workload.make_cold().and_then(|coldness| Ok((coldness, workload.run(progress)?)));
    outcome.map_err(|error| Error::workload(workload.name(), round, error))
}

/// Rivals that deliver different bytes did different work. The first trial sets what is expected.
fn check(expected: &mut Option<(String, Trial)>, name: &str, trial: &Trial) -> Result<(), Error> {
    let (first_name, first) = expected.get_or_insert_with(|| (name.to_owned(), *trial));
    if (first.delivered_bytes, first.checksum) == (trial.delivered_bytes, trial.checksum) {
        return Ok(());
    }
    let message = format!(
        "{name} delivered {} bytes with checksum {:016x}, but {first_name} delivered {} with {:016x}: \
         their times cannot be compared; check that both hold the same files",
        trial.delivered_bytes, trial.checksum, first.delivered_bytes, first.checksum
    );
    Err(Error::new(ErrorKind::Disagree, message))
}
