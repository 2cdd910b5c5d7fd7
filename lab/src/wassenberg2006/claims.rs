//! The paper's claims, judged by what was found here. Its own figures set the ranges.

use super::fragmentation;
use super::manager;
use super::seeks;
use super::throughput;
use crate::claims::Claim;
use seekless::sim::Figures;

/// Sections 4.2 to 4.4, on the model of the paper's disk and on five starts of another game's
/// version than the paper's three.
pub(super) fn of_loading(
    throughput: &[throughput::Row],
    seeks: &[seeks::Row],
    cache: &[Figures],
) -> Vec<Claim> {
    let own = |technique: &str| throughput::own(throughput, technique);
    let blocks = |kib: u64| own(&format!("blocks of {kib} KiB"));
    let fastest = [4, 8, 16, 32, 64, 128, 256, 512, 1024]
        .into_iter()
        .max_by(|&one, &other| blocks(one).total_cmp(&blocks(other)))
        .unwrap_or(0);
    let loose = own("loose files, one after another");
    let [stored, coded] =
        ["stored", "compressed"].map(|what| own(&format!("archive, {what}, blocks of 16 KiB")));
    let [combined, alone, limited] = seeks::greedy_percent(seeks);
    let ratio = |of: fn(&Figures) -> f64| {
        let figure = |policy| cache.iter().find(|row| row.policy == policy).map_or(f64::NAN, of);
        (figure("landlord"), figure("lru"))
    };
    let (hits, hits_lru) = ratio(|row| row.hit_ratio);
    let (misses, misses_lru) = ratio(|row| row.non_compulsory_miss_ratio);
    vec![
        Claim::within(
            "4.2: archive in blocks of 32 KiB, times loose files",
            blocks(32) / loose,
            &(8.0..=12.0),
        ),
        Claim::within("4.2: compressed, times stored", coded / stored, &(1.15..=1.3)),
        Claim::within(
            "4.2: several loose files at once, of one",
            own("loose files, several at once") / loose,
            &(0.85..=0.95),
        ),
        Claim::new(
            "fig. 2: the fastest block",
            format!("{fastest} KiB"),
            "32 or 64 KiB",
            [32, 64].contains(&fastest),
        ),
        Claim::within("fig. 2: 128 KiB, of 32 KiB", blocks(128) / blocks(32), &(0.75..=0.85)),
        Claim::new(
            "4.3: seeks of one combined run, %",
            format!("{combined:.1}"),
            "0",
            combined == 0.0,
        ),
        Claim::within("4.3: seeks of each alone, %", alone, &(8.0..=12.0)),
        Claim::within("4.4.1: the same with 10 MiB, %", limited, &(12.0..=16.0)),
        Claim::at_least("4.4: hits of Landlord, times LRU's", hits / hits_lru, 2.0),
        Claim::at_least(
            "4.4: misses but for compulsory ones of LRU, times Landlord's",
            misses_lru / misses,
            10.0,
        ),
    ]
}

/// Sections 4.5 and 4.6. The paper does not say whether its cache had room; its claims can hold
/// only where it has.
pub(super) fn of_cache(manager: &[manager::Row], waste: &[fragmentation::Row]) -> Vec<Claim> {
    let faster = |policy: &str, additions: f64| manager::faster(manager, policy, additions);
    let [many, few] = [0.7, 0.3].map(|additions| faster("landlord@lazy", additions));
    vec![
        Claim::within(
            "4.5: cached, faster than naive by %",
            faster("landlord@cached", 0.7),
            &(15.0..=27.0),
        ),
        Claim::within("4.5: lazy, faster than naive by %", many, &(13.0..=25.0)),
        Claim::at_least("4.5: the same with 30 % additions, times", few / many, 2.0),
        Claim::within(
            "4.5: naive by reciprocals, faster by %",
            faster("landlord@naive-reciprocal", 0.7),
            &(-3.0..=0.0),
        ),
        Claim::within(
            "4.6: waste of a region of the cache's size, %",
            fragmentation::mean_percent(waste),
            &(8.0..=16.0),
        ),
    ]
}
