//! How long programs take from exec to exit when nothing of them is cached: alone, under `seekless
//! run`, and after `vmtouch -t`, in turn. They lie on an ext4 of their own on a loop device, which
//! is mounted anew before each start: so they are cold without emptying the machine's caches. The
//! kernel's throttle can slow that device. Needs root.

use crate::command::{Commands, succeed};
use crate::folder::Folder;
use crate::image::Image;
use crate::rounds::{load_average, median};
use anyhow::{Context, ensure};
use seekless::device::DeviceSpec;
use seekless::device::units::{format_bytes, format_count};
use seekless::measure::{ReadsServed, Slowed};
use seekless::report::table;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A folder of Python packages (`pip install --target DIR numpy pandas matplotlib torch`)
    #[arg(long, value_name = "DIR")]
    packages: PathBuf,
    /// The Python to start
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// What to import, one start each
    #[arg(long, value_delimiter = ',', default_value = "numpy,pandas,matplotlib.pyplot,torch")]
    imports: Vec<String>,
    /// The limits behind which to measure; `none` is the disk itself
    #[arg(long, value_name = "DEVICE", default_value = "iops=500,bandwidth=150MB")]
    device: String,
    /// Does not tell `run` what the device charges
    #[arg(long)]
    untold: bool,
    /// Starts under `run` with a wrong profile, too: that of a script that reads packages' tests
    #[arg(long)]
    wrong: bool,
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How far the kernel reads ahead on the device, in KiB
    #[arg(long, default_value_t = 128)]
    readahead: u64,
    #[command(flatten)]
    commands: Commands,
}

/// A way to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Way {
    Plain,
    Run,
    Wrong,
    Vmtouch,
}

/// Reads what no start needs.
const READS_TESTS: &str = "import glob, os\nfor path in glob.glob(os.environ['PYTHONPATH'] + \
    '/*/**/tests/**/*.py', recursive=True): open(path, 'rb').read()";

/// The figures of one import, by way.
#[derive(Serialize)]
struct Row {
    import: String,
    way: Way,
    seconds: f64,
    of_plain: f64,
    requests: u64,
    bytes: u64,
}

struct Trial {
    seconds: f64,
    served: ReadsServed,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let before = load_average();
    let device = match args.device.as_str() {
        "none" => None,
        text => Some(text.parse::<DeviceSpec>()?),
    };
    let folder = Folder::in_(&args.commands.folder)?;
    let image = Image::of(&args.packages, folder.path(), args.readahead)?;
    let bench = Bench {
        seekless: args.commands.ours()?,
        vmtouch: Command::new("vmtouch").arg("-V").output().is_ok(),
        state: folder.path().canonicalize()?.join("state"),
        device,
        args,
        image,
    };
    let mut rows = Vec::new();
    for import in &args.imports {
        rows.extend(bench.import(import)?);
    }
    if args.commands.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    let cells = rows.iter().map(|row| {
        vec![
            row.import.clone(),
            format!("{:?}", row.way).to_lowercase(),
            format!("{:.2}", row.seconds),
            format!("{:.2}", row.of_plain),
            format_count(row.requests),
            format_bytes(row.bytes),
        ]
    });
    let header = ["import", "start", "seconds", "of plain", "requests", "bytes"];
    println!("{}", table(&header, cells.collect()));
    println!(
        "\nCold, from exec to exit; medians of {} rounds that alternate, after one discarded; device \
         {}, readahead {} KiB; the profile is from another script that imports the same. Load \
         average {before} before and {} after.",
        args.rounds,
        args.device,
        args.readahead,
        load_average()
    );
    Ok(())
}

struct Bench<'a> {
    seekless: PathBuf,
    vmtouch: bool,
    state: PathBuf,
    device: Option<DeviceSpec>,
    args: &'a Args,
    image: Image,
}

