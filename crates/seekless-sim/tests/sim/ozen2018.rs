//! Ozen 2018, test 3: SequentialCopyGrep with 10,000 pages. The policies as published must give
//! every published row and every byte of the output. The second table has the same rows with the
//! policies as in their own papers.

use crate::shared_data::data;
use seekless_policy::cache::{Cache, Config, Sink};
use seekless_policy::eviction::{Eviction, Id, Needs, Outcome, Request, Use, Visitor, visit};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::BufRead;
use std::sync::OnceLock;

const PAGES: u64 = 10_000;
/// Lines of the trace.
const READS: usize = 5_472_134;
const WRITES: usize = 1_460_957;

/// Policy, reads, writes, and the first digits of the output's MD5.
const PUBLISHED: &[(&str, u64, u64, &str)] = &[
    ("arc@ozen", 675_594, 181_911, "f59fc8a35af9d708"),
    ("clock@ozen", 675_605, 181_944, "67e48f4d0bf5b360"),
    ("clock-pro@ozen", 675_625, 181_939, "162568002576d33c"),
    ("2q@ozen", 675_594, 181_910, "1f4e5d5232dcca8d"),
    ("lru", 675_594, 181_910, "19383b4573f58adb"),
    ("random2@ozen", 672_383, 181_832, "d05d855c18619f8d"),
    ("spatial-clock@ozen", 675_612, 181_928, "0ccc0d711dc5d409"),
    ("rrip", 675_618, 181_935, "706fd6d1910fd928"),
    ("brrip@ozen", 680_852, 187_171, "682d10f7b270a73a"),
    ("car@ozen", 675_611, 181_926, "a7d65027563a7952"),
    // Of his program, but not in his tables.
    ("fab@ozen", 675_579, 181_908, "914f5bd7e6e942b4"),
];

/// His CLOCK-Pro in caches of these pages, by his program: pages, reads, writes.
const CLOCK_PRO_BY_SIZE: &[(u64, u64, u64)] = &[
    (16, 680_141, 187_594),
    (64, 678_628, 184_565),
    (256, 676_710, 182_941),
    (1_000, 675_858, 182_170),
];

/// His defects mended: policy, reads, writes. The reference's CLOCK and CAR kept his rule that only
/// a read hit sets the bit; the last two rows are ours, where any hit does.
const CORRECTED: &[(&str, u64, u64)] = &[
    ("random2", 675_594, 181_910),
    ("clock@read-hits", 675_594, 181_910),
    ("car@read-hits", 675_611, 181_926),
    ("clock", 675_611, 181_929),
    ("car", 675_595, 181_911),
];

/// The trace in pages.
struct Trace {
    /// Page number of each id.
    pages: Vec<u64>,
    lines: Vec<(Id, Use)>,
}

/// The trace, decoded once; says so if it is not there.
fn trace() -> Option<&'static Trace> {
    static TRACE: OnceLock<Option<Trace>> = OnceLock::new();
    TRACE.get_or_init(read_trace).as_ref()
}

fn read_trace() -> Option<Trace> {
    let path = data("ozen-2018/SequentialCopyGrep.txt.lzma")?;
    Some(traced(seekless_trace::open_compressed(&path).unwrap()))
}

fn traced(mut reader: impl BufRead) -> Trace {
    let mut trace = Trace { pages: Vec::new(), lines: Vec::new() };
    let (mut numbers, mut line) = (HashMap::new(), Vec::new());
    while reader.read_until(b'\n', &mut line).unwrap() > 0 {
        if let Some((kind, page)) = parse(&line) {
            let id = *numbers.entry(page).or_insert_with(|| {
                trace.pages.push(page);
                trace.pages.len() as Id - 1
            });
            trace.lines.push((id, kind));
        }
        line.clear();
    }
    trace
}

/// `r N` or `w N`, N a sector of 512 bytes; -1 is page 0, since his division truncates. Other lines
/// are comments.
fn parse(line: &[u8]) -> Option<(Use, u64)> {
    let (kind, rest) = match line {
        [b'r', b' ', rest @ ..] => (Use::Read, rest),
        [b'w', b' ', rest @ ..] => (Use::Write, rest),
        _ => return None,
    };
    let sector: i64 = std::str::from_utf8(rest).ok()?.trim().parse().ok()?;
    Some((kind, (sector * 512 / 4096) as u64))
}

/// What a cache did: counts, and the accesses that went on to the device.
#[derive(Default)]
struct Output<'a> {
    pages: &'a [u64],
    reads: u64,
    writes: u64,
    text: String,
}

impl Sink for Output<'_> {
    fn dropped(&mut self, _id: Id) {}

    fn write_back(&mut self, id: Id) -> bool {
        self.writes += 1;
        writeln!(self.text, "w {}", self.pages[id as usize]).unwrap();
        false
    }
}

struct Run {
    trace: &'static Trace,
    pages: u64,
}

impl Visitor for Run {
    type Output = (u64, u64, String);

