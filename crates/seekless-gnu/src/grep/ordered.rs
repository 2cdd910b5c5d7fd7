//! Prints the lines of one file in order, with numbers and context, as its text arrives from the
//! front.
//!
//! Pieces that arrive out of order are not kept but read again (see `Session`). So a file only
//! needs memory for its open context.

mod printing;

use super::matcher::Matcher;
use super::output::Output;
use super::print::{Printer, SELECTED};
use super::text::Text;
use super::{BinaryFiles, Options, near};
use seekless_read::Chunk;

/// The size of GNU grep's buffer. GNU looks for NULs in a whole buffer before it searches it, so
/// lines before a NUL in the same buffer are not shown.
pub(super) const BUFFER_BYTES: u64 = 96 << 10;
/// Once this much output is final, it is printed, even in the middle of a piece.
const HANDED_BYTES: usize = 256 << 10;

/// The progress of one file.
#[derive(Debug)]
pub(super) struct Ordered {
    /// Output that is not printed yet.
    pub out: Vec<u8>,
    /// Some output was printed and cannot be taken back.
    pub printed: bool,
    /// Where the first printed group lies in `out`. A separator goes before it if an earlier file
    /// printed something.
    group_at: Option<usize>,
    /// All bytes before this offset were searched.
    pub position: u64,
    /// The number of selected lines.
    pub selected: u64,
    /// The rest of the file is not needed.
    pub done: bool,
    /// The end of the last selected line.
    pub selected_to: u64,
    /// A line could not be shown because of its encoding.
    pub encoding_error: bool,
    /// A line was selected in the part of the file that counts as binary.
    pub binary_match: bool,
    lines: u64,
    lines_to: u64,
    printed_to: Option<u64>,
    pending: u64,
    left: u64,
    /// The buffer that holds the file's first NUL.
    nul_in: Option<u64>,
    mark: Mark,
    chunks: u64,
    stream: bool,
    /// The last lines before `position`, as many as the context needs; `None` if they were not
    /// kept.
    before: Option<Vec<u8>>,
}

/// The state to return to if the buffer turns out to hold a NUL.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    buffer: u64,
    out: usize,
    selected: u64,
    group_at: Option<usize>,
    encoding_error: bool,
}

/// The means to select and print lines.
pub(super) struct Tools<'a, 'o> {
    pub matcher: &'a mut Matcher,
    /// Where to print final output, if it is the file's turn.
    pub turn: Option<Turn<'a, 'o>>,
    pub printer: Printer<'a>,
    pub name: &'a [u8],
    /// The least width of numbers.
    pub width: usize,
}

/// The output, for the file whose turn it is.
pub(super) struct Turn<'a, 'o> {
    pub output: &'a mut Output<'o>,
    /// An earlier file printed something, so a separator comes before the first group.
    pub grouped: bool,
}

impl Ordered {
    /// `has_hole` says that the file has a hole after GNU's first buffer, and so a NUL.
    pub(super) fn new(options: &Options, stream: bool, has_hole: bool) -> Self {
        let mut new = Ordered::of_text(options, stream);
        if has_hole {
            new.nul_in = Some(0);
            if options.binary_files == BinaryFiles::WithoutMatch {
                new.without_match();
            }
        }
        new
    }

    fn of_text(options: &Options, stream: bool) -> Self {
        Ordered {
            out: Vec::new(),
            printed: false,
            group_at: None,
            position: 0,
            selected: 0,
            selected_to: 0,
            done: false,
            encoding_error: false,
            binary_match: false,
            lines: 0,
            lines_to: 0,
            printed_to: None,
            pending: 0,
            left: options.max_count.unwrap_or(u64::MAX),
            nul_in: None,
            mark: Mark::default(),
            chunks: 0,
            stream,
            before: Some(Vec::new()),
        }
    }

    /// How many bytes of `out` are final.
    fn settled(&self) -> usize {
        if self.done || self.stream { self.out.len() } else { self.mark.out }
    }

