//! How long programs take from exec to exit when nothing of them is cached: alone, under `seekless
//! run`, after `vmtouch -t`, with Debian's `preload`, and from a mounted pack or squashfs, in turn;
//! the whole start also from a pack of its own, and after `seekless layout`. They lie on an ext4 of
//! their own on a loop device, which is mounted anew before each start: so they are cold without
//! emptying the machine's caches. The kernel's throttle can slow that device. Needs root.

mod packed;
mod way;
mod whole;

use crate::command::{Commands, succeed};
use crate::folder::Folder;
use crate::image::Image;
use crate::preload::Preload;
use crate::rounds::{load_average, median};
use anyhow::{Context, ensure};
use seekless::device::DeviceSpec;
use seekless::device::units::{format_bytes, format_count};
use seekless::measure::{ReadsServed, Slowed};
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use way::Way;

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A folder of Python packages (`pip install --target DIR numpy pandas matplotlib torch`)
    #[arg(long, value_name = "DIR")]
    packages: PathBuf,
    /// The Python to start
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// What to import, one start each; `a+b` is a start that imports both
    #[arg(long, value_delimiter = ',', default_value = "numpy,pandas,matplotlib.pyplot,torch")]
    imports: Vec<String>,
    /// The limits behind which to measure; `none` is the disk itself
    #[arg(long, value_name = "DEVICE", default_value = "iops=500,bandwidth=150MB")]
    device: String,
    /// Limits the disk below the loop device: requests count once they are joined, as on a cloud
    /// volume
    #[arg(long)]
    below: bool,
    /// Python and our own command are cold as well; with `run --mount auto`, and after `layout`
    #[arg(long, conflicts_with_all = ["mounted", "preload"])]
    whole: bool,
    /// Does not give `run` what the device charges
    #[arg(long)]
    device_unknown: bool,
    /// Starts under `run` with a wrong profile, too: that of a script that reads packages' tests
    #[arg(long)]
    wrong: bool,
    /// Starts from a mounted pack, under `run --mount` and from squashfs, too
    #[arg(long)]
    mounted: bool,
    /// Debian's preload, which takes turns too: it is given some seconds before each start
    #[arg(long, value_name = "PROGRAM", num_args = 0..=1, default_missing_value = "preload")]
    preload: Option<PathBuf>,
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// How far the kernel reads ahead on the device, in KiB
    #[arg(long, default_value_t = 128)]
    readahead: u64,
    #[command(flatten)]
    commands: Commands,
}

