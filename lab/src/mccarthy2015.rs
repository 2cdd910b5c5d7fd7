//! McCarthy 2015, "The Way the Disk Turns": a directory of small files, one packed file, a memory
//! map and LRU caches. They are read in order, at random and as the trace of a web server asks.
//! Figures 1 to 4, and the further work that his last section suggests.

mod access;
mod files;
mod future;
mod method;
mod overhead;
mod prefetch;
mod published;
mod ratios;
mod room;
mod stored;
mod timing;
mod trace;

use crate::claims::Claim;
use crate::{output, picture, scratch};
use anyhow::ensure;
use files::{Packed, Tree};
use seekless_results::{Table, data_folder, published};
use serde::Serialize;
use std::path::{Path, PathBuf};
use trace::Trace;

/// Options of the experiment. Those of his `run.sh` have their names.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Requests, one file id a line [default: mccarthy-2015/trace3.txt in the folder of data].
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Folder that holds mccarthy-2015/ with his published files.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A file's folder is its id modulo this.
    #[arg(long, default_value_t = 250)]
    modulus: u64,
    /// Bytes of each file.
    #[arg(long, default_value_t = 14_336)]
    file_size: usize,
    /// Trials of each way of reading, after one that is discarded.
    #[arg(long, default_value_t = 5)]
    trials: usize,
    /// Entries that the caches read and keep together.
    #[arg(long, default_value_t = 1)]
    entries_a_line: u32,
    /// Lines of each cache.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "15000,20000,25000")]
    lines: Vec<u64>,
    /// Makes tree and packed files (0.9 GB each for his trace) in DIR and leaves them there,
    /// instead of in a temporary folder.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Only hit ratios (figures 3 and 4), which need no files.
    #[arg(long)]
    ratios: bool,
    /// Three hundred files and a made-up trace, to see that everything works; no claim is judged.
    #[arg(long, alias = "small", conflicts_with_all = ["trace", "ratios"])]
    quick: bool,
    /// Draws figure 3 (.svg or .png).
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Prints figures as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Figures {
    is_published_trace: bool,
    entries: usize,
    requests: usize,
    perfect_hit_ratio: f64,
    hit_ratios: Vec<ratios::Row>,
    #[serde(flatten)]
    live: Option<Live>,
    claims: Vec<Claim>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    let args = &args.checked()?;
    if args.ratios {
        return measured(None, args);
    }
    if let Some(folder) = &args.keep {
        return measured(Some(folder), args);
    }
    scratch::within(&std::env::temp_dir(), "mccarthy2015", |folder| measured(Some(folder), args))
}

/// Simulates, and measures on files in the folder, if there is one. Each table is printed when it
/// is done.
fn measured(folder: Option<&Path>, args: &Args) -> anyhow::Result<Vec<Table>> {
    let trace = args.read_trace()?;
    let hit_ratios = ratios::simulate_each(&trace, args)?;
    if let Some(path) = &args.picture {
        picture::save(path, &ratios::picture(&hit_ratios))?;
    }
    if !args.json {
        output::text(&ratios::words(&trace, &hit_ratios))?;
    }
    let live = folder.map(|folder| live(&trace, &hit_ratios, folder, args)).transpose()?;
    let mut claims = ratios::claims(&trace, &hit_ratios);
    claims.extend(live.iter().flat_map(|live| timing::claims(&live.times)));
    if !args.json {
        let verdicts = crate::claims::words(&claims);
        let words = if args.quick { crate::claims::NOT_JUDGED } else { &verdicts };
        output::text(&format!("\n{words}"))?;
    }
    let mut saved =
        vec![ratios::misses(&trace, &hit_ratios), ratios::misses_over_time(&trace, &hit_ratios)];
    saved.extend(live.iter().flat_map(Live::tables));
    if args.json {
        let (entries, requests) = (trace.ids.len(), trace.requests.len());
        let perfect_hit_ratio = trace.perfect_hit_ratio();
        output::json(&Figures {
            is_published_trace: !(args.quick || args.trace.is_some() || trace.is_stand_in),
            entries,
            requests,
            perfect_hit_ratio,
            hit_ratios,
            live,
            claims,
        })?;
    }
    Ok(saved)
}

