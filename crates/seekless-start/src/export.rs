//! Lists of what starts of a program need, for tools that prefetch or lay out files themselves:
//! image builders, lazy-loading snapshotters, network file systems.

mod candidates;
mod choose;
mod format;
mod forms;
mod job;
mod samples;
mod score;
#[cfg(test)]
mod tests;

use candidates::Candidates;
pub use choose::Listed;
use choose::choose;
pub use format::{Format, Order};
pub use score::{HeldOut, Learned, Score};
use seekless_job::ranges::total;
use seekless_job::roots::Root;
use seekless_job::{Error, ErrorKind, Result};
use seekless_sys::output::Destination;
use seekless_trace::{Needs, import};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What to list, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// For which tool.
    pub format: Format,
    /// The folder that the tool serves: where the traces saw it, and where it lies here.
    pub root: Root,
    /// At most this many bytes: the list ends before the first file that does not fit.
    pub budget_bytes: Option<u64>,
    /// Only files that this many runs need.
    pub min_runs: u32,
    /// In which order. `None` is what suits the format.
    pub order: Option<Order>,
    /// The files are not here: believe the names and sizes of the traces.
    pub unchecked: bool,
    /// Also rate the list on runs that it was not made from.
    pub score: bool,
    /// Stops the job when it is set.
    pub cancel: Arc<AtomicBool>,
}

impl Options {
    /// Everything that the runs need, for one tool, by its full path.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self {
            format,
            root: Root { old: "/".into(), new: "/".into() },
            budget_bytes: None,
            min_runs: 1,
            order: None,
            unchecked: false,
            score: false,
            cancel: Arc::default(),
        }
    }
}

/// What was listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Exported {
    /// The format's name.
    pub format: &'static str,
    /// Runs that the list was made from.
    pub runs: u64,
    /// Files of the list.
    pub files: u64,
    /// Bytes of the list: of whole files, or of ranges where the format has them.
    pub bytes: u64,
    /// Bytes of these that the runs needed.
    pub needed_bytes: u64,
    /// Files that the runs needed and the list leaves out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// The first file of the list, below the root.
    pub first: Option<String>,
    /// How the list does on runs that it was not made from, if that was asked for.
    pub score: Option<Score>,
}

/// Makes the list of what the runs of `sources` needed (traces in any format that can be imported,
/// the last run being the newest), and writes it to `out`, if there is one, in an [`Order`].
/// `progress` is called with the bytes written and all bytes, by formats that hold the files'
/// content.
///
/// # Errors
/// A source cannot be read, names no file that the list can hold, has a single run to be scored, or
/// the output cannot be written. A single file that cannot be listed is counted with its reason.
pub fn export(
    sources: &[PathBuf],
    out: Option<&Destination>,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Exported> {
    if let Some(out) = out {
        out.check(options.format.content())?;
    }
    let reading = import::Options { cancel: options.cancel.clone(), ..import::Options::default() };
    let needs = Needs::read_with(sources, &reading).map_err(unreadable)?;
    let candidates = Candidates::of(&needs, options);
    let runs: Vec<&[_]> = candidates.runs.iter().map(Vec::as_slice).collect();
    let rule = choose::Rule::of(options);
    let mut chosen = choose(&candidates.files, &runs, &rule);
    if options.format.keeps_samples(&chosen.listed) {
        chosen.listed = samples::together(chosen.listed);
    }
    if chosen.listed.is_empty() {
        return Err(nothing(sources, options, &candidates.left_out));
    }
    let score = match options.score {
        true => Some(score::score(&candidates, &rule)?),
        false => None,
    };
    let mut exported = Exported {
        format: options.format.name(),
        runs: runs.iter().filter(|run| !run.is_empty()).count() as u64,
        left_out: candidates.left_out,
        score,
        ..Exported::default()
    };
    exported.count(&chosen, options);
    if let Some(out) = out {
        let mut output = out.create(options.format.content())?;
        let job = job::Job { listed: &chosen.listed, options, path: out.path() };
        let unread = job.write(&mut output, progress)?;
        exported.forget(&unread);
        output.publish()?;
    }
    Ok(exported)
}

impl Exported {
    fn count(&mut self, chosen: &choose::Chosen, options: &Options) {
        let ranges = options.format.has_ranges();
        self.files = chosen.listed.len() as u64;
        self.bytes = total(chosen.listed.iter().map(|file| file.listed_bytes(ranges)));
        self.needed_bytes = total(chosen.listed.iter().map(Listed::needed_bytes));
        self.first =
            chosen.listed.first().map(|file| String::from_utf8_lossy(&file.name).into_owned());
        let reasons = [("needed by too few runs", chosen.rare), ("over the budget", chosen.over)];
        for (why, files) in reasons.into_iter().filter(|(_, files)| *files > 0) {
            *self.left_out.entry(why).or_default() += files;
        }
    }

    /// Takes out files that could not be read when their turn came.
    fn forget(&mut self, unread: &[&Listed]) {
        for file in unread {
            self.files -= 1;
            self.bytes -= file.file_bytes;
            self.needed_bytes -= file.needed_bytes();
            *self.left_out.entry("not readable").or_default() += 1;
        }
    }
}

fn unreadable(error: seekless_trace::Error) -> Error {
    match error.kind() {
        seekless_trace::ErrorKind::Interrupted => {
            Error::new(ErrorKind::Interrupted, "reading the traces was interrupted")
        }
        _ => Error::because(ErrorKind::Trace, "what the runs need cannot be read", error),
    }
}

fn nothing(sources: &[PathBuf], options: &Options, left: &BTreeMap<&str, u64>) -> Error {
    let names: Vec<String> = sources.iter().map(|path| path.display().to_string()).collect();
    let reasons: Vec<String> = left.iter().map(|(why, files)| format!("{files} {why}")).collect();
    let why = match reasons.is_empty() {
        true => {
            "no reads, faults or loads of files, or a budget smaller than the first file".into()
        }
        false => format!("files left out: {}", reasons.join(", ")),
    };
    let message = format!(
        "{} names nothing to list below {}: {why}; see `seekless trace files`",
        names.join(", "),
        options.root.old
    );
    Error::new(ErrorKind::Missing, message)
}
