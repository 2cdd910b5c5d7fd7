//! Remembers the pieces of a file that came before their turn: a few words for each run of similar
//! pieces.

use super::count::Summary;
use std::collections::BTreeMap;

/// Summaries by offset. Similar neighbours are joined.
#[derive(Debug, Default)]
pub(super) struct Waiting(BTreeMap<u64, Summary>);

impl Waiting {
    pub(super) fn add(&mut self, mut offset: u64, mut summary: Summary) {
        if let Some((&before, &left)) = self.0.range(..offset).next_back()
            && before + left.bytes == offset
            && left.plain == summary.plain
        {
            summary = left.and(summary);
            offset = before;
        }
        let end = offset + summary.bytes;
        if self.0.get(&end).is_some_and(|right| right.plain == summary.plain)
            && let Some(right) = self.0.remove(&end)
        {
            summary = summary.and(right);
        }
        self.0.insert(offset, summary);
    }

    /// The first run of pieces.
    pub(super) fn first(&self) -> Option<(u64, Summary)> {
        self.0.first_key_value().map(|(&offset, &summary)| (offset, summary))
    }

    /// Removes the first bytes of the first run, because their turn has come.
    pub(super) fn take(&mut self, bytes: u64) {
        if let Some((offset, summary)) = self.0.pop_first()
            && bytes < summary.bytes
        {
            self.0.insert(offset + bytes, Summary { bytes: summary.bytes - bytes, ..summary });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_are_alike_are_one() {
        let mut waiting = Waiting::default();
        let summary = |plain| Summary { bytes: 10, lines: 2, plain };
        for (offset, plain) in
            [(30, true), (10, true), (0, false), (20, true), (50, true), (40, false)]
        {
            waiting.add(offset, summary(plain));
        }
        let mut all = Vec::new();
        while let Some((offset, Summary { bytes, lines, plain })) = waiting.first() {
            all.push((offset, bytes, plain.then_some(lines)));
            waiting.take(bytes);
        }
        assert_eq!(all, [(0, 10, None), (10, 30, Some(6)), (40, 10, None), (50, 10, Some(2))]);
    }

    #[test]
    fn a_part_of_the_first_can_be_taken() {
        let mut waiting = Waiting::default();
        waiting.add(5, Summary { bytes: 10, lines: 0, plain: false });
        waiting.take(4);
        assert_eq!(waiting.first().map(|(offset, summary)| (offset, summary.bytes)), Some((9, 6)));
    }
}
