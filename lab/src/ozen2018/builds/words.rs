//! The tables of tests 1 and 2.

use super::{Figures, Row, TestFigures, View};
use seekless::device::units::{counted, format_bytes, format_count};
use seekless::report::table;

pub(super) fn words(figures: &Figures) -> String {
    let Figures { built, accesses, seconds, lost, mapped, views } = figures;
    let disks: Vec<&str> = mapped.devices.iter().map(|device| device.name.as_str()).collect();
    let left: u64 = mapped.left_out.values().map(|sum| sum.bytes).sum();
    let views: Vec<String> = views.iter().map(view).collect();
    format!(
        "Build of {built}: {} in {seconds:.1} s under the recorder, {} lost; on {}, {} of accesses on no device\n\n{}\n{NOTE}\n",
        counted(*accesses, "access"),
        format_count(*lost),
        disks.join(", "),
        format_bytes(left),
        views.join("\n")
    )
}

const NOTE: &str = "\
His build was Linux 4.15.4: 39,526,517 sectors read, 2,443,430 written. Two of the caches are his, and two more
hold a 20th and a 100th of this build's pages, since his tell little of a smaller build. Cost: reads + writes + what is dirty at the end, which he does not count.";

fn view(view: &View) -> String {
    let about = match view.name {
        "his" => "His collector's lines (nine a page, calls only) under his program's policies",
        _ => {
            "Page accesses (merged, with touches of mapped files) under each policy of its own paper"
        }
    };
    let [requests, writes, pages] =
        [view.requests, view.writes, view.distinct_pages].map(format_count);
    let head = format!("{about}: {requests} requests, {writes} writes, {pages} pages\n\n");
    let tests: Vec<String> = view.tests.iter().map(test).collect();
    head + &tests.join("\n")
}

fn test(test: &TestFigures) -> String {
    let TestFigures { test, pages, scaled, rows, spearman } = test;
    let scaled = if *scaled { ", in his proportion" } else { "" };
    let row = |row: &Row| {
        let count = |count: Option<u64>| count.map_or("-".to_owned(), format_count);
        vec![
            row.published_as.to_owned(),
            count(row.his_reads),
            row.his_rank.map_or("-".to_owned(), |rank| rank.to_string()),
            format_count(row.reads),
            row.rank.to_string(),
            format_count(row.writes),
            format_count(row.dirty_at_end),
            format_count(row.reads + row.writes + row.dirty_at_end),
        ]
    };
    let header = ["policy", "his read", "#", "read", "#", "written", "dirty at the end", "cost"];
    format!(
        "Test {test}: {} pages{scaled}; rank correlation of the reads with his {spearman:.2}\n\n{}",
        format_count(*pages),
        table(&header, rows.iter().map(row).collect())
    )
}
