//! The cost of reading a file now, for the tests and directives of find.
//!
//! `-latency` is the paper's (section 4.3, `sleds_total_delivery_time`): the time to deliver the
//! whole file, memory included, the cached part first. `-cost` is the part of it that devices need.
//! Memory counts as 0, so `-cost 0` finds files that need no device.

use super::compare::{Bound, whole};
use super::cost::{Cost, CostTest, NOTHING, Unknown};
use super::entry::Entry;
use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use seekless_sled::{Error, Level, Sled, Surveyor};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A time in seconds, with microseconds.
pub(super) fn seconds(ns: u64) -> String {
    format!("{:.6}", ns as f64 / 1e9)
}

/// Computes the costs of files.
#[derive(Clone, Debug, Default)]
pub(super) struct Prices {
    surveyor: Option<Surveyor>,
    /// The cost of memory, taken from the first file found there.
    memory: Option<Sled>,
}

/// Why a file's cost is not known.
#[derive(Debug)]
pub(super) enum Unpriced {
    /// Its attributes cannot be read; reported once per file.
    System(Errno),
    /// Another file or a folder's list cannot be read; reported each time.
    Other(Errno),
    /// The survey failed; the message names the file.
    Survey(Error),
}

impl From<Errno> for Unpriced {
    fn from(error: Errno) -> Self {
        Unpriced::System(error)
    }
}

/// A fact is not known before the file's turn. Learning it would run commands, ask other machines,
/// or fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotYet;

impl From<Errno> for NotYet {
    fn from(_: Errno) -> Self {
        NotYet
    }
}

impl From<Unpriced> for NotYet {
    fn from(_: Unpriced) -> Self {
        NotYet
    }
}

impl Prices {
    /// Whether a file passes a test of its cost. `ask` gives the cost. It is called only if the
    /// file's size does not decide.
    pub(super) fn passes<'e, E: From<Errno>>(
        &mut self,
        test: &CostTest,
        entry: &'e Entry<'_>,
        unknown: Unknown,
        ask: impl FnOnce(&mut Prices, &'e Entry<'_>) -> Result<&'e Cost, E>,
    ) -> Result<bool, E> {
        match self.by_size(test, entry)? {
            Some(answer) => Ok(answer),
            None => Ok(test.passes(ask(self, entry)?, unknown)),
        }
    }

    /// The answer by a file's size and its file system. `None` if they do not decide.
    fn by_size(&mut self, test: &CostTest, entry: &Entry<'_>) -> Result<Option<bool>, Errno> {
        let asked = entry.cost.get().is_some();
        if asked || is_unseen(entry) && !self.may_decide(test) || !has_bytes(entry)? {
            return Ok(None);
        }
        let stat = entry.stat()?;
        let Ok(surveyor) = self.surveyor() else { return Ok(None) }; // `ask` reports why
        let ceiling = surveyor.ceiling(name(entry), stat);
        Ok(ceiling.and_then(|ceiling| test.by_size(bytes_of(stat), &ceiling)))
    }

    /// Whether the smallest possible size already decides the test on this file system. If not,
    /// stat cannot help.
    fn may_decide(&self, test: &CostTest) -> bool {
        let ceiling = self.surveyor.as_ref().and_then(|surveyor| surveyor.usual_ceiling(1));
        ceiling.is_none_or(|ceiling| test.by_size(1, &ceiling).is_some())
    }

    /// The cost of a file, computed once. Only regular files are opened. A file is not opened if
    /// stat says that it has no bytes to fetch, or if opening would recall it from slower storage.
    pub(super) fn ask<'e>(&mut self, entry: &'e Entry<'_>) -> Result<&'e Cost, Unpriced> {
        if let Some(cost) = entry.cost.get() {
            return Ok(cost);
        }
        let cost = match self.open_first(entry) {
            Some(cost) => cost,
            None => self.look(entry)?,
        };
        Ok(entry.cost.get_or_init(|| cost))
    }

    /// The cost of a file ahead of its turn.
    pub(super) fn ask_ahead<'e>(&mut self, entry: &'e Entry<'_>) -> Result<&'e Cost, NotYet> {
        if let Some(cost) = self.open_first(entry) {
            return Ok(entry.cost.get_or_init(|| cost));
        }
        if has_bytes(entry)? {
            let stat = entry.stat()?;
            let surveyor = self.surveyor().map_err(Unpriced::Survey)?;
            if !surveyor.is_plain(name(entry), stat) {
                return Err(NotYet);
            }
        }
        Ok(self.ask(entry)?)
    }

    /// The cost of a regular file without a call of stat, if it lies on the same file system as the
    /// file before. Returns `None` if stat must be called first.
    fn open_first(&mut self, entry: &Entry<'_>) -> Option<Cost> {
        if entry.cost.get().is_some() || !is_unseen(entry) {
            return None;
        }
        let surveyor = self.surveyor.as_mut()?;
        let (stat, survey) =
            surveyor.opened_unless_in_memory(entry.base(), entry.below(), name(entry))?;
        entry.know(stat);
        let bytes = bytes_of(&stat);
        match survey {
            _ if bytes == 0 => Some(NOTHING),
            Some(survey) => Some(self.sum(&survey.sleds)),
            None => self.memory.map(|memory| NOTHING.with(&Sled { offset: 0, bytes, ..memory })),
        }
    }

    /// The cost of these SLEDs; also stores the cost of memory.
    fn sum(&mut self, sleds: &[Sled]) -> Cost {
        self.memory = self.memory.or_else(|| memory_of(sleds));
        Cost::of(sleds)
    }

    fn look(&mut self, entry: &Entry<'_>) -> Result<Cost, Unpriced> {
        if !has_bytes(entry)? {
            return Ok(NOTHING);
        }
        let stat = *entry.stat()?;
        let surveyor = self.surveyor().map_err(Unpriced::Survey)?;
        let survey = surveyor.at_unless_in_memory(entry.base(), entry.below(), name(entry), stat);
        let survey = survey.map_err(Unpriced::Survey)?;
        if let (None, Some(memory)) = (&survey, self.memory) {
            return Ok(NOTHING.with(&Sled { offset: 0, bytes: bytes_of(&stat), ..memory }));
        }
        let survey = match survey {
            Some(survey) => survey,
            // The first file in memory shows the cost of memory.
            None => self
                .surveyor()
                .and_then(|surveyor| surveyor.at(entry.base(), entry.below(), name(entry), stat))
                .map_err(Unpriced::Survey)?,
        };
        Ok(self.sum(&survey.sleds))
    }

    fn surveyor(&mut self) -> Result<&mut Surveyor, Error> {
        match &mut self.surveyor {
            Some(surveyor) => Ok(surveyor),
            none => Ok(none.insert(Surveyor::new()?)),
        }
    }
}