impl Bench<'_> {
    fn import(&self, import: &str) -> anyhow::Result<Vec<Row>> {
        let profile = self.learn(import, &format!("import {import} as it\nprint(len(dir(it)))"))?;
        let wrong = match self.args.wrong {
            true => Some(self.learn("wrong", READS_TESTS)?),
            false => None,
        };
        let listed = self.list(&profile)?;
        let script = format!("import {import}, sys; sys.exit(0)");
        let mut ways = vec![Way::Plain, Way::Run];
        ways.extend(wrong.as_ref().map(|_| Way::Wrong));
        ways.extend(self.vmtouch.then_some(Way::Vmtouch));
        let mut trials: Vec<Vec<Trial>> = ways.iter().map(|_| Vec::new()).collect();
        for round in 0..=self.args.rounds {
            for (way, trials) in ways.iter().zip(&mut trials) {
                let profile = wrong.as_ref().filter(|_| *way == Way::Wrong).unwrap_or(&profile);
                let trial = self.trial(*way, &script, profile, &listed)?;
                if round > 0 {
                    trials.push(trial);
                }
            }
        }
        let of = |trials: &[Trial], figure: fn(&Trial) -> f64| {
            median(&mut trials.iter().map(figure).collect::<Vec<f64>>())
        };
        let plain = of(&trials[0], |trial| trial.seconds);
        let row = |(way, trials): (&Way, &Vec<Trial>)| Row {
            import: import.to_owned(),
            way: *way,
            seconds: of(trials, |trial| trial.seconds),
            of_plain: of(trials, |trial| trial.seconds) / plain,
            requests: of(trials, |trial| trial.served.requests as f64) as u64,
            bytes: of(trials, |trial| trial.served.bytes as f64) as u64,
        };
        Ok(ways.iter().zip(&trials).map(row).collect())
    }

    /// Learns from a script: twice whole, so that Python has compiled what it compiles.
    fn learn(&self, name: &str, script: &str) -> anyhow::Result<PathBuf> {
        let profile = self.state.join(format!("{name}.parquet"));
        std::fs::create_dir_all(&self.state)?;
        for _ in 0..2 {
            let mut command = Command::new(&self.seekless);
            command.args(["run", "--record", "--profile"]).arg(&profile).arg("--");
            succeed(self.python(&mut command).args(["-c", script]))?;
        }
        Ok(profile)
    }

    /// The files of a profile, for vmtouch.
    fn list(&self, profile: &Path) -> anyhow::Result<PathBuf> {
        let mut command = Command::new(&self.seekless);
        command.args(["profiles", "show", "--json"]).arg(profile);
        let shown: serde_json::Value = serde_json::from_slice(&command.output()?.stdout)?;
        let files = shown["files"].as_array().context("no files")?;
        let of_image = files.iter().filter_map(|file| file["path"].as_str());
        let mounted = self.image.mounted().to_string_lossy().into_owned();
        let names: Vec<&str> = of_image.filter(|path| path.starts_with(&mounted)).collect();
        let list = profile.with_extension("list");
        ensure!(!names.is_empty(), "the profile names none of the packages' files");
        std::fs::write(&list, names.join("\n") + "\n")?;
        Ok(list)
    }

    /// The words that start Python with the packages.
    fn python<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.arg(&self.args.python).env("PYTHONPATH", self.image.mounted());
        command.env("XDG_STATE_HOME", &self.state).env("PYTHONDONTWRITEBYTECODE", "1");
        command.stdin(Stdio::null()).stdout(Stdio::null())
    }

    fn trial(
        &self,
        way: Way,
        script: &str,
        profile: &Path,
        listed: &Path,
    ) -> anyhow::Result<Trial> {
        self.image.cool()?;
        let start = || -> anyhow::Result<f64> {
            let started = Instant::now();
            let mut command = match way {
                Way::Run | Way::Wrong => {
                    let mut command = Command::new(&self.seekless);
                    command.args(["run", "--profile"]).arg(profile);
                    if self.device.is_some() && !self.args.untold {
                        command.args(["--device", &self.args.device]);
                    }
                    command.arg("--");
                    command
                }
                Way::Vmtouch => {
                    succeed(Command::new("vmtouch").args(["-t", "-q", "-b"]).arg(listed))?;
                    Command::new("env")
                }
                Way::Plain => Command::new("env"),
            };
            succeed(self.python(&mut command).args(["-c", script]))?;
            Ok(started.elapsed().as_secs_f64())
        };
        let Some(DeviceSpec::Volume { iops, bytes_per_second }) = &self.device else {
            return Ok(Trial { seconds: start()?, served: ReadsServed::default() });
        };
        let slowed = Slowed::new(&[self.image.mounted()], *iops, *bytes_per_second)?;
        let (seconds, served) = slowed.during(start)?;
        Ok(Trial { seconds: seconds?, served })
    }
}
