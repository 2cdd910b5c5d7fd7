//! Section 4.2 and figure 2 on the real disk: the files of one start are made loose and packed in
//! the start's own order, as the paper's archive was made for its trace, and loaded cold by each
//! technique. Rivals take turns, and must deliver the same bytes.

mod blocks;

use crate::data::run_name;
use anyhow::Context;
use blocks::BlockReader;
use seekless::device::units::format_duration;
use seekless::io::Store;
use seekless::measure::{
    BoxError, Checksum, Coldness, Dropping, Figures, Trial, Workload, alternate, make_cold,
};
use seekless::pack::{Codec, Index, decode};
use seekless::report::table;
use seekless::sys::output::Destination;
use seekless::tools::{pack, roots, synth};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

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

/// One technique.
#[derive(Serialize)]
pub(crate) struct Row {
    megabytes_per_second: f64,
    paper: Option<f64>,
    figures: Figures,
}

/// The files of the start, and where they lie.
struct Made {
    names: Vec<String>,
    loose: PathBuf,
    stored: PathBuf,
    deflated: PathBuf,
}

pub(crate) fn measure(run: &Path, folder: &Path, rounds: u32) -> anyhow::Result<Vec<Row>> {
    let made = Made::new(run, folder)?;
    let mut techniques = Vec::new();
    let mut add = |name: &str, paper, how| {
        techniques.push((paper, Technique { name: name.to_owned(), made: &made, how }));
    };
    add("loose files, one after another", Some(LOOSE), How::Loose);
    add("loose files, several at once", Some(LOOSE_AT_ONCE), How::LooseAtOnce);
    add("archive, stored, blocks of 16 KiB", Some(STORED), How::Blocks(&made.stored, 16 << 10));
    for (kib, paper) in BLOCKS {
        let paper = if kib == 16 { Some(COMPRESSED) } else { paper };
        let name = format!("archive, compressed, blocks of {kib} KiB");
        add(&name, paper, How::Blocks(&made.deflated, kib << 10));
    }
    add("our store, on demand", None, How::Store { list_known: false });
    add("our store, list known", None, How::Store { list_known: true });
    let (papers, mut techniques): (Vec<_>, Vec<_>) = techniques.into_iter().unzip();
    let mut workloads: Vec<&mut dyn Workload> = Vec::new();
    workloads.extend(techniques.iter_mut().map(|technique| technique as &mut dyn Workload));
    let figures = alternate(&mut workloads, rounds.max(1) as usize)?;
    let row = |(figures, paper): (Figures, Option<f64>)| Row {
        megabytes_per_second: figures.delivered_bytes as f64 * 1e3 / figures.median_ns as f64,
        paper,
        figures,
    };
    Ok(figures.into_iter().zip(papers).map(row).collect())
}

impl Made {
    fn new(run: &Path, folder: &Path) -> anyhow::Result<Self> {
        let files = synth::files_of(run, &roots::Roots::default())?;
        let names: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
        let folder = folder.join(format!("live-{}", run_name(run)));
        let loose = folder.join("loose");
        eprintln!("making {} files in {}", files.len(), loose.display());
        synth::synth(&loose, &files, &synth::Options::default(), &mut |_, _| ())?;
        let packed = |name: &str, codec| -> anyhow::Result<PathBuf> {
            let path = folder.join(name);
            let options = pack::Options { codec, ..pack::Options::default() };
            let out = Destination::new(&path).replacing(true);
            pack::pack(&loose, out, &names, &options, &mut |_, _| ())?;
            Ok(path)
        };
        let stored = packed("stored.zip", Codec::Stored)?;
        let deflated = packed("deflated.zip", Codec::Auto)?;
        Ok(Self { names, loose, stored, deflated })
    }
}

/// How a technique loads.
enum How<'a> {
    Loose,
    LooseAtOnce,
    /// The paper's way: a file's blocks, several at once, one file after another.
    Blocks(&'a Path, u64),
    Store {
        list_known: bool,
    },
}

struct Technique<'a> {
    name: String,
    made: &'a Made,
    how: How<'a>,
}

impl Workload for Technique<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn make_cold(&mut self) -> Result<Coldness, BoxError> {
        let loose = self.made.names.iter().map(|name| self.made.loose.join(name));
        let packs = [self.made.stored.clone(), self.made.deflated.clone()];
        Ok(make_cold(loose.chain(packs), Dropping::Files)?)
    }

    fn run(&mut self, _progress: &mut dyn FnMut(f64)) -> Result<Trial, BoxError> {
        Ok(self.loaded()?)
    }
}

impl Technique<'_> {
    fn loaded(&self) -> anyhow::Result<Trial> {
        let Made { names, loose, deflated, .. } = self.made;
        match self.how {
            How::Loose => timed(|sum| {
                (0..).zip(names).try_for_each(|(position, name)| {
                    sum.add(position, &fs::read(loose.join(name))?);
                    Ok(())
                })
            }),
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
            How::Store { list_known } => {
                let store = Store::builder().predict(false).open(deflated)?;
                timed(|sum| match list_known {
                    true => listed(&store, names, sum),
                    false => (0..).zip(names).try_for_each(|(position, name)| {
                        sum.add(position, &store.load(name)?);
                        Ok(())
                    }),
                })
            }
        }
    }
}

fn timed(load: impl FnOnce(&mut Checksum) -> anyhow::Result<()>) -> anyhow::Result<Trial> {
    let (mut sum, started) = (Checksum::default(), Instant::now());
    load(&mut sum)?;
    Ok(Trial::ended(started.elapsed(), sum))
}

fn listed(store: &Store, names: &[String], sum: &mut Checksum) -> anyhow::Result<()> {
    for (position, content) in store.load_many(names.iter().map(String::as_str)) {
        sum.add(position as u64, &content?);
    }
    Ok(())
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
    let header = ["technique", "median", "min to max", "MB of content a second", "paper"];
    let cells = rows.iter().map(|row| {
        let Figures { name, median_ns, min_ns, max_ns, .. } = &row.figures;
        vec![
            name.clone(),
            format_duration(*median_ns),
            format!("{} to {}", format_duration(*min_ns), format_duration(*max_ns)),
            format!("{:.1}", row.megabytes_per_second),
            row.paper.map_or_else(|| "-".to_owned(), |paper| paper.to_string()),
        ]
    });
    format!(
        "Throughput by technique (4.2, figure 2) live: the files of {run}, in its own order, from this disk; files were\n\
         dropped from the page cache before each load, folders and inodes were not. Same bytes from all. Blocks: the\n\
         paper's way, one file after another.\n\n{}",
        table(&header, cells.collect())
    )
}
