//! Wassenberg 2006, "Optimizing File Accesses via Ordering and Caching", on five recorded starts of 0 A.D. A26, twenty
//! years after the paper's three. Sections 4.3 (ordering quality), 4.4 (cache efficacy) and 4.2 (throughput).

mod cache;
mod end_to_end;
mod ordering;

use crate::data;
use serde::Serialize;
use std::path::PathBuf;

/// Options of the experiment.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Folder that holds 0ad/ (five runs and the list of files).
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Also makes all 36,266 files (3.3 GB) below DIR, packs them without the run in question, and loads that run cold.
    #[arg(long, value_name = "DIR")]
    end_to_end: Option<PathBuf>,
    /// The runs to load cold.
    #[arg(long, value_name = "NAME", default_value = "arcadia", value_delimiter = ',')]
    run: Vec<String>,
    /// The volume that loose files and pack are loaded from.
    #[arg(long, default_value = "iops=500,bandwidth=150MB/s")]
    device: seekless::device::DeviceSpec,
    /// Timed rounds, after one that is discarded.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Prints figures as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Figures {
    ordering: Vec<ordering::Row>,
    cache: Vec<seekless::sim::Figures>,
    end_to_end: Vec<end_to_end::Row>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let zero_ad = data::zero_ad(&data::folder(args.data.as_deref()))?;
    let ordering = ordering::measure(&zero_ad)?;
    let cache = cache::simulate(&zero_ad)?;
    if !args.json {
        println!("{}\n{}", ordering::words(&ordering), cache::words(&cache));
    }
    let mut end_to_end = Vec::new();
    if let Some(folder) = &args.end_to_end {
        end_to_end = end_to_end::measure(&zero_ad, folder, args)?;
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&Figures { ordering, cache, end_to_end })?);
    } else if !end_to_end.is_empty() {
        println!("{}", end_to_end::words(&end_to_end, args));
    }
    Ok(())
}
