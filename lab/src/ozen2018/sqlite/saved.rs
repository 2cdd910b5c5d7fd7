//! The table of `--further` that `--save` writes: what each store reads from its device.

use super::further::{Figures, Policy};
use seekless::device::units::format_count;
use seekless_results::{Better, Contender, Figure, Table};

const TITLE: &str = "Pages that a store reads from its device for each statement";
/// The column of what the store reads, before any cache of pages.
const ASKED: &str = "the store asks for";

/// Pages for each statement: a row for each store, size of its pages, and application cache.
pub(super) fn table(figures: &Figures) -> Table {
    let cases = "store, its pages, pages in its own cache";
    let mut table = Table::new("further", TITLE, cases, "pages", Better::Neither)
        .contenders([Contender::ours(ASKED)])
        .under(&conditions(figures));
    for row in &figures.rows {
        let case = format!(
            "{}, {} KiB, {}",
            row.store.name(),
            row.database_page_bytes / 1024,
            format_count(row.application_cache_pages)
        );
        table.set(&case, ASKED, Figure::exact(row.asked_per_statement));
        let lru = row.policies.iter().find(|policy| policy.policy == "lru");
        let best = row.policies.iter().min_by_key(|policy| policy.reads);
        for (name, policy) in [("LRU", lru), ("the best policy", best)] {
            let column = format!("{name}, {} pages", format_count(row.pages));
            let reads = |policy: &Policy| Figure::exact(policy.reads_per_statement);
            table.set(&case, &column, policy.map(reads).unwrap_or_default());
        }
    }
    table
}

fn conditions(figures: &Figures) -> String {
    let setting = &figures.setting;
    format!(
        "Recorded and simulated: {} rows, {} statements ({} % reads, the others updates), 10,000 in a transaction. Pages are \
         of 4 KiB. The device lies below a cache of 2,000 or 10,000 pages; the best policy is the one of Ozen's ten with the \
         fewest reads.",
        format_count(setting.rows),
        format_count(setting.statements),
        figures.reads_percent
    )
}
