//! Section 4.2 and figure 2 on the real disk: the files of one start are made loose and packed, and
//! loaded cold by each technique. They are packed by name, in the orders that the other starts
//! make, and in the start's own order, as the paper's archive was made for its trace. Rivals take
//! turns, and must deliver the same bytes.

mod blocks;

use super::Args;
use super::game::ORDERS;
use super::load::{first_loads, from_folder, listed, on_demand, timed};
use crate::data::ZeroAd;
use anyhow::Context;
use blocks::BlockReader;
use seekless::io::Store;
use seekless::measure::{
    BoxError, Checksum, Coldness, Dropping, Figures, Trial, Workload, alternate, make_cold,
};
use seekless::pack::{Codec, Index, decode};
use seekless::report::table;
use seekless::sys::output::Destination;
use seekless::tools::{order, pack, synth};
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The paper's MB/s.
const LOOSE: f64 = 2.96;
const LOOSE_AT_ONCE: f64 = 2.62;
const STORED: f64 = 22.2;
const COMPRESSED: f64 = 27.2;

/// Blocks in KiB, and the paper's MB/s (figure 2).
const BLOCKS: [(u64, Option<f64>); 6] = [
    (4, Some(23.7)),
    (16, Some(27.2)),
    (32, Some(29.3)),
    (128, Some(23.3)),
    (256, None),
    (1024, None),
];

/// One technique, from one order where it reads an archive.
#[derive(Serialize)]
pub(crate) struct Row {
    technique: String,
    order: Option<&'static str>,
    megabytes_per_second: f64,
    paper: Option<f64>,
    figures: Figures,
}

/// Content a second, by technique and order.
pub(crate) fn table_of(rows: &[Row], run: &str) -> Table {
    let title = format!("Content a second from the real disk ({run}), by technique");
    let mut table = Table::new("live", &title, "technique", "MB/s", Better::Neither)
        .contenders([Contender::ours("best")])
        .under("Cold, in turn; orders are made of the other four starts.");
    for row in rows {
        let order = row.order.unwrap_or("no order");
        table.set(&row.technique, order, Figure::exact(row.megabytes_per_second));
        table.set(&row.technique, "the paper", Figure::exact(row.paper.unwrap_or(f64::NAN)));
    }
    table
}

/// The files of the start, and where they lie.
struct Made {
    names: Vec<String>,
    loose: PathBuf,
    packs: Vec<Packs>,
}

/// The files in one order.
struct Packs {
    order: &'static str,
    stored: PathBuf,
    deflated: PathBuf,
}

pub(crate) fn measure(zero_ad: &ZeroAd, run: &Path, args: &Args) -> anyhow::Result<Vec<Row>> {
    let made = Made::new(zero_ad, run, args.quick)?;
    let mut techniques = techniques(&made);
    let mut workloads: Vec<&mut dyn Workload> = Vec::new();
    workloads.extend(techniques.iter_mut().map(|technique| technique as &mut dyn Workload));
    let figures = alternate(&mut workloads, args.rounds.max(1) as usize)?;
    let row = |(figures, technique): (Figures, Technique<'_>)| Row {
        technique: technique.words,
        order: technique.order,
        megabytes_per_second: rate(&figures, figures.median_ns),
        paper: technique.paper,
        figures,
    };
    Ok(figures.into_iter().zip(techniques).map(row).collect())
}

/// MB of content a second, if a load takes so long.
fn rate(figures: &Figures, ns: u64) -> f64 {
    figures.delivered_bytes as f64 * 1e3 / ns.max(1) as f64
}

/// The loose files first: they are the baseline.
fn techniques(made: &Made) -> Vec<Technique<'_>> {
    let mut all = Vec::new();
    let mut add = |name: &str, order: Option<&'static str>, paper, how| {
        let title = order.map_or_else(|| name.to_owned(), |order| format!("{name}, order {order}"));
        all.push(Technique { title, words: name.to_owned(), order, paper, made, how });
    };
    add("loose files, one after another", None, Some(LOOSE), How::Loose);
    add("loose files, several at once", None, Some(LOOSE_AT_ONCE), How::LooseAtOnce);
    for Packs { order, stored, .. } in &made.packs {
        let how = How::Blocks(stored, 16 << 10);
        add("archive, stored, blocks of 16 KiB", Some(*order), Some(STORED), how);
    }
    for (kib, paper) in BLOCKS {
        let paper = if kib == 16 { Some(COMPRESSED) } else { paper };
        let name = format!("archive, compressed, blocks of {kib} KiB");
        for Packs { order, deflated, .. } in &made.packs {
            add(&name, Some(*order), paper, How::Blocks(deflated, kib << 10));
        }
    }
    for (name, list_known) in [("our store, on demand", false), ("our store, list known", true)] {
        for Packs { order, deflated, .. } in &made.packs {
            add(name, Some(*order), None, How::Store(deflated, list_known));
        }
    }
    all
}

