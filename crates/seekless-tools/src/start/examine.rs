//! Which needs of a profile's files are not cached. Not every file is opened for that: a look at a
//! cold file costs a request.

use super::decide::Candidate;
use crate::warm::bring::{Opened, open};
use seekless_policy::start::Need;
use seekless_sys::residency;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The files with the most needs that are looked at.
const LARGEST: usize = 32;
/// And so many of the others, evenly spread: the rest are taken to be cached if all of these are.
const SPREAD: usize = 32;
const THREADS: usize = 8;

/// What was found of a file.
#[derive(Clone)]
pub(super) enum Found {
    Missing {
        needs: Vec<Need>,
        cached_bytes: u64,
        /// Whether it is yet to be opened.
        open: bool,
    },
    LeftOut(&'static str),
}

impl Found {
    fn is_cached(&self) -> bool {
        matches!(self, Found::Missing { needs, .. } if needs.is_empty())
    }
}

/// What is found of each file, the largest first. Several are looked at at once.
pub(super) fn examine(files: &[&Candidate], within: &[PathBuf]) -> Vec<Found> {
    let chosen = chosen(files.len());
    let next = AtomicUsize::new(0);
    let looks: Vec<Mutex<Option<Found>>> = chosen.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&file) = chosen.get(at) else { return };
            let found = look(files[file], within);
            if let Ok(mut place) = looks[at].lock() {
                *place = Some(found);
            }
        }
    };
    std::thread::scope(|scope| {
        // With no thread at all, the files are looked at here.
        if crate::crew::start(scope, THREADS.min(chosen.len()), work).is_err() {
            work();
        }
    });
    let looks = looks.into_iter().map(|place| place.into_inner().unwrap_or(None));
    let mut found: Vec<Option<Found>> = files.iter().map(|_| None).collect();
    for (file, look) in chosen.iter().zip(looks) {
        found[*file] = look;
    }
    let small = found.iter().skip(LARGEST).flatten();
    let all_cached = files.len() > chosen.len() && small.into_iter().all(Found::is_cached);
    let unseen = |file: &Candidate| match all_cached {
        true => {
            let cached_bytes = file.needed_bytes();
            Found::Missing { needs: Vec::new(), cached_bytes, open: false }
        }
        false => Found::Missing { needs: file.needs.clone(), cached_bytes: 0, open: true },
    };
    let both = files.iter().zip(found);
    both.map(|(file, found)| found.unwrap_or_else(|| unseen(file))).collect()
}

/// The places of the files that are looked at.
fn chosen(count: usize) -> Vec<usize> {
    let others = count.saturating_sub(LARGEST);
    let spread = others.min(SPREAD);
    let place = |at: usize| LARGEST + at * others / spread.max(1);
    (0..count.min(LARGEST)).chain((0..spread).map(place)).collect()
}

fn look(file: &Candidate, within: &[PathBuf]) -> Found {
    let opened = match open(&file.path, &file.recorded, within) {
        Ok(opened) => opened,
        Err(why) => return Found::LeftOut(why),
    };
    let needed = file.needed_bytes();
    match residency::all_or_nothing(opened.file.as_fd(), opened.bytes) {
        Some(true) => Found::Missing { needs: Vec::new(), cached_bytes: needed, open: false },
        Some(false) => Found::Missing { needs: file.needs.clone(), cached_bytes: 0, open: false },
        None => missing(&opened, &file.needs),
    }
}

fn missing(opened: &Opened, needs: &[Need]) -> Found {
    let (mut missing, mut cached_bytes) = (Vec::new(), 0);
    for need in needs {
        let cached = opened.cached(need.extent).unwrap_or(0);
        cached_bytes += cached;
        if cached < need.extent.bytes {
            missing.push(*need);
        }
    }
    Found::Missing { needs: missing, cached_bytes, open: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_looked_at_and_the_others_evenly() {
        assert_eq!(chosen(3), [0, 1, 2]);
        assert_eq!(chosen(64), (0..64).collect::<Vec<_>>());
        let many = chosen(1000);
        assert_eq!((many.len(), many[31], many[32]), (64, 31, 32));
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]) && many[63] < 1000);
        assert!(chosen(0).is_empty());
    }
}
