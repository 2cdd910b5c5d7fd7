//! The same workloads on the real device, through the kernel and through us, in turn and from cold.
//! Beside them the simulated figures, of the same reads on the fitted disk.

use super::method::{MB, MIB, case, rate, rules, simulate};
use super::{Args, disk, streams};
use anyhow::Context;
use seekless::device::units::{format_bytes, format_duration};
use seekless::report::table;
use seekless::sim::timed::{Workload, patterns};
use seekless::tools::compare::pattern::{PatternComparison, PatternOptions, compare_pattern};
use serde::Serialize;
use std::io::Write as _;
use std::path::Path;

/// The largest window of both sides: the paper's.
const WINDOW_BYTES: u64 = MIB;
/// The same places every time.
const SEED: u64 = 2010;

/// One workload.
#[derive(Serialize)]
pub(super) struct Row {
    comparison: PatternComparison,
    /// MB/s on the fitted disk, under Linux 6.x and under ours; `None` where no such workload is
    /// simulated.
    simulated: Option<(f64, f64)>,
}

#[derive(Serialize)]
pub(super) struct Live {
    file_bytes: u64,
    rows: Vec<Row>,
    /// Bytes a second of the old and the new algorithm in our engine.
    pub(super) algorithms: Vec<streams::Row>,
}

/// Reads a file in `folder`, which is made for it and removed.
pub(super) fn measure(folder: &Path, args: &Args) -> anyhow::Result<Live> {
    let file_bytes = if args.quick { 16 * MIB } else { 256 * MIB };
    let file = filled(folder, file_bytes)?;
    let throttle = args.throttle.as_deref().map(str::parse).transpose()?;
    let options = PatternOptions {
        amount_bytes: file_bytes / 2,
        window_bytes: WINDOW_BYTES,
        rounds: if args.quick { 1 } else { 5 },
        throttle,
        ..PatternOptions::default()
    };
    let counts: &[u64] = if args.quick { &[1, 3] } else { &[1, 2, 3, 5, 10, 30, 100, 300, 1000] };
    let mut rows = Vec::new();
    let streams = counts.iter().map(|&count| {
        let part = file_bytes / count / 4096 * 4096;
        let workload = patterns::interleaved(count, part, options.amount_bytes, SEED);
        (format!("streams:{count}"), Some(workload))
    });
    let disturbed = [1, 10].map(|percent| {
        let bytes = options.amount_bytes;
        let workload = patterns::disturbed(bytes, bytes / 100 * percent, SEED);
        (format!("disturbed:{percent}%"), Some(workload))
    });
    for (pattern, workload) in streams.chain(disturbed).chain([("random".to_owned(), None)]) {
        let amount_bytes = if pattern == "random" { file_bytes / 32 } else { options.amount_bytes };
        let options = PatternOptions { amount_bytes, ..options.clone() };
        let comparison = compare_pattern(file.path(), pattern.parse()?, &options, &mut |_, _| ())?;
        let simulated = workload.map(|workload| both(&workload)).transpose()?;
        rows.push(Row { comparison, simulated });
    }
    let algorithms =
        algorithms(file.path(), &options, if args.quick { &[1, 3] } else { &[1, 2, 3, 10] })?;
    Ok(Live { file_bytes, rows, algorithms })
}

/// The paper's algorithm, and the one before it, in our engine: each in turn with the kernel.
fn algorithms(
    file: &Path,
    options: &PatternOptions,
    counts: &[u64],
) -> anyhow::Result<Vec<streams::Row>> {
    let rate = |streams: u64, readahead: &str| -> anyhow::Result<f64> {
        let options = PatternOptions { readahead: readahead.to_owned(), ..options.clone() };
        let pattern = format!("streams:{streams}").parse()?;
        let comparison = compare_pattern(file, pattern, &options, &mut |_, _| ())?;
        Ok(comparison.seekless.bytes_per_second as f64)
    };
    let row = |&streams: &u64| {
        let (old, new) = (rate(streams, "legacy")?, rate(streams, "ondemand")?);
        Ok(streams::Row { streams, old, new })
    };
    counts.iter().map(row).collect()
}

