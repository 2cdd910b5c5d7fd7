//! Folders by what was waited for, read and asked for below them.

use super::columns::Content;
use super::names::Names;
use super::room::fitting;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Files of a page, at most.
const MOST_LEAVES: usize = 10_000;

/// Bytes that a file's figures take in the data.
const FIGURES_BYTES: usize = 36;

/// What a file that stands for others of its folder is called.
const OTHERS: &str = "*";

/// A treemap of folders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Treemap {
    /// Above it.
    pub heading: String,
    /// What a reader should know of it; may be empty.
    pub note: String,
    /// The files.
    pub leaves: Vec<Leaf>,
}

/// A file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leaf {
    /// Its path; `/` parts folders.
    pub path: String,
    /// How long it was waited for, in seconds.
    pub wait_s: f64,
    /// Bytes read.
    pub bytes: u64,
    /// Requests, or calls.
    pub requests: u64,
}

impl Treemap {
    pub(super) fn wanted(&self, names: &Names) -> usize {
        self.leaves.iter().map(|leaf| cost(leaf, names)).sum()
    }

    pub(super) fn html(&self, id: &str) -> String {
        format!("<section id=\"{id}\">{}</section>", super::heading(&self.heading, &self.note))
    }

    pub(super) fn data(&self, id: &str, room: usize, names: &mut Names) -> Value {
        let (mut leaves, others) = self.thinned(room, names);
        let (others, stand_for): (Vec<Leaf>, Vec<u64>) = others.into_iter().unzip();
        leaves.extend(others);
        let mut columns: [Vec<u64>; 4] = Default::default();
        for leaf in &leaves {
            let wait = Content::Seconds.steps(leaf.wait_s).unwrap_or(0);
            let figures = [names.number(&leaf.path) as u64, wait, leaf.bytes, leaf.requests];
            columns.iter_mut().zip(figures).for_each(|(column, figure)| column.push(figure));
        }
        let [path, wait, bytes, requests] = columns;
        json!({
            "part": "treemap", "id": id, "path": path, "wait": wait, "bytes": bytes,
            "requests": requests, "others": stand_for,
        })
    }

    /// The files with the greatest shares of any figure. The figures of the others are added to
    /// one file `*` in the nearest folder that stays, so that sums are right; it comes with how
    /// many it stands for.
    fn thinned(&self, room: usize, names: &Names) -> (Vec<Leaf>, Vec<(Leaf, u64)>) {
        let mut order: Vec<&Leaf> = self.leaves.iter().collect();
        let worth = self.worth();
        order.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
        let kept = fitting(order.iter().map(|leaf| cost(leaf, names)), room, MOST_LEAVES);
        let folders: BTreeSet<&str> =
            order[..kept].iter().flat_map(|leaf| folders(&leaf.path)).collect();
        let mut others: BTreeMap<&str, (Leaf, u64)> = BTreeMap::new();
        for leaf in &order[kept..] {
            let near = folders_of(&leaf.path, &folders);
            let (other, count) = others.entry(near).or_insert_with(|| {
                (Leaf { path: format!("{near}{OTHERS}"), ..Leaf::default() }, 0)
            });
            *count += 1;
            other.wait_s += if leaf.wait_s.is_finite() { leaf.wait_s.max(0.0) } else { 0.0 };
            other.bytes = other.bytes.saturating_add(leaf.bytes);
            other.requests = other.requests.saturating_add(leaf.requests);
        }
        (order[..kept].iter().copied().cloned().collect(), others.into_values().collect())
    }

    /// A file's share of the wait, of the bytes or of the requests: the greatest.
    fn worth(&self) -> impl Fn(&Leaf) -> f64 {
        let figures = |leaf: &Leaf| [leaf.wait_s, leaf.bytes as f64, leaf.requests as f64];
        let mut sums = [f64::MIN_POSITIVE; 3];
        for leaf in &self.leaves {
            let all = sums.iter_mut().zip(figures(leaf)).filter(|(_, figure)| figure.is_finite());
            all.for_each(|(sum, figure)| *sum += figure.max(0.0));
        }
        move |leaf| {
            let shares = figures(leaf).into_iter().zip(sums).map(|(figure, sum)| figure / sum);
            shares.filter(|share| share.is_finite()).fold(0.0, f64::max)
        }
    }
}

/// Twice what a file takes, since its folder may need one that stands for others.
fn cost(leaf: &Leaf, names: &Names) -> usize {
    2 * (FIGURES_BYTES + names.new_bytes(&leaf.path))
}

/// The folders that a path lies in, the innermost first, each with its last `/`.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/').map(|(at, _)| &path[..=at])
}

/// The innermost folder of a path that is among `known`, or none.
fn folders_of<'a>(path: &'a str, known: &BTreeSet<&str>) -> &'a str {
    folders(path).find(|folder| known.contains(folder)).unwrap_or("")
}
