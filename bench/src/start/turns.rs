//! The starts of one program: all ways take turns.

use super::prepared::Prepared;
use super::starts::Start;
use super::tables::Row;
use super::way::Way;
use super::{Bench, expected};
use crate::command::succeed;
use crate::programs::Words;
use crate::rounds::median;
use anyhow::{Context, ensure};
use seekless::measure::ReadsServed;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

struct Trial {
    seconds: f64,
    served: ReadsServed,
}

impl Bench<'_> {
    /// All figures of one program.
    pub(super) fn start(&self, start: &Start) -> anyhow::Result<Vec<Row>> {
        let mut prepared = self.prepare(start)?;
        let mut ways = self.ways(&prepared);
        let mut trials = self.in_turn(&ways, start, &prepared)?;
        let mut foreseen = self.foreseen(&[Way::Plain, Way::Run], start, &prepared)?;
        if prepared.packed.is_some() {
            foreseen.extend(self.foreseen(&[Way::Auto], start, &prepared)?);
        }
        if self.args.whole && self.place.image().is_some() {
            prepared.profile = self.lay(start, &prepared)?;
            let laid = [Way::LaidPlain, Way::LaidRun];
            trials.extend(self.in_turn(&laid, start, &prepared)?);
            foreseen.extend(self.foreseen(&laid, start, &prepared)?);
            ways.extend(laid);
        }
        let of = |trials: &[Trial], figure: fn(&Trial) -> f64| {
            median(&mut trials.iter().map(figure).collect::<Vec<f64>>())
        };
        let seconds = |wanted: Way| {
            let place = ways.iter().position(|way| *way == wanted);
            place.map_or(f64::NAN, |place| of(&trials[place], |trial| trial.seconds))
        };
        let (plain, cached) = (seconds(Way::Plain), seconds(Way::Cached));
        let row = |(way, trials): (&Way, &Vec<Trial>)| {
            let seconds = of(trials, |trial| trial.seconds);
            let mut row = Row {
                program: start.case.name.clone(),
                way: *way,
                seconds,
                of_plain: seconds / plain,
                wait_removed: (plain - seconds) / (plain - cached).max(1e-9),
                requests: of(trials, |trial| trial.served.requests as f64) as u64,
                bytes: of(trials, |trial| trial.served.bytes as f64) as u64,
                expected_requests: None,
                expected_bytes: None,
            };
            let foreseen = foreseen.iter().find(|(foreseen, _)| foreseen == way);
            foreseen.iter().for_each(|(_, expected)| row.expects(*expected));
            row
        };
        Ok(ways.iter().zip(&trials).map(row).collect())
    }

    fn ways(&self, prepared: &Prepared) -> Vec<Way> {
        let mut ways = vec![Way::Plain, Way::Cached, Way::Run];
        ways.extend(prepared.wrong.as_ref().map(|_| Way::Wrong));
        ways.extend(self.vmtouch.then_some(Way::Vmtouch));
        ways.extend(prepared.preload_state.as_ref().map(|_| Way::Preload));
        ways.extend(prepared.pack.iter().flat_map(|_| [Way::Mount, Way::RunMount]));
        ways.extend(self.squashed.as_ref().map(|_| Way::Squashfuse));
        ways.extend(prepared.packed.as_ref().map(|_| Way::Auto));
        ways
    }

    /// The timed trials of each way.
    fn in_turn(
        &self,
        ways: &[Way],
        start: &Start,
        prepared: &Prepared,
    ) -> anyhow::Result<Vec<Vec<Trial>>> {
        let mut trials: Vec<Vec<Trial>> = ways.iter().map(|_| Vec::new()).collect();
        for round in 0..=self.args.rounds {
            for (way, trials) in ways.iter().zip(&mut trials) {
                let trial = self.trial(*way, start, prepared)?;
                if round > 0 {
                    trials.push(trial);
                }
            }
        }
        Ok(trials)
    }

    /// What `run` expects of starts by these ways, which have the same profile.
    fn foreseen(
        &self,
        ways: &[Way],
        start: &Start,
        prepared: &Prepared,
    ) -> anyhow::Result<Vec<(Way, ReadsServed)>> {
        let packed = prepared.packed.as_ref().filter(|_| ways.contains(&Way::Auto));
        let mut command = Command::new(&self.seekless);
        self.run(&mut command, packed.unwrap_or(&prepared.profile));
        command.args(["--dry-run", "--json"]);
        if packed.is_some() {
            command.args(["--mount", "auto"]);
        }
        command.arg("--");
        self.surround(&mut command, start, self.packages.as_deref()).args(&start.case.start);
        self.place.cool()?;
        let (output, _) =
            self.place.during(|| command.stdout(Stdio::piped()).stderr(Stdio::piped()).output())?;
        let output = output?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{command:?} failed: {said}");
        expected::of(&serde_json::from_slice(&output.stdout)?, ways)
    }

    fn trial(&self, way: Way, start: &Start, prepared: &Prepared) -> anyhow::Result<Trial> {
        if way != Way::Cached {
            self.place.cool()?;
        }
        let (seconds, served) = self.place.during(|| -> anyhow::Result<f64> {
            let seconds = self.seconds(way, start, prepared)?;
            if way == Way::Squashfuse {
                succeed(Command::new("umount").arg(&self.at))?;
            }
            Ok(seconds)
        })?;
        Ok(Trial { seconds: seconds?, served })
    }

    /// One start; what was begun for it beside the program ends here, unless it is a mount.
    fn seconds(&self, way: Way, start: &Start, prepared: &Prepared) -> anyhow::Result<f64> {
        let reads_ahead = match (way, &self.preload, &prepared.preload_state) {
            (Way::Preload, Some(preload), Some(state)) => Some(preload.ahead(state)?),
            _ => None,
        };
        let started = Instant::now();
        let (mut command, packages) = self.begun(way, prepared)?;
        let words: &Words = &start.case.start;
        succeed(self.surround(&mut command, start, packages.as_deref()).args(words))?;
        let seconds = started.elapsed().as_secs_f64();
        drop(reads_ahead);
        Ok(seconds)
    }

    /// The command line up to the program's own words, and where the program finds its packages.
    fn begun(&self, way: Way, prepared: &Prepared) -> anyhow::Result<(Command, Option<PathBuf>)> {
        let packages = self.packages.clone();
        let mut seekless = Command::new(&self.seekless);
        Ok(match way {
            Way::Plain | Way::Cached | Way::LaidPlain | Way::Preload => {
                (Command::new("env"), packages)
            }
            Way::Auto => {
                let own = prepared.packed.as_ref().context("no pack")?;
                self.run(&mut seekless, own).args(["--mount", "auto", "--"]);
                (seekless, packages)
            }
            Way::Run | Way::LaidRun | Way::Wrong => {
                let wrong = prepared.wrong.as_ref().filter(|_| way == Way::Wrong);
                self.run(&mut seekless, wrong.unwrap_or(&prepared.profile)).arg("--");
                (seekless, packages)
            }
            Way::Vmtouch => {
                let mut vmtouch = Command::new("vmtouch");
                succeed(vmtouch.args(["-t", "-q", "-b"]).arg(&prepared.listed))?;
                (Command::new("env"), packages)
            }
            Way::Mount => {
                let pack = prepared.pack.as_ref().context("no pack")?;
                seekless.arg("mount").arg(pack).arg(&self.at).arg("--");
                (seekless, Some(self.at.clone()))
            }
            Way::RunMount => {
                let pack = prepared.pack.as_ref().context("no pack")?;
                let mut over = pack.clone().into_os_string();
                over.push("=");
                over.push(self.place.mounted());
                self.run(&mut seekless, &prepared.profile).arg("--mount").arg(over).arg("--");
                (seekless, packages)
            }
            Way::Squashfuse => {
                let squashed = self.squashed.as_ref().context("no squashfs")?;
                succeed(Command::new("squashfuse").arg(squashed).arg(&self.at))?;
                (Command::new("env"), Some(self.at.clone()))
            }
        })
    }

    /// The words of `run` with this profile.
    pub(super) fn run<'c>(&self, command: &'c mut Command, profile: &Path) -> &'c mut Command {
        command.args(["run", "--profile"]).arg(profile);
        let is_limited = self.args.delay_ms.is_none() && self.args.device != "none";
        if is_limited && !self.args.device_unknown {
            command.args(["--device", &self.args.device]);
        }
        command
    }

    /// The environment of a start, which finds its packages there.
    pub(super) fn surround<'c>(
        &self,
        command: &'c mut Command,
        start: &Start,
        packages: Option<&Path>,
    ) -> &'c mut Command {
        command.envs(packages.map(|packages| ("PYTHONPATH", packages)));
        command.env("XDG_STATE_HOME", &self.state);
        command.env("MPLCONFIGDIR", self.state.join("matplotlib"));
        command.envs(start.case.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::null())
    }
}
