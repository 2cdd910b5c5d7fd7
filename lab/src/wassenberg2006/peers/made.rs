//! The files of the game below a folder: loose, in our packs, and in what the peers read.

use super::super::Args;
use super::LeftOut;
use super::image::Image;
use super::python::{Zipfile, missing};
use super::tar::{Indexed, Streamed, Tar};
use super::ways::{Loose, Ours, Way};
use crate::data::ZeroAd;
use crate::wassenberg2006::load::first_loads;
use seekless::device::Costs;
use seekless::job::roots;
use seekless::measure::Slowed;
use seekless::pack::{Index, PREDICTION};
use seekless::sys::output::Destination;
use seekless::tools::{pack, synth};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The orders of our packs; the last is what sorted peers get.
const ORDERS: [&str; 3] = ["name", "recent", "best"];

pub(super) struct Made {
    /// What the start loads, in its order.
    pub(super) names: Vec<String>,
    /// Files in each archive.
    pub(super) files: usize,
    loose: PathBuf,
    packs: Vec<(&'static str, PathBuf)>,
    images: Vec<Image>,
    tars: Vec<(&'static str, Tar)>,
    /// Whether Python takes part.
    python: bool,
    pub(super) left_out: Vec<LeftOut>,
}

impl Made {
    pub(super) fn new(
        zero_ad: &ZeroAd,
        folder: &Path,
        run: &Path,
        args: &Args,
    ) -> anyhow::Result<Self> {
        let names = first_loads(run, args.quick)?.into_iter().map(|file| file.path).collect();
        let files = files(zero_ad, args)?;
        let loose = folder.join("loose");
        eprintln!("making {} files in {}", files.len(), loose.display());
        synth::synth(&loose, &files, &synth::Options::default(), &mut |_, _| ())?;
        let packs = packs(folder, &loose, &zero_ad.without(run), args)?;
        let (by_name, best) = (names_in(&packs[0].1)?, names_in(&packs[ORDERS.len() - 1].1)?);
        let mut left_out = Vec::new();
        let images = Image::all(folder, &loose, &best, &mut left_out);
        let tar = |order: &'static str, names: &[String]| -> anyhow::Result<_> {
            Ok((order, Tar::make(&loose, names, folder.join(format!("{order}.tar")))?))
        };
        let tars = vec![tar("name", &by_name)?, tar("best", &best)?];
        let python = match missing() {
            Some(why) => {
                left_out.push(LeftOut { peer: "Python's zipfile", why });
                false
            }
            None => true,
        };
        Ok(Self { names, files: files.len(), loose, packs, images, tars, python, left_out })
    }

    /// All ways to load, the loose files first: they are the baseline.
    pub(super) fn ways<'a>(
        &'a self,
        slowed: Option<&'a Slowed>,
        costs: Option<Costs>,
    ) -> Vec<(String, Box<dyn Way + 'a>)> {
        let mut ways: Vec<(String, Box<dyn Way + 'a>)> = Vec::new();
        let loose = Loose { folder: &self.loose, names: &self.names };
        ways.push(("loose files".to_owned(), Box::new(loose)));
        for (known, list_known) in [("on demand", false), ("list known", true)] {
            for (order, pack) in &self.packs {
                let ours = Ours { pack, costs, list_known };
                ways.push((format!("our pack, order {order}, {known}"), Box::new(ours)));
            }
        }
        for image in &self.images {
            ways.push((image.peer.to_owned(), Box::new(image)));
        }
        for (order, tar) in &self.tars {
            ways.push((format!("tar, order {order}, by index"), Box::new(Indexed(tar))));
            ways.push((format!("tar, order {order}, streamed"), Box::new(Streamed(tar))));
        }
        for (order, pack) in self.packs.iter().filter(|_| self.python) {
            let zipfile = Zipfile { pack, slowed, running: None };
            ways.push((format!("Python's zipfile, our pack, order {order}"), Box::new(zipfile)));
        }
        ways
    }
}

/// All files of the game, or those that the starts load, or what `--quick` takes of these.
fn files(zero_ad: &ZeroAd, args: &Args) -> anyhow::Result<Vec<synth::File>> {
    if !args.quick && !args.of_starts {
        return Ok(synth::files_of(&zero_ad.files, &roots::Roots::default())?);
    }
    let mut files = BTreeMap::new();
    for run in &zero_ad.runs {
        files.extend(
            first_loads(run, args.quick)?.into_iter().map(|file| (file.path.clone(), file)),
        );
    }
    Ok(files.into_values().collect())
}

/// One pack for each order.
fn packs(
    folder: &Path,
    loose: &Path,
    others: &[PathBuf],
    args: &Args,
) -> anyhow::Result<Vec<(&'static str, PathBuf)>> {
    let pack = |order: &'static str| {
        let path = folder.join(format!("{order}.zip"));
        eprintln!("making {}", path.display());
        let how = pack::OrderBy { device: args.device.clone(), ..pack::OrderBy::by(order) };
        let out = Destination::new(&path).replacing(true);
        let options = pack::Options::default();
        pack::pack_for_runs(loose, out, others, &how, &options, &mut |_, _| ())?;
        Ok((order, path))
    };
    ORDERS.into_iter().map(pack).collect()
}

/// The files of a pack, as they lie in it.
fn names_in(pack: &Path) -> anyhow::Result<Vec<String>> {
    let file = File::open(pack)?;
    let index = Index::open(&file, file.metadata()?.len())?;
    let offset = |&number: &u32| index.entry(number).header_offset;
    let is_file = |&number: &u32| {
        let name = index.name(number);
        !name.ends_with('/') && name != PREDICTION
    };
    let mut numbers: Vec<u32> = (0..index.len() as u32).filter(is_file).collect();
    numbers.sort_unstable_by_key(offset);
    Ok(numbers.into_iter().map(|number| index.name(number).to_owned()).collect())
}
