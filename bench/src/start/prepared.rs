//! What is made for a program before its starts are timed.

use super::starts::Start;
use super::{Bench, packed};
use crate::command::succeed;
use crate::preload::Preload;
use crate::programs::Words;
use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What ways to start need.
pub(super) struct Prepared {
    pub(super) profile: PathBuf,
    pub(super) wrong: Option<PathBuf>,
    /// For vmtouch.
    pub(super) listed: PathBuf,
    pub(super) pack: Option<PathBuf>,
    /// The profile beside the cold files, with its own pack beside it.
    pub(super) packed: Option<PathBuf>,
    pub(super) preload_state: Option<PathBuf>,
}

impl Bench<'_> {
    pub(super) fn prepare(&self, start: &Start) -> anyhow::Result<Prepared> {
        let name = file_name(&start.case.name);
        let profile = self.learn(&name, start, &start.case.alike)?;
        let wrong = start.wrong.as_ref().filter(|_| self.args.wrong);
        let wrong = wrong.map(|words| self.learn("wrong", start, words)).transpose()?;
        let pack = match self.args.mounted {
            true => Some(self.pack(&name, start)?),
            false => None,
        };
        let packed = match self.args.whole {
            true => Some(self.packed(&name, &profile, start)?),
            false => None,
        };
        let preload_state = match (&self.preload, &start.stays) {
            (Some(preload), Some(stays)) => Some(self.teach(preload, start, stays)?),
            _ => None,
        };
        Ok(Prepared { packed, listed: self.list(&profile)?, preload_state, profile, wrong, pack })
    }

    /// Has preload see a start that stays. Returns what it has learned.
    fn teach(&self, preload: &Preload, start: &Start, stays: &Words) -> anyhow::Result<PathBuf> {
        preload.learn(&self.state, || {
            let mut command = Command::new("env");
            self.surround(&mut command, start, self.packages.as_deref()).args(stays);
            Ok(command.spawn()?)
        })
    }

    /// Lays the files of a profile in the order of need, and learns where they lie now.
    pub(super) fn lay(&self, start: &Start, prepared: &Prepared) -> anyhow::Result<PathBuf> {
        let mut layout = Command::new(&self.seekless);
        layout.arg("layout").arg(&prepared.profile).arg("--within").arg(self.place.mounted());
        self.place.writable(|| succeed(layout.stdout(Stdio::null())))?;
        self.learn(&format!("laid-{}", file_name(&start.case.name)), start, &start.case.alike)
    }

    /// The profile beside the cold files, with the pack that `run --mount auto` makes beside it.
    fn packed(&self, name: &str, profile: &Path, start: &Start) -> anyhow::Result<PathBuf> {
        let own = self.place.add(profile, &format!("{name}.parquet"))?;
        let made = self.place.made(&own)?;
        self.place.writable(|| {
            let mut command = Command::new(&self.seekless);
            command.args(["run", "--no-record", "--mount", "auto", "--profile"]).arg(&made);
            command.arg("--");
            self.surround(&mut command, start, self.packages.as_deref());
            succeed(command.args(&start.case.alike))?;
            let notes = made.with_extension("packed");
            let started = Instant::now();
            while !notes.exists() {
                ensure!(started.elapsed().as_secs() < 60, "no pack was made beside a start");
                std::thread::sleep(Duration::from_millis(100));
            }
            Ok(())
        })?;
        Ok(own)
    }

    /// A pack of the packages, ordered by a start of this kind.
    fn pack(&self, name: &str, start: &Start) -> anyhow::Result<PathBuf> {
        let recording = self.state.join(format!("recorded-{name}.parquet"));
        let packages = self.args.imports_from()?.context("--packages is missing")?;
        let mut command = Command::new(&self.seekless);
        command.args(["record", "-o"]).arg(&recording).arg("--");
        self.surround(&mut command, start, Some(packages));
        succeed(command.args(&start.case.alike))?;
        packed::pack(&self.place, &self.seekless, packages, &recording)
    }

    /// Learns from a start: twice whole, so that the program has compiled what it compiles.
    fn learn(&self, name: &str, start: &Start, words: &Words) -> anyhow::Result<PathBuf> {
        let profile = self.state.join(format!("{name}.parquet"));
        std::fs::create_dir_all(&self.state)?;
        for _ in 0..2 {
            let mut command = Command::new(&self.seekless);
            command.args(["run", "--record", "--profile"]).arg(&profile).arg("--");
            self.surround(&mut command, start, self.packages.as_deref());
            succeed(command.args(words))?;
        }
        Ok(profile)
    }

    /// The files of a profile, for vmtouch.
    fn list(&self, profile: &Path) -> anyhow::Result<PathBuf> {
        let mut command = Command::new(&self.seekless);
        command.args(["profiles", "show", "--json"]).arg(profile);
        let shown: serde_json::Value = serde_json::from_slice(&command.output()?.stdout)?;
        let files = shown["files"].as_array().context("no files")?;
        let paths = files.iter().filter_map(|file| file["path"].as_str());
        let cold = paths.filter(|path| Path::new(path).starts_with(self.place.mounted()));
        let names: Vec<&str> = cold.collect();
        let list = profile.with_extension("list");
        ensure!(!names.is_empty(), "the profile names none of the files that are cold");
        std::fs::write(&list, names.join("\n") + "\n")?;
        Ok(list)
    }
}

/// A name for files: `git status, 5000 files` is `git-status-5000-files`.
fn file_name(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|it| !it.is_empty());
    words.collect::<Vec<_>>().join("-")
}
