//! Turns a trace of files into a block trace: the accesses that a device would see if there were no
//! page cache.
//!
//! FIEMAP shows where a file's bytes lie. An access becomes one row for each piece that lies
//! together on the device, in whole sectors, at the time of the access. The device is the whole
//! disk, whose offsets the block layer counts too. What lies on no device is left out and counted.
//! With Ozen's lines, each access has a row for each sector instead, as his collector writes them.

mod locate;
mod now;
mod report;

pub use locate::Why;
pub use report::{LeftOut, OnDevice, Report};

use crate::rewrite::{plain, unread};
use locate::{Piece, locate};
use now::Now;
use rustix::fs::{major, makedev, minor};
use seekless_job::roots::Roots;
use seekless_job::{Error, ErrorKind, Result};
use seekless_record::{FileKey, Places, Snapshot};
use seekless_sys::block::OnDisk;
use seekless_sys::output::Destination;
use seekless_trace::{
    Access, Columns, FileId, Kind, Metadata, Op, RunInfo, Trace, View, Writer, open_any,
};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

const SECTOR_BYTES: u64 = 512;

/// How to map.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Rows as Ozen's collector writes them: one for each sector of 512 bytes from the access's
    /// first byte to the byte behind its last one, so that an aligned access has one more than it
    /// covers; the offset is −1 where there is no place. Only calls: touches of mapped files are
    /// left out, which his collector does not see.
    pub ozen: bool,
    /// Write a file back that has no places yet, and look again.
    pub sync: bool,
    /// Trees that have moved since they were traced.
    pub roots: Roots,
    /// Keep the accesses of this device alone.
    pub device: Option<String>,
}

/// Writes the block view of `trace` to `out`. `places` are those that its recording has found; if
/// there are none, files are looked at as they are now.
///
/// # Errors
/// The trace cannot be read or is no trace of files, no access lies on a device, or the output
/// cannot be written.
pub fn blocks(
    trace: &Path,
    out: &Destination,
    places: Option<&Places>,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Report> {
    let trace = open_any(trace).map_err(unread)?;
    let path = trace.path().display().to_string();
    if trace.metadata().kind != Kind::Files {
        let why = format!("{path} is a {} trace already: map a trace of files", kind(&trace));
        return Err(Error::new(ErrorKind::Invalid, why));
    }
    out.check(seekless_sys::output::Content::Binary)?;
    let mut writer = Writer::create(out, metadata(&trace)).map_err(unwritten)?;
    let loads = !has_calls(&trace)?;
    let names = trace.file_names().map_err(unread)?;
    let mut mapper = Mapper::new(&names, places, options);
    let mut done = 0;
    for batch in trace.scan(Columns::ALL).map_err(unread)? {
        let batch = batch.map_err(unread)?;
        for access in (0..batch.rows()).filter_map(|row| batch.access(row)) {
            mapper.know(&access);
            if is_access(access.op, loads, options.ozen) && access.error.is_none() {
                mapper.access(&access, &mut writer)?;
            }
        }
        done += batch.rows() as u64;
        progress(done, trace.rows());
    }
    let report = mapper.finish();
    if report.rows == 0 {
        return Err(Error::new(ErrorKind::Missing, nothing(&path, &report)));
    }
    writer.finish().map_err(unwritten)?;
    Ok(report)
}

fn kind(trace: &Trace) -> &'static str {
    trace.metadata().kind.as_str()
}

fn unwritten(error: seekless_trace::Error) -> Error {
    Error::because(ErrorKind::Trace, "the block trace cannot be written", error)
}

/// Why there would be no rows.
fn nothing(path: &str, report: &Report) -> String {
    let most = report.left_out.iter().max_by_key(|(_, sum)| sum.parts);
    match most {
        None => format!("{path} has no reads or writes: `seekless trace info` shows what it has"),
        Some((Why::Gone, _)) => {
            format!(
                "{path}: its files are no longer there; name a tree that has moved with --root OLD=NEW, or record with --block"
            )
        }
        Some((Why::NoDevice, _)) => {
            format!("{path}: its files are on no block device (tmpfs, overlay, btrfs, a network)")
        }
        Some((why, _)) => {
            let why = format!("{why:?}").to_lowercase();
            format!("{path}: no access lies on a device, mostly since it is {why}")
        }
    }
}

