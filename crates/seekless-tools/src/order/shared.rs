//! Whether runs load files in an order that they share, decided from the runs alone: among the
//! files that two runs both load, those that follow one another in one lie near each other in the
//! other.
//!
//! Take the `n` files that both load, and their places among these in the first run. In a random
//! permutation two files lie at most `w` places apart with probability
//! w (2n − w − 1) / (n (n − 1)).
//! Of the n − 1 pairs that follow one another in the second run, the number that do is nearly
//! binomial: two pairs depend on each other only through a file that they share, and through the
//! ends. An order that is only coarse, such as parts that come one after the other with each part
//! shuffled, shows too, since it rules out most of the far places.

use seekless_policy::eviction::Id;

/// Files so near each other are neighbours: as far as runs mix what they load at the same time.
const NEAR: usize = 16;

/// The window is at most this part of the files, or chance would fill most of it.
const NEAR_PART: usize = 8;

/// Fewer common files show nothing.
const FILES_MIN: usize = 64;

/// This many standard deviations above the expected value are no chance: one in 30,000.
const DEVIATIONS: f64 = 4.0;

/// Of more pairs than chance explains, at least this share: a few files that always come together
/// are no order of all.
const SHARE_MIN: f64 = 0.01;

/// The newest runs are compared, each with each.
const RUNS_MAX: usize = 5;

/// Whether any two of the newest runs share an order. Runs with few files in common count as if
/// they did, since these show nothing. `runs` are the loads of each run, of files below `files`.
pub(super) fn share_an_order(runs: &[&[Id]], files: usize) -> bool {
    let newest = &runs[runs.len().saturating_sub(RUNS_MAX)..];
    let mut place = vec![None; files];
    newest.iter().enumerate().any(|(at, one)| {
        place.fill(None);
        for (turn, &id) in (0u32..).zip(*one) {
            if let Some(place) = place.get_mut(id as usize) {
                place.get_or_insert(turn);
            }
        }
        newest[at + 1..].iter().any(|other| is_shared(&common(&place, other)))
    })
}

/// The files of `run` that have a place, in the order of their first loads: for each its place,
/// counted among these files.
fn common(place: &[Option<u32>], run: &[Id]) -> Vec<u32> {
    let mut rest = place.to_vec();
    let first = |&id: &Id| rest.get_mut(id as usize).and_then(Option::take);
    let turns: Vec<u32> = run.iter().filter_map(first).collect();
    let mut sorted: Vec<(u32, usize)> = turns.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let mut places = vec![0; turns.len()];
    (0..).zip(sorted).for_each(|(place, (_, at))| places[at] = place);
    places
}

/// Whether these places, each of `0..n` once, have more neighbours that follow one another than
/// chance explains.
fn is_shared(places: &[u32]) -> bool {
    if places.len() < FILES_MIN {
        return true;
    }
    let (files, near) = (places.len() as f64, NEAR.min(places.len() / NEAR_PART));
    let is_near = |pair: &&[u32]| pair[0].abs_diff(pair[1]) as usize <= near;
    let found = places.windows(2).filter(is_near).count() as f64;
    let (pairs, near) = (files - 1.0, near as f64);
    let chance = near * (2.0 * files - near - 1.0) / (files * pairs);
    let excess = found - pairs * chance;
    excess > DEVIATIONS * (pairs * chance * (1.0 - chance)).sqrt() && excess > SHARE_MIN * pairs
}

#[cfg(test)]
mod tests;
