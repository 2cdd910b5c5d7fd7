//! What was done when: spans of time by file, in the order of first need, or by thread.

use super::names::Names;
use super::text::shown;
use serde_json::{Value, json};

/// Spans of a page, at most: more than a screen has pixels.
const MOST_SPANS: usize = 60_000;

/// Bytes that a span takes in the data.
const SPAN_BYTES: usize = 28;

/// Bytes that the number of a file's or thread's name takes.
const NAME_BYTES: usize = 7;

/// The data counts time in steps of this many nanoseconds.
const STEP_NS: f64 = 100.0;

/// Spans of time by file and by thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Above it.
    pub heading: String,
    /// What a reader should know of it; may be empty.
    pub note: String,
    /// The files. The page shows them in the order of their first span.
    pub rows: Vec<String>,
    /// The threads.
    pub threads: Vec<String>,
    /// What a span can be, in the order of the legend. Where spans are closer than pixels, the
    /// first kind is drawn over the others.
    pub kinds: Vec<Kind>,
    /// In any order.
    pub spans: Vec<Span>,
}

/// What a span can be.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub hue: Hue,
}

/// A colour that the colour-blind tell apart from the others, on a light and on a dark page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hue {
    /// The one that stands out: for waits.
    Orange,
    /// Dark blue.
    Blue,
    /// Bluish green.
    Green,
    /// Reddish purple.
    Pink,
    /// Dark yellow, light on a dark page.
    Yellow,
    /// Light blue.
    Sky,
    /// The one that stands back: for what costs little.
    Grey,
}

impl Hue {
    fn name(self) -> &'static str {
        match self {
            Hue::Orange => "orange",
            Hue::Blue => "blue",
            Hue::Green => "green",
            Hue::Pink => "pink",
            Hue::Yellow => "yellow",
            Hue::Sky => "sky",
            Hue::Grey => "grey",
        }
    }
}

/// Something that took time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// The file, by its place in [`Timeline::rows`].
    pub row: u32,
    /// The thread, by its place in [`Timeline::threads`].
    pub thread: u32,
    /// What it is, by its place in [`Timeline::kinds`].
    pub kind: u32,
    /// When it began, in seconds from the start.
    pub start_s: f64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Bytes that it brought; 0 if it brings none.
    pub bytes: u64,
}

impl Timeline {
    pub(super) fn wanted(&self, names: &Names) -> usize {
        let texts = self.rows.iter().chain(&self.threads).map(|name| names.new_bytes(name));
        texts.sum::<usize>() + self.spans.len().min(MOST_SPANS) * SPAN_BYTES
    }

    pub(super) fn html(&self, id: &str) -> String {
        format!("<section id=\"{id}\">{}</section>", super::heading(&self.heading, &self.note))
    }

    pub(super) fn data(&self, id: &str, room: usize, names: &mut Names) -> Value {
        let (spans, left_out) = self.thinned(room, names);
        let left_out_s: f64 = left_out.iter().map(|span| span.seconds).sum();
        let (mut rows, mut threads) = (Used::of(&self.rows), Used::of(&self.threads));
        let mut columns: [Vec<u64>; 6] = Default::default();
        let mut before = 0;
        for span in &spans {
            let start = steps(span.start_s);
            let figures = [
                start - before,
                steps(span.seconds),
                rows.number(span.row, names),
                threads.number(span.thread, names),
                u64::from(span.kind),
                span.bytes,
            ];
            before = start;
            columns.iter_mut().zip(figures).for_each(|(column, figure)| column.push(figure));
        }
        let [start, length, row, thread, kind, bytes] = columns;
        let totals = self.totals(spans.iter().chain(&left_out));
        let kinds = self.kinds.iter().zip(totals);
        let kinds = kinds.map(|(kind, total)| json!([shown(&kind.name), kind.hue.name(), total]));
        json!({
            "part": "timeline", "id": id, "step_ns": STEP_NS, "rows": rows.names,
            "threads": threads.names, "kinds": kinds.collect::<Vec<_>>(), "start": start,
            "length": length, "row": row, "thread": thread, "kind": kind, "bytes": bytes,
            "left_out": left_out.len(), "left_out_ns": (left_out_s * 1e9).round() as u64,
            "unusable": self.spans.len() - spans.len() - left_out.len(),
        })
    }

    /// Nanoseconds of each kind.
    fn totals<'a>(&self, spans: impl Iterator<Item = &'a Span>) -> Vec<u64> {
        let mut totals = vec![0.0; self.kinds.len()];
        spans.for_each(|span| totals[span.kind as usize] += span.seconds);
        totals.into_iter().map(|seconds| (1e9 * seconds).round() as u64).collect()
    }

    /// The longest spans that fit, by their start, and the others. A span of no known file, thread
    /// or kind, or of a time that is no number, is in neither.
    fn thinned(&self, room: usize, names: &Names) -> (Vec<Span>, Vec<Span>) {
        let mut spans: Vec<Span> =
            self.spans.iter().filter(|span| self.is_usable(span)).copied().collect();
        spans.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let (mut rows, mut threads) = (Used::of(&self.rows), Used::of(&self.threads));
        let mut cost = |span: &Span| {
            SPAN_BYTES + rows.new_bytes(span.row, names) + threads.new_bytes(span.thread, names)
        };
        let kept = super::room::fitting(spans.iter().map(&mut cost), room, MOST_SPANS);
        let left_out = spans.split_off(kept);
        spans.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        (spans, left_out)
    }

    fn is_usable(&self, span: &Span) -> bool {
        let is_time = |value: f64| value.is_finite() && value >= 0.0;
        is_time(span.start_s)
            && is_time(span.seconds)
            && (span.row as usize) < self.rows.len()
            && (span.thread as usize) < self.threads.len()
            && (span.kind as usize) < self.kinds.len()
    }
}

/// Files or threads that spans use, in the order in which they are first used.
struct Used<'a> {
    all: &'a [String],
    numbers: Vec<Option<u64>>,
    names: Vec<usize>,
}

impl<'a> Used<'a> {
    fn of(all: &'a [String]) -> Self {
        Self { all, numbers: vec![None; all.len()], names: Vec::new() }
    }

    fn number(&mut self, index: u32, names: &mut Names) -> u64 {
        *self.numbers[index as usize].get_or_insert_with(|| {
            self.names.push(names.number(&self.all[index as usize]));
            self.names.len() as u64 - 1
        })
    }

    /// Bytes of the name in the data, if it was not asked for before.
    fn new_bytes(&mut self, index: u32, names: &Names) -> usize {
        match self.numbers[index as usize].replace(0) {
            Some(_) => 0,
            None => NAME_BYTES + names.new_bytes(&self.all[index as usize]),
        }
    }
}

fn steps(seconds: f64) -> u64 {
    (seconds * 1e9 / STEP_NS).round() as u64
}
