//! Section 4.4: LRU against Landlord with 10 MB, the runs one after another.

use crate::data::ZeroAd;
use seekless::report::table;
use seekless::sim::{Case, Figures, Requests, Unit, simulate_all};

const CAPACITY: u64 = 10_000_000;

/// The paper's figures: hits, and misses of files that had been in the cache, in percent of
/// requests.
const PAPER: [(&str, &str, &str); 3] =
    [("lru", "19", "26"), ("landlord", "39", "2"), ("landlord@full", "", "")];

pub(crate) fn simulate(zero_ad: &ZeroAd) -> anyhow::Result<Vec<Figures>> {
    let requests = Requests::read(&zero_ad.runs, Unit::File, &mut |_, _| ())?;
    let cases = PAPER.map(|(policy, ..)| Case { policy: policy.to_owned(), capacity: CAPACITY });
    Ok(simulate_all(&requests, &cases, &mut |_, _| ())?)
}

pub(crate) fn words(figures: &[Figures]) -> String {
    let header = ["policy, 10 MB", "hits", "paper", "non-compulsory misses", "paper"];
    let cells = figures.iter().zip(PAPER).map(|(row, (policy, hits, misses))| {
        vec![
            policy.to_owned(),
            format!("{:.2} %", row.hit_ratio * 100.0),
            percent(hits),
            format!("{:.2} %", row.non_compulsory_miss_ratio * 100.0),
            percent(misses),
        ]
    });
    format!(
        "Cache efficacy (4.4): the five starts one after another (the paper: three, of 2006)\n\n{}",
        table(&header, cells.collect())
    )
}

fn percent(published: &str) -> String {
    if published.is_empty() { "-".to_owned() } else { format!("{published} %") }
}
