//! Wassenberg 2006, "Optimizing File Accesses via Ordering and Caching", on five recorded starts of
//! 0 A.D. A26, twenty years after the paper's three. Sections 4.2 (throughput, on a modelled disk),
//! 4.3 (ordering quality, also behind the cache of 4.4.1), 4.4 (cache efficacy) and 5.3 (files that
//! leave the cache together); with `--end-to-end` also 4.2 for a start that was held out. With
//! `--live` instead 4.2 on the real disk, with `--peers` beside squashfs, erofs, tar and zipfile,
//! with `--cache` 4.4.1 (cache size), 4.5 (cost of the cache manager) and 4.6 (allocator
//! fragmentation).

mod cache;
mod claims;
mod devices;
mod end_to_end;
mod figure3;
mod fragmentation;
mod game;
mod live;
mod load;
mod manager;
mod ordering;
mod parts;
mod peers;
mod reader;
mod seeks;
mod tables;
mod throughput;
mod together;

use crate::claims::Claim;
use crate::data::{self, ZeroAd};
use crate::{output, picture, scratch};
use anyhow::Context;
use seekless_results::Table;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Options of the experiment.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Folder that holds 0ad/ (five runs and the list of files).
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The cache alone: 4.4 with the sizes of figure 3, what the cache manager costs (4.5), and
    /// what its memory wastes (4.6).
    #[arg(long, conflicts_with_all = ["end_to_end", "peers"], group = "can_be_quick")]
    cache: bool,
    /// Draws figure 2, or with `--cache` figure 3 (.svg or .png).
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Measures the cache manager, or live, or the peers, with few files, to see that it works; no
    /// claim is judged.
    #[arg(long, alias = "small", requires = "can_be_quick")]
    quick: bool,
    /// Also makes all 36,266 files (3.3 GB) in a temporary folder in DIR, packs them without the
    /// run in question, and loads that run cold.
    #[arg(long, value_name = "DIR", group = "can_be_throttled")]
    end_to_end: Option<PathBuf>,
    /// 4.2 alone, live: makes the files of the first run in a temporary folder in DIR, loose and in
    /// archives of four orders, and loads them from this disk by each technique.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["cache", "end_to_end", "picture"],
        group = "can_be_quick")]
    live: Option<PathBuf>,
    /// 4.2 alone, beside others: makes all 36,266 files (3.3 GB) below DIR, packs them without the
    /// run in question, and loads that run cold from our packs, squashfs, erofs and tar, and by
    /// Python's zipfile. Writes some 21 GB, and leaves them there. Images are mounted by root only.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["end_to_end", "live", "picture"],
        groups = ["can_be_quick", "can_be_throttled"])]
    peers: Option<PathBuf>,
    /// Of all files only those that the five starts load: some 4 GB in place of 21.
    #[arg(long, requires = "peers")]
    of_starts: bool,
    /// The runs to load cold.
    #[arg(long, value_name = "NAME", default_value = "arcadia", value_delimiter = ',')]
    run: Vec<String>,
    /// The volume that loose files and pack are loaded from.
    #[arg(long, default_value = "iops=500,bandwidth=150MB/s", value_parser = seekless::tools::device::named)]
    device: seekless::device::DeviceSpec,
    /// Limits the real disk by the kernel instead of modelling it (root).
    #[arg(long, requires = "can_be_throttled")]
    throttle: bool,
    /// Timed rounds, after one that is discarded.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Prints figures as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Figures {
    throughput: Vec<throughput::Row>,
    parts: Vec<parts::Row>,
    ordering: Vec<ordering::Row>,
    seeks: Vec<seeks::Row>,
    devices: Vec<seekless::tools::order::Rivals>,
    cache: Vec<seekless::sim::Figures>,
    together: Vec<together::Row>,
    claims: Vec<Claim>,
    end_to_end: Vec<end_to_end::Row>,
}

#[derive(Serialize)]
struct CacheFigures {
    cache: Vec<seekless::sim::Figures>,
    figure_3: Vec<seekless::sim::Figures>,
    fragmentation: Vec<fragmentation::Row>,
    manager: Vec<manager::Row>,
    claims: Vec<Claim>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    if let Some(folder) = &args.peers {
        // What it makes stays, and it has its own way to end.
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        return measured(folder, args);
    }
    let parent = args.live.clone().or_else(|| args.end_to_end.clone());
    let parent = parent.unwrap_or_else(std::env::temp_dir);
    scratch::within(&parent, "wassenberg2006", |scratch| measured(scratch, args))
}

/// Measures what the options name. What is made for a while is made in `scratch`.
fn measured(scratch: &Path, args: &Args) -> anyhow::Result<Vec<Table>> {
    let zero_ad = data::zero_ad(args.data.as_deref(), scratch)?;
    args.run.iter().try_for_each(|name| zero_ad.run(name).map(drop))?;
    if let Some(heading) = zero_ad.heading().filter(|_| !args.json) {
        output::text(heading)?;
    }
    let tables = match (&args.live, &args.peers) {
        (Some(_), _) => live_alone(&zero_ad, args),
        (_, Some(folder)) => peers_alone(&zero_ad, folder, args),
        _ if args.cache => cache_alone(&zero_ad, args),
        _ => all_but_sizes(&zero_ad, args),
    };
    Ok(zero_ad.headed(tables?))
}

