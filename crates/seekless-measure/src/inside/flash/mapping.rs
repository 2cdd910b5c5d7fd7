//! Whether pages lie where their offset says, or in the order in which they were written. Pages are
//! written in a shuffled order; then reads show whether they meet by offset or by that order.

use super::super::finding::Finding;
use super::super::probing::Probing;
use super::super::timed::Request;
use super::meet::Meeting;
use crate::Error;
use seekless_device::Mapping;

/// Pairs of pages that are compared.
const PAIRS: usize = 48;

/// Writes pages, and finds which of them meet.
pub(super) fn find(
    probing: &mut Probing<'_>,
    meeting: &Meeting,
    chunk: u64,
    page: u64,
    degree: u32,
) -> Result<Finding<Mapping>, Error> {
    let degree = u64::from(degree);
    let count = (8 * degree).max(64).min(probing.capacity() / chunk / 2);
    if degree < 2 || count < 4 * degree {
        return Ok(Finding::unidentifiable("too few planes or chunks to distinguish orders"));
    }
    // One page of each of the first chunks, in a shuffled order.
    let mut order: Vec<u64> = (0..count).collect();
    for last in (1..order.len()).rev() {
        let other = probing.dice.below(last as u64 + 1) as usize;
        order.swap(last, other);
    }
    for &number in &order {
        probing.run(&[Request::write(number * chunk, page)])?;
    }
    // What is still in the drive's buffer has been programmed by then.
    probing.pause(2e9);
    let (mut by_offset, mut by_order) = (0, 0);
    for pair in 0..PAIRS {
        let rounds = degree * (1 + pair as u64 % 3);
        let first = probing.dice.below(count - rounds);
        let meets = |share: f64| u32::from(share > 0.5);
        by_offset += meets(meeting.share(probing, first * chunk, (first + rounds) * chunk, 5)?.0);
        let (one, other) = (order[first as usize], order[(first + rounds) as usize]);
        by_order += meets(meeting.share(probing, one * chunk, other * chunk, 5)?.0);
    }
    let reason = format!(
        "of {PAIRS} pairs {by_offset} meet by their offsets, {by_order} by the order of writes"
    );
    // By chance one in as many as there are planes meets.
    let chance = (1.0 / degree as f64).max(0.02);
    let error = (chance * (1.0 - chance) / PAIRS as f64).sqrt();
    let share = |met: u32| f64::from(met) / PAIRS as f64;
    let sigmas = (share(by_offset) - share(by_order)).abs() / error;
    let (high, mapping) = if by_offset > by_order {
        (share(by_offset), Mapping::Static)
    } else {
        (share(by_order), Mapping::WriteOrder)
    };
    if high < 0.9 {
        return Ok(Finding::unidentifiable(reason));
    }
    Ok(Finding::of(mapping, sigmas, reason))
}
