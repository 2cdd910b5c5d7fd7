//! `seekless advise TRACE...`.

mod cache;
mod files;
mod page;
mod service;

use super::Args;
use crate::command::foreign::{Foreign, say_left_out};
use crate::output::{Html, Words, shown};
use anyhow::Context;
use clap::builder::PossibleValuesParser;
use seekless::device::units::parse_bytes;
use seekless::policy::eviction::{NAMES, needs_of};
use seekless::sim::{Capacities, Reading};
use seekless::sys::memory::free_bytes;
use seekless::sys::objects;
use seekless::tools::advise::quoted;
use seekless::tools::advise::traced::{Options, TraceAdvice, advise_traces};
use std::ffi::OsString;
use std::process::ExitCode;

/// Options for traces.
#[derive(clap::Args, Debug)]
pub(super) struct TracedArgs {
    #[command(flatten, next_help_heading = "Options for traces")]
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
    let html = args.html.begin(args.force)?;
    let words = Words::beside(html.as_ref().map(Html::destination));
    let options = options(args)?;
    let advice = advise_traces(&args.traces, &options, &mut |what| args.tell(what));
    let advice = match args.traces.iter().all(|path| path.exists() || objects::of(path).is_some()) {
        true => advice?,
        false => advice.context("a program comes after --: seekless advise -- CMD")?,
    };
    say_left_out(&options.reading.import);
    let names: Vec<_> = args.traces.iter().map(|path| shown(path)).collect();
    let title = format!("seekless advise {}", names.join(" "));
    print(args, &advice, &for_sim(), words)?;
    write(html, &advice, &title)?;
    Ok(ExitCode::SUCCESS)
}

/// How the traces are looked at.
pub(super) fn options(args: &Args) -> anyhow::Result<Options> {
    let traced = &args.traced;
    Ok(Options {
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
        basis: None,
        called: None,
    })
}

/// Prints the advice. `for_sim` names the traces for `seekless sim`.
pub(super) fn print(
    args: &Args,
    advice: &TraceAdvice,
    for_sim: &str,
    words: Words,
) -> anyhow::Result<()> {
    if args.json {
        return words.json(advice);
    }
    words.text(&match advice {
        TraceAdvice::Cache(advice) => cache::report(advice, for_sim),
        TraceAdvice::Files(advice) => files::report(advice, for_sim),
        TraceAdvice::Service(advice) => service::report(advice, for_sim),
    })
}

/// Writes the page, if one is asked for.
pub(super) fn write(html: Option<Html>, advice: &TraceAdvice, title: &str) -> anyhow::Result<()> {
    let Some(html) = html else { return Ok(()) };
    let (page, found) = page::page(advice, title);
    html.write(page, found)
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
