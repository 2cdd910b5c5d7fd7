//! What would help a program whose traces are given.

use super::super::{Basis, is_worth};
use super::advice::{FilesAdvice, Recorded};
use super::estimate::Estimate;
use crate::advise::advice::{Found, Image, Measure};
use crate::advise::image::exports;
use crate::advise::measures::{GAIN_MIN_S, PACK, RUN, WARM};
use crate::advise::searches::Search;
use crate::advise::shell::{quoted, words};
use crate::order::newest::{Newest, newest};
use seekless_device::{Costs, DeviceSpec};
use seekless_job::Result;
use seekless_policy::foresight::start::Wait;
use seekless_trace::Needs;
use std::path::{Path, PathBuf};

/// Without a measurement, a simulated gain may be off by this share of it.
const MODEL_ERROR: f64 = 0.3;

const LISTED: &str = "pack in the best order, its list of loads known";
const ON_DEMAND: &str = "pack in the best order, loaded on demand";

/// Requests and bytes that `seekless run` itself needs of a device where nothing is cached: its
/// small program and the folders on the way (counted by block_rq_issue on a loop device).
const OWN_REQUESTS: u64 = 13;
const OWN_BYTES: u64 = 3_700_000;

/// What could be offered.
pub(super) struct Offers {
    helped_s: Option<f64>,
    newest: Option<Newest>,
    costs: Costs,
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
        newest: newest(traces, device)?,
        costs: device.costs(),
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
        advice.image = self.image(advice, whole_s);
        advice.useless = useless.into_iter().map(|it| (it.what, it.wait_s)).collect();
    }

    fn all(&self, advice: &FilesAdvice) -> Vec<(&'static str, f64, Vec<String>)> {
        let traces = words(&advice.traces);
        let mut all = Vec::new();
        let words = words(&advice.command);
        // It is not known how a program that was running is started.
        let can_start = !advice.command.is_empty() && advice.basis != Basis::Service;
        let (what, run) = match can_start {
            false => (WARM, format!("seekless warm {traces}")),
            true => (RUN, format!("seekless run -- {words}")),
        };
        let own_s = Wait::of(OWN_REQUESTS, OWN_BYTES, 1, &self.costs).seconds;
        all.push((what, self.helped_s.unwrap_or(advice.wait_s) + own_s, vec![run]));
        let Some(newest) = &self.newest else { return all };
        let on_demand_s = seconds(newest.packed.on_demand.time_ns);
        if can_start {
            let mounted = format!("seekless run --mount auto -- {words}");
            // Its pack holds what starts need: other folders are asked as without it.
            let in_vain_s = self.in_vain_s(advice, None);
            all.push((PACK, on_demand_s + in_vain_s + own_s, vec![mounted]));
        }
        let in_vain_s = self.in_vain_s(advice, Some(&self.folder));
        let folder = quoted(&self.folder.to_string_lossy());
        // Nobody packs a whole file system.
        if self.folder.parent().is_some() {
            let device = quoted(&advice.device.name);
            let pack =
                format!("seekless pack {folder} -o data.zip --trace {traces} --device {device}");
            let listed_s = seconds(newest.packed.listed.time_ns);
            all.push((LISTED, listed_s + in_vain_s, vec![pack.clone()]));
            if !can_start {
                all.push((ON_DEMAND, on_demand_s + in_vain_s, vec![pack]));
            }
        }
        all
    }

    /// What a container image would bring; `None` where it is not worth it.
    fn image(&self, advice: &FilesAdvice, whole_s: f64) -> Option<Image> {
        let newest = self.newest.as_ref()?;
        let in_vain_s = self.in_vain_s(advice, Some(&self.folder));
        let folder = quoted(&self.folder.to_string_lossy());
        let image = Image {
            layer_wait_s: seconds(newest.in_order.time_ns) + in_vain_s,
            listed_wait_s: seconds(newest.from_list.time_ns) + in_vain_s,
            commands: exports(&words(&advice.traces), &folder).into(),
        };
        let saves_s = advice.wait_s - image.layer_wait_s.min(image.listed_wait_s);
        is_worth(saves_s, whole_s, GAIN_MIN_S).then_some(image)
    }

    /// What look-ups in vain still wait for beside an archive, which answers for its own folder.
    fn in_vain_s(&self, advice: &FilesAdvice, folder: Option<&Path>) -> f64 {
        let left =
            |search: &Search| folder.map_or(search.requests, |it| search.requests_outside(it));
        Wait::of(advice.searches.iter().map(left).sum(), 0, 1, &self.costs).seconds
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
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
