//! What a program would wait if the kernel read less or more around its touches and ahead of its
//! reads. The device's window can be set; the model is the one that judges `seekless run`.

use seekless_device::Costs;
use seekless_policy::foresight::start::{self, Device, Need};
use seekless_policy::layout::extents::Extent;
use seekless_trace::Needs;
use serde::Serialize;
use std::collections::BTreeMap;

/// How far Linux reads around a touch and ahead of a read, where nothing else is set.
pub(super) const LINUX_BYTES: u64 = 128 << 10;
/// Windows that are tried, as shares of the present one.
const TRIED: [f64; 3] = [0.5, 2.0, 4.0];
/// A window is a whole number of these.
const PAGE_BYTES: u64 = 4096;

/// A window of the kernel's readahead, and what the program would wait with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Window {
    /// How far the kernel reads around a touch and ahead of a read.
    pub readahead_bytes: u64,
    /// The wait, if nothing is cached.
    pub wait_s: f64,
    /// Requests that the device serves.
    pub requests: u64,
    /// Bytes that it serves.
    pub device_bytes: u64,
}

/// The present window, and others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Windows {
    /// As the device is set now, or as Linux sets it.
    pub present: Window,
    /// Half, twice and four times as far.
    pub tried: Vec<Window>,
}

impl Windows {
    /// Of the newest run. `present_bytes` is the window as it is set.
    pub(super) fn of(needs: &Needs, costs: Costs, present_bytes: u64) -> Self {
        let files = by_file(needs.runs.last().into_iter().flatten().map(need));
        let window = |readahead_bytes: u64| {
            let device = Device { costs, readahead_bytes };
            let waits = files.iter().map(|(file, needed)| {
                let file_bytes = bytes_of(needs, *file, needed);
                start::expect(needed, file_bytes, true, &device).plain
            });
            let wait = waits.fold(start::Wait::default(), start::Wait::and);
            Window {
                readahead_bytes,
                wait_s: wait.seconds,
                requests: wait.requests,
                device_bytes: wait.bytes,
            }
        };
        let tried = TRIED.map(|times| (present_bytes as f64 * times) as u64 / PAGE_BYTES);
        let tried = tried.into_iter().filter(|pages| *pages > 0);
        Self {
            present: window(present_bytes),
            tried: tried.map(|pages| window(pages * PAGE_BYTES)).collect(),
        }
    }

    /// The same, if nothing but the wait for data were this many times as long.
    pub(super) fn corrected(mut self, factor: f64) -> Self {
        let all = std::iter::once(&mut self.present).chain(&mut self.tried);
        all.for_each(|window| window.wait_s *= factor);
        self
    }

    /// The one with the shortest wait; the smaller of two that are the same. If none is better
    /// than the present one, the best of the larger, which most people would try.
    pub(super) fn best(&self) -> Option<Window> {
        let order = |one: &&Window, other: &&Window| {
            let by_size = || one.readahead_bytes.cmp(&other.readahead_bytes);
            one.wait_s.total_cmp(&other.wait_s).then_with(by_size)
        };
        let is_better = |it: &&Window| it.wait_s < self.present.wait_s;
        let is_larger = |it: &&Window| it.readahead_bytes > self.present.readahead_bytes;
        let better = self.tried.iter().filter(is_better).min_by(order);
        better.or_else(|| self.tried.iter().filter(is_larger).min_by(order)).copied()
    }
}

impl Window {
    /// It as a measure beside this one.
    pub(super) fn what(&self, present: &Window) -> String {
        let size =
            if self.readahead_bytes > present.readahead_bytes { "larger" } else { "smaller" };
        let bytes = self.readahead_bytes >> 10;
        format!("a {size} readahead of the device: {bytes} KiB")
    }

    /// The command that sets it for the device that holds a folder, whose name is quoted.
    pub(super) fn command(&self, folder: &str) -> String {
        let sectors = self.readahead_bytes / 512;
        format!("sudo blockdev --setra {sectors} \"$(findmnt -nvo SOURCE -T {folder})\"")
    }
}