impl Made {
    fn new(zero_ad: &ZeroAd, run: &Path, quick: bool) -> anyhow::Result<Self> {
        let files = first_loads(run, quick)?;
        let names: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
        let folder = &zero_ad.scratch;
        let loose = folder.join("loose");
        eprintln!("making {} files in {}", files.len(), loose.display());
        synth::synth(&loose, &files, &synth::Options::default(), &mut |_, _| ())?;
        let packed = |name: &str, codec, order: &[String]| -> anyhow::Result<PathBuf> {
            let path = folder.join(name);
            let options = pack::Options { codec, ..pack::Options::default() };
            let out = Destination::new(&path).replacing(true);
            pack::pack(&loose, out, order, &options, &mut |_, _| ())?;
            Ok(path)
        };
        let universe: Vec<(String, u64)> =
            files.into_iter().map(|file| (file.path, file.bytes)).collect();
        let others = zero_ad.without(run);
        let in_order = |method: &'static str| -> anyhow::Result<Packs> {
            let order = match method {
                "own" => names.clone(),
                _ => order::order_names(&others, &universe, method, None)?,
            };
            Ok(Packs {
                order: method,
                stored: packed(&format!("stored-{method}.zip"), Codec::Stored, &order)?,
                deflated: packed(&format!("deflated-{method}.zip"), Codec::Auto, &order)?,
            })
        };
        let packs = ORDERS.into_iter().map(in_order).collect::<anyhow::Result<_>>()?;
        Ok(Self { names, loose, packs })
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let loose = self.names.iter().map(|name| self.loose.join(name));
        let packs = self.packs.iter().flat_map(|packs| [&packs.stored, &packs.deflated]);
        loose.chain(packs.cloned())
    }
}

/// How a technique loads.
enum How<'a> {
    Loose,
    LooseAtOnce,
    /// The paper's way: a file's blocks, several at once, one file after another.
    Blocks(&'a Path, u64),
    /// Whether the list of loads is known.
    Store(&'a Path, bool),
}

struct Technique<'a> {
    /// The name and the order.
    title: String,
    words: String,
    order: Option<&'static str>,
    paper: Option<f64>,
    made: &'a Made,
    how: How<'a>,
}

impl Workload for Technique<'_> {
    fn name(&self) -> &str {
        &self.title
    }

    fn make_cold(&mut self) -> Result<Coldness, BoxError> {
        Ok(make_cold(self.made.files(), Dropping::Files)?)
    }

    fn run(&mut self, _progress: &mut dyn FnMut(f64)) -> Result<Trial, BoxError> {
        Ok(self.loaded()?)
    }
}

impl Technique<'_> {
    fn loaded(&self) -> anyhow::Result<Trial> {
        let Made { names, loose, .. } = self.made;
        match self.how {
            How::Loose => timed(|sum| from_folder(loose, names, sum)),
            How::LooseAtOnce => {
                let store = Store::builder().folder(loose).open_all()?;
                timed(|sum| listed(&store, names, sum))
            }
            How::Blocks(pack, block_bytes) => {
                let mut reader = BlockReader::open(pack, block_bytes)?;
                let file = fs::File::open(pack)?;
                let index = Index::open(&file, file.metadata()?.len())?;
                timed(|sum| in_blocks(&mut reader, &index, names, sum))
            }
            How::Store(pack, list_known) => {
                let store = Store::builder().predict(false).open(pack)?;
                let load = if list_known { listed } else { on_demand };
                timed(|sum| load(&store, names, sum))
            }
        }
    }
}

fn in_blocks(
    reader: &mut BlockReader,
    index: &Index,
    names: &[String],
    sum: &mut Checksum,
) -> anyhow::Result<()> {
    let (mut extent, mut content) = (Vec::new(), Vec::new());
    for (position, name) in (0..).zip(names) {
        let number = index.find(name).with_context(|| format!("{name} was not packed"))?;
        let entry = index.entry(number);
        reader.read(entry.header_offset, entry.extent_bytes, &mut extent)?;
        decode(&entry, name, &extent, &mut content)?;
        sum.add(position, &content);
    }
    Ok(())
}

pub(crate) fn words(rows: &[Row], run: &str) -> String {
    let mut header = vec!["technique"];
    header.extend(ORDERS);
    header.push("paper");
    let lines = rows.chunk_by(|one, next| one.technique == next.technique).map(|rows| {
        let mut line = vec![rows[0].technique.clone()];
        line.extend((0..ORDERS.len()).map(|at| rows.get(at).map_or_else(|| "-".to_owned(), cell)));
        line.push(rows[0].paper.map_or_else(|| "-".to_owned(), |paper| paper.to_string()));
        line
    });
    let cached = rows.first().map(|row| row.figures.at_start.to_string()).unwrap_or_default();
    format!(
        "Throughput by technique (4.2, figure 2) live: MB of content a second, median (least to most). The files of\n\
         {run}, from this disk: by name, in the order of the newest other run, in the best order of the other four, and in\n\
         its own order, as the paper's archive was made for its trace. Files were dropped from the page cache before each\n\
         load, folders and inodes were not. Same bytes from all. Blocks: the paper's way, one file after another.\n\n{}\n\
         Before the first load: {cached}.\n",
        table(&header, lines.collect())
    )
}

fn cell(row: &Row) -> String {
    let Figures { min_ns, max_ns, .. } = row.figures;
    let (least, most) = (rate(&row.figures, max_ns), rate(&row.figures, min_ns));
    format!("{:.1} ({least:.1} to {most:.1})", row.megabytes_per_second)
}
