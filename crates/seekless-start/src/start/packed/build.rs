//! Makes the pack of a profile, beside a program whose start is over.

mod folders;
mod wanted;

use super::places::Places;
use super::{Packed, VERSION, notes, pack};
use crate::profiles;
use crate::profiles::beside::{PACK, created, published, remove, unwritten, write_private};
use crate::start::own::looked_at;
use folders::Folders;
use seekless_job::{Error, ErrorKind, Result};
use seekless_mount::mirror::{About, Mirror};
use seekless_pack::{About as Entry, Codec, PackWriter, prepare};
use seekless_sys::beside::{self, yield_to_other_reads};
use seekless_sys::mounts::Mounts;
use seekless_sys::present::joined;
use seekless_trace::{Identity, Profile};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fs::{self, DirEntry};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wanted::Wanted;

/// A start is over by then.
const START: Duration = Duration::from_secs(10);
/// A larger file is no part of a start.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// So much of one start at most, and of all: the oldest packs go.
const PACK_BYTES_MAX: u64 = 1 << 30;
const PACKS_BYTES_MAX: u64 = 4 << 30;
/// So much of what is free stays free.
const FREE_SHARE: u64 = 4;
/// The kernel reads around a touch of a mapped file, up to half of its readahead on each side. What
/// of that had not been brought in, the program would wait for.
const AROUND_BYTES: u64 = 32 << 10;
/// What is needed is joined over gaps up to this: one larger read costs less than two.
const GAP_BYTES: u64 = 64 << 10;

/// Makes the pack of a profile once the start of the program is over, in a process of its own.
pub(in crate::start) fn build_beside(profile: &Path) {
    let here = std::env::current_dir().ok();
    let build = |beside: &mut beside::Beside| {
        beside.release();
        yield_to_other_reads();
        let begun = Instant::now();
        while begun.elapsed() < START && !beside.has_ended(START - begun.elapsed()) {}
        // There is no caller to report an error to; the next start tries it again.
        let _ = build(profile, here.as_deref());
    };
    // Without a pack the start is what it would be.
    let _ = beside::start(build);
}

/// Makes the pack of a profile beside it. Where no folder may be seen from a pack, the notes say
/// that. `here` is the working folder of the starts.
///
/// # Errors
/// The profile cannot be read, files change meanwhile, or the pack cannot be written.
pub fn build(path: &Path, here: Option<&Path>) -> Result<()> {
    let profile = profiles::read(path)?;
    let wanted = Wanted::of(&profile);
    let folders = Folders::of(&wanted, &Places::of(&profile, &wanted, here));
    let mut mirror = folders.mirror;
    let packed = match mirror.roots.is_empty() {
        true => Packed::default(),
        false => {
            let offsets = write(path, &wanted, &mirror)?;
            if !are_as_noted(&mirror) {
                return Err(Error::new(ErrorKind::Differs, "folders change meanwhile"));
            }
            place(&mut mirror, &offsets);
            let Some((bytes, identity)) = looked_at(&pack(path)) else {
                return Err(Error::new(ErrorKind::Missing, "the pack is gone"));
            };
            let reads = reads(&wanted, &offsets);
            let real = real(&wanted, &offsets, &mirror);
            Packed { bytes, identity, reads, real, mirror, ..Packed::default() }
        }
    };
    let text = serde_json::to_vec(&packed);
    let text = text.map_err(|error| unwritten(&notes(path), error.into()))?;
    write_private(&notes(path), &text)?;
    keep_to_room(path);
    Ok(())
}

/// Writes the files of known folders into the pack, in the order of first need. Returns where each
/// lies.
fn write(path: &Path, wanted: &Wanted, mirror: &Mirror) -> Result<HashMap<PathBuf, u64>> {
    let path = pack(path);
    let known: HashSet<&Path> = mirror.folders.iter().map(|folder| &*folder.path).collect();
    let fits = |file: &&wanted::File| {
        file.about.bytes <= FILE_BYTES_MAX
            && file.path.parent().is_some_and(|above| known.contains(above))
    };
    let files: Vec<&wanted::File> = wanted.files.iter().filter(fits).collect();
    let mut room = PACK_BYTES_MAX.min(free_bytes(&path)? / FREE_SHARE);
    let written = Cell::new(0);
    let sink = Counted { sink: BufWriter::new(created(&path)?), written: &written };
    let (mut writer, mut offsets) = (PackWriter::new(sink), HashMap::new());
    for file in files {
        let name = file.path.to_str().map(|name| name.trim_start_matches('/'));
        let (Some(name), true) = (name, file.about.bytes <= room) else { continue };
        let Ok(content) = fs::read(&file.path) else { continue };
        // What changes meanwhile stays outside.
        let is_same = About::at(&file.path).is_ok_and(|found| found.is_as(&file.about));
        let bytes = content.len() as u64;
        if !is_same || bytes != file.about.bytes {
            continue;
        }
        let seconds = file.about.modified_ns.div_euclid(1_000_000_000);
        let ns = file.about.modified_ns.rem_euclid(1_000_000_000) as u32;
        let entry = Entry::named(name).mode(file.about.mode).modified(seconds).modified_ns(ns);
        let added = prepare(entry, content, Codec::Stored).and_then(|entry| writer.add(entry));
        added
            .map_err(|error| Error::because(ErrorKind::Pack, "a start cannot be packed", error))?;
        offsets.insert(file.path.clone(), written.get() - bytes);
        room -= bytes;
    }
    let finished = writer.finish();
    let (sink, _) = finished
        .map_err(|error| Error::because(ErrorKind::Pack, "a start cannot be packed", error))?;
    let out = sink.sink.into_inner();
    published(out.map_err(|error| unwritten(&path, error.into_error()))?)?;
    Ok(offsets)
}

