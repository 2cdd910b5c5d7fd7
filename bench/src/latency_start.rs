//! How long programs take from exec to exit over a file system with latency, such as one over a
//! network, when nothing of it is cached: alone, and under `seekless run`, in turn. A FUSE file
//! system delays each read; it is mounted anew before each start. `run` does not know what that
//! device costs, unless `--device` says so: it finds out in the first round, which is discarded.

mod programs;

use crate::command::Commands;
use crate::folder::Folder;
use crate::preload::Preload;
use crate::programs::Words;
use crate::rounds::{load_average, median};
use anyhow::{Context, ensure};
use programs::Program;
use seekless::device::units::{format_bytes, format_count};
use seekless::report::table;
use seekless::sys::residency::resident_bytes;
use seekless_results::{Better, Contender, Figure, Table};
use seekless_testing::{Asked, Delayed, Delays};
use serde::Serialize;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Files in which it is looked before each start whether something is cached.
const LOOKED_AT: usize = 16;

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A folder of Python packages (`pip install --target DIR numpy pandas matplotlib`), or an
    /// environment with a Python in it
    #[arg(long, value_name = "DIR")]
    packages: Option<PathBuf>,
    /// The Python to start: one of this machine, or that in the environment, such as `bin/python3`
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// What to import, one start each; `a+b` is a start that imports both
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "numpy,pandas,matplotlib.pyplot,numpy+pandas+matplotlib.pyplot"
    )]
    imports: Vec<String>,
    /// The node to start
    #[arg(long, value_name = "PROGRAM", default_value = "node")]
    node: PathBuf,
    /// Modules that node loads; 0 leaves it out
    #[arg(long, default_value_t = 500)]
    modules: usize,
    /// The javac to start, with a copy of its JDK in the delayed file system
    #[arg(long, value_name = "PROGRAM", default_value = "javac")]
    javac: PathBuf,
    /// Classes that javac compiles; 0 leaves it out
    #[arg(long, default_value_t = 200)]
    classes: usize,
    /// Files of the tree that `git status` lists; 0 leaves it out
    #[arg(long, default_value_t = 5_000)]
    tree: usize,
    /// Milliseconds that each read takes
    #[arg(long, default_value_t = 2.0)]
    delay_ms: f64,
    /// Reads that are served at once
    #[arg(long, default_value_t = 64)]
    at_once: u16,
    /// What `run` is given of the device [default: nothing]
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Starts under `run` with a wrong profile, too: that of a script that reads all other files
    #[arg(long)]
    wrong: bool,
    /// Debian's preload, which takes turns too: it is given some seconds before each start
    #[arg(long, value_name = "PROGRAM", num_args = 0..=1, default_missing_value = "preload")]
    preload: Option<PathBuf>,
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[command(flatten)]
    commands: Commands,
}

/// The figures of one program.
#[derive(Serialize)]
struct Row {
    program: String,
    plain: Figures,
    run: Figures,
    /// Plain seconds by those under `run`.
    times: f64,
    /// Seconds of a plain start with all cached.
    warm_seconds: f64,
    /// Seconds under `run` with a wrong profile by plain ones.
    wrong: Option<f64>,
    preload: Option<Figures>,
    /// Seconds under `run` in the discarded round, when the device was new to it.
    first_seconds: f64,
    /// Bytes that were cached of the files that were looked at, the most before a start.
    cached_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Figures {
    seconds: f64,
    requests: u64,
    bytes: u64,
}

struct Trial {
    seconds: f64,
    requests: u64,
    bytes: u64,
    cached_bytes: u64,
    answer: Vec<u8>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    ensure!(args.at_once > 0, "--at-once: at least 1");
    ensure!(args.delay_ms.is_finite() && args.delay_ms >= 0.0, "--delay-ms: 0 or more");
    let before = load_average();
    let folder = Folder::in_(&args.commands.folder)?;
    let place = folder.path().canonicalize()?; // profiles have absolute names
    let preload = args.preload.as_ref().map(|program| Preload::find(program, &place));
    let preload = preload.transpose()?.flatten();
    let bench = Bench { seekless: args.commands.ours()?, place: &place, preload, args };
    let (mut rows, mut failed) = (Vec::new(), Vec::new());
    for program in programs::all(args, &place, &bench.mounted())? {
        match bench.program(&program) {
            Ok(row) => rows.push(row),
            Err(error) => failed.push(error.context(program.name)),
        }
    }
    if args.commands.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        show(args, &rows, before);
    }
    failed.iter().for_each(|error| eprintln!("bench: {error:#}"));
    ensure!(failed.is_empty(), "{} programs have no figures", failed.len());
    Ok(tables(args, &rows))
}

