//! `seekless probe`: measures once what the device under a path costs, and keeps the figures for
//! SLEDs.

mod choose;
mod inside;
mod object;

pub use inside::{InsideOptions, InsideReport, Subject, inside};
pub use object::{ObjectProbe, keep, measure};

use crate::{Error, ErrorKind, Result};
use seekless_device::units::{counted, format_bytes, format_duration};
use seekless_device::{Origin, Row, Table, Zone};
use seekless_measure::{BandwidthZone, Budget, Calibration, calibrate, calibrate_memory};
use seekless_sled::{Config, Devices, Entry, Home, Kind, Surveyor};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Measure again what is known already.
    pub refresh: bool,
    /// The device table to read and to keep the figures in. `None`: they are kept in the user's,
    /// and the machine's is read too.
    pub table: Option<PathBuf>,
    /// How much may be taken of the device.
    pub budget: Budget,
}

/// What a device costs, and how that is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// Its name in the device table.
    pub device: String,
    /// The type of its file system.
    pub file_system: String,
    /// The device or share that is mounted.
    pub source: String,
    /// Time to the first byte in seconds, the median.
    pub latency_s: f64,
    /// The same, which nine of ten reads keep; `null` if that was not measured.
    pub latency_p90_s: Option<f64>,
    /// Bytes per second from then on, in the first zone.
    pub bandwidth: u64,
    /// The zones, if the bandwidth is not the same all over the device.
    pub zones: Vec<BandwidthZone>,
    /// Where the figures come from.
    pub origin: Origin,
    /// When it was measured, in seconds since 1970; `null` if it was not.
    pub measured_unix_s: Option<u64>,
    /// Under which conditions.
    pub conditions: String,
    /// The measurement, if it was made just now.
    pub calibration: Option<Calibration>,
    /// The device table in which it is kept.
    #[serde(serialize_with = "seekless_job::in_json::path")]
    pub table: PathBuf,
}

/// What the device under `path` costs: measured if it is not known yet, or if it is to be known
/// anew.
///
/// # Errors
/// There is nothing at the path, nothing large enough to read, or the device table cannot be kept.
pub fn probe(path: &Path, options: &Options, progress: &mut dyn FnMut(u64, u64)) -> Result<Probe> {
    choose::check(path)?;
    let (table, devices) = known(options.table.as_deref())?;
    let mut surveyor = Surveyor::with(Config::load().map_err(sled)?, devices.clone());
    let (home, row) = surveyor.home(path).map_err(sled)?;
    let known = devices.entry(&home.key).filter(|_| !options.refresh);
    match known {
        Some(entry) => {
            let table = holder(&home.key, entry, table)?;
            Ok(shown(&home, &row, Some(entry), None, table))
        }
        None => {
            let (entry, calibration) = measured(path, &home, options, progress)?;
            let key = home.key.clone();
            Devices::update(&table, |devices| devices.insert(key, entry.clone())).map_err(sled)?;
            let row = if row.origin == Origin::Given { row } else { entry.row.clone() };
            Ok(shown(&home, &row, Some(&entry), Some(calibration), table))
        }
    }
}

/// All that was measured, by device, and the table that takes new figures. Without a `table` these
/// are the machine's figures with the user's above them.
///
/// # Errors
/// A device table cannot be read.
pub fn known(table: Option<&Path>) -> Result<(PathBuf, Devices)> {
    let (table, devices) = match table {
        Some(table) => (Ok(table.to_owned()), Devices::read(table)),
        None => (Devices::path(), Devices::load()),
    };
    Ok((table.map_err(sled)?, devices.map_err(sled)?))
}

/// The table that an entry stands in: this one, or else the machine's.
fn holder(key: &str, entry: &Entry, table: PathBuf) -> Result<PathBuf> {
    let is_here = Devices::read(&table).map_err(sled)?.entry(key) == Some(entry);
    Ok(if is_here { table } else { Devices::machine_path().to_owned() })
}

fn measured(
    path: &Path,
    home: &Home,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(Entry, Calibration)> {
    let load = load();
    let measure = |error: seekless_measure::Error| {
        Error::because(
            ErrorKind::Measure,
            format!("cannot measure the device under {}", path.display()),
            error,
        )
    };
    let calibration = if home.kind == Kind::Memory {
        calibrate_memory(Budget { time: Duration::from_millis(500), ..options.budget })
            .map_err(measure)?
    } else {
        let files = choose::files(path)?;
        calibrate(&files, options.budget, progress).map_err(measure)?
    };
    let row = Row { origin: Origin::Calibrated, zones: zones(&calibration) };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let entry =
        Entry { measured_unix_s: now, conditions: conditions(&calibration, home, &load), row };
    Ok((entry, calibration))
}

/// The zones of a row: one, if the bandwidth is the same all over the device.
fn zones(calibration: &Calibration) -> Vec<Zone> {
    let zone = |from_byte, bytes_per_second| Zone {
        from_byte,
        latency_ns: calibration.latency_ns,
        latency_p90_ns: Some(calibration.latency_p90_ns),
        bytes_per_second,
    };
    match &calibration.zones[..] {
        [] => vec![zone(0, calibration.bytes_per_second)],
        zones => zones.iter().map(|part| zone(part.from_byte, part.bytes_per_second)).collect(),
    }
}

fn conditions(calibration: &Calibration, home: &Home, load: &str) -> String {
    let how = match (home.kind, calibration.direct) {
        (Kind::Memory, _) => "from memory",
        (_, true) => "past the page cache (O_DIRECT)",
        (_, false) => "through the page cache, what was not cached",
    };
    format!(
        "{} of {} read in {} {how}; load {load}",
        format_bytes(calibration.bytes_read),
        match calibration.files {
            0 => "memory".to_owned(),
            files => counted(files, "file"),
        },
        format_duration(calibration.elapsed_ns),
    )
}

/// The load of the last minute, before our own.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown").to_owned()
}

