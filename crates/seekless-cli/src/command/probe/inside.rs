//! `probe --inside` and `probe --save`: what a device is inside, or how long its requests take; the
//! report, the device file and the pictures.

use super::{Args, kib, rate};
use crate::interrupt::{self, finished};
use crate::output::table;
use crate::output::{self, Picture, Words};
use anyhow::Context;
use seekless::device::Parameters;
use seekless::device::units::{format_bytes, format_count, format_duration};
use seekless::measure::inside::{Answers, Curve, DiskInside, Finding, FlashInside, Grid};
use seekless::report::Drawing;
use seekless::report::chart::{Axis, LineChart, LinePoint, Series, Unit};
use seekless::sys::output::Content;
use seekless::tools::probe::{InsideOptions, InsideReport, Subject, inside};
use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

/// Probes, prints, draws and saves.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::cancel_when_interrupted()?;
    let subject = match (&args.device, &args.path) {
        (Some(device), _) => Subject::Model(device, args.noise / 100.0),
        (None, Some(path)) => Subject::Path(path),
        (None, None) => anyhow::bail!("name what to probe: a large file, or a block device"),
    };
    let picture = Picture::begin(args.picture.as_deref(), args.force)?;
    let saved = match &args.save {
        Some(path) => Some(args.force.destination(path).create(Content::Text)?),
        None => None,
    };
    let outputs = picture.iter().map(Picture::destination);
    let words = Words::beside(outputs.chain(saved.iter().map(|saved| saved.destination())));
    let options = InsideOptions {
        inside: args.inside,
        destroy: args.destroy_data,
        limit: Duration::from_secs(args.seconds),
        seed: args.seed,
        cancel,
    };
    let mut progress = output::progress("Probing");
    let probed = inside(&subject, &options, &mut progress);
    drop(progress);
    let Some(report) = finished(probed)? else { return Ok(interrupt::exit_code()) };
    if let Some(picture) = picture {
        picture.draw(&draw(&report))?;
    }
    if let Some(mut saved) = saved {
        let text = described(&report);
        let written = saved.write_all(text.as_bytes());
        written.with_context(|| format!("cannot write {}", output::shown(saved.path())))?;
        saved.publish()?;
    }
    if args.json {
        words.json(&report)?;
    } else {
        words.text(&told(&report))?;
        if let Some(path) = &args.save {
            words.text(&format!("kept in {}: use it as --device\n", output::shown(path)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The device's file: its numbers, and above them what they stand on.
fn described(report: &InsideReport) -> String {
    let mut text = format!("# {}, as seekless probe found it.\n", report.target);
    for line in told(report).lines().skip(1).filter(|line| !line.is_empty()) {
        let _ = writeln!(text, "#{line}");
    }
    if matches!(report.parameters, Parameters::Flash(_)) {
        text += "# Of writing nothing was measured: those times are of a usual drive.\n";
    }
    text + &report.parameters.to_toml()
}

fn told(report: &InsideReport) -> String {
    let mut text = format!("{}: {}\n", output::line(&report.target), report.kind);
    let _ = writeln!(text, "  looked at    {} by {}", format_bytes(report.bytes), report.engine);
    if report.taken.reads > 0 {
        let taken = &report.taken;
        let _ = write!(
            text,
            "  took         {}, {} in {} reads",
            format_duration(taken.elapsed_ns),
            format_bytes(taken.bytes_read),
            format_count(taken.reads)
        );
        if taken.writes > 0 {
            let _ = write!(text, ", {} written", format_bytes(taken.bytes_written));
        }
        text.push('\n');
    }
    if let Some(disk) = report.disk.as_ref().filter(|_| report.flash.is_none()) {
        text.push('\n');
        text += &table(&["figure", "value", "sigma", "why"], disk_rows(disk));
    }
    if let Some(flash) = &report.flash {
        let rotation = &report.disk.as_ref().map_or("", |disk| &disk.rotation_ns.reason);
        let _ = writeln!(text, "  no rotation  {rotation}\n");
        text += &table(&["figure", "value", "sigma", "why"], flash_rows(flash));
    }
    if let Some(grid) = &report.latencies {
        text += &latencies(grid);
    }
    text
}

fn row<T>(name: &str, finding: &Finding<T>, words: impl Fn(&T) -> String) -> Vec<String> {
    let value = finding.value.as_ref().map_or("unidentifiable".to_owned(), words);
    let sigmas = if finding.is_identified() && finding.sigmas < 1e5 {
        format!("{:.1}", finding.sigmas)
    } else {
        String::new()
    };
    vec![name.to_owned(), value, sigmas, finding.reason.clone()]
}

fn time(nanos: &f64) -> String {
    format_duration(nanos.round().max(0.0) as u64)
}

fn plain<T: Display>(value: &T) -> String {
    value.to_string()
}

fn bytes(value: &u64) -> String {
    let shown = if *value >= 1024 && value.is_multiple_of(1024) {
        kib(*value)
    } else {
        format!("{} bytes", format_count(*value))
    };
    if value.is_multiple_of(512) { format!("{shown}, {} sectors", value / 512) } else { shown }
}

fn yes(yes: &bool) -> String {
    if *yes { "yes" } else { "no" }.to_owned()
}

fn disk_rows(disk: &DiskInside) -> Vec<Vec<String>> {
    vec![
        row("rotation", &disk.rotation_ns, time),
        row("turns a minute", &disk.rpm, plain),
        row("track", &disk.track_bytes, bytes),
        row("zones", &disk.zones, plain),
        row("heads", &disk.heads, plain),
        row("track skew", &disk.track_skew_ns, time),
        row("cylinder skew", &disk.cylinder_skew_ns, time),
        row("head switch", &disk.head_switch_ns, time),
        row("average seek", &disk.average_seek_ns, time),
        row("overhead", &disk.overhead_ns, time),
        row("cache segments", &disk.segments, plain),
        row("segment", &disk.segment_bytes, bytes),
        row("reads on", &disk.read_on, yes),
    ]
}

fn flash_rows(flash: &FlashInside) -> Vec<Vec<String>> {
    vec![
        row("page", &flash.page_bytes, bytes),
        row("chunk", &flash.chunk_bytes, bytes),
        row("interleave degree", &flash.degree, plain),
        row("channels", &flash.channels, plain),
        row("mapping", &flash.mapping, |mapping| format!("{mapping:?}").to_lowercase()),
        row("page read", &flash.read_ns, time),
        row("command", &flash.overhead_ns, time),
        row("page on a bus", &flash.bus_page_ns, time),
        row("page on the link", &flash.link_page_ns, time),
    ]
}

fn answer_rows(answers: &Answers) -> Vec<Vec<String>> {
    vec![
        row("first read", &answers.first_read_ns, time),
        row("cache", &answers.cached, yes),
        row("cached read", &answers.cached_read_ns, time),
        row("block of the cache", &answers.cache_block_bytes, bytes),
        row("reads ahead", &answers.reads_ahead, yes),
        row("limit of all reads", &answers.bytes_per_second, |&limit| rate(limit.round() as u64)),
    ]
}

fn latencies(grid: &Grid) -> String {
    let head: Vec<String> = grid.depths.iter().map(|depth| format!("{depth} at once")).collect();
    let mut text = String::new();
    for (rows, kind) in [(&grid.reads, "read of"), (&grid.writes, "write of")] {
        if rows.is_empty() {
            continue;
        }
        let mut names = vec![kind];
        names.extend(head.iter().map(String::as_str));
        let cells = rows.iter().map(|row| {
            let times = row.latency_ns.iter().map(|&nanos| format_duration(nanos));
            std::iter::once(kib(row.bytes)).chain(times).collect()
        });
        text.push('\n');
        text += &table(&names, cells.collect());
    }
    let _ = writeln!(text, "\n  sequential reads   {}", rate(grid.sequential_read));
    if let Some(write) = grid.sequential_write {
        let _ = writeln!(text, "  sequential writes  {}", rate(write));
    }
    text.push('\n');
    text += &table(&["how it answers", "value", "sigma", "why"], answer_rows(&grid.answers));
    text
}

/// All curves, one below the other.
fn draw(report: &InsideReport) -> Drawing {
    let mut drawings = report.curves.iter().map(|curve| chart(report, curve).draw());
    let first = drawings.next();
    let first = first.unwrap_or_else(|| chart(report, &Curve::default()).draw());
    drawings.fold(first, Drawing::above)
}

fn chart(report: &InsideReport, curve: &Curve) -> LineChart {
    let x = match curve.x {
        "offset" => Axis::linear(curve.x, Unit::Bytes),
        "cylinders" => Axis::log(curve.x, Unit::Count),
        words if words.starts_with("bytes") => Axis::log(words, Unit::Bytes),
        words if words.starts_with("border") => Axis::linear(words, Unit::Bytes),
        words => Axis::linear(words, Unit::Count),
    };
    let y = match curve.y {
        words if words.starts_with("bytes") => Axis::linear(words, Unit::Bytes),
        words if words.starts_with("share") => Axis::linear(words, Unit::Percent),
        words => Axis::linear(words, Unit::Duration),
    };
    let points = curve.points.iter().map(|&(x, y)| LinePoint::exact(x, y.max(0.0))).collect();
    LineChart {
        title: curve.title.clone(),
        x,
        y,
        series: vec![Series { name: curve.name.to_owned(), points }],
        caption: report.target.clone(),
    }
}