    fn visit<E: Eviction + Send + 'static>(self, policy: E) -> Self::Output {
        let offer = Needs { state: true, neighbours: true, unit_weights: true, ..Needs::default() };
        let mut cache = Cache::with_offer(policy, Config::pages(self.pages), offer).unwrap();
        cache.grow(self.trace.pages.len() as u32);
        let mut output = Output { pages: &self.trace.pages, ..Output::default() };
        for &(id, kind) in &self.trace.lines {
            let page = self.trace.pages[id as usize];
            let request = Request { kind, key: page, ..Request::page(id) };
            let outcome = cache.access_with(&request, &mut output);
            if outcome == Outcome::Admitted && kind == Use::Read {
                output.reads += 1;
                writeln!(output.text, "r {page}").unwrap();
            }
        }
        (output.reads, output.writes, crate::md5::prefix(output.text.as_bytes()))
    }
}

/// Reads, writes and digest of each policy in its cache of this many pages, two at a time.
fn run(trace: &'static Trace, cases: &[(&'static str, u64)]) -> Vec<(u64, u64, String)> {
    let (left, right) = cases.split_at(cases.len() / 2);
    let half = |cases: &[(&'static str, u64)]| -> Vec<_> {
        cases
            .iter()
            .map(|&(name, pages)| visit(name, pages, Run { trace, pages }).unwrap())
            .collect()
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(right));
        let mut results = half(left);
        results.extend(other.join().unwrap());
        results
    })
}

/// Made with the lines of his collector: a copy page by page, and a search of the original and of
/// the copy. Nine lines a page, since his ranges include their end: the ninth is of the next page.
fn made_copy(pages: u64, copy: u64) -> &'static Trace {
    let mut text = String::new();
    let mut touch = |kind: char, page: u64| {
        (0..9).for_each(|line| writeln!(text, "{kind} {}", 8 * page + line).unwrap());
    };
    (0..pages).for_each(|page| {
        touch('r', page);
        touch('w', copy + page);
    });
    (0..pages).for_each(|page| touch('r', page));
    (copy..copy + pages).for_each(|page| touch('r', page));
    Box::leak(Box::new(traced(text.as_bytes())))
}

/// Needs no data. The counts follow from his rules: a write that misses reads nothing, only an
/// eviction writes, and what is dirty at the end is not written.
#[test]
fn a_copy_and_searches_that_we_make_read_and_write_what_his_rules_say() {
    let (pages, copy) = (100, 1000);
    let trace = made_copy(pages, copy);
    // The original and the copy, with the page behind each.
    let touched = pages + 1;
    let roomy: Vec<_> = PUBLISHED.iter().map(|row| (row.0, 2 * touched)).collect();
    for (case, found) in roomy.iter().zip(run(trace, &roomy)) {
        assert_eq!((found.0, found.1), (touched, 0), "{}: nothing is evicted", case.0);
    }
    // LRU forgets the original before each search, and the copy before its own.
    let found = run(trace, &[("lru", 16), ("lru", 50)]);
    for found in found {
        assert_eq!((found.0, found.1), (3 * touched, touched));
    }
}

#[test]
fn the_trace_is_the_one_that_he_simulated() {
    let Some(trace) = trace() else { return };
    let reads = trace.lines.iter().filter(|line| line.1 == Use::Read).count();
    assert_eq!((reads, trace.lines.len() - reads), (READS, WRITES));
    assert!(trace.pages.contains(&0), "sector -1 is page 0");
}

#[test]
fn every_published_row_and_every_byte_of_the_output() {
    let Some(trace) = trace() else { return };
    let cases: Vec<_> = PUBLISHED.iter().map(|row| (row.0, PAGES)).collect();
    let found = run(trace, &cases);
    let found: Vec<_> = cases
        .iter()
        .zip(&found)
        .map(|(case, row)| (case.0, row.0, row.1, row.2.as_str()))
        .collect();
    assert_eq!(found, PUBLISHED);
}

#[test]
fn the_corrected_policies_give_the_corrected_rows() {
    let Some(trace) = trace() else { return };
    let cases: Vec<_> = CORRECTED.iter().map(|row| (row.0, PAGES)).collect();
    let found = run(trace, &cases);
    let found: Vec<_> =
        cases.iter().zip(&found).map(|(case, row)| (case.0, row.0, row.1)).collect();
    assert_eq!(found, CORRECTED);
}

/// In a small cache his cold hand often leaves the end of the list, and stops at its first entry.
#[test]
fn his_clock_pro_gives_the_rows_of_his_program_at_every_size() {
    let Some(trace) = trace() else { return };
    let cases: Vec<_> = CLOCK_PRO_BY_SIZE.iter().map(|row| ("clock-pro@ozen", row.0)).collect();
    let found = run(trace, &cases);
    let found: Vec<_> =
        cases.iter().zip(&found).map(|(case, row)| (case.1, row.0, row.1)).collect();
    assert_eq!(found, CLOCK_PRO_BY_SIZE);
}
