//! Runs a search over many files. Events arrive in any order; output leaves in the order of the
//! command line.
//!
//! A piece that arrives before its turn is searched at once, and only its [`Summary`] is kept. If
//! it holds something to print, it is read again in its turn, usually from the page cache. So
//! memory holds at most [`WAITING_BYTES_MAX`] of output, and 48 bytes per piece.

mod conclude;
mod counted;
mod in_order;

use super::Options;
use super::count::Summary;
use super::matcher::Matcher;
use super::ordered::{BUFFER_BYTES, Ordered};
use super::output::Output;
use super::print::Printer;
use super::source::Source;
use super::text::heeds_nuls;
use super::waiting::Waiting;
use super::walk::{Item, problem};
use crate::words::words;
use rustix::fs::SeekFrom;
use seekless_read::{Chunk, Event};
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
    /// The search of it was stopped before its end.
    stopped: bool,
    /// It counts as kept open.
    kept_open: bool,
    skipped: u64,
    /// Whether the system could not say if the skipped bytes are cached.
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
            stopped: false,
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
                    problem.opened = !error.kind().is_at_opening();
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

    /// Ends the search of a file before the file's end.
    fn stop(&mut self, searched: &mut Searched) {
        (searched.ended, searched.stopped) = (true, true);
        self.orders.push(Order::Finish(searched.file));
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

    /// Handles a hole: `bytes` NULs from `offset` on, each an empty line.
    fn hole(&mut self, searched: &mut Searched, offset: u64, bytes: u64, open: Option<&File>) {
        if !self.options.needs_order() {
            return self.counted_zeros(searched, offset, bytes);
        }
        if searched.state(self.options, open).ordered.done {
            return self.stop(searched);
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
