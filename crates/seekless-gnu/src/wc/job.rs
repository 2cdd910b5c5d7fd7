//! Counts all inputs and prints one line for each. Inputs finish in any order; lines are printed in
//! the order of the arguments.

use super::charset::Charset;
use super::pieces::Pieces;
use super::print::{self, Size};
use super::{Counts, Wanted, quote, size};
use crate::words::words;
use seekless_read::{ErrorKind, Event, Options, Plan, Reader, Records};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// About how many bytes are counted at a time: they fit in the processor's second-level cache.
const CHUNK: u64 = 256 << 10;
/// The least chunk, for small files.
const CHUNK_LEAST: u64 = 4 << 10;
/// The most inputs that are known and not printed yet.
const PENDING_MAX: usize = 8 << 10;

/// Files being read, by the reader's number: the number of the input and the pieces counted so far.
type Counting = BTreeMap<usize, (usize, Pieces)>;

/// A job of counting.
#[derive(Clone, Debug)]
pub struct Job {
    /// The inputs that are known before counting starts, in the order of their lines.
    pub inputs: Vec<Input>,
    /// The counts to print.
    pub wanted: Wanted,
    /// When to print a total line.
    pub total: Total,
    /// Whether to fit the columns to the inputs' sizes. Set it to `false` if some inputs become
    /// known only later.
    pub aligned: bool,
    /// The order of reading.
    pub plan: Plan,
    /// Count only bytes that need no device read.
    pub cached_only: bool,
    /// The most cached bytes to hold in memory until they are counted.
    pub hold_bytes: u64,
    /// Whether to fill in the report's statistics. Without them, a single small file is counted
    /// faster.
    pub statistics: bool,
    /// Print no lines, and fill in [`Report::files`] instead: the caller shows the report itself.
    pub quiet: bool,
}

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file.
    Path(PathBuf),
    /// Standard input, by the name `-` or by default.
    Standard {
        /// It was named `-`.
        named: bool,
    },
    /// An argument or list entry that cannot name a file; the message to print.
    Wrong(String),
    /// The list of names could not be read to its end; the message to print.
    Unlisted(String),
}

/// When to print a total line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Total {
    /// If there are several inputs.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Always, and no other line.
    Only,
    /// Never.
    Never,
}

/// The result of a job.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Whether all inputs were counted to their end.
    pub complete: bool,
    /// The counts of each input that could be read; filled in only if the job is `quiet`.
    pub files: Vec<Figures>,
    /// The sum of all inputs; `columns` is the maximum.
    pub total: Counts,
    /// Statistics of reading.
    pub statistics: Statistics,
}

/// The counts of one input.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Its name as given; `None` if standard input was not named.
    pub name: Option<PathBuf>,
    /// Its counts.
    #[serde(flatten)]
    pub counts: Counts,
    /// Bytes left out because they were not cached.
    pub skipped: u64,
}

/// Statistics of reading.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Statistics {
    /// Bytes counted.
    pub bytes: u64,
    /// Of these, bytes in memory at the start.
    pub resident_bytes: u64,
    /// Of those, bytes held in memory until they were counted.
    pub held_bytes: u64,
}

/// The result of one input.
#[derive(Debug)]
enum Outcome {
    Counted {
        counts: Counts,
        skipped: u64,
        /// Whether the system could not tell if the skipped bytes are cached.
        unknown: bool,
    },
    /// `counted` holds the counts up to the failure, which are printed after the message. It is
    /// `None` if the input could not be opened.
    Failed { message: String, counted: Option<Counts> },
}

/// An input whose line is not printed yet.
#[derive(Debug)]
struct Pending {
    input: Input,
    outcome: Option<Outcome>,
}

/// The state of a running job.
struct Run<'a> {
    job: &'a Job,
    charset: &'a mut Charset,
    out: &'a mut dyn Write,
    errors: &'a mut dyn Write,
    width: usize,
    /// Inputs in the order of their lines. `printed` inputs came before them.
    pending: VecDeque<Pending>,
    printed: usize,
    /// The number of names so far.
    named: usize,
    report: Report,
}

