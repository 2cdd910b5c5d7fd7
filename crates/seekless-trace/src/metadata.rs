//! What a trace says about itself: its kind, page size, lost events and the circumstances of each
//! run. The Parquet file holds it as key-value metadata; docs/reference/trace-format.md lists the
//! keys.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(crate) const VERSION: &str = "1";
pub(crate) const KEY_VERSION: &str = "seekless.version";
pub(crate) const KEY_KIND: &str = "seekless.kind";
pub(crate) const KEY_PAGE_BYTES: &str = "seekless.page_bytes";
pub(crate) const KEY_LOST: &str = "seekless.lost";
pub(crate) const KEY_RUNS: &str = "seekless.runs";
pub(crate) const KEY_VIEW: &str = "seekless.view";
pub(crate) const KEY_PROFILE: &str = "seekless.profile";

/// What `path` and `offset` of a trace mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Accesses to files.
    #[default]
    Files,
    /// A block trace: `path` is a device, `offset` is on it.
    Blocks,
    /// Ids: each row is a load of weight 1.
    Ids,
}

impl Kind {
    /// The word in the file's metadata.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Files => "files",
            Kind::Blocks => "blocks",
            Kind::Ids => "ids",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Kind> {
        [Kind::Files, Kind::Blocks, Kind::Ids].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// On which side of the page cache a block trace was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// What the program asks for, as if there were no page cache.
    PreCache,
    /// What reaches the device.
    PostCache,
}

impl View {
    /// The word in the file's metadata.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            View::PreCache => "pre-cache",
            View::PostCache => "post-cache",
        }
    }

    fn parse(word: &str) -> Option<View> {
        [View::PreCache, View::PostCache].into_iter().find(|view| view.as_str() == word)
    }
}

/// The circumstances of one run. An unknown field is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunInfo {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The directory it was started in.
    pub directory: String,
    /// The machine's name.
    pub host: String,
    /// The kernel's release.
    pub kernel: String,
    /// The clock behind `time_ns`, such as `monotonic`.
    pub clock: String,
    /// How it was recorded, or the file it was imported from.
    pub source: String,
    /// When the run started, in nanoseconds since 1970.
    pub started_unix_ns: Option<u64>,
    /// How long it ran, in nanoseconds.
    pub duration_ns: Option<u64>,
    /// The exit status as a shell reports it: 128 + signal if a signal ended it.
    pub exit_status: Option<i32>,
    /// Globs of the files that were recorded. If it is empty, all files were.
    pub only: Vec<String>,
    /// Globs of files that were left out.
    pub exclude: Vec<String>,
    /// Calls on files that these globs left out.
    pub left_out: u64,
    /// Lines or records of an imported file that are no rows, by kind: `malformed line` → 2.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub not_imported: BTreeMap<String, u64>,
    /// Ways to read that the recorder cannot see, and how often each was used: `io_uring` → 3.
    pub blind_spots: BTreeMap<String, u64>,
}

fn summed<'a>(counts: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (what, count) in counts.flatten() {
        let sum: &mut u64 = all.entry(what.clone()).or_default();
        *sum = sum.saturating_add(*count);
    }
    all
}

/// What a trace says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// What paths and offsets are.
    pub kind: Kind,
    /// Of a block trace, whether it was taken before or behind the page cache; `None` if unknown.
    pub view: Option<View>,
    /// The size of a page, for faults and for simulations by page, in bytes.
    pub page_bytes: u32,
    /// Events that the recorder could not keep.
    pub lost: u64,
    /// One entry a run, in order.
    pub runs: Vec<RunInfo>,
    /// What makes the trace a [profile](crate::Profile), as JSON. `None` for any other trace.
    pub profile: Option<String>,
}

impl Default for Metadata {
    fn default() -> Self {
        Metadata {
            kind: Kind::Files,
            view: None,
            page_bytes: 4096,
            lost: 0,
            runs: Vec::new(),
            profile: None,
        }
    }
}

