//! Evaluates the expression for each file and carries out its actions.

use super::answer::plainly;
use super::cost::Cost;
use super::entry::Entry;
use super::exec::{Batch, Ran};
use super::expression::{Action, Command, Expression, Plan, Target, Test};
use super::interpret::{Facts, holds};
use super::latency::{Prices, Unpriced};
use super::list;
use super::mounts::Mounts;
use super::output::Output;
use super::printf::Context;
use super::quote::{printable, quoted};
use crate::clib::locale::glob_matches;
use crate::words::words;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, accessat, openat, readlinkat, unlinkat};
use rustix::io::Errno;
use seekless_sys::accounts::{group_name, user_name};
use std::ffi::CString;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Whether the walk enters the folder that was evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    GoOn,
    Prune,
}

/// The state of an evaluation.
#[derive(Debug)]
pub(super) struct Evaluator<'a> {
    plan: &'a Plan,
    output: Output<'a>,
    messages: Messages<'a>,
    widths: list::Widths,
    mounts: Mounts,
    prices: Prices,
    batches: Vec<Batch>,
    /// With `--cheapest-first`, files whose actions wait until all files are known.
    waiting: Vec<Waiting<'a>>,
    /// The depth of the current file below its argument.
    depth: Option<usize>,
    now: i64,
    utf8: bool,
    quit: bool,
    pruned: bool,
    /// An error of the current file has been reported.
    told: bool,
    well: bool,
    /// How often a command may have changed files during the walk.
    changes: Arc<AtomicU64>,
}

struct Messages<'a>(&'a mut dyn Write);

impl std::fmt::Debug for Messages<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Messages")
    }
}

/// A file and the actions that wait for it.
#[derive(Debug)]
struct Waiting<'a> {
    cost_ns: u64,
    path: CString,
    name_at: usize,
    root_bytes: usize,
    depth: usize,
    follow: bool,
    actions: Vec<&'a Action>,
}

/// A file in its turn: all facts can be known, and actions are carried out.
struct Turn<'t, 'e, 'a> {
    evaluator: &'t mut Evaluator<'a>,
    entry: &'t Entry<'e>,
    /// With `--cheapest-first`, the actions that wait until all files are known.
    postponed: Vec<&'a Action>,
}

/// Why nothing more of the expression is evaluated.
enum Stop {
    /// `-quit` was reached.
    Quit,
    Failed(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Failed(error)
    }
}

