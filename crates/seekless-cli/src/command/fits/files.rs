//! The files of a run: one, or those of a list, whose results go to a folder. What must be recalled
//! from an archive comes last, and what is beyond a bound of the user's is left out and named.

use super::Common;
use crate::{exit, interrupt, output};
use anyhow::{Context, bail};
use seekless::device::units::{counted, format_bytes};
use seekless::fits::{Reading, Selector};
use seekless::read::{WholeFile, WholeFiles};
use serde::Serialize;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The exit code when a file was left out.
const LEFT_OUT: u8 = 1;

/// One file to work on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// The FITS file.
    pub(super) input: PathBuf,
    /// Which of its images.
    pub(super) hdu: Selector,
    /// The file to write.
    pub(super) output: PathBuf,
}

/// A tool: what it does with one file, and what it says about it.
pub(super) trait Tool {
    type Report: Serialize;
    fn run(&self, task: &Task) -> seekless::fits::Result<Self::Report>;
    fn reading(report: &Self::Report) -> &Reading;
    fn text(output: &Path, report: &Self::Report) -> String;
}

/// A file of a list, in JSON.
#[derive(Serialize)]
struct Line<'a, R> {
    #[serde(serialize_with = "seekless::job::in_json::path")]
    file: &'a Path,
    #[serde(serialize_with = "seekless::job::in_json::path")]
    output: &'a Path,
    /// `None` if it was left out, or failed.
    #[serde(flatten)]
    report: Option<R>,
    skipped_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Works on INFILE, or on all files of a list.
pub(super) fn work(
    common: &Common,
    (input, output): (&Path, &Path),
    tool: &impl Tool,
) -> anyhow::Result<ExitCode> {
    match listed(input) {
        None => Work { common, tool, is_list: false }.all(&[common.task(input, output)?]),
        Some(list) => Work { common, tool, is_list: true }.all(&tasks(common, list, output)?),
    }
}

/// The list that `@LIST` names. A file of just that name is meant itself.
fn listed(input: &Path) -> Option<&Path> {
    let list = input.as_os_str().as_bytes().strip_prefix(b"@").filter(|list| !list.is_empty())?;
    (!input.exists()).then(|| Path::new(OsStr::from_bytes(list)))
}

/// The files of a list, a name a line, each with its result in `folder`.
fn tasks(common: &Common, list: &Path, folder: &Path) -> anyhow::Result<Vec<Task>> {
    if !folder.is_dir() {
        bail!("{}: for a list of files, OUTFILE must be a folder", output::shown(folder));
    }
    let names = std::fs::read(list).with_context(|| output::shown(list).into_owned())?;
    let mut made: HashMap<OsString, PathBuf> = HashMap::new();
    let mut tasks = Vec::new();
    for name in names.split(|&byte| byte == b'\n').filter(|name| !name.is_empty()) {
        let mut task = common.task(Path::new(OsStr::from_bytes(name)), folder)?;
        let Some(base) = task.input.file_name().map(OsStr::to_owned) else {
            bail!("{}: {} names no file", output::shown(list), output::shown(&task.input));
        };
        if let Some(other) = made.insert(base.clone(), task.input.clone()) {
            bail!(
                "{}: {} and {} would both be written to {}: make two lists",
                output::shown(list),
                output::shown(&other),
                output::shown(&task.input),
                output::shown(&folder.join(&base))
            );
        }
        task.output = folder.join(base);
        tasks.push(task);
    }
    Ok(tasks)
}

struct Work<'a, T> {
    common: &'a Common,
    tool: &'a T,
    /// Whether a file's failure leaves the others to be worked on.
    is_list: bool,
}

/// What came of all files.
#[derive(Default)]
struct Outcome {
    left_out: u64,
    left_out_bytes: u64,
    failed: u64,
}

impl<T: Tool> Work<'_, T> {
    fn all(&self, tasks: &[Task]) -> anyhow::Result<ExitCode> {
        let paths = tasks.iter().map(|task| task.input.clone()).collect();
        let files = WholeFiles::new(paths, self.common.reach()).in_order(self.common.plan());
        let (mut outcome, mut lines) = (Outcome::default(), Vec::new());
        for file in files {
            let (number, done) = match file {
                WholeFile::LeftOut { number, bytes, unknown } => {
                    self.leave_out(&tasks[number], bytes, unknown, &mut outcome);
                    lines.push(line(&tasks[number], None, bytes, None));
                    continue;
                }
                WholeFile::Failed { number, error } => (number, Err(error.into())),
                WholeFile::Ready { number, held } => {
                    let done = interrupt::finished(self.tool.run(&tasks[number])).transpose();
                    drop(held); // from now on it may be archived again
                    let Some(done) = done else { return Ok(interrupt::exit_code()) };
                    (number, done)
                }
            };
            match done {
                Ok(report) => {
                    self.print(&tasks[number], &report)?;
                    lines.push(line(&tasks[number], Some(report), 0, None));
                }
                Err(error) if !self.is_list => return Err(error),
                Err(error) => {
                    outcome.failed += 1;
                    let _ = exit::failure(&error); // says it
                    lines.push(line(&tasks[number], None, 0, Some(format!("{error:#}"))));
                }
            }
        }
        if self.common.json && self.is_list {
            output::json(&lines)?;
        }
        self.conclude(tasks.len(), &outcome)
    }

    fn leave_out(&self, task: &Task, bytes: u64, unknown: bool, outcome: &mut Outcome) {
        outcome.left_out += 1;
        outcome.left_out_bytes += bytes;
        let why = self.common.reach().why(unknown);
        output::say(format!("{}: {bytes} bytes skipped: {why}", output::shown(&task.input)));
    }

    fn print(&self, task: &Task, report: &T::Report) -> anyhow::Result<()> {
        if self.common.stats {
            output::note(&(super::statistics(T::reading(report)) + "\n"));
        }
        match (self.common.json, self.is_list) {
            (true, true) => Ok(()), // all of them together
            (true, false) => output::json(report),
            (false, _) => output::text(&T::text(&task.output, report)),
        }
    }

    fn conclude(&self, files: usize, outcome: &Outcome) -> anyhow::Result<ExitCode> {
        if self.is_list && outcome.left_out > 0 {
            let all = counted(files as u64, "file");
            let bytes = format_bytes(outcome.left_out_bytes);
            output::say(format!("{} of {all} left out, {bytes}", outcome.left_out));
        }
        Ok(match outcome {
            Outcome { failed: 1.., .. } => ExitCode::from(exit::ERROR),
            Outcome { left_out: 1.., .. } => ExitCode::from(LEFT_OUT),
            _ => ExitCode::SUCCESS,
        })
    }
}

fn line<R>(
    task: &Task,
    report: Option<R>,
    skipped_bytes: u64,
    error: Option<String>,
) -> Line<'_, R> {
    Line { file: &task.input, output: &task.output, report, skipped_bytes, error }
}
