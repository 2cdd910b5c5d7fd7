//! The figures as text: a heading, a row for each policy and capacity, and with `--every` the
//! figures over time.

use super::Row;
use crate::output::table;
use seekless::device::units::{counted, format_bytes, format_count};
use seekless::sim::{Figures, Totals, Unit, WarmedUp};

/// The whole output without `--json`.
pub(super) fn report(totals: &Totals, rows: &[Row]) -> String {
    let figures: Vec<&Figures> = rows.iter().map(|row| &row.figures).collect();
    let mut text = heading(totals) + "\n" + &main_table(totals, &figures);
    if figures.iter().any(|row| row.warm_up.is_some()) {
        text += &warm_up_table(totals, &figures);
    }
    if figures.iter().any(|row| row.expired.is_some()) {
        text += &expired_table(totals, &figures);
    }
    if totals.writes > 0 {
        text += "\n";
        text += &writes_table(totals, &figures);
    }
    for figures in figures.iter().filter(|figures| !figures.over_time.is_empty()) {
        text += &format!("\n{} at {}, over time\n", figures.name(), size(totals, figures.capacity));
        text += &over_time(totals, figures);
    }
    text
}

/// Whether capacities count ids instead of bytes.
pub(super) fn counts_ids(totals: &Totals) -> bool {
    totals.unit != Unit::Page && totals.unit_weights
}

pub(super) fn size(totals: &Totals, bytes: u64) -> String {
    if counts_ids(totals) { format_count(bytes) } else { format_bytes(bytes) }
}

pub(super) fn heading(totals: &Totals) -> String {
    let what = match (totals.unit, counts_ids(totals)) {
        (_, true) => "id",
        (Unit::Page, _) => "page",
        (Unit::File, _) => "file",
        (Unit::Object, _) => "object",
    };
    let total = totals.distinct_weight.saturating_mul(totals.unit_bytes());
    let of =
        if counts_ids(totals) { String::new() } else { format!(" of {}", format_bytes(total)) };
    let writes = match totals.writes {
        0 => String::new(),
        1 => ", one of them a write".to_owned(),
        writes => format!(", {} of them writes", format_count(writes)),
    };
    let (count, distinct) =
        (counted(totals.requests, "request"), counted(totals.distinct.into(), what));
    format!("{count} for {distinct}{of}{writes}\n")
}

fn main_table(totals: &Totals, figures: &[&Figures]) -> String {
    let header = [
        "policy",
        "capacity",
        "hits",
        "misses",
        "compulsory",
        "other misses",
        "bypassed",
        "missed bytes",
    ];
    let row = |row: &&Figures| {
        vec![
            row.name(),
            size(totals, row.capacity),
            percent(row.hit_ratio),
            format_count(row.misses),
            format_count(row.compulsory_misses),
            percent(row.non_compulsory_miss_ratio),
            format_count(row.bypassed),
            percent(row.byte_miss_ratio),
        ]
    };
    table(&header, figures.iter().map(row).collect())
}

/// What lifetimes cost.
fn expired_table(totals: &Totals, figures: &[&Figures]) -> String {
    let row = |row: &&Figures| {
        let expired = row.expired?;
        Some(vec![
            row.name(),
            size(totals, row.capacity),
            format_count(expired.requests),
            percent(expired.requests as f64 / row.requests.max(1) as f64),
            format_count(expired.objects),
        ])
    };
    let header = ["policy", "capacity", "misses by expiry", "of requests", "objects expired"];
    format!("\n{}", table(&header, figures.iter().filter_map(row).collect()))
}

/// The counts of the warm-up, which are not in the other tables.
fn warm_up_table(totals: &Totals, figures: &[&Figures]) -> String {
    let of = |row: &&Figures| row.warm_up.map(|warm_up| (row.name(), row.capacity, warm_up));
    let all: Vec<_> = figures.iter().filter_map(of).collect();
    let requests = all.iter().map(|(.., warm_up)| warm_up.requests).max().unwrap_or(0);
    let row = |(name, capacity, warm_up): &(String, u64, WarmedUp)| {
        let bytes = warm_up.miss_bytes as f64;
        let asked = (warm_up.hit_bytes + warm_up.miss_bytes).max(1) as f64;
        vec![
            name.clone(),
            size(totals, *capacity),
            percent(1.0 - warm_up.miss_ratio),
            format_count(warm_up.misses),
            percent(bytes / asked),
        ]
    };
    let header = ["policy", "capacity", "hits", "misses", "missed bytes"];
    let rows = table(&header, all.iter().map(row).collect());
    format!("\nthe warm-up of {}, not counted above\n{rows}", counted(requests, "request"))
}

