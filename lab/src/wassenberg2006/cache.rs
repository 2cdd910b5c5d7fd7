//! Section 4.4: LRU against Landlord with 10 MB, the runs one after another.

use crate::data::ZeroAd;
use seekless::report::table;
use seekless::sim::{Case, Figures, Requests, Unit, simulate_all};
use seekless_results::{Better, Contender, Figure, Table};

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

/// Hits of each policy, ours and the paper's.
pub(crate) fn hits(figures: &[Figures]) -> Table {
    let title = "Hits of a cache of 10 MB";
    let mut table = Table::new("hits", title, "starts", "% of requests", Better::Higher)
        .contenders(["landlord", "landlord@full"].map(Contender::ours))
        .under("Simulated; the starts one after another.");
    for (row, (policy, paper, _)) in figures.iter().zip(PAPER) {
        table.set("five of 0 A.D.", policy, Figure::exact(100.0 * row.hit_ratio));
        table.set("three, the paper", policy, Figure::exact(paper.parse().unwrap_or(f64::NAN)));
    }
    table
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