fn memory_of(sleds: &[Sled]) -> Option<Sled> {
    sleds.iter().find(|sled| sled.level == Level::Memory).copied()
}

/// Whether nothing is known of a regular file but its place in a folder.
fn is_unseen(entry: &Entry<'_>) -> bool {
    let listed = entry.folder.is_some() && entry.listed == Some(FileType::RegularFile);
    listed && entry.known().is_none()
}

fn bytes_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

fn has_bytes(entry: &Entry<'_>) -> Result<bool, Errno> {
    Ok(entry.file_type()? == FileType::RegularFile && entry.stat()?.st_size != 0)
}

fn name<'e>(entry: &Entry<'e>) -> &'e Path {
    Path::new(OsStr::from_bytes(entry.bytes()))
}

/// Parses a bound and its unit in nanoseconds: `+2`, `-m50`, `-50ms`, `u300`. Without a letter, the
/// unit is a second. The letters before the number are the paper's (section 4.3): m or M for milli,
/// u or U for micro.
pub(super) fn parse(text: &[u8]) -> Option<(u64, Bound<u64>)> {
    let mut unit_ns = 1_000_000_000;
    let bound = Bound::parse(text, |number| {
        let (digits, unit) = match number.first()? {
            b'm' | b'M' => (&number[1..], 1_000_000),
            b'u' | b'U' => (&number[1..], 1_000),
            _ => suffix(number)?,
        };
        unit_ns = unit;
        whole(digits).filter(|_| digits.iter().all(u8::is_ascii_digit))
    })?;
    Some((unit_ns, bound))
}

fn suffix(number: &[u8]) -> Option<(&[u8], u64)> {
    let end = number.iter().position(|letter| !letter.is_ascii_digit()).unwrap_or(number.len());
    let unit = match &number[end..] {
        b"" | b"s" => 1_000_000_000,
        b"ms" | b"m" | b"M" => 1_000_000,
        b"us" | b"\xc2\xb5s" | b"u" | b"U" => 1_000,
        _ => return None,
    };
    Some((&number[..end], unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_sled::Confidence;
    use std::time::Duration;

    fn sled(level: Level, bytes: u64, latency_us: u64, bandwidth: f64) -> Sled {
        let (latency, confidence, age) =
            (Duration::from_micros(latency_us), Confidence::Exact, Duration::ZERO);
        Sled { offset: 0, bytes, latency, bandwidth, level, confidence, age }
    }

    #[test]
    fn memory_counts_in_the_latency_and_not_in_the_cost() {
        let cost = Cost::of(&[
            sled(Level::Memory, 1_000_000, 0, 1e9),
            sled(Level::Device, 1_000_000, 2_000, 1e8),
            sled(Level::Hole, 1 << 40, 0, f64::INFINITY),
        ]);
        assert_eq!(cost.device_ns_high, 12_000_000);
        assert_eq!(cost.delivery_ns_high(), 13_000_000);
        let is_within = |test: fn(u64, Bound<u64>) -> CostTest, text: &[u8]| {
            let (unit_ns, bound) = parse(text).expect("a bound");
            test(unit_ns, bound).passes(&cost, Unknown::Skip)
        };
        let latency = |text| is_within(|unit_ns, bound| CostTest::Latency { unit_ns, bound }, text);
        let of_devices = |text| is_within(|unit_ns, bound| CostTest::Cost { unit_ns, bound }, text);
        assert!(of_devices(b"12ms") && of_devices(b"m12"));
        assert!(latency(b"+m12") && !latency(b"-M13"));
        assert_eq!(seconds(cost.delivery_ns_high()), "0.013000");
    }
}
