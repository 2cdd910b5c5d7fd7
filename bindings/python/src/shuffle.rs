//! `shuffled`: the order of an epoch.

use pyo3::prelude::*;
use seekless::policy::layout::shuffle::{Epoch, Groups, in_groups, permutation};

/// Numbers below `count` in the order of epoch `number`: any permutation; with `groups`, those of
/// neighbours together: the bytes of each file, those of a group, and how many groups are mixed.
#[pyfunction]
#[pyo3(signature = (count, seed, number, groups=None))]
pub(crate) fn shuffled(
    py: Python<'_>,
    count: u32,
    seed: u64,
    number: u64,
    groups: Option<(Vec<u64>, u64, usize)>,
) -> Vec<u32> {
    let epoch = Epoch { seed, number };
    py.detach(|| match groups {
        Some((sizes, bytes, mixed)) => in_groups(&sizes, Groups { bytes, mixed }, epoch),
        None => permutation(count, epoch),
    })
}
