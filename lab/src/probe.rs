//! What `probe --inside` finds of devices whose inside is known: disks and flash drives with random
//! parameters, permuted channels, and times that are read with an error. Each parameter is exact,
//! unidentifiable or wrong. With `--on nbdkit` the devices are not ours.

mod nbdkit;

use crate::output;
use seekless::measure::inside::proof::{self, Proof, Tally};
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::fmt::Write as _;

/// Where the planted devices come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum On {
    /// Our own device models, in virtual time.
    Models,
    /// Loop devices over nbdfuse over nbdkit with its filters, which answer in real time. Takes
    /// some five minutes, as root.
    Nbdkit,
}

/// Options of the experiment.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Devices of each kind.
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    devices: u64,
    /// The first device's number: others than those of the tests.
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Standard deviation of a time that is read, in percent of it.
    #[arg(long, default_value_t = 3.0, value_name = "PERCENT")]
    noise: f64,
    /// What the planted devices are.
    #[arg(long, value_enum, default_value = "models")]
    on: On,
    /// With --on nbdkit: these devices alone.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<nbdkit::Planted>,
    /// Prints figures as JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Whether its figures depend on what else the machine does.
    pub(crate) fn is_live(&self) -> bool {
        self.on == On::Nbdkit
    }
}

/// Both kinds of devices.
#[derive(Debug, Serialize)]
struct Figures {
    disks: Proof,
    flash_drives: Proof,
    /// Of all integers, how many were identified and exact.
    exact_share: f64,
    noise_percent: f64,
}

/// Probes all devices and prints the table.
pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    match args.on {
        On::Models => run_models(args),
        On::Nbdkit => nbdkit::run(&args.only, args.seed, args.json),
    }
}

fn run_models(args: &Args) -> anyhow::Result<Vec<Table>> {
    let mut show = seekless_terminal::progress("Probing");
    let (mut done, total) = (0, 2 * args.devices);
    let mut after_each = |_| {
        done += 1;
        show(done, total);
    };
    let seeds = || args.seed..args.seed.saturating_add(args.devices);
    let disks = proof::disks(seeds(), args.noise / 100.0, &mut after_each)?;
    let flash_drives = proof::flashes(seeds(), args.noise / 100.0, &mut after_each)?;
    drop(show);
    let exact_share = proof::exact_share([&disks, &flash_drives]);
    let figures = Figures { disks, flash_drives, exact_share, noise_percent: args.noise };
    if args.json {
        output::json(&figures)?
    } else {
        output::text(&told(&figures))?
    }
    Ok(vec![shares(args, &figures)])
}

/// What became of the integers and of the times of each kind of device.
fn shares(args: &Args, figures: &Figures) -> Table {
    let title = "Parameters that a probe finds in planted devices";
    let names = ["right", "unidentifiable", "wrong"];
    let mut table = Table::new("found", title, "parameters", "%", Better::Neither)
        .contenders(names.map(Contender::ours))
        .under(&format!(
            "{} devices of each kind, simulated; times are read with {} % error; a time is right \
             within a tenth.",
            args.devices, args.noise
        ));
    for (proof, kind) in [(&figures.disks, "disks"), (&figures.flash_drives, "flash drives")] {
        for (of, what) in [(&proof.integers, "integers"), (&proof.times, "times")] {
            let counts = of.values().fold([0, 0, 0], |sum, tally| {
                [sum[0] + tally.right, sum[1] + tally.unidentifiable, sum[2] + tally.wrong]
            });
            let all = counts.iter().sum::<u32>().max(1);
            for (name, count) in names.iter().zip(counts) {
                let percent = 100.0 * f64::from(count) / f64::from(all);
                table.set(&format!("{what} of {kind}"), name, Figure::exact(percent));
            }
        }
    }
    table
}

fn told(figures: &Figures) -> String {
    let mut text = String::new();
    for (proof, kind) in [(&figures.disks, "disks"), (&figures.flash_drives, "flash drives")] {
        let _ = writeln!(
            text,
            "{} planted {kind}, times read with {} % error\n",
            proof.devices, figures.noise_percent
        );
        let row = |(name, tally): (&&str, &Tally), kind: &str| {
            let Tally { right, unidentifiable, wrong } = *tally;
            let counts = [right, unidentifiable, wrong].map(|count| count.to_string());
            [vec![(*name).to_owned(), kind.to_owned()], counts.into()].concat()
        };
        let integers = proof.integers.iter().map(|entry| row(entry, "exact"));
        let times = proof.times.iter().map(|entry| row(entry, "within 10 %"));
        let head = ["parameter", "right is", "right", "unidentifiable", "wrong"];
        text += &table(&head, integers.chain(times).collect());
        for mistake in &proof.mistakes {
            let _ = writeln!(text, "  wrong: {mistake}");
        }
        let _ = writeln!(
            text,
            "\n  {:.1} % of integers identified and exact\n",
            100.0 * proof::exact_share([proof])
        );
    }
    let _ = write!(text, "Together {:.1} %; the bar is 90 %.", 100.0 * figures.exact_share);
    text
}
