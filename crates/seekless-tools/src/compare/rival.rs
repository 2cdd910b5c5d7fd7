//! The rivals as workloads that take turns.

use super::loose;
use super::options::{Device, Options};
use super::packed::{self, Pack};
use super::plan::{Plan, Tell};
use super::survey::Survey;
use seekless_engine::{Clock, Counters};
use seekless_job::{Error, ErrorKind, Result};
use seekless_measure::{
    BoxError, Checksum, Coldness, Dropping, Figures, Slowed, Trial, Workload,
    alternate_with_progress, make_cold,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What the tables call the baseline.
const LOOSE: &str = "loose files, on demand";

/// A pack that takes part, and what the tables call it.
pub(crate) struct Side {
    pub(crate) name: String,
    pub(crate) pack: Pack,
}

/// Runs the loose files and each pack's two ways in turn; the loose files are the baseline.
pub(crate) fn alternate(
    plan: &Plan,
    survey: &Survey,
    sides: &[Side],
    options: &Options,
    slowed: Option<&Slowed>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Figures>> {
    let names = &plan.names();
    let about = Trials { options, slowed, dropping: options.dropping(), loads: plan.loads.len() };
    let loose = move |clock: &Clock, tell: &mut Tell<'_>| {
        let charge = match &options.device {
            Device::Modelled { spec, .. } => Some(loose::Charge::new(survey, spec, clock.clone())),
            _ => None,
        };
        loose::load_all(plan, charge, tell)
    };
    let mut rivals = vec![about.rival(LOOSE.to_owned(), plan.paths(), Box::new(loose))];
    for Side { name, pack } in sides {
        let files = pack.files();
        let demand = move |clock: &Clock, tell: &mut Tell<'_>| {
            packed::load_on_demand(pack, plan, options, clock, tell)
        };
        let known = move |clock: &Clock, tell: &mut Tell<'_>| {
            packed::load_known(pack, names, options, clock, tell)
        };
        rivals.push(about.rival(format!("{name}, on demand"), files.clone(), Box::new(demand)));
        rivals.push(about.rival(format!("{name}, list known"), files, Box::new(known)));
    }
    let mut workloads: Vec<&mut dyn Workload> =
        rivals.iter_mut().map(|rival| rival as &mut dyn Workload).collect();
    let figures = alternate_with_progress(&mut workloads, options.rounds as usize, progress);
    if options.cancel.load(Ordering::Relaxed) {
        return Err(interrupted());
    }
    figures.map_err(|error| Error::because(ErrorKind::Measure, "the comparison ended early", error))
}

/// What the trials of all rivals share.
#[derive(Clone, Copy)]
struct Trials<'a> {
    options: &'a Options,
    slowed: Option<&'a Slowed>,
    dropping: Dropping,
    loads: usize,
}

impl<'a> Trials<'a> {
    fn rival(self, name: String, files: Vec<PathBuf>, load: Load<'a>) -> Rival<'a> {
        Rival { name, files, trials: self, load }
    }
}

type Load<'a> = Box<dyn FnMut(&Clock, &mut Tell<'_>) -> Result<(Checksum, Counters)> + 'a>;

/// One way to load the plan: what it reads, and how.
struct Rival<'a> {
    name: String,
    files: Vec<PathBuf>,
    trials: Trials<'a>,
    load: Load<'a>,
}

impl Rival<'_> {
    /// Loads once, from a clock that begins now.
    fn load(&mut self, progress: &mut dyn FnMut(f64)) -> Result<(Duration, Checksum, Counters)> {
        let Trials { options, loads, .. } = self.trials;
        let mut heard = 0;
        let mut tell = |done: usize| {
            // A bar moves at most so often.
            if done >= heard {
                heard = done + loads / 500 + 1;
                progress(done as f64 / loads as f64);
            }
            stop_if(&options.cancel)
        };
        let clock = options.device.clock();
        let (delivered, counters) = (self.load)(&clock, &mut tell)?;
        Ok((Duration::from_nanos(clock.now()), delivered, counters))
    }
}

impl Workload for Rival<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn make_cold(&mut self) -> std::result::Result<Coldness, BoxError> {
        stop_if(&self.trials.options.cancel)?;
        Ok(make_cold(&self.files, self.trials.dropping)?)
    }

    fn run(&mut self, progress: &mut dyn FnMut(f64)) -> std::result::Result<Trial, BoxError> {
        let Some(slowed) = self.trials.slowed else {
            let (elapsed, delivered, counters) = self.load(progress)?;
            let trial = Trial::ended(elapsed, delivered);
            return Ok(if counters.exact {
                trial.served(counters.requests, counters.bytes)
            } else {
                trial
            });
        };
        let (loaded, served) = slowed.during(|| self.load(progress))?;
        let (elapsed, delivered, _) = loaded?;
        Ok(Trial::ended(elapsed, delivered).served(served.requests, served.bytes))
    }
}

fn stop_if(cancel: &AtomicBool) -> Result<()> {
    if cancel.load(Ordering::Relaxed) { Err(interrupted()) } else { Ok(()) }
}

fn interrupted() -> Error {
    Error::new(
        ErrorKind::Interrupted,
        "the comparison was interrupted; what it made or changed is put back",
    )
}
