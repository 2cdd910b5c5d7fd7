//! Finds circles of modules: files of one crate that import each other, directly or through others.
//! A file and the files in its folder belong together, and do not count.

use super::sources::Source;
use std::collections::{BTreeMap, BTreeSet};

/// Which modules each module of a crate imports.
type Imports<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// One line a circle: the crate, and the modules in it.
pub(super) fn all(sources: &[Source]) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !source.is_test()) {
        if let Some(module) = &source.module {
            let files = crates.entry(&source.package).or_default();
            files.push((module, source.without_tests()));
        }
    }
    let lines = crates.into_iter().flat_map(|(package, files)| {
        let circles = circles(&imports(&files));
        circles.into_iter().map(move |circle| format!("{package}: {}", circle.join(", ")))
    });
    lines.collect()
}

fn imports<'a>(files: &[(&'a str, &str)]) -> Imports<'a> {
    let modules: BTreeSet<&str> = files.iter().map(|(module, _)| *module).collect();
    let of = |module: &'a str, text: &str| {
        let named = paths(module, text).into_iter().filter_map(|path| deepest(&modules, &path));
        named.filter(|other| !are_kin(module, other)).collect()
    };
    files.iter().map(|(module, text)| (*module, of(module, text))).collect()
}

/// Paths inside of the crate that the text names, such as `cache/paged/Paged`.
fn paths(module: &str, text: &str) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    let mut paths = Vec::new();
    for (root, start) in [("crate::", String::new()), ("super::", above(module))] {
        for (place, _) in code.match_indices(root) {
            let before = code[..place].chars().next_back();
            if before.is_some_and(|letter| letter.is_alphanumeric() || letter == ':') {
                continue;
            }
            let (mut folder, mut rest) = (start.clone(), &code[place + root.len()..]);
            while let Some(further) = rest.strip_prefix("super::") {
                (folder, rest) = (above(&folder), further);
            }
            paths.extend(names(rest).into_iter().map(|name| join(&folder, &name)));
        }
    }
    paths
}

/// The paths that stand behind `crate::`: one, or those in braces.
fn names(rest: &str) -> Vec<String> {
    let is_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let end = rest.find(|letter| !is_path(letter)).unwrap_or(rest.len());
    let path = rest[..end].trim_end_matches(':').replace("::", "/");
    if !rest[end..].starts_with('{') {
        return vec![path];
    }
    let (mut depth, mut start, mut found) = (0, end + 1, Vec::new());
    for (place, letter) in rest[end..].char_indices().map(|(place, letter)| (place + end, letter)) {
        match letter {
            '{' => depth += 1,
            ',' | '}' if depth == 1 => {
                found.extend(names(rest[start..].trim_start()));
                start = place + 1;
            }
            _ => {}
        }
        if letter == '}' {
            depth -= 1;
            if depth == 0 {
                break;
            }
        }
    }
    found.into_iter().map(|name| join(&path, &name)).collect()
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn above(module: &str) -> String {
    module.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned())
}

/// The module of a path: its longest beginning that is one.
fn deepest<'a>(modules: &BTreeSet<&'a str>, path: &str) -> Option<&'a str> {
    let mut path = path;
    loop {
        if let Some(module) = modules.get(path) {
            return Some(module);
        }
        path = path.rsplit_once('/')?.0;
    }
}

/// Whether one is the other or lies in its folder.
fn are_kin(one: &str, other: &str) -> bool {
    let lies_in = |inner: &str, outer: &str| {
        outer.is_empty() || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
    };
    one == other || lies_in(one, other) || lies_in(other, one)
}

/// The sets of modules of which each reaches each other.
fn circles<'a>(imports: &Imports<'a>) -> Vec<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|module| (*module, reach(imports, module))).collect();
    let mut circles = BTreeSet::new();
    for (module, from) in &reached {
        if from.contains(module) {
            let both = |other: &&&str| reached[**other].contains(module);
            circles.insert(from.iter().filter(both).copied().collect::<Vec<_>>());
        }
    }
    circles.into_iter().collect()
}

fn reach<'a>(imports: &Imports<'a>, from: &str) -> BTreeSet<&'a str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        for &next in &imports[module] {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_import_each_other_are_a_circle_and_a_folder_is_none() {
        let files = [
            ("", "mod a; mod b;"),
            ("a", "mod inner;\nuse crate::{b::B, c};"),
            ("a/inner", "use super::A;\n// use crate::b;"),
            ("b", "use crate::c::{C, D};"),
            ("c", "fn c() {\n    super::a::inner::run()\n}"),
            ("d", "use crate::c::C;"),
        ];
        let imports = imports(&files);
        assert_eq!(imports["a"], BTreeSet::from(["b", "c"]));
        assert_eq!(imports["c"], BTreeSet::from(["a/inner"]));
        assert!(circles(&imports).is_empty(), "a/inner imports nothing outside of its folder");
        let closed = [files[0], files[1], ("c", "use crate::a::A;"), files[3]];
        let closed = super::imports(&closed);
        assert_eq!(circles(&closed), [["a", "b", "c"]]);
    }
}
