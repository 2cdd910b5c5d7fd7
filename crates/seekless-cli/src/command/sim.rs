//! `seekless sim`: what caches of other policies and sizes would have hit.

use crate::output;
use clap::builder::PossibleValuesParser;
use seekless::device::units::{format_bytes, format_count, parse_bytes};
use seekless::policy::eviction::NAMES;
use seekless::report::table;
use seekless::sim::{Case, Figures, Requests, Unit, simulate_all};
use std::path::PathBuf;
use std::process::ExitCode;

/// Simulate caches: what would another policy or another size have hit?
///
/// Each policy runs at each capacity over the same requests. In file units a request is the load of a whole file, and a
/// file over half the cache bypasses it under every policy. In page units each 4 KiB page of a read or write is a request,
/// and the capacity is the whole pages that fit. Several traces, and the runs in them, follow one another in one cache.
///
/// A compulsory miss is the first request for a page or file; no cache could have had it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless sim run.parquet --capacity 64MB
  seekless sim run.parquet --unit page --policy lru,arc --capacity 10MB,64MB,256MiB
  seekless sim monday.csv.gz tuesday.csv.gz --policy landlord --capacity 10MB --json")]
pub struct Args {
    /// Traces: Parquet, or a CSV with known column names, compressed or not
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// What a request asks for: file or page
    #[arg(long, default_value = "file", value_name = "UNIT", value_parser = PossibleValuesParser::new(["file", "page"]))]
    unit: String,
    /// Policies; landlord@full restores all credit at a hit, landlord 75 %
    #[arg(long, value_delimiter = ',', default_value = "lru,arc,landlord", value_name = "NAME,...", value_parser = PossibleValuesParser::new(NAMES))]
    policy: Vec<String>,
    /// Capacities, such as 10MB or 64MiB; of a trace of bare ids, how many of them
    #[arg(long, value_delimiter = ',', default_value = "64MB", value_name = "BYTES,...", value_parser = parse_bytes)]
    capacity: Vec<u64>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Reads the traces once, simulates every case on all cores, prints.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let unit: Unit = args.unit.parse()?;
    let mut reading = output::progress("Reading");
    let requests = Requests::read(&args.traces, unit, &mut reading)?;
    drop(reading);
    let mut simulating = output::progress("Simulating");
    let figures = simulate_all(&requests, &cases(&args), &mut simulating)?;
    drop(simulating);
    if args.json {
        output::json(&figures)?;
    } else {
        output::text(&report(&requests, &figures))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn cases(args: &Args) -> Vec<Case> {
    let of_capacity =
        |&capacity: &u64| args.policy.iter().map(move |policy| Case { policy: policy.clone(), capacity });
    args.capacity.iter().flat_map(of_capacity).collect()
}

fn report(requests: &Requests, figures: &[Figures]) -> String {
    let bare_ids = requests.unit() == Unit::File && requests.unit_weights();
    let size = |bytes: u64| if bare_ids { format_count(bytes) } else { format_bytes(bytes) };
    let total = figures.first().map_or(0, |row| row.compulsory_bytes);
    let what = match (requests.unit(), bare_ids) {
        (Unit::Page, _) => "pages",
        (Unit::File, false) => "files",
        (Unit::File, true) => "ids",
    };
    let heading = format!(
        "{} requests for {} {what}{}\n\n",
        format_count(requests.len() as u64),
        format_count(u64::from(requests.distinct())),
        if bare_ids { String::new() } else { format!(" of {}", format_bytes(total)) },
    );
    let header =
        ["policy", "capacity", "hits", "misses", "compulsory", "other misses", "bypassed", "missed bytes"];
    let row = |row: &Figures| {
        vec![
            row.policy.clone(),
            size(row.capacity),
            percent(row.hit_ratio),
            format_count(row.misses),
            format_count(row.compulsory_misses),
            percent(row.non_compulsory_miss_ratio),
            format_count(row.bypassed),
            percent(row.byte_miss_ratio),
        ]
    };
    heading + &table(&header, figures.iter().map(row).collect())
}

fn percent(ratio: f64) -> String {
    format!("{:.2} %", 100.0 * ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_a_row_for_each_policy_and_capacity() {
        let requests = Requests::from_files(&[0, 1, 0, 2, 0], &[10, 60, 70]);
        let cases = ["lru", "landlord"].map(|policy| Case { policy: policy.into(), capacity: 150 });
        let text = report(&requests, &simulate_all(&requests, &cases, &mut |_, _| {}).unwrap());
        let expected = "\
5 requests for 3 files of 140 B

policy    capacity     hits  misses  compulsory  other misses  bypassed  missed bytes
─────────────────────────────────────────────────────────────────────────────────────
lru          150 B  40.00 %       3           3        0.00 %         0       87.50 %
landlord     150 B  40.00 %       3           3        0.00 %         0       87.50 %
";
        assert_eq!(text, expected);
    }

    #[test]
    fn bare_ids_are_counted_not_weighed() {
        let requests = Requests::from_files(&[0, 1, 0], &[1, 1]);
        let cases = [Case { policy: "arc".into(), capacity: 20_000 }];
        let text = report(&requests, &simulate_all(&requests, &cases, &mut |_, _| {}).unwrap());
        assert!(text.starts_with("3 requests for 2 ids\n"), "{text}");
        assert!(text.contains(" 20,000  33.33 %"), "{text}");
    }
}