/// What the block trace says of itself.
fn metadata(trace: &Trace) -> Metadata {
    let all = trace.metadata();
    let run = |run: &RunInfo| RunInfo {
        source: format!("{}; mapped to blocks by FIEMAP, pre-cache", run.source),
        ..run.clone()
    };
    let runs = all.runs.iter().map(run).collect();
    Metadata { kind: Kind::Blocks, view: Some(View::PreCache), runs, ..plain(all) }
}

/// Whether the trace has reads, writes or touches; else its loads stand for them.
fn has_calls(trace: &Trace) -> Result<bool> {
    for batch in trace.scan(Columns::OP).map_err(unread)? {
        let batch = batch.map_err(unread)?;
        if batch.op().iter().any(|op| matches!(op, Op::Read | Op::Write | Op::Fault)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_access(op: Op, loads: bool, ozen: bool) -> bool {
    match op {
        Op::Read | Op::Write => true,
        Op::Fault => !ozen,
        Op::Load => loads,
        _ => false,
    }
}

/// A file that was looked at now.
type Located = std::result::Result<(FileKey, Rc<[Snapshot]>), Why>;

/// Maps accesses one after another.
struct Mapper<'a> {
    names: &'a [String],
    places: Option<&'a Places>,
    options: &'a Options,
    now: Now<'a>,
    /// By file of the trace: what was last known to have its name.
    keys: Vec<Option<FileKey>>,
    /// By file of the trace: where it is now, if somebody had to look.
    found: HashMap<FileId, Located>,
    /// By device number.
    devices: HashMap<u64, Option<Device>>,
    sums: Vec<OnDevice>,
    report: Report,
}

/// The disk of a device, and where the device begins on it.
#[derive(Clone, Debug)]
struct Device {
    /// Its place in `sums`.
    sum: usize,
    number: u64,
    start: u64,
}

impl<'a> Mapper<'a> {
    fn new(names: &'a [String], places: Option<&'a Places>, options: &'a Options) -> Self {
        Self {
            names,
            places,
            options,
            now: Now::new(&options.roots, options.sync),
            keys: vec![None; names.len()],
            found: HashMap::new(),
            devices: HashMap::new(),
            sums: Vec::new(),
            report: Report::default(),
        }
    }

    /// Notes which file has a name at the time of this row.
    fn know(&mut self, access: &Access) {
        if let (Some(device), Some(inode)) = (access.device, access.inode) {
            self.keys[access.file as usize] = Some((device, inode));
        }
    }

    fn access(&mut self, access: &Access, writer: &mut Writer) -> Result<()> {
        let Ok(start) = u64::try_from(access.offset) else { return Ok(()) };
        if access.bytes == 0 {
            return Ok(());
        }
        self.report.accesses += 1;
        let end = start.saturating_add(access.bytes);
        // Ozen's lines run to the byte behind the access.
        let range = start..if self.options.ozen { end.saturating_add(1) } else { end };
        let (key, pieces) = match self.looks(access.file) {
            Ok((key, looks)) => {
                let write = access.op == Op::Write;
                (Some(key), locate(looks.snapshots(), access.time_ns, range, write))
            }
            Err(why) => (self.keys[access.file as usize], vec![Piece { range, place: Err(why) }]),
        };
        let device = key.and_then(|key| self.device(key.0));
        let inode = key.map(|key| key.1);
        let mut mapped = Mapped { access, device, inode, writer };
        for piece in pieces {
            match self.options.ozen {
                true => self.lines(&mut mapped, start, &piece)?,
                false => self.piece(&mut mapped, &piece)?,
            }
        }
        Ok(())
    }

    /// Ozen's lines of a piece: of every 512th byte from the start of the access.
    fn lines(&mut self, mapped: &mut Mapped<'_>, start: u64, piece: &Piece) -> Result<()> {
        let range = piece.range.clone();
        let mut at = start + (range.start - start).next_multiple_of(SECTOR_BYTES);
        while at < range.end {
            let place = piece.place.map(|place| place + (at - range.start));
            self.piece(mapped, &Piece { range: at..at + 1, place })?;
            at += SECTOR_BYTES;
        }
        Ok(())
    }

    /// Writes the row of a piece, or counts why it lies on no device. Ozen's lines have a row then
    /// too.
    fn piece(&mut self, mapped: &mut Mapped<'_>, piece: &Piece) -> Result<()> {
        let bytes = piece.range.end - piece.range.start;
        let nowhere = match (piece.place, &mapped.device) {
            (Ok(place), Some(device)) => {
                let from = device.start.saturating_add(place);
                let end = from.saturating_add(bytes).next_multiple_of(SECTOR_BYTES);
                let start = from - from % SECTOR_BYTES;
                let sum = device.sum;
                return self.row(mapped, sum, start as i64, end - start);
            }
            (Ok(_), None) => Why::NoDevice,
            (Err(why), _) => why,
        };
        self.report.leave_out(nowhere, bytes);
        let sum = mapped.device.as_ref().map_or(0, |device| device.sum);
        match self.options.ozen && sum < self.sums.len() {
            true => self.row(mapped, sum, -1, SECTOR_BYTES),
            false => Ok(()),
        }
    }

    fn row(&mut self, mapped: &mut Mapped<'_>, sum: usize, offset: i64, bytes: u64) -> Result<()> {
        let Mapped { access, device, inode, writer } = mapped;
        let sum = &mut self.sums[sum];
        if self.options.device.as_ref().is_some_and(|kept| *kept != sum.name) {
            return Ok(());
        }
        let write = access.op == Op::Write;
        sum.rows += 1;
        *(if write { &mut sum.written_bytes } else { &mut sum.read_bytes }) += bytes;
        let file = writer.file(&sum.name);
        let row = Access {
            run: access.run,
            time_ns: access.time_ns,
            pid: access.pid,
            tid: access.tid,
            offset,
            bytes,
            device: device.as_ref().map(|device| device.number),
            inode: *inode,
            ..Access::new(if write { Op::Write } else { Op::Read }, file)
        };
        writer.push(row).map_err(unwritten)
    }

    /// Where a file of the trace lay: what the recording found, or what is there now.
    fn looks(&mut self, file: FileId) -> std::result::Result<(FileKey, Looks<'a>), Why> {
        let key = self.keys[file as usize];
        if let (Some(places), Some(key)) = (self.places, key) {
            let known = places.of(key);
            if !known.is_empty() {
                return Ok((key, Looks::Recorded(known)));
            }
        }
        if !self.found.contains_key(&file) {
            let found = self.look(file, key);
            self.found.insert(file, found);
        }
        self.found[&file].clone().map(|(key, looks)| (key, Looks::Now(looks)))
    }

    fn look(&mut self, file: FileId, traced: Option<FileKey>) -> Located {
        let name = &self.names[file as usize];
        let found = self.now.look(name);
        match &found {
            Err(Why::Gone) if self.places.is_none() => self.report.gone.push(name.clone()),
            // A device's own number is not an inode, and a tree that was moved has other inodes.
            Ok(found)
                if found.file.1 != 0
                    && self.options.roots.is_empty()
                    && traced.is_some_and(|traced| traced != found.file) =>
            {
                self.report.replaced.push(name.clone());
            }
            _ => {}
        }
        found.map(|found| (found.file, Rc::from([found.snapshot])))
    }

    fn device(&mut self, number: u64) -> Option<Device> {
        let sums = &mut self.sums;
        let find = || {
            let found = OnDisk::find((major(number), minor(number)))?;
            let known = sums.iter().position(|sum| sum.name == found.disk);
            let sum = known.unwrap_or_else(|| {
                sums.push(OnDevice { name: found.disk.clone(), ..OnDevice::default() });
                sums.len() - 1
            });
            let number = makedev(found.number.0, found.number.1);
            Some(Device { sum, number, start: found.start })
        };
        self.devices.entry(number).or_insert_with(find).clone()
    }

    fn finish(mut self) -> Report {
        self.sums.retain(|sum| sum.rows > 0);
        self.sums.sort_by(|one, other| other.rows.cmp(&one.rows).then(one.name.cmp(&other.name)));
        self.report.rows = self.sums.iter().map(|sum| sum.rows).sum();
        self.report.devices = self.sums;
        if let Some(places) = self.places {
            self.report.gone.clone_from(&places.gone);
            self.report.moved.clone_from(&places.moved);
            self.report.refused = places.refused;
        }
        self.report
    }
}

/// An access whose file is known, and where its rows go.
struct Mapped<'a> {
    access: &'a Access,
    device: Option<Device>,
    inode: Option<u64>,
    writer: &'a mut Writer,
}

/// Snapshots of one file.
enum Looks<'a> {
    Recorded(&'a [Snapshot]),
    Now(Rc<[Snapshot]>),
}

impl Looks<'_> {
    fn snapshots(&self) -> &[Snapshot] {
        match self {
            Looks::Recorded(snapshots) => snapshots,
            Looks::Now(snapshots) => snapshots,
        }
    }
}

#[cfg(test)]
mod tests;