/// The reads and writes of the device, in how many runs pages are written, and the cost of all: a
/// policy that leaves pages dirty at the end has not saved their writes.
fn writes_table(totals: &Totals, figures: &[&Figures]) -> String {
    let held_up = figures.iter().any(|row| row.held_up > 0);
    let mut header = vec![
        "policy",
        "capacity",
        "read",
        "written back",
        "in runs",
        "while kept",
        "dirty at the end",
        "cost",
    ];
    header.extend(held_up.then_some("writes held up"));
    let row = |row: &&Figures| {
        let mut cells = vec![
            row.name(),
            size(totals, row.capacity),
            format_count(row.device_reads),
            format_count(row.write_backs),
            row.write_back_runs.map_or("unknown".to_owned(), format_count),
            format_count(row.flushed),
            format_count(row.dirty_at_end),
            format_count(row.cost),
        ];
        cells.extend(held_up.then(|| format_count(row.held_up)));
        cells
    };
    table(&header, figures.iter().map(row).collect())
}

fn over_time(totals: &Totals, figures: &Figures) -> String {
    let writes = totals.writes > 0;
    let mut header = vec!["requests", "misses so far", "misses since"];
    if writes {
        header.push("written back");
    }
    let row = |point: &seekless::sim::Point| {
        let ratios = [point.miss_ratio, point.recent_miss_ratio].map(percent);
        let mut row = vec![format_count(point.requests)];
        row.extend(ratios);
        row.extend(writes.then(|| format_count(point.write_backs)));
        row
    };
    table(&header, figures.over_time.iter().map(row).collect())
}

pub(super) fn percent(ratio: f64) -> String {
    format!("{:.2} %", 100.0 * ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless::sim::{Case, Options, Requests, simulate_with};

    fn rows(requests: &Requests, cases: &[(&str, u64)], options: Options) -> Vec<Row> {
        let row = |&(policy, capacity): &(&str, u64)| {
            let case = Case { policy: policy.into(), capacity };
            let figures = simulate_with(requests, &case, &options).unwrap();
            Row::new(figures, 1.0)
        };
        cases.iter().map(row).collect()
    }

    #[test]
    fn the_report_has_a_row_for_each_policy_and_capacity() {
        let requests = Requests::from_files(&[0, 1, 0, 2, 0], &[10, 60, 70]);
        let text = report(
            &requests.totals(),
            &rows(&requests, &[("lru", 150), ("landlord", 150)], Options::default()),
        );
        let expected = "\
5 requests for 3 files of 140 B

policy    capacity     hits  misses  compulsory  other misses  bypassed  missed bytes
─────────────────────────────────────────────────────────────────────────────────────
lru          150 B  40.00 %       3           3        0.00 %         0       87.50 %
landlord     150 B  40.00 %       3           3        0.00 %         0       87.50 %
";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_warm_up_has_a_table_of_its_own() {
        let requests = Requests::from_pages(vec![0, 1, 0, 1, 2]);
        let warm_up = Some("60%".parse().unwrap());
        let options = Options { warm_up, ..Options::default() };
        let text = report(&requests.totals(), &rows(&requests, &[("lru", 8192)], options));
        let expected = "
the warm-up of 3 requests, not counted above
policy  capacity     hits  misses  missed bytes
───────────────────────────────────────────────
lru       8.2 KB  33.33 %       2       66.67 %
";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("lru       8.2 KB  50.00 %       1 "), "{text}");
    }

    #[test]
    fn bare_ids_are_counted_not_weighed() {
        let requests = Requests::from_files(&[0, 1, 0], &[1, 1]);
        let text =
            report(&requests.totals(), &rows(&requests, &[("arc", 20_000)], Options::default()));
        assert!(text.starts_with("3 requests for 2 ids\n"), "{text}");
        assert!(text.contains(" 20,000  33.33 %"), "{text}");
    }

    #[test]
    fn writes_and_points_in_time_have_tables_of_their_own() {
        let requests = Requests::from_pages(vec![0, 1, 2, 0]).with_writes([0, 1]);
        let options = Options { every: std::num::NonZeroU64::new(3), ..Options::default() };
        let text = report(&requests.totals(), &rows(&requests, &[("lru", 8192)], options));
        assert!(
            text.starts_with("4 requests for 3 pages of 12.3 KB, 2 of them writes\n"),
            "{text}"
        );
        assert!(
            text.contains("\nlru       8.2 KB     2             2        1           0"),
            "{text}"
        );
        assert!(text.contains("\nlru at 8.2 KB, over time\n"), "{text}");
    }
}