/// Seconds, requests, how many times as fast as a plain start, and a wrong profile's time.
fn tables(args: &Args, rows: &[Row]) -> Vec<Table> {
    let under = format!(
        "A FUSE file system that takes {} ms for a read and serves {} at once, cold; run knows {} \
         of it, and has the profile of another script of the kind.",
        args.delay_ms,
        args.at_once,
        args.device.as_deref().unwrap_or("nothing")
    );
    let table = |id, title, unit, better| {
        Table::new(id, title, "program", unit, better)
            .contenders([Contender::ours("seekless run")])
            .under(&under)
    };
    let mut seconds =
        table("seconds", "Starts over a file system with latency", "s", Better::Lower);
    let mut requests = table("requests", "The same: reads of it", "", Better::Lower);
    let mut times = table("times", "The same: times as fast as a plain start", "×", Better::Higher);
    let mut wrong =
        table("wrong", "The same with a wrong profile: time, of a plain start", "", Better::Lower);
    let median = |value| Figure::median(value, args.rounds);
    for row in rows {
        seconds.set(&row.program, "seekless run", median(row.run.seconds));
        seconds.set(&row.program, "plain", median(row.plain.seconds));
        seconds.set(&row.program, "plain, all cached", median(row.warm_seconds));
        requests.set(&row.program, "seekless run", median(row.run.requests as f64));
        requests.set(&row.program, "plain", median(row.plain.requests as f64));
        times.set(&row.program, "seekless run", median(row.times));
        if let Some(preload) = row.preload {
            seconds.set(&row.program, "preload", median(preload.seconds));
            times.set(&row.program, "preload", median(row.plain.seconds / preload.seconds));
        }
        row.wrong.iter().for_each(|&of| wrong.set(&row.program, "seekless run", median(of)));
    }
    vec![seconds, requests, times, wrong]
}

fn show(args: &Args, rows: &[Row], before: f64) {
    println!("{}", table(&HEADER, rows.iter().map(cells).collect()));
    println!(
        "\nCold, from exec to exit; medians of {} rounds that alternate, after one discarded, \
         whose start under run is `first`; `warm` is a plain start again, with all cached, so \
         no help makes it `at most` times as fast; `wrong` is the time with a wrong profile, of \
         plain; preload had six seconds before; each read takes {} ms, {} at once; run is told \
         {} of the device; the profile is from another script of the kind; answers are the same. \
         Load average {before} before and {} after.",
        args.rounds,
        args.delay_ms,
        args.at_once,
        args.device.as_deref().unwrap_or("nothing"),
        load_average()
    );
}

const HEADER: [&str; 14] = [
    "program",
    "plain s",
    "reads",
    "bytes",
    "run s",
    "reads",
    "bytes",
    "times",
    "warm s",
    "at most",
    "first",
    "wrong",
    "preload s",
    "cached",
];

fn cells(row: &Row) -> Vec<String> {
    let figures = |figures: &Figures| {
        let Figures { seconds, requests, bytes } = *figures;
        [format!("{seconds:.2}"), format_count(requests), format_bytes(bytes)]
    };
    let mut cells = vec![row.program.clone()];
    cells.extend(figures(&row.plain));
    cells.extend(figures(&row.run));
    let at_most = row.plain.seconds / row.warm_seconds;
    cells.extend(
        [row.times, row.warm_seconds, at_most, row.first_seconds].map(|n| format!("{n:.2}")),
    );
    cells.push(row.wrong.map_or_else(String::new, |wrong| format!("{wrong:.2}")));
    cells.push(row.preload.map_or_else(String::new, |of| format!("{:.2}", of.seconds)));
    cells.push(format_bytes(row.cached_bytes));
    cells
}

struct Bench<'a> {
    seekless: PathBuf,
    place: &'a Path,
    preload: Option<Preload>,
    args: &'a Args,
}

