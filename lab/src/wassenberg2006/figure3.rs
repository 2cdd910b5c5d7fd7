//! Figure 3: the misses, other than compulsory ones, at each size of the cache.

use crate::data::ZeroAd;
use seekless::report::chart::{Axis, LineChart, LinePoint, Scale, Series, Unit as Written};
use seekless::report::{Drawing, table};
use seekless::sim::{Case, Figures, Requests, Unit, simulate_all};
use seekless_results::{Better, Contender, Figure, Table};

const POLICIES: [&str; 2] = ["lru", "landlord"];
const MEGABYTES: [u64; 16] = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 250, 300];

pub(crate) fn simulate(zero_ad: &ZeroAd) -> anyhow::Result<Vec<Figures>> {
    let requests = Requests::read(&zero_ad.runs, Unit::File, &mut |_, _| ())?;
    let case = |policy: &str, megabytes: u64| Case {
        policy: policy.to_owned(),
        capacity: megabytes * 1_000_000,
    };
    let cases: Vec<Case> = POLICIES
        .iter()
        .flat_map(|policy| MEGABYTES.map(|megabytes| case(policy, megabytes)))
        .collect();
    Ok(simulate_all(&requests, &cases, &mut |_, _| ())?)
}

/// The rows of one policy, smallest cache first.
fn of<'a>(figures: &'a [Figures], policy: &'a str) -> impl Iterator<Item = &'a Figures> {
    figures.iter().filter(move |row| row.policy == policy)
}

/// Misses but for compulsory ones, by size.
pub(crate) fn misses(figures: &[Figures]) -> Table {
    let title = "Misses by the size of the cache, but for compulsory ones";
    let mut table = Table::new("sizes", title, "MB of cache", "% of requests", Better::Lower)
        .contenders([Contender::ours("landlord"), Contender::rival("lru")])
        .under("Simulated; five starts of 0 A.D. one after another.");
    for row in figures {
        let megabytes = row.capacity / 1_000_000;
        let percent = 100.0 * row.non_compulsory_miss_ratio;
        table.set(&megabytes.to_string(), &row.policy, Figure::exact(percent));
        table.place(&megabytes.to_string(), megabytes as f64);
    }
    table
}

pub(crate) fn words(figures: &[Figures]) -> String {
    let header =
        ["cache", "LRU, hits", "non-compulsory misses", "Landlord, hits", "non-compulsory misses"];
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let cells = of(figures, "lru").zip(of(figures, "landlord")).map(|(lru, landlord)| {
        vec![
            format!("{} MB", lru.capacity / 1_000_000),
            percent(lru.hit_ratio),
            percent(lru.non_compulsory_miss_ratio),
            percent(landlord.hit_ratio),
            percent(landlord.non_compulsory_miss_ratio),
        ]
    });
    format!(
        "Effect of cache size (4.4.1, figure 3): the five starts one after another\n\n{}\n\
         The paper prints no figures here, only the curve: it falls towards zero as the cache nears what is read again\n\
         (14 MB in its three starts).\n",
        table(&header, cells.collect())
    )
}

pub(crate) fn picture(figures: &[Figures]) -> Drawing {
    let point =
        |row: &Figures| LinePoint::exact(row.capacity as f64, row.non_compulsory_miss_ratio);
    let series = |policy: &&str| Series {
        name: (*policy).to_owned(),
        points: of(figures, policy).map(point).collect(),
    };
    LineChart {
        title: "Effect of cache size on non-compulsory misses".to_owned(),
        x: Axis { label: "cache size".to_owned(), scale: Scale::Log, unit: Written::Bytes },
        y: Axis {
            label: "non-compulsory misses, of requests".to_owned(),
            scale: Scale::Linear,
            unit: Written::Percent,
        },
        series: POLICIES.iter().map(series).collect(),
        caption: "Wassenberg 2006, figure 3, on five starts of 0 A.D. A26, one after another."
            .to_owned(),
    }
    .draw()
}
