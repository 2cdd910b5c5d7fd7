//! `./run lab probe --on nbdkit`: devices that are not our models. nbdkit serves memory through its
//! filters, which delay, limit, cache and read ahead; `probe --inside` reads it by a loop device.
//! None of them has an inside, so each track, plane or channel that is found is wrong.

mod device;
mod verdict;

use crate::output;
use anyhow::{Context, ensure};
use device::Device;
use seekless::report::table;
use seekless::tools::probe::{InsideOptions, Subject, inside};
use seekless_results::{Better, Contender, Figure, Table};
use seekless_terminal::interrupt;
use serde::Serialize;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use verdict::{Judged, Truth, Verdict};

/// Of the search in each device. One that has no inside takes seconds.
const LIMIT: Duration = Duration::from_secs(300);
/// What the delay filter adds to each read that reaches it.
const DELAY: Duration = Duration::from_millis(10);
/// The cache filter's own choice.
const BLOCK_BYTES: u64 = 64 << 10;
/// nbdkit's rates are in bits, and its M is a mebi.
const BYTES_PER_SECOND: u64 = 160 * (1 << 20) / 8;

/// A planted device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Planted {
    /// Memory as it is.
    Memory,
    /// Each read is delayed by 10 ms.
    Delay,
    /// 21 MB a second for all reads together.
    Rate,
    /// A cache in the server, before the delay.
    Cache,
    /// Readahead into that cache.
    Readahead,
}

impl Planted {
    const ALL: [Planted; 5] = [Self::Memory, Self::Delay, Self::Rate, Self::Cache, Self::Readahead];

    /// In the table.
    fn words(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Delay => "10 ms a read",
            Self::Rate => "21 MB/s for all reads",
            Self::Cache => "cache before 10 ms a read",
            Self::Readahead => "readahead and cache before 10 ms a read",
        }
    }

    /// The words of nbdkit after its plugin.
    fn filters(self) -> &'static [&'static str] {
        match self {
            Self::Memory => &[],
            Self::Delay => &["--filter=delay", "rdelay=10ms"],
            Self::Rate => &["--filter=rate", "rate=160M"],
            Self::Cache => {
                &["--filter=cache", "--filter=delay", "rdelay=10ms", "cache-on-read=true"]
            }
            Self::Readahead => &[
                "--filter=readahead",
                "--filter=cache",
                "--filter=delay",
                "rdelay=10ms",
                "cache-on-read=true",
            ],
        }
    }

    /// What is known by construction.
    fn truth(self) -> Truth {
        let cached = matches!(self, Self::Cache | Self::Readahead);
        Truth {
            delay: (!matches!(self, Self::Memory | Self::Rate)).then_some(DELAY),
            block_bytes: cached.then_some(BLOCK_BYTES),
            reads_ahead: self == Self::Readahead,
            bytes_per_second: (self == Self::Rate).then_some(BYTES_PER_SECOND),
        }
    }
}

/// What was found of one device.
#[derive(Debug, Serialize)]
struct Found {
    device: Planted,
    kind: &'static str,
    parameters: Vec<Judged>,
}

impl Found {
    fn count(&self, verdict: Verdict) -> usize {
        self.parameters.iter().filter(|judged| judged.verdict == verdict).count()
    }
}

/// Plants the devices one after the other, and probes each.
pub(super) fn run(only: &[Planted], seed: u64, json: bool) -> anyhow::Result<Vec<Table>> {
    let cancel = interrupt::cancel_when_interrupted().context("cannot wait for Ctrl-C")?;
    let chosen = if only.is_empty() { &Planted::ALL } else { only };
    let mut found = Vec::new();
    for &planted in chosen {
        eprintln!("probing: {}", planted.words());
        found.push(probe(planted, seed, &cancel)?);
    }
    if json {
        output::json(&found)?
    } else {
        output::text(&told(&found))?
    }
    Ok(vec![counts(&found)])
}

fn probe(planted: Planted, seed: u64, cancel: &Arc<AtomicBool>) -> anyhow::Result<Found> {
    let device = Device::plant(planted.filters(), cancel)?;
    let options = InsideOptions {
        inside: true,
        destroy: false,
        limit: LIMIT,
        seed: Some(seed),
        cancel: Arc::clone(cancel),
    };
    let report = inside(&Subject::Path(device.path()), &options, &mut |_, _| {});
    ensure!(!cancel.load(Ordering::Relaxed), "interrupted: the devices are taken away");
    let report = report.with_context(|| format!("cannot probe: {}", planted.words()))?;
    let parameters = verdict::judge(&planted.truth(), &report);
    Ok(Found { device: planted, kind: report.kind, parameters })
}

const VERDICTS: [(&str, Verdict); 3] = [
    ("right", Verdict::Right),
    ("unidentifiable", Verdict::Unidentifiable),
    ("wrong", Verdict::Wrong),
];

fn counts(found: &[Found]) -> Table {
    let title = "Parameters that a probe finds in devices that nbdkit serves";
    let mut table = Table::new("found-on-nbdkit", title, "device", "", Better::Neither)
        .contenders(VERDICTS.map(|(name, _)| Contender::ours(name)))
        .under(
            "Loop devices over nbdfuse over nbdkit 1.32 with its filters, in real time. None has \
             arm, tracks, planes or channels: each of those 22 parameters is unidentifiable or \
             wrong, and so is a limit where there is none. The delay and the limit are right \
             within a tenth; a cache, its block and readahead exactly.",
        );
    for device in found {
        for (name, verdict) in VERDICTS {
            let count = device.count(verdict) as f64;
            table.set(device.device.words(), name, Figure::exact(count));
        }
    }
    table
}

fn told(found: &[Found]) -> String {
    let mut text = String::new();
    for device in found {
        let _ = writeln!(text, "{}: {}\n", device.device.words(), device.kind);
        let rows = device.parameters.iter().map(|judged| {
            let word = VERDICTS.iter().find(|(_, verdict)| *verdict == judged.verdict);
            let word = word.map_or("", |(name, _)| name).to_owned();
            let Judged { name, planted, found, reason, .. } = judged.clone();
            vec![name.to_owned(), planted, found, word, reason]
        });
        text += &table(&["parameter", "planted", "found", "verdict", "why"], rows.collect());
        text.push('\n');
    }
    text
}
