//! A profile: what starts of one program need, learned from runs. It is a trace with a mark, so
//! that all that reads traces reads it: `read` and `fault` rows of the first needs only, a run for
//! each start that was learned from, the newest last. Behind these, the newest run has the names
//! that a start looks up: a `stat` row for each name, an `open` row for each folder on the way, a
//! `list` row for each folder that is listed. Arguments may be secrets, and profiles are
//! shipped: of a run's command line only the program is kept. The mark is JSON in the metadata:
//!
//! ```text
//! seekless.profile = {"version":2, "key":"/usr/bin/python3 -c ~5e1f",
//!                     "runs":[{"whole":true,"cpu_ns":212000000}],
//!                     "files":{"/usr/lib/libm.so.6":{"inode":17,"modified_ns":1700000000000}},
//!                     "written":["/home/ada/.cache/app"]}
//! ```

use crate::error::{Error, ErrorKind, Result};
use crate::{Access, Columns, FileId, Look, Metadata, Need, Needs, Op, RunInfo, Trace, Writer};
use seekless_sys::objects;
use seekless_sys::output::Destination;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the mark that this program writes.
const VERSION: u32 = 2;
/// The first one, whose keys held arguments.
const VERSION_WITH_ARGUMENTS: u32 = 1;
/// A larger file is no profile. A start of PyTorch takes 60 KB a run.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Likewise, in rows, and in bytes that all rows cover: each page takes memory when it is read.
const ROWS_MAX: u64 = 4 << 20;
const COVERED_BYTES_MAX: u64 = 1 << 40;

/// What starts of one program need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// What it is of, in words: the program and the shape of its arguments. Empty for a trace that
    /// was not made as a profile.
    pub key: String,
    /// The files; a [`Need`]'s `file` is an index into them.
    pub files: Vec<ProfiledFile>,
    /// The runs, the newest last.
    pub runs: Vec<ProfiledRun>,
    /// The names that the newest run looked up, if it was recorded with them.
    pub looks: Vec<Look>,
    /// The folders in which the newest run that was recorded whole wrote to files, escaped and
    /// sorted; `None` if that is not known.
    pub written: Option<Vec<String>>,
    /// Files that no run needed and that lie between those that were, on the device.
    pub between: Vec<ProfiledFile>,
}

/// A file of a profile, and how to see that it is still the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfiledFile {
    /// Its path, escaped as a trace's are.
    pub name: String,
    /// Its size in bytes, where it is known.
    pub bytes: Option<u64>,
    /// Its inode and time of last change, where they are known.
    pub identity: Option<Identity>,
    /// Where its first byte lay on its device when it was last learned of, in bytes, if the file
    /// system says so.
    pub place: Option<u64>,
}

/// What changes when a file is replaced or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The inode's number.
    pub inode: u64,
    /// When the content last changed, in nanoseconds since 1970.
    pub modified_ns: i64,
}

/// One run of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfiledRun {
    /// The circumstances.
    pub info: RunInfo,
    /// Whether reads by calls were recorded too; otherwise these are as of an earlier run, and only
    /// the touches of mapped files are its own.
    pub whole: bool,
    /// Processor time of the program and its children, in nanoseconds, where it is known.
    pub cpu_ns: Option<u64>,
    /// What it needed, by time.
    pub needs: Vec<Need>,
}

#[derive(Serialize, Deserialize)]
struct Mark {
    version: u32,
    #[serde(default)]
    key: String,
    #[serde(default)]
    runs: Vec<RunMark>,
    #[serde(default)]
    files: BTreeMap<String, FileMark>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    written: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    between: Vec<ProfiledFile>,
}

#[derive(Serialize, Deserialize)]
struct FileMark {
    #[serde(flatten)]
    identity: Identity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct RunMark {
    whole: bool,
    cpu_ns: Option<u64>,
}

impl ProfiledFile {
    /// Whether it is the same file, with the same content, as far as is known.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        fn agree<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
            one.zip(other).is_none_or(|(one, other)| one == other)
        }
        self.name == other.name
            && agree(self.bytes, other.bytes)
            && agree(self.identity, other.identity)
    }
}

impl Profile {
    /// Reads a profile, or a trace as a profile without identities.
    ///
    /// # Errors
    /// The file is no trace, damaged, of a later version, or larger than any profile.
    pub fn read(path: &Path) -> Result<Self> {
        let unreadable = |error| Error::io(path, "could not be opened", error);
        let bytes = objects::metadata(path).map_err(unreadable)?.len();
        let trace = Trace::open(path)?;
        if bytes > FILE_BYTES_MAX
            || trace.rows() > ROWS_MAX
            || covered_bytes(&trace)? > COVERED_BYTES_MAX
        {
            let message = format!(
                "is larger than any profile: at most {FILE_BYTES_MAX} bytes, and {ROWS_MAX} rows \
                 that cover {COVERED_BYTES_MAX} bytes; `seekless run --record` makes one of a run"
            );
            return Err(Error::new(ErrorKind::Limit, path, message));
        }
        let mark = mark(&trace)?;
        let looks = if mark.is_some() { Look::of_profile(&trace)? } else { Vec::new() };
        let profile = Self::assemble(Needs::of(&trace)?, trace.metadata(), mark);
        Ok(Self { looks, ..profile })
    }