/// Counts all inputs, and writes lines to `out` and messages to `errors`.
///
/// `later` yields inputs that become known while others are counted. `progress` is called with the
/// bytes done and the bytes in all.
///
/// # Errors
/// If writing to `out` or `errors` fails. A problem with an input becomes a message, and the report
/// is not `complete`.
pub fn run(
    job: &Job,
    later: &mut dyn Iterator<Item = Input>,
    charset: &mut Charset,
    out: &mut dyn Write,
    errors: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> io::Result<Report> {
    let only_size = job.wanted.only_size(|| !charset.is_utf8());
    let sizes = sizes(&job.inputs);
    let aligned = job.aligned && job.total != Total::Only;
    let width = if aligned { print::width(&sizes, job.wanted) } else { 1 };
    let report = Report { complete: true, ..Report::default() };
    let (pending, printed, named) = (VecDeque::new(), 0, 0);
    let mut run = Run { job, charset, out, errors, width, pending, printed, named, report };
    let lone = run.lone_small(&sizes);
    let mut inputs = job.inputs.iter().cloned().chain(later);
    if only_size {
        run.by_size(&mut inputs)?;
    } else if let Some(path) = lone {
        run.whole(path)?;
    } else {
        run.by_reading(&mut inputs, &sizes, progress)?;
    }
    run.finish()
}

impl<'a> Run<'a> {
    /// Adds the next input and returns its number.
    fn add(&mut self, input: Input) -> usize {
        self.named += usize::from(!matches!(input, Input::Unlisted(_)));
        self.pending.push_back(Pending { input, outcome: None });
        self.printed + self.pending.len() - 1
    }

    fn by_size(&mut self, inputs: &mut dyn Iterator<Item = Input>) -> io::Result<()> {
        for input in inputs {
            let index = self.add(input.clone());
            let counted = match input {
                Input::Path(path) => match File::open(path) {
                    Ok(mut file) => {
                        size::bytes_of(&mut file, Some(0)).map_err(|error| (error, true))
                    }
                    Err(error) => Err((error, false)),
                },
                Input::Standard { .. } => standard_input()
                    .and_then(|mut file| size::bytes_of(&mut file, None))
                    .map_err(|error| (error, true)),
                Input::Wrong(_) | Input::Unlisted(_) => {
                    self.print_ended()?;
                    continue;
                }
            };
            let outcome = match counted {
                Ok(bytes) => {
                    let counts = Counts { bytes, characters: bytes, ..Counts::default() };
                    Outcome::Counted { counts, skipped: 0, unknown: false }
                }
                Err((error, opened)) => {
                    let counted = opened.then(Counts::default);
                    Outcome::Failed { message: self.complaint(index, &words(&error)), counted }
                }
            };
            self.end(index, outcome)?;
        }
        Ok(())
    }

    /// The path of the only input if it is a small file, for which no order of reading pays.
    fn lone_small(&self, sizes: &[Size]) -> Option<&'a Path> {
        let job = self.job;
        match (&job.inputs[..], sizes) {
            ([Input::Path(path)], [Size::Bytes(0..CHUNK)])
                if job.aligned && !job.cached_only && !job.statistics && job.hold_bytes == 0 =>
            {
                Some(path)
            }
            _ => None,
        }
    }

    /// Counts the only file from its first byte to its last.
    fn whole(&mut self, path: &Path) -> io::Result<()> {
        let index = self.add(Input::Path(path.to_owned()));
        let outcome = match File::open(path) {
            Ok(file) => {
                let mut pieces = Pieces::default();
                let read = each_piece(file, |offset, bytes| {
                    pieces.add(offset, bytes, self.job.wanted, self.charset);
                });
                let counts = pieces.counts();
                match read {
                    Ok(()) => Outcome::Counted { counts, skipped: 0, unknown: false },
                    Err(error) => {
                        let message = self.complaint(index, &words(&error));
                        Outcome::Failed { message, counted: Some(counts) }
                    }
                }
            }
            Err(error) => {
                Outcome::Failed { message: self.complaint(index, &words(&error)), counted: None }
            }
        };
        self.end(index, outcome)
    }

    fn by_reading(
        &mut self,
        inputs: &mut dyn Iterator<Item = Input>,
        sizes: &[Size],
        progress: &mut dyn FnMut(u64, u64),
    ) -> io::Result<()> {
        let mut reader = self.reader(sizes);
        let mut counting = Counting::new();
        let all =
            sizes.iter().map(|size| if let Size::Bytes(bytes) = size { *bytes } else { 0 }).sum();
        let (mut standard, mut more, mut done) = (false, true, 0);
        loop {
            while more && self.pending.len() < PENDING_MAX {
                match inputs.next() {
                    Some(input) => {
                        let index = self.add(input);
                        if let Some(file) = self.open(index, &mut reader, &mut standard) {
                            counting.insert(file, (index, Pieces::default()));
                        }
                    }
                    None => more = false,
                }
            }
            self.print_ended()?;
            let event = match reader.next() {
                Some(event) => event,
                None if more => continue,
                None => break,
            };
            let bytes = self.take(event, &mut counting)?;
            if bytes > 0 {
                done += bytes;
                progress(done, all);
            }
        }
        let statistics = reader.statistics();
        self.report.statistics = Statistics {
            bytes: statistics.bytes,
            resident_bytes: statistics.resident_bytes,
            held_bytes: statistics.held_bytes,
        };
        Ok(())
    }

    /// The reader for inputs of these sizes.
    fn reader(&self, sizes: &[Size]) -> Reader {
        let Job { plan, cached_only, hold_bytes, aligned, .. } = *self.job;
        let chunk_bytes = if aligned { chunk_bytes(sizes) } else { CHUNK as usize };
        Reader::new(Options {
            records: Records::None,
            plan,
            cached_only,
            chunk_bytes,
            hold_bytes,
            holes: true,
            ..Options::default()
        })
    }

    /// Counts what the reader hands out. Returns how many bytes that is.
    fn take(&mut self, event: Event<'_>, counting: &mut Counting) -> io::Result<u64> {
        let wanted = self.job.wanted;
        match event {
            Event::Chunk(chunk) => {
                if let Some((_, pieces)) = counting.get_mut(&chunk.file) {
                    pieces.add(chunk.offset, chunk.bytes, wanted, self.charset);
                }
                return Ok(chunk.bytes.len() as u64);
            }
            Event::Hole { file, offset, bytes, .. } => {
                if let Some((_, pieces)) = counting.get_mut(&file) {
                    pieces.add_zeros(offset, bytes, wanted, self.charset);
                }
                return Ok(bytes);
            }
            Event::Restart { file } => {
                if let Some((_, pieces)) = counting.get_mut(&file) {
                    *pieces = Pieces::default();
                }
            }
            Event::End { file, skipped, unknown, .. } => {
                let Some((index, counted)) = counting.remove(&file) else { return Ok(0) };
                let outcome = match counted.whole() || skipped > 0 {
                    true => Outcome::Counted { counts: counted.counts(), skipped, unknown },
                    false => {
                        let what = "bytes are missing in the middle: count it again with --linear";
                        Outcome::Failed { message: self.complaint(index, what), counted: None }
                    }
                };
                self.end(index, outcome)?;
            }
            Event::Failed { file, error } => {
                let Some((index, pieces)) = counting.remove(&file) else { return Ok(0) };
                let what = error.io_error().map_or_else(|| error.reason().to_owned(), words);
                let counted = (error.kind() != ErrorKind::Open).then(|| pieces.counts());
                let message = self.complaint(index, &what);
                self.end(index, Outcome::Failed { message, counted })?;
            }
        }
        Ok(0)
    }

    /// Gives an input to the reader and returns the reader's number. If there is nothing to read,
    /// records the outcome and returns `None`.
    fn open(&mut self, index: usize, reader: &mut Reader, standard: &mut bool) -> Option<usize> {
        match &self.pending[index - self.printed].input {
            Input::Path(path) => Some(reader.add_path(path)),
            Input::Standard { .. } => match standard_input() {
                // Standard input was read to its end already. A second read finds nothing, or fails
                // again.
                Ok(mut file) if *standard => {
                    let counts = Counts::default();
                    let folder = file.metadata().is_ok_and(|data| data.is_dir());
                    let outcome = match if folder { file.read(&mut [0]) } else { Ok(0) } {
                        Ok(_) => Outcome::Counted { counts, skipped: 0, unknown: false },
                        Err(error) => {
                            let message = self.complaint(index, &words(&error));
                            Outcome::Failed { message, counted: Some(counts) }
                        }
                    };
                    self.pending[index - self.printed].outcome = Some(outcome);
                    None
                }
                Ok(file) => {
                    *standard = true;
                    Some(reader.add_file(Path::new("standard input"), file))
                }
                Err(error) => {
                    let message = self.complaint(index, &words(&error));
                    let outcome = Outcome::Failed { message, counted: Some(Counts::default()) };
                    self.pending[index - self.printed].outcome = Some(outcome);
                    None
                }
            },
            Input::Wrong(_) | Input::Unlisted(_) => None,
        }
    }

    /// Records the outcome of an input, and prints all lines whose turn it is.
    fn end(&mut self, index: usize, outcome: Outcome) -> io::Result<()> {
        self.pending[index - self.printed].outcome = Some(outcome);
        self.print_ended()
    }

    fn print_ended(&mut self) -> io::Result<()> {
        let known = |next: &Pending| {
            matches!(next.input, Input::Wrong(_) | Input::Unlisted(_)) || next.outcome.is_some()
        };
        while self.pending.front().is_some_and(known) {
            let Some(Pending { input, outcome }) = self.pending.pop_front() else { break };
            self.printed += 1;
            match (input, outcome) {
                (Input::Wrong(message) | Input::Unlisted(message), _) => {
                    self.report.complete = false;
                    self.complain(&message)?;
                }
                (_, None) => {}
                (input, Some(Outcome::Counted { counts, skipped, unknown })) => {
                    self.print(&input, counts, skipped)?;
                    if skipped > 0 {
                        self.report.complete = false;
                        let why = if unknown { "not known to be cached" } else { "not cached" };
                        let what = format!("{skipped} bytes skipped: {why}");
                        let message = complaint(&input, &what, self.charset);
                        self.complain(&message)?;
                    }
                }
                (input, Some(Outcome::Failed { message, counted })) => {
                    self.report.complete = false;
                    self.complain(&message)?;
                    if let Some(counts) = counted {
                        self.print(&input, counts, 0)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn print(&mut self, input: &Input, counts: Counts, skipped: u64) -> io::Result<()> {
        let name = match input {
            Input::Path(path) => Some(path.as_path()),
            Input::Standard { named: true } => Some(Path::new("-")),
            _ => None,
        };
        self.report.total.add(&counts);
        if self.job.quiet {
            self.report.files.push(Figures { name: name.map(Path::to_owned), counts, skipped });
        }
        if self.job.quiet || self.job.total == Total::Only {
            return Ok(());
        }
        print::line(self.out, &counts, self.job.wanted, self.width, name, self.charset)
    }

    fn finish(mut self) -> io::Result<Report> {
        self.print_ended()?;
        let shown = match self.job.total {
            Total::Auto => self.named > 1,
            Total::Always | Total::Only => true,
            Total::Never => false,
        };
        if shown && !self.job.quiet {
            let name = (self.job.total != Total::Only).then_some(Path::new("total"));
            print::line(
                self.out,
                &self.report.total,
                self.job.wanted,
                self.width,
                name,
                self.charset,
            )?;
        }
        self.out.flush()?;
        Ok(self.report)
    }

    fn complaint(&mut self, index: usize, what: &str) -> String {
        complaint(&self.pending[index - self.printed].input, what, self.charset)
    }

    fn complain(&mut self, message: &str) -> io::Result<()> {
        self.out.flush()?;
        writeln!(self.errors, "wc: {message}")
    }
}

/// A message about an input, named as the GNU tools name it.
fn complaint(input: &Input, what: &str, charset: &mut Charset) -> String {
    let name = match input {
        Input::Path(path) => path.as_os_str().as_bytes(),
        Input::Standard { named: true } => b"-",
        _ => b"standard input",
    };
    // A quoted name is valid UTF-8, except for characters that the locale accepts and std rejects.
    let name = quote::name(name, charset);
    format!("{}: {what}", String::from_utf8_lossy(&name))
}

/// Calls `with` for each piece of a file, from its first byte on.
fn each_piece(mut file: File, mut with: impl FnMut(u64, &[u8])) -> io::Result<()> {
    let mut buffer = [0; 32 << 10];
    let mut offset = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                with(offset, &buffer[..read]);
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn standard_input() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

fn sizes(inputs: &[Input]) -> Vec<Size> {
    let size = |input: &Input| match input {
        Input::Path(path) => Size::of(std::fs::metadata(path)),
        Input::Standard { .. } => Size::of(standard_input().and_then(|file| file.metadata())),
        Input::Wrong(_) | Input::Unlisted(_) => Size::Failed,
    };
    inputs.iter().map(size).collect()
}

/// The chunk size: enough for the largest file and its end, but no more than fits in the
/// processor's cache.
fn chunk_bytes(sizes: &[Size]) -> usize {
    let largest = sizes.iter().map(|size| match size {
        Size::Bytes(bytes) => bytes.saturating_add(1),
        Size::Unknown => CHUNK,
        Size::Failed => 0,
    });
    largest.max().unwrap_or(0).clamp(CHUNK_LEAST, CHUNK) as usize
}
