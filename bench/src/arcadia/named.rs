//! Which files of the game name which in their content.

use crate::game::Files;
use seekless::policy::eviction::Id;
use seekless::tools::order::{Learn, Naming};
use seekless::tools::references::{self, Mentions, learn, scan_folder};
use seekless::trace::FileList;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What makes use of references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum References {
    /// Nothing.
    None,
    /// The order.
    Order,
    /// The prediction.
    Prediction,
    /// Order and prediction.
    Both,
}

impl References {
    pub(super) fn are_for_order(self) -> bool {
        matches!(self, Self::Order | Self::Both)
    }

    pub(super) fn are_for_prediction(self) -> bool {
        matches!(self, Self::Prediction | Self::Both)
    }
}

/// All mentions of the listed files.
pub(super) struct Named {
    mentions: Mentions,
    /// Of each listed file.
    numbers: HashMap<String, Id>,
}

impl Named {
    /// `None` without the game's own files: others name nothing.
    pub(super) fn of_game(files: &Files, list: &FileList) -> anyhow::Result<Option<Arc<Self>>> {
        let Files::Game(game) = files else { return Ok(None) };
        eprintln!("bench: looks for names in the game's files");
        let bytes: Vec<u64> = list.bytes.iter().map(|bytes| bytes.unwrap_or(0)).collect();
        let listed = references::Files { names: &list.paths, bytes: &bytes };
        let mentions = scan_folder(game, listed, &AtomicBool::new(false), &mut |_, _| ())?;
        let numbers = list.paths.iter().cloned().zip(0..).collect();
        Ok(Some(Arc::new(Self { mentions, numbers })))
    }

    /// For an order, whose numbers are others.
    pub(super) fn naming(self: &Arc<Self>) -> Naming {
        let named = Arc::clone(self);
        Naming::new(move |names, _| Ok(named.learn(names)))
    }

    /// What learns of runs, by the numbers that these names have here.
    pub(super) fn learn(self: &Arc<Self>, names: &[String]) -> Learn {
        let named = Arc::clone(self);
        let listed: Vec<Option<Id>> =
            names.iter().map(|name| named.numbers.get(name).copied()).collect();
        let mut places = vec![None; named.numbers.len()];
        for (place, number) in (0..).zip(&listed) {
            if let Some(number) = number {
                places[*number as usize] = Some(place);
            }
        }
        Arc::new(move |runs| {
            let numbered = |run: &&[Id]| -> Vec<Id> {
                run.iter().filter_map(|&id| listed[id as usize]).collect()
            };
            let runs: Vec<Vec<Id>> = runs.iter().map(numbered).collect();
            let runs: Vec<&[Id]> = runs.iter().map(Vec::as_slice).collect();
            let learned = learn(&named.mentions, places.len() as u32, &runs);
            learned.renumbered(listed.len() as u32, |id| places[id as usize])
        })
    }
}
