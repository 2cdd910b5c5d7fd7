//! What the start would wait for if its files came from a container image: a layer in the order of
//! need, or a layer as it is with a list for a lazy snapshotter.

use super::advice::{Advice, Image};
use super::device::Found;
use super::expected::Expected;
use super::measures::{correction, is_worth};
use super::shell::words;
use super::starts::Learned;
use crate::order::newest::newest;
use seekless_device::{Costs, DeviceSpec, Parameters, VolumeParameters};
use seekless_job::Result;

/// What the commands call the recording.
const TRACE: &str = "start.parquet";

/// By the recorded cold start, on the same device. `None` where neither is worth it.
pub(super) fn of(
    learned: &Learned,
    device: &Found,
    advice: &Advice,
    expected: &Expected,
) -> Result<Option<Image>> {
    let Some(device) = volume(&device.costs) else { return Ok(None) };
    let Some(newest) = newest(std::slice::from_ref(&learned.recording), &device)? else {
        return Ok(None);
    };
    let factor = correction(advice, expected) / 1e9;
    let seconds = |ns: u64| ns as f64 * factor;
    let image = Image {
        layer_wait_s: seconds(newest.in_order.time_ns),
        listed_wait_s: seconds(newest.from_list.time_ns),
        commands: commands(&advice.command),
    };
    let starts = &advice.starts;
    let shorter_s = image.layer_wait_s.min(image.listed_wait_s);
    Ok(is_worth(starts.cold_median_s, starts.cached_median_s + shorter_s).then_some(image))
}

/// Whole reads from a device of these costs. A volume's limit is on requests a second, and its
/// latency is what is left of a request that is alone.
fn volume(costs: &Costs) -> Option<DeviceSpec> {
    let Costs { request_ns, bytes_per_second, depth } = *costs;
    let between_ns = (request_ns / u64::from(depth.max(1))).max(1);
    let parameters = Parameters::Volume(VolumeParameters {
        iops: (1_000_000_000 / between_ns).max(1),
        bytes_per_second,
        latency_ns: request_ns - between_ns.min(request_ns),
        burst: None,
    });
    DeviceSpec::new("measured", parameters).ok()
}

fn commands(command: &[String]) -> Vec<String> {
    let record = format!("seekless record -o {TRACE} -- {}", words(command));
    std::iter::once(record).chain(exports(TRACE, "/")).collect()
}

/// Write the layer and the list of these traces' files below `root`, all as a shell needs them.
pub(super) fn exports(traces: &str, root: &str) -> [String; 3] {
    let export = |rest: &str| format!("seekless export {traces} --root {root} --format {rest}");
    let others = "# or --format nydus, or --format soci".to_owned();
    [export("tar -o layer.tar"), export("estargz -o list.txt"), others]
}