/// What is measured on files.
#[derive(Serialize)]
struct Live {
    times: timing::Times,
    overhead: Vec<overhead::Row>,
    future: Vec<future::Row>,
    stored: Vec<stored::Row>,
}

impl Live {
    fn tables(&self) -> Vec<Table> {
        let mut tables = timing::tables(&self.times).to_vec();
        tables.push(overhead::over_packed(&self.overhead));
        tables.extend(future::tables(&self.future));
        tables
    }
}

fn live(
    trace: &Trace,
    hit_ratios: &[ratios::Row],
    folder: &Path,
    args: &Args,
) -> anyhow::Result<Live> {
    let say = |words: String| if args.json { Ok(()) } else { output::text(&words) };
    room::check(folder, trace, args)?;
    let (times, packed) = timed(trace, folder, args)?;
    say(timing::words(&times))?;
    let overhead = overhead::measure(trace, &packed, args)?;
    say(overhead::words(&overhead))?;
    let future = future::measure(trace, folder, args)?;
    say(future::words(&future))?;
    let stored = stored::measure(trace, folder, hit_ratios, args)?;
    say(stored::words(&stored))?;
    Ok(Live { times, overhead, future, stored })
}

/// Figures 1 and 2, on files that are made first.
fn timed(trace: &Trace, folder: &Path, args: &Args) -> anyhow::Result<(timing::Times, Packed)> {
    eprintln!(
        "making {} files of {} bytes in {}",
        trace.ids.len(),
        args.file_size,
        folder.display()
    );
    let tree = Tree::make(&folder.join("db-files"), &trace.ids, args.modulus, args.file_size)?;
    let in_order: Vec<u32> = (0..trace.ids.len() as u32).collect();
    let packed = Packed::make(folder.join("db"), &trace.ids, &in_order, args.file_size)?;
    let times = timing::measure(trace, &tree, &packed, args)?;
    Ok((times, packed))
}

impl Args {
    /// The options in force: small ones with `--quick`.
    fn checked(&self) -> anyhow::Result<Args> {
        picture::check(self.picture.as_deref())?;
        ensure!(
            self.file_size >= files::ID_BYTES,
            "--file-size must be at least {}",
            files::ID_BYTES
        );
        ensure!(self.modulus > 0 && self.trials > 0, "--modulus and --trials must be at least 1");
        ensure!(self.entries_a_line > 0, "--entries-a-line must be at least 1");
        ensure!(!self.lines.is_empty() && !self.lines.contains(&0), "--lines must be at least 1");
        let quick = self.quick;
        Ok(Args {
            trace: self.trace.clone(),
            data: self.data.clone(),
            keep: self.keep.clone(),
            picture: self.picture.clone(),
            lines: if quick { vec![50, 100] } else { self.lines.clone() },
            trials: if quick { 1 } else { self.trials },
            ..*self
        })
    }

    /// The default options.
    #[cfg(test)]
    fn test() -> Self {
        Self {
            trace: None,
            data: None,
            modulus: 250,
            file_size: 14_336,
            trials: 5,
            entries_a_line: 1,
            lines: vec![15_000],
            keep: None,
            ratios: false,
            quick: true,
            picture: None,
            json: false,
        }
    }

    fn read_trace(&self) -> anyhow::Result<Trace> {
        match &self.trace {
            _ if self.quick => Ok(Trace::small()),
            Some(trace) => Trace::read(trace),
            None => match published(self.data.as_deref(), "mccarthy-2015/trace3.txt") {
                Ok(trace) => Trace::read(&trace),
                Err(missing) if self.data.is_some() => Err(missing),
                Err(missing) => {
                    eprintln!("{missing}");
                    Ok(Trace::stand_in())
                }
            },
        }
    }

    /// The place of a file that he published.
    fn published(&self, name: &str) -> PathBuf {
        data_folder(self.data.as_deref()).join("mccarthy-2015").join(name)
    }
}
