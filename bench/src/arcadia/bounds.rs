//! What is the most that a prediction could come to, also if it must read little in vain.
//!
//! No prediction knows more than *all* files that the run loads. One that knows no more than which
//! of the files that other runs *named* this run loads reads the others when they are asked for, or
//! in the hope of them. The second bound is for such a one that hopes for nothing: what the store
//! does better it owes to what it reads around files that no run has named. Both bounds hold for
//! any order of reads, and for memory that keeps all of them.

use super::ceiling::{Limits, Ways};
use super::start::Start;
use seekless::device::DeviceSpec;
use seekless::device::units::{format_bytes, format_count};

/// The share of the bytes read that may be in vain.
pub(super) const VAIN_MAX: f64 = 0.15;

pub(super) const HEADER: [&str; 7] = [
    "device",
    "start",
    "known",
    "at most, of the ceiling",
    "then requests, bytes",
    "in vain, all in gaps",
    "at most with 15 % in vain",
];

/// The most bytes that may be read, of which this many are needed.
pub(super) fn bytes_within(needed: u64) -> f64 {
    needed as f64 / (1.0 - VAIN_MAX)
}

/// A row for each of these two; none for a device without limits.
pub(super) fn rows(start: &Start, name: &str, spec: &DeviceSpec) -> Vec<Vec<String>> {
    let Some(limits) = Limits::of(spec) else { return Vec::new() };
    let (own, needed) = (start.own(), start.needed_bytes());
    let ids = start.own_ids();
    let all = Ways::new(&own, |_| true, limits);
    let named = Ways::new(&own, |number| start.naming[ids[number] as usize] > 0, limits);
    let row = |(known, ways): (&str, &Ways)| {
        let share = |seconds: f64| format!("{seconds:.3} s ({:.2})", all.seconds() / seconds);
        let way = ways.way();
        vec![
            spec.to_string(),
            name.to_owned(),
            known.to_owned(),
            share(ways.seconds()),
            format!("{}, {}", format_count(way.requests), format_bytes(way.bytes)),
            format!("{:.0} %", 100.0 * (1.0 - needed as f64 / way.bytes.max(1) as f64)),
            share(ways.seconds_within(bytes_within(needed))),
        ]
    };
    [("all", &all), ("named, others when asked for", &named)].map(row).into()
}
