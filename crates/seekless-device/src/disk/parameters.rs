//! The numbers of a disk, as its data sheet or a fit gives them.

use crate::figures::{duration, optional_rate, size};
use crate::{Error, ErrorKind, Nanos};
use serde::{Deserialize, Serialize};

/// A disk: its mechanics, its cache and its queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskParameters {
    /// Size of the disk, or of the part that is used: random places are spread over it, and
    /// [`costs`](crate::DeviceModel::costs) takes a third of its cylinders for the usual seek.
    #[serde(rename = "capacity", with = "size")]
    pub capacity_bytes: u64,
    /// Revolutions a minute.
    pub rpm: u32,
    /// Surfaces: tracks of a cylinder.
    pub heads: u32,
    /// How far a track's first byte lies behind the last byte of the track before, in time.
    #[serde(rename = "track_skew", with = "duration")]
    pub track_skew_ns: Nanos,
    /// The same where the next track is on the next cylinder.
    #[serde(rename = "cylinder_skew", with = "duration")]
    pub cylinder_skew_ns: Nanos,
    /// Time until another head of the same cylinder reads. If it is longer than the skew, each
    /// change of the track within a transfer loses a revolution.
    #[serde(rename = "head_switch", with = "duration")]
    pub head_switch_ns: Nanos,
    /// Time to the next cylinder within a transfer. Between commands the seek curve holds.
    #[serde(rename = "cylinder_switch", with = "duration")]
    pub cylinder_switch_ns: Nanos,
    /// Time that a command takes before the disk begins to position or to answer from its cache.
    #[serde(rename = "overhead", with = "duration")]
    pub overhead_ns: Nanos,
    /// Largest command. A longer I/O is served as several, one after the other.
    #[serde(rename = "command", with = "size")]
    pub command_bytes: u64,
    /// Rate of the bus in bytes a second; without it, the bus delays nothing.
    #[serde(
        rename = "bus",
        with = "optional_rate",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub bus_bytes_per_second: Option<u64>,
    /// Which of the commands that wait is next.
    pub queue: Discipline,
    /// Commands that the disk chooses from, the oldest first. The others wait at the host.
    pub depth: u32,
    /// How long the arm moves.
    pub seek: Seek,
    /// The disk's own memory.
    pub cache: SegmentCache,
    /// In order of [`DiskZone::from_byte`], the first from byte 0.
    pub zones: Vec<DiskZone>,
}

/// Which of the commands that wait is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Discipline {
    /// The oldest.
    #[default]
    Fifo,
    /// The nearest in the direction of rising offsets, and from the last back to the first.
    Elevator,
    /// The one that the head reaches soonest, rotation included.
    ShortestPositioning,
}

/// How long the arm takes over `d` cylinders: `settle + base + root × √d`, and over long distances
/// `settle` and what [`LongSeek`] says. Nothing for `d` = 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seek {
    /// Time until the head has settled on its track, part of every seek.
    #[serde(rename = "settle", with = "duration")]
    pub settle_ns: Nanos,
    /// Time of every short seek beside settling.
    #[serde(rename = "base", with = "duration")]
    pub base_ns: Nanos,
    /// Time for the root of the distance in cylinders.
    #[serde(rename = "root", with = "duration")]
    pub root_ns: Nanos,
    /// Long seeks; without it all are as short ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongSeek>,
}

/// Seeks over which the arm reaches its full speed: `base + cylinder × d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongSeek {
    /// Cylinders from which on a seek is long.
    #[serde(rename = "from")]
    pub from_cylinders: u32,
    /// Time of every long seek beside settling.
    #[serde(rename = "base", with = "duration")]
    pub base_ns: Nanos,
    /// Time for each cylinder.
    #[serde(rename = "cylinder", with = "duration")]
    pub cylinder_ns: Nanos,
}

/// The disk's memory: each segment holds the last bytes of one sequence of reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentCache {
    /// How many; 0 for a disk that keeps nothing.
    pub segments: u32,
    /// Size of each.
    #[serde(rename = "segment", with = "size")]
    pub segment_bytes: u64,
    /// Whether the disk reads on into the segment behind a command while its head is free.
    pub read_on: bool,
}

/// Tracks of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskZone {
    /// First byte. A zone begins with a cylinder.
    #[serde(rename = "from", with = "size")]
    pub from_byte: u64,
    /// Bytes of a track.
    #[serde(rename = "track", with = "size")]
    pub track_bytes: u64,
}

/// With longer tracks, or more revolutions, the model's integers would not hold its angles.
const TRACK_BYTES_MAX: u64 = 1 << 28;
const RPM_MAX: u32 = 1_000_000;
const SEGMENTS_MAX: u32 = 4096;

impl Seek {
    /// Time of a seek over `cylinders`.
    #[must_use]
    pub fn ns(&self, cylinders: u64) -> Nanos {
        if cylinders == 0 {
            return 0;
        }
        let moving = match self.long.filter(|long| cylinders >= u64::from(long.from_cylinders)) {
            Some(long) => long.base_ns.saturating_add(long.cylinder_ns.saturating_mul(cylinders)),
            None => {
                let root = (self.root_ns as f64 * (cylinders as f64).sqrt()) as Nanos;
                self.base_ns.saturating_add(root)
            }
        };
        self.settle_ns.saturating_add(moving)
    }
}

impl DiskParameters {
    /// Whether a disk can have these numbers.
    ///
    /// # Errors
    /// One that it cannot have, by its name in text.
    pub fn check(&self) -> Result<(), Error> {
        let fail = |kind, what: String| Err(Error::new(kind, format!("a disk's {what}")));
        let above_zero = [
            ("capacity", self.capacity_bytes),
            ("rpm", u64::from(self.rpm)),
            ("heads", u64::from(self.heads)),
            ("command", self.command_bytes),
            ("bus", self.bus_bytes_per_second.unwrap_or(1)),
            ("depth", u64::from(self.depth)),
            ("cache.segment", self.cache.segment_bytes),
        ];
        for (name, value) in above_zero {
            if value == 0 {
                return fail(ErrorKind::Zero, format!("{name} must be above 0"));
            }
        }
        if self.rpm > RPM_MAX {
            return fail(ErrorKind::TooLarge, format!("rpm must be at most {RPM_MAX}"));
        }
        if self.cache.segments > SEGMENTS_MAX {
            let what = format!("cache.segments must be at most {SEGMENTS_MAX}");
            return fail(ErrorKind::TooLarge, what);
        }
        if self.zones.first().is_none_or(|zone| zone.from_byte != 0) {
            let what = "zones must be there, and the first from = \"0B\"";
            return fail(ErrorKind::Missing, what.to_owned());
        }
        if !self.zones.is_sorted_by(|one, next| one.from_byte < next.from_byte) {
            return fail(ErrorKind::Order, "zones must be in order of from".to_owned());
        }
        let tracks = 1..=TRACK_BYTES_MAX;
        match self.zones.iter().find(|zone| !tracks.contains(&zone.track_bytes)) {
            None => Ok(()),
            Some(zone) => {
                let kind =
                    if zone.track_bytes == 0 { ErrorKind::Zero } else { ErrorKind::TooLarge };
                fail(kind, "zones must have tracks of 1B to 256MiB".to_owned())
            }
        }
    }
}