    /// Prints output that is final; at the end of the file, all of it.
    pub(super) fn hand_over(&mut self, ended: bool, printer: Printer<'_>, turn: &mut Turn<'_, '_>) {
        let bytes = if ended { self.out.len() } else { self.settled() };
        // The separator is printed even if no line of the group could be shown.
        let reached = |at: &usize| *at < bytes || (ended && *at == bytes);
        let group = self.group_at.filter(|at| reached(at) && turn.grouped);
        if bytes == 0 && group.is_none() {
            return;
        }
        let head = group.unwrap_or(0);
        turn.output.print(&self.out[..head]);
        if let (Some(_), Some(separator)) = (group, &printer.options.group_separator) {
            let mut line = Vec::new();
            printer.separator(&mut line, separator);
            line.push(b'\n');
            turn.output.print(&line);
        }
        turn.output.print(&self.out[head..bytes]);
        self.take_settled(bytes);
        self.printed = true;
    }

    /// Removes final output from `out`.
    fn take_settled(&mut self, bytes: usize) {
        self.out.drain(..bytes);
        self.mark.out -= bytes.min(self.mark.out);
        let behind = |at: &usize| *at >= bytes;
        self.group_at = self.group_at.filter(behind).map(|at| at - bytes);
        self.mark.group_at = self.mark.group_at.filter(behind).map(|at| at - bytes);
    }

