//! What would help a program whose traces are given.

use super::super::{Basis, is_worth};
use super::advice::{FilesAdvice, Recorded};
use super::estimate::Estimate;
use crate::advise::advice::{Found, Measure};
use crate::advise::measures::{GAIN_MIN_S, PACK, RUN};
use crate::advise::shell::quoted;
use crate::order::Loadings;
use crate::order::newest::newest;
use seekless_device::DeviceSpec;
use seekless_job::Result;
use seekless_trace::Needs;
use std::path::{Path, PathBuf};

/// Without a measurement, a simulated gain may be off by this share of it.
const MODEL_ERROR: f64 = 0.3;

const WARM: &str = "warm: bring its files in beside it";
const LISTED: &str = "pack in the best order, its list of loads known";
const ON_DEMAND: &str = "pack in the best order, loaded on demand";

/// What could be offered.
pub(super) struct Offers {
    helped_s: Option<f64>,
    packed: Option<Loadings>,
    /// The folder of all files.
    folder: PathBuf,
}

/// Simulates what could help.
pub(super) fn of(
    traces: &[PathBuf],
    needs: &Needs,
    estimate: &Estimate,
    device: &DeviceSpec,
) -> Result<Offers> {
    Ok(Offers {
        helped_s: estimate.is_worth_it.then_some(estimate.helped.seconds),
        packed: newest(traces, device)?,
        folder: folder(needs, estimate),
    })
}

impl Offers {
    /// Adds what is worth it, best first, and what is not.
    pub(super) fn add(&self, advice: &mut FilesAdvice) {
        let own_s = advice.recorded.as_ref().and_then(Recorded::own_s).unwrap_or(0.0);
        let alone_s = advice.wait_s;
        let measure = |(what, wait_s, commands): (&str, f64, Vec<String>)| Measure {
            what: what.to_owned(),
            wait_s,
            start_s: own_s + wait_s,
            error_s: MODEL_ERROR * (alone_s - wait_s).abs(),
            commands,
            found: Found::Simulated,
        };
        let whole_s = own_s + alone_s;
        let mut all: Vec<Measure> = self.all(advice).into_iter().map(measure).collect();
        let windows = &advice.readahead;
        if let Some(best) = windows.best() {
            let folder = self.folder.to_string_lossy();
            let command = best.command(&quoted(&folder));
            let wait_s = alone_s - (windows.present.wait_s - best.wait_s);
            let what = best.what(&windows.present);
            all.push(measure((&what, wait_s, vec![command])));
        }
        for search in &advice.searches {
            let wait_s = (alone_s - search.wait_s).max(0.0);
            all.push(measure((&search.what(), wait_s, vec![search.remark()])));
        }
        let (mut worth, useless): (Vec<Measure>, Vec<Measure>) =
            all.into_iter().partition(|it| is_worth(alone_s - it.wait_s, whole_s, GAIN_MIN_S));
        worth.sort_by(|one, other| one.wait_s.total_cmp(&other.wait_s));
        advice.measures = worth;
        advice.useless = useless.into_iter().map(|it| (it.what, it.wait_s)).collect();
    }

    fn all(&self, advice: &FilesAdvice) -> Vec<(&'static str, f64, Vec<String>)> {
        let traces: Vec<String> = advice.traces.iter().map(|trace| quoted(trace)).collect();
        let traces = traces.join(" ");
        let mut all = Vec::new();
        let words: Vec<String> = advice.command.iter().map(|word| quoted(word)).collect();
        let words = words.join(" ");
        let seconds = |ns: u64| ns as f64 / 1e9;
        // It is not known how a program that was running is started.
        let can_start = !advice.command.is_empty() && advice.basis != Basis::Service;
        let (what, run) = match can_start {
            false => (WARM, format!("seekless warm {traces}")),
            true => (RUN, format!("seekless run -- {words}")),
        };
        all.push((what, self.helped_s.unwrap_or(advice.wait_s), vec![run]));
        let Some(loadings) = &self.packed else { return all };
        if can_start {
            let mounted = format!("seekless run --mount auto -- {words}");
            all.push((PACK, seconds(loadings.on_demand.time_ns), vec![mounted]));
        }
        // Nobody packs a whole file system.
        if self.folder.parent().is_some() {
            let folder = quoted(&self.folder.to_string_lossy());
            let device = quoted(&advice.device.name);
            let pack =
                format!("seekless pack {folder} -o data.zip --trace {traces} --device {device}");
            all.push((LISTED, seconds(loadings.listed.time_ns), vec![pack.clone()]));
            all.push((ON_DEMAND, seconds(loadings.on_demand.time_ns), vec![pack]));
        }
        all
    }
}

/// The deepest folder that holds all files of the run.
fn folder(needs: &Needs, estimate: &Estimate) -> PathBuf {
    let mut paths = estimate.files.keys().filter_map(|file| needs.names.get(*file as usize));
    let Some(first) = paths.next() else { return PathBuf::from(".") };
    let mut common = Path::new(first).parent().unwrap_or(Path::new(""));
    for path in paths {
        while !Path::new(path).starts_with(common) {
            common = common.parent().unwrap_or(Path::new(""));
        }
    }
    if common.as_os_str().is_empty() { PathBuf::from(".") } else { common.to_owned() }
}
