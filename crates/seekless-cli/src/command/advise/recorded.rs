//! `seekless advise --once` and `--service`: a program is recorded once, and the advice is as from
//! a trace.

use super::{Args, traced};
use crate::exit;
use crate::interrupt;
use crate::output::{self, Html, Words};
use anyhow::{Context, bail};
use seekless::record::{self, Limits, Options as Recording, Recorded, Status};
use seekless::tools::advise::quoted;
use seekless::tools::advise::traced::{Basis, Options, TraceAdvice, advise_traces};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tempfile::TempDir;

/// What commands call a recording that is not kept.
const NOT_KEPT: &str = "run.parquet";

/// Where the recording goes: to a file of the user, or to a folder that is removed.
struct Place {
    path: PathBuf,
    folder: Option<TempDir>,
}

impl Place {
    fn new(args: &Args) -> anyhow::Result<Self> {
        if let Some(path) = &args.output {
            return Ok(Self { path: path.clone(), folder: None });
        }
        let folder = tempfile::Builder::new().prefix("seekless-advise.").tempdir();
        let folder = folder.context("there is no temporary folder to record into")?;
        Ok(Self { path: folder.path().join(NOT_KEPT), folder: Some(folder) })
    }

    /// What commands call it.
    fn called(&self) -> String {
        match &self.folder {
            None => self.path.to_string_lossy().into_owned(),
            Some(_) => NOT_KEPT.to_owned(),
        }
    }
}

/// Records the program as the user starts it, says what its wait would be, and ends as it did.
pub(super) fn once(args: &Args) -> anyhow::Result<ExitCode> {
    let html = args.html.begin(args.force)?;
    let place = Place::new(args)?;
    let options = recording(args);
    let recorded = record::record(&args.command[0], &args.command[1..], &place.path, &options);
    let recorded = match recorded {
        Ok(recorded) => recorded,
        Err(error) => {
            let code = error.exit_code();
            let _ = exit::failure(&error.into()); // prints it
            return Ok(ExitCode::from(code));
        }
    };
    let status = recorded.status;
    // The program has run: its exit status stays, whatever happens to the advice.
    let words: Vec<String> =
        args.command.iter().map(|it| it.to_string_lossy().into_owned()).collect();
    let title = format!("seekless advise --once -- {}", words.join(" "));
    if let Err(error) =
        advise(args, recorded, (&place, Basis::OneRun), (html, &title, Words::Error))
    {
        let _ = exit::failure(&error);
    }
    Ok(end(place, status))
}

/// Removes what is not kept before a signal ends this process too.
fn end(place: Place, status: Status) -> ExitCode {
    drop(place);
    status.imitate()
}

/// Records a program that runs, and says what it waits for.
pub(super) fn service(args: &Args, pid: i32) -> anyhow::Result<ExitCode> {
    let html = args.html.begin(args.force)?;
    let words = Words::beside(html.as_ref().map(Html::destination));
    let place = Place::new(args)?;
    if Path::new("/proc").join(pid.to_string()).exists() {
        args.tell(&format!("recording {pid}; Ctrl-C ends it"));
    }
    let options =
        Recording { limits: Limits { time_ns: Some(args.time_ns), rows: None }, ..recording(args) };
    let recorded = record::record_running(pid, &place.path, &options)?;
    let title = format!("seekless advise --service {pid}");
    advise(args, recorded, (&place, Basis::Service), (html, &title, words))?;
    Ok(ExitCode::SUCCESS)
}

fn recording(args: &Args) -> Recording {
    Recording { force: args.force.is_given(), ..Recording::default() }
}

/// Advises as from a trace.
fn advise(
    args: &Args,
    mut recorded: Recorded,
    (place, basis): (&Place, Basis),
    (html, title, words): (Option<Html>, &str, Words),
) -> anyhow::Result<()> {
    if let Some(error) = recorded.unfinished.take() {
        return Err(error).context("without a whole recording there is no advice");
    }
    let cleaning = match &place.folder {
        Some(folder) => Some(interrupt::remove_when_interrupted(folder.path())?),
        None => None,
    };
    let called = place.called();
    let options =
        Options { basis: Some(basis), called: Some(called.clone()), ..traced::options(args)? };
    let traces = [place.path.clone()];
    let advice = advise_traces(&traces, &options, &mut |what| args.tell(what));
    let advice = match cleaning {
        Some(cleaning) => cleaning.unless_begun(advice)?,
        None => advice?,
    };
    if recorded.summary.accesses == 0 && basis == Basis::OneRun {
        bail!("the recording is empty: the program made no call on a file");
    }
    traced::print(args, &advice, &quoted(&called), words)?;
    if place.folder.is_some() && !args.json && names_recording(&advice) {
        words.text(&format!(
            "\n{NOT_KEPT} is this recording, which is not kept: with -o {NOT_KEPT} it is.\n"
        ))?;
    }
    if recorded.summary.lost > 0 {
        output::say(format_args!(
            "{} calls were lost, so the wait is longer",
            recorded.summary.lost
        ));
    }
    traced::write(html, &advice, title)
}

/// Whether one of the printed commands takes the recording.
fn names_recording(advice: &TraceAdvice) -> bool {
    let takes = |command: &String| command.contains(NOT_KEPT);
    let files = match advice {
        TraceAdvice::Files(files) => Some(&**files),
        TraceAdvice::Service(service) => service.files.as_ref(),
        TraceAdvice::Cache(_) => None,
    };
    let is_cached = match advice {
        TraceAdvice::Service(service) => service.cache.is_some(),
        other => matches!(other, TraceAdvice::Cache(_)),
    };
    let measures = files.into_iter().flat_map(|files| &files.measures);
    is_cached || measures.flat_map(|it| &it.commands).any(takes)
}
