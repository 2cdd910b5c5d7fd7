//! Van Meter and Gao 2000, "Latency Management in Storage Systems" (SLEDs): Figs. 7 to 15. Programs
//! read a file somewhat larger than the cache again and again, in the plain order and the cheapest
//! bytes first. They run in a control group with little memory and a slow disk.

mod adopted;
mod estimate;
mod files;
mod fixed;
mod group;
mod level;
mod linear;
mod paper;
mod pass;
mod pictures;
mod points;
mod programs;
mod series;
mod speed;
mod table4;
mod task;
mod verdicts;
mod words;

use crate::output;
use anyhow::{Context, bail, ensure};
use group::Group;
use level::{Level, On};
pub(crate) use linear::{LinearArgs, read};
use points::{Bench, Curve};
use programs::Programs;
use seekless::device::units::{format_bytes, parse_bytes};
use seekless_results::Table;
use seekless_terminal::interrupt;
use serde::Serialize;
use speed::Speed;
use std::path::{Path, PathBuf};
pub(crate) use task::LINEAR;
use task::{Question, Task, Tool};

/// Options of the experiment.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The figures of the paper to measure.
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "7,8,9,10,11,12,13,14,15"
    )]
    figures: Vec<u32>,
    /// Speed of the device: a rate; or disk, cdrom, nfs or fits-disk of the paper; or paper, for
    /// the device of each figure.
    #[arg(long, value_name = "RATE", default_value = "200MB/s")]
    speed: String,
    /// The storage level of the files.
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = On::Disk)]
    on: On,
    /// Memory of the control group. The paper's speeds with the default take days, as they took the
    /// authors.
    #[arg(long, value_name = "BYTES", default_value = "256MiB", value_parser = |word: &str| parse_bytes(word))]
    memory: u64,
    /// File sizes, as multiples of the cache.
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "0.5,0.8,1.02,1.1,1.2,1.3,1.5,2,3"
    )]
    sizes: Vec<f64>,
    /// Passes of each rival at each size, without the discarded ones.
    #[arg(long, default_value_t = 12)]
    passes: usize,
    /// Blocks in which the rivals take turns, each with a discarded pass from cold.
    #[arg(long, default_value_t = 2)]
    blocks: usize,
    /// Makes the files (up to twice the largest size) in a temporary folder in DIR.
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    dir: PathBuf,
    /// The command to measure [default: seekless beside this program].
    #[arg(long, value_name = "FILE")]
    seekless: Option<PathBuf>,
    /// Draws each figure as figure-N.svg in DIR.
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,
    /// 32 MiB of memory, two sizes, two passes: to see that everything works.
    #[arg(long, alias = "small")]
    quick: bool,
    /// Prints figures as JSON.
    #[arg(long)]
    json: bool,
}

/// The figures, as printed in JSON.
#[derive(Serialize)]
pub(crate) struct Figures {
    /// The memory of the control group.
    memory_bytes: u64,
    /// The bytes of page cache that it holds.
    cache_bytes: u64,
    control_groups: &'static str,
    curves: Vec<Curve>,
    verdicts: Vec<verdicts::Verdict>,
    table_4: Vec<table4::Row>,
    adopted: Option<adopted::Adopted>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    let args = args.checked()?;
    let programs = args.programs()?;
    let wanted = args.wanted(&programs)?;
    std::fs::create_dir_all(&args.dir)
        .with_context(|| format!("cannot make {}", args.dir.display()))?;
    let group = match Group::make(args.memory, &args.dir) {
        Ok(group) => group,
        Err(error) => {
            eprintln!(
                "skipped: no control group with memory and disk limits can be made here: {error:#}"
            );
            return Ok(Vec::new());
        }
    };
    check_room(&args)?;
    let folder = tempfile::Builder::new().prefix("seekless-vanmeter2000.").tempdir_in(&args.dir)?;
    let memory = programs::memory_folder();
    let (path, groups) = (folder.path().to_owned(), group.removal());
    let copies = memory.as_ref().map(|memory| memory.path().to_owned());
    let removal = interrupt::clean_when_interrupted(move || {
        groups.remove();
        interrupt::remove(&path);
        copies.iter().for_each(|copies| interrupt::remove(copies));
    })?;
    let copied = memory.as_ref().map(|memory| programs.clone().copied_to(memory.path()));
    let programs = match removal.unless_begun(copied) {
        Some(Ok(copied)) => copied,
        Some(Err(error)) => {
            eprintln!("the programs run from the disk, since memory cannot hold them: {error:#}");
            programs
        }
        None => programs,
    };
    let measured = removal.unless_begun(measure(&args, &programs, &group, folder.path(), &wanted));
    folder.close().context("cannot remove the temporary folder")?;
    let figures = measured?;
    if let Some(folder) = &args.pictures {
        pictures::save(folder, &figures.curves, &args.figures)?;
    }
    if args.json {
        output::json(&figures)?
    } else {
        output::text(&words::words(&figures))?
    }
    Ok(match args.on {
        On::Disk => figures.curves.iter().map(words::seconds).collect(),
        on => words::on_level(on.name(), &figures.curves),
    })
}