impl Bench<'_> {
    fn mounted(&self) -> PathBuf {
        self.place.join("mounted")
    }

    fn program(&self, program: &Program) -> anyhow::Result<Row> {
        std::fs::create_dir_all(self.mounted())?;
        let at_once = self.args.at_once;
        let read = Duration::from_secs_f64(self.args.delay_ms / 1e3);
        let folder = &program.folder;
        let mut delayed =
            Delayed::of(folder, &self.mounted(), Delays { read, at_once, ..Delays::default() })?;
        let (profile, files) = self.learn(program, &program.name, &program.alike)?;
        let wrong = match self.args.wrong {
            true => {
                Some(self.learn(program, &format!("{} wrong", program.name), &program.other)?.0)
            }
            false => None,
        };
        let learned = self.preload.as_ref().map(|preload| self.teach(preload, program));
        let learned = learned.transpose()?;
        let (mut plain, mut warmed, mut misled) = (Vec::new(), Vec::new(), Vec::new());
        let (mut cached, mut preloaded) = (Vec::new(), Vec::new());
        for _ in 0..=self.args.rounds {
            plain.push(self.trial(program, None, &files, &mut delayed)?);
            cached.push(self.timed(program, None, &delayed)?);
            warmed.push(self.trial(program, Some(&profile), &files, &mut delayed)?);
            if wrong.is_some() {
                misled.push(self.trial(program, wrong.as_deref(), &files, &mut delayed)?);
            }
            if let (Some(preload), Some(learned)) = (&self.preload, &learned) {
                delayed.cool()?;
                let ahead = preload.ahead(learned)?;
                preloaded.push(self.timed(program, None, &delayed)?);
                drop(ahead);
            }
        }
        let answer = &plain[0].answer;
        let same = plain
            .iter()
            .chain(&cached)
            .chain(&warmed)
            .chain(&misled)
            .chain(&preloaded)
            .all(|trial| trial.answer == *answer);
        ensure!(same && !answer.is_empty(), "{}: the answers differ", program.name);
        let cached_bytes = plain.iter().chain(&warmed).map(|trial| trial.cached_bytes).max();
        let first_seconds = warmed[0].seconds;
        let warm_seconds = figures(&cached[1..]).seconds;
        let (plain, run) = (figures(&plain[1..]), figures(&warmed[1..]));
        let preload = preloaded.get(1..).map(figures);
        let wrong = misled.get(1..).map(|misled| figures(misled).seconds / plain.seconds);
        let (name, times) = (program.name.clone(), plain.seconds / run.seconds);
        let cached_bytes = cached_bytes.unwrap_or(0);
        Ok(Row {
            program: name,
            plain,
            run,
            times,
            warm_seconds,
            wrong,
            preload,
            first_seconds,
            cached_bytes,
        })
    }

    /// Learns from a start: twice, so that the program has compiled what it compiles. Returns the
    /// profile, and some of the file system's files that it names.
    fn learn(
        &self,
        program: &Program,
        name: &str,
        words: &Words,
    ) -> anyhow::Result<(PathBuf, Vec<PathBuf>)> {
        let profile = self.place.join(format!("{}.parquet", name.replace(' ', "-")));
        for _ in 0..2 {
            let mut command = Command::new(&self.seekless);
            command.args(["run", "--record", "--profile"]).arg(&profile).arg("--");
            self.answer(&mut command, words)?;
        }
        let mut command = Command::new(&self.seekless);
        command.args(["profiles", "show", "--json"]).arg(&profile);
        let shown: serde_json::Value = serde_json::from_slice(&command.output()?.stdout)?;
        let files = shown["files"].as_array().context("no files")?.iter();
        let paths = files.filter_map(|file| Some(PathBuf::from(file["path"].as_str()?)));
        let mut ours: Vec<PathBuf> =
            paths.filter(|path| path.starts_with(self.mounted())).collect();
        ensure!(!ours.is_empty(), "{}: the profile names none of its files", program.name);
        ours.truncate(LOOKED_AT);
        Ok((profile, ours))
    }

    /// Starts a program behind the words of `command`; returns what it prints.
    fn answer(&self, command: &mut Command, words: &Words) -> anyhow::Result<Vec<u8>> {
        let output = self.surround(command).args(words).output();
        let output = output.with_context(|| format!("cannot run {command:?}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{command:?} failed: {said}");
        Ok(output.stdout)
    }

    /// Has preload see a start of the same kind. Returns what it has learned.
    fn teach(&self, preload: &Preload, program: &Program) -> anyhow::Result<PathBuf> {
        preload.learn(self.place, || {
            let (first, words) = program.alike.split_first().context("no program")?;
            let mut command = Command::new(first);
            self.surround(&mut command).args(words).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().with_context(|| format!("cannot run {command:?}"))
        })
    }

    /// The environment of a program.
    fn surround<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("PYTHONPATH", self.mounted()).env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("XDG_STATE_HOME", self.place.join("state"));
        command.env("MPLCONFIGDIR", self.place.join("matplotlib")).stdin(Stdio::null())
    }

    /// One cold start: alone, or under `run` with a profile.
    fn trial(
        &self,
        program: &Program,
        profile: Option<&Path>,
        files: &[PathBuf],
        delayed: &mut Delayed,
    ) -> anyhow::Result<Trial> {
        delayed.cool()?;
        let cached_bytes = files.iter().map(|path| cached(path)).sum::<anyhow::Result<u64>>()?;
        Ok(Trial { cached_bytes, ..self.timed(program, profile, delayed)? })
    }

    fn timed(
        &self,
        program: &Program,
        profile: Option<&Path>,
        delayed: &Delayed,
    ) -> anyhow::Result<Trial> {
        let mut command = match profile {
            Some(profile) => {
                let mut command = Command::new(&self.seekless);
                command.args(["run", "--profile"]).arg(profile);
                command.args(self.args.device.iter().flat_map(|device| ["--device", device]));
                command.arg("--");
                command
            }
            None => Command::new("env"),
        };
        let started = Instant::now();
        let answer = self.answer(&mut command, &program.start)?;
        let seconds = started.elapsed().as_secs_f64();
        let Asked { reads: requests, bytes, .. } = delayed.asked();
        Ok(Trial { seconds, requests, bytes, cached_bytes: 0, answer })
    }
}

fn cached(path: &Path) -> anyhow::Result<u64> {
    let file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
    Ok(resident_bytes(file.as_fd())?.unwrap_or(0))
}

fn figures(trials: &[Trial]) -> Figures {
    let of =
        |figure: fn(&Trial) -> f64| median(&mut trials.iter().map(figure).collect::<Vec<f64>>());
    Figures {
        seconds: of(|trial| trial.seconds),
        requests: of(|trial| trial.requests as f64) as u64,
        bytes: of(|trial| trial.bytes as f64) as u64,
    }
}
