//! How many requests a device serves at once. `probe` does not measure that; so the
//! helper tries it with the first reads that the program needs anyway: some alone, then many
//! together. What it finds is kept in `at-once.json` in the user's state folder, by device.
//!
//! A device that allows this many requests a second lets some pass at once and then holds all up.
//! So the trial goes on for a while, and is over as soon as the reads together are no faster than
//! alone.

use seekless_sys::home;
use seekless_sys::output::{Content, Destination};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Reads of the trial that are made alone.
pub(super) const ALONE: usize = 4;
/// With fewer reads together the trial shows nothing.
pub(super) const TOGETHER_MIN: usize = 16;
/// More are not needed.
pub(super) const TOGETHER_MAX: usize = 124;
/// Longer reads show the bandwidth.
pub(super) const READ_BYTES_MAX: u64 = 64 << 10;
/// Reads under way at once.
pub(super) const THREADS: usize = 32;
/// Requests at once that are hoped for before the trial.
pub(super) const HOPED: u32 = 16;
/// A device that serves fewer at once is taken to serve one.
const WORTH: f64 = 1.5;
/// A limit may let reads pass for some time before it is felt.
const JUDGED_AFTER: Duration = Duration::from_millis(20);
/// After this a device is tried again.
const FRESH_S: u64 = 7 * 24 * 60 * 60;
/// A larger file is not ours.
const BYTES_MAX: u64 = 1 << 20;
/// No more devices are kept.
const DEVICES_MAX: usize = 1000;

/// What the trial found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Found {
    /// Requests that it serves at once, as far as was tried.
    pub(super) at_once: u32,
    /// What one costs alone, in nanoseconds.
    pub(super) request_ns: u64,
    /// When, in seconds since 1970.
    tried_unix_s: u64,
}

impl Found {
    /// Judges a trial by what reads alone took, and how long `count` of them took together.
    pub(super) fn of(alone: &[Duration], count: usize, together: Duration) -> Option<Self> {
        let mut alone = alone.to_vec();
        alone.sort_unstable();
        let one = alone.get(alone.len() / 2)?.as_secs_f64();
        let each = together.as_secs_f64() / count.max(1) as f64;
        if count < TOGETHER_MIN / 2 || one <= 0.0 || each <= 0.0 {
            return None;
        }
        let times = one / each;
        let several = times >= WORTH;
        let at_once = if several { times.round().min(THREADS as f64) as u32 } else { 1 };
        let request_s = if several { one } else { one.max(each) };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let request_ns = (request_s * 1e9).round().max(1.0) as u64;
        Some(Self { at_once, request_ns, tried_unix_s: now.as_secs() })
    }

    /// Whether it is clear before the trial's end that the device serves one at a time.
    pub(super) fn is_settled(&self, alone: &[Duration], together: Duration) -> bool {
        let longest = alone.iter().max().copied().unwrap_or_default();
        self.at_once == 1 && together > JUDGED_AFTER.max(longest * 4)
    }

    fn is_fresh(&self, now_s: u64) -> bool {
        now_s.saturating_sub(self.tried_unix_s) <= FRESH_S && self.tried_unix_s <= now_s + FRESH_S
    }
}

type Table = BTreeMap<String, Found>;

fn path() -> Option<PathBuf> {
    Some(home::state()?.join("at-once.json"))
}

/// What is known, by device.
pub(super) fn known() -> Table {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut known = path().map(|path| read(&path)).unwrap_or_default();
    known.retain(|_, found| found.is_fresh(now) && found.at_once > 0 && found.request_ns > 0);
    known
}

/// Nothing, if there is no such file, or it is damaged: then the device is tried again.
fn read(path: &Path) -> Table {
    let small = std::fs::metadata(path).is_ok_and(|found| found.len() <= BYTES_MAX);
    let text = small.then(|| std::fs::read(path).ok()).flatten().unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Keeps what was found of a device.
///
/// # Errors
/// The file cannot be written.
pub(super) fn keep(device: &str, found: Found) -> io::Result<()> {
    let path = path().ok_or(io::ErrorKind::NotFound)?;
    keep_in(&path, device, found)
}

fn keep_in(path: &Path, device: &str, found: Found) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut all = read(path);
    while all.len() >= DEVICES_MAX && !all.contains_key(device) {
        let oldest = all.iter().min_by_key(|(_, found)| found.tried_unix_s);
        let Some(oldest) = oldest.map(|(device, _)| device.clone()) else { break };
        all.remove(&oldest);
    }
    all.insert(device.to_owned(), found);
    let destination = Destination::new(path).replacing(true).private();
    let mut file = destination.create(Content::Text).map_err(io::Error::other)?;
    file.write_all(serde_json::to_string_pretty(&all)?.as_bytes())?;
    file.publish().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn reads_together_that_take_no_longer_than_one_are_served_at_once() {
        let found = Found::of(&[2 * MS, 2 * MS, 9 * MS], 120, 15 * MS).unwrap();
        assert_eq!((found.at_once, found.request_ns), (16, 2_000_000));
        let found = Found::of(&[2 * MS], 120, MS).unwrap();
        assert_eq!(found.at_once, 32, "no more were tried");
        assert_eq!(Found::of(&[2 * MS], 3, MS), None, "too few");
        assert_eq!(Found::of(&[], 120, MS), None);
    }

    #[test]
    fn a_limit_that_lets_some_pass_is_noticed_once_it_holds_reads_up() {
        let alone = [Duration::from_micros(100); 4];
        let before = Found::of(&alone, 46, MS).unwrap();
        assert!(before.at_once > 1 && !before.is_settled(&alone, MS));
        let later = Found::of(&alone, 46, 92 * MS).unwrap();
        assert!(later.is_settled(&alone, 92 * MS));
        assert_eq!((later.at_once, later.request_ns), (1, 2_000_000));
        // Slow reads are given the time of some of them.
        let slow = Found::of(&[10 * MS; 4], 8, 30 * MS).unwrap();
        assert!(!slow.is_settled(&[10 * MS; 4], 30 * MS));
    }

    #[test]
    fn what_is_kept_is_there_until_it_is_old_and_a_damaged_file_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/at-once.json");
        let found = Found::of(&[2 * MS], 120, 15 * MS).unwrap();
        keep_in(&path, "nas:/home nfs4", found).unwrap();
        keep_in(&path, "8:0 sda ext4", Found { at_once: 1, ..found }).unwrap();
        assert_eq!(read(&path)["nas:/home nfs4"], found);
        assert_eq!(read(&path).len(), 2);
        assert!(found.is_fresh(found.tried_unix_s + FRESH_S));
        assert!(!found.is_fresh(found.tried_unix_s + FRESH_S + 1));
        std::fs::write(&path, "{\"x\":").unwrap();
        assert!(read(&path).is_empty());
        keep_in(&path, "x", found).unwrap();
        assert_eq!(read(&path).len(), 1);
    }
}
