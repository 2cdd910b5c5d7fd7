//! Sums up what was waited for by folder.

use super::advice::Folder;
use std::collections::BTreeMap;

/// A folder with a smaller share of the wait has no row of its own.
const SHARE_MIN: f64 = 0.05;

/// What was waited for at a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct At<'a> {
    pub(super) path: &'a str,
    pub(super) wait_s: f64,
    pub(super) needed_bytes: u64,
}

/// The folders with a share of the wait that is worth a row. What lies beside these in a folder is
/// summed up as `FOLDER/*`, so no file counts twice.
pub(super) fn folders(files: &[At<'_>]) -> Vec<Folder> {
    let total_s: f64 = files.iter().map(|at| at.wait_s).sum();
    let mut found = Vec::new();
    take_apart("", &files.iter().collect::<Vec<_>>(), total_s * SHARE_MIN, &mut found);
    found.sort_by(|one: &Folder, other| other.wait_s.total_cmp(&one.wait_s));
    found
}

fn take_apart(folder: &str, files: &[&At<'_>], worth_s: f64, found: &mut Vec<Folder>) {
    let mut below: BTreeMap<&str, Vec<&At<'_>>> = BTreeMap::new();
    let mut rest = Vec::new();
    for file in files {
        let inside = file.path.strip_prefix(folder).and_then(|inside| inside.strip_prefix('/'));
        match inside.and_then(|inside| inside.split_once('/')) {
            Some((name, _)) => below.entry(name).or_default().push(file),
            None => rest.push(*file),
        }
    }
    let is_worth = |files: &[&At<'_>]| wait_s(files) >= worth_s && worth_s > 0.0;
    if !below.values().any(|files| is_worth(files)) {
        found.push(sum(if folder.is_empty() { "/" } else { folder }.to_owned(), files));
        return;
    }
    for (name, files) in below {
        match is_worth(&files) {
            true => take_apart(&format!("{folder}/{name}"), &files, worth_s, found),
            false => rest.extend(files),
        }
    }
    if !rest.is_empty() {
        found.push(sum(format!("{folder}/*"), &rest));
    }
}

fn wait_s(files: &[&At<'_>]) -> f64 {
    files.iter().map(|at| at.wait_s).sum()
}

fn sum(path: String, files: &[&At<'_>]) -> Folder {
    Folder {
        path,
        wait_s: wait_s(files),
        files: files.len() as u64,
        needed_bytes: files.iter().map(|at| at.needed_bytes).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_worth_a_row_are_found_and_no_file_counts_twice() {
        let at = |path, wait_s| At { path, wait_s, needed_bytes: 10 };
        let files = [
            at("/usr/lib/python3/os.py", 2.0),
            at("/usr/lib/python3/re.py", 1.0),
            at("/usr/lib/libc.so", 0.5),
            at("/usr/share/zones", 0.01),
            at("/home/me/app.py", 0.25),
        ];
        let found = folders(&files);
        let found: Vec<(&str, f64, u64)> =
            found.iter().map(|it| (it.path.as_str(), it.wait_s, it.files)).collect();
        assert_eq!(
            found,
            [
                ("/usr/lib/python3", 3.0, 2),
                ("/usr/lib/*", 0.5, 1),
                ("/home/me", 0.25, 1),
                ("/usr/*", 0.01, 1),
            ]
        );
        assert_eq!(folders(&[]).len(), 1, "the root");
        assert_eq!(folders(&[at("/a/b", 0.0), at("/c/d", 0.0)])[0].files, 2, "no wait at all");
    }
}
