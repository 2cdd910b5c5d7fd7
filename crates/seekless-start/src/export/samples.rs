//! The samples of WebDataset: files of one folder whose names are the same up to the first dot. A
//! reader makes a sample of files that follow each other, so one that is torn apart becomes several
//! halves.

use super::choose::Listed;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The name of the sample that a file belongs to, and the file's ending; `None` if it has no dot
/// behind a name.
fn parts(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let base = name.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let dot = base + name[base..].iter().position(|&byte| byte == b'.').filter(|&dot| dot > 0)?;
    Some((&name[..dot], &name[dot + 1..]))
}

/// Whether all files are parts of samples, which have the same endings and more than one.
pub(super) fn are_all(files: &[Listed]) -> bool {
    let mut samples: BTreeMap<&[u8], BTreeSet<&[u8]>> = BTreeMap::new();
    for file in files {
        let Some((sample, ending)) = parts(&file.name) else { return false };
        samples.entry(sample).or_default().insert(ending);
    }
    let mut endings = samples.values();
    endings.next().is_some_and(|first| first.len() > 1 && endings.all(|other| other == first))
}

/// Puts the files of each sample together, where its first file is.
pub(super) fn together(files: Vec<Listed>) -> Vec<Listed> {
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut samples: Vec<Vec<Listed>> = Vec::new();
    for file in files {
        let sample = parts(&file.name).map_or(&file.name[..], |(sample, _)| sample).to_vec();
        let place = *places.entry(sample).or_insert(samples.len());
        match samples.get_mut(place) {
            Some(sample) => sample.push(file),
            None => samples.push(vec![file]),
        }
    }
    samples.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(names: &[&str]) -> Vec<Listed> {
        let one = |name: &&str| Listed {
            name: name.as_bytes().to_vec(),
            path: name.into(),
            file_bytes: 1,
            ranges: Vec::new(),
            runs: 1,
            file: 0,
        };
        names.iter().map(one).collect()
    }

    #[test]
    fn a_sample_is_a_name_up_to_its_first_dot_in_its_folder() {
        assert_eq!(parts(b"a.d/0.tar.gz"), Some((&b"a.d/0"[..], &b"tar.gz"[..])));
        assert_eq!((parts(b"a.d/0"), parts(b".x"), parts(b"a/.x.y")), (None, None, None));
    }

    #[test]
    fn the_files_of_a_sample_come_where_its_first_one_does() {
        let files = listed(&["b.jpg", "a.jpg", "x/b.jpg", "readme", "a.cls", "b.cls", "x/b.cls"]);
        let names: Vec<Vec<u8>> = together(files).into_iter().map(|file| file.name).collect();
        let expected =
            ["b.jpg", "b.cls", "a.jpg", "a.cls", "x/b.jpg", "x/b.cls", "readme"].map(str::as_bytes);
        assert_eq!(names, expected);
    }

    #[test]
    fn files_are_samples_if_all_have_the_same_endings() {
        for (names, expected) in [
            (&["a.jpg", "b.jpg", "b.cls", "a.cls"][..], true),
            (&["a.jpg", "b.jpg"], false),
            (&["a.jpg", "a.cls", "b.jpg"], false),
            (&["a.jpg", "a.cls", "readme"], false),
            (&["libm.so.6", "libm.a", "libc.so.6"], false),
            (&[], false),
        ] {
            assert_eq!(are_all(&listed(names)), expected, "{names:?}");
        }
    }
}
