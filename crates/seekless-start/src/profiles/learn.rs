//! What a run adds to a profile: its needs, of files that are likely to be the same next time.

use super::looks;
use crate::warm::bring::{self, Recorded};
use rustix::fs::{AtFlags, CWD, FileType, Stat, StatxFlags, statx};
use seekless_job::{Error, ErrorKind, Result};
use seekless_policy::foresight::start;
use seekless_policy::layout::extents::Extent;
use seekless_record::Needed;
use seekless_trace::{
    Access, Identity, Look, Need, Needs, PageSet, Profile, ProfiledFile, ProfiledRun, RunInfo,
    Trace, looked_up, unescape_path, written_in,
};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Runs that a profile keeps. With five, needs of one run in two are distinguished from needs of
/// few.
pub(super) const RUNS_MAX: usize = 5;
/// Needs of one run. A start of PyTorch has 6,000.
const NEEDS_MAX: usize = 1 << 18;
const PAGE_BYTES: u64 = 4096;

/// A run that was watched.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    files: Vec<ProfiledFile>,
    run: ProfiledRun,
    looks: Vec<Look>,
    /// The folders in which it wrote to files, if that is known.
    written: Option<Vec<String>>,
}

impl Learned {
    /// Ranges that it needed.
    #[must_use]
    pub fn needs(&self) -> usize {
        self.run.needs.len()
    }
}

/// Learns from a recording of one run.
///
/// # Errors
/// The recording cannot be read.
pub fn learn_trace(recording: &Path, cpu_ns: Option<u64>) -> Result<Learned> {
    let unreadable =
        |error| Error::because(ErrorKind::Trace, "the recording cannot be read", error);
    let trace = Trace::open(recording).map_err(unreadable)?;
    let needs = Needs::of(&trace).map_err(unreadable)?;
    let info = trace.metadata().runs.last().cloned().unwrap_or_default();
    let of_run = needs.runs.last().cloned().unwrap_or_default();
    let run = ProfiledRun { info, whole: true, cpu_ns, needs: of_run };
    let looks = looks::of(&looked_up(&trace).map_err(unreadable)?);
    let written = Some(written_in(&trace).map_err(unreadable)?);
    Ok(Learned { looks, written, ..steady(&needs.names, &needs.file_bytes, run) })
}

/// Learns from a run of which only first needs were recorded.
#[must_use]
pub fn learn_needed(needed: Needed, cpu_ns: Option<u64>) -> Learned {
    let Needed { info, names, file_bytes, needs, looks, .. } = needed;
    let run = ProfiledRun { info, whole: true, cpu_ns, needs };
    Learned { looks: looks::of(&looks), ..steady(&names, &file_bytes, run) }
}

/// Learns from the touches of one run. What it read by calls is taken from the newest run of
/// `before` that was recorded whole.
#[must_use]
pub fn learn(
    names: &[String],
    rows: &[Access],
    info: RunInfo,
    cpu_ns: Option<u64>,
    before: &Profile,
) -> Learned {
    let mut sizes = vec![None; names.len()];
    let mut pages = PageSet::default();
    let mut needs = Vec::new();
    for row in rows.iter().filter(|row| row.bytes > 0) {
        let offset = u64::try_from(row.offset).unwrap_or(0);
        let end = offset.saturating_add(row.bytes);
        sizes[row.file as usize] = row.file_bytes;
        if pages.add(row.file, offset / PAGE_BYTES..end.div_ceil(PAGE_BYTES)).is_some() {
            let (file, time_ns) = (row.file, row.time_ns);
            needs.push(Need { file, offset, bytes: row.bytes, time_ns, mapped: true });
        }
    }
    let run = ProfiledRun { info, whole: false, cpu_ns, needs };
    let mut learned = steady(names, &sizes, run);
    learned.read_as(before);
    learned
}

