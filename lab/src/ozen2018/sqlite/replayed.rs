//! Tests 5 to 16 for the replay: the requests of each recording, as his simulator saw them and with
//! each use of a page once.

use super::lines::Lines;
use super::published::TESTS;
use super::tests_5_to_16::{PAGE_BYTES, recorded, recordings};
use super::{Kind, SqliteArgs, Test, room};
use crate::ozen2018::figures::read_raw;
use crate::ozen2018::replay::Played;
use anyhow::{Result, ensure};
use seekless::sim::Requests;
use seekless::trace::{Access, Kind as TraceKind, Metadata, Op, Writer};
use std::path::Path;

/// Makes the database and the recordings in `folder`, and hands over each test that was asked for.
pub(in crate::ozen2018) fn each_test(
    args: &SqliteArgs,
    folder: &Path,
    play: &mut dyn FnMut(&Played<'_>) -> Result<()>,
) -> Result<()> {
    ensure!(args.dir.is_none(), "with --replay the database is made in the folder of --on");
    ensure!(!args.further, "--replay is for tests 5 to 16, without --further");
    let setting = args.setting();
    let room = room::found(Some(folder), &setting, room::BYTES_PER_ROW)?;
    let path = setting.make(Kind::BTree, PAGE_BYTES, &room)?;
    for (percent, cache) in recordings() {
        let is_wanted = |test: &&Test| {
            (test.reads_percent, test.application_cache) == (percent, cache)
                && (args.tests.is_empty() || args.tests.contains(&test.number))
        };
        let tests: Vec<&Test> = TESTS.iter().filter(is_wanted).collect();
        if tests.is_empty() {
            continue;
        }
        let captured = recorded(&setting, &path, percent, cache, &room)?;
        let pages = room.join("pages.parquet");
        let published = with_places(&captured.requests(Lines::Raw), &pages)?;
        let corrected = with_places(&captured.requests(Lines::Merged), &pages)?;
        for test in tests {
            let cached = if cache { "" } else { ", no application cache" };
            play(&Played {
                number: test.number,
                workload: format!("SQLite, {percent} % reads{cached}"),
                pages: test.pages / setting.scaled_down,
                published: &published,
                corrected: &corrected,
            })?;
        }
    }
    Ok(())
}

/// The same requests with their places, which a post-cache trace needs: through a trace of pages.
fn with_places(requests: &Requests, path: &Path) -> Result<Requests> {
    if path.exists() {
        std::fs::remove_file(path)?;
    }
    let metadata = Metadata { kind: TraceKind::Blocks, ..Metadata::default() };
    let mut writer = Writer::create(path, metadata)?;
    let file = writer.file("ledger");
    for (position, &page) in requests.ids().iter().enumerate() {
        let op = if requests.is_write(position) { Op::Write } else { Op::Read };
        writer.push(Access {
            time_ns: position as u64,
            offset: i64::from(page) * i64::from(PAGE_BYTES),
            bytes: PAGE_BYTES.into(),
            ..Access::new(op, file)
        })?;
    }
    writer.finish()?;
    read_raw(path)
}
