//! All files of a search: events come in any order, answers leave in the order of the command line. What comes before its turn is
//! searched at once and remembered in a few words a piece ([`Summary`]); if it holds something to print it is read again in
//! its turn, from the page cache as a rule. So memory holds at most [`WAITING_BYTES_MAX`] of output beside 48 bytes a piece.

use super::count::{Summary, count, summary};
use super::matcher::Matcher;
use super::ordered::{Ordered, Tools};
use super::print::{Printer, SELECTED};
use super::source::Source;
use super::walk::{Item, problem};
use super::{BinaryFiles, Listing, Options};
use crate::gnu::words;
use seekless_sled::Event;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// How much output of files whose turn has not come is kept; beyond, they are read again.
const WAITING_BYTES_MAX: usize = 16 << 20;

/// How much output is gathered before it is written.
const WRITE_BYTES: usize = 64 << 10;

/// What the reader shall do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Leave out the rest of a file.
    Finish(usize),
    /// Keep a range of a file in memory.
    Pin(usize, u64, u64),
    /// Nothing more is needed.
    Stop,
}

/// The search, as events come.
pub(super) struct Session<'a> {
    options: &'a Options,
    matcher: Matcher,
    printer: Printer<'a>,
    turns: Vec<Turn>,
    /// The turn of each of the reader's files.
    files: Vec<usize>,
    current: usize,
    /// A line was selected in a file before: the next group is parted from it.
    grouped: bool,
    waiting_bytes: usize,
    out: Vec<u8>,
    err: Vec<u8>,
    pub orders: Vec<Order>,
    pub matched: bool,
    pub failed: bool,
}

/// What is said or searched in its turn.
enum Turn {
    Problem(Vec<u8>),
    File(Box<Searched>),
}

struct Searched {
    file: usize,
    name: Vec<u8>,
    source: Source,
    state: Option<Box<State>>,
    ended: bool,
    skipped: u64,
    /// Whether nobody tells if what was skipped is cached.
    unknown: bool,
    problem: Option<Vec<u8>>,
}

struct State {
    ordered: Ordered,
    /// Pieces that came before their turn, by offset.
    waiting: BTreeMap<u64, Summary>,
    /// Selected lines, where order does not matter.
    selected: u64,
    /// Something of the file was printed: it cannot be taken back.
    printed: bool,
}

impl<'a> Session<'a> {
    pub(super) fn new(options: &'a Options, matcher: Matcher, with_filename: bool) -> Self {
        Session {
            options,
            matcher,
            printer: Printer { options, with_filename },
            turns: Vec::new(),
            files: Vec::new(),
            current: 0,
            grouped: false,
            waiting_bytes: 0,
            out: Vec::new(),
            err: Vec::new(),
            orders: Vec::new(),
            matched: false,
            failed: false,
        }
    }

    /// Adds the next turn. The reader's files are numbered in the same order.
    pub(super) fn add(&mut self, item: Item) {
        let file = self.files.len();
        let (name, source) = match item {
            Item::Problem(message) => return self.turns.push(Turn::Problem(message)),
            Item::File { path, name, .. } => (name, Source::Path(path, None)),
            Item::Standard { file, start, regular, .. } => {
                (self.options.label.clone(), Source::Standard { file, start, regular, again: None })
            }
        };
        self.files.push(self.turns.len());
        let (state, ended, skipped, unknown, problem) = (None, false, 0, false, None);
        let searched = Searched { file, name, source, state, ended, skipped, unknown, problem };
        self.turns.push(Turn::File(Box::new(searched)));
    }

