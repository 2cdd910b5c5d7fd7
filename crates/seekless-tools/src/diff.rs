//! What two traces differ in: the files and bytes that only one of them reads.

use crate::rewrite::unread;
use seekless_job::Result;
use seekless_job::ranges::{bytes, common_bytes, union};
use seekless_job::roots::Roots;
use seekless_policy::layout::extents::Extent;
use seekless_trace::Needs;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// What has become of a file between the old trace and the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Only the new trace reads it.
    New,
    /// Only the old trace reads it.
    Gone,
    /// Both read a file of this name and size, but in another folder.
    Moved,
    /// Both read it, and it is larger now.
    Grown,
    /// Both read it, and it is smaller now.
    Shrunk,
    /// Both read it, but not the same bytes.
    Ranges,
}

/// A file that the traces do not read alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its path: in the new trace, or in the old one if it is gone.
    pub path: String,
    /// What has become of it.
    pub change: Change,
    /// Where it was, if it has moved.
    pub was: Option<String>,
    /// Bytes that only the old trace reads.
    pub old_bytes: u64,
    /// Bytes that only the new trace reads.
    pub new_bytes: u64,
    /// Its size in the old trace, if known.
    pub old_file_bytes: Option<u64>,
    /// Its size in the new trace, if known.
    pub new_file_bytes: Option<u64>,
}

/// How two traces differ. Bytes are those of pages that were read, touched or loaded, each counted
/// once, over all runs of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// Bytes that the old trace reads.
    pub old_bytes: u64,
    /// Bytes that the new trace reads.
    pub new_bytes: u64,
    /// Bytes that both read.
    pub common_bytes: u64,
    /// Bytes that only the old trace reads.
    pub only_old_bytes: u64,
    /// Bytes that only the new trace reads.
    pub only_new_bytes: u64,
    /// Files that both read alike.
    pub same_files: u64,
    /// How many files each change befell.
    pub changes: BTreeMap<Change, u64>,
    /// The files, those with the most bytes that only one trace reads first.
    pub rows: Vec<Row>,
}

/// Compares what two traces read. `roots` says where trees of the old one lie in the new one.
///
/// # Errors
/// A trace cannot be read.
pub fn diff(old: &Path, new: &Path, roots: &Roots) -> Result<Diff> {
    let read = |path: &Path| Needs::read(&[path.to_owned()]).map_err(unread);
    let old = Side::of(&read(old)?, roots);
    let new = Side::of(&read(new)?, &Roots::default());
    let mut diff = Diff::default();
    let mut gone = Vec::new();
    for (name, was) in &old.files {
        match new.files.get(name) {
            Some(file) => diff.both(name, was, name, file),
            None => gone.push(name),
        }
    }
    let mut arrived: Vec<&String> =
        new.files.keys().filter(|name| !old.files.contains_key(*name)).collect();
    diff.moved(&old, &new, &mut gone, &mut arrived);
    let none = File::default();
    gone.iter().for_each(|name| diff.add(name, Change::Gone, None, &old.files[*name], &none));
    arrived.iter().for_each(|name| diff.add(name, Change::New, None, &none, &new.files[*name]));
    diff.rows.sort_by(|one, other| {
        let bytes = |row: &Row| row.old_bytes.max(row.new_bytes);
        bytes(other).cmp(&bytes(one)).then_with(|| one.path.cmp(&other.path))
    });
    Ok(diff)
}

/// What one trace reads of a file.
#[derive(Default)]
struct File {
    ranges: Vec<Extent>,
    file_bytes: Option<u64>,
}

/// What one trace reads, by name.
struct Side {
    files: BTreeMap<String, File>,
}

impl Side {
    fn of(needs: &Needs, roots: &Roots) -> Self {
        let mut ranges: Vec<Vec<Extent>> = vec![Vec::new(); needs.names.len()];
        for need in needs.runs.iter().flatten() {
            let range = Extent { offset: need.offset, bytes: need.bytes };
            ranges[need.file as usize].push(range);
        }
        let mut files: BTreeMap<String, File> = BTreeMap::new();
        for (file, ranges) in ranges.into_iter().enumerate().filter(|(_, it)| !it.is_empty()) {
            let name = roots.apply(&needs.names[file]).into_owned();
            let known = files.entry(name).or_default();
            known.ranges.extend(ranges);
            known.file_bytes = needs.file_bytes[file].or(known.file_bytes);
        }
        for file in files.values_mut() {
            file.ranges = union(std::mem::take(&mut file.ranges));
        }
        Self { files }
    }
}

impl Diff {
    /// Takes in a file that both read.
    fn both(&mut self, was: &str, old: &File, name: &str, new: &File) {
        let change = match (old.file_bytes, new.file_bytes) {
            _ if was != name => Change::Moved,
            (Some(old), Some(new)) if old < new => Change::Grown,
            (Some(old), Some(new)) if old > new => Change::Shrunk,
            _ if old.ranges != new.ranges => Change::Ranges,
            _ => {
                self.same_files += 1;
                return self.count(old, new);
            }
        };
        self.add(name, change, (was != name).then(|| was.to_owned()), old, new);
    }

    fn add(&mut self, path: &str, change: Change, was: Option<String>, old: &File, new: &File) {
        self.count(old, new);
        *self.changes.entry(change).or_default() += 1;
        let common = common_bytes(&old.ranges, &new.ranges);
        self.rows.push(Row {
            path: path.to_owned(),
            change,
            was,
            old_bytes: bytes(&old.ranges) - common,
            new_bytes: bytes(&new.ranges) - common,
            old_file_bytes: old.file_bytes,
            new_file_bytes: new.file_bytes,
        });
    }