    fn assemble(needs: Needs, metadata: &Metadata, mark: Option<Mark>) -> Self {
        let (key, runs, marks, written, between) = mark
            .map(|mark| (mark.key, mark.runs, mark.files, mark.written, mark.between))
            .unwrap_or_default();
        // Names that are only looked up come behind those of files.
        let needed = needs.runs.iter().flatten().map(|need| need.file as usize + 1).max();
        let files = needs.names.into_iter().zip(needs.file_bytes).take(needed.unwrap_or(0));
        let file = |(name, bytes): (String, Option<u64>)| ProfiledFile {
            identity: marks.get(&name).map(|mark| mark.identity),
            place: marks.get(&name).and_then(|mark| mark.place),
            name,
            bytes,
        };
        let run = |(number, needs): (usize, Vec<Need>)| ProfiledRun {
            info: without_arguments(metadata.runs.get(number).cloned().unwrap_or_default()),
            whole: runs.get(number).is_none_or(|mark| mark.whole),
            cpu_ns: runs.get(number).and_then(|mark| mark.cpu_ns),
            needs,
        };
        Self {
            key,
            files: files.map(file).collect(),
            runs: needs.runs.into_iter().enumerate().map(run).collect(),
            looks: Vec::new(),
            written,
            between,
        }
    }

    /// Writes the profile. It appears whole or not at all.
    ///
    /// # Errors
    /// `out` exists and may not be replaced, or cannot be written; a need names no file.
    pub fn write(&self, out: impl Into<Destination>) -> Result<()> {
        let metadata = Metadata {
            runs: self.runs.iter().map(|run| without_arguments(run.info.clone())).collect(),
            profile: Some(self.mark()),
            ..Metadata::default()
        };
        let mut writer = Writer::create(out, metadata)?;
        let numbers: Vec<FileId> = self.files.iter().map(|file| writer.file(&file.name)).collect();
        for (run, profiled) in (0..).zip(&self.runs) {
            for need in &profiled.needs {
                writer.push(self.row(run, need, &numbers))?;
            }
        }
        if let Some(newest) = self.runs.len().checked_sub(1) {
            let time_ns = self.runs[newest].needs.last().map_or(0, |need| need.time_ns);
            for look in &self.looks {
                let file = writer.file(&look.name);
                writer.push(look.row(newest as u32, time_ns, file))?;
            }
        }
        writer.finish().map(drop)
    }

    /// A row of the trace. A need without a file gets a number that the writer refuses.
    fn row(&self, run: u32, need: &Need, numbers: &[FileId]) -> Access {
        let op = if need.mapped { Op::Fault } else { Op::Read };
        let known = self.files.get(need.file as usize);
        Access {
            run,
            time_ns: need.time_ns,
            offset: i64::try_from(need.offset).unwrap_or(i64::MAX),
            bytes: need.bytes,
            file_bytes: known.and_then(|file| file.bytes),
            inode: known.and_then(|file| Some(file.identity?.inode)),
            ..Access::new(op, numbers.get(need.file as usize).copied().unwrap_or(FileId::MAX))
        }
    }

    fn mark(&self) -> String {
        let named = |file: &ProfiledFile| {
            let (identity, place) = (file.identity?, file.place);
            Some((file.name.clone(), FileMark { identity, place }))
        };
        let run = |run: &ProfiledRun| RunMark { whole: run.whole, cpu_ns: run.cpu_ns };
        let mark = Mark {
            version: VERSION,
            key: self.key.clone(),
            runs: self.runs.iter().map(run).collect(),
            files: self.files.iter().filter_map(named).collect(),
            written: self.written.clone(),
            between: self.between.clone(),
        };
        serde_json::to_string(&mark).unwrap_or_default() // a map with text keys cannot fail
    }

    /// Bytes that the newest run needed.
    #[must_use]
    pub fn needed_bytes(&self) -> u64 {
        let newest = self.runs.last().map_or(&[][..], |run| &run.needs);
        newest.iter().fold(0, |sum, need| need.bytes.saturating_add(sum))
    }
}

fn without_arguments(info: RunInfo) -> RunInfo {
    RunInfo { command: info.command.into_iter().take(1).collect(), ..info }
}

fn covered_bytes(trace: &Trace) -> Result<u64> {
    trace.scan(Columns::BYTES)?.try_fold(0_u64, |sum, batch| {
        Ok(batch?.bytes().iter().fold(sum, |sum, bytes| sum.saturating_add(*bytes)))
    })
}