/// What a way to start needs.
struct Prepared {
    script: String,
    /// Another that imports the same.
    alike: String,
    profile: PathBuf,
    wrong: Option<PathBuf>,
    /// For vmtouch.
    listed: PathBuf,
    pack: Option<PathBuf>,
    /// The profile on the image, with its own pack beside it.
    packed: Option<PathBuf>,
    preload_state: Option<PathBuf>,
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

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let before = load_average();
    let device = match args.device.as_str() {
        "none" => None,
        text => Some(text.parse::<DeviceSpec>()?),
    };
    let folder = Folder::in_(&args.commands.folder)?;
    // Room for a pack of each import, and for squashfs.
    let room = if args.mounted { args.imports.len() as u64 + 1 } else { 0 };
    let ours = args.commands.ours()?;
    let image = match args.whole {
        true => whole::image(args, folder.path(), &ours)?,
        false => Image::of(&args.packages, folder.path(), args.readahead, room)?,
    };
    let at = folder.path().canonicalize()?.join("at");
    std::fs::create_dir(&at)?;
    let squashed = match args.mounted {
        true => packed::squash(&image, &args.packages, folder.path())?,
        false => None,
    };
    let preload = args.preload.as_ref().map(|program| Preload::find(program, folder.path()));
    let bench = Bench {
        seekless: if args.whole { whole::ours(image.mounted()) } else { ours },
        packages: match args.whole {
            true => whole::packages(image.mounted()),
            false => image.mounted().to_owned(),
        },
        vmtouch: Command::new("vmtouch").arg("-V").output().is_ok(),
        preload: preload.transpose()?.flatten(),
        squashed,
        at,
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
        return Ok(tables(args, &rows));
    }
    let cells = rows.iter().map(|row| {
        vec![
            row.import.clone(),
            row.way.name(),
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
         {}, readahead {} KiB; profile and pack are from another script that imports the same. Load \
         average {before} before and {} after.",
        args.rounds,
        args.device,
        args.readahead,
        load_average()
    );
    Ok(tables(args, &rows))
}

/// Seconds, requests and bytes, by import and way.
fn tables(args: &Args, rows: &[Row]) -> Vec<Table> {
    let cold = if args.whole { ", with Python and our command" } else { "" };
    let joined = if args.below { " after joining" } else { "" };
    let under = format!(
        "From exec to exit, cold{cold}; device {}{joined}, kernel readahead {} KiB; profile and pack \
         are of another script that imports the same.",
        args.device, args.readahead
    );
    let of = |id: &str| if args.whole { format!("whole-{id}") } else { id.to_owned() };
    let ours = [Way::Run, Way::RunMount, Way::Mount, Way::Wrong, Way::Auto, Way::LaidRun];
    let table = |id, title, unit, better| {
        Table::new(&of(id), title, "import", unit, better)
            .contenders(ours.map(|way| Contender::ours(way.contender())))
            .under(&under)
    };
    let mut seconds = table("seconds", "Imports in Python from cold", "s", Better::Lower);
    let mut requests = table("requests", "The same: requests of the device", "", Better::Lower);
    let mut megabytes = table("megabytes", "The same: bytes read", "MB", Better::Lower);
    let median = |value| Figure::median(value, args.rounds);
    for row in rows {
        let (import, way) = (row.import.replace('+', ", "), row.way.contender());
        seconds.set(&import, way, median(row.seconds));
        requests.set(&import, way, median(row.requests as f64));
        megabytes.set(&import, way, median(row.bytes as f64 / 1e6));
    }
    vec![seconds, requests, megabytes]
}

struct Bench<'a> {
    seekless: PathBuf,
    /// Where they lie on the image.
    packages: PathBuf,
    vmtouch: bool,
    preload: Option<Preload>,
    squashed: Option<PathBuf>,
    /// Where packs and squashfs are mounted.
    at: PathBuf,
    state: PathBuf,
    device: Option<DeviceSpec>,
    args: &'a Args,
    image: Image,
}

impl Bench<'_> {
    fn import(&self, import: &str) -> anyhow::Result<Vec<Row>> {
        let mut prepared = self.prepare(import)?;
        let mut ways = self.ways(&prepared);
        let mut trials = self.in_turn(&ways, &prepared)?;
        if self.args.whole {
            prepared.profile = self.lay(import, &prepared)?;
            let laid = [Way::LaidPlain, Way::LaidRun];
            trials.extend(self.in_turn(&laid, &prepared)?);
            ways.extend(laid);
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

    /// The timed trials of each way.
    fn in_turn(&self, ways: &[Way], prepared: &Prepared) -> anyhow::Result<Vec<Vec<Trial>>> {
        let mut trials: Vec<Vec<Trial>> = ways.iter().map(|_| Vec::new()).collect();
        for round in 0..=self.args.rounds {
            for (way, trials) in ways.iter().zip(&mut trials) {
                let trial = self.trial(*way, prepared)?;
                if round > 0 {
                    trials.push(trial);
                }
            }
        }
        Ok(trials)
    }

    /// Lays the files of a profile in the order of need, and learns where they lie now.
    fn lay(&self, import: &str, prepared: &Prepared) -> anyhow::Result<PathBuf> {
        let mut layout = Command::new(&self.seekless);
        layout.arg("layout").arg(&prepared.profile).arg("--within").arg(self.image.mounted());
        self.image.writable(|| succeed(layout.stdout(Stdio::null())))?;
        self.learn(&format!("laid-{import}"), &prepared.alike)
    }

    fn prepare(&self, import: &str) -> anyhow::Result<Prepared> {
        let (names, last) =
            (import.replace('+', ", "), import.rsplit('+').next().unwrap_or(import));
        let alike = format!("import {names}\nprint(len(dir({last})))");
        let profile = self.learn(import, &alike)?;
        let wrong = match self.args.wrong {
            true => Some(self.learn("wrong", READS_TESTS)?),
            false => None,
        };
        let pack = match self.args.mounted {
            true => Some(self.pack(import, &alike)?),
            false => None,
        };
        let stays = format!("{alike}\nimport time; time.sleep(60)");
        let learn = |preload: &Preload| {
            preload.learn(&self.state, || {
                let mut command = Command::new("env");
                Ok(self.python(&mut command, &self.packages).args(["-c", &stays]).spawn()?)
            })
        };
        let packed = match self.args.whole {
            true => Some(self.packed(&profile, &alike)?),
            false => None,
        };
        Ok(Prepared {
            packed,
            script: format!("import {names}, sys; sys.exit(0)"),
            listed: self.list(&profile)?,
            preload_state: self.preload.as_ref().map(learn).transpose()?,
            profile,
            wrong,
            pack,
            alike,
        })
    }

    fn ways(&self, prepared: &Prepared) -> Vec<Way> {
        let mut ways = vec![Way::Plain, Way::Run];
        ways.extend(prepared.wrong.as_ref().map(|_| Way::Wrong));
        ways.extend(self.vmtouch.then_some(Way::Vmtouch));
        ways.extend(prepared.preload_state.as_ref().map(|_| Way::Preload));
        ways.extend(prepared.pack.iter().flat_map(|_| [Way::Mount, Way::RunMount]));
        ways.extend(self.squashed.as_ref().map(|_| Way::Squashfuse));
        ways.extend(prepared.packed.as_ref().map(|_| Way::Auto));
        ways
    }

    /// The profile on the image, with the pack that `run --mount auto` makes beside it.
    fn packed(&self, profile: &Path, script: &str) -> anyhow::Result<PathBuf> {
        let own = self.image.add(profile, "profile.parquet")?;
        self.image.writable(|| {
            let mut command = Command::new(&self.seekless);
            command.args(["run", "--no-record", "--mount", "auto", "--profile"]).arg(&own);
            command.arg("--");
            succeed(self.python(&mut command, &self.packages).args(["-c", script]))?;
            let notes = own.with_extension("packed");
            let started = Instant::now();
            while !notes.exists() {
                ensure!(started.elapsed().as_secs() < 60, "no pack was made beside a start");
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            Ok(())
        })?;
        Ok(own)
    }

    /// A pack of the packages, ordered by a start of this script.
    fn pack(&self, import: &str, script: &str) -> anyhow::Result<PathBuf> {
        let recording = self.state.join(format!("recorded-{import}.parquet"));
        let mut command = Command::new(&self.seekless);
        command.args(["record", "-o"]).arg(&recording).arg("--");
        succeed(self.python(&mut command, &self.args.packages).args(["-c", script]))?;
        packed::pack(&self.image, &self.seekless, &self.args.packages, &recording)
    }

    /// Learns from a script: twice whole, so that Python has compiled what it compiles.
    fn learn(&self, name: &str, script: &str) -> anyhow::Result<PathBuf> {
        let profile = self.state.join(format!("{name}.parquet"));
        std::fs::create_dir_all(&self.state)?;
        for _ in 0..2 {
            let mut command = Command::new(&self.seekless);
            command.args(["run", "--record", "--profile"]).arg(&profile).arg("--");
            succeed(self.python(&mut command, &self.packages).args(["-c", script]))?;
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

    /// The words that start Python with the packages that lie at `packages`.
    fn python<'c>(&self, command: &'c mut Command, packages: &Path) -> &'c mut Command {
        match self.args.whole {
            true => {
                let mounted = self.image.mounted();
                command.arg(whole::python(mounted));
                command.env("LD_LIBRARY_PATH", whole::libraries(mounted));
            }
            false => _ = command.arg(&self.args.python),
        }
        command.env("PYTHONPATH", packages);
        command.env("XDG_STATE_HOME", &self.state).env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("MPLCONFIGDIR", self.state.join("matplotlib"));
        command.stdin(Stdio::null()).stdout(Stdio::null())
    }

    fn trial(&self, way: Way, prepared: &Prepared) -> anyhow::Result<Trial> {
        self.image.cool()?;
        let start = || -> anyhow::Result<f64> {
            let seconds = self.seconds(way, prepared)?;
            if way == Way::Squashfuse {
                succeed(Command::new("umount").arg(&self.at))?;
            }
            Ok(seconds)
        };
        let Some(DeviceSpec::Volume { iops, bytes_per_second }) = &self.device else {
            return Ok(Trial { seconds: start()?, served: ReadsServed::default() });
        };
        let limited = if self.args.below { self.state.as_path() } else { self.image.mounted() };
        let slowed = Slowed::new(&[limited], *iops, *bytes_per_second)?;
        let (seconds, served) = slowed.during(start)?;
        Ok(Trial { seconds: seconds?, served })
    }

    /// One start; what was begun for it beside the program ends here, unless it is a mount.
    fn seconds(&self, way: Way, prepared: &Prepared) -> anyhow::Result<f64> {
        let reads_ahead = match (way, &self.preload, &prepared.preload_state) {
            (Way::Preload, Some(preload), Some(state)) => Some(preload.ahead(state)?),
            _ => None,
        };
        let started = Instant::now();
        let (mut command, packages) = self.begun(way, prepared)?;
        succeed(self.python(&mut command, &packages).args(["-c", &prepared.script]))?;
        let seconds = started.elapsed().as_secs_f64();
        drop(reads_ahead);
        Ok(seconds)
    }

    /// The command line up to the program's own words, and where the program finds its packages.
    fn begun(&self, way: Way, prepared: &Prepared) -> anyhow::Result<(Command, PathBuf)> {
        let mounted = self.packages.clone();
        let mut seekless = Command::new(&self.seekless);
        Ok(match way {
            Way::Plain | Way::LaidPlain | Way::Preload => (Command::new("env"), mounted),
            Way::Auto => {
                let own = prepared.packed.as_ref().context("no pack")?;
                self.run(&mut seekless, own).args(["--mount", "auto", "--"]);
                (seekless, mounted)
            }
            Way::Run | Way::LaidRun | Way::Wrong => {
                let wrong = prepared.wrong.as_ref().filter(|_| way == Way::Wrong);
                self.run(&mut seekless, wrong.unwrap_or(&prepared.profile)).arg("--");
                (seekless, mounted)
            }
            Way::Vmtouch => {
                let mut vmtouch = Command::new("vmtouch");
                succeed(vmtouch.args(["-t", "-q", "-b"]).arg(&prepared.listed))?;
                (Command::new("env"), mounted)
            }
            Way::Mount => {
                let pack = prepared.pack.as_ref().context("no pack")?;
                seekless.arg("mount").arg(pack).arg(&self.at).arg("--");
                (seekless, self.at.clone())
            }
            Way::RunMount => {
                let pack = prepared.pack.as_ref().context("no pack")?;
                let mut over = pack.clone().into_os_string();
                over.push("=");
                over.push(&mounted);
                self.run(&mut seekless, &prepared.profile).arg("--mount").arg(over).arg("--");
                (seekless, mounted)
            }
            Way::Squashfuse => {
                let squashed = self.squashed.as_ref().context("no squashfs")?;
                succeed(Command::new("squashfuse").arg(squashed).arg(&self.at))?;
                (Command::new("env"), self.at.clone())
            }
        })
    }

    /// The words of `run` with this profile.
    fn run<'c>(&self, command: &'c mut Command, profile: &Path) -> &'c mut Command {
        command.args(["run", "--profile"]).arg(profile);
        if self.device.is_some() && !self.args.device_unknown {
            command.args(["--device", &self.args.device]);
        }
        command
    }
}