    /// Takes what happened.
    pub(super) fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Chunk(chunk) => self.chunk(chunk.file, chunk.offset, chunk.bytes),
            Event::End { file, skipped, unknown, .. } => {
                self.with(file, |_, searched| {
                    searched.ended = true;
                    (searched.skipped, searched.unknown) = (skipped, unknown);
                });
            }
            Event::Restart { file } => self.with(file, |session, searched| {
                if searched.state.as_ref().is_some_and(|state| state.printed) {
                    session.fail(searched, "changed while it was searched, after lines of it were printed");
                    session.orders.push(Order::Finish(file));
                }
                searched.state = None;
            }),
            Event::Failed { file, error } => self.with(file, |session, searched| {
                let words = error.io_error().map_or_else(|| error.to_string(), words);
                session.fail(searched, &words);
            }),
        }
        self.advance();
    }

    /// Writes what is ready.
    pub(super) fn write(&mut self, out: &mut dyn Write, err: &mut dyn Write, all: bool) -> io::Result<()> {
        // Lines before the message that follows them, where both go to one place.
        let flush = all || self.options.line_buffered || !self.err.is_empty();
        if self.out.len() >= WRITE_BYTES || (flush && !self.out.is_empty()) {
            out.write_all(&self.out)?;
            self.out.clear();
        }
        if flush {
            out.flush()?;
        }
        if !self.err.is_empty() {
            err.write_all(&self.err)?;
            self.err.clear();
        }
        Ok(())
    }

    /// Goes on with the turns that have come; at the start those that nothing need be read for.
    pub(super) fn advance(&mut self) {
        while self.current < self.turns.len() {
            let turn = &mut self.turns[self.current];
            match std::mem::replace(turn, Turn::Problem(Vec::new())) {
                Turn::Problem(message) => self.say(&message),
                Turn::File(mut searched) => {
                    self.drain(&mut searched, true);
                    self.flush(&mut searched);
                    if !searched.ended {
                        self.turns[self.current] = Turn::File(searched);
                        return;
                    }
                    self.conclude(&mut searched);
                }
            }
            self.current += 1;
        }
    }

    fn with(&mut self, file: usize, act: impl FnOnce(&mut Self, &mut Searched)) {
        let turn = self.files[file];
        if let Turn::File(mut searched) = std::mem::replace(&mut self.turns[turn], Turn::Problem(Vec::new()))
        {
            act(self, &mut searched);
            self.turns[turn] = Turn::File(searched);
        }
    }

    /// A problem of this program or the system, in its turn.
    fn say(&mut self, message: &[u8]) {
        if message.is_empty() {
            return;
        }
        self.failed = true;
        if !self.options.no_messages {
            self.err.extend_from_slice(b"grep: ");
            self.err.extend_from_slice(message);
            self.err.push(b'\n');
        }
    }

    fn fail(&mut self, searched: &mut Searched, what: &str) {
        searched.problem = Some(problem(&searched.name, what));
        searched.ended = true;
    }

    fn chunk(&mut self, file: usize, offset: u64, bytes: &[u8]) {
        self.with(file, |session, searched| {
            if searched.ended {
                return;
            }
            match session.options.needs_order() {
                true => session.ordered_chunk(searched, offset, bytes),
                false => session.counted_chunk(searched, offset, bytes),
            }
            if let Some(error) = session.matcher.take_failure() {
                let message = problem(&searched.name, &error);
                session.say(&message);
            }
        });
    }

    /// Where order does not matter: counts, or finds the one line that decides.
    fn counted_chunk(&mut self, searched: &mut Searched, offset: u64, bytes: &[u8]) {
        let file = searched.file;
        let most = match self.options.first_match_decides() {
            true => self.options.max_count.unwrap_or(1).min(1),
            false => self.options.max_count.unwrap_or(u64::MAX),
        };
        let state = searched.state(self.options);
        let (found, last) = count(&mut self.matcher, self.options, bytes, most - state.selected.min(most));
        state.selected += found;
        if found > 0 && self.options.first_match_decides() {
            self.orders.push(Order::Pin(file, offset, bytes.len() as u64));
        }
        if state.selected >= most {
            state.ordered.selected_to = offset + last as u64;
            searched.ended = true;
            self.orders.push(Order::Finish(file));
        }
        if found > 0 && self.options.quiet {
            self.matched = true;
            self.orders.push(Order::Stop);
        }
    }

    fn ordered_chunk(&mut self, searched: &mut Searched, offset: u64, bytes: &[u8]) {
        let is_current = self.files[searched.file] == self.current;
        let may_print = is_current || self.waiting_bytes < WAITING_BYTES_MAX;
        let state = searched.state(self.options);
        if state.ordered.position != offset || !may_print {
            let summary = summary(&mut self.matcher, self.options, bytes);
            state.waiting.insert(offset, summary);
            return;
        }
        self.piece(searched, bytes);
        self.drain(searched, is_current);
    }

    /// Looks at the piece that begins where a file has got to.
    fn piece(&mut self, searched: &mut Searched, bytes: &[u8]) {
        let options = self.options;
        let text = self.matcher.text(options, bytes);
        let position = searched.state(options).ordered.position;
        if searched.state(options).ordered.wants_before(options) {
            let before = searched.source.lines_before(position, options);
            searched.state(options).ordered.set_before(before);
        }
        let Searched { name, state, source, .. } = searched;
        let Some(state) = state else { return };
        let before = state.ordered.out.len();
        let width = if options.initial_tab { source.width() } else { 0 };
        let mut tools = Tools { matcher: &mut self.matcher, printer: self.printer, name, width };
        state.ordered.piece(&text, &mut tools);
        let after = state.ordered.out.len();
        self.waiting_bytes = (self.waiting_bytes + after).saturating_sub(before);
        if state.ordered.done && !searched.ended {
            searched.ended = true;
            self.orders.push(Order::Finish(searched.file));
        }
        if options.quiet && searched.state(options).ordered.selected > 0 && searched.ended {
            self.orders.push(Order::Stop);
        }
    }

    /// Goes on over pieces that came before their turn.
    fn drain(&mut self, searched: &mut Searched, is_current: bool) {
        while let Some(state) = &mut searched.state {
            if state.ordered.done {
                break;
            }
            let Some((&offset, &summary)) = state.waiting.first_key_value() else { break };
            if offset != state.ordered.position {
                if !(searched.ended && is_current) {
                    break;
                }
                state.ordered.jump(offset);
            }
            if summary.plain && state.ordered.may_skip() {
                state.ordered.skip(summary.bytes, summary.lines);
            } else if !is_current {
                break;
            } else {
                match searched.source.read(offset, summary.bytes) {
                    Ok(bytes) => self.piece(searched, &bytes),
                    Err(error) => {
                        self.fail(searched, &words(&error));
                        self.orders.push(Order::Finish(searched.file));
                        break;
                    }
                }
            }
            if let Some(state) = &mut searched.state {
                state.waiting.remove(&offset);
            }
        }
    }

    /// Hands on what the current file has printed for good.
    fn flush(&mut self, searched: &mut Searched) {
        let Some(state) = &mut searched.state else { return };
        let ordered = &mut state.ordered;
        let bytes = if searched.ended { ordered.out.len() } else { ordered.settled() };
        // A group of which nothing could be shown is parted from the one before all the same.
        let reached = |at: &usize| *at < bytes || (searched.ended && *at == bytes);
        let group = ordered.group_at.filter(|at| reached(at) && self.grouped);
        if bytes == 0 && group.is_none() {
            return;
        }
        let head = group.unwrap_or(0);
        self.out.extend_from_slice(&ordered.out[..head]);
        if let (Some(_), Some(separator)) = (group, &self.options.group_separator) {
            self.printer.separator(&mut self.out, separator);
            self.out.push(b'\n');
        }
        self.out.extend_from_slice(&ordered.out[head..bytes]);
        ordered.take_settled(bytes);
        state.printed = true;
        self.waiting_bytes = self.waiting_bytes.saturating_sub(bytes);
    }

    /// What is said of a file at its end.
    fn conclude(&mut self, searched: &mut Searched) {
        let needs_order = self.options.needs_order();
        let state = searched.state.take();
        let selected = match (&state, needs_order) {
            (None, _) => 0,
            (Some(state), true) => state.ordered.selected,
            (Some(state), false) => state.selected,
        };
        if let Some(message) = searched.problem.take() {
            self.say(&message);
            if state.is_none() || self.options.count || self.options.listing != Listing::None {
                return;
            }
        }
        self.matched |= selected > 0;
        self.grouped |= selected > 0;
        self.report(&searched.name, selected);
        if let Some(state) = &state {
            let binary = state.ordered.binary_match
                || (state.ordered.encoding_error && self.options.binary_files == BinaryFiles::Binary);
            if binary && self.options.prints_lines() {
                self.err
                    .extend_from_slice(&[b"grep: ", &searched.name[..], b": binary file matches\n"].concat());
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
        if listed {
            self.printer.name(&mut self.out, name);
            self.out.push(if options.null_names { 0 } else { b'\n' });
        } else if options.count && options.listing == Listing::None {
            if self.printer.with_filename {
                self.printer.name(&mut self.out, name);
                self.printer.after_name(&mut self.out, SELECTED);
            }
            self.out.extend_from_slice(format!("{selected}\n").as_bytes());
        }
    }
}

impl Searched {
    fn state(&mut self, options: &Options) -> &mut State {
        let stream = matches!(self.source, Source::Standard { regular: false, .. });
        self.state.get_or_insert_with(|| {
            let ordered = Ordered::new(options, stream);
            Box::new(State { ordered, waiting: BTreeMap::new(), selected: 0, printed: false })
        })
    }
}
