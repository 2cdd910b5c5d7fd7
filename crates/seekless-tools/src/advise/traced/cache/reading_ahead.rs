//! Whether readahead matters: how many requests follow on others, and what a program would wait
//! with and without it.

use super::super::{Options, failed};
use super::advice::ReadingAhead;
use seekless_device::{DeviceModel, DeviceSpec, Queue};
use seekless_job::Result;
use seekless_sim::Requests;
use seekless_sim::timed::{HOST_QUEUE, Rules, TimedCase, Workload, each};
use std::path::PathBuf;

/// Streams that may run beside one another.
const STREAMS: usize = 32;
/// Longer traces are not simulated in time.
const REQUESTS_MAX: usize = 2_000_000;
/// With fewer sequential requests nothing is gained by reading ahead.
const SHARE_MIN: f64 = 0.02;

/// For a cache of this size on this device.
pub(super) fn of(
    traces: &[PathBuf],
    options: &Options,
    requests: &Requests,
    (capacity, device): (u64, &DeviceSpec),
) -> Result<ReadingAhead> {
    let sequential_share = sequential_share(requests);
    let mut found = ReadingAhead {
        sequential_share,
        device: device.to_string(),
        without_s: None,
        with_s: None,
    };
    if requests.len() > REQUESTS_MAX || sequential_share < SHARE_MIN {
        return Ok(found);
    }
    let reading = &options.reading;
    let workload =
        Workload::read(traces, &reading.import, reading.memory_bytes_max, &mut |_, _| {});
    let workload = workload.map_err(failed)?;
    let case =
        |readahead| TimedCase { capacity: Some(capacity), ..TimedCase::unbounded(readahead) };
    let model = || -> Box<dyn DeviceModel> { Box::new(Queue::new(device.model(), HOST_QUEUE)) };
    let cases = ["none", "linux"].map(case);
    let rows = each(&workload, &cases, &Rules::default(), &model, &mut |_, _| {});
    let rows = rows.map_err(failed)?;
    let waits: Vec<f64> = rows.iter().map(|row| row.wait_seconds).collect();
    (found.without_s, found.with_s) = (waits.first().copied(), waits.get(1).copied());
    Ok(found)
}

/// The share of requests for a page that lies behind the last one of a stream.
fn sequential_share(requests: &Requests) -> f64 {
    let mut ends = [u64::MAX; STREAMS];
    let (mut oldest, mut sequential) = (0, 0_u64);
    for &id in requests.ids() {
        let key = requests.key(id);
        match ends.iter().position(|end| end.wrapping_add(1) == key && *end != u64::MAX) {
            Some(stream) => {
                sequential += 1;
                ends[stream] = key;
            }
            None if ends.contains(&key) => {}
            None => {
                ends[oldest] = key;
                oldest = (oldest + 1) % STREAMS;
            }
        }
    }
    sequential as f64 / requests.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_follow_the_end_of_a_stream_are_sequential() {
        let share = |pages: &[u32]| sequential_share(&Requests::from_pages(pages.to_vec()));
        assert_eq!(share(&[0, 1, 2, 3]), 0.75);
        assert_eq!(share(&[0, 100, 1, 101, 2, 102]), 4.0 / 6.0, "two streams");
        assert_eq!(share(&[9, 5, 3, 3]), 0.0);
        assert_eq!(share(&[]), 0.0);
    }
}
