//! Prints selected lines, with their numbers, and the context around them.

use super::{Ordered, Tools, lines_back};
use crate::grep::print::{CONTEXT, Line};
use crate::grep::{Options, near};

impl Ordered {
    pub(super) fn print(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        mark: u8,
        tools: &mut Tools<'_, '_>,
    ) -> bool {
        self.settle(end as u64);
        let terminator = tools.printer.options.terminator();
        let number = match tools.printer.options.line_number {
            true => {
                self.count_lines(text, start, terminator);
                self.lines + 1
            }
            false => 0,
        };
        let content = &text[start..end - usize::from(text[start..end].ends_with(&[terminator]))];
        let line = Line {
            text: content,
            offset: self.position + start as u64,
            number,
            width: tools.width,
            mark,
        };
        let shown = tools.printer.line(&mut self.out, tools.name, line, tools.matcher).is_ok();
        if shown {
            self.printed_to = Some(self.position + end as u64);
        }
        self.encoding_error |= !shown;
        shown
    }

    pub(super) fn count_lines(&mut self, text: &[u8], to: usize, terminator: u8) {
        let from = (self.lines_to.saturating_sub(self.position) as usize).min(to);
        self.lines += near::count(terminator, &text[from..to]);
        self.lines_to = self.lines_to.max(self.position + to as u64);
    }

    /// Prints the context after the last printed line, up to `to`.
    pub(super) fn print_pending(&mut self, text: &[u8], to: usize, tools: &mut Tools<'_, '_>) {
        let terminator = tools.printer.options.terminator();
        if self.pending == 0 {
            return;
        }
        let printed = *self.printed_to.get_or_insert(0);
        let mut at = printed.saturating_sub(self.position) as usize;
        while self.pending > 0 && at < to {
            let end = near::first(terminator, &text[at..to]).map_or(to, |end| at + end + 1);
            let binary = self.is_binary(end);
            // GNU stops at a context line that it cannot show.
            let shown = !binary && self.print(text, at, end, CONTEXT, tools);
            self.pending = if shown { self.pending - 1 } else { 0 };
            at = end;
        }
    }

    pub(super) fn print_before(&mut self, text: &[u8], start: usize, tools: &mut Tools<'_, '_>) {
        let options = tools.printer.options;
        let terminator = options.terminator();
        let printed = self.printed_to.unwrap_or(0);
        let floor = (printed.saturating_sub(self.position) as usize).min(start);
        let (first, found) = lines_back(text, floor, start, options.before, terminator);
        let mut lead = 0;
        let mut carried = Vec::new();
        if found < options.before && first == 0 && printed < self.position {
            carried = self.before.take().unwrap_or_default();
            let known = (self.position - printed).min(carried.len() as u64) as usize;
            let floor = carried.len() - known;
            lead = carried.len()
                - lines_back(&carried, floor, carried.len(), options.before - found, terminator).0;
        }
        let group_start = self.position + first as u64 - lead as u64;
        if options.context && self.printed_to != Some(group_start) {
            self.start_group(tools);
        }
        if lead > 0 {
            self.print_carried(&carried[carried.len() - lead..], tools);
        }
        if !carried.is_empty() {
            self.before = Some(carried);
        }
        let mut at = first;
        while at < start {
            let end = near::first(terminator, &text[at..start]).map_or(start, |end| at + end + 1);
            _ = self.print(text, at, end, CONTEXT, tools);
            at = end;
        }
    }

    /// Prints context lines from before the piece.
    fn print_carried(&mut self, carried: &[u8], tools: &mut Tools<'_, '_>) {
        let terminator = tools.printer.options.terminator();
        let (position, lines, lines_to) = (self.position, self.lines, self.lines_to);
        self.position -= carried.len() as u64;
        self.lines = lines.saturating_sub(near::count(terminator, carried));
        self.lines_to = self.position;
        let mut at = 0;
        while at < carried.len() {
            let end =
                near::first(terminator, &carried[at..]).map_or(carried.len(), |end| at + end + 1);
            _ = self.print(carried, at, end, CONTEXT, tools);
            at = end;
        }
        (self.position, self.lines, self.lines_to) = (position, lines, lines_to);
    }

    fn start_group(&mut self, tools: &mut Tools<'_, '_>) {
        if self.selected == 0 {
            self.group_at = Some(self.out.len());
            return;
        }
        if let Some(separator) = &tools.printer.options.group_separator {
            tools.printer.separator(&mut self.out, separator);
            self.out.push(b'\n');
        }
    }

    pub(super) fn keep_before(&mut self, text: &[u8], options: &Options) {
        if options.before == 0 {
            return;
        }
        let (first, found) = lines_back(text, 0, text.len(), options.before, options.terminator());
        if found == options.before {
            self.before = Some(text[first..].to_vec());
        } else if let Some(before) = &mut self.before {
            before.extend_from_slice(text);
            let keep = lines_back(before, 0, before.len(), options.before, options.terminator()).0;
            before.drain(..keep);
        }
    }
}
