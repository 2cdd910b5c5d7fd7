//! Runs a search over many files. Events arrive in any order; output leaves in the order of the
//! command line.
//!
//! A piece that arrives before its turn is searched at once, and only its [`Summary`] is kept. If
//! it holds something to print, it is read again in its turn, usually from the page cache. So
//! memory holds at most [`WAITING_BYTES_MAX`] of output, and 48 bytes per piece.

use super::count::{Summary, count, summary};
use super::matcher::Matcher;
use super::ordered::{BUFFER_BYTES, Ordered, Tools, Turn as Handing};
use super::output::Output;
use super::print::{Printer, SELECTED};
use super::source::Source;
use super::text::heeds_nuls;
use super::waiting::Waiting;
use super::walk::{Item, problem};
use super::{BinaryFiles, Listing, Options};
use crate::words::words;
use rustix::fs::SeekFrom;
use seekless_read::{Chunk, ErrorKind, Event};
use std::collections::VecDeque;
use std::fs::File;
use std::io;

/// The most output that is kept for files whose turn has not come. Beyond it, files are read again.
const WAITING_BYTES_MAX: usize = 8 << 20;
/// The most files that are known at a time, and the most bytes of their names.
const TURNS_MAX: usize = 8 << 10;
const NAMES_BYTES_MAX: usize = 2 << 20;
/// The most files that are kept open to be read again.
const OPEN_MAX: usize = 64;

/// An order to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Skip the rest of a file.
    Finish(usize),
    /// Keep a range of a file in memory.
    Pin(usize, u64, u64),
    /// Stop reading.
    Stop,
}

/// The state of a search.
pub(super) struct Session<'a, 'o> {
    options: &'a Options,
    matcher: Matcher,
    printer: Printer<'a>,
    output: Output<'o>,
    /// Files and messages in order; it is the first one's turn.
    turns: VecDeque<Turn>,
    /// The number of turns that ended.
    past: usize,
    /// The turn of each of the reader's files that did not end yet. `files_past` files ended.
    files: VecDeque<usize>,
    files_past: usize,
    /// Bytes of the names of all files still to come.
    names_bytes: usize,
    /// The number of files kept open.
    kept_open: usize,
    /// An earlier file printed lines, so a separator comes before the next group.
    grouped: bool,
    waiting_bytes: usize,
    pub orders: Vec<Order>,
    pub matched: bool,
    pub failed: bool,
}

/// A message to print, or a file to search, in its turn.
enum Turn {
    Problem(Vec<u8>),
    Warning(Vec<u8>),
    File(Box<Searched>),
}

struct Searched {
    file: usize,
    name: Vec<u8>,
    source: Source,
    state: Option<Box<State>>,
    ended: bool,
    /// It counts as kept open.
    kept_open: bool,
    skipped: u64,
    /// Whether the system could not tell if the skipped bytes are cached.
    unknown: bool,
    problem: Option<Problem>,
}

/// Why a file was not searched to its end.
struct Problem {
    message: Vec<u8>,
    /// The file could be opened: lines found before the failure count.
    opened: bool,
}

struct State {
    ordered: Ordered,
    /// Pieces that arrived before their turn.
    waiting: Waiting,
    /// The number of selected lines, if order does not matter.
    selected: u64,
}

impl<'a, 'o> Session<'a, 'o> {
    pub(super) fn new(
        options: &'a Options,
        matcher: Matcher,
        with_filename: bool,
        output: Output<'o>,
    ) -> Self {
        Session {
            options,
            matcher,
            printer: Printer { options, with_filename },
            output,
            turns: VecDeque::new(),
            past: 0,
            files: VecDeque::new(),
            files_past: 0,
            names_bytes: 0,
            kept_open: 0,
            grouped: false,
            waiting_bytes: 0,
            orders: Vec::new(),
            matched: false,
            failed: false,
        }
    }

    /// Whether another file may be added before some end.
    pub(super) fn has_room(&self) -> bool {
        self.turns.len() < TURNS_MAX && self.names_bytes < NAMES_BYTES_MAX
    }