impl<'a> Facts<'a> for Turn<'_, '_, 'a> {
    type Stop = Stop;

    fn passes(&mut self, test: &'a Test) -> Result<bool, Stop> {
        Ok(self.evaluator.passes(test, self.entry)?)
    }

    fn act(&mut self, action: &'a Action) -> Result<bool, Stop> {
        let at_once = matches!(action, Action::Prune | Action::Quit);
        if self.evaluator.plan.cheapest_first && !at_once {
            self.postponed.push(action);
            return Ok(true);
        }
        let succeeded = self.evaluator.act(action, self.entry)?;
        if self.evaluator.quit { Err(Stop::Quit) } else { Ok(succeeded) }
    }
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        out: &'a mut dyn Write,
        messages: &'a mut dyn Write,
        terminal: bool,
        utf8: bool,
    ) -> Self {
        let mut batches = Vec::new();
        batches.resize_with(plan.batches, Batch::default);
        let now =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        Evaluator {
            plan,
            output: Output::new(out, terminal, &plan.files, utf8),
            messages: Messages(messages),
            widths: list::Widths::default(),
            mounts: Mounts::default(),
            prices: Prices::default(),
            changes: Arc::default(),
            batches,
            waiting: Vec::new(),
            depth: None,
            now,
            utf8,
            quit: false,
            pruned: false,
            told: false,
            well: true,
        }
    }

    pub(super) fn utf8(&self) -> bool {
        self.utf8
    }

    /// How often a command may have changed files. A change invalidates what was seen ahead.
    pub(super) fn changes(&self) -> Arc<AtomicU64> {
        self.changes.clone()
    }

    pub(super) fn prices(&mut self) -> &mut Prices {
        &mut self.prices
    }

    pub(super) fn has_quit(&self) -> bool {
        self.quit
    }

    /// Starts the turn of another file, at this depth. Commands of `-execdir … +` run before the
    /// walk goes up or down.
    pub(super) fn turn(&mut self, depth: usize) -> io::Result<()> {
        self.told = false;
        if self.depth.replace(depth) != Some(depth) {
            self.run_batches(|command| command.in_folder)?;
        }
        Ok(())
    }

    /// Starts the walk of another argument.
    pub(super) fn begin_root(&mut self) {
        self.depth = None;
    }

    /// Reports, once per file, that the file could not be visited or read.
    pub(super) fn complain_once(&mut self, path: &[u8], error: Errno) -> io::Result<()> {
        if self.plan.ignores_gone && error == Errno::NOENT && self.depth != Some(0) {
            return Ok(());
        }
        match std::mem::replace(&mut self.told, true) {
            true => Ok(()),
            false => self.complain(path, error),
        }
    }

    /// Reports an error of a file.
    pub(super) fn complain(&mut self, path: &[u8], error: Errno) -> io::Result<()> {
        let text = format!("{}: {}", quoted(path, self.utf8), words(&error.into()));
        self.message(&text)
    }

    fn complain_of(&mut self, entry: &Entry<'_>, wrong: &Unpriced) -> io::Result<()> {
        match wrong {
            Unpriced::System(error) => self.complain_once(entry.bytes(), *error),
            Unpriced::Other(error) => self.complain(entry.bytes(), *error),
            Unpriced::Survey(error) => match error.io_error() {
                Some(cause) => {
                    let text = format!("{}: {}", quoted(entry.bytes(), self.utf8), words(cause));
                    self.message(&text)
                }
                None => self.message(&error.to_string()),
            },
        }
    }

    /// Prints a message, and makes find exit with an error.
    pub(super) fn message(&mut self, text: &str) -> io::Result<()> {
        self.well = false;
        self.output.flush()?;
        writeln!(self.messages.0, "find: {text}")
    }

    fn write(&mut self, to: Target, bytes: &[u8]) -> io::Result<()> {
        match to {
            Target::Messages => self.messages.0.write_all(bytes),
            _ => self.output.write(to, bytes),
        }
    }

    /// Evaluates the expression for a file.
    pub(super) fn judge(&mut self, entry: &Entry<'_>) -> io::Result<Verdict> {
        self.pruned = false;
        let plan = self.plan;
        let mut turn = Turn { evaluator: self, entry, postponed: Vec::new() };
        if let Err(Stop::Failed(error)) = holds(&plan.expression, &mut turn) {
            return Err(error);
        }
        let postponed = turn.postponed;
        if !postponed.is_empty() {
            self.postpone(entry, postponed)?;
        }
        Ok(if self.pruned { Verdict::Prune } else { Verdict::GoOn })
    }

    /// Keeps the actions on a file until all files are known.
    fn postpone(&mut self, entry: &Entry<'_>, actions: Vec<&'a Action>) -> io::Result<()> {
        let cost_ns = self.cost(entry)?.map_or(0, |cost| cost.device_ns_high);
        self.waiting.push(Waiting {
            cost_ns,
            path: entry.path.to_owned(),
            name_at: entry.name_at,
            root_bytes: entry.root_bytes,
            depth: entry.depth,
            follow: entry.follow,
            actions,
        });
        Ok(())
    }

    /// Carries out the waiting actions. Returns whether everything went well.
    pub(super) fn finish(mut self) -> io::Result<bool> {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|file| file.cost_ns); // stable: the walk's order among equals
        for file in waiting {
            let mut entry = Entry::new(&file.path, file.name_at, file.root_bytes, file.depth);
            entry.follow = file.follow;
            for action in file.actions {
                self.act(action, &entry)?;
            }
        }
        self.run_batches(|command| !command.in_folder)?;
        self.run_batches(|command| command.in_folder)?;
        self.output.flush()?;
        Ok(self.well)
    }

    /// Runs the waiting commands that satisfy `wanted`.
    fn run_batches(&mut self, wanted: fn(&Command) -> bool) -> io::Result<()> {
        if self.batches.iter().all(Batch::is_empty) {
            return Ok(());
        }
        let mut commands = Vec::new();
        collect(&self.plan.expression, &mut commands);
        for (number, command) in commands {
            if wanted(command) && !self.batches[number].is_empty() {
                self.output.flush()?;
                let mut batch = std::mem::take(&mut self.batches[number]);
                let ran = command.run_batch(&mut batch, self.messages.0, self.utf8)?;
                self.well &= ran == Ran::Succeeded;
                self.changes.fetch_add(1, Ordering::Release);
            }
        }
        Ok(())
    }

    /// Answers a test. If the file cannot be read, reports the error and answers false.
    fn passes(&mut self, test: &Test, entry: &Entry<'_>) -> io::Result<bool> {
        match self.answer(test, entry) {
            Ok(answer) => Ok(answer),
            Err(wrong) => self.complain_of(entry, &wrong).map(|()| false),
        }
    }

    fn answer(&mut self, test: &Test, entry: &Entry<'_>) -> Result<bool, Unpriced> {
        if let Some(answer) = plainly(test, entry)? {
            return Ok(answer);
        }
        Ok(match test {
            Test::LinkName(glob) => {
                entry.file_type()? == FileType::Symlink
                    && readlinkat(entry.base(), entry.below(), Vec::new())
                        .is_ok_and(|target| glob_matches(&glob.pattern, &target, glob.ignore_case))
            }
            Test::OtherType(kinds) => kinds.contains(&entry.other_type().map_err(Unpriced::Other)?),
            Test::Empty => is_empty(entry)?,
            Test::NoUser => user_name(entry.stat()?.st_uid).is_none(),
            Test::NoGroup => group_name(entry.stat()?.st_gid).is_none(),
            Test::Access(access) => {
                accessat(entry.base(), entry.below(), *access, AtFlags::empty()).is_ok()
            }
            Test::FileSystem(name) => self.mounts.type_of(entry.stat()?.st_dev).as_bytes() == name,
            Test::OfCost(test) => {
                self.prices.passes(test, entry, self.plan.unknown, Prices::ask)?
            }
            // `plainly` answers all other tests.
            _ => true,
        })
    }

    /// What the file costs; `None` if that is unknown and such files are skipped.
    fn price(&mut self, entry: &Entry<'_>) -> Result<Option<Cost>, Unpriced> {
        Ok(self.prices.ask(entry)?.kept(self.plan.unknown).copied())
    }

    /// As [`Evaluator::price`], but reports an error instead of returning it.
    fn cost(&mut self, entry: &Entry<'_>) -> io::Result<Option<Cost>> {
        match self.price(entry) {
            Ok(cost) => Ok(cost),
            Err(wrong) => {
                self.complain_of(entry, &wrong)?;
                Ok(None)
            }
        }
    }

    fn act(&mut self, action: &'a Action, entry: &Entry<'_>) -> io::Result<bool> {
        match action {
            Action::Print { to, end } => {
                match *end != 0 && self.output.is_terminal(*to) {
                    true => self.write(*to, &printable(entry.bytes(), self.utf8))?,
                    false => self.write(*to, entry.bytes())?,
                }
                self.write(*to, &[*end])?;
            }
            Action::Printf { to, format } => {
                let cost = if format.asks_latency() { self.cost(entry)? } else { None };
                let terminal = self.output.is_terminal(*to);
                let mut context =
                    Context { mounts: &mut self.mounts, cost, terminal, utf8: self.utf8 };
                match format.write(entry, &mut context) {
                    Ok(line) => {
                        self.write(*to, &line)?;
                        if format.flushes() {
                            self.output.flush()?;
                        }
                    }
                    Err(error) => {
                        self.complain_once(entry.bytes(), error)?;
                        return Ok(false);
                    }
                }
            }
            Action::List { to } => return self.list(*to, entry),
            // `-prune` is false for a file that no longer exists.
            Action::Prune if !self.plan.contents_first && entry.stat().is_err() => {
                let error = entry.stat().err().unwrap_or(Errno::NOENT);
                return self.complain_once(entry.bytes(), error).map(|()| false);
            }
            Action::Prune => self.pruned = true,
            Action::Quit => self.quit = true,
            Action::Delete => return self.delete(entry),
            Action::Execute(command) => {
                remember(entry);
                self.output.flush()?;
                return Ok(command.run(entry, self.messages.0, self.utf8)? == Ran::Succeeded);
            }
            Action::ExecuteMany { number, command } => {
                remember(entry);
                self.output.flush()?;
                let ran =
                    command.add(entry, &mut self.batches[*number], self.messages.0, self.utf8)?;
                self.well &= ran == Ran::Succeeded;
                if self.batches[*number].is_first() {
                    self.changes.fetch_add(1, Ordering::Release);
                }
            }
        }
        Ok(true)
    }

    fn list(&mut self, to: Target, entry: &Entry<'_>) -> io::Result<bool> {
        match entry.stat() {
            Ok(stat) => {
                let line =
                    list::line(entry, stat, &mut self.widths, self.plan.block_bytes, self.now);
                self.write(to, &line).map(|()| true)
            }
            Err(error) => self.complain_once(entry.bytes(), error).map(|()| false),
        }
    }

    fn delete(&mut self, entry: &Entry<'_>) -> io::Result<bool> {
        if entry.bytes() == b"." {
            return Ok(true); // where find stands cannot go
        }
        let flags = if entry.is_folder() { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match unlinkat(entry.base(), entry.below(), flags) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) if self.plan.ignores_gone => Ok(true),
            Err(error) => {
                let name = quoted(entry.bytes(), self.utf8);
                self.message(&format!("cannot delete {name}: {}", words(&error.into())))?;
                Ok(false)
            }
        }
    }
}

