//! Which ranges of a file are in this machine's page cache: yes, no, or unknown.

use crate::Confidence;
use seekless_sys::residency::{self, Window};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;

/// The default grain at which asking stops. To read smaller cached fragments apart costs more than
/// it saves.
pub const GRAIN_BYTES: u64 = 64 << 10;

/// A maximal range in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRun {
    /// First byte.
    pub offset: u64,
    /// Length in bytes, never 0.
    pub bytes: u64,
    /// Whether it is in the page cache; `None` where nothing that can be asked without reading
    /// tells.
    pub resident: Option<bool>,
    /// Whether every page is in that state, or only most of them.
    pub confidence: Confidence,
}

impl PageRun {
    /// The bytes it covers.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.bytes
    }
}

/// Which parts of `range` are in the page cache, in order and without gaps. Nothing is read. Mixed
/// ranges are told apart down to `grain` bytes. Below that the majority decides and the confidence
/// is [`Confidence::Sampled`].
///
/// # Errors
/// The descriptor is of something without pages.
pub fn runs(file: &File, range: Range<u64>, grain: u64) -> io::Result<Vec<PageRun>> {
    if range.is_empty() {
        return Ok(Vec::new());
    }
    let windows = residency::windows(file.as_fd(), range.clone(), grain)?;
    Ok(windows.map_or_else(|| vec![unknown(&range)], |windows| windows.iter().map(PageRun::from).collect()))
}

impl From<&Window> for PageRun {
    fn from(window: &Window) -> Self {
        PageRun {
            offset: window.range.start,
            bytes: window.range.end - window.range.start,
            resident: Some(window.resident),
            confidence: if window.exact { Confidence::Exact } else { Confidence::Sampled },
        }
    }
}

fn unknown(range: &Range<u64>) -> PageRun {
    let (offset, bytes) = (range.start, range.end - range.start);
    PageRun { offset, bytes, resident: None, confidence: Confidence::Unknown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn runs_cover_the_range_asked_for() {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![1; 100_000]).unwrap();
        for range in [0..100_000, 4096..99_999, 5..6] {
            let found = runs(&file, range.clone(), GRAIN_BYTES).unwrap();
            assert_eq!(found.first().map(|run| run.offset), Some(range.start));
            assert_eq!(found.iter().map(|run| run.bytes).sum::<u64>(), range.end - range.start);
            assert!(found.iter().all(|run| run.resident != Some(false)), "just written: {found:?}");
        }
        assert_eq!(runs(&file, 7..7, GRAIN_BYTES).unwrap(), []);
    }
}
