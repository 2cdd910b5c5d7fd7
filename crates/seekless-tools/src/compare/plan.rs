//! What will be loaded: a run's loads as files that both sides have, checked to hold the same bytes.

use crate::error::{Error, ErrorKind, Result};
use crate::pack::place_of;
use rayon::prelude::*;
use seekless_pack::Index;
use seekless_trace::{Load, Loads};
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Names that a message or a report lists at most.
const NAMED: usize = 5;

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
    /// Plans the loads of `run` from `directory` and the pack of `index`; with `unique`, first loads only.
    ///
    /// # Errors
    /// When no file is left that both sides have.
    pub(crate) fn new(
        directory: &Path,
        index: &Index,
        loads: &Loads,
        run: &[Load],
        unique: bool,
    ) -> Result<Plan> {
        let mut plan = Plan { files: Vec::new(), loads: Vec::new(), bytes: 0, missing: Missing::default() };
        let mut known: HashMap<u32, Option<usize>> = HashMap::new();
        for load in run {
            let first = !known.contains_key(&load.file);
            let file = *known
                .entry(load.file)
                .or_insert_with(|| plan.admit(directory, index, &loads.names[load.file as usize]));
            match file {
                Some(file) if first || !unique => {
                    plan.bytes += index.entries()[plan.files[file].entry as usize].bytes;
                    plan.loads.push(file);
                }
                Some(_) => {}
                None => plan.missing.loads += 1,
            }
        }
        if plan.loads.is_empty() { Err(nothing_left(directory, run.len(), &plan.missing)) } else { Ok(plan) }
    }

    /// Takes in a file that both sides have; one that a side lacks is counted.
    fn admit(&mut self, directory: &Path, index: &Index, recorded: &str) -> Option<usize> {
        let place = place_of(directory, recorded, |name| directory.join(name).is_file());
        let Some(name) = place else {
            self.missing.in_directory += 1;
            self.name_missing(recorded);
            return None;
        };
        let Some(entry) = index.find(&name) else {
            self.missing.in_pack += 1;
            self.name_missing(recorded);
            return None;
        };
        self.files.push(PlanFile { path: directory.join(&name), name, entry });
        Some(self.files.len() - 1)
    }

    fn name_missing(&mut self, recorded: &str) {
        if self.missing.named.len() < NAMED {
            self.missing.named.push(recorded.to_owned());
        }
    }

    /// Checks that every loose file still holds what went into the pack; says which does not.
    pub(crate) fn check(&self, index: &Index) -> Result<()> {
        self.files.par_iter().try_for_each(|file| {
            let entry = &index.entries()[file.entry as usize];
            let content = std::fs::read(&file.path).map_err(|error| {
                Error::because(ErrorKind::Io, format!("cannot read {}", file.path.display()), error)
            })?;
            if content.len() as u64 == entry.bytes && crc32fast::hash(&content) == entry.crc {
                return Ok(());
            }
            let message = format!(
                "{} holds other bytes than {} in the pack: it changed since it was packed, so pack the folder again",
                file.path.display(),
                file.name
            );
            Err(Error::new(ErrorKind::Differs, message))
        })
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

fn nothing_left(directory: &Path, loads: usize, missing: &Missing) -> Error {
    let message = if loads == 0 {
        "the run has no loads: record one that reads files, or choose another with --run".to_owned()
    } else {
        format!(
            "none of the run's files is both below {} and in the pack ({} not in the folder, {} not in the pack), for \
             example {}: give the folder that the program read from, and the pack made of it",
            directory.display(),
            missing.in_directory,
            missing.in_pack,
            missing.named.join(", ")
        )
    };
    Error::new(ErrorKind::Missing, message)
}