/// Reads the attributes of a folder before a command that may remove it. GNU find reads them before
/// it evaluates the expression, so a folder that a command removed can still be pruned.
fn remember(entry: &Entry<'_>) {
    if entry.is_folder() {
        let _ = entry.stat(); // what fails is reported by the part that needs it
    }
}

/// Collects the commands that take many files, with their numbers.
fn collect<'a>(expression: &'a Expression, commands: &mut Vec<(usize, &'a Command)>) {
    match expression {
        Expression::Action(Action::ExecuteMany { number, command }) => {
            commands.push((*number, command))
        }
        Expression::Test(_) | Expression::Action(_) => {}
        Expression::Not(inner) => collect(inner, commands),
        Expression::All(parts) | Expression::Any(parts) | Expression::List(parts) => {
            parts.iter().for_each(|part| collect(part, commands));
        }
    }
}

/// Whether it is a file without bytes or a folder without entries.
fn is_empty(entry: &Entry<'_>) -> Result<bool, Unpriced> {
    if entry.is_folder() {
        return has_no_entries(entry).map_err(Unpriced::Other);
    }
    let stat = entry.stat()?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_size == 0)
}

fn has_no_entries(entry: &Entry<'_>) -> Result<bool, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut lines = Dir::new(openat(entry.base(), entry.below(), flags, Mode::empty())?)?;
    Ok(!lines
        .any(|line| line.is_ok_and(|line| line.file_name() != c"." && line.file_name() != c"..")))
}
