//! Debian's `preload`: a daemon that learns from what runs which files go with which program, and
//! reads them ahead when it expects the program. It looks once in a cycle and never at the moment
//! of a start, so it is given some cycles before, for which nothing is charged.

use crate::command::succeed;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The shortest time between two of its looks that it takes, in seconds.
const CYCLE: u64 = 2;
/// Three looks: while a program runs that it learns from, between two, and before a start.
const PAUSE: Duration = Duration::from_secs(3 * CYCLE);
/// How often it is looked whether that program has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Starts that it learns from.
const LESSONS: u32 = 3;

pub(crate) struct Preload {
    program: PathBuf,
    settings: PathBuf,
}

impl Preload {
    /// `None`, said so, if it is not here.
    pub(crate) fn find(program: &Path, place: &Path) -> anyhow::Result<Option<Self>> {
        if Command::new(program).arg("--version").output().is_err() {
            eprintln!("bench: no {}: left out (apt-get install preload)", program.display());
            return Ok(None);
        }
        let settings = place.join("preload.conf");
        // All programs and all files, small ones too, as Debian's settings but for these.
        let text = format!(
            "[model]\ncycle = {CYCLE}\nusecorrelation = true\nminsize = 0\nmemtotal = -10\n\
             memfree = 50\nmemcached = 0\n[system]\ndoscan = true\ndopredict = true\n\
             autosave = 3600\nmapprefix = /\nexeprefix = /\nprocesses = 30\nsortstrategy = 3\n"
        );
        std::fs::write(&settings, text)?;
        Ok(Some(Self { program: program.to_owned(), settings }))
    }

    /// Learns from a program that runs for some cycles, several times; one that ends earlier is
    /// started again. Returns what it has learned.
    pub(crate) fn learn(
        &self,
        place: &Path,
        mut start: impl FnMut() -> anyhow::Result<Child>,
    ) -> anyhow::Result<PathBuf> {
        let state = place.join("preload.state");
        let _ = std::fs::remove_file(&state);
        let daemon = self.begin(&state)?;
        for _ in 0..LESSONS {
            let (mut program, began) = (start()?, Instant::now());
            while began.elapsed() < PAUSE {
                if program.try_wait()?.is_some() {
                    program = start()?;
                }
                std::thread::sleep(LOOK);
            }
            let _ = program.kill();
            program.wait()?;
            std::thread::sleep(PAUSE);
        }
        drop(daemon);
        Ok(state)
    }

    /// Begins to read ahead, and gives it some cycles.
    pub(crate) fn ahead(&self, state: &Path) -> anyhow::Result<Daemon> {
        let daemon = self.begin(state)?;
        std::thread::sleep(PAUSE);
        Ok(daemon)
    }

    fn begin(&self, state: &Path) -> anyhow::Result<Daemon> {
        let mut command = Command::new(&self.program);
        command.arg("-f").arg("-c").arg(&self.settings).arg("-s").arg(state).args(["-l", ""]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Daemon(command.spawn().context("preload cannot start")?))
    }
}

/// The daemon at work; asked to end, which saves its state, when this is dropped.
pub(crate) struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = succeed(Command::new("kill").arg(self.0.id().to_string()));
        let _ = self.0.wait();
    }
}
