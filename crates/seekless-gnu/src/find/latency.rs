//! What a file would cost to read now, as the tests and directives of find use it. `-latency` is the paper's (section 4.3:
//! `sleds_total_delivery_time`): what all of the file takes to be delivered, memory included, the cached part first. `-cost` is the
//! part of it that devices need: what lies in memory counts nothing, so that `-cost 0` means that there is nothing to fetch.

use super::compare::{Bound, whole};
use super::entry::Entry;
use rustix::fs::FileType;
use rustix::io::Errno;
use seekless_sled::{Error, Level, Sled, Surveyor};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What is done about files of whose state nothing tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Unknown {
    /// They fail every test of latency.
    #[default]
    Skip,
    /// They are taken to lie wholly on their device.
    Assume,
}

impl Unknown {
    /// Reads `skip` or `assume`.
    ///
    /// # Errors
    /// It is another word.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "skip" => Ok(Unknown::Skip),
            "assume" => Ok(Unknown::Assume),
            other => Err(format!("--unknown is `skip' or `assume', not `{other}'")),
        }
    }
}

/// What one file costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    /// Time that devices need, at most.
    pub(super) device_ns_high: u64,
    /// Time to deliver what memory holds.
    memory_ns: u64,
    bytes: u64,
    resident_bytes: u64,
    unknown_bytes: u64,
    /// The costliest level that holds a part.
    pub(super) level: Level,
}

/// One nanosecond more than whole units do not matter against the estimate's error, but a cached file must stay 0.
const NOTHING: Cost = Cost {
    device_ns_high: 0,
    memory_ns: 0,
    bytes: 0,
    resident_bytes: 0,
    unknown_bytes: 0,
    level: Level::Memory,
};

impl Cost {
    fn of(sleds: &[Sled]) -> Cost {
        sleds.iter().fold(NOTHING, |cost, sled| cost.with(sled))
    }

    fn with(mut self, sled: &Sled) -> Cost {
        self.bytes += sled.bytes;
        self.level = self.level.max(sled.level);
        let ns = u64::try_from(sled.cost().as_nanos()).unwrap_or(u64::MAX);
        match sled.level {
            Level::Hole | Level::Memory => {
                self.resident_bytes += sled.bytes;
                self.memory_ns = self.memory_ns.saturating_add(ns);
            }
            level => {
                if level == Level::Unknown {
                    self.unknown_bytes += sled.bytes;
                }
                self.device_ns_high = self.device_ns_high.saturating_add(ns);
            }
        }
        self
    }

    /// The cost, unless a part of the file is in a state of which nothing tells and such files are skipped.
    pub(super) fn kept(&self, unknown: Unknown) -> Option<&Cost> {
        (self.unknown_bytes == 0 || unknown == Unknown::Assume).then_some(self)
    }

    /// Time to deliver all of it, at most.
    pub(super) fn delivery_ns_high(&self) -> u64 {
        self.device_ns_high.saturating_add(self.memory_ns)
    }

    /// Per cent in memory, rounded down; 100 for a file without bytes; `None` if a part is unknown.
    pub(super) fn resident_percent(&self) -> Option<u64> {
        match (self.unknown_bytes, self.bytes) {
            (0, 0) => Some(100),
            (0, bytes) => Some((u128::from(self.resident_bytes) * 100 / u128::from(bytes)) as u64),
            _ => None,
        }
    }
}

/// A time in seconds, to the microsecond.
pub(super) fn seconds(ns: u64) -> String {
    format!("{:.6}", ns as f64 / 1e9)
}

/// Whether a time, rounded up to whole units, keeps the bound.
pub(super) fn in_units(ns: u64, unit_ns: u64, bound: &Bound<u64>) -> bool {
    bound.holds(ns.div_ceil(unit_ns))
}

/// Asks files what they cost.
#[derive(Clone, Debug, Default)]
pub(super) struct Prices {
    surveyor: Option<Surveyor>,
    /// What memory costs, as a file that lies in it said.
    memory: Option<Sled>,
}

/// Why a file's cost is not known.
#[derive(Debug)]
pub(super) enum Unpriced {
    /// Its attributes cannot be had: said once for a file.
    System(Errno),
    /// Another file or a folder's list cannot be had: said each time it is asked for.
    Other(Errno),
    /// What was asked about it failed; the message names it.
    Survey(Error),
}

impl From<Errno> for Unpriced {
    fn from(error: Errno) -> Self {
        Unpriced::System(error)
    }
}

impl Prices {
    /// What the file costs, asked once. Only a regular file is opened, and only if stat does not tell that it has no bytes to
    /// fetch or lies where opening would bring it back (recall).
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

    /// The same for a file whose turn has not come yet; `None` where that would run commands or ask other machines, or fails.
    pub(super) fn ask_ahead<'e>(&mut self, entry: &'e Entry<'_>) -> Option<&'e Cost> {
        if let Some(cost) = self.open_first(entry) {
            return Some(entry.cost.get_or_init(|| cost));
        }
        if has_bytes(entry).ok()? {
            let stat = entry.stat().ok()?;
            if !self.surveyor().ok()?.is_plain(name(entry), stat) {
                return None;
            }
        }
        self.ask(entry).ok()
    }

    /// The cost of a regular file that stat was not asked of: on the file system of the file before it
    /// the file may be opened without stat. `None` where it must be asked first.
    fn open_first(&mut self, entry: &Entry<'_>) -> Option<Cost> {
        let unasked = entry.cost.get().is_none() && entry.known().is_none();
        if !unasked || entry.folder.is_none() || entry.listed != Some(FileType::RegularFile) {
            return None;
        }
        let surveyor = self.surveyor.as_mut()?;
        let (stat, survey) = surveyor.opened_unless_in_memory(entry.base(), entry.below(), name(entry))?;
        entry.know(stat);
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        match survey {
            _ if bytes == 0 => Some(NOTHING),
            Some(survey) => Some(self.sum(&survey.sleds)),
            None => self.memory.map(|memory| NOTHING.with(&Sled { offset: 0, bytes, ..memory })),
        }
    }

    /// The cost of these parts; remembers what memory costs.
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
            let bytes = u64::try_from(stat.st_size).unwrap_or(0);
            return Ok(NOTHING.with(&Sled { offset: 0, bytes, ..memory }));
        }
        let survey = match survey {
            Some(survey) => survey,
            // The first file that lies in memory says what that costs.
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

fn has_bytes(entry: &Entry<'_>) -> Result<bool, Errno> {
    Ok(entry.file_type()? == FileType::RegularFile && entry.stat()?.st_size != 0)
}

fn name<'e>(entry: &Entry<'e>) -> &'e Path {
    Path::new(OsStr::from_bytes(entry.bytes()))
}

/// Reads `+2`, `-m50`, `-50ms`, `u300`: a bound and its unit in nanoseconds; seconds without a letter. The letters before the
/// number are the paper's (section 4.3): m or M for milli, u or U for micro.
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
        let ms = |ns, text: &[u8]| {
            let (unit_ns, bound) = parse(text).expect("a bound");
            in_units(ns, unit_ns, &bound)
        };
        assert!(ms(cost.device_ns_high, b"12ms") && ms(cost.device_ns_high, b"m12"));
        assert!(ms(cost.delivery_ns_high(), b"+m12") && !ms(cost.delivery_ns_high(), b"-M13"));
        assert_eq!(seconds(cost.delivery_ns_high()), "0.013000");
    }
}
