//! Carries measures out and times them, cold, in turn with the program alone.

use super::Options;
use super::advice::{Advice, DeviceFigures, Found, Measure, Verified, median, spread};
use super::measures::{self, PACK, RUN};
use super::starts::{Learned, Session};
use seekless_job::Result;
use std::process::Command;

/// A program that does nothing, on every machine.
const NOTHING: &str = "true";

/// Times the measures that change nothing, in turn with the program alone. A layout moves files:
/// that is for the user to ask for. If none is offered, `run` is tried, to show that it gains
/// little.
pub(super) fn carry_out(
    session: &mut Session<'_>,
    learned: &Learned,
    advice: &Advice,
    options: &Options,
) -> Result<Vec<Verified>> {
    let can = |measure: &&Measure| [RUN, PACK].contains(&measure.what.as_str());
    let not_offered = measures::run_not_offered(advice);
    let mut measures: Vec<&Measure> = advice.measures.iter().filter(can).collect();
    if measures.is_empty() {
        measures.extend(&not_offered);
    }
    let mut plain_s = Vec::new();
    let mut with_s: Vec<Vec<f64>> = vec![Vec::new(); measures.len()];
    for run in 0..if measures.is_empty() { 0 } else { options.runs } {
        (session.tell)(&format!(
            "cold start alone, and with help, {} of {}",
            run + 1,
            options.runs
        ));
        session.make_cold()?;
        plain_s.push(session.timed(&mut session.plain())?.seconds);
        for (measure, with_s) in measures.iter().zip(&mut with_s) {
            session.make_cold()?;
            let mut helped = helped(learned, &advice.device, options);
            if measure.what == PACK {
                helped.args(["--mount", "auto"]);
            }
            helped.arg("--").args(session.words);
            with_s.push(session.timed(&mut helped)?.seconds);
        }
    }
    let verified = measures.iter().zip(with_s).map(|(measure, with_s)| Verified {
        what: measure.what.clone(),
        expected_start_s: measure.start_s,
        wait_s: (median(&with_s) - advice.starts.cached_median_s).max(0.0),
        plain_s: plain_s.clone(),
        with_s,
    });
    Ok(verified.collect())
}

/// How much longer a cold start of a program that does nothing takes with `seekless run`: of each
/// the shorter of two times. What `run` asks for the program is expected apart.
pub(super) fn own_s(
    session: &mut Session<'_>,
    learned: &Learned,
    options: &Options,
) -> Result<f64> {
    let [mut alone_s, mut with_s] = [f64::MAX; 2];
    for _ in 0..2 {
        session.make_cold()?;
        alone_s = session.timed(&mut Command::new(NOTHING))?.seconds.min(alone_s);
        session.make_cold()?;
        let mut runs = Command::new(&options.command);
        runs.args(["run", "--no-record", "--", NOTHING]);
        runs.env("XDG_STATE_HOME", learned.folder.path());
        with_s = session.timed(&mut runs)?.seconds.min(with_s);
    }
    Ok((with_s - alone_s).max(0.0))
}

/// `seekless run` with what was learned, apart from what other starts have noted of this device.
fn helped(learned: &Learned, device: &DeviceFigures, options: &Options) -> Command {
    let mut helped = Command::new(&options.command);
    helped.arg("run").arg("--no-record").arg("--profile").arg(&learned.profile);
    helped.arg("--device").arg(told(device));
    helped.env("XDG_STATE_HOME", learned.folder.path());
    helped
}

/// The device's costs as `seekless run` takes them: a user's starts find these out by themselves.
fn told(device: &DeviceFigures) -> String {
    let DeviceFigures { request_ns, bytes_per_second, at_once, .. } = device;
    let iops = (u64::from(*at_once) * 1_000_000_000).div_ceil(*request_ns.max(&1));
    format!("iops={},bandwidth={bytes_per_second}B/s,latency={request_ns}ns", iops.max(1))
}

/// Puts the measured figures in place of the simulated ones. What was not offered and is worth it
/// as measured is offered now.
pub(super) fn replace(advice: &mut Advice) {
    for verified in advice.verified.clone() {
        let start_s = median(&verified.with_s);
        let same = |measure: &Measure| measure.what == verified.what;
        let now = |measure: &mut Measure| {
            measure.start_s = start_s;
            measure.wait_s = verified.wait_s;
            measure.error_s = spread(&verified.with_s);
            measure.found = Found::Measured;
        };
        if let Some(measure) = advice.measures.iter_mut().find(|it| same(it)) {
            now(measure);
        } else if measures::is_worth(median(&verified.plain_s), start_s)
            && let Some(mut measure) = measures::run_not_offered(advice)
        {
            now(&mut measure);
            advice.useless.retain(|(what, _)| *what != verified.what);
            advice.measures.push(measure);
        } else if let Some(useless) =
            advice.useless.iter_mut().find(|(what, _)| *what == verified.what)
        {
            useless.1 = start_s;
        }
    }
    advice.measures.sort_by(|one, other| one.start_s.total_cmp(&other.start_s));
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_device::DeviceSpec;

    #[test]
    fn run_is_told_the_costs_that_were_found() {
        let found = |request_ns, at_once| DeviceFigures {
            request_ns,
            bytes_per_second: 150_000_000,
            at_once,
            ..DeviceFigures::default()
        };
        for (request_ns, at_once) in [(2_000_000, 1), (2_000_000, 16), (50_000, 4)] {
            let spec: DeviceSpec = told(&found(request_ns, at_once)).parse().unwrap();
            let costs = spec.costs();
            assert_eq!((costs.request_ns, costs.depth), (request_ns, at_once));
            assert_eq!(costs.bytes_per_second, 150_000_000);
        }
    }
}
