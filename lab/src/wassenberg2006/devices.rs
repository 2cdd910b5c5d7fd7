//! Beyond the paper: what a store makes of each order on five devices, each start loaded from
//! orders that were made without it. The paper counts seeks only.

use super::tables;
use crate::data::ZeroAd;
use anyhow::Context;
use seekless::report::table;
use seekless::tools::device::named;
use seekless::tools::order::{Loadings, Options, Rivals, order};
use seekless_results::{Better, Contender, Figure, Table};

/// The disk of the paper, two cloud volumes, an object store and a flash drive.
const DEVICES: [&str; 5] =
    ["deskstar-7k250", "iops=500,bandwidth=150MB/s", "iops=120,bandwidth=150MB/s", "s3", "nvme"];

pub(crate) fn measure(zero_ad: &ZeroAd) -> anyhow::Result<Vec<Rivals>> {
    DEVICES.iter().map(|device| rivals(zero_ad, device)).collect()
}

fn rivals(zero_ad: &ZeroAd, device: &str) -> anyhow::Result<Rivals> {
    let options = Options {
        files: Some(zero_ad.files.clone()),
        device: named(device)?,
        rivals: true,
        ..Options::default()
    };
    order(&zero_ad.runs, &options)?.report.rivals.context("five runs can be left out in turn")
}

/// Seconds of a start, mean of the five, by device and order.
pub(crate) fn seconds(devices: &[Rivals]) -> Table {
    let title = "Time of a start from each order, mean of five";
    let mut table = Table::new("devices", title, "device, how", "s", Better::Lower)
        .contenders(["best", "greedy"].map(Contender::ours))
        .contenders(["recent", "name"].map(Contender::rival))
        .under(tables::HELD_OUT);
    for rivals in devices {
        for rival in &rivals.methods {
            let runs = rival.runs.len().max(1) as f64;
            let sums = &rival.sums;
            for (how, loading) in [("list known", &sums.listed), ("on demand", &sums.on_demand)] {
                let seconds = loading.time_ns as f64 / 1e9 / runs;
                table.set(
                    &format!("{}, {how}", rivals.device),
                    &rival.method,
                    Figure::exact(seconds),
                );
            }
        }
    }
    table
}

pub(crate) fn words(devices: &[Rivals]) -> String {
    let header = ["device", "order", "list known", "requests", "MB", "on demand", "requests", "MB"];
    let mut rows = Vec::new();
    for rivals in devices {
        for rival in &rivals.methods {
            let mut row = vec![rivals.device.clone(), rival.method.clone()];
            row.extend(cells(&rival.sums, rival.runs.len() as u64));
            rows.push(row);
        }
    }
    format!(
        "Device time of orders: five starts, each from orders made of the other four, mean\n\n{}",
        table(&header, rows)
    )
}

fn cells(sums: &Loadings, runs: u64) -> Vec<String> {
    let runs = runs.max(1);
    let of = |loading: &seekless::tools::order::Loading| {
        [
            format!("{:.3} s", loading.time_ns as f64 / 1e9 / runs as f64),
            (loading.requests / runs).to_string(),
            (loading.bytes / runs / 1_000_000).to_string(),
        ]
    };
    of(&sums.listed).into_iter().chain(of(&sums.on_demand)).collect()
}
