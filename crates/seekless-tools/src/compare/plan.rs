//! What will be loaded: a run's loads as files that both sides have, checked to hold the same
//! bytes.

use crate::pack::{place_of, some};
use rayon::prelude::*;
use seekless_job::roots::{self, Root, Roots};
use seekless_job::{Error, ErrorKind, Result};
use seekless_pack::Index;
use seekless_trace::{FileId, Load, Loads};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Takes the number of loads that a trial has done. An error ends the trial.
pub(super) type Tell<'a> = dyn FnMut(usize) -> Result<()> + 'a;

/// Names that a message or a report lists at most.
const NAMED: usize = 5;
/// Files are checked in pieces of this size.
const PIECE_BYTES: usize = 1 << 20;

/// Files that the trace names but a side lacks: left out on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// Files outside DIR, or that are no longer in it.
    pub in_directory: u64,
    /// Files of DIR that the pack lacks.
    pub in_pack: u64,
    /// Loads of all of them.
    pub loads: u64,
    /// Up to five of them by name.
    pub named: Vec<String>,
    /// Where the trace's files were found, if none of them was where it says: by the longest common
    /// tail of names.
    pub moved: Option<Root>,
}

/// One distinct file of the plan.
#[derive(Debug)]
pub(crate) struct PlanFile {
    /// Its name in the pack.
    pub(crate) name: String,
    /// Where it lies loose.
    pub(crate) path: PathBuf,
    /// Its entry in the pack's index.
    pub(crate) entry: u32,
}

/// The loads to time, in the run's order.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The distinct files, by first load.
    pub(crate) files: Vec<PlanFile>,
    /// The loads, as places in `files`.
    pub(crate) loads: Vec<usize>,
    /// Bytes that the loads deliver, repeats included.
    pub(crate) bytes: u64,
    /// What was left out.
    pub(crate) missing: Missing,
}

impl Plan {
    /// Plans the loads of `run` from `directory` and the pack of `index`, of files that moved as
    /// `roots` say; with `unique`, first loads only.
    ///
    /// # Errors
    /// When no file is left that both sides have.
    pub(crate) fn new(
        directory: &Path,
        index: &Index,
        loads: &Loads,
        run: &[Load],
        unique: bool,
        roots: &Roots,
    ) -> Result<Plan> {
        let sides = Sides { directory, index };
        let plan = Plan::with(sides, loads, run, unique, &roots.resolved());
        if !plan.loads.is_empty() {
            return Ok(plan);
        }
        let names = (0..index.len()).map(|entry| index.name(entry as u32));
        let traced: Vec<&str> =
            run.iter().map(|load| loads.names[load.file as usize].as_str()).collect();
        let strange = || nothing_left(directory, run.len(), &plan.missing);
        let root = roots::guess(names, &traced).ok_or_else(strange)?;
        let mut plan = Plan::with(sides, loads, run, unique, &Roots::new(vec![root.clone()]));
        if plan.loads.is_empty() {
            return Err(nothing_left(directory, run.len(), &plan.missing));
        }
        plan.missing.moved = Some(root);
        Ok(plan)
    }

    fn with(sides: Sides<'_>, loads: &Loads, run: &[Load], unique: bool, roots: &Roots) -> Plan {
        let Sides { index, .. } = sides;
        let mut plan =
            Plan { files: Vec::new(), loads: Vec::new(), bytes: 0, missing: Missing::default() };
        let mut admission =
            Admission { sides, roots, known: HashMap::new(), by_entry: HashMap::new() };
        let mut loaded: HashSet<usize> = HashSet::new();
        for load in run {
            match admission.file(&mut plan, load.file, &loads.names[load.file as usize]) {
                Some(file) if loaded.insert(file) || !unique => {
                    plan.bytes += index.bytes(plan.files[file].entry);
                    plan.loads.push(file);
                }
                Some(_) => {}
                None => plan.missing.loads += 1,
            }
        }
        plan
    }

    fn name_missing(&mut self, recorded: &str) {
        if self.missing.named.len() < NAMED {
            self.missing.named.push(recorded.to_owned());
        }
    }

