//! What the tables of results of this lab have in common.

use seekless_results::Contender;

pub(super) const HELD_OUT: &str = "Simulated; five starts of 0 A.D., each from orders of all 36,266 files made of the other four.";

/// The orders of the lab as contenders: ours is `best`, name and newest run are what it must beat.
pub(super) fn orders() -> [Contender; 3] {
    [Contender::ours("best"), Contender::rival("recent"), Contender::rival("name")]
}
