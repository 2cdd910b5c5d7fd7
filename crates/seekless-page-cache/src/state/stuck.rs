//! Write-backs that failed. Their pages stay in the cache as pages that are being written: so they
//! are read from there, and a later write of one of them waits for its turn. They are written again
//! at each sync and flush of their file, and before the next write to it. A full disk may have room
//! by then; bytes that a device never takes are named by every sync until they are written over.

use super::State;
use crate::frame::FRAME_BYTES;
use crate::page_ranges::PageRanges;
use crate::trouble::failed;
use seekless_policy::cache::paged::FileNo;
use seekless_policy::eviction::Id;
use seekless_policy::readahead::PageNo;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io;
use std::ops::Range;

const PAGE: u64 = FRAME_BYTES as u64;

/// A message names at most this many ranges; the others are counted.
const RANGES_SHOWN: usize = 16;

/// The pages whose last write-back failed, by file.
#[derive(Debug, Default)]
pub(crate) struct Stuck {
    pages: BTreeSet<(FileNo, PageNo)>,
}

impl Stuck {
    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    pub(crate) fn contains(&self, file: FileNo, page: PageNo) -> bool {
        self.pages.contains(&(file, page))
    }

    pub(crate) fn has(&self, file: FileNo) -> bool {
        self.from(file, 0).next().is_some()
    }

    /// The pages of a file from this one on.
    pub(crate) fn from(&self, file: FileNo, page: PageNo) -> impl Iterator<Item = PageNo> + '_ {
        self.pages.range((file, page)..=(file, PageNo::MAX)).map(|(_, page)| *page)
    }

    /// Whose pages they are.
    fn files(&self) -> Vec<FileNo> {
        let mut files: Vec<FileNo> = self.pages.iter().map(|(file, _)| *file).collect();
        files.dedup();
        files
    }
}

/// What the system said of a write-back, to be said again.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    number: Option<i32>,
    kind: io::ErrorKind,
    words: String,
}

impl Cause {
    pub(crate) fn of(error: &io::Error) -> Self {
        Self { number: error.raw_os_error(), kind: error.kind(), words: error.to_string() }
    }

    pub(crate) fn error(&self) -> io::Error {
        match self.number {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::new(self.kind, self.words.clone()),
        }
    }
}

impl State {
    /// The write-back of these pages failed.
    pub(crate) fn stick(&mut self, file: FileNo, pages: &[PageNo], error: &io::Error) {
        self.stuck.pages.extend(pages.iter().map(|&page| (file, page)));
        if let Some(writes) = self.writes_mut(file) {
            writes.cause = Some(Cause::of(error));
        }
    }

    pub(crate) fn is_stuck(&self, id: Id) -> bool {
        let (file, page) = self.cache.place(id);
        self.stuck.len() > 0 && self.stuck.contains(file, page)
    }

    /// Has the pages of a file written again whose write-back failed.
    pub(crate) fn retry(&mut self, file: FileNo) -> Vec<Id> {
        let pages: Vec<PageNo> = self.stuck.from(file, 0).collect();
        let mut ids = Vec::with_capacity(pages.len());
        for page in pages {
            self.stuck.pages.remove(&(file, page));
            if let Some(id) = self.cache.id(file, page) {
                self.write_back(id);
                ids.push(id);
            }
        }
        ids
    }

    /// The same of all files.
    pub(crate) fn retry_all(&mut self) {
        for file in self.stuck.files() {
            self.retry(file);
        }
    }

    /// What lies behind a file's new end is not written any more.
    pub(crate) fn unstick_behind(&mut self, file: FileNo, end: PageNo) {
        for page in self.stuck.from(file, end).collect::<Vec<_>>() {
            self.stuck.pages.remove(&(file, page));
            if let Some(id) = self.cache.id(file, page) {
                self.end_write_back(id);
            }
        }
        self.carry_out(&mut Vec::new());
    }

    /// What the device does not take of a file; `None` if it has taken all.
    pub(crate) fn failure(&self, file: FileNo) -> Option<io::Error> {
        let known = self.known(file)?;
        let (source, cause) = (known.source.as_ref()?, known.writes.as_ref()?.cause.as_ref()?);
        let mut lacking = PageRanges::default();
        self.stuck.from(file, 0).for_each(|page| lacking.add(page..page + 1));
        let what = words(lacking.iter(), known.version.bytes)?
            + " could not be written back; they are kept, and written again at the next sync";
        Some(failed(source.path(), what, cause.error()))
    }

    /// What of a file may not be on the device, since a sync failed.
    pub(crate) fn doubt(&self, file: FileNo) -> Option<io::Error> {
        let known = self.known(file)?;
        let (source, writes) = (known.source.as_ref()?, known.writes.as_ref()?);
        let what = words(writes.doubtful.iter(), known.version.bytes)?
            + " may not be on the device, since a sync failed; write them again";
        Some(failed(source.path(), what, writes.doubt_cause.as_ref()?.error()))
    }

    /// The same of the first file that has such bytes.
    pub(crate) fn any_failure(&self) -> Option<io::Error> {
        self.stuck.files().into_iter().find_map(|file| self.failure(file))
    }
}

/// Names these ranges of pages of a file of `file_bytes` bytes.
fn words(pages: impl Iterator<Item = Range<PageNo>>, file_bytes: u64) -> Option<String> {
    let bytes =
        |pages: Range<PageNo>| (pages.start * PAGE, pages.end.saturating_mul(PAGE).min(file_bytes));
    let ranges: Vec<(u64, u64)> = pages.map(bytes).collect();
    let (first, others) = ranges.split_first()?;
    let mut text = format!("bytes {} to {}", first.0, first.1);
    for (start, end) in others.iter().take(RANGES_SHOWN - 1) {
        let _ = write!(text, ", {start} to {end}"); // writing to a string cannot fail
    }
    let hidden = ranges.len().saturating_sub(RANGES_SHOWN);
    if hidden > 0 {
        let _ = write!(text, " and {hidden} more ranges");
    }
    if ranges.len() > 1 {
        let all: u64 = ranges.iter().map(|(start, end)| end.saturating_sub(*start)).sum();
        let _ = write!(text, " ({all} bytes)");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_named_whole() {
        let said = |pages: &[PageNo], bytes| {
            let mut ranges = PageRanges::default();
            pages.iter().for_each(|&page| ranges.add(page..page + 1));
            words(ranges.iter(), bytes)
        };
        assert_eq!(said(&[], 100), None);
        assert_eq!(said(&[0, 1, 2], 10_000).as_deref(), Some("bytes 0 to 10000"));
        let two = "bytes 4096 to 8192, 12288 to 20480 (12288 bytes)";
        assert_eq!(said(&[1, 3, 4], 1 << 20).as_deref(), Some(two));
        let every_second: Vec<PageNo> = (0..40).step_by(2).collect();
        let text = said(&every_second, 1 << 20).expect("some");
        assert!(text.ends_with("122880 to 126976 and 4 more ranges (81920 bytes)"), "{text}");
    }
}
