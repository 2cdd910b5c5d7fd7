//! The objects: each file of the game as one, our pack of them, and all laid out as a tar.

use super::Args;
use super::storage::{BUCKET, Storage, device};
use anyhow::{Context, ensure};
use seekless::engine::ObjectName;
use seekless::job::roots::Roots;
use seekless::measure::Checksum;
use seekless::remote::{Condition, Settings, put};
use seekless::tools::synth::{self, File};
use seekless::tools::{order, pack};
use seekless::trace::Loads;
use seekless_results::{data_folder, published};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const RUNS: [&str; 5] = ["acropolis_bay", "arcadia", "belgian_bog", "sahel", "siwa_oasis"];
/// Of a tar: a header is a block, and content is filled up to blocks.
const BLOCK_BYTES: u64 = 512;
/// With `--quick`, one file in so many is there, and loaded.
const QUICK_SHARE: usize = 20;
/// Below the bucket.
const FILES: &str = "files";
pub(super) const PACK: &str = "data.zip";
pub(super) const TAR: &str = "data.tar";

/// A file that the start loads.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) bytes: u64,
    /// CRC-32 of its content.
    crc: u32,
    /// Where its content begins in the tar.
    pub(super) tar_offset: u64,
}

impl Wanted {
    /// The object that holds it alone.
    pub(super) fn key(&self) -> String {
        format!("{FILES}/{}", self.name)
    }
}

/// What lies in the bucket, and what a start loads of it.
pub(super) struct Prepared {
    pub(super) root: PathBuf,
    pub(super) wanted: Vec<Wanted>,
    /// Of all of it, in order.
    pub(super) expected: Checksum,
}

impl Prepared {
    /// Makes what is not there yet below `root`.
    pub(super) fn new(args: &Args, root: &Path) -> anyhow::Result<Self> {
        let (files, others, loaded) = data(args)?;
        let bucket = root.join(BUCKET);
        let loose = bucket.join(FILES);
        if !loose.exists() {
            eprintln!("bench: makes {} files", files.len());
            synth::synth(&loose, &files, &synth::Options::default(), &mut |_, _| ())?;
        }
        let mut wanted = wanted(&files, &loaded)?;
        let expected = lay_out_tar(&mut wanted, &files, &loose, &bucket.join(TAR))?;
        let prepared = Self { root: root.to_owned(), wanted, expected };
        if !bucket.join(PACK).exists() {
            prepared.make_pack(args, &loose, &others)?;
        }
        Ok(prepared)
    }

    /// Makes the pack, and sends it to the server as `seekless pack -o s3://…` does.
    fn make_pack(&self, args: &Args, loose: &Path, others: &[PathBuf]) -> anyhow::Result<()> {
        eprintln!("bench: packs them");
        let path = self.root.join("local.zip");
        packed(args, loose, others, &path)?;
        let name = format!("s3://{BUCKET}/{PACK}");
        let name = ObjectName::parse(name.as_ref()).context("no name")??;
        let storage = Storage::start(&self.root)?;
        let content = Arc::new(fs::File::open(&path)?);
        let access = storage.access_directly();
        put(&name, content, Condition::Any, &access, &Settings::default(), |_| true)
            .context("cannot write the pack")?;
        Ok(fs::remove_file(&path)?)
    }

    /// A file that says which files are wanted, for other programs: a CRC-32 and a name a line.
    pub(super) fn list(&self) -> anyhow::Result<PathBuf> {
        let path = self.root.join("wanted");
        let line = |wanted: &Wanted| format!("{} {}\n", wanted.crc, wanted.name);
        let lines: String = self.wanted.iter().map(line).collect();
        fs::write(&path, lines)?;
        Ok(path)
    }
}

/// Packs a folder in the order of runs, for the device that the proxy is.
pub(super) fn packed(
    args: &Args,
    folder: &Path,
    traces: &[PathBuf],
    out: &Path,
) -> anyhow::Result<()> {
    let device = device(args, args.delay_ms[0])?;
    let how = pack::OrderBy { device, ..pack::OrderBy::by(&order::Options::default().method) };
    pack::pack_for_runs(folder, out, traces, &how, &pack::Options::default(), &mut |_, _| ())?;
    Ok(())
}

/// All files, the runs that order and prediction are made of, and the first loads of the start.
fn data(args: &Args) -> anyhow::Result<(Vec<File>, Vec<PathBuf>, Vec<String>)> {
    let folder = data_folder(args.data.as_deref()).join("0ad");
    let run = |name: &&str| folder.join(format!("{name}.csv.gz"));
    let is_known = RUNS.contains(&&*args.start);
    ensure!(is_known, "--start: one of {}", RUNS.join(", "));
    let others = RUNS.iter().filter(|name| **name != args.start).map(run).collect();
    let list = published(args.data.as_deref(), "0ad/files.csv.gz")?;
    let mut files = synth::files_of(&list, &Roots::default())?;
    let loads = Loads::read(&[run(&&*args.start)])?;
    let first = loads.runs.first().context("a start has a run")?;
    let mut seen = HashSet::new();
    let first = first.iter().filter(|load| seen.insert(load.file));
    let mut loaded: Vec<String> =
        first.map(|load| loads.names[load.file as usize].clone()).collect();
    if args.quick {
        let kept: Vec<String> = loaded.into_iter().step_by(QUICK_SHARE).collect();
        let names: HashSet<&str> = kept.iter().map(String::as_str).collect();
        let mut number = 0;
        files.retain(|file| {
            number += 1;
            number % QUICK_SHARE == 0 || names.contains(&*file.path)
        });
        loaded = kept;
    }
    Ok((files, others, loaded))
}

/// What is loaded, and where it lies in a tar of all files in the order of their names.
fn wanted(files: &[File], loaded: &[String]) -> anyhow::Result<Vec<Wanted>> {
    let mut at = 0;
    let place = |file: &File| {
        let tar_offset = at + BLOCK_BYTES;
        at = tar_offset + file.bytes.next_multiple_of(BLOCK_BYTES);
        let name = file.path.clone();
        (name.clone(), Wanted { name, bytes: file.bytes, crc: 0, tar_offset })
    };
    let places: HashMap<String, Wanted> = files.iter().map(place).collect();
    let find = |name: &String| places.get(name).cloned().with_context(|| format!("no {name}"));
    loaded.iter().map(find).collect()
}

/// Writes what is loaded to its places in the tar; nothing else is read from there, so the rest is
/// a hole. Returns what all ways must deliver.
fn lay_out_tar(
    wanted: &mut [Wanted],
    files: &[File],
    loose: &Path,
    tar: &Path,
) -> anyhow::Result<Checksum> {
    let file = fs::File::create(tar)?;
    let bytes = |file: &File| BLOCK_BYTES + file.bytes.next_multiple_of(BLOCK_BYTES);
    file.set_len(files.iter().map(bytes).sum())?;
    let mut expected = Checksum::default();
    for (place, wanted) in (0..).zip(wanted) {
        let path = loose.join(&wanted.name);
        let content = fs::read(&path).with_context(|| path.display().to_string())?;
        ensure!(content.len() as u64 == wanted.bytes, "{}: another size", path.display());
        file.write_all_at(&content, wanted.tar_offset)?;
        wanted.crc = crc32fast::hash(&content);
        expected.add(place, &content);
    }
    Ok(expected)
}