fn measure(
    args: &Args,
    programs: &Programs,
    group: &Group,
    folder: &Path,
    wanted: &[(Question, Speed)],
) -> anyhow::Result<Figures> {
    programs.start_once()?;
    let cache_bytes = cache_bytes(args, programs, group, folder)?;
    eprintln!(
        "a group of {} holds {} of page cache",
        format_bytes(args.memory),
        format_bytes(cache_bytes)
    );
    let adopted = adopted::measure(group, folder, cache_bytes)?;
    let output = folder.join("output.fits");
    let mut bench = Bench {
        group,
        level: Level::make(args.on, folder, cache_bytes)?,
        programs,
        folder,
        output,
        cache_bytes,
        passes: args.passes,
        blocks: args.blocks,
    };
    let mut curves = Vec::new();
    for (question, speed) in wanted {
        let curve = bench.curve(*question, speed, &args.sizes)?;
        if !args.json {
            output::text(&words::curve(&curve))?;
        }
        curves.push(curve);
    }
    let verdicts = verdicts::judge(&curves);
    let control_groups = group.words();
    Ok(Figures {
        memory_bytes: args.memory,
        cache_bytes,
        control_groups,
        curves,
        verdicts,
        table_4: table4::rows(),
        adopted,
    })
}

/// C: the bytes that the group holds of a file too large for it, when GNU wc has read it.
fn cache_bytes(
    args: &Args,
    programs: &Programs,
    group: &Group,
    folder: &Path,
) -> anyhow::Result<u64> {
    group.throttle(None)?;
    let text = files::Text::make(folder.join("text"), 2 * args.memory)?;
    files::forget(&text.path)?;
    let files = [text.path.clone()];
    let words = programs.command(Tool::Gnu, &Task::CountLines, &files, Path::new(""));
    // The most of the three, since another program may empty the caches meanwhile.
    let mut held = 0;
    for _ in 0..3 {
        pass::run(pass::At { group, level: &Level::Disk, files: &files }, &words)?;
        held = held.max(pass::resident(&text.path)?.bytes);
    }
    std::fs::remove_file(&text.path)?;
    ensure!(
        held > 0 && held < text.bytes,
        "the group of {} bounds nothing: it holds {held} bytes",
        args.memory
    );
    Ok(held)
}

fn check_room(args: &Args) -> anyhow::Result<()> {
    let largest = args.sizes.iter().copied().fold(2.0, f64::max);
    let needed = (2.0 * largest * args.memory as f64) as u64;
    let disk = rustix::fs::statvfs(&args.dir)?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    ensure!(
        free >= needed,
        "{} has {} free and the files take {}: name another folder with --dir, or smaller --sizes",
        args.dir.display(),
        format_bytes(free),
        format_bytes(needed)
    );
    Ok(())
}

/// The load average of the last minute; not a number where the kernel does not report it.
fn load_average() -> f64 {
    let told = std::fs::read_to_string("/proc/loadavg").ok();
    told.and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(f64::NAN)
}

impl Args {
    /// The options in force: small ones with `--quick`.
    fn checked(&self) -> anyhow::Result<Args> {
        ensure!(self.passes > 0 && self.blocks > 0, "--passes and --blocks must be at least 1");
        ensure!(self.memory >= 16 << 20, "--memory: programs need 16 MiB to run at all");
        let usable = |size: &f64| *size > 0.0 && *size <= 100.0;
        ensure!(
            !self.sizes.is_empty() && self.sizes.iter().all(usable),
            "--sizes: above 0, at most 100"
        );
        if let Some(unknown) =
            self.figures.iter().find(|&&figure| paper::question(figure).is_none())
        {
            bail!(
                "--figures: there is no figure {unknown} with measurements in the paper; there are 7 to 15"
            );
        }
        let quick = self.quick;
        Ok(Args {
            figures: self.figures.clone(),
            speed: self.speed.clone(),
            dir: self.dir.clone(),
            seekless: self.seekless.clone(),
            pictures: self.pictures.clone(),
            memory: if quick { 32 << 20 } else { self.memory },
            sizes: if quick { vec![0.5, 1.5] } else { self.sizes.clone() },
            passes: if quick { 2 } else { self.passes },
            blocks: if quick { 1 } else { self.blocks },
            ..*self
        })
    }

    fn programs(&self) -> anyhow::Result<Programs> {
        let lab = std::env::current_exe()?;
        let seekless = self.seekless.clone().unwrap_or_else(|| lab.with_file_name("seekless"));
        ensure!(
            seekless.exists(),
            "{} is not there: build it (`./run --version`) or name it with --seekless",
            seekless.display()
        );
        Ok(Programs::installed(seekless.canonicalize()?, lab))
    }

    /// The questions of the figures, each once.
    fn wanted(&self, programs: &Programs) -> anyhow::Result<Vec<(Question, Speed)>> {
        let mut wanted = Vec::new();
        for &figure in &self.figures {
            let (questions, device) = paper::question(figure).context("there is no such figure")?;
            let speed = if self.speed == "paper" { device } else { &self.speed };
            let speed: Speed = speed.parse().map_err(anyhow::Error::msg)?;
            for &question in questions {
                if !wanted.contains(&(question, speed.clone())) {
                    wanted.push((question, speed.clone()));
                }
            }
        }
        if matches!(self.on, On::Archive | On::NetworkCached) {
            eprintln!(
                "this level has many small files: figures 14 and 15, of one image, are left out"
            );
            wanted.retain(|(question, _)| !question.is_of_images());
        }
        if wanted.iter().any(|(question, _)| question.is_of_images()) && !knows_fits(programs) {
            eprintln!("skipped: this seekless has no verb fits: figures 14 and 15 are left out");
            wanted.retain(|(question, _)| !question.is_of_images());
        }
        Ok(wanted)
    }
}

fn knows_fits(programs: &Programs) -> bool {
    let output = std::process::Command::new(&programs.seekless).args(["fits", "--help"]).output();
    output.is_ok_and(|output| output.status.success())
}
