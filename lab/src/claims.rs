//! What a paper claims, what was found here, the range that it must lie in, and whether it does.

use seekless::report::table;
use serde::Serialize;
use std::ops::RangeInclusive;

/// What stands in place of verdicts where too little is measured.
pub(crate) const NOT_JUDGED: &str = "No claim is judged: --quick shows only that everything works.";

/// One claim and its verdict.
#[derive(Serialize)]
pub(crate) struct Claim {
    claim: String,
    found: String,
    wanted: String,
    pub(crate) holds: bool,
}

impl Claim {
    /// A claim with figures in the caller's words.
    pub(crate) fn new(claim: &str, found: String, wanted: &str, holds: bool) -> Self {
        Self { claim: claim.to_owned(), found, wanted: wanted.to_owned(), holds }
    }

    /// A figure that lies in a range.
    pub(crate) fn within(claim: &str, found: f64, range: &RangeInclusive<f64>) -> Self {
        let wanted = format!("{} to {}", range.start(), range.end());
        Self::new(claim, format!("{found:.2}"), &wanted, range.contains(&found))
    }

    /// A figure that is no smaller than this.
    pub(crate) fn at_least(claim: &str, found: f64, least: f64) -> Self {
        Self::new(claim, format!("{found:.2}"), &format!("{least} or more"), found >= least)
    }
}

/// The table of verdicts.
pub(crate) fn words(claims: &[Claim]) -> String {
    let row = |claim: &Claim| {
        let holds = if claim.holds { "yes" } else { "NO" };
        vec![claim.claim.clone(), claim.found.clone(), claim.wanted.clone(), holds.to_owned()]
    };
    let held = claims.iter().filter(|claim| claim.holds).count();
    format!(
        "{held} of {} claims hold\n\n{}",
        claims.len(),
        table(&["claim", "found", "wanted", "holds"], claims.iter().map(row).collect())
    )
}
