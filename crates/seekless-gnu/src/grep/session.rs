//! All files of a search: events come in any order, answers leave in the order of the command line. What comes before its turn is
//! searched at once and remembered in a few words a piece ([`Summary`]); if it holds something to print it is read again in
//! its turn, from the page cache as a rule. So memory holds at most [`WAITING_BYTES_MAX`] of output beside 48 bytes a piece.

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

/// How much output of files whose turn has not come is kept; beyond, they are read again.
const WAITING_BYTES_MAX: usize = 8 << 20;
/// Files known at a time, and the bytes of their names: what is looked at before its turn.
const TURNS_MAX: usize = 8 << 10;
const NAMES_BYTES_MAX: usize = 2 << 20;
/// Files kept open to be read again.
const OPEN_MAX: usize = 64;

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
pub(super) struct Session<'a, 'o> {
    options: &'a Options,
    matcher: Matcher,
    printer: Printer<'a>,
    output: Output<'o>,
    /// The first of them has its turn.
    turns: VecDeque<Turn>,
    /// How many had theirs.
    past: usize,
    /// The turn of each of the reader's files that is still to have it, and how many had theirs.
    files: VecDeque<usize>,
    files_past: usize,
    /// Bytes of the names of those to come.
    names_bytes: usize,
    /// Files kept open.
    kept_open: usize,
    /// A line was selected in a file before: the next group is parted from it.
    grouped: bool,
    waiting_bytes: usize,
    pub orders: Vec<Order>,
    pub matched: bool,
    pub failed: bool,
}

/// What is said or searched in its turn.
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
    /// It counts among those kept open.
    kept_open: bool,
    skipped: u64,
    /// Whether nobody tells if what was skipped is cached.
    unknown: bool,
    problem: Option<Problem>,
}

/// Why a file was not searched to its end.
struct Problem {
    message: Vec<u8>,
    /// It could be opened: what was found until then counts.
    opened: bool,
}

struct State {
    ordered: Ordered,
    /// Pieces that came before their turn.
    waiting: Waiting,
    /// Selected lines, where order does not matter.
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

    /// Whether more files may be added before some have had their turn.
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

    /// Takes what happened.
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

    /// A file was cut short. Lines of it that were printed stand, and the search goes on behind them, as if it had read in order and
    /// met the end, or what was written there since.
    fn restart(&mut self, searched: &mut Searched) {
        self.waiting_bytes -= self.kept_of(searched);
        match &mut searched.state {
            Some(state) if state.ordered.printed => state.waiting = Waiting::default(),
            state => *state = None,
        }
    }