/// A file without holes, written to the device.
fn filled(folder: &Path, bytes: u64) -> anyhow::Result<tempfile::NamedTempFile> {
    let failed = || format!("{}: cannot make the file to read", folder.display());
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(failed)?;
    let mut block = vec![0; MIB as usize];
    for number in 0..bytes / MIB {
        let fill = |(at, byte): (usize, &mut u8)| *byte = (at as u64 * 31 + number) as u8;
        block.iter_mut().enumerate().for_each(fill);
        file.write_all(&block).with_context(failed)?;
    }
    file.as_file().sync_all().with_context(failed)?;
    Ok(file)
}

/// MB/s under Linux 6.x and under ours.
fn both(workload: &Workload) -> anyhow::Result<(f64, f64)> {
    let cases = [case("linux", WINDOW_BYTES), case("streams", WINDOW_BYTES)];
    let figures = simulate(workload, &cases, &rules(), &disk::off()?)?;
    Ok((rate(&figures[0]), rate(&figures[1])))
}

pub(super) fn words(live: &Live) -> String {
    let header =
        ["reads", "kernel MB/s", "ours", "times", "waste", "simulated: linux", "ours", "times"];
    let row = |Row { comparison, simulated }: &Row| {
        let rate = |bytes: u64| format!("{:.1}", bytes as f64 / MB as f64);
        let number =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
        let (kernel, ours) = (&comparison.kernel, &comparison.seekless);
        vec![
            comparison.pattern.to_string(),
            rate(kernel.bytes_per_second),
            rate(ours.bytes_per_second),
            format!("{:.2}", ours.figures.ratio),
            number(ours.waste),
            number(simulated.map(|(linux, _)| linux)),
            number(simulated.map(|(_, ours)| ours)),
            number(simulated.map(|(linux, ours)| ours / linux)),
        ]
    };
    let row_of = |row: &streams::Row| {
        let rate = |bytes: f64| format!("{:.1}", bytes / MB as f64);
        let times = format!("{:.2}", row.ratio());
        vec![row.streams.to_string(), rate(row.old), rate(row.new), times]
    };
    let algorithms = table(
        &["streams", "legacy MB/s", "ondemand", "times"],
        live.algorithms.iter().map(row_of).collect(),
    );
    format!(
        "Live: a file of {}, read cold, in turn through the kernel and through us; windows of at most {}\n\n{}\n{}\n\
         The old and the new algorithm in our engine, on the same disk\n\n{algorithms}",
        format_bytes(live.file_bytes),
        format_bytes(WINDOW_BYTES),
        table(&header, live.rows.iter().map(row).collect()),
        about_the_device(live)
    )
}

/// What the device is: without a seek the paper's differences cannot show.
fn about_the_device(live: &Live) -> String {
    let Some(Row { comparison, .. }) = live.rows.last() else { return String::new() };
    let device = match &comparison.device {
        Some(limits) => format!("The device is limited to {limits}"),
        None => "The device is as it is".to_owned(),
    };
    let window = match comparison.kernel_window_bytes {
        Some(bytes) => format!("the kernel's window is {}", format_bytes(bytes)),
        None => "the kernel does not tell its window".to_owned(),
    };
    format!(
        "{device}; {window}. A read of a random page takes {} here, and about 10 ms on the fitted disk. Where \
         it takes far less, these figures compare what the two sides cost, not what they save of seeks.\n",
        format_duration(comparison.kernel.p50_ns)
    )
}

/// Bytes a second by number of streams.
pub(super) type Points = Vec<(f64, f64)>;

impl Live {
    /// The kernel's curve and ours.
    pub(super) fn curves(&self) -> (Points, Points) {
        let points = self.rows.iter().filter_map(|Row { comparison, .. }| {
            let pattern = comparison.pattern.to_string();
            let count: f64 = pattern.strip_prefix("streams:")?.split('/').next()?.parse().ok()?;
            let rate = |bytes: u64| (count, bytes as f64);
            let (kernel, ours) = (&comparison.kernel, &comparison.seekless);
            Some((rate(kernel.bytes_per_second), rate(ours.bytes_per_second)))
        });
        points.unzip()
    }
}
