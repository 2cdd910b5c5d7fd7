//! Follows the links of all Markdown in the repository: to files, to headings, and to pictures. The
//! contents of the site and the index of `docs/` must name every page.

use super::document::{self, Link};
use super::{DOCS, is_foreign, normal};
use crate::workspace::Workspace;
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Words that pages are made of: their links are those of the pages.
const PAGES: &str = "bench/pages";
/// The site's contents.
const CONTENTS: &str = "docs/SUMMARY.md";
/// The index of the pages in these folders, which must name each.
const INDEX: &str = "docs/README.md";
const INDEXED: [&str; 3] = ["docs/tutorials", "docs/how-to", "docs/reference"];

/// Texts by their paths from the root.
type Documents = BTreeMap<PathBuf, String>;

/// Fails, naming each link that leads nowhere and each page that is not named.
pub(crate) fn check() -> anyhow::Result<()> {
    let root = Workspace::own()?.workspace_root;
    let mut documents = Documents::new();
    read(&root, &root, &mut documents)?;
    let mut wrong = Vec::new();
    let mut followed = 0;
    for (path, text) in &documents {
        let links = document::links(text).into_iter().filter(|link| !is_foreign(&link.target));
        for link in links {
            followed += 1;
            if let Some(fault) = fault(&root, &documents, path, &link) {
                wrong.push(format!("{}:{}: {}: {fault}", path.display(), link.line, link.target));
            }
        }
    }
    wrong.extend(unnamed(&documents, CONTENTS, &[DOCS])?);
    wrong.extend(unnamed(&documents, INDEX, &INDEXED)?);
    if !wrong.is_empty() {
        bail!("links and contents:\n  {}", wrong.join("\n  "));
    }
    println!("links: {followed} in {} documents lead somewhere", documents.len());
    Ok(())
}

/// Reads the Markdown in a folder and those below it.
fn read(root: &Path, folder: &Path, documents: &mut Documents) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let path = entry?.path();
        let from_root = path.strip_prefix(root)?.to_owned();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            // Built things, and what git and editors keep.
            let is_ours = !name.starts_with('.') || name == ".github";
            if is_ours && name != "target" && from_root != Path::new(PAGES) {
                read(root, &path, documents)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            documents.insert(from_root, text);
        }
    }
    Ok(())
}

/// What is wrong with a link of the document at `path`.
fn fault(root: &Path, documents: &Documents, path: &Path, link: &Link) -> Option<&'static str> {
    if !link.is_inline {
        return Some("write it as [text](target)");
    }
    let (file, heading) = link.parts();
    let target = if file.is_empty() {
        path.to_owned()
    } else {
        let folder = path.parent().unwrap_or(Path::new(""));
        let Some(target) = normal(&folder.join(file)) else {
            return Some("leads out of the repository");
        };
        target
    };
    if !root.join(&target).exists() {
        return Some("there is no such file");
    }
    let heading = heading?;
    let is_there = documents
        .get(&target)
        .is_some_and(|text| document::headings(text).iter().any(|name| name == heading));
    (!is_there).then_some("there is no such heading")
}

/// The pages in `folders` and below that `index` does not name.
fn unnamed(documents: &Documents, index: &str, folders: &[&str]) -> anyhow::Result<Vec<String>> {
    let index = Path::new(index);
    let text = documents.get(index).with_context(|| format!("no {}", index.display()))?;
    let links = document::links(text);
    let folder = index.parent().context("an index lies in a folder")?;
    let named: Vec<PathBuf> =
        links.iter().filter_map(|link| normal(&folder.join(link.parts().0))).collect();
    let pages = documents
        .keys()
        .filter(|path| *path != index && folders.iter().any(|folder| path.starts_with(folder)));
    let missing = pages.filter(|path| !named.contains(path) && *path != Path::new(CONTENTS));
    Ok(missing
        .map(|path| format!("{} does not name {}", index.display(), path.display()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents() -> Documents {
        let page = |path: &str, text: &str| (PathBuf::from(path), text.to_owned());
        [
            page("docs/SUMMARY.md", "- [One](one.md)\n"),
            page("docs/one.md", "# One\n\n## Why\n"),
            page("docs/two.md", "# Two\n"),
        ]
        .into()
    }

    fn fault_of(text: &str) -> Option<&'static str> {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir(root.path().join("docs")).expect("a folder");
        for (path, text) in documents() {
            fs::write(root.path().join(path), text).expect("a page");
        }
        let links = document::links(text);
        fault(root.path(), &documents(), Path::new("docs/two.md"), &links[0])
    }

    #[test]
    fn a_link_must_lead_to_a_file_and_a_heading() {
        assert_eq!(fault_of("[a](one.md)"), None);
        assert_eq!(fault_of("[a](../docs/one.md#why)"), None);
        assert_eq!(fault_of("[a](one.md#whence)"), Some("there is no such heading"));
        assert_eq!(fault_of("![a](one.svg)"), Some("there is no such file"));
        assert_eq!(fault_of("[a](../../one.md)"), Some("leads out of the repository"));
        assert_eq!(fault_of("[a][1]\n\n[1]: one.md\n"), Some("write it as [text](target)"));
    }

    #[test]
    fn a_page_that_the_contents_lack_is_named() {
        let missing = unnamed(&documents(), CONTENTS, &[DOCS]).expect("an index");
        assert_eq!(missing, ["docs/SUMMARY.md does not name docs/two.md"]);
    }
}
