//! A question over file sizes. At each size the file is made, every rival does its passes, and the
//! file is removed.

use super::files::{self, NEEDLES, Random, Text};
use super::group::Group;
use super::level::Level;
use super::pass::At;
use super::programs::Programs;
use super::series::{Check, Series, Setting};
use super::speed::Speed;
use super::task::{Question, Task, Tool};
use super::{fixed, load_average};
use anyhow::ensure;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The time of one match depends on its place, so its distribution (Fig. 13) needs more passes.
const WORDS_PER_PASS: usize = 3;

/// The measurements for one question on one device.
#[derive(Serialize)]
pub(super) struct Curve {
    pub(super) question: Question,
    pub(super) speed: Speed,
    /// The bytes of page cache that the group holds.
    pub(super) cache_bytes: u64,
    pub(super) points: Vec<Point>,
}

/// One size.
#[derive(Serialize)]
pub(super) struct Point {
    pub(super) file_bytes: u64,
    pub(super) series: Vec<Series>,
    /// A match inside and one outside the cached part, for one-match curves.
    pub(super) fixed: Option<fixed::Fixed>,
    /// The load average of the last minute, before and after.
    pub(super) load_average: [f64; 2],
}

/// The parts of the setting that do not depend on the size.
pub(super) struct Bench<'a> {
    pub(super) group: &'a Group,
    pub(super) level: Level,
    pub(super) programs: &'a Programs,
    pub(super) folder: &'a Path,
    /// The output file of tools that write one.
    pub(super) output: PathBuf,
    pub(super) cache_bytes: u64,
    pub(super) passes: usize,
    pub(super) blocks: usize,
}

impl Bench<'_> {
    pub(super) fn curve(
        &mut self,
        question: Question,
        speed: &Speed,
        sizes: &[f64],
    ) -> anyhow::Result<Curve> {
        let speed = &self.level.speed().unwrap_or_else(|| speed.clone());
        self.group.throttle(Some(speed))?;
        let mut points = Vec::new();
        for &size in sizes {
            eprintln!("{} at {size} times the cache, {}", question.name(), speed.words());
            let bytes = (size * self.cache_bytes as f64) as u64;
            points.push(if question.is_of_images() {
                self.image(question, bytes)?
            } else {
                self.text(question, bytes)?
            });
        }
        Ok(Curve { question, speed: speed.clone(), cache_bytes: self.cache_bytes, points })
    }

    fn text(&mut self, question: Question, bytes: u64) -> anyhow::Result<Point> {
        let before = load_average();
        let text = Text::make(self.folder.join("text"), bytes)?;
        let check = |task: &Task, code: i32, stdout: &[u8]| check(&text, task, code, stdout);
        let files = self.level.put(&text.path)?;
        let setting = self.setting(&files, &check);
        let series = setting.measure(
            &question.tools(self.programs, &self.level),
            &question.warming(),
            &self.tasks(question),
        )?;
        let fixed = match question {
            Question::OneMatch => fixed::measure(&setting, &text, self.passes)?,
            _ => None,
        };
        self.clear(&text.path)?;
        Ok(Point { file_bytes: text.bytes, series, fixed, load_average: [before, load_average()] })
    }

    fn image(&mut self, question: Question, bytes: u64) -> anyhow::Result<Point> {
        let before = load_average();
        let path = self.folder.join("image.fits");
        let file_bytes = files::make_image(&path, bytes)?;
        // Outputs are compared with each other.
        let check = |_: &Task, code: i32, _: &[u8]| {
            ensure!(code == 0, "it ends with {code}");
            Ok(())
        };
        let files = self.level.put(&path)?;
        let setting = self.setting(&files, &check);
        let series = setting.measure(
            &question.tools(self.programs, &self.level),
            &question.warming(),
            &self.tasks(question),
        )?;
        self.clear(&path)?;
        Ok(Point { file_bytes, series, fixed: None, load_average: [before, load_average()] })
    }

    fn setting<'a>(&'a self, files: &'a [PathBuf], check: &'a Check<'a>) -> Setting<'a> {
        let Bench { group, level, programs, output, blocks, .. } = self;
        Setting { at: At { group, level, files }, programs, output, blocks: *blocks, check }
    }

    /// Removes a file that was made, wherever it lies now.
    fn clear(&mut self, made: &Path) -> anyhow::Result<()> {
        self.level.clear()?;
        match std::fs::remove_file(made) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// The task of each pass. One match: another word each time, and the same words for every
    /// rival.
    fn tasks(&self, question: Question) -> Vec<Task> {
        let mut random = Random(5);
        let mut word = || Task::Holds(format!("needle{:04}", random.below(NEEDLES)));
        match question {
            Question::OneMatch => (0..self.passes * WORDS_PER_PASS).map(|_| word()).collect(),
            _ => vec![question.warming(); self.passes],
        }
    }
}

fn check(text: &Text, task: &Task, code: i32, stdout: &[u8]) -> anyhow::Result<()> {
    match task {
        Task::CountLines => {
            let said = String::from_utf8_lossy(stdout);
            // The last line is the only one, or the sum.
            let last = said.lines().last().unwrap_or_default();
            let lines = last.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
            ensure!(
                code == 0 && lines == Some(text.lines),
                "{said:?} and code {code}, not {} lines",
                text.lines
            );
        }
        Task::Matches(_) => {
            ensure!(
                code == 0 && stdout == text.marked,
                "not the marked lines ({} bytes, code {code})",
                stdout.len()
            );
        }
        Task::Holds(word) => {
            let expected = i32::from(!text.needles.iter().any(|(needle, _)| needle == word));
            ensure!(code == expected && stdout.is_empty(), "code {code} for {word}");
        }
        Task::Histogram | Task::Rebin(_) => {}
    }
    Ok(())
}

impl Point {
    pub(super) fn of(&self, tool: Tool) -> Option<&Series> {
        self.series.iter().find(|series| series.tool == tool)
    }

    /// The plain program.
    pub(super) fn plain(&self) -> Option<&Series> {
        self.series.first()
    }

    /// The speed divided by that of the plain program.
    pub(super) fn ratio(&self, tool: Tool) -> Option<f64> {
        Some(self.plain()?.seconds().mean / self.of(tool)?.seconds().mean)
    }
}

impl Curve {
    /// The size of the file, as a multiple of the cache.
    pub(super) fn size(&self, point: &Point) -> f64 {
        point.file_bytes as f64 / self.cache_bytes as f64
    }

    /// The bytes of the file that do not fit the cache.
    pub(super) fn surplus_bytes(&self, point: &Point) -> u64 {
        point.file_bytes.saturating_sub(self.cache_bytes)
    }
}
