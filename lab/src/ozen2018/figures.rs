//! The two tests whose traces are available, the published figures, and ours.

// Shared with the golden test, which compares the same outputs with the same digests.
#[path = "../../../crates/seekless-sim/tests/sim/md5.rs"]
mod md5;

use seekless::sim::post_cache::{self, Format};
use seekless::sim::{Case, Figures, Lines, Options, Reading, Requests, Unit, each_case};
use seekless::trace::import;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The page cache of a test, and its published figures.
#[derive(Clone, Copy)]
pub(crate) struct Test {
    pub(crate) number: u32,
    pub(crate) workload: &'static str,
    pub(crate) pages: u64,
    /// Whether the trace is not his, so that his figures say nothing of it.
    is_stand_in: bool,
    published: &'static [Published],
    corrected: &'static [(&'static str, u64, u64)],
}

/// His name of a policy, our name, his reads and writes, and the first digits of the MD5 of his
/// program's output.
type Published = (&'static str, &'static str, u64, u64, Option<&'static str>);

/// Not in his tables, but his program has it.
pub(crate) const UNPUBLISHED: &str = "FAB";

pub(crate) const TEST_3: Test = Test {
    number: 3,
    workload: "SequentialCopyGrep",
    pages: 10_000,
    is_stand_in: false,
    published: &[
        ("ARC", "arc@ozen", 675_594, 181_911, Some("f59fc8a35af9d708")),
        ("CLOCK", "clock@ozen", 675_605, 181_944, Some("67e48f4d0bf5b360")),
        ("CLOCKPRO", "clock-pro@ozen", 675_625, 181_939, Some("162568002576d33c")),
        ("2Q", "2q@ozen", 675_594, 181_910, Some("1f4e5d5232dcca8d")),
        ("LRU", "lru", 675_594, 181_910, Some("19383b4573f58adb")),
        ("R2", "random2@ozen", 672_383, 181_832, Some("d05d855c18619f8d")),
        ("SPATIAL", "spatial-clock@ozen", 675_612, 181_928, Some("0ccc0d711dc5d409")),
        ("RRIP", "rrip", 675_618, 181_935, Some("706fd6d1910fd928")),
        ("BRRIP", "brrip@ozen", 680_852, 187_171, Some("682d10f7b270a73a")),
        ("CAR", "car@ozen", 675_611, 181_926, Some("a7d65027563a7952")),
        (UNPUBLISHED, "fab@ozen", 675_579, 181_908, Some("914f5bd7e6e942b4")),
    ],
    corrected: &[
        ("random2", 675_594, 181_910),
        ("clock@read-hits", 675_594, 181_910),
        ("car@read-hits", 675_611, 181_926),
    ],
};

/// For a machine that does not have his trace.
pub(crate) const TEST_3_STAND_IN: Test = Test {
    workload: "a made-up copy and three searches, not the published trace",
    is_stand_in: true,
    ..TEST_3
};

pub(crate) const TEST_4: Test = Test {
    number: 4,
    workload: "WebOfficeDesktop-3mins",
    pages: 16,
    is_stand_in: false,
    published: &[
        ("ARC", "arc@ozen", 7217, 1942, None),
        ("CLOCK", "clock@ozen", 7183, 1948, None),
        ("CLOCKPRO", "clock-pro@ozen", 7164, 1949, None),
        ("2Q", "2q@ozen", 7193, 1974, None),
        ("LRU", "lru", 7221, 1966, None),
        ("R2", "random2@ozen", 7352, 1979, None),
        ("SPATIAL", "spatial-clock@ozen", 7200, 1972, None),
        ("RRIP", "rrip", 7214, 1954, None),
        ("BRRIP", "brrip@ozen", 7277, 1990, None),
        ("CAR", "car@ozen", 7224, 2000, None),
        (UNPUBLISHED, "fab@ozen", 7344, 1981, None),
    ],
    // Its Random2 draws from another generator, so the reference's figure for it is not checked.
    corrected: &[("clock@read-hits", 7222, 1992), ("car@read-hits", 7225, 2004)],
};

/// Each of his policies as its own paper has it, and the two that he describes but did not program.
/// The `@read-hits` variants keep his rule that a write hit sets no reference bit, so that one
/// defect is mended at a time.
pub(super) const MENDED: &[(&str, &str)] = &[
    ("arc", "ARC"),
    ("clock@read-hits", "CLOCK"),
    ("clock", "CLOCK"),
    ("clock-pro", "CLOCKPRO"),
    ("2q", "2Q"),
    ("random2", "R2"),
    ("spatial-clock", "SPATIAL"),
    ("brrip", "BRRIP"),
    ("car@read-hits", "CAR"),
    ("car", "CAR"),
    ("fab", "FAB"),
    ("cflru", ""),
    ("lru-wsr", ""),
];

/// A test that was run.
#[derive(Serialize)]
pub(crate) struct Experiment {
    pub(crate) test: u32,
    pub(crate) workload: &'static str,
    pub(crate) pages: u64,
    pub(crate) lines_read: u64,
    pub(crate) lines_written: u64,
    /// Sectors −1, which count as page 0.
    pub(crate) unmapped: u64,
    pub(crate) as_published: Vec<Row>,
    pub(crate) corrected: Vec<Row>,
}

/// The accesses that one policy passes on, in pages.
#[derive(Serialize)]
pub(crate) struct Row {
    /// His name; empty if he has no such policy.
    pub(crate) published_as: &'static str,
    pub(crate) policy: String,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) dirty_at_end: u64,
    /// First digits of the MD5 of the post-cache trace.
    pub(crate) output_md5: String,
    /// The figures of the thesis; for a corrected policy those of the reference's own version.
    pub(crate) expected: Option<Expected>,
}

