//! The options by which a bench or lab writes its results, and the writing.

use crate::measured::{Machine, commit, load_average, today};
use crate::{Measured, Results, Table};
use anyhow::Context;
use std::path::{Path, PathBuf};

/// Where results go.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Output {
    /// Writes the results into the checkout, for docs/measured: bench/results/NAME.json
    #[arg(long, global = true, help_heading = "Results")]
    pub save: bool,
    /// Writes the results to FILE (JSON); tables of other runs stay in it
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        conflicts_with = "save",
        help_heading = "Results"
    )]
    pub results: Option<PathBuf>,
}

/// A run of a bench that has begun.
#[derive(Debug)]
pub struct Run {
    path: Option<PathBuf>,
    bench: String,
    command: String,
    load_before: Option<f64>,
}

/// The root of the checkout that this was built from.
fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Run {
    /// Begins a run of `bench`, which is started by `starter` (`./run bench`), the bench's name,
    /// and the words of this process.
    #[must_use]
    pub fn begin(output: &Output, starter: &str, bench: &str) -> Self {
        let saved = || checkout().join("bench/results").join(format!("{bench}.json"));
        Self {
            path: output.results.clone().or_else(|| output.save.then(saved)),
            bench: bench.to_owned(),
            command: command(starter, std::env::args().skip(1)),
            load_before: load_average(),
        }
    }

    /// Ends the run: writes what it found, if that was asked for.
    ///
    /// # Errors
    /// The tables contradict themselves, or the file cannot be written.
    pub fn end(self, tables: Vec<Table>) -> anyhow::Result<()> {
        let Some(path) = self.path else { return Ok(()) };
        let load = self.load_before.zip(load_average()).map(|(before, after)| [before, after]);
        let (date, commit, machine) = (today(), commit(&checkout()), Machine::this());
        let mut tables: Vec<Table> = tables.into_iter().map(Table::finished).collect();
        tables.retain(|table| !table.rows.is_empty());
        for table in &mut tables {
            table.measured = Measured {
                command: self.command.clone(),
                conditions: std::mem::take(&mut table.measured.conditions),
                date: date.clone(),
                commit: commit.clone(),
                origin: None,
                load,
                machine: machine.clone(),
            };
        }
        let mut results =
            if path.exists() { Results::read(&path)? } else { Results::new(&self.bench) };
        results.take(tables);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        results.write(&path)?;
        eprintln!("results: {}", path.display());
        Ok(())
    }
}

/// What to type for this run, without the words that say where results go.
fn command(starter: &str, words: impl Iterator<Item = String>) -> String {
    let mut line = starter.to_owned();
    let mut is_file = false;
    for word in words {
        if std::mem::take(&mut is_file) || word == "--save" || word.starts_with("--results=") {
            continue;
        }
        if word == "--results" {
            is_file = true;
            continue;
        }
        let plain = |letter: char| letter.is_alphanumeric() || "-_=./,:+%@".contains(letter);
        let is_plain = !word.is_empty() && word.chars().all(plain);
        line += &if is_plain { format!(" {word}") } else { format!(" '{word}'") };
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Better, Contender, Figure};

    #[test]
    fn the_command_is_what_to_type() {
        let words = ["landlord", "--results", "/tmp/x", "--rounds", "3", "--save", "--a", "b c"];
        let typed = command("./run bench", words.into_iter().map(str::to_owned));
        assert_eq!(typed, "./run bench landlord --rounds 3 --a 'b c'");
    }

    #[test]
    fn a_run_writes_its_tables_beside_those_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/results.json");
        let output = Output { results: Some(path.clone()), ..Output::default() };
        for id in ["a", "b"] {
            let table = Table::new(id, "T", "case", "s", Better::Lower)
                .contenders([Contender::ours("ours")])
                .row("one", [Figure::exact(1.0)])
                .under("quiet");
            Run::begin(&output, "./run bench", "test").end(vec![table]).unwrap();
        }
        let results = Results::read(&path).unwrap();
        assert_eq!((results.bench.as_str(), results.tables.len()), ("test", 2));
        let measured = &results.tables[1].measured;
        assert_eq!(measured.conditions, "quiet");
        assert!(measured.date.is_some() && measured.machine.is_some() && measured.load.is_some());
        Run::begin(&Output::default(), "./run bench", "test").end(Vec::new()).unwrap();
    }
}
