//! What his conclusion asks for (section 6): eviction that considers what the device does well.
//! Each policy under a test in time, on the models of a disk and of a flash drive, with and without
//! the readahead of Linux; and `device-time`, which weighs victims by what they cost the device.

use super::figures::MENDED;
use super::replay::Played;
use anyhow::{Context, Result};
use seekless::report::table;
use seekless::sim::Requests;
use seekless::sim::timed::{
    self, Ask, FilePlace, PAGE_BYTES, Phase, Reader, Rules, TimedAccess, TimedCase, Workload,
};
use seekless::tools::device::named;
use seekless_results::{Better, Contender, Figure, Table};
use seekless_terminal::progress;
use serde::Serialize;

/// The disk of Wassenberg 2006, and the drive that Ozen measured on.
const DEVICES: [&str; 2] = ["deskstar-7k250", "850evo"];
const READAHEADS: [&str; 2] = ["none", "linux"];
const OURS: &str = "device-time";
/// The others that are saved: the plain one, and those that know of writes or of places.
const SAVED: [&str; 5] = ["lru", "arc", "cflru", "fab", "spatial-clock"];

/// One test.
#[derive(Serialize)]
pub(super) struct Times {
    test: u32,
    workload: String,
    pages: u64,
    rows: Vec<Row>,
}

/// One policy.
#[derive(Serialize)]
struct Row {
    policy: String,
    /// By device and readahead, in the order of both.
    seconds: Vec<f64>,
}

/// Each policy as its own paper has it, then ours.
pub(super) fn measure(test: &Played<'_>) -> Result<Times> {
    let workload = workload(test.corrected);
    let mut policies = vec!["lru"];
    policies.extend(MENDED.iter().map(|policy| policy.0));
    policies.push(OURS);
    let case = |(policy, readahead): (&str, &str)| TimedCase {
        policy: policy.to_owned(),
        capacity: Some(test.pages * PAGE_BYTES),
        ..TimedCase::unbounded(readahead)
    };
    let each = policies.iter().flat_map(|&policy| READAHEADS.map(|readahead| (policy, readahead)));
    let cases: Vec<TimedCase> = each.map(case).collect();
    let mut rows: Vec<Row> = policies
        .iter()
        .map(|&policy| Row { policy: policy.to_owned(), seconds: Vec::new() })
        .collect();
    for name in DEVICES {
        let device = named(name)?;
        let mut bar = progress(format!("test {} on {name}", test.number));
        let model = || -> Box<dyn seekless::device::DeviceModel> { Box::new(device.model()) };
        let figures = timed::each(&workload, &cases, &Rules::default(), &model, &mut bar)?;
        for (row, figures) in rows.iter_mut().zip(figures.chunks(READAHEADS.len())) {
            row.seconds.extend(figures.iter().map(|figures| figures.seconds));
        }
    }
    Ok(Times { test: test.number, workload: test.workload.clone(), pages: test.pages, rows })
}

/// One program that reads and writes the pages of one file, each when the one before is there. At
/// its end it waits until all is written: no policy gains by what it leaves dirty.
fn workload(requests: &Requests) -> Workload {
    let access = |(position, &id): (usize, &u32)| TimedAccess {
        handle: 0,
        ask: if requests.is_write(position) { Ask::Write } else { Ask::Read },
        offset: requests.key(id) * PAGE_BYTES,
        bytes: PAGE_BYTES,
        time_ns: 0,
    };
    let mut accesses: Vec<TimedAccess> = requests.ids().iter().enumerate().map(access).collect();
    let end = accesses.iter().map(|access| access.offset + access.bytes).max().unwrap_or(0);
    accesses.push(TimedAccess { handle: 0, ask: Ask::Sync, offset: 0, bytes: 0, time_ns: 0 });
    Workload {
        files: vec![FilePlace { offset: 0, bytes: end }],
        phases: vec![Phase { handles: vec![0], readers: vec![Reader { accesses }] }],
    }
}

impl Times {
    /// Our time and the least of the others, in the column `at`.
    fn beside(&self, at: usize) -> Result<(f64, &Row)> {
        let ours = self.rows.iter().find(|row| row.policy == OURS).context("ours was simulated")?;
        let others = self.rows.iter().filter(|row| row.policy != OURS);
        let best = others.min_by(|one, other| one.seconds[at].total_cmp(&other.seconds[at]));
        Ok((ours.seconds[at], best.context("others were simulated")?))
    }
}

fn columns() -> impl Iterator<Item = String> {
    let device = |device: &str| if device == DEVICES[0] { "disk" } else { "flash" };
    DEVICES.iter().flat_map(move |name| {
        READAHEADS.map(|readahead| match readahead {
            "none" => device(name).to_owned(),
            _ => format!("{}, {readahead} readahead", device(name)),
        })
    })
}

pub(super) fn words(tests: &[Times]) -> Result<String> {
    let mut words = format!(
        "Eviction by device time (6): seconds of each test on the models of a disk ({}) and of a flash drive\n\
         ({}); nothing writes but eviction, as in his tests, and the end, at which all is written. Each policy as its\n\
         own paper has it. The disk is by its data sheet; the drive's inside is fitted to its reads a second.\n",
        DEVICES[0], DEVICES[1]
    );
    for test in tests {
        let mut header = vec!["policy".to_owned()];
        header.extend(columns());
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let cells = test.rows.iter().map(|row| {
            let seconds = row.seconds.iter().map(|seconds| format!("{seconds:.2}"));
            std::iter::once(row.policy.clone()).chain(seconds).collect()
        });
        words += &format!(
            "\nTest {}: {}, {} pages\n\n{}\n",
            test.test,
            test.workload,
            test.pages,
            table(&header, cells.collect())
        );
        for (at, column) in columns().enumerate() {
            let (ours, best) = test.beside(at)?;
            let other = best.seconds[at];
            words += &format!(
                "{column}: {OURS} takes {:.2} of the time of {}, the best of the others\n",
                ours / other,
                best.policy
            );
        }
    }
    Ok(words)
}

/// Seconds of the policies, a table a test.
pub(super) fn tables(tests: &[Times]) -> Vec<Table> {
    let table = |test: &Times| {
        let title = format!("Eviction by device time: Ozen's test {}", test.test);
        let id = format!("device-time-{}", test.test);
        let mut table = Table::new(&id, &title, "device", "s", Better::Lower)
            .contenders([Contender::ours(OURS)])
            .contenders(SAVED.map(Contender::rival))
            .under(&format!(
                "Simulated: {}, {} pages; nothing writes but eviction and the end. The disk is {}, the flash drive {}.",
                test.workload, test.pages, DEVICES[0], DEVICES[1]
            ));
        let is_saved = |row: &&Row| row.policy == OURS || SAVED.contains(&row.policy.as_str());
        for row in test.rows.iter().filter(is_saved) {
            for (column, &seconds) in columns().zip(&row.seconds) {
                table.set(&column, &row.policy, Figure::exact(seconds));
            }
        }
        table
    };
    tests.iter().map(table).collect()
}