/// Keeps the needs of regular files that are as the run found them, and were not changed by it.
fn steady(names: &[String], sizes: &[Option<u64>], run: ProfiledRun) -> Learned {
    let started_ns = run.info.started_unix_ns.and_then(|at| i64::try_from(at).ok());
    let known = |(name, size): (&String, &Option<u64>)| {
        let (bytes, identity) = identify(name)?;
        let same = size.is_none_or(|size| size == bytes);
        let old = started_ns.is_none_or(|started| identity.modified_ns < started);
        (same && old).then(|| ProfiledFile {
            name: name.clone(),
            bytes: Some(bytes),
            identity: Some(identity),
            place: place(name),
        })
    };
    let found: Vec<Option<ProfiledFile>> = names.iter().zip(sizes).map(known).collect();
    let run_without = ProfiledRun { needs: vec![], ..run };
    let mut learned = Learned { run: run_without, ..Learned::default() };
    let mut numbers: Vec<Option<u32>> = vec![None; names.len()];
    for need in run.needs.into_iter().take(NEEDS_MAX) {
        let at = need.file as usize;
        let Some(file) = &found[at] else { continue };
        let number = *numbers[at].get_or_insert_with(|| {
            learned.files.push(file.clone());
            (learned.files.len() - 1) as u32
        });
        learned.run.needs.push(Need { file: number, ..need });
    }
    learned
}

/// The size and identity of a regular file. The name is escaped.
pub(crate) fn identify(name: &str) -> Option<(u64, Identity)> {
    let path = unescape_path(name);
    let special = [&b"/proc/"[..], b"/sys/", b"/dev/"];
    if !path.starts_with(b"/") || special.iter().any(|folder| path.starts_with(folder)) {
        return None;
    }
    let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::SIZE | StatxFlags::MTIME;
    let found = statx(CWD, OsStr::from_bytes(&path), AtFlags::NO_AUTOMOUNT, wanted).ok()?;
    let regular = FileType::from_raw_mode(found.stx_mode.into()).is_file();
    let time = found.stx_mtime;
    let modified_ns = time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec.into());
    regular.then_some((found.stx_size, Identity { inode: found.stx_ino, modified_ns }))
}

/// Where the first byte of a file lies on its device. The name is escaped.
pub(super) fn place(name: &str) -> Option<u64> {
    let path = PathBuf::from(OsString::from_vec(unescape_path(name)));
    let opened = bring::open(&path, &Recorded::default(), &[]).ok()?;
    opened.place(0)
}

/// The identity of an opened file.
pub(crate) fn identity_of(stat: &Stat) -> Identity {
    let modified_ns = stat
        .st_mtime
        .saturating_mul(1_000_000_000)
        .saturating_add(i64::try_from(stat.st_mtime_nsec).unwrap_or(0));
    Identity { inode: stat.st_ino, modified_ns }
}

