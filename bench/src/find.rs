//! `seekless find` beside GNU's over many small cached files: the walk, `-size`, and the cost of
//! `-latency`, which GNU does not have. Whether a file takes any time depends on its state, so
//! `-latency +0` opens each. Whether it takes over a second, the size of a small file decides.

mod answers;
mod tree;

use crate::command::Commands;
use crate::folder::Folder;
use crate::rounds::{Rival, load_average, median};
use answers::Answers;
use anyhow::{Context, ensure};
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::ffi::OsStr;
use std::path::Path;
use tree::{Cached, Tree};

const FILES: usize = 130_000;
const FILES_QUICK: usize = 13_000;
const GNU: &str = "/usr/bin/find";

type Tests = &'static [&'static str];
const WALK: Tests = &[];
const SIZE: Tests = &["-size", "+0"];
const LATENCY: [Tests; 3] = [&["-latency", "+0"], &["-latency", "0"], &["-latency", "+1"]];

/// What is asked, in the order of each round.
const TESTS: [Tests; 5] = [WALK, SIZE, LATENCY[0], LATENCY[1], LATENCY[2]];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Gnu,
    Seekless,
    /// The older command that `--beside` names.
    Older,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Question {
    who: Who,
    tests: Tests,
}

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// How many files, a hundred a folder [default: 130000]
    #[arg(long, value_name = "COUNT")]
    files: Option<usize>,
    /// A tenth of the files
    #[arg(long, conflicts_with = "files")]
    quick: bool,
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[command(flatten)]
    commands: Commands,
}

/// One question.
#[derive(Serialize)]
struct Row {
    question: String,
    /// In the last round.
    lines: usize,
    /// The median of a run.
    seconds: f64,
    files_per_second: f64,
    /// Its seconds divided by those of GNU's walk; the next by those of GNU's `-size`.
    times_gnu_walk: f64,
    times_gnu_size: f64,
    /// The older command's seconds divided by these, where both were asked and this is ours.
    older_ratio: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    files: usize,
    folders: usize,
    data_pages: u64,
    /// Pages in the page cache when the first round began.
    resident_pages: Option<u64>,
    cores: usize,
    load_average: [f64; 2],
    rounds: usize,
    rows: Vec<Row>,
}

/// The measurements of one question.
#[derive(Clone, Default)]
struct Track {
    lines: usize,
    seconds: Vec<f64>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let files = args.files.unwrap_or(if args.quick { FILES_QUICK } else { FILES });
    ensure!(files > 0, "--files: at least 1");
    ensure!(Path::new(GNU).exists(), "no {GNU}: nothing to compare with");
    let folder = Folder::in_(&args.commands.folder)?;
    let (ours, older) = args.commands.rivals(&folder, "find")?;
    let field = Field { gnu: Rival::new("GNU", Path::new(GNU), &[]), ours, older };
    let questions = field.questions();
    let tree = Tree::make(folder.path().join("tree"), files)?;
    let before = load_average();
    let (cached, tracks) = rounds(&tree, &field, &questions, args.rounds)?;
    let saved = tables(&tree, &questions, &tracks);
    let report = Report {
        files,
        folders: tree.folders(),
        data_pages: cached.pages,
        resident_pages: cached.resident_pages,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        load_average: [before, load_average()],
        rounds: args.rounds,
        rows: rows(files, &questions, tracks),
    };
    match args.commands.json {
        true => println!("{}", serde_json::to_string_pretty(&report)?),
        false => println!("{}", words(&report)),
    }
    Ok(saved)
}

/// Milliseconds of each question; and what that is of GNU's walk.
fn tables(tree: &Tree, questions: &[Question], tracks: &[Track]) -> Vec<Table> {
    let name = |who| match who {
        Who::Gnu => "GNU find",
        Who::Seekless => "seekless find",
        Who::Older => "older",
    };
    let under = format!("{} lines of a walk, warm; output to a pipe.", tree.lines());
    let ours = || [Contender::ours(name(Who::Seekless))];
    let mut ms = Table::new("ms", "`find` over cached files", "question", "ms", Better::Lower)
        .contenders(ours())
        .under(&under);
    let mut times =
        Table::new("times", "The same: time, of GNU find's walk", "question", "", Better::Lower)
            .contenders(ours())
            .under("As above.");
    let walk = questions.iter().zip(tracks).find(|(question, _)| question.is_gnus_walk());
    let walk = walk.map_or(f64::NAN, |(_, track)| median(&mut track.seconds.clone()));
    for (question, track) in questions.iter().zip(tracks) {
        let case = if question.tests == WALK { "walk".into() } else { question.tests.join(" ") };
        let of = |unit: f64| track.seconds.iter().map(|seconds| seconds / unit).collect::<Vec<_>>();
        ms.set(&case, name(question.who), Figure::of_rounds(&of(1e-3)));
        times.set(&case, name(question.who), Figure::of_rounds(&of(walk)));
    }
    vec![ms, times]
}

impl Question {
    fn is_gnus_walk(&self) -> bool {
        self.who == Who::Gnu && self.tests == WALK
    }
}

/// The programs that are asked.
struct Field {
    gnu: Rival,
    ours: Rival,
    older: Option<Rival>,
}

impl Field {
    /// The questions of a round. GNU's find has no `-latency`.
    fn questions(&self) -> Vec<Question> {
        let ask = |tests| {
            let gnu = (!LATENCY.contains(&tests)).then_some(Who::Gnu);
            let older = self.older.is_some().then_some(Who::Older);
            let asked = gnu.into_iter().chain([Who::Seekless]).chain(older);
            asked.map(move |who| Question { who, tests })
        };
        TESTS.into_iter().flat_map(ask).collect()
    }

