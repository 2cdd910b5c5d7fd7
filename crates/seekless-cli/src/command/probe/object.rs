//! `probe s3://BUCKET/KEY`: what requests to object storage cost.

use super::{Args, rate, seconds, table_of};
use crate::output::{self, Words, line};
use anyhow::{Context, bail};
use seekless::device::units::format_bytes;
use seekless::sys::output::Content;
use seekless::tools::probe::{ObjectProbe, keep, measure};
use seekless::tools::remote;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// Measures, prints and saves.
pub(super) fn run(path: &Path, args: &Args) -> anyhow::Result<ExitCode> {
    if args.inside || args.destroy_data || args.picture.is_some() {
        bail!("of an object only its requests can be measured: leave out the other options");
    }
    let saved = match &args.save {
        Some(path) => Some(args.force.destination(path).create(Content::Text)?),
        None => None,
    };
    let words = Words::beside(saved.iter().map(|saved| saved.destination()));
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let seed = args.seed.unwrap_or_else(|| clock() as u64);
    let engine = remote::engine(path)?;
    let mut progress = output::progress("Measuring");
    let measured = measure(path, &*engine, seed, &mut progress);
    drop(progress);
    let found = measured?;
    let (table, storage) = keep(&found, table_of(args).as_deref())?;
    if let Some(mut saved) = saved {
        let written = saved.write_all(described(&found).as_bytes());
        written.with_context(|| format!("cannot write {}", output::shown(saved.path())))?;
        saved.publish()?;
    }
    if args.json {
        words.json(&found)?;
    } else {
        words.text(&report(&found))?;
        let table = output::shown(&table);
        words.text(&format!("kept as {} in {table}, for `seekless sleds`\n", line(&storage)))?;
        if let Some(path) = &args.save {
            words.text(&format!("kept in {}: use it as --device\n", output::shown(path)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The device's file.
fn described(found: &ObjectProbe) -> String {
    let name = line(&found.object);
    format!("# {name}, as seekless probe found it.\n\n{}", found.parameters.to_toml())
}

fn report(found: &ObjectProbe) -> String {
    let mut text = format!("{}\n", line(&found.object));
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<11} {value}");
    };
    line("size", format_bytes(found.bytes));
    let (late, latest) = (seconds(found.first_byte_p90_s), seconds(found.first_byte_max_s));
    let median = seconds(found.first_byte_s);
    line("first byte", format!("{median}  (9 of 10 within {late}, all within {latest})"));
    line("bandwidth", format!("{} a stream", rate(found.bandwidth)));
    let (at_once, each_second) = (found.streams, found.requests_per_second.round());
    line("at once", format!("{at_once} requests, {each_second} a second"));
    line("measured by", format!("{} small requests, one at a time", found.requests));
    text
}
