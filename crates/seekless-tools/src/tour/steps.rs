//! The steps of the tour, one function each. A step does its work, and reports the commands that a
//! user would type and the result.

use super::layout::{Seeks, seeks};
use super::local;
use super::options::Options;
use super::recording::{import_run, record_run, write_list};
use super::report::{Event, Step, Tour};
use super::sample::Sample;
use super::session::{RUNS, session};
use super::tree::write_tree;
use crate::advise::{Advice, advise};
use crate::compare::{self, Comparison, compare};
use crate::pack;
use seekless_device::median_of;
use seekless_device::units::{counted, format_bytes, format_count};
use seekless_job::{Error, ErrorKind, Result};
use seekless_trace::Loads;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Walks all steps.
pub(crate) fn walk(
    directory: &Path,
    options: &Options,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Tour> {
    let directory = directory.canonicalize().map_err(|error| {
        Error::because(ErrorKind::Io, format!("cannot open folder {}", directory.display()), error)
    })?;
    let sample = Sample::new(options.files);
    let mut guide = Guide { directory, options, sample, steps: Vec::new(), tell };
    let advice = guide.advise()?;
    guide.make_tree()?;
    let recorded = guide.record()?;
    let seeks = guide.pack()?;
    let comparison = guide.compare()?;
    Ok(Tour {
        steps: guide.steps,
        advice,
        files: guide.sample.paths.len() as u64,
        bytes: guide.sample.total_bytes(),
        recorded,
        seeks,
        comparison,
    })
}

struct Guide<'a> {
    directory: PathBuf,
    options: &'a Options,
    sample: Sample,
    steps: Vec<Step>,
    tell: &'a mut dyn FnMut(Event<'_>),
}