    /// Adds the next turn. The reader's files are numbered in the same order.
    pub(super) fn add(&mut self, item: Item) {
        let file = self.files_past + self.files.len();
        let (name, source) = match item {
            Item::Problem(message) => return self.turns.push_back(Turn::Problem(message)),
            Item::Warning(message) => return self.turns.push_back(Turn::Warning(message)),
            Item::File { path, name, .. } => (name, Source::of_path(path)),
            Item::Standard { file, start, regular, .. } => {
                (self.options.label.clone(), Source::Standard { file, start, regular, again: None })
            }
        };
        self.files.push_back(self.past + self.turns.len());
        self.names_bytes += name.len();
        let searched = Searched {
            file,
            name,
            source,
            state: None,
            ended: false,
            kept_open: false,
            skipped: 0,
            unknown: false,
            problem: None,
        };
        self.turns.push_back(Turn::File(Box::new(searched)));
    }

    /// Handles an event.
    pub(super) fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Chunk(chunk) => self.chunk(chunk),
            Event::Hole { file, offset, bytes, open } => self.with(file, |session, searched| {
                if !searched.ended {
                    session.hole(searched, offset, bytes, open);
                }
            }),
            Event::End { file, skipped, unknown, .. } => {
                self.with(file, |_, searched| {
                    searched.ended = true;
                    (searched.skipped, searched.unknown) = (skipped, unknown);
                });
            }
            Event::Restart { file } => self.with(file, Session::restart),
            Event::Failed { file, error } => self.with(file, |session, searched| {
                let words = error.io_error().map_or_else(|| error.reason().to_owned(), words);
                session.fail(searched, &words);
                if let Some(problem) = &mut searched.problem {
                    problem.opened = error.kind() != ErrorKind::Open;
                }
            }),
        }
        self.advance();
    }

    /// Starts a file again that was cut short. Lines that were printed stay, and the search
    /// continues after them. A program that reads in order would do the same.
    fn restart(&mut self, searched: &mut Searched) {
        self.waiting_bytes -= self.kept_of(searched);
        match &mut searched.state {
            Some(state) if state.ordered.printed => state.waiting = Waiting::default(),
            state => *state = None,
        }
    }

    /// Ends all turns that can end. It is also called at the start, for turns that need no reading.
    pub(super) fn advance(&mut self) {
        while let Some(turn) = self.turns.front_mut() {
            // With -q, a selected line is the whole answer: no message follows it.
            if self.options.quiet && self.matched {
                break;
            }
            match std::mem::replace(turn, Turn::Problem(Vec::new())) {
                Turn::Problem(message) => self.say(&message),
                Turn::Warning(message) => self.warn(&message),
                Turn::File(mut searched) => {
                    self.drain(&mut searched, true);
                    let ended = searched.ended;
                    self.hand_over(&mut searched, ended);
                    if !searched.ended {
                        self.turns[0] = Turn::File(searched);
                        break;
                    }
                    self.conclude(&mut searched);
                    self.files.pop_front();
                    self.files_past += 1;
                    self.names_bytes -= searched.name.len();
                    self.kept_open -= usize::from(searched.kept_open);
                    self.begin();
                }
            }
            self.turns.pop_front();
            self.past += 1;
        }
        if self.options.line_buffered {
            self.output.flush();
        }
    }

    /// Writes all remaining output.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.output.flush();
        self.check()
    }

    /// # Errors
    ///
    /// The first write error.
    pub(super) fn check(&mut self) -> io::Result<()> {
        self.output.check()
    }

    /// The next file's output no longer counts as waiting.
    fn begin(&mut self) {
        if let Some(Turn::File(next)) = self.turns.get(1) {
            self.waiting_bytes -= next.state.as_ref().map_or(0, |state| state.ordered.out.len());
        }
    }

    fn is_current(&self, searched: &Searched) -> bool {
        searched.file == self.files_past && self.files.front() == Some(&self.past)
    }

    /// How many bytes of a file's output count as waiting.
    fn kept_of(&self, searched: &Searched) -> usize {
        let kept = searched.state.as_ref().map_or(0, |state| state.ordered.out.len());
        if self.is_current(searched) { 0 } else { kept }
    }

    fn with(&mut self, file: usize, act: impl FnOnce(&mut Self, &mut Searched)) {
        let turn = file.checked_sub(self.files_past).and_then(|at| self.files.get(at));
        let Some(at) = turn.map(|turn| turn - self.past) else { return };
        if let Turn::File(mut searched) =
            std::mem::replace(&mut self.turns[at], Turn::Problem(Vec::new()))
        {
            act(self, &mut searched);
            self.turns[at] = Turn::File(searched);
        }
    }

    /// Prints an error message in its turn.
    fn say(&mut self, message: &[u8]) {
        self.failed = true;
        self.warn(message);
    }

    /// Prints a warning.
    fn warn(&mut self, message: &[u8]) {
        if !self.options.no_messages {
            self.output.say(message);
        }
    }

    fn fail(&mut self, searched: &mut Searched, what: &str) {
        searched.problem = Some(Problem { message: problem(&searched.name, what), opened: true });
        searched.ended = true;
    }

    fn chunk(&mut self, chunk: Chunk<'_>) {
        self.with(chunk.file, |session, searched| {
            if searched.ended {
                return;
            }
            match session.options.needs_order() {
                true => session.ordered_chunk(searched, chunk),
                false => session.counted_chunk(searched, chunk.offset, chunk.bytes),
            }
            if let Some(error) = session.matcher.take_failure() {
                let message = problem(&searched.name, &error);
                session.say(&message);
            }
        });
    }

    /// Handles a hole: `bytes` NULs from `offset` on, each of which is an empty line.
    fn hole(&mut self, searched: &mut Searched, offset: u64, bytes: u64, open: Option<&File>) {
        if !self.options.needs_order() {
            return self.counted_zeros(searched, offset, bytes);
        }
        if searched.state(self.options, open).ordered.done {
            searched.ended = true;
            return self.orders.push(Order::Finish(searched.file));
        }
        // If some of these lines must be printed, they are read in their turn.
        self.remember(searched, open);
        let summary = Summary { bytes, lines: bytes, plain: !self.selects_empty_lines() };
        searched.state(self.options, None).waiting.add(offset, summary);
        let is_current = self.is_current(searched);
        self.drain(searched, is_current);
    }

    /// Whether the bytes are only NULs that each end a line.
    fn are_empty_lines(&self, bytes: &[u8]) -> bool {
        let ends_lines = heeds_nuls(self.options) || self.options.terminator() == 0;
        ends_lines && bytes.iter().all(|&byte| byte == 0)
    }

    fn selects_empty_lines(&mut self) -> bool {
        let line = [self.options.terminator()];
        let text = self.matcher.text_as_it_is(&line);
        self.matcher.next_line(&text, 0).is_some() != self.options.invert_match
    }

    /// How many selected lines decide, if order does not matter.
    fn most(&self) -> u64 {
        match self.options.first_match_decides() {
            true => self.options.max_count.unwrap_or(1).min(1),
            false => self.options.max_count.unwrap_or(u64::MAX),
        }
    }

    /// Counts empty lines, if order does not matter.
    fn counted_zeros(&mut self, searched: &mut Searched, offset: u64, bytes: u64) {
        let left = self.most() - searched.state(self.options, None).selected.min(self.most());
        let found = if self.selects_empty_lines() { bytes.min(left) } else { 0 };
        self.counted(searched, found, offset + found);
    }

    /// Counts lines, or finds the line that decides, if order does not matter.
    fn counted_chunk(&mut self, searched: &mut Searched, offset: u64, bytes: &[u8]) {
        if self.are_empty_lines(bytes) {
            return self.counted_zeros(searched, offset, bytes.len() as u64);
        }
        let left = self.most() - searched.state(self.options, None).selected.min(self.most());
        let (found, last) = count(&mut self.matcher, self.options, bytes, left);
        if found > 0 && self.options.first_match_decides() {
            self.orders.push(Order::Pin(searched.file, offset, bytes.len() as u64));
        }
        self.counted(searched, found, offset + last as u64);
    }

    /// Adds `found` selected lines, the last of which ends at `last`.
    fn counted(&mut self, searched: &mut Searched, found: u64, last: u64) {
        let (file, most) = (searched.file, self.most());
        let state = searched.state(self.options, None);
        state.selected += found;
        if state.selected >= most {
            state.ordered.selected_to = last;
            searched.ended = true;
            self.orders.push(Order::Finish(file));
        }
        if found > 0 && self.options.quiet {
            self.matched = true;
            self.orders.push(Order::Stop);
        }
    }

    fn ordered_chunk(&mut self, searched: &mut Searched, chunk: Chunk<'_>) {
        let is_current = self.is_current(searched);
        let may_print = is_current || self.waiting_bytes < WAITING_BYTES_MAX;
        let state = searched.state(self.options, chunk.open);
        if state.ordered.done {
            searched.ended = true;
            return self.orders.push(Order::Finish(searched.file));
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
    fn remember(&mut self, searched: &mut Searched, open: Option<&File>) {
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
            searched.ended = true;
            self.orders.push(Order::Finish(searched.file));
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
    fn drain(&mut self, searched: &mut Searched, is_current: bool) {
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
                searched.ended = true;
                searched.state(self.options, None).ordered.done = true;
                self.orders.push(Order::Finish(searched.file));
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
    fn hand_over(&mut self, searched: &mut Searched, ended: bool) {
        if let Some(state) = &mut searched.state {
            let mut turn = Handing { output: &mut self.output, grouped: self.grouped };
            state.ordered.hand_over(ended, self.printer, &mut turn);
        }
    }

    /// Prints what comes at the end of a file, such as its count.
    fn conclude(&mut self, searched: &mut Searched) {
        let needs_order = self.options.needs_order();
        let state = searched.state.take();
        let selected = match (&state, needs_order) {
            (None, _) => 0,
            (Some(state), true) => state.ordered.selected,
            (Some(state), false) => state.selected,
        };
        if let Some(problem) = searched.problem.take() {
            self.say(&problem.message);
            if !problem.opened {
                return;
            }
        }
        self.matched |= selected > 0;
        self.grouped |= selected > 0;
        self.report(&searched.name, selected);
        if let Some(state) = &state {
            let binary = state.ordered.binary_match
                || (state.ordered.encoding_error
                    && self.options.binary_files == BinaryFiles::Binary);
            if binary && self.options.prints_lines() {
                self.output.say(&problem(&searched.name, "binary file matches"));
            }
            searched.source.leave(selected, state.ordered.selected_to, self.options);
        }
        if searched.skipped > 0 {
            let what = if searched.unknown { "not known to be cached" } else { "not cached" };
            let message = format!("{} bytes are {what} and were skipped", searched.skipped);
            self.say(&problem(&searched.name, &message));
        }
    }

    fn report(&mut self, name: &[u8], selected: u64) {
        let options = self.options;
        let listed = match options.listing {
            Listing::None => false,
            Listing::Matching => selected > 0,
            Listing::NonMatching => selected == 0,
        };
        if options.quiet || options.discard {
            return;
        }
        let mut line = Vec::new();
        if listed {
            self.printer.name(&mut line, name);
            line.push(if options.null_names { 0 } else { b'\n' });
        } else if options.count && options.listing == Listing::None {
            if self.printer.with_filename {
                self.printer.name(&mut line, name);
                self.printer.after_name(&mut line, SELECTED);
            }
            line.extend_from_slice(format!("{selected}\n").as_bytes());
        }
        self.output.print(&line);
    }
}

impl Searched {
    fn state(&mut self, options: &Options, open: Option<&File>) -> &mut State {
        let stream = matches!(self.source, Source::Standard { regular: false, .. });
        self.state.get_or_insert_with(|| {
            let has_hole =
                options.needs_order() && heeds_nuls(options) && open.is_some_and(has_hole);
            let ordered = Ordered::new(options, stream, has_hole);
            Box::new(State { ordered, waiting: Waiting::default(), selected: 0 })
        })
    }
}

/// Whether the file has a hole after GNU's first buffer. GNU takes such a file for binary before it
/// reads a NUL.
fn has_hole(file: &File) -> bool {
    let Ok(here) = rustix::fs::seek(file, SeekFrom::Current(0)) else { return false };
    let hole = rustix::fs::seek(file, SeekFrom::Hole(BUFFER_BYTES));
    let _ = rustix::fs::seek(file, SeekFrom::Start(here));
    hole.is_ok_and(|hole| file.metadata().is_ok_and(|data| hole < data.len()))
}