/// What at least half of a profile's runs needed, in the order of the newest.
pub(crate) fn by_most(profile: &Profile) -> Vec<start::Need> {
    let needs = |run: &ProfiledRun| {
        let needs = run.needs.iter().map(|need| start::Need {
            file: need.file,
            extent: Extent { offset: need.offset, bytes: need.bytes },
            time_ns: need.time_ns,
            mapped: need.mapped,
        });
        needs.collect::<Vec<_>>()
    };
    let runs: Vec<Vec<start::Need>> = profile.runs.iter().map(needs).collect();
    start::by_most(&runs.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

impl Learned {
    /// Takes what calls read from an earlier run, of files that are still the same.
    fn read_as(&mut self, before: &Profile) {
        let whole = before.runs.iter().rev().find(|run| run.whole);
        // Once that run is too old to be kept, the newest has what was taken from it.
        let Some(whole) = whole.or_else(|| before.runs.last()) else { return };
        let mut numbers: HashMap<u32, Option<u32>> = HashMap::new();
        for need in whole.needs.iter().filter(|need| !need.mapped) {
            let Some(file) = before.files.get(need.file as usize) else { continue };
            let number = *numbers.entry(need.file).or_insert_with(|| {
                let (bytes, identity) = identify(&file.name)?;
                // Of a profile that machines share, no identity is known.
                let now = ProfiledFile {
                    name: file.name.clone(),
                    bytes: Some(bytes),
                    identity: Some(identity),
                    place: file.place,
                };
                file.is_same_as(&now).then(|| number_of(&mut self.files, &now))
            });
            if let Some(file) = number {
                self.run.needs.push(Need { file, ..*need });
            }
        }
        self.run.needs.sort_by_key(|need| need.time_ns);
    }

    /// Adds the run to a profile, as its newest.
    #[must_use]
    pub fn added_to(self, before: Option<Profile>, key: &str) -> Profile {
        let newer = Profile {
            key: key.to_owned(),
            files: self.files,
            runs: vec![self.run],
            looks: self.looks,
            written: self.written,
            between: Vec::new(),
        };
        merged(before, newer)
    }
}

/// A profile with the runs of a newer one, whose key it gets.
pub(super) fn merged(before: Option<Profile>, newer: Profile) -> Profile {
    let mut profile = before.unwrap_or_default();
    profile.key.clone_from(&newer.key);
    append(&mut profile, newer);
    keep_newest(&mut profile, RUNS_MAX);
    profile
}

/// The number of a file among `files`, to which it is added if it is not there.
fn number_of(files: &mut Vec<ProfiledFile>, file: &ProfiledFile) -> u32 {
    let at = files.iter().position(|known| known.name == file.name).unwrap_or_else(|| {
        files.push(file.clone());
        files.len() - 1
    });
    at as u32
}

/// Appends the runs of `newer`. Of files that are others by now, earlier needs are forgotten.
pub(super) fn append(profile: &mut Profile, newer: Profile) {
    if !newer.looks.is_empty() {
        profile.looks = newer.looks;
    }
    if !newer.between.is_empty() {
        profile.between = newer.between;
    }
    profile.written = newer.written.or(profile.written.take());
    let mut known: HashMap<String, u32> = HashMap::new();
    for (number, file) in (0..).zip(&profile.files) {
        known.insert(file.name.clone(), number);
    }
    let mut numbers = Vec::with_capacity(newer.files.len());
    for file in newer.files {
        let number = *known.entry(file.name.clone()).or_insert_with(|| {
            profile.files.push(file.clone());
            (profile.files.len() - 1) as u32
        });
        let old = &mut profile.files[number as usize];
        let is_same = old.is_same_as(&file);
        let (bytes, identity) = (file.bytes.or(old.bytes), file.identity.or(old.identity));
        *old = match is_same {
            true => ProfiledFile { bytes, identity, ..file },
            false => file,
        };
        if !is_same {
            for run in &mut profile.runs {
                run.needs.retain(|need| need.file != number);
            }
        }
        numbers.push(number);
    }
    for mut run in newer.runs {
        run.needs.retain_mut(|need| match numbers.get(need.file as usize) {
            Some(number) => {
                need.file = *number;
                true
            }
            None => false,
        });
        profile.runs.push(run);
    }
}

/// Leaves the newest runs, at most `runs_max`, and the files that these need.
pub(super) fn keep_newest(profile: &mut Profile, runs_max: usize) {
    profile.runs.retain(|run| !run.needs.is_empty());
    let surplus = profile.runs.len().saturating_sub(runs_max);
    profile.runs.drain(..surplus);
    let mut numbers: Vec<Option<u32>> = vec![None; profile.files.len()];
    let mut files = Vec::new();
    for need in profile.runs.iter_mut().flat_map(|run| &mut run.needs) {
        let number = numbers[need.file as usize].get_or_insert_with(|| {
            files.push(profile.files[need.file as usize].clone());
            (files.len() - 1) as u32
        });
        need.file = *number;
    }
    profile.files = files;
}