impl Guide<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn trace(&self, run: usize) -> PathBuf {
        self.path(&format!("run{}.parquet", run + 1))
    }

    /// All runs but the last.
    fn training(&self) -> Vec<PathBuf> {
        (0..RUNS - 1).map(|run| self.trace(run)).collect()
    }

    fn said(&mut self, title: &str, commands: &[&str], found: String) {
        let commands = commands.iter().map(ToString::to_string).collect();
        let step = Step { title: title.to_owned(), commands, found };
        (self.tell)(Event::Step(&step));
        self.steps.push(step);
    }

    /// Finds out what a program of this machine waits for. The tour goes on where that is refused.
    fn advise(&mut self) -> Result<Option<Advice>> {
        let Some((options, words)) = self.options.advise.as_ref().zip(local::program()) else {
            return Ok(None);
        };
        let (what, total) = ("Starting a program", 8 + 2 * options.runs as u64);
        let (mut done, tell) = (0, &mut self.tell);
        let advised = advise(&words, options, &mut |_| {
            done += 1;
            tell(Event::Progress { what, done: done.min(total), total });
        });
        let (advice, found) = match advised {
            Ok(advice) => (Some(advice.clone()), local::found(&advice)),
            Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
            Err(error) => (None, format!("That is not possible here: {error}.")),
        };
        let title = "Find out what a program of this machine waits for, on its own disk";
        self.said(title, &[&local::command(&words)], found);
        Ok(advice)
    }

    /// Writes the sample's files.
    fn make_tree(&mut self) -> Result<()> {
        let Guide { directory, sample, tell, .. } = self;
        let what = "Making a sample tree";
        write_tree(directory, sample, &mut |done, total| {
            tell(Event::Progress { what, done, total })
        })?;
        let found = format!(
            "{}, {}, in the sizes of a real game: half of them below {}.",
            counted(sample.paths.len() as u64, "file"),
            format_bytes(sample.total_bytes()),
            format_bytes(median_of(sample.bytes.iter().copied()).unwrap_or(0)),
        );
        self.said("Make a sample game", &["seekless synth sample.csv sample"], found);
        Ok(())
    }

    /// Records the runs, or imports them if recording is refused. Returns whether they were
    /// recorded.
    fn record(&mut self) -> Result<bool> {
        let runs: Vec<Vec<usize>> = (0..RUNS).map(|run| session(&self.sample, run)).collect();
        let mut recorded = true;
        for (run, files) in runs.iter().enumerate() {
            let list = self.path(&format!("run{}.txt", run + 1));
            write_list(&list, &self.sample, files)?;
            recorded = recorded
                && record_run(self.options, &self.path("sample"), &list, &self.trace(run))?;
        }
        if !recorded {
            for (run, files) in runs.iter().enumerate() {
                let csv = self.path(&format!("run{}.csv", run + 1));
                import_run(&csv, &self.trace(run), &self.sample, files)?;
            }
        }
        self.said(
            &format!("Record {RUNS} runs of it, on different levels"),
            &[&record_command(recorded)],
            runs_found(&runs, recorded),
        );
        Ok(recorded)
    }

    /// Packs the files in the order that loads all runs but the last fastest, and scores the last.
    fn pack(&mut self) -> Result<Seeks> {
        let training = self.training();
        let (tree, out) = (self.path("sample"), self.path("sample.zip"));
        let device = self.options.device.clone();
        let command = format!(
            "seekless pack sample -o sample.zip --trace {FIRST_TRACES} \\\n     --device {device}"
        );
        let how = pack::OrderBy { device, ..pack::OrderBy::by("best") };
        let tell = &mut self.tell;
        let what = "Packing";
        let mut hear = |done, total| tell(Event::Progress { what, done, total });
        let options = pack::Options::default();
        let packed = pack::pack_for_runs(&tree, &out, &training, &how, &options, &mut hear)?;
        let seeks = seeks(&tree, &self.sample, &out, &read_loads(&[self.trace(RUNS - 1)])?)?;
        let share = |count: u64| 100.0 * count as f64 / seeks.loads.max(1) as f64;
        let found = format!(
            "{} in one Zip of {}, {} of them compressed; unzip and Python can read it. The last run, which the order \
             has not seen, seeks in {:.0} % of its loads if the files lie by name, and in {:.0} % in this order.",
            counted(packed.entries - packed.directories, "file"),
            format_bytes(packed.archive_bytes),
            format_count(packed.deflated + packed.zstd),
            share(seeks.by_name),
            share(seeks.ordered)
        );
        self.said("Pack the files in an order made from the other runs", &[&command], found);
        Ok(seeks)
    }

    /// Loads the last run from the loose files and from the pack.
    fn compare(&mut self) -> Result<Comparison> {
        let loads = read_loads(&[self.trace(RUNS - 1)])?;
        let options = compare::Options {
            device: compare::Device::modelled(self.options.device.clone()),
            rounds: self.options.rounds,
            rivals: Some(self.training()),
            ..compare::Options::default()
        };
        let (tree, pack) = (self.path("sample"), self.path("sample.zip"));
        let tell = &mut self.tell;
        let comparison = compare(&tree, &pack, &loads, &options, &mut |what, done, total| {
            tell(Event::Progress { what, done, total });
        })?;
        let command = format!(
            "seekless compare sample sample.zip --trace run{RUNS}.parquet --device {} --rounds {} \\\n     \
             --rivals {FIRST_TRACES}",
            self.options.device, self.options.rounds
        );
        let found = format!(
            "{} of {}, each side from a cold start: the pack is {:.1} times as fast. The same pack in the order of \
             names and of the newest run shows what of that is the order's.",
            counted(comparison.loads, "load"),
            format_bytes(comparison.bytes),
            comparison.pack().ratio
        );
        self.said(
            "Load the last run on a modelled disk, from the files and from the pack",
            &[&command],
            found,
        );
        Ok(comparison)
    }
}

fn read_loads(traces: &[PathBuf]) -> Result<Loads> {
    Loads::read(traces).map_err(|error| {
        Error::because(ErrorKind::Trace, "cannot read back the sample's traces", error)
    })
}

/// As a shell takes them: all traces but the last.
const FIRST_TRACES: &str = "run[1-4].parquet";
const _: () = assert!(RUNS == 5);

fn record_command(recorded: bool) -> String {
    let each = match recorded {
        true => "seekless record -o run$i.parquet -- seekless __tour-reader sample run$i.txt",
        false => "seekless trace import --format csv run$i.csv -o run$i.parquet",
    };
    format!("for i in 1 2 3 4 5; do {each}; done")
}

fn runs_found(runs: &[Vec<usize>], recorded: bool) -> String {
    let counts: Vec<String> = runs.iter().map(|run| run.len().to_string()).collect();
    let last = runs.last().map_or(&[][..], Vec::as_slice);
    let known: HashSet<usize> = runs.iter().rev().skip(1).flatten().copied().collect();
    let new = last.iter().filter(|file| !known.contains(file)).count();
    let how = if recorded { "" } else { "Recording is refused here, so the runs were imported: " };
    format!(
        "{how}{} loads; {:.0} % of the last run's files are in none of the others.",
        counts.join(", "),
        100.0 * new as f64 / last.len().max(1) as f64
    )
}
