//! Follows the links of pages in HTML: to files of the site and to places in them. All that a page
//! loads must be of the site, so that it can be read without a network.

use super::{is_foreign, normal};
use anyhow::{Context, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What a page holds.
#[derive(Debug, Default, PartialEq)]
struct Page {
    /// Where its `href` and `src` lead.
    links: Vec<String>,
    /// Names of places.
    places: BTreeSet<String>,
    /// What it loads from other machines.
    foreign: Vec<String>,
}

/// Returns the number of pages. Fails, naming each link that leads nowhere.
pub(super) fn check(folder: &Path) -> anyhow::Result<usize> {
    let mut pages = BTreeMap::new();
    read(folder, folder, &mut pages)?;
    let mut wrong = Vec::new();
    for (path, page) in &pages {
        let lost = page.links.iter().filter(|link| !leads(folder, &pages, path, link));
        wrong.extend(lost.map(|link| format!("{}: {link} leads nowhere", path.display())));
        let foreign = page.foreign.iter();
        wrong.extend(foreign.map(|link| format!("{}: loads {link}", path.display())));
    }
    if pages.is_empty() {
        bail!("{} has no page", folder.display());
    }
    if !wrong.is_empty() {
        bail!("the site:\n  {}", wrong.join("\n  "));
    }
    Ok(pages.len())
}

fn read(root: &Path, folder: &Path, pages: &mut BTreeMap<PathBuf, Page>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            read(root, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            pages.insert(path.strip_prefix(root)?.to_owned(), page(&text));
        }
    }
    Ok(())
}

/// Whether a link of the page at `path` leads to a file, and to a place in it.
fn leads(root: &Path, pages: &BTreeMap<PathBuf, Page>, path: &Path, link: &str) -> bool {
    let (file, place) = link.split_once('#').unwrap_or((link, ""));
    let folder = path.parent().unwrap_or(Path::new(""));
    let target = if file.is_empty() { Some(path.to_owned()) } else { normal(&folder.join(file)) };
    let Some(target) = target else { return false };
    match place {
        "" => root.join(&target).exists(),
        place => pages.get(&target).is_some_and(|page| page.places.contains(place)),
    }
}

/// Reads the tags of a page: a tag ends at the next `>`, as mdBook escapes it within values.
fn page(text: &str) -> Page {
    let mut page = Page::default();
    for tag in text.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or_default();
        if tag.starts_with(['/', '!']) {
            continue;
        }
        page.places.extend(value(tag, "id").map(str::to_owned));
        // What a page loads is all that it names, but for where a reader may go.
        let loads = !tag.starts_with("a ");
        let links = [value(tag, "href"), value(tag, "src")];
        for link in links.into_iter().flatten().filter(|link| !link.starts_with("data:")) {
            match is_foreign(link) {
                false => page.links.push(link.to_owned()),
                true if loads => page.foreign.push(link.to_owned()),
                true => {}
            }
        }
    }
    page
}

/// The value of an attribute in double quotes.
fn value<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    Some(rest.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_what_it_links_and_what_it_loads() {
        let found = page(
            "<h1 id=\"why\"><a class=\"x\" href=\"two.html#a\">t</a></h1>\
             <a href=\"https://example.org\">w</a><script src=\"https://example.org/x.js\">",
        );
        assert_eq!(found.links, ["two.html#a"]);
        assert_eq!(found.foreign, ["https://example.org/x.js"]);
        assert!(found.places.contains("why"));
    }

    #[test]
    fn what_leads_nowhere_fails() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).expect("a page");
        };
        write("one.html", "<a href=\"two.html#here\">t</a>");
        write("two.html", "<p id=\"here\">t</p><a href=\"#here\">t</a>");
        assert_eq!(check(folder.path()).expect("a whole site"), 2);
        write("two.html", "<p id=\"there\">t</p><a href=\"three.html\">t</a>");
        let said = check(folder.path()).expect_err("two lost links").to_string();
        assert!(said.contains("one.html: two.html#here leads nowhere"), "{said}");
        assert!(said.contains("two.html: three.html leads nowhere"), "{said}");
    }
}
