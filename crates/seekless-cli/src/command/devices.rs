//! `seekless devices`: the devices that simulations and comparisons can run on.

use crate::output::table;
use crate::output::{self, Force, Picture, Words, picture_file};
use anyhow::ensure;
use seekless::device::units::{format_bytes, format_duration};
use seekless::device::{Costs, DeviceSpec, Parameters, Preset, Utilisation};
use seekless::report::Drawing;
use seekless::report::chart::{Axis, LineChart, LinePoint, Series, Unit};
use seekless::tools::device::named;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// List the device models by name, or show one with all its numbers.
///
/// Wherever a verb takes --device it takes one of these names, the numbers of a volume
/// (iops=500,bandwidth=150MB/s), or a TOML file (disk.toml, ./disk). A volume may also have
/// latency=1ms, and burst=3000x540000: 3000 requests a second until the 540,000 that it can save up
/// are spent.
///
/// With DEVICE, prints its numbers as such a file, to be changed and given to --device. Comments in
/// it give the share of the device's time that moves bytes when reads of one size go to random
/// places one at a time, as in Fig. 1 of Wu, Xi and Xu 2010: simulated, and by the paper's formula.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless devices
  seekless devices t7k250 > mine.toml
  seekless compare data data.zip --trace run.parquet --device mine.toml
  seekless devices t7k250 --picture utilisation.svg
  seekless devices iops=500,bandwidth=150MB/s
  seekless devices --json | jq '.[] | {name, request_s, bandwidth}'")]
pub struct Args {
    /// A name from the list, a volume's numbers, or a TOML file
    #[arg(value_name = "DEVICE", value_parser = named)]
    device: Option<DeviceSpec>,
    /// Draw the utilisation by size of I/O into this file, .svg or .png; - is standard output
    #[arg(long, value_name = "FILE", value_parser = picture_file)]
    picture: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Lists the devices, or shows one.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Some(device) = &args.device else {
        ensure!(
            args.picture.is_none(),
            "--picture draws one device: seekless devices t7k250 --picture utilisation.svg"
        );
        list(args.json)?;
        return Ok(ExitCode::SUCCESS);
    };
    let picture = Picture::begin(args.picture.as_deref(), args.force)?;
    let words = Words::beside(picture.as_ref().map(Picture::destination));
    let shown = Shown::new(device);
    match args.json {
        true => words.json(&shown)?,
        false => words.text(&shown.toml(device))?,
    }
    if let Some(picture) = picture {
        picture.draw(&shown.draw())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What the list and a single device have in common.
#[derive(Serialize)]
struct Listed {
    name: String,
    kind: &'static str,
    /// What one more request costs.
    request_s: f64,
    bandwidth: u64,
    depth: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
}

impl Listed {
    fn new(device: &DeviceSpec) -> Self {
        let Costs { request_ns, bytes_per_second, depth } = device.costs();
        let name = device.to_string();
        let preset = Preset::all().iter().find(|preset| preset.name() == name);
        Listed {
            kind: device.parameters().kind(),
            request_s: request_ns as f64 / 1e9,
            bandwidth: bytes_per_second,
            depth,
            about: preset.map(Preset::about),
            source: preset.map(Preset::source),
            name,
        }
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            self.kind.to_owned(),
            format_duration((self.request_s * 1e9).round() as u64),
            format!("{}/s", format_bytes(self.bandwidth)),
            self.depth.to_string(),
            self.source.unwrap_or_default().to_owned(),
        ]
    }
}

fn list(json: bool) -> anyhow::Result<()> {
    let device = |preset: &Preset| Ok(Listed::new(&preset.name().parse()?));
    let devices: Vec<Listed> = Preset::all().iter().map(device).collect::<anyhow::Result<_>>()?;
    if json {
        return output::json(&devices);
    }
    let header = ["device", "kind", "a request", "bandwidth", "at once", "numbers from"];
    output::text(&table(&header, devices.iter().map(Listed::cells).collect()))
}

/// One device with all its numbers.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    listed: Listed,
    parameters: Parameters,
    /// Reads of one size at random places, one at a time.
    utilisation: Vec<Utilisation>,
}

impl Shown {
    fn new(device: &DeviceSpec) -> Self {
        Shown {
            listed: Listed::new(device),
            parameters: device.parameters(),
            utilisation: Utilisation::curve(device),
        }
    }

    /// The numbers as TOML, and in its comments the rest.
    fn toml(&self, device: &DeviceSpec) -> String {
        let Costs { request_ns, bytes_per_second, depth } = device.costs();
        let mut head = format!("{}, {}\n", self.listed.name, self.listed.kind);
        if let (Some(about), Some(source)) = (self.listed.about, self.listed.source) {
            head = format!("{}: {about}\nnumbers from: {source}\n", self.listed.name);
        }
        head += &format!(
            "decisions count on {} for a request, {}/s, {depth} at once\n",
            format_duration(request_ns),
            format_bytes(bytes_per_second),
        );
        let tail = format!(
            "Reads at random places, one at a time, and the share of the time that moves bytes:\n{}",
            table(&["size", "time", "share", "by the formula"], self.rows())
        );
        format!("{}\n{}\n{}", comment(&head), self.parameters.to_toml(), comment(&tail))
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let row = |point: &Utilisation| {
            let (share, formula) = (percent(point.share), percent(point.by_formula));
            vec![kib(point.bytes), format_duration(point.mean_ns), share, formula]
        };
        self.utilisation.iter().map(row).collect()
    }

    fn draw(&self) -> Drawing {
        let series = |name: &str, share: fn(&Utilisation) -> f64| {
            let point = |point: &Utilisation| LinePoint::exact(point.bytes as f64, share(point));
            Series { name: name.to_owned(), points: self.utilisation.iter().map(point).collect() }
        };
        let chart = LineChart {
            title: format!("Use of {} by size of I/O", self.listed.name),
            x: Axis::log("size of each I/O", Unit::Bytes),
            y: Axis::linear("share of the time that moves bytes", Unit::Percent),
            series: vec![
                series("simulated", |point| point.share),
                series("by the formula", |point| point.by_formula),
            ],
            caption: format!(
                "Reads at random places, one at a time; the formula is S / (RT + S) of Wu, Xi and \
                 Xu 2010, Fig. 1, for {} a request and {}/s. Seekless {}.",
                format_duration((self.listed.request_s * 1e9).round() as u64),
                format_bytes(self.listed.bandwidth),
                env!("CARGO_PKG_VERSION"),
            ),
        };
        chart.draw()
    }
}

fn comment(text: &str) -> String {
    text.lines().map(|line| format!("# {line}").trim_end().to_owned() + "\n").collect()
}

fn kib(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}
