//! `seekless advise TRACE...`.

mod cache;
mod files;
mod page;

use super::Args;
use crate::command::foreign::{Foreign, say_left_out};
use crate::output;
use anyhow::Context;
use clap::builder::PossibleValuesParser;
use seekless::device::units::parse_bytes;
use seekless::policy::eviction::{NAMES, needs_of};
use seekless::sim::{Capacities, Reading};
use seekless::sys::memory::free_bytes;
use seekless::sys::output::Content;
use seekless::tools::advise::quoted;
use seekless::tools::advise::traced::{Options, TraceAdvice, advise_traces};
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

/// Options for traces.
#[derive(clap::Args, Debug)]
pub(super) struct TracedArgs {
    #[command(flatten)]
    foreign: Foreign,
    /// Advise on a cache, which has this size now: 1GiB, 10000pages, or 10% of the working set
    #[arg(long, value_name = "SIZE", help_heading = "Options for traces")]
    cache: Option<Capacities>,
    /// The policy of the present cache
    #[arg(long, value_name = "NAME", default_value = "lru", value_parser = policy, help_heading = "Options for traces")]
    policy: String,
    /// The unit of a request: file, page or object [default: depends on the trace]
    #[arg(long, value_name = "UNIT", value_parser = PossibleValuesParser::new(["file", "page", "object"]), help_heading = "Options for traces")]
    unit: Option<String>,
    /// Every file or object weighs 1, whatever its size
    #[arg(long, help_heading = "Options for traces")]
    unit_weights: bool,
    /// Refuse a trace whose requests take more memory than this [default: half of what is free]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, help_heading = "Options for traces")]
    memory: Option<u64>,
}

/// Options of `advise` that `sim` does not have, or that mean something else there; and whether a
/// value follows.
const NOT_OF_SIM: [(&str, bool); 6] = [
    ("--json", false),
    ("--force", false),
    ("--cache", true),
    ("--policy", true),
    ("--device", true),
    ("--html", true),
];

/// A policy that a cache may have: it does not know the future.
fn policy(name: &str) -> Result<String, String> {
    match needs_of(name) {
        Ok(needs) if NAMES.contains(&name) && !needs.next_use => Ok(name.to_owned()),
        Ok(_) => Err("no cache can have it, since it knows the future".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Looks at the traces, and prints the advice.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let html = args.html.as_deref().map(|path| args.force.destination(path));
    let html = html.map(|destination| destination.create(Content::Text)).transpose()?;
    let traced = &args.traced;
    let options = Options {
        reading: Reading {
            unit: traced.unit.as_deref().map(str::parse).transpose()?,
            unit_weights: traced.unit_weights,
            import: traced.foreign.options()?,
            memory_bytes_max: traced.memory.or_else(|| free_bytes().map(|free| free / 2)),
            ..Reading::default()
        },
        device: args.device.clone(),
        cache: traced.cache.clone(),
        policy: traced.policy.clone(),
    };
    let mut tell = |what: &str| {
        if !args.json {
            output::say(format_args!("{what} …"));
        }
    };
    let advice = advise_traces(&args.traces, &options, &mut tell);
    let advice = match args.traces.iter().all(|path| path.exists()) {
        true => advice?,
        false => advice.context("a program comes after --: seekless advise -- CMD")?,
    };
    if let Some(mut html) = html {
        let written = html.write_all(page::page(&advice, &super::repeated()).as_bytes());
        written.with_context(|| format!("cannot write {}", output::shown(html.path())))?;
        html.publish()?;
    }
    say_left_out(&options.reading.import);
    match (args.json, &advice) {
        (true, _) => output::json(&advice)?,
        (false, TraceAdvice::Cache(advice)) => output::text(&cache::report(advice, &for_sim()))?,
        (false, TraceAdvice::Files(advice)) => output::text(&files::report(advice))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The traces and how they are read, as `seekless sim` takes them.
fn for_sim() -> String {
    let mut words = Vec::new();
    let mut given = std::env::args_os().skip(2).map(OsString::into_string);
    while let Some(word) = given.next() {
        let word = word.unwrap_or_else(|bytes| bytes.to_string_lossy().into_owned());
        let is = |(name, _): &&(&str, bool)| word == *name || word.starts_with(&format!("{name}="));
        match NOT_OF_SIM.iter().find(is) {
            Some((name, true)) if word == *name => drop(given.next()),
            Some(_) => {}
            None => words.push(quoted(&word)),
        }
    }
    words.join(" ")
}