    /// Checks that every loose file still holds what went into the pack; says which do not.
    pub(crate) fn check(&self, index: &Index) -> Result<()> {
        let differs = |file: &PlanFile| -> Result<Option<String>> {
            let entry = index.entry(file.entry);
            let (bytes, crc) =
                sum(&file.path).map_err(|error| Error::unreadable(&file.path, error))?;
            Ok(((bytes, crc) != (entry.bytes, entry.crc)).then(|| file.path.display().to_string()))
        };
        let found: Vec<Option<String>> =
            self.files.par_iter().map(differs).collect::<Result<_>>()?;
        let changed: Vec<String> = found.into_iter().flatten().collect();
        if changed.is_empty() {
            return Ok(());
        }
        let message = format!(
            "{} of the run's files hold other bytes than in the pack, which is older: {}; bring it up to date with `pack --update`",
            changed.len(),
            some(&changed)
        );
        Err(Error::new(ErrorKind::Differs, message))
    }

    /// The distinct loose files.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().map(|file| file.path.clone()).collect()
    }

    /// The names to load, in order, repeats included.
    pub(crate) fn names(&self) -> Vec<String> {
        self.loads.iter().map(|&file| self.files[file].name.clone()).collect()
    }
}

/// The folder and what is in the pack.
#[derive(Clone, Copy)]
struct Sides<'a> {
    directory: &'a Path,
    index: &'a Index,
}

/// Which recorded names are which files of the plan.
struct Admission<'a> {
    sides: Sides<'a>,
    roots: &'a Roots,
    /// By the trace's number; `None` if a side lacks the file.
    known: HashMap<FileId, Option<usize>>,
    /// A trace may spell a file's name in several ways: it is one file all the same.
    by_entry: HashMap<u32, usize>,
}

impl Admission<'_> {
    /// The place of file `id`, recorded by this name, in the plan, which takes it in when it is
    /// new. One that a side lacks is counted.
    fn file(&mut self, plan: &mut Plan, id: FileId, recorded: &str) -> Option<usize> {
        if let Some(file) = self.known.get(&id) {
            return *file;
        }
        let file = self.admit(plan, recorded);
        self.known.insert(id, file);
        file
    }

    fn admit(&mut self, plan: &mut Plan, recorded: &str) -> Option<usize> {
        let directory = self.sides.directory;
        let place = place_of(directory, &self.roots.apply(recorded), |name| {
            directory.join(name).is_file().then(|| name.to_owned())
        });
        let Some(name) = place else {
            plan.missing.in_directory += 1;
            plan.name_missing(recorded);
            return None;
        };
        let Some((name, entry)) = packed(self.sides, name) else {
            plan.missing.in_pack += 1;
            plan.name_missing(recorded);
            return None;
        };
        Some(*self.by_entry.entry(entry).or_insert_with(|| {
            plan.files.push(PlanFile { path: directory.join(&name), name, entry });
            plan.files.len() - 1
        }))
    }
}

/// The entry that holds a file of the folder, and its name. A pack that keeps links has a file
/// under its own name only.
fn packed(sides: Sides<'_>, name: String) -> Option<(String, u32)> {
    let Sides { directory, index } = sides;
    let file = |name: &str| index.find(name).filter(|&entry| !index.entry(entry).is_link());
    if let Some(entry) = file(&name) {
        return Some((name, entry));
    }
    let path = directory.join(&name).canonicalize().ok()?;
    let own = path.strip_prefix(directory).ok()?.to_str()?.to_owned();
    let entry = file(&own)?;
    Some((own, entry))
}

/// Length and CRC-32 of a file that may be larger than memory.
fn sum(path: &Path) -> io::Result<(u64, u32)> {
    let mut file = File::open(path)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut piece = vec![0; length.clamp(1, PIECE_BYTES)];
    let (mut bytes, mut crc) = (0, crc32fast::Hasher::new());
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok((bytes, crc.finalize())),
            Ok(read) => {
                crc.update(&piece[..read]);
                bytes += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn nothing_left(directory: &Path, loads: usize, missing: &Missing) -> Error {
    let message = if loads == 0 {
        "the run has no loads: record one that reads files, or choose another with --run".to_owned()
    } else {
        format!(
            "none of the run's files is both below {} and in the pack ({} not in the folder, {} not in the pack), for \
             example {}: give the folder that the program read from, and the pack made of it, or say with --root OLD=NEW \
             where that folder was",
            directory.display(),
            missing.in_directory,
            missing.in_pack,
            missing.named.join(", ")
        )
    };
    Error::new(ErrorKind::Missing, message)
}