    fn count(&mut self, old: &File, new: &File) {
        let common = common_bytes(&old.ranges, &new.ranges);
        let (old, new) = (bytes(&old.ranges), bytes(&new.ranges));
        for (sum, more) in [
            (&mut self.old_bytes, old),
            (&mut self.new_bytes, new),
            (&mut self.common_bytes, common),
            (&mut self.only_old_bytes, old - common),
            (&mut self.only_new_bytes, new - common),
        ] {
            *sum = sum.saturating_add(more); // a trace may claim more than a number holds
        }
    }

    /// Takes files out of `gone` and `arrived` that have the same name and size, and are the only
    /// ones on their side that have.
    fn moved(
        &mut self,
        old: &Side,
        new: &Side,
        gone: &mut Vec<&String>,
        arrived: &mut Vec<&String>,
    ) {
        let (was, is) = (by_name_and_size(old, gone), by_name_and_size(new, arrived));
        let mut pairs: Vec<(&String, &String)> = was
            .iter()
            .filter_map(|(key, was)| match (was.as_slice(), is.get(key).map(Vec::as_slice)) {
                ([was], Some([is])) => Some((*was, *is)),
                _ => None,
            })
            .collect();
        pairs.sort_unstable();
        for &(was, is) in &pairs {
            self.both(was, &old.files[was], is, &new.files[is]);
        }
        gone.retain(|name| !pairs.iter().any(|(was, _)| was == name));
        arrived.retain(|name| !pairs.iter().any(|(_, is)| is == name));
    }
}

/// Files of known size by the last part of their names and their size.
fn by_name_and_size<'a>(
    side: &Side,
    names: &[&'a String],
) -> HashMap<(&'a str, u64), Vec<&'a String>> {
    let mut found: HashMap<(&str, u64), Vec<&String>> = HashMap::new();
    for name in names {
        if let Some(bytes) = side.files[*name].file_bytes {
            let last = name.rsplit('/').next().unwrap_or(name);
            found.entry((last, bytes)).or_default().push(name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::{Access, Metadata, Op, Writer};
    use std::path::PathBuf;

    fn trace(folder: &Path, name: &str, reads: &[(&str, i64, u64, u64)]) -> PathBuf {
        let path = folder.join(name);
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        for (time_ns, &(name, offset, bytes, file_bytes)) in (0..).zip(reads) {
            let file = writer.file(name);
            let file_bytes = Some(file_bytes);
            let row = Access { time_ns, offset, bytes, file_bytes, ..Access::new(Op::Read, file) };
            writer.push(row).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    #[test]
    fn files_and_bytes_that_only_one_reads() {
        let folder = tempfile::tempdir().unwrap();
        let old = [
            ("/same", 0, 8192, 8192),
            ("/grown", 0, 4096, 4096),
            ("/part", 0, 8192, 100_000),
            ("/v1/lib.so", 0, 4096, 50_000),
            ("/gone", 0, 4096, 4096),
        ];
        let new = [
            ("/part", 4096, 8192, 100_000),
            ("/new", 0, 40_960, 40_960),
            ("/same", 0, 8192, 8192),
            ("/grown", 0, 8192, 8192),
            ("/v2/lib.so", 0, 4096, 50_000),
        ];
        let (old, new) = (trace(folder.path(), "old", &old), trace(folder.path(), "new", &new));
        let diff = diff(&old, &new, &Roots::default()).unwrap();
        let rows: Vec<_> = diff
            .rows
            .iter()
            .map(|row| (row.path.as_str(), row.change, row.old_bytes, row.new_bytes))
            .collect();
        assert_eq!(
            rows,
            [
                ("/new", Change::New, 0, 40_960),
                ("/gone", Change::Gone, 4096, 0),
                ("/grown", Change::Grown, 0, 4096),
                ("/part", Change::Ranges, 4096, 4096),
                ("/v2/lib.so", Change::Moved, 0, 0),
            ]
        );
        assert_eq!(diff.rows[4].was.as_deref(), Some("/v1/lib.so"));
        assert_eq!((diff.only_old_bytes, diff.only_new_bytes), (8192, 49_152));
        assert_eq!((diff.same_files, diff.old_bytes, diff.new_bytes), (1, 28_672, 69_632));
        assert_eq!(diff.common_bytes, 8192 + 4096 + 4096 + 4096);
    }

    /// Such rows once took all memory.
    #[test]
    fn rows_may_claim_more_than_a_file_has() {
        let folder = tempfile::tempdir().unwrap();
        let huge = [("/a", 0, u64::MAX, u64::MAX), ("/b", i64::MAX, u64::MAX, u64::MAX)];
        let (old, new) = (trace(folder.path(), "old", &huge), trace(folder.path(), "new", &[]));
        let diff = diff(&old, &new, &Roots::default()).unwrap();
        assert_eq!((diff.only_old_bytes, diff.new_bytes), (u64::MAX, 0));
        assert_eq!(diff.changes, [(Change::Gone, 2)].into());
    }

    #[test]
    fn a_tree_that_has_moved_is_the_same_if_the_user_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let old = trace(folder.path(), "old", &[("/a/x", 0, 4096, 9000), ("/a/y/x", 0, 1, 9000)]);
        let new = trace(folder.path(), "new", &[("/b/x", 0, 4096, 9000), ("/b/y/x", 0, 1, 9000)]);
        // Both files have the same name and size, so that they cannot be distinguished.
        let unsaid = diff(&old, &new, &Roots::default()).unwrap();
        assert_eq!(unsaid.changes, [(Change::New, 2), (Change::Gone, 2)].into());
        let said = diff(&old, &new, &Roots::new(vec!["/a=/b".parse().unwrap()])).unwrap();
        assert_eq!((said.same_files, said.rows.len()), (2, 0));
    }
}
