//! Python's zipfile on a pack. The interpreter starts, and imports what it needs, before the trial;
//! it keeps the contents and hands them over when the clock has stopped.

use super::ways::Way;
use anyhow::{Context, ensure};
use seekless::measure::{Checksum, Slowed, Trial};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

const SCRIPT: &str = include_str!("zipfile.py");
const READY: &str = "ready";
const DONE: &str = "done";

/// Why Python cannot take part.
pub(super) fn missing() -> Option<String> {
    let imports = Command::new("python3").args(["-c", "import zipfile, zlib"]).output();
    match imports {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("python3: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(_) => Some("there is no python3 (Debian: apt-get install python3)".to_owned()),
    }
}

/// zipfile on the pack at this path.
pub(super) struct Zipfile<'a> {
    pub(super) pack: &'a Path,
    pub(super) slowed: Option<&'a Slowed>,
    pub(super) running: Option<Interpreter>,
}

/// A Python that waits for names.
pub(super) struct Interpreter {
    child: Child,
    words: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Interpreter {
    fn start(pack: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new("python3");
        command.args(["-c", SCRIPT]).arg(pack);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot run python3")?;
        let words = child.stdin.take().context("it has an input")?;
        let answers = BufReader::new(child.stdout.take().context("it has an output")?);
        let mut python = Self { child, words, answers };
        python.expect(READY)?;
        Ok(python)
    }

    fn expect(&mut self, word: &str) -> anyhow::Result<()> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(line.trim_end() == word, "Python did not answer {word:?} but {line:?}");
        Ok(())
    }

    fn load(&mut self, names: &[String]) -> anyhow::Result<Trial> {
        let list = names.join("\n") + "\n\n";
        let started = Instant::now();
        self.words.write_all(list.as_bytes())?;
        self.expect(DONE)?;
        let elapsed = started.elapsed();
        let (mut sum, mut content) = (Checksum::default(), Vec::new());
        for position in 0..names.len() as u64 {
            let mut bytes = [0; 8];
            self.answers.read_exact(&mut bytes)?;
            content.resize(usize::try_from(u64::from_le_bytes(bytes))?, 0);
            self.answers.read_exact(&mut content)?;
            sum.add(position, &content);
        }
        Ok(Trial::ended(elapsed, sum))
    }
}

impl Drop for Interpreter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Way for Zipfile<'_> {
    fn begin(&mut self) -> anyhow::Result<()> {
        // A process that starts under the limits stays under them.
        let started = match self.slowed {
            Some(slowed) => slowed.during(|| Interpreter::start(self.pack))?.0,
            None => Interpreter::start(self.pack),
        };
        self.running = Some(started?);
        Ok(())
    }

    fn read_from(&self) -> Vec<PathBuf> {
        vec![self.pack.to_owned()]
    }

    fn load(&mut self, names: &[String]) -> anyhow::Result<Trial> {
        self.running.as_mut().context("it was started")?.load(names)
    }

    fn end(&mut self) -> anyhow::Result<()> {
        self.running = None;
        Ok(())
    }
}