fn peers_alone(zero_ad: &ZeroAd, folder: &Path, args: &Args) -> anyhow::Result<Vec<Table>> {
    let peers = peers::measure(zero_ad, folder, args)?;
    if args.json {
        output::json(&peers)?
    } else {
        output::text(&peers::words(&peers))?
    }
    Ok(peers::tables(&peers))
}

fn live_alone(zero_ad: &ZeroAd, args: &Args) -> anyhow::Result<Vec<Table>> {
    let name = args.run.first().context("--run names no run")?;
    let rows = live::measure(zero_ad, zero_ad.run(name)?, args)?;
    if args.json {
        output::json(&rows)?
    } else {
        output::text(&live::words(&rows, name))?
    }
    Ok(vec![live::table_of(&rows, name)])
}

fn all_but_sizes(zero_ad: &ZeroAd, args: &Args) -> anyhow::Result<Vec<Table>> {
    picture::check(args.picture.as_deref())?;
    // What is known is printed at once: all of it takes minutes.
    let mut first = true;
    let mut show = |words: &dyn Fn() -> String| {
        let gap = if std::mem::take(&mut first) { "" } else { "\n" };
        if args.json { Ok(()) } else { output::text(&(gap.to_owned() + &words())) }
    };
    let throughput = throughput::measure(zero_ad)?;
    show(&|| throughput::words(&throughput))?;
    if let Some(path) = &args.picture {
        picture::save(path, &throughput::picture(&throughput))?;
    }
    let parts = parts::measure(zero_ad)?;
    show(&|| parts::words(&parts))?;
    let ordering = ordering::measure(zero_ad)?;
    show(&|| ordering::words(&ordering))?;
    let seeks = seeks::measure(zero_ad)?;
    show(&|| seeks::words(&seeks))?;
    let devices = devices::measure(zero_ad)?;
    show(&|| devices::words(&devices))?;
    let cache = cache::simulate(zero_ad)?;
    show(&|| cache::words(&cache))?;
    let together = together::measure(zero_ad)?;
    show(&|| together::words(&together))?;
    let claims = claims::of_loading(&throughput, &seeks, &cache);
    show(&|| crate::claims::words(&claims))?;
    let mut end_to_end = Vec::new();
    if args.end_to_end.is_some() {
        end_to_end = end_to_end::measure(zero_ad, args)?;
    }
    let mut saved = throughput::tables(&throughput);
    saved.push(parts::times(&parts));
    saved.push(ordering::seeks(&ordering));
    saved.push(seeks::behind_cache(&seeks));
    saved.push(seeks::beside_paper(&seeks));
    saved.push(devices::seconds(&devices));
    saved.push(cache::hits(&cache));
    saved.push(together::requests(&together));
    if args.json {
        output::json(&Figures {
            throughput,
            parts,
            ordering,
            seeks,
            devices,
            cache,
            together,
            claims,
            end_to_end,
        })?;
    } else if !end_to_end.is_empty() {
        output::text(&end_to_end::words(&end_to_end, args))?;
    }
    Ok(saved)
}

fn cache_alone(zero_ad: &ZeroAd, args: &Args) -> anyhow::Result<Vec<Table>> {
    picture::check(args.picture.as_deref())?;
    let cache = cache::simulate(zero_ad)?;
    let figure_3 = figure3::simulate(zero_ad)?;
    if let Some(path) = &args.picture {
        picture::save(path, &figure3::picture(&figure_3))?;
    }
    let fragmentation = fragmentation::measure(zero_ad)?;
    if !args.json {
        let words =
            [cache::words(&cache), figure3::words(&figure_3), fragmentation::words(&fragmentation)];
        output::text(&words.join("\n"))?;
    }
    let (files, operations) = if args.quick { (300, 500) } else { (10_000, 20_000) };
    let scale = manager::Scale { files, operations, rounds: args.rounds.max(1) as usize };
    let manager = manager::measure(zero_ad, &scale)?;
    let claims = if args.quick { Vec::new() } else { claims::of_cache(&manager, &fragmentation) };
    let saved = vec![
        cache::hits(&cache),
        figure3::misses(&figure_3),
        fragmentation::waste(&fragmentation),
        manager::costs(&manager),
    ];
    if args.json {
        output::json(&CacheFigures { cache, figure_3, fragmentation, manager, claims })?;
    } else {
        output::text(&manager::words(&manager))?;
        let verdicts = crate::claims::words(&claims);
        output::text(if args.quick { crate::claims::NOT_JUDGED } else { &verdicts })?;
    }
    Ok(saved)
}
