//! What this command needs of its own files, so that a cold start of it asks for that at once. Its
//! code lies all over its program, and the kernel would read it piece by piece, each touch waiting
//! for the last.
//!
//! A start notes which pages it has touched, in `own-pages` in the user's state folder, unless they
//! are known: a line for each file, with its inode, size, time of last change, ranges and path
//! between tabs. The next start asks for those that are not cached.

use crate::profiles::identify;
use crate::warm::bring::{Recorded, open};
use seekless_policy::layout::extents::Extent;
use seekless_sys::home;
use seekless_sys::output::{Content, Destination};
use seekless_sys::present::{self, joined};
use seekless_trace::{Identity, escape_path, unescape_path};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A larger file is not ours.
const BYTES_MAX: u64 = 256 << 10;
/// More files are not noted.
const FILES_MAX: usize = 64;
/// Ranges are joined over gaps up to this: one larger read costs less than two.
const GAP_BYTES: u64 = 64 << 10;

/// What is needed of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Needed {
    path: PathBuf,
    bytes: u64,
    identity: Identity,
    ranges: Vec<Range<u64>>,
}

/// Asks for what an earlier start of this command needed of its files, and does not wait.
pub fn ask() {
    let Some(place) = place() else { return };
    for Needed { path, bytes, identity, ranges } in read(&place) {
        let recorded = Recorded { bytes: Some(bytes), identity: Some(identity) };
        let Ok(opened) = open(&path, &recorded, &[]) else { continue };
        for range in ranges {
            let extent = Extent { offset: range.start, bytes: range.end - range.start };
            if opened.cached(extent).is_some_and(|cached| cached < extent.bytes) {
                opened.ask(extent, &AtomicBool::new(false));
            }
        }
    }
}

/// Notes what this process has needed of its files, unless that is known of its program.
pub(super) fn note() {
    let noted = place().map(|place| note_in(&place));
    drop(noted); // the next start notes it
}

fn note_in(place: &Path) -> io::Result<()> {
    let program = std::env::current_exe()?;
    let mut known = read(place);
    if known.iter().any(|file| file.path == program && file.is_as_noted()) {
        return Ok(());
    }
    for mapped in present::mapped()? {
        let Some(file) = Needed::of(mapped) else { continue };
        known.retain(|known| known.path != file.path);
        known.push(file);
    }
    known.retain(Needed::is_as_noted);
    let surplus = known.len().saturating_sub(FILES_MAX);
    write(place, &known[surplus..])
}

fn place() -> Option<PathBuf> {
    Some(home::state()?.join("own-pages"))
}

/// The size and identity of a regular file.
pub(super) fn looked_at(path: &Path) -> Option<(u64, Identity)> {
    identify(&escape_path(path.as_os_str().as_bytes()))
}

impl Needed {
    fn of(mapped: present::Mapped) -> Option<Self> {
        let (bytes, identity) = looked_at(&mapped.path)?;
        let path = mapped.path;
        let whole = |range: &Range<u64>| range.start..range.end.min(bytes);
        let ranges: Vec<_> = mapped.touched.iter().map(whole).collect();
        let ranges = joined(&ranges, GAP_BYTES);
        let is_needed = ranges.iter().any(|range| !range.is_empty());
        is_needed.then_some(Self { path, bytes, identity, ranges })
    }

    /// Whether the file is as it was.
    fn is_as_noted(&self) -> bool {
        looked_at(&self.path) == Some((self.bytes, self.identity))
    }

    fn line(&self) -> String {
        let Identity { inode, modified_ns } = self.identity;
        let range = |range: &Range<u64>| format!("{}-{}", range.start, range.end);
        let ranges = self.ranges.iter().map(range).collect::<Vec<_>>().join(" ");
        let path = escape_path(self.path.as_os_str().as_bytes());
        format!("{inode}\t{}\t{modified_ns}\t{ranges}\t{path}", self.bytes)
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(5, '\t');
        let inode = words.next()?.parse().ok()?;
        let bytes = words.next()?.parse().ok()?;
        let modified_ns = words.next()?.parse().ok()?;
        let range = |word: &str| {
            let (start, end) = word.split_once('-')?;
            let (start, end) = (start.parse().ok()?, end.parse().ok()?);
            (start < end && end <= bytes).then_some(start..end)
        };
        let ranges = words.next()?.split(' ').map(range).collect::<Option<Vec<_>>>()?;
        let path = PathBuf::from(OsString::from_vec(unescape_path(words.next()?)));
        let identity = Identity { inode, modified_ns };
        path.is_absolute().then_some(Self { path, bytes, identity, ranges })
    }
}

/// Nothing, if there is no such file. Lines that are no notes are passed over.
fn read(place: &Path) -> Vec<Needed> {
    let small = std::fs::metadata(place).is_ok_and(|found| found.len() <= BYTES_MAX);
    let text = small.then(|| std::fs::read_to_string(place).ok()).flatten().unwrap_or_default();
    text.lines().filter_map(Needed::parse).take(FILES_MAX).collect()
}

fn write(place: &Path, files: &[Needed]) -> io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let destination = Destination::new(place.to_owned()).replacing(true).private();
    let mut file = destination.create(Content::Text).map_err(io::Error::other)?;
    for needed in files {
        writeln!(file, "{}", needed.line())?;
    }
    file.publish().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read_again_while_the_files_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("state/own-pages");
        note_in(&place).unwrap();
        let program = std::env::current_exe().unwrap();
        let noted = read(&place);
        let own = noted.iter().find(|file| file.path == program).unwrap();
        assert!(own.is_as_noted() && !own.ranges.is_empty());
        let other = Needed { bytes: own.bytes + 1, ..own.clone() };
        write(&place, &[other]).unwrap();
        note_in(&place).unwrap();
        assert!(read(&place).iter().all(Needed::is_as_noted), "noted anew");
    }

    #[test]
    fn a_line_comes_back_and_a_wrong_one_is_none() {
        let needed = Needed {
            path: PathBuf::from("/a\tb"),
            bytes: 9000,
            identity: Identity { inode: 5, modified_ns: -7 },
            ranges: vec![0..4096, 8192..9000],
        };
        assert_eq!(Needed::parse(&needed.line()), Some(needed));
        let wrong = ["", "/a", "1\t20\t3\t0-29\t/a", "1\t20\t3\t9-0\t/a", "1\t20\t3\t0-9\ta"];
        for line in wrong.into_iter().chain(["1\t-2\t3\t0-9\t/a", "1\t20\t3\t\t/a"]) {
            assert_eq!(Needed::parse(line), None, "{line}");
        }
    }
}