    fn rival(&self, who: Who) -> &Rival {
        match who {
            Who::Gnu => &self.gnu,
            Who::Seekless => &self.ours,
            Who::Older => self.older.as_ref().unwrap_or(&self.ours),
        }
    }
}

/// Each round asks all questions, after all files were read once more: a kernel may reclaim pages
/// that were idle for a minute. The first round is discarded.
fn rounds(
    tree: &Tree,
    field: &Field,
    questions: &[Question],
    rounds: usize,
) -> anyhow::Result<(Cached, Vec<Track>)> {
    let mut answers = Answers::default();
    let mut tracks = vec![Track::default(); questions.len()];
    let mut cached = Cached::default();
    for round in 0..=rounds {
        tree.warm()?;
        if round == 1 {
            cached = tree.cached()?;
        }
        for (question, track) in questions.iter().zip(&mut tracks) {
            let (printed, seconds) = ask(field.rival(question.who), tree, question.tests)?;
            track.lines = answers.check(question, &printed)?;
            let complete = question.tests != WALK || track.lines == tree.lines();
            ensure!(complete, "{}: {} lines of {}", question.name(), track.lines, tree.lines());
            if round > 0 {
                track.seconds.push(seconds);
            }
        }
    }
    let [more, nothing, _] = LATENCY;
    let either = [nothing, &["-o"], more].concat();
    answers.check_both(&ask(&field.ours, tree, &either)?.0)?;
    Ok((cached, tracks))
}

fn ask(rival: &Rival, tree: &Tree, tests: &[&str]) -> anyhow::Result<(Vec<u8>, f64)> {
    let arguments = std::iter::once(tree.root.as_os_str()).chain(tests.iter().map(OsStr::new));
    rival.run(arguments, "C.UTF-8").with_context(|| format!("find {}", tests.join(" ")))
}

fn rows(files: usize, questions: &[Question], mut tracks: Vec<Track>) -> Vec<Row> {
    let medians: Vec<f64> = tracks.iter_mut().map(|track| median(&mut track.seconds)).collect();
    let seconds_of = |who, tests| {
        let asked = questions.iter().position(|&question| question == Question { who, tests });
        asked.map(|place| medians[place])
    };
    let gnu = |tests| seconds_of(Who::Gnu, tests).unwrap_or(f64::NAN);
    let asked = questions.iter().zip(&tracks).zip(&medians);
    asked
        .map(|((question, track), &seconds)| Row {
            question: question.name(),
            lines: track.lines,
            seconds,
            files_per_second: files as f64 / seconds,
            times_gnu_walk: seconds / gnu(WALK),
            times_gnu_size: seconds / gnu(SIZE),
            older_ratio: seconds_of(Who::Older, question.tests)
                .filter(|_| question.who == Who::Seekless)
                .map(|older| older / seconds),
        })
        .collect()
}

impl Question {
    /// `GNU find -size +0`.
    fn name(&self) -> String {
        let who = match self.who {
            Who::Gnu => "GNU",
            Who::Seekless => "seekless",
            Who::Older => "older",
        };
        [&[who, "find"], self.tests].concat().join(" ")
    }
}

fn words(report: &Report) -> String {
    let header = [
        "question",
        "lines",
        "ms",
        "files a second",
        "times GNU's walk",
        "times GNU's -size",
        "older / ours",
    ];
    let cells = report.rows.iter().map(|row| {
        vec![
            row.question.clone(),
            row.lines.to_string(),
            format!("{:.1}", row.seconds * 1e3),
            format!("{:.0}", row.files_per_second),
            format!("{:.2}", row.times_gnu_walk),
            format!("{:.2}", row.times_gnu_size),
            row.older_ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        ]
    });
    let cached = match report.resident_pages {
        Some(resident) => {
            format!("{:.1} %", resident as f64 * 100.0 / report.data_pages.max(1) as f64)
        }
        None => "unknown".to_owned(),
    };
    let [before, after] = report.load_average;
    format!(
        "{}\n{} files in {} folders; data pages cached at the start: {cached}; {} cores. Medians of {} rounds that alternate, after \
         one discarded, process start included, output to a pipe; load average {before} before and {after} after.",
        table(&header, cells.collect()),
        report.files,
        report.folders,
        report.cores,
        report.rounds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_gnu() {
        let rival = |name| Rival::new(name, Path::new(name), &[]);
        let mut field = Field { gnu: rival("GNU"), ours: rival("seekless"), older: None };
        let seconds = [2.0, 1.0, 4.0, 2.0, 6.0, 8.0, 3.0];
        let tracks = |seconds: &[f64]| {
            let track = |&second| Track { lines: 1, seconds: vec![second, 9.0, 0.5] };
            seconds.iter().map(track).collect()
        };
        let found = rows(100, &field.questions(), tracks(&seconds));
        assert_eq!(found[4].question, "seekless find -latency +0");
        assert_eq!((found[4].times_gnu_walk, found[4].times_gnu_size), (3.0, 1.5));
        assert_eq!((found[1].files_per_second, found[0].times_gnu_walk), (100.0, 1.0));
        assert!(found.iter().all(|row| row.older_ratio.is_none()));

        field.older = Some(rival("older"));
        let seconds = [2.0, 1.0, 3.0, 4.0, 2.0, 1.0, 6.0, 3.0, 8.0, 8.0, 3.0, 3.0];
        let found = rows(100, &field.questions(), tracks(&seconds));
        assert_eq!(found[2].question, "older find");
        let ratios: Vec<f64> = found.iter().filter_map(|row| row.older_ratio).collect();
        assert_eq!(ratios, [3.0, 0.5, 0.5, 1.0, 1.0]);
        assert_eq!(found[4].times_gnu_size, 0.5);
    }
}
