//! All five starts on the model of a volume, each from an order and a prediction that were made of
//! the other four. Coded sizes are those of the game's own files, or a share of the content.
//!
//! *Named known* knows which files the run loads of those that the other runs name: what a better
//! prediction could come to with the planner as it is. Requests, bytes and waste stand in the order
//! of the shares: on demand, predicted, named known, list known. A device that is no volume has no
//! ceiling: there seconds stand in place of the shares. What was read in vain for a guess is shown
//! apart from what only lay around a file or between two, or was read twice. *Unnamed* are the
//! bytes of the run's files that no other run has, and those of them that the references foretell.

use super::ceiling::Limits;
use super::coded::Coded;
use super::named::Named;
use super::start::{Game, Loaded, Start, waste};
use super::{Args, Data, RUNS, bounds, breakdown};
use seekless::device::DeviceSpec;
use seekless::report::table;
use seekless::trace::FileList;
use seekless_results::{Better, Contender, Figure, Table};

pub(super) fn run(args: &Args, data: &Data) -> anyhow::Result<Vec<Table>> {
    let list = FileList::read(&data.files)?;
    let coded = Coded::of_all(&data.contents, &list)?;
    let named = Named::of_game(&data.contents, &list)?;
    let game = Game { list, coded, named };
    let (mut rows, mut most, mut details) = (Vec::new(), Vec::new(), Vec::new());
    let mut saved = Saved::default();
    for spec in &args.throttle {
        for (number, name) in RUNS.iter().enumerate() {
            let start = Start::new(args, data, &game, number, spec)?;
            let loaded = start.load(args, spec)?;
            rows.push(start.row(&loaded, name, spec));
            saved.add(spec, &loaded, start.needed_bytes());
            most.extend(bounds::rows(&start, name, spec));
            if args.breakdown {
                details.extend(breakdown::rows(&start, args, name, spec)?);
            }
        }
    }
    let header = [
        "device",
        "start",
        "ceiling",
        "on demand",
        "predicted",
        "named known",
        "list known",
        "requests",
        "bytes",
        "needed",
        "wasted",
        "guessed, of these in vain",
        "other in vain",
        "unnamed, of these foretold",
    ];
    println!("{}", table(&header, rows));
    if !most.is_empty() {
        println!("{}", table(&bounds::HEADER, most));
    }
    if args.breakdown {
        println!("{}", table(&breakdown::HEADER, details));
    }
    Ok(saved.tables(args))
}

const WAYS: [&str; 4] = ["predicted", "on demand", "named known", "list known"];
/// The places of these in [`Loaded`].
const PLACES: [usize; 4] = [1, 0, 2, 3];

/// The figures of all starts on one device, by way.
#[derive(Default)]
struct OnDevice {
    device: String,
    /// Requests a second, of a volume.
    iops: Option<u64>,
    shares: [Vec<f64>; 4],
    seconds: [Vec<f64>; 4],
    requests: [Vec<f64>; 4],
    vain: [Vec<f64>; 4],
}

/// What is saved: figures by device.
#[derive(Default)]
struct Saved(Vec<OnDevice>);

impl Saved {
    fn add(&mut self, spec: &DeviceSpec, loaded: &Loaded, needed: u64) {
        let device = spec.to_string();
        if self.0.last().is_none_or(|last| last.device != device) {
            let iops = Limits::of(spec).map(|limits| limits.iops);
            self.0.push(OnDevice { device, iops, ..OnDevice::default() });
        }
        let Some(of) = self.0.last_mut() else { return };
        for (way, figures) in loaded.ways.iter().enumerate() {
            let seconds = figures.time_ns as f64 / 1e9;
            of.seconds[way].push(seconds);
            of.shares[way].extend(loaded.ceiling.map(|ceiling| ceiling / seconds));
            of.requests[way].push(figures.requests as f64);
            of.vain[way].push(waste(figures, needed));
        }
    }

    fn tables(&self, args: &Args) -> Vec<Table> {
        let own = args.game.is_some();
        let under = format!(
            "Simulated; five starts of 0 A.D., each from an order and a prediction of the other \
             four; the median, the least and the most of the five. Coded sizes are {}. Named \
             known: the store knows which files the run loads of those that the other runs load.",
            if own { "those of the game's own files" } else { "55 % of each file" }
        );
        let table = |id: &str, title, unit, better| {
            let id = if own { format!("simulated-game-{id}") } else { format!("simulated-{id}") };
            Table::new(&id, title, "device", unit, better)
                .contenders(WAYS.map(Contender::ours))
                .under(&under)
        };
        let title = "Five starts, each from the other four: share of the ceiling";
        let mut shares = table("share", title, "", Better::Higher);
        let mut seconds = table("seconds", "The same: time of a start", "s", Better::Lower);
        let mut requests = table("requests", "The same: requests", "", Better::Lower);
        let mut vain =
            table("vain", "The same: bytes read in vain", "% of bytes read", Better::Lower);
        for of in &self.0 {
            for (name, way) in WAYS.into_iter().zip(PLACES) {
                shares.set(&of.device, name, Figure::of_rounds(&of.shares[way]));
                seconds.set(&of.device, name, Figure::of_rounds(&of.seconds[way]));
                requests.set(&of.device, name, Figure::of_rounds(&of.requests[way]));
                vain.set(&of.device, name, Figure::of_rounds(&of.vain[way]));
            }
            if let Some(iops) = of.iops {
                for table in [&mut shares, &mut seconds, &mut requests, &mut vain] {
                    table.place(&of.device, iops as f64);
                }
            }
        }
        vec![shares, seconds, requests, vain]
    }
}
