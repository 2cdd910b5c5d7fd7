//! Counts all inputs and prints one line for each. Inputs finish in any order; lines are printed in
//! the order of the arguments.

mod lines;
mod reading;

use super::charset::Charset;
use super::pieces::Pieces;
use super::print::{self, Size};
use super::{Counts, Wanted, size};
use crate::words::words;
use seekless_read::{Plan, Reach};
use seekless_sled::Surveyor;
use seekless_sys::inherited::is_closed;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
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
    /// How far to go for the bytes.
    pub reach: Reach,
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
        /// Whether the system could not say if the skipped bytes are cached.
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
    /// The sums that are beyond 64 bits.
    beyond: Wanted,
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
    let (pending, printed, named, beyond) = (VecDeque::new(), 0, 0, Wanted::default());
    let mut run = Run { job, charset, out, errors, width, pending, printed, named, beyond, report };
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
        // Where the rules cannot be read, any file is opened.
        let mut rules = Surveyor::if_ruled().ok().flatten();
        let mut closed = |path: &Path| {
            match rules.as_mut()?.closed(path) {
                Ok(survey) => Some(survey?.bytes),
                // It is archived, and where there does not matter for its size.
                Err(error) if error.kind() == seekless_sled::ErrorKind::Position => {
                    std::fs::metadata(path).ok().map(|about| about.len())
                }
                Err(_) => None,
            }
        };
        for input in inputs {
            let index = self.add(input.clone());
            let counted = match input {
                Input::Path(path) => match closed(&path) {
                    Some(bytes) => Ok(bytes),
                    None => size_of(&path),
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
                if job.aligned
                    && !job.reach.is_bounded()
                    && !job.statistics
                    && job.hold_bytes == 0 =>
            {
                Some(path)
            }
            _ => None,
        }
    }
}

/// The bytes of a file; or an error, and whether the file could be opened.
fn size_of(path: &Path) -> Result<u64, (io::Error, bool)> {
    let mut file = File::open(path).map_err(|error| (error, false))?;
    size::bytes_of(&mut file, Some(0)).map_err(|error| (error, true))
}

fn standard_input() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

fn sizes(inputs: &[Input]) -> Vec<Size> {
    let size = |input: &Input| match input {
        Input::Path(path) => Size::of(std::fs::metadata(path)),
        Input::Standard { .. } if is_closed(rustix::stdio::raw_stdin()) => Size::Failed,
        Input::Standard { .. } => Size::of(standard_input().and_then(|file| file.metadata())),
        Input::Wrong(_) | Input::Unlisted(_) => Size::Failed,
    };
    inputs.iter().map(size).collect()
}
