//! `seekless trace`: shows traces and converts them between formats.

pub mod anonymise;
pub mod blocks;
pub mod cut;
pub mod diff;
pub mod export;
pub mod files;
pub mod import;
pub mod info;
pub mod merge;
pub mod recover;

use clap::{Args as ClapArgs, Subcommand};
use std::process::ExitCode;

/// Show traces and convert them between formats.
///
/// A trace is one Parquet file with a row for each access; DuckDB, pandas and polars open it as it
/// is. Every verb that takes a trace also takes the spool of a recording that was cut off, and what
/// `trace import` imports without options, plain or compressed.
///
/// A trace may lie in object storage: s3://BUCKET/KEY, gs://BUCKET/KEY, az://CONTAINER/KEY, or
/// https://HOST/PATH, to read from. It is fetched whole, and written whole or not at all.
#[derive(ClapArgs, Debug)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  seekless trace info run.parquet
  seekless trace files run.parquet --sort latency --top 20
  seekless trace import --format csv monday.csv.gz tuesday.csv.gz -o runs.parquet
  seekless trace export run.parquet | head
  seekless trace merge run.parquet s3://bucket/run.parquet -o s3://bucket/both.parquet"
)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Info(info::Args),
    Files(files::Args),
    Import(import::Args),
    Export(export::Args),
    Merge(merge::Args),
    Cut(cut::Args),
    Diff(diff::Args),
    Anonymise(anonymise::Args),
    Blocks(blocks::Args),
    Recover(recover::Args),
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.verb {
        Verb::Info(args) => info::run(args),
        Verb::Files(args) => files::run(args),
        Verb::Import(args) => import::run(args),
        Verb::Export(args) => export::run(args),
        Verb::Merge(args) => merge::run(args),
        Verb::Cut(args) => cut::run(args),
        Verb::Diff(args) => diff::run(args),
        Verb::Blocks(args) => blocks::run(args),
        Verb::Anonymise(args) => anonymise::run(args),
        Verb::Recover(args) => recover::run(args),
    }
}