/// A need as the model has it.
pub(super) fn need(need: &seekless_trace::Need) -> Need {
    Need {
        file: need.file,
        extent: Extent { offset: need.offset, bytes: need.bytes },
        time_ns: need.time_ns,
        mapped: need.mapped,
    }
}

/// Needs by file, each in their order.
pub(super) fn by_file(needs: impl Iterator<Item = Need>) -> BTreeMap<u32, Vec<Need>> {
    let mut files: BTreeMap<u32, Vec<Need>> = BTreeMap::new();
    needs.for_each(|need| files.entry(need.file).or_default().push(need));
    files
}

/// The file's size, or as much of it as is needed.
pub(super) fn bytes_of(needs: &Needs, file: u32, needed: &[Need]) -> u64 {
    let ends = needed.iter().map(|need| need.extent.offset.saturating_add(need.extent.bytes));
    let end = ends.max().unwrap_or(0);
    needs.file_bytes.get(file as usize).copied().flatten().unwrap_or(0).max(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// One file of 64 MiB of which these parts are needed.
    fn needs(extents: impl Iterator<Item = (u64, u64)>, mapped: bool) -> Needs {
        let need = |(offset, bytes)| seekless_trace::Need {
            file: 0,
            offset,
            bytes,
            time_ns: offset,
            mapped,
        };
        Needs {
            names: vec!["/data".to_owned()],
            file_bytes: vec![Some(64 * MIB)],
            runs: vec![extents.map(need).collect()],
        }
    }

    fn costs() -> Costs {
        Costs { request_ns: 2_000_000, bytes_per_second: 150_000_000, depth: 1 }
    }

    #[test]
    fn a_file_that_is_read_as_a_stream_gains_by_a_larger_window() {
        let stream = needs((0..1024).map(|at| (at * 64 * 1024, 64 * 1024)), false);
        let windows = Windows::of(&stream, costs(), LINUX_BYTES);
        let tried: Vec<u64> = windows.tried.iter().map(|it| it.readahead_bytes >> 10).collect();
        assert_eq!(tried, [64, 256, 512]);
        let best = windows.best().unwrap();
        assert_eq!((best.readahead_bytes, best.device_bytes), (512 << 10, 64 * MIB));
        assert_eq!(windows.present.requests, 1 + 512, "the name, and 128 KiB each");
        assert_eq!(best.requests, 1 + 1 + 128, "the first is 256 KiB: four times what is asked");
        let gain_s = windows.present.wait_s - best.wait_s;
        assert!((gain_s - 383.0 * 0.002).abs() < 1e-9, "{gain_s}");
        assert_eq!(
            best.command("/srv"),
            "sudo blockdev --setra 1024 \"$(findmnt -nvo SOURCE -T /srv)\""
        );
        assert!(best.what(&windows.present).contains("larger"));
    }

    #[test]
    fn touches_far_from_each_other_gain_by_a_smaller_window() {
        let touches = needs((0..64).map(|at| (at * MIB + MIB / 2, 4096)), true);
        let windows = Windows::of(&touches, costs(), LINUX_BYTES);
        let best = windows.best().unwrap();
        assert_eq!((best.readahead_bytes, best.device_bytes), (64 << 10, 64 * (64 << 10)));
        assert!(windows.tried.iter().all(|it| it.requests == windows.present.requests));
        assert!(best.what(&windows.present).contains("smaller"));
        assert_eq!(windows.clone().corrected(2.0).present.wait_s, 2.0 * windows.present.wait_s);
    }

    #[test]
    fn a_small_file_gains_nothing() {
        let mut small = needs([(0, 4096)].into_iter(), false);
        small.file_bytes = vec![Some(4096)];
        let windows = Windows::of(&small, costs(), LINUX_BYTES);
        let best = windows.best().unwrap();
        assert_eq!(best.wait_s, windows.present.wait_s);
        assert_eq!(best.readahead_bytes, 2 * LINUX_BYTES, "a larger one is judged");
        assert!(Windows::of(&small, costs(), 4096).tried.iter().all(|it| it.readahead_bytes > 0));
    }
}
