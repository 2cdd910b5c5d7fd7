//! Turns calls into requests for 4 KiB pages, in three ways. His collector wrote a line for each
//! sector from the start of a call up to *and including* its end. So an aligned page is nine lines,
//! and the ninth lies in the next page. His program takes line by line, so each page seems to be
//! used again at once.

use super::calls::Captured;
use seekless::sim::Requests;
use serde::Serialize;

const SECTOR_BYTES: u64 = 512;

/// The three ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Lines {
    /// His: nine lines a page. A line past the end of the file has no place and counts as page 0.
    Raw,
    /// Eight lines a page, one for each sector.
    Exact,
    /// Consecutive lines of one page, all reads or all writes, are one request, as with the
    /// simulator's `--merge`.
    Merged,
}

impl Lines {
    pub(super) const ALL: [Lines; 3] = [Lines::Raw, Lines::Exact, Lines::Merged];

    pub(super) fn name(self) -> &'static str {
        match self {
            Lines::Raw => "raw",
            Lines::Exact => "exact",
            Lines::Merged => "merged",
        }
    }
}

impl Captured {
    pub(super) fn requests(&self, lines: Lines) -> Requests {
        let (mut pages, mut writes) = (Vec::new(), Vec::new());
        let mut last = None;
        for call in &self.calls {
            let end = call.end() + u64::from(lines == Lines::Raw);
            for at in (call.offset..end).step_by(SECTOR_BYTES as usize) {
                let page = if at < self.file_bytes { self.laid.page(at) } else { 0 };
                if lines == Lines::Merged
                    && last.replace((page, call.write)) == Some((page, call.write))
                {
                    continue;
                }
                if call.write {
                    writes.push(pages.len());
                }
                pages.push(page);
            }
        }
        Requests::from_pages(pages).with_writes(writes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::Call;
    use super::super::laid::Laid;
    use super::*;

    fn captured() -> Captured {
        let call = |offset, bytes, write| Call { offset, bytes, write };
        let calls = vec![
            call(24, 16, false),
            call(0, 4096, false),
            call(4096, 4096, true),
            call(4096, 4096, true),
            call(4096, 4096, false),
        ];
        Captured { calls, file_bytes: 8192, laid: Laid::in_one_piece(8192) }
    }

    #[test]
    fn raw_lines_run_into_the_next_page_and_past_the_end_to_page_0() {
        let requests = captured().requests(Lines::Raw);
        let ids = requests.ids();
        assert_eq!(ids.len(), 1 + 4 * 9);
        assert_eq!(ids[1..10], [1, 1, 1, 1, 1, 1, 1, 1, 2]);
        assert_eq!(ids[10..19], [2, 2, 2, 2, 2, 2, 2, 2, 0]);
        assert_eq!(requests.writes(), 2 * 9);
    }

    #[test]
    fn exact_lines_are_sectors_and_merged_ones_changes_of_page_or_kind() {
        let captured = captured();
        assert_eq!(captured.requests(Lines::Exact).len(), 1 + 4 * 8);
        let merged = captured.requests(Lines::Merged);
        assert_eq!(merged.ids(), [1, 2, 2]);
        assert_eq!((merged.is_write(1), merged.is_write(2)), (true, false));
    }
}
