//! Which pages of files this process has touched through its mappings: those of its program and its
//! libraries above all. The kernel also maps cached pages around a touch, up to 64 KiB.

use crate::memory::page_bytes;
use std::ffi::OsStr;
use std::fs::{File, read_to_string};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// The page is in memory (Linux, `Documentation/admin-guide/mm/pagemap.rst`).
const PRESENT: u64 = 1 << 63;

/// A file that is mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Its path.
    pub path: PathBuf,
    /// The bytes of the file whose pages are present, by offset; apart from each other.
    pub touched: Vec<Range<u64>>,
}

/// The files that this process has mapped, with what it has touched of each.
///
/// # Errors
/// `/proc` is not mounted, or refuses.
pub fn mapped() -> io::Result<Vec<Mapped>> {
    let table = File::open("/proc/self/pagemap")?;
    let mut files: Vec<Mapped> = Vec::new();
    for line in read_to_string("/proc/self/maps")?.lines() {
        let Some(Mapping { memory, offset, path }) = Mapping::read(line) else { continue };
        let touched = touched(&table, &memory, offset)?;
        match files.iter_mut().find(|file| file.path == path) {
            Some(file) => file.touched.extend(touched),
            None => files.push(Mapped { path, touched }),
        }
    }
    for file in &mut files {
        file.touched.sort_unstable_by_key(|range| range.start);
        file.touched = joined(&file.touched, 0);
    }
    Ok(files)
}

/// Joins ranges, which are sorted, over gaps of up to `gap_bytes`.
#[must_use]
pub fn joined(ranges: &[Range<u64>], gap_bytes: u64) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap_bytes) => {
                last.end = last.end.max(range.end);
            }
            _ => joined.push(range.clone()),
        }
    }
    joined
}

/// A mapping of a file.
#[derive(Debug, PartialEq, Eq)]
struct Mapping {
    memory: Range<u64>,
    offset: u64,
    path: PathBuf,
}

impl Mapping {
    /// Reads a line of `/proc/PID/maps`; `None` if it is of no file that still has its name.
    fn read(line: &str) -> Option<Self> {
        let path = line.get(line.find('/')?..)?;
        if path.ends_with(" (deleted)") || path.contains('\\') {
            return None;
        }
        let mut words = line.split(' ');
        let (start, end) = words.next()?.split_once('-')?;
        let number = |word: &str| u64::from_str_radix(word, 16).ok();
        let memory = number(start)?..number(end)?;
        let offset = number(words.nth(1)?)?;
        Some(Self { memory, offset, path: PathBuf::from(OsStr::from_bytes(path.as_bytes())) })
    }
}

/// The ranges of the file whose pages are present in a mapping that begins at `offset`.
fn touched(table: &File, memory: &Range<u64>, offset: u64) -> io::Result<Vec<Range<u64>>> {
    let page = page_bytes();
    let mut entries = vec![0; ((memory.end - memory.start) / page * 8) as usize];
    table.read_exact_at(&mut entries, memory.start / page * 8)?;
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (entry, at) in entries.chunks_exact(8).zip((offset..).step_by(page as usize)) {
        // Both architectures that Seekless runs on are little-endian.
        let entry = u64::from_le_bytes(entry.try_into().unwrap_or_default());
        if entry & PRESENT == 0 {
            continue;
        }
        match ranges.last_mut().filter(|last| last.end == at) {
            Some(last) => last.end += page,
            None => ranges.push(at..at + page),
        }
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_touched_some_of_itself_and_not_all() {
        let own = std::env::current_exe().unwrap();
        let files = mapped().unwrap();
        let own_bytes = own.metadata().unwrap().len();
        let found = files.iter().find(|file| file.path == own).unwrap();
        let touched: u64 = found.touched.iter().map(|range| range.end - range.start).sum();
        assert!(touched > 0 && touched <= own_bytes.next_multiple_of(page_bytes()), "{touched}");
        assert!(found.touched.windows(2).all(|two| two[0].end < two[1].start));
    }

    #[test]
    fn a_line_is_of_a_file_that_has_its_name() {
        let line = "7f00a000-7f00c000 r-xp 00003000 fe:00 1234    /lib/a b.so";
        let read = Mapping::read(line).unwrap();
        assert_eq!((read.memory, read.offset), (0x7f00_a000..0x7f00_c000, 0x3000));
        assert_eq!(read.path, PathBuf::from("/lib/a b.so"));
        assert_eq!(Mapping::read("7f00a000-7f00c000 rw-p 00000000 00:00 0"), None);
        assert_eq!(Mapping::read("7f00a000-7f00c000 r--p 00000000 fe:00 9 /a (deleted)"), None);
    }

    #[test]
    fn ranges_are_joined_over_short_gaps() {
        let ranges = [0..10, 10..20, 25..30, 31..40];
        assert_eq!(joined(&ranges, 0), vec![0..20, 25..30, 31..40]);
        assert_eq!(joined(&ranges, 5), vec![0..40]);
    }
}