#[derive(Clone, Copy, Serialize)]
pub(crate) struct Expected {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) output_md5: Option<&'static str>,
}

impl Row {
    /// Whether the figures are as expected, and the output too where it is known.
    pub(crate) fn equal(&self) -> Option<bool> {
        let expected = self.expected?;
        let same_output = expected.output_md5.is_none_or(|digest| digest == self.output_md5);
        Some((self.reads, self.writes) == (expected.reads, expected.writes) && same_output)
    }
}

impl Experiment {
    pub(crate) fn run(test: &Test, trace: &Path, scratch: &Path) -> anyhow::Result<Self> {
        let requests = read(trace, &scratch.join("trace.parquet"))?;
        let published = test.published.iter().map(|&(his, ours, reads, writes, output_md5)| {
            (his, ours, Some(Expected { reads, writes, output_md5 }))
        });
        let corrected = MENDED.iter().map(|&(ours, his)| {
            let row = test.corrected.iter().find(|row| row.0 == ours);
            (his, ours, row.map(|&(_, reads, writes)| Expected { reads, writes, output_md5: None }))
        });
        let mut policies: Vec<_> = published.chain(corrected).collect();
        if test.is_stand_in {
            policies.iter_mut().for_each(|(.., expected)| *expected = None);
        }
        let mut rows = simulate(&requests, test.pages, &policies, scratch)?;
        let corrected = rows.split_off(test.published.len());
        Ok(Self {
            test: test.number,
            workload: test.workload,
            pages: test.pages,
            lines_read: requests.len() as u64 - requests.writes(),
            lines_written: requests.writes(),
            unmapped: requests.unmapped(),
            as_published: rows,
            corrected,
        })
    }
}

/// Reads the trace with each sector line as a request, as his program does.
pub(super) fn read(trace: &Path, imported: &Path) -> anyhow::Result<Requests> {
    import::ozen(&[trace.to_path_buf()], imported, &import::Options::default(), &mut |_, _| ())?;
    read_raw(imported)
}

/// Reads a block trace with each of its rows as a request.
pub(super) fn read_raw(trace: &Path) -> anyhow::Result<Requests> {
    let reading = Reading { unit: Some(Unit::Page), lines: Lines::Raw, ..Reading::default() };
    Ok(reading.read(&[trace.to_path_buf()], &mut |_, _| ())?)
}

fn simulate(
    requests: &Requests,
    pages: u64,
    policies: &[(&'static str, &'static str, Option<Expected>)],
    folder: &Path,
) -> anyhow::Result<Vec<Row>> {
    let cases: Vec<Case> = policies
        .iter()
        .map(|policy| Case { policy: policy.1.to_owned(), capacity: pages * requests.unit_bytes() })
        .collect();
    let output = |policy: &str| folder.join(format!("{policy}.txt"));
    let figures = each_case(&cases, &mut |_, _| (), |case| {
        post_cache::write(requests, case, &Options::default(), output(&case.policy), Format::Ozen)
    })?;
    let row = |(&(published_as, policy, expected), figures): (&(_, &str, _), Figures)| {
        Ok(Row {
            published_as,
            policy: policy.to_owned(),
            reads: figures.device_reads,
            writes: figures.write_backs,
            dirty_at_end: figures.dirty_at_end,
            output_md5: digest(output(policy))?,
            expected,
        })
    };
    policies.iter().zip(figures).map(row).collect()
}

/// The digest of a file after its heading.
fn digest(path: PathBuf) -> anyhow::Result<String> {
    let text = std::fs::read(path)?;
    let heading = text.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    Ok(md5::prefix(&text[heading..]))
}

#[cfg(test)]
#[path = "figures/tests.rs"]
mod tests;