    /// Goes on with the turns that have come; at the start those that nothing need be read for.
    pub(super) fn advance(&mut self) {
        while let Some(turn) = self.turns.front_mut() {
            // A selected line is the whole answer of -q: nothing is said after it.
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

    /// All that was printed leaves.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.output.flush();
        self.check()
    }

    /// # Errors
    ///
    /// What refused a write.
    pub(super) fn check(&mut self) -> io::Result<()> {
        self.output.check()
    }

    /// What the next file in turn has kept is no longer waiting.
    fn begin(&mut self) {
        if let Some(Turn::File(next)) = self.turns.get(1) {
            self.waiting_bytes -= next.state.as_ref().map_or(0, |state| state.ordered.out.len());
        }
    }

    fn is_current(&self, searched: &Searched) -> bool {
        searched.file == self.files_past && self.files.front() == Some(&self.past)
    }

    /// How much of a file's output counts as waiting.
    fn kept_of(&self, searched: &Searched) -> usize {
        let kept = searched.state.as_ref().map_or(0, |state| state.ordered.out.len());
        if self.is_current(searched) { 0 } else { kept }
    }

    fn with(&mut self, file: usize, act: impl FnOnce(&mut Self, &mut Searched)) {
        let turn = file.checked_sub(self.files_past).and_then(|at| self.files.get(at));
        let Some(at) = turn.map(|turn| turn - self.past) else { return };
        if let Turn::File(mut searched) = std::mem::replace(&mut self.turns[at], Turn::Problem(Vec::new())) {
            act(self, &mut searched);
            self.turns[at] = Turn::File(searched);
        }
    }

    /// A problem of this program or the system, in its turn.
    fn say(&mut self, message: &[u8]) {
        self.failed = true;
        self.warn(message);
    }

    /// What is no failure.
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

    /// A hole: so many NULs from `offset` on, each an empty line.
    fn hole(&mut self, searched: &mut Searched, offset: u64, bytes: u64, open: Option<&File>) {
        if !self.options.needs_order() {
            return self.counted_zeros(searched, offset, bytes);
        }
        if searched.state(self.options, open).ordered.done {
            searched.ended = true;
            return self.orders.push(Order::Finish(searched.file));
        }
        // What is to be printed of them is read in its turn.
        self.remember(searched, open);
        let summary = Summary { bytes, lines: bytes, plain: !self.selects_empty_lines() };
        searched.state(self.options, None).waiting.add(offset, summary);
        let is_current = self.is_current(searched);
        self.drain(searched, is_current);
    }

    /// Whether these are nothing but NULs that end a line each.
    fn are_empty_lines(&self, bytes: &[u8]) -> bool {
        let ends_lines = heeds_nuls(self.options) || self.options.terminator() == 0;
        ends_lines && bytes.iter().all(|&byte| byte == 0)
    }

    fn selects_empty_lines(&mut self) -> bool {
        let line = [self.options.terminator()];
        let text = self.matcher.text_as_it_is(&line);
        self.matcher.next_line(&text, 0).is_some() != self.options.invert_match
    }

    /// Where order does not matter: so many selected lines decide.
    fn most(&self) -> u64 {
        match self.options.first_match_decides() {
            true => self.options.max_count.unwrap_or(1).min(1),
            false => self.options.max_count.unwrap_or(u64::MAX),
        }
    }

    /// Where order does not matter: so many empty lines.
    fn counted_zeros(&mut self, searched: &mut Searched, offset: u64, bytes: u64) {
        let left = self.most() - searched.state(self.options, None).selected.min(self.most());
        let found = if self.selects_empty_lines() { bytes.min(left) } else { 0 };
        self.counted(searched, found, offset + found);
    }

    /// Where order does not matter: counts, or finds the one line that decides.
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

    /// So many more selected lines were found, the last of which ends at `last`.
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

    /// A part of the file may be wanted again.
    fn remember(&mut self, searched: &mut Searched, open: Option<&File>) {
        if searched.source.remember(open, self.kept_open < OPEN_MAX) {
            searched.kept_open = true;
            self.kept_open += 1;
        }
    }

    /// Looks at the piece that begins where a file has got to.
    fn piece(&mut self, searched: &mut Searched, bytes: &[u8], is_lost: impl Fn() -> bool) {
        let options = self.options;
        if self.pass_over(searched, bytes) {
            return;
        }
        let is_current = self.is_current(searched);
        let text = self.matcher.text(options, bytes);
        // Zeros that are not of the file, but stand for what was cut off: it is begun again.
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
        let turn = is_current.then_some(Handing { output: &mut self.output, grouped: self.grouped });
        let mut tools = Tools { matcher: &mut self.matcher, printer: self.printer, name, width, turn };
        state.ordered.piece(&text, &mut tools);
        if !is_current {
            self.waiting_bytes = (self.waiting_bytes + state.ordered.out.len()).saturating_sub(before);
        }
        if state.ordered.done && !searched.ended {
            searched.ended = true;
            self.orders.push(Order::Finish(searched.file));
        }
        if options.quiet && searched.state(options, None).ordered.selected > 0 && searched.ended {
            self.orders.push(Order::Stop);
        }
    }

    /// Passes over empty lines that change nothing: where NULs make the file binary, once it is known to be.
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

    /// Goes on over pieces that came before their turn.
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

    /// Reads the beginning of a run of pieces again; false if that failed.
    fn again(&mut self, searched: &mut Searched, offset: u64, summary: Summary) -> bool {
        let most = self.options.line_bytes_max();
        match searched.source.read_lines(offset, summary.bytes, most, self.options) {
            // It was cut short: as for one who reads in order, that is its end.
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

    /// Hands on what the current file has printed for good: all of it if nothing more is to come.
    fn hand_over(&mut self, searched: &mut Searched, ended: bool) {
        if let Some(state) = &mut searched.state {
            let mut turn = Handing { output: &mut self.output, grouped: self.grouped };
            state.ordered.hand_over(ended, self.printer, &mut turn);
        }
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
                || (state.ordered.encoding_error && self.options.binary_files == BinaryFiles::Binary);
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
            let has_hole = options.needs_order() && heeds_nuls(options) && open.is_some_and(has_hole);
            let ordered = Ordered::new(options, stream, has_hole);
            Box::new(State { ordered, waiting: Waiting::default(), selected: 0 })
        })
    }
}

/// Whether there is a hole behind GNU's first buffer, which makes GNU take a file for binary before it has met a NUL.
fn has_hole(file: &File) -> bool {
    let Ok(here) = rustix::fs::seek(file, SeekFrom::Current(0)) else { return false };
    let hole = rustix::fs::seek(file, SeekFrom::Hole(BUFFER_BYTES));
    let _ = rustix::fs::seek(file, SeekFrom::Start(here));
    hole.is_ok_and(|hole| file.metadata().is_ok_and(|data| hole < data.len()))
}
