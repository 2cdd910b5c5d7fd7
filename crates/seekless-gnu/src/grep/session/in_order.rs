//! Files whose lines must be searched in their order: what comes early waits, and is read again if
//! something of it is to be printed.

use super::{OPEN_MAX, Order, Searched, Session, WAITING_BYTES_MAX};
use crate::grep::count::{Summary, summary};
use crate::grep::ordered::{Tools, Turn as Handing};
use crate::grep::text::heeds_nuls;
use crate::words::words;
use seekless_read::Chunk;
use std::fs::File;

impl Session<'_, '_> {
    pub(super) fn ordered_chunk(&mut self, searched: &mut Searched, chunk: Chunk<'_>) {
        let is_current = self.is_current(searched);
        let may_print = is_current || self.waiting_bytes < WAITING_BYTES_MAX;
        let state = searched.state(self.options, chunk.open);
        if state.ordered.done {
            return self.stop(searched);
        }
        let Some(chunk) = state.ordered.behind(chunk) else { return };
        let in_order = state.ordered.position == chunk.offset;
        if !in_order || !may_print || self.options.before > 0 {
            self.remember(searched, chunk.open);
        }
        if !in_order || !may_print {
            let summary = summary(&mut self.matcher, self.options, chunk.bytes);
            searched.state(self.options, None).waiting.add(chunk.offset, summary);
            return;
        }
        self.piece(searched, chunk.bytes, || chunk.is_lost());
        self.drain(searched, is_current);
    }

    /// Makes sure that parts of the file can be read again.
    pub(super) fn remember(&mut self, searched: &mut Searched, open: Option<&File>) {
        if searched.source.remember(open, self.kept_open < OPEN_MAX) {
            searched.kept_open = true;
            self.kept_open += 1;
        }
    }

    /// Searches the piece at the file's current position.
    fn piece(&mut self, searched: &mut Searched, bytes: &[u8], is_lost: impl Fn() -> bool) {
        let options = self.options;
        if self.pass_over(searched, bytes) {
            return;
        }
        let is_current = self.is_current(searched);
        let text = self.matcher.text(options, bytes);
        // The zeros are not in the file: they stand for a part that was cut off. The file is
        // started again.
        if (text.nul.is_some() || !heeds_nuls(options)) && is_lost() {
            return;
        }
        let position = searched.state(options, None).ordered.position;
        if searched.state(options, None).ordered.wants_before(options) {
            let before = searched.source.lines_before(position, options);
            searched.state(options, None).ordered.set_before(before);
        }
        let Searched { name, state, source, .. } = searched;
        let Some(state) = state else { return };
        let before = state.ordered.out.len();
        let width = if options.initial_tab { source.width() } else { 0 };
        let turn =
            is_current.then_some(Handing { output: &mut self.output, grouped: self.grouped });
        let mut tools =
            Tools { matcher: &mut self.matcher, printer: self.printer, name, width, turn };
        state.ordered.piece(&text, &mut tools);
        if !is_current {
            self.waiting_bytes =
                (self.waiting_bytes + state.ordered.out.len()).saturating_sub(before);
        }
        if state.ordered.done && !searched.ended {
            self.stop(searched);
        }
        if options.quiet && searched.state(options, None).ordered.selected > 0 && searched.ended {
            self.orders.push(Order::Stop);
        }
    }

    /// Skips empty lines that change nothing. If NULs make a file binary, it skips them only after
    /// the file is known to be binary.
    fn pass_over(&mut self, searched: &mut Searched, bytes: &[u8]) -> bool {
        if !self.are_empty_lines(bytes) || self.options.before > 0 || self.selects_empty_lines() {
            return false;
        }
        let ordered = &mut searched.state(self.options, None).ordered;
        let known = ordered.is_known_binary() || !heeds_nuls(self.options);
        if known && ordered.may_skip() {
            ordered.skip(bytes.len() as u64, bytes.len() as u64);
        }
        known && ordered.may_skip()
    }

    /// Continues with pieces that arrived before their turn.
    pub(super) fn drain(&mut self, searched: &mut Searched, is_current: bool) {
        while let Some(state) = &mut searched.state {
            if state.ordered.done {
                break;
            }
            let Some((offset, summary)) = state.waiting.first() else { break };
            if offset != state.ordered.position {
                if !(searched.ended && is_current) {
                    break;
                }
                state.ordered.jump(offset);
            }
            if summary.plain && state.ordered.may_skip() {
                state.ordered.skip(summary.bytes, summary.lines);
                state.waiting.take(summary.bytes);
            } else if !is_current || !self.again(searched, offset, summary) {
                break;
            }
        }
    }

    /// Reads the beginning of a run of pieces again. Returns `false` if there is nothing to search.
    fn again(&mut self, searched: &mut Searched, offset: u64, summary: Summary) -> bool {
        let most = self.options.line_bytes_max();
        match searched.source.read_lines(offset, summary.bytes, most, self.options) {
            // The file was cut short. As in a read from front to end, this is its end.
            Ok(bytes) if bytes.is_empty() => {
                searched.state(self.options, None).ordered.done = true;
                self.stop(searched);
                false
            }
            Ok(bytes) => {
                self.piece(searched, &bytes, || false);
                self.hand_over(searched, false);
                searched.state(self.options, None).waiting.take(bytes.len() as u64);
                true
            }
            Err(error) => {
                self.fail(searched, &words(&error));
                self.orders.push(Order::Finish(searched.file));
                false
            }
        }
    }

    /// Prints the current file's final output; all of it if the file has ended.
    pub(super) fn hand_over(&mut self, searched: &mut Searched, ended: bool) {
        if let Some(state) = &mut searched.state {
            let mut turn = Handing { output: &mut self.output, grouped: self.grouped };
            state.ordered.hand_over(ended, self.printer, &mut turn);
        }
    }
}