fn mark(trace: &Trace) -> Result<Option<Mark>> {
    let Some(text) = &trace.metadata().profile else { return Ok(None) };
    let wrong = |why: String| {
        Error::new(ErrorKind::Schema, trace.path(), format!("its profile cannot be read: {why}"))
    };
    let mark: Mark = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    match mark.version {
        VERSION => Ok(Some(mark)),
        VERSION_WITH_ARGUMENTS => {
            let program = mark.key.split(' ').next().unwrap_or_default();
            let key = format!("{program} (learned by an earlier release)");
            Ok(Some(Mark { key, ..mark }))
        }
        version => {
            Err(wrong(format!("version {version}; a newer seekless wrote it, update this one")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LookKind;

    fn sample() -> Profile {
        let identity = Some(Identity { inode: 17, modified_ns: -5 });
        let file = |name: &str, identity| ProfiledFile {
            name: name.to_owned(),
            bytes: Some(1 << 20),
            identity,
            place: identity.map(|_| 9 << 30),
        };
        let look =
            |name: &str, kind, inode, bytes| Look { name: name.to_owned(), kind, inode, bytes };
        let need =
            |file, offset, time_ns, mapped| Need { file, offset, bytes: 8192, time_ns, mapped };
        let run = |whole, needs| ProfiledRun {
            info: RunInfo { command: vec!["/bin/cat".to_owned()], ..RunInfo::default() },
            whole,
            cpu_ns: Some(7),
            needs,
        };
        Profile {
            key: "cat".to_owned(),
            files: vec![file("/a", identity), file("/b", None)],
            runs: vec![
                run(true, vec![need(0, 0, 1, true), need(1, 4096, 2, false)]),
                run(false, vec![need(1, 4096, 2, false), need(0, 65_536, 9, true)]),
            ],
            looks: vec![
                look("/", LookKind::Folder, Some(2), Some(4096)),
                look("/a", LookKind::Name, Some(17), None),
                look("/gone", LookKind::Name, None, None),
                look("/d", LookKind::Listed, Some(18), Some(8192)),
            ],
            written: Some(vec!["/d".to_owned()]),
            between: vec![file("/c", identity)],
        }
    }

    #[test]
    fn a_profile_comes_back_and_is_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cat.parquet");
        sample().write(path.clone()).unwrap();
        assert_eq!(Profile::read(&path).unwrap(), sample());
        assert_eq!(Trace::open(&path).unwrap().rows(), 4 + 4);
        assert_eq!(sample().needed_bytes(), 16_384);
    }

    #[test]
    fn arguments_are_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cat.parquet");
        let mut profile = sample();
        profile.runs[0].info.command.push("--token=sesame".to_owned());
        profile.write(path.clone()).unwrap();
        assert_eq!(Profile::read(&path).unwrap(), sample());
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"sesame"));
    }

    #[test]
    fn of_an_earlier_release_the_program_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cat.parquet");
        let mark = r#"{"version":1,"key":"/bin/cat sesame"}"#;
        let metadata = Metadata { profile: Some(mark.to_owned()), ..Metadata::default() };
        Writer::create(path.clone(), metadata).unwrap().finish().unwrap();
        assert_eq!(Profile::read(&path).unwrap().key, "/bin/cat (learned by an earlier release)");
    }

    #[test]
    fn a_trace_is_a_profile_without_identities() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.parquet");
        let mut writer = Writer::create(path.clone(), Metadata::default()).unwrap();
        let file = writer.file("/a");
        writer.push(Access { bytes: 100, ..Access::new(Op::Read, file) }).unwrap();
        writer.finish().unwrap();
        let profile = Profile::read(&path).unwrap();
        assert_eq!((profile.key.as_str(), profile.files[0].identity), ("", None));
        assert_eq!((profile.runs.len(), profile.runs[0].whole), (1, true));
    }

    #[test]
    fn a_later_version_and_a_wrong_mark_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (name, mark, said) in [
            ("later", r#"{"version":3}"#, "version 3"),
            ("wrong", "17", "cannot be read"),
            ("cut", r#"{"version":1,"files":{"/a":{"inode":-1}}}"#, "cannot be read"),
        ] {
            let path = folder.path().join(name);
            let metadata = Metadata { profile: Some(mark.to_owned()), ..Metadata::default() };
            Writer::create(path.clone(), metadata).unwrap().finish().unwrap();
            let error = Profile::read(&path).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn a_range_that_no_file_has_is_refused_before_it_takes_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("huge.parquet");
        let mut huge = sample();
        huge.runs[0].needs[0].bytes = 1 << 62;
        huge.write(path.clone()).unwrap();
        assert_eq!(Profile::read(&path).unwrap_err().kind(), ErrorKind::Limit);
    }

    #[test]
    fn any_flipped_byte_gives_an_error_or_the_same_profile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cat.parquet");
        sample().write(path.clone()).unwrap();
        let good = std::fs::read(&path).unwrap();
        for at in (0..good.len()).step_by(7) {
            let mut bytes = good.clone();
            bytes[at] ^= 0x10;
            std::fs::write(&path, bytes).unwrap();
            if let Ok(read) = Profile::read(&path) {
                assert_eq!(read, sample(), "byte {at}");
            }
        }
    }
}
