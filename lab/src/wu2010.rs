//! Wu, Xi and Xu 2010, "File Prefetching Algorithm for Concurrent Streams": sequential reads with
//! random reads among them, and streams that interleave on one descriptor, under Linux's readahead
//! before and with the paper's algorithm. Figs. 5 to 8, which need no disk, and 9 to 12 from one
//! fitted disk; then up to 1,000 streams, and memory that is too small for ten.

mod beyond;
mod claims;
mod disk;
mod disturbed;
mod ended;
mod examples;
mod live;
mod method;
mod paper;
mod pictures;
mod streams;
mod tables;
mod thrashing;

use crate::claims::Claim;
use crate::{output, picture, scratch};
use method::{MB, MIB};
use seekless_results::Table;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Options of the experiment.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Small files and few streams, to see that everything works; no claim is judged.
    #[arg(long, alias = "small")]
    quick: bool,
    /// Also reads a file that is made in this folder, on the real device: through the kernel and
    /// through us.
    #[arg(long, value_name = "FOLDER")]
    live: Option<PathBuf>,
    /// Limits the real device for --live, as `iops=200,bandwidth=150MB/s` (needs root).
    #[arg(long, requires = "live", value_name = "DEVICE")]
    throttle: Option<String>,
    /// Draws each figure (.svg or .png): FILE with -5 to -10, -11a, -11b, -12, -beyond, -thrashing
    /// and -live.
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Prints figures as JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Whether the real device is read, too.
    pub(crate) fn is_live(&self) -> bool {
        self.live.is_some()
    }
}

/// How much is read.
struct Scale {
    /// Bytes of a stream, and of a sequence that is disturbed: the paper's 100 MB.
    file_bytes: u64,
    /// Numbers of streams in Figs. 11 and 12.
    streams: Vec<u64>,
    /// Numbers of streams past the paper.
    many: Vec<u64>,
    /// The file that these lie in.
    large_bytes: u64,
    /// How much of it is read.
    read_bytes: u64,
    /// The file whose streams are read to their ends.
    ended_bytes: u64,
}

impl Scale {
    fn of(quick: bool) -> Self {
        if quick {
            return Self {
                file_bytes: 4 * MIB,
                streams: vec![1, 3],
                many: vec![1, 20],
                large_bytes: 64 * MIB,
                read_bytes: 16 * MIB,
                ended_bytes: 16 * MIB,
            };
        }
        Self {
            file_bytes: 100 * MIB,
            streams: (1..=10).collect(),
            many: vec![1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000],
            large_bytes: 10_000 * MB,
            read_bytes: 4_000 * MB,
            ended_bytes: 2_000 * MB,
        }
    }
}

#[derive(Serialize)]
struct Figures {
    figures_5_to_8: Vec<examples::Example>,
    figure_9: Vec<disturbed::Row>,
    figure_10: [disturbed::Sequence; 2],
    /// On the paper's drive by its data sheet.
    figure_11_sheet: Vec<streams::Row>,
    figure_11_off: Vec<streams::Row>,
    figure_11_on: Vec<streams::Row>,
    segments: Vec<streams::Segments>,
    figure_12: Vec<streams::Row>,
    beyond: Vec<beyond::Curve>,
    ended: Vec<ended::Ratios>,
    thrashing: Vec<thrashing::Row>,
    live: Option<live::Live>,
    claims: Vec<Claim>,
}

/// The segments of the fitted disk.
const SEGMENTS: u32 = 16;
const SEGMENT_BYTES: u64 = 256 << 10;

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    picture::check(args.picture.as_deref())?;
    match &args.live {
        Some(parent) => scratch::within(parent, "wu2010", |folder| measured(Some(folder), args)),
        None => measured(None, args),
    }
}

/// Simulates, and reads a file on the real device in the folder, if there is one.
fn measured(folder: Option<&Path>, args: &Args) -> anyhow::Result<Vec<Table>> {
    let scale = Scale::of(args.quick);
    let mut figures = Figures {
        figures_5_to_8: examples::all()?,
        figure_9: disturbed::figure_9(&scale)?,
        figure_10: disturbed::figure_10(&scale)?,
        figure_11_sheet: streams::figure_11(&scale, &disk::data_sheet()?)?,
        figure_11_off: streams::figure_11(&scale, &disk::off()?)?,
        figure_11_on: streams::figure_11(&scale, &disk::on(SEGMENTS, SEGMENT_BYTES)?)?,
        segments: streams::sweep(&scale)?,
        figure_12: streams::figure_12(&scale)?,
        beyond: beyond::curves(&scale)?,
        ended: ended::ratios(&scale)?,
        thrashing: thrashing::measure(&scale)?,
        live: folder.map(|folder| live::measure(folder, args)).transpose()?,
        claims: Vec::new(),
    };
    if !args.quick {
        figures.claims = claims::judge(&figures);
    }
    if let Some(path) = &args.picture {
        pictures::save(path, &figures)?;
    }
    if args.json {
        output::json(&figures)?
    } else {
        output::text(&words(&figures, &scale))?
    }
    Ok(tables::all(&figures))
}

/// What a verdict on a fitted disk means.
const FITTED: &str = "\
Figs. 9, 11 and 12 are judged on the disks that are fitted to them: such a claim holds if one disk
explains them all. Figs. 5 to 8 and the wasted pages hardly depend on the disk.
";

fn words(figures: &Figures, scale: &Scale) -> String {
    let mut parts = vec![
        examples::words(&figures.figures_5_to_8),
        streams::words_sheet(&figures.figure_11_sheet),
        disturbed::words(&figures.figure_9, &figures.figure_10),
        claims::baseline(figures),
        streams::words_11(&figures.figure_11_off, &figures.figure_11_on, &figures.segments),
        streams::words_12(&figures.figure_12),
        beyond::words(&figures.beyond, scale),
        ended::words(&figures.ended, scale),
        thrashing::words(&figures.thrashing),
    ];
    parts.extend(figures.live.as_ref().map(live::words));
    if figures.claims.is_empty() {
        parts.push(crate::claims::NOT_JUDGED.to_owned());
    } else {
        parts.push(FITTED.to_owned());
        parts.push(crate::claims::words(&figures.claims));
    }
    parts.join("\n")
}