    /// The part of a chunk that was not searched yet. It is shorter than the chunk only if the file
    /// was cut short and is read again.
    pub(super) fn behind<'c>(&self, chunk: Chunk<'c>) -> Option<Chunk<'c>> {
        chunk.behind(self.position.saturating_sub(chunk.offset))
    }

    /// Whether a NUL was found or is known to be in the file.
    pub(super) fn is_known_binary(&self) -> bool {
        self.nul_in.is_some()
    }

    /// Whether a piece without a selected line can be skipped.
    pub(super) fn may_skip(&self) -> bool {
        self.pending == 0
    }

    /// Skips a piece that holds no selected line and no NUL.
    pub(super) fn skip(&mut self, bytes: u64, lines: u64) {
        self.position += bytes;
        self.lines += lines;
        self.lines_to = self.position;
        self.chunks += 1;
        self.before = None;
        self.settle_ending();
    }

    /// Whether the context needs lines before the piece that were not kept.
    pub(super) fn wants_before(&self, options: &Options) -> bool {
        options.before > 0 && self.before.is_none()
    }

    /// Sets the lines before `position`.
    pub(super) fn set_before(&mut self, text: Vec<u8>) {
        self.before = Some(text);
    }

    /// Skips a gap. The lines in it are unknown, so line numbers are unknown after it.
    pub(super) fn jump(&mut self, position: u64) {
        self.position = position;
        self.lines_to = position;
        self.before = Some(Vec::new());
        self.pending = 0;
    }

    /// Searches the next piece, which begins at `position`.
    pub(super) fn piece(&mut self, piece: &Text<'_>, tools: &mut Tools<'_, '_>) {
        let options = tools.printer.options;
        let text = &*piece.bytes;
        self.chunks += 1;
        if let (Some(nul), None) = (piece.nul, self.nul_in) {
            self.found_nul(nul as u64, options);
        }
        if !self.done {
            self.lines_of(piece, tools);
        }
        if !self.done && self.pending > 0 {
            self.print_pending(text, text.len(), tools);
        }
        self.keep_before(text, options);
        if options.line_number {
            self.count_lines(text, text.len(), options.terminator());
        }
        self.position += text.len() as u64;
        if self.nul_in.is_some() && options.binary_files == BinaryFiles::WithoutMatch {
            self.without_match();
        }
        self.settle_ending();
    }

    /// Ends the file once all requested lines are printed and no NUL can take them back.
    fn settle_ending(&mut self) {
        if self.left == 0 && self.pending == 0 {
            self.done |= self.stream || self.position >= (self.mark.buffer + 1) * BUFFER_BYTES;
        }
    }

    fn found_nul(&mut self, nul: u64, options: &Options) {
        let buffer = self.buffer_of(self.position + nul + 1);
        self.nul_in = Some(buffer);
        if buffer > self.mark.buffer {
            return;
        }
        let hit = self.selected > self.mark.selected;
        self.out.truncate(self.mark.out);
        self.group_at = self.mark.group_at;
        self.encoding_error = self.mark.encoding_error;
        self.pending = 0;
        if options.binary_files == BinaryFiles::WithoutMatch {
            self.without_match();
        } else if hit && !options.count {
            self.selected = self.mark.selected + 1;
            (self.binary_match, self.done) = (true, true);
        }
    }

    fn without_match(&mut self) {
        (self.selected, self.done) = (0, true);
        self.binary_match = false;
    }

    /// The number of GNU's buffer in which a line that ends at `end` is searched.
    fn buffer_of(&self, end: u64) -> u64 {
        if self.stream { self.chunks } else { end.saturating_sub(1) / BUFFER_BYTES }
    }

    fn lines_of(&mut self, piece: &Text<'_>, tools: &mut Tools<'_, '_>) {
        let invert = tools.printer.options.invert_match;
        let text = &*piece.bytes;
        let mut at = 0;
        while at < text.len() && self.left > 0 && !self.done {
            let found = tools.matcher.next_line(piece, at);
            match (found, invert) {
                (Some(line), false) => {
                    self.select(text, line.start, line.end, true, tools);
                    at = line.end;
                }
                (None, false) => break,
                (found, true) => {
                    let (stop, next) =
                        found.map_or((text.len(), text.len()), |line| (line.start, line.end));
                    self.select_all(text, at, stop, tools);
                    at = next;
                }
            }
        }
    }

    fn select_all(&mut self, text: &[u8], mut at: usize, stop: usize, tools: &mut Tools<'_, '_>) {
        let terminator = tools.printer.options.terminator();
        // A run of selected lines may continue from the piece before.
        let goes_on = at == 0 && self.selected > 0 && self.selected_to == self.position;
        let mut first = !goes_on;
        while at < stop && self.left > 0 && !self.done {
            let end = near::first(terminator, &text[at..stop]).map_or(stop, |end| at + end + 1);
            self.select(text, at, end, first, tools);
            (at, first) = (end, false);
        }
    }

    /// `leads` says that the line before is not selected, so that context may come before this one.
    fn select(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        leads: bool,
        tools: &mut Tools<'_, '_>,
    ) {
        let options = tools.printer.options;
        if self.is_binary(end) && !options.count {
            self.print_pending(text, start, tools);
            self.selected += 1;
            (self.binary_match, self.done) = (true, true);
            return;
        }
        if options.prints_lines() {
            if leads {
                self.print_pending(text, start, tools);
                // The context before a line is shown only if the line is.
                self.settle(end as u64);
                self.print_before(text, start, tools);
            }
            _ = self.print(text, start, end, SELECTED, tools);
            self.pending = options.after;
            if self.settled() > HANDED_BYTES
                && let Some(turn) = &mut tools.turn
            {
                self.hand_over(false, tools.printer, turn);
            }
        } else {
            self.settle(end as u64);
        }
        self.selected += 1;
        self.selected_to = self.position + end as u64;
        self.left -= 1;
        if options.first_match_decides() {
            self.left = 0;
        }
    }

    /// Whether a line that ends at `end` of the text is in the buffer with the first NUL or in a
    /// later one.
    fn is_binary(&self, end: usize) -> bool {
        self.nul_in.is_some_and(|nul| self.buffer_of(self.position + end as u64) >= nul)
    }

    /// Once a line of a later buffer is selected, all output before it is final.
    fn settle(&mut self, end: u64) {
        let buffer = self.buffer_of(self.position + end);
        if buffer > self.mark.buffer {
            let (out, selected) = (self.out.len(), self.selected);
            self.mark = Mark {
                buffer,
                out,
                selected,
                group_at: self.group_at,
                encoding_error: self.encoding_error,
            };
        }
    }
}

/// Goes back from `end`, the start of a line, by at most `count` lines, but not before `floor`.
/// Returns the place and the number of lines.
pub(super) fn lines_back(
    text: &[u8],
    floor: usize,
    end: usize,
    count: u64,
    terminator: u8,
) -> (usize, u64) {
    let (mut at, mut found) = (end, 0);
    while found < count && at > floor {
        at =
            near::last(terminator, &text[floor..at - 1]).map_or(floor, |before| floor + before + 1);
        found += 1;
    }
    (at, found)
}