/// A sink that counts what it gets.
struct Counted<'a, W> {
    sink: W,
    written: &'a Cell<u64>,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.sink.write(bytes)?;
        self.written.set(self.written.get() + count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

fn free_bytes(path: &Path) -> Result<u64> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let found = rustix::fs::statvfs(folder);
    let found = found.map_err(|error| Error::unreadable(folder, error.into()))?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Whether all folders still are as they were when their names were noted.
fn are_as_noted(mirror: &Mirror) -> bool {
    let is_as_noted = |folder: &seekless_mount::mirror::Folder| {
        About::at(&folder.path).is_ok_and(|found| found.is_as(&folder.about))
    };
    mirror.folders.iter().all(is_as_noted)
}

/// Notes where contents lie.
fn place(mirror: &mut Mirror, offsets: &HashMap<PathBuf, u64>) {
    for folder in &mut mirror.folders {
        for name in &mut folder.names {
            name.offset = offsets.get(&folder.path.join(&name.name)).copied();
        }
    }
}

/// The names of needed files below the roots that are not in the pack.
fn real(wanted: &Wanted, offsets: &HashMap<PathBuf, u64>, mirror: &Mirror) -> Vec<String> {
    let roots: Vec<&Path> = mirror.roots().collect();
    let is_real = |file: &&wanted::File| {
        !offsets.contains_key(&file.path) && roots.iter().any(|root| file.path.starts_with(root))
    };
    wanted.files.iter().filter(is_real).map(|file| file.name.clone()).collect()
}

/// What most runs needed, by its place in the pack, where it lies in the order of need.
fn reads(wanted: &Wanted, offsets: &HashMap<PathBuf, u64>) -> Vec<(u64, u64)> {
    let of_file = |file: &wanted::File| {
        let at = offsets.get(&file.path).copied();
        let range = move |need: &Range<u64>| {
            let start = need.start.saturating_sub(AROUND_BYTES);
            let end = need.end.saturating_add(AROUND_BYTES).min(file.about.bytes);
            at.filter(|_| start < end).map(|at| at + start..at + end)
        };
        file.needs.iter().filter_map(range).collect::<Vec<_>>()
    };
    let mut ranges: Vec<Range<u64>> = wanted.files.iter().flat_map(of_file).collect();
    ranges.sort_by_key(|range| range.start);
    let joined = joined(&ranges, GAP_BYTES);
    joined.into_iter().map(|range| (range.start, range.end - range.start)).collect()
}

impl Places {
    fn of(profile: &Profile, wanted: &Wanted, here: Option<&Path>) -> Self {
        let mounts = Mounts::read().ok();
        let points = mounts.iter().flat_map(Mounts::iter).map(|mount| mount.point.clone());
        let written = profile.written.iter().flatten().filter_map(|name| wanted::real(name));
        let changing = points.chain(written).chain(wanted.changed_since(profile)).collect();
        let home = std::env::var_os("HOME").map(PathBuf::from);
        Self { own: home.into_iter().chain(here.map(Path::to_owned)).collect(), changing }
    }
}

/// Removes the oldest packs of this user until all of them have room.
fn keep_to_room(path: &Path) {
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    let aged = |entry: DirEntry| {
        let is_pack = entry.path().extension().is_some_and(|extension| extension == PACK);
        let found = entry.metadata().ok().filter(|_| is_pack)?;
        Some((found.modified().unwrap_or(SystemTime::UNIX_EPOCH), found.len(), entry.path()))
    };
    let mut packs: Vec<_> = entries.into_iter().flatten().flatten().filter_map(aged).collect();
    packs.sort();
    let mut sum: u64 = packs.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, bytes, pack) in packs {
        if sum <= PACKS_BYTES_MAX || pack == path.with_extension(PACK) {
            break;
        }
        remove(&pack);
        sum -= bytes;
    }
}

impl Default for Packed {
    /// Of no folder.
    fn default() -> Self {
        let identity = Identity { inode: 0, modified_ns: 0 };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Self {
            version: VERSION,
            made_ns: i64::try_from(now).unwrap_or(i64::MAX),
            bytes: 0,
            identity,
            reads: Vec::new(),
            real: Vec::new(),
            mirror: Mirror::default(),
        }
    }
}
