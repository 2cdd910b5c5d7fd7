//! How likely the next run loads a file that no run has loaded.

use crate::layout::ordering::Kin;
use std::collections::HashMap;

/// The estimate of the folder above weighs as much as this many files.
const PRIOR_FILES: f64 = 4.0;

/// What is known of a kind of file in a folder and below it.
#[derive(Clone, Copy, Default)]
struct Class {
    /// Files that one run alone loads.
    once: f64,
    /// Files that no run loads.
    never: f64,
}

/// For each file, the estimated share of runs that load it, if no run of `runs_count` has.
///
/// After Good and Turing, the next run loads about as many new files as each run so far loaded
/// alone. That is counted for each kind of file in each folder with all below it. A folder's
/// estimate begins with that of the folder above, so a small folder says little against it.
pub(crate) fn likelihoods(kin: &Kin, used: &[u32], runs_count: usize) -> Vec<f64> {
    let mut classes: HashMap<(u32, u32), Class> = HashMap::new();
    for (id, &used) in (0..).zip(used) {
        if used > 1 {
            continue;
        }
        for folder in kin.folders_above(id) {
            let class = classes.entry((folder, kin.kind(id))).or_default();
            class.once += f64::from(used);
            class.never += f64::from(1 - used);
        }
    }
    let runs = runs_count.max(1) as f64;
    let mut known: HashMap<(u32, u32), f64> = HashMap::new();
    let mut above = Vec::new();
    let of = |id| {
        let kind = kin.kind(id);
        above.clear();
        above.extend(kin.folders_above(id));
        let begin = above.iter().position(|&folder| known.contains_key(&(folder, kind)));
        let begin = begin.unwrap_or(above.len());
        let mut estimate = above.get(begin).map_or(0.0, |&folder| known[&(folder, kind)]);
        for &folder in above[..begin].iter().rev() {
            let Class { once, never } = classes.get(&(folder, kind)).copied().unwrap_or_default();
            let new = once / runs;
            estimate = (new + PRIOR_FILES * estimate) / (never + new + PRIOR_FILES);
            known.insert((folder, kind), estimate);
        }
        estimate
    };
    (0..used.len() as u32).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_no_run_loads_is_unlikely_beside_one_that_runs_do() {
        let names = ["a/1.xml", "a/1.xmb", "a/2.xml", "a/2.xmb", "a/3.xml", "a/3.xmb", "b/4.xmb"];
        let kin = Kin::new(names);
        // Two runs: each loads one .xmb alone.
        let likely = likelihoods(&kin, &[0, 1, 0, 1, 0, 0, 0], 2);
        assert_eq!((likely[0], likely[2], likely[4]), (0.0, 0.0, 0.0));
        assert!(likely[5] > likely[6] && likely[6] > 0.0, "{likely:?}");
    }

    #[test]
    fn without_runs_nothing_is_likely() {
        assert_eq!(likelihoods(&Kin::new(["a", "b"]), &[0, 0], 0), [0.0, 0.0]);
    }
}
