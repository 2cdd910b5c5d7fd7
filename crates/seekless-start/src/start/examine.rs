//! Which needs of a profile's files are not cached. Not every file is opened for that: a look at a
//! cold file costs a request.

use super::candidates::Candidate;
use crate::warm::bring::{Opened, open};
use seekless_policy::foresight::start::Need;
use seekless_sys::residency;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The files with the most needs that are looked at.
const LARGEST: usize = 32;
/// And this many of the others, evenly spread: the rest are taken to be cached if all of these are.
const SPREAD: usize = 32;
/// First, one in this many of these: if nothing of them is cached, the others are not looked at.
const EVERY: usize = 16;
const THREADS: usize = 8;

/// What was found of a file.
#[derive(Clone)]
pub(super) enum Found {
    Missing { needs: Vec<Need>, cached_bytes: u64 },
    LeftOut(&'static str),
}

impl Found {
    fn is_cold(&self) -> bool {
        matches!(self, Found::Missing { cached_bytes: 0, .. })
    }

    fn is_cached(&self) -> bool {
        matches!(self, Found::Missing { needs, .. } if needs.is_empty())
    }
}

/// What is found of each file, the largest first; `None` of a file that was not looked at and is
/// not known to be cached.
pub(super) fn examine(files: &[&Candidate], within: &[PathBuf]) -> Vec<Option<Found>> {
    let chosen = chosen(files.len());
    let mut found: Vec<Option<Found>> = files.iter().map(|_| None).collect();
    let few: Vec<usize> = chosen.iter().copied().step_by(EVERY).collect();
    look_at(&few, files, within, &mut found);
    // Where nothing is cached, each look costs a request, and shows the same.
    if few.iter().all(|file| found[*file].as_ref().is_some_and(Found::is_cold)) {
        return found;
    }
    let rest: Vec<usize> = chosen.iter().copied().filter(|file| found[*file].is_none()).collect();
    look_at(&rest, files, within, &mut found);
    let mut small = found.iter().skip(LARGEST).flatten();
    if files.len() > chosen.len() && small.all(Found::is_cached) {
        for (file, found) in files.iter().zip(&mut found) {
            let cached_bytes = file.needed_bytes();
            found.get_or_insert(Found::Missing { needs: Vec::new(), cached_bytes });
        }
    }
    found
}

/// Looks at some files, several at once.
fn look_at(
    chosen: &[usize],
    files: &[&Candidate],
    within: &[PathBuf],
    found: &mut [Option<Found>],
) {
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
        if seekless_job::crew::start(scope, THREADS.min(chosen.len()), work).is_err() {
            work();
        }
    });
    for (file, look) in chosen.iter().zip(looks) {
        found[*file] = look.into_inner().unwrap_or(None);
    }
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
        Some(true) => Found::Missing { needs: Vec::new(), cached_bytes: needed },
        Some(false) => Found::Missing { needs: file.needs.clone(), cached_bytes: 0 },
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
    Found::Missing { needs: missing, cached_bytes }
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
