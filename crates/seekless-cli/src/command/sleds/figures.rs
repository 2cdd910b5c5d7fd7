//! The figures of a file as `--json` prints them, under names and in units that do not change.

use crate::output::shown;
use seekless::device::Origin;
use seekless::sled::{DeliveryTime, Plan, Sled, Survey};
use seekless::tools::sleds::Sum;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// The figures of one argument.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Shown {
    File(Figures),
    Folder(FolderFigures),
}

/// The figures of a folder: all files below it together.
#[derive(Debug, Serialize)]
pub(super) struct FolderFigures {
    /// As it was named; bytes that are no UTF-8 are replaced.
    pub(super) folder: String,
    /// The same for a person.
    #[serde(skip)]
    pub(super) shown: String,
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// Bytes by the level that delivers them.
    pub(super) levels: BTreeMap<&'static str, u64>,
    pub(super) total_s: Totals,
    /// Devices whose costs are assumed.
    pub(super) assumed: BTreeSet<String>,
    /// Entries that could not be examined.
    pub(super) unreadable: u64,
    pub(super) room_bytes: Option<u64>,
    pub(super) residence_s: Option<f64>,
}

/// The figures of a file.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    /// As it was named; bytes that are no UTF-8 are replaced.
    pub(super) file: String,
    /// The same for a person.
    #[serde(skip)]
    pub(super) shown: String,
    pub(super) bytes: u64,
    pub(super) sleds: Vec<SledFigures>,
    pub(super) total_s: Totals,
    /// The name of its device in the device table.
    pub(super) device: String,
    /// Where that device's costs come from.
    pub(super) origin: Origin,
    /// Bytes that fit into the page cache before the kernel evicts something.
    pub(super) room_bytes: Option<u64>,
    /// How long cached data stays, at the kernel's present rate of eviction; `null` if it evicts
    /// nothing.
    pub(super) residence_s: Option<f64>,
    pub(super) notes: Vec<String>,
    #[serde(skip)]
    pub(super) raw: Vec<Sled>,
}

/// The figures of one range of a file.
#[derive(Debug, Serialize)]
pub(super) struct SledFigures {
    offset: u64,
    bytes: u64,
    latency_s: f64,
    /// Bytes per second; `null` for a hole.
    bandwidth: Option<f64>,
    level: &'static str,
    confidence: &'static str,
    age_s: f64,
}

/// Seconds to deliver the whole file.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Totals {
    pub(super) linear: Seconds,
    pub(super) best: Seconds,
}

/// A range of times: from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Seconds {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Figures {
    pub(super) fn new(
        path: &Path,
        survey: Survey,
        room: Option<u64>,
        residence: Option<Duration>,
    ) -> Figures {
        let total = |plan| Seconds::from(survey.delivery_time(plan, room));
        Figures {
            file: path.to_string_lossy().into_owned(),
            shown: shown(path).into_owned(),
            bytes: survey.bytes,
            total_s: Totals { linear: total(Plan::Linear), best: total(Plan::Best) },
            sleds: survey.sleds.iter().map(SledFigures::from).collect(),
            device: survey.device,
            origin: survey.origin,
            room_bytes: room,
            residence_s: residence.map(|residence| residence.as_secs_f64()),
            notes: survey.notes,
            raw: survey.sleds,
        }
    }
}

impl FolderFigures {
    pub(super) fn new(
        path: &Path,
        sum: Sum,
        room: Option<u64>,
        residence: Option<Duration>,
    ) -> FolderFigures {
        FolderFigures {
            folder: path.to_string_lossy().into_owned(),
            shown: shown(path).into_owned(),
            files: sum.files,
            bytes: sum.bytes,
            levels: sum.levels.iter().map(|(level, bytes)| (level.name(), *bytes)).collect(),
            total_s: Totals { linear: Seconds::from(sum.linear), best: Seconds::from(sum.best) },
            assumed: sum.assumed,
            unreadable: sum.unreadable,
            room_bytes: room,
            residence_s: residence.map(|residence| residence.as_secs_f64()),
        }
    }
}

impl From<&Sled> for SledFigures {
    fn from(sled: &Sled) -> Self {
        SledFigures {
            offset: sled.offset,
            bytes: sled.bytes,
            latency_s: sled.latency.as_secs_f64(),
            bandwidth: Some(sled.bandwidth).filter(|bandwidth| bandwidth.is_finite()),
            level: sled.level.name(),
            confidence: sled.confidence.name(),
            age_s: sled.age.as_secs_f64(),
        }
    }
}

impl From<DeliveryTime> for Seconds {
    fn from(time: DeliveryTime) -> Self {
        Seconds { low: time.low.as_secs_f64(), high: time.high.as_secs_f64() }
    }
}