fn shown(
    home: &Home,
    row: &Row,
    entry: Option<&Entry>,
    calibration: Option<Calibration>,
    table: PathBuf,
) -> Probe {
    let zone = row.at(0);
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    Probe {
        device: home.key.clone(),
        file_system: home.file_system.clone(),
        source: home.source.clone(),
        latency_s: seconds(zone.latency_ns),
        latency_p90_s: zone.latency_p90_ns.map(seconds),
        bandwidth: zone.bytes_per_second,
        zones: match &row.zones[..] {
            [_] => Vec::new(),
            zones => zones.iter().map(bandwidth_zone).collect(),
        },
        origin: row.origin,
        measured_unix_s: entry.map(|entry| entry.measured_unix_s),
        conditions: entry.map_or(String::new(), |entry| entry.conditions.clone()),
        calibration,
        table,
    }
}

fn bandwidth_zone(zone: &Zone) -> BandwidthZone {
    BandwidthZone { from_byte: zone.from_byte, bytes_per_second: zone.bytes_per_second }
}

/// Measures what reading cached data costs, and keeps it as the row `memory`.
///
/// # Errors
/// The device table cannot be kept.
pub fn probe_memory(options: &Options) -> Result<Probe> {
    let home = Home {
        kind: Kind::Memory,
        key: Table::MEMORY.to_owned(),
        file_system: String::new(),
        source: "page cache".to_owned(),
        assumed: Table::MEMORY,
    };
    let (table, devices) = known(options.table.as_deref())?;
    if let Some(entry) = devices.entry(&home.key).filter(|_| !options.refresh) {
        let table = holder(&home.key, entry, table)?;
        return Ok(shown(&home, &entry.row, Some(entry), None, table));
    }
    let (entry, calibration) = measured(Path::new("memory"), &home, options, &mut |_, _| {})?;
    let key = home.key.clone();
    Devices::update(&table, |devices| devices.insert(key, entry.clone())).map_err(sled)?;
    Ok(shown(&home, &entry.row, Some(&entry), Some(calibration), table))
}

fn sled(error: seekless_sled::Error) -> Error {
    Error::new(ErrorKind::Io, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_measured_once_and_then_known() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let path = folder.path().join("data");
        std::fs::write(&path, vec![7; 8 << 20]).expect("written");
        std::fs::File::open(&path).expect("there").sync_all().expect("synced");
        let options = Options {
            refresh: false,
            table: Some(folder.path().join("state/devices.toml")),
            budget: Budget { time: Duration::from_millis(200), bytes: 16 << 20 },
        };
        let first = probe(&path, &options, &mut |_, _| {}).expect("measured");
        assert!(first.calibration.is_some() && first.latency_s > 0.0);
        let again = probe(&path, &options, &mut |_, _| {}).expect("known");
        assert_eq!(again.calibration, None);
        assert_eq!(
            (again.latency_s, again.bandwidth, again.device),
            (first.latency_s, first.bandwidth, first.device)
        );
        let refreshed = probe(&path, &Options { refresh: true, ..options.clone() }, &mut |_, _| {})
            .expect("measured");
        assert!(refreshed.calibration.is_some());

        let memory = probe_memory(&options).expect("measured");
        assert_eq!(memory.device, "memory");
        assert_eq!(known(options.table.as_deref()).expect("there").1.entries().count(), 2);
    }

    /// Measured zones are written to the table, and cost the extents that lie in them.
    #[test]
    fn zones_become_those_of_the_row() {
        let budget = Budget { time: Duration::from_millis(100), bytes: 64 << 20 };
        let one = calibrate_memory(budget).expect("measured");
        assert_eq!(zones(&one).len(), 1);
        let zone = |from_byte, bytes_per_second| BandwidthZone { from_byte, bytes_per_second };
        let two = Calibration { zones: vec![zone(0, 200), zone(1 << 40, 100)], ..one };
        let row = Row { origin: Origin::Calibrated, zones: zones(&two) };
        row.check("disk").expect("a row that makes sense");
        let at = |byte| (row.at(byte).latency_ns, row.at(byte).bytes_per_second);
        assert_eq!([at(0), at(1 << 40)], [(two.latency_ns, 200), (two.latency_ns, 100)]);

        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let table = folder.path().join("devices.toml");
        let entry = Entry { measured_unix_s: 1, conditions: String::new(), row: row.clone() };
        Devices::update(&table, |devices| devices.insert("disk".to_owned(), entry)).expect("kept");
        let kept = Devices::read(&table).expect("read");
        assert_eq!(kept.entry("disk").expect("there").row, row);
    }

    #[test]
    fn a_folder_without_large_files_says_what_is_wanted() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let options =
            Options { table: Some(folder.path().join("devices.toml")), ..Options::default() };
        let error = probe(folder.path(), &options, &mut |_, _| {}).expect_err("nothing to read");
        assert_eq!(error.kind(), ErrorKind::Missing);
        let error = probe(&folder.path().join("missing"), &options, &mut |_, _| {})
            .expect_err("nothing there");
        assert!(error.to_string().contains("missing"), "{error}");
    }
}