impl Metadata {
    /// The blind spots of all runs together.
    #[must_use]
    pub fn blind_spots(&self) -> BTreeMap<String, u64> {
        summed(self.runs.iter().map(|run| &run.blind_spots))
    }

    /// What of all imported files is no rows, by kind.
    #[must_use]
    pub fn not_imported(&self) -> BTreeMap<String, u64> {
        summed(self.runs.iter().map(|run| &run.not_imported))
    }

    /// Whether it holds arguments of programs, which may be secret.
    #[must_use]
    pub fn keeps_arguments(&self) -> bool {
        self.runs.iter().any(|run| run.command.len() > 1)
    }

    /// The pairs by which a file says it: keys and values as in docs/reference/trace-format.md.
    #[must_use]
    pub fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let runs = serde_json::to_string(&self.runs).unwrap_or_else(|_| "[]".into()); // only maps with odd keys fail
        let mut pairs = vec![
            (KEY_VERSION, VERSION.to_owned()),
            (KEY_KIND, self.kind.as_str().to_owned()),
            (KEY_PAGE_BYTES, self.page_bytes.to_string()),
            (KEY_LOST, self.lost.to_string()),
            (KEY_RUNS, runs),
        ];
        pairs.extend(self.view.map(|view| (KEY_VIEW, view.as_str().to_owned())));
        pairs.extend(self.profile.clone().map(|profile| (KEY_PROFILE, profile)));
        pairs
    }

    /// Reads the pairs back. A file that another tool has rewritten may have lost them all; then
    /// the defaults apply. The error says which key is wrong and why.
    pub(crate) fn from_pairs<'a>(
        pairs: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, String> {
        let mut metadata = Metadata::default();
        for (key, value) in pairs {
            let wrong = |expected: &str| {
                format!("its metadata key {key} is `{value}`, expected {expected}")
            };
            match key {
                KEY_VERSION if value != VERSION => {
                    return Err(wrong("1; a newer seekless wrote it, update this one"));
                }
                KEY_KIND => {
                    metadata.kind =
                        Kind::parse(value).ok_or_else(|| wrong("files, blocks or ids"))?
                }
                KEY_VIEW => {
                    let view = View::parse(value);
                    metadata.view = Some(view.ok_or_else(|| wrong("pre-cache or post-cache"))?);
                }
                KEY_PAGE_BYTES => {
                    let bytes = value.parse().ok().filter(|bytes| *bytes > 0);
                    metadata.page_bytes = bytes.ok_or_else(|| wrong("a number over 0"))?;
                }
                KEY_LOST => metadata.lost = value.parse().map_err(|_| wrong("a number"))?,
                KEY_RUNS => {
                    metadata.runs =
                        serde_json::from_str(value).map_err(|error| wrong(&error.to_string()))?;
                }
                KEY_PROFILE => metadata.profile = Some(value.to_owned()),
                _ => {}
            }
        }
        Ok(metadata)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_back() {
        let run = RunInfo {
            command: vec!["make".into(), "-j2".into()],
            blind_spots: BTreeMap::from([("io_uring".into(), 3)]),
            ..RunInfo::default()
        };
        let metadata = Metadata {
            kind: Kind::Blocks,
            view: Some(View::PostCache),
            page_bytes: 512,
            lost: 9,
            runs: vec![run.clone(), run],
            profile: Some("{}".to_owned()),
        };
        let pairs = metadata.to_pairs();
        let back = Metadata::from_pairs(pairs.iter().map(|(key, value)| (*key, value.as_str())));
        assert_eq!(back, Ok(metadata.clone()));
        assert_eq!(metadata.blind_spots()["io_uring"], 6);
    }

    #[test]
    fn wrong_pairs_name_the_key() {
        for (key, value) in [
            (KEY_VERSION, "2"),
            (KEY_KIND, "x"),
            (KEY_VIEW, "post"),
            (KEY_PAGE_BYTES, "0"),
            (KEY_LOST, "-1"),
            (KEY_RUNS, "{"),
        ] {
            let error = Metadata::from_pairs([(key, value)].into_iter()).unwrap_err();
            assert!(error.contains(key), "{error}");
        }
    }
}
