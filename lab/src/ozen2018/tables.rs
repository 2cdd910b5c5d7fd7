//! The tables: his figures beside ours.

use super::figures::{Experiment, Row, UNPUBLISHED};
use crate::claims::Claim;
use seekless::device::units::format_count;
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};

/// Pages that each policy reads and writes: ours, and as he published them.
pub(super) fn saved(experiment: &Experiment) -> Vec<Table> {
    let Experiment { test, workload, pages, .. } = experiment;
    let table = |id: &str, title: &str| {
        Table::new(&format!("test-{test}-{id}"), title, "policy", "pages", Better::Neither)
            .contenders([Contender::ours("seekless"), Contender::rival("as published")])
            .under(&format!("Simulated: {workload}, {pages} pages of 4096 bytes."))
    };
    let mut reads = table("reads", "Pages that Ozen's policies read");
    let mut writes = table("writes", "Pages that Ozen's policies write");
    for row in &experiment.as_published {
        for (table, ours, published) in [
            (&mut reads, row.reads, row.expected.map(|expected| expected.reads)),
            (&mut writes, row.writes, row.expected.map(|expected| expected.writes)),
        ] {
            table.set(&row.policy, "seekless", Figure::exact(ours as f64));
            let published = published.map_or(f64::NAN, |pages| pages as f64);
            table.set(&row.policy, "as published", Figure::exact(published));
        }
    }
    vec![reads, writes]
}

pub(super) fn words(experiment: &Experiment) -> String {
    let Experiment { test, workload, pages, lines_read, lines_written, unmapped, .. } = experiment;
    let [pages, read, written, unmapped] =
        [pages, lines_read, lines_written, unmapped].map(|&n| format_count(n));
    format!(
        "Test {test}: {workload}, {pages} pages of 4096 bytes; {read} sector lines read, {written} written, {unmapped} at \
         sector -1 (page 0)\n\n\
         As published, in pages\n\n{}\n{}\n{UNPUBLISHED} is of his program and not in his tables. Dirty pages at the end are never written.\n\n\
         Corrected: each policy as its own paper has it\n\n{}\n{}",
        table(
            &["policy", "as", "read", "published", "written", "published", "output's MD5", "is"],
            experiment.as_published.iter().map(published).collect()
        ),
        summary(&experiment.as_published),
        table(
            &[
                "policy",
                "of his",
                "read",
                "reference",
                "written",
                "reference",
                "dirty at the end",
                "is"
            ],
            experiment.corrected.iter().map(corrected).collect()
        ),
        NOTE
    )
}

/// His counts and output against ours. A trace of which he published nothing has no claims.
pub(super) fn claims(experiment: &Experiment) -> Vec<Claim> {
    let compared = |rows: &[Row], claim: &str| {
        let verdicts: Vec<bool> = rows.iter().filter_map(Row::equal).collect();
        let equal = verdicts.iter().filter(|equal| **equal).count();
        let found = format!("{equal} of {}", verdicts.len());
        let claim = format!("test {}: {claim}", experiment.test);
        (!verdicts.is_empty()).then(|| Claim::new(&claim, found, "all", equal == verdicts.len()))
    };
    let published = "his policies read, write and print what is published";
    let corrected = "mended policies read and write what the reference does";
    let claims =
        [compared(&experiment.as_published, published), compared(&experiment.corrected, corrected)];
    claims.into_iter().flatten().collect()
}

const NOTE: &str = "\
His Random2 evicts the more recent of its two picks, which helps a cyclic scan: its fewest reads of test 3 are that defect.
His CLOCK takes newcomers in at the list's front and not behind the hand, his CAR trims B2 at nearly every miss, his CLOCKPRO
holds no hot page between requests, the hand of his SPATIAL skips. A write hit sets no reference bit in his program: the
@read-hits keep that. He describes CFLRU and LRU-WSR and did not program them.";

fn published(row: &Row) -> Vec<String> {
    cells([row.published_as, &row.policy], row, row.output_md5.clone())
}

fn corrected(row: &Row) -> Vec<String> {
    cells([&row.policy, row.published_as], row, format_count(row.dirty_at_end))
}

/// Two names, his counts beside ours, one more figure, and whether they agree.
fn cells(names: [&str; 2], row: &Row, figure: String) -> Vec<String> {
    let [reads, writes] = expected(row);
    let counts = [format_count(row.reads), reads, format_count(row.writes), writes];
    let names = names.into_iter().map(str::to_owned);
    names.chain(counts).chain([figure, mark(row).to_owned()]).collect()
}

fn expected(row: &Row) -> [String; 2] {
    match row.expected {
        Some(expected) => [expected.reads, expected.writes].map(format_count),
        None => ["-".to_owned(), "-".to_owned()],
    }
}

fn mark(row: &Row) -> &'static str {
    match row.equal() {
        Some(true) => "equal",
        Some(false) => "DIFFERS",
        None => "",
    }
}

fn summary(rows: &[Row]) -> String {
    if rows.iter().all(|row| row.expected.is_none()) {
        return "Nothing is published of this trace.".to_owned();
    }
    let equal = rows.iter().filter(|row| row.equal() == Some(true)).count();
    let digests = rows
        .iter()
        .filter(|row| row.expected.is_some_and(|expected| expected.output_md5.is_some()))
        .count();
    let output = if digests == rows.len() { ", the output byte for byte" } else { "" };
    format!("{equal} of {} rows are equal{output}.", rows.len())
}
