//! A preprocessor of mdBook. A page whose line is `{{#include FILE}}` gets the text of the file,
//! with its links made those of the page: so README.md and its like have one text, whose links work
//! in the repository and on the site. A link to a file that is not on the site becomes its text.

use super::document::{self, Link};
use super::{APIS, DOCS, is_foreign, normal};
use crate::workspace::Workspace;
use anyhow::{Context, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Pages, from `docs/`, by the files whose text they show, from the root.
type Places = BTreeMap<PathBuf, PathBuf>;

/// Answers mdBook's question which output this is for.
pub(crate) fn supports(renderer: &str) -> anyhow::Result<()> {
    if renderer != "html" {
        bail!("only html, not {renderer}");
    }
    Ok(())
}

/// Reads a book from the standard input, and prints it with its pages changed.
pub(crate) fn run() -> anyhow::Result<()> {
    let root = Workspace::own()?.workspace_root;
    let input: [Value; 2] =
        serde_json::from_reader(io::stdin().lock()).context("not what mdBook gives")?;
    let [_, mut book] = input;
    let apis = APIS.map(|(file, place)| (PathBuf::from(file), PathBuf::from(place)));
    let mut places = Places::from(apis);
    each_page(&mut book, &mut |page, text| {
        places.insert(Path::new(DOCS).join(page), page.to_owned());
        for line in text.lines() {
            if let Some(file) = included(page, line)? {
                places.insert(file, page.to_owned());
            }
        }
        Ok(())
    })?;
    each_page(&mut book, &mut |page, text| {
        *text = shown(&root, &places, page, text)?;
        Ok(())
    })?;
    println!("{book}");
    Ok(())
}

/// Calls `act` with the path, from `docs/`, and the text of each page.
fn each_page(
    value: &mut Value,
    act: &mut impl FnMut(&Path, &mut String) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    match value {
        Value::Array(values) => values.iter_mut().try_for_each(|value| each_page(value, act)),
        Value::Object(fields) => {
            let path = fields.get("path").and_then(Value::as_str).map(PathBuf::from);
            if let (Some(path), Some(Value::String(text))) = (path, fields.get_mut("content")) {
                act(&path, text).with_context(|| path.display().to_string())?;
            }
            fields.values_mut().try_for_each(|value| each_page(value, act))
        }
        _ => Ok(()),
    }
}

/// The file, from the root, that a line of a page includes.
fn included(page: &Path, line: &str) -> anyhow::Result<Option<PathBuf>> {
    let inner = line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
    let Some(file) = inner else { return Ok(None) };
    let file = resolved(&Path::new(DOCS).join(page), file);
    file.with_context(|| format!("{line} leads out of the repository")).map(Some)
}

/// What `link` names in the document at `path`, from the root.
fn resolved(path: &Path, link: &str) -> Option<PathBuf> {
    normal(&path.parent().unwrap_or(Path::new("")).join(link))
}

/// The text of a page as the site shows it.
fn shown(root: &Path, places: &Places, page: &Path, text: &str) -> anyhow::Result<String> {
    let mut whole = String::new();
    let mut own = String::new();
    for line in text.lines() {
        match included(page, line)? {
            Some(file) => {
                let text = fs::read_to_string(root.join(&file))
                    .with_context(|| file.display().to_string())?;
                whole += &linked(places, page, &file, &text)?;
            }
            None => own += &format!("{line}\n"),
        }
    }
    if whole.is_empty() {
        return linked(places, page, &Path::new(DOCS).join(page), &own);
    }
    if !own.lines().all(|line| line.is_empty() || line.starts_with("<!--")) {
        bail!("a page that includes a file holds no other text");
    }
    Ok(whole)
}

/// The text of `file` with its links made those of `page`.
fn linked(places: &Places, page: &Path, file: &Path, text: &str) -> anyhow::Result<String> {
    let mut text = text.to_owned();
    // From the end, so that the places of those before stay right.
    for link in document::links(&text).iter().rev() {
        if is_foreign(&link.target) || link.parts().0.is_empty() {
            continue;
        }
        let made = replacement(places, page, file, link, &text[link.whole.clone()])?;
        text.replace_range(link.whole.clone(), &made);
    }
    Ok(text)
}

/// What stands on `page` for a link of `file` that is written as `whole`.
fn replacement(
    places: &Places,
    page: &Path,
    file: &Path,
    link: &Link,
    whole: &str,
) -> anyhow::Result<String> {
    let (name, heading) = link.parts();
    let at = || format!("{}:{}: {}", file.display(), link.line, link.target);
    let target = resolved(file, name).with_context(at)?;
    // A picture within the link's text has a target of its own, before this one.
    let (words, _) = whole.rsplit_once("](").with_context(at)?;
    let place = places.get(&target).cloned();
    let is_shown = target.extension().is_some_and(|extension| extension != "md");
    let copied = || target.strip_prefix(DOCS).ok().filter(|_| is_shown).map(Path::to_owned);
    match place.or_else(copied) {
        Some(place) => {
            let heading = heading.map(|heading| format!("#{heading}")).unwrap_or_default();
            Ok(format!("{words}]({}{heading})", relative(page, &place)))
        }
        None if link.is_picture => bail!("{}: a picture outside of {DOCS}/", at()),
        None => Ok(words.trim_start_matches('[').to_owned()),
    }
}

/// The way from one page to another file of the site.
fn relative(page: &Path, target: &Path) -> String {
    let up = page.components().count() - 1;
    format!("{}{}", "../".repeat(up), target.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn places() -> Places {
        let place = |file: &str, page: &str| (PathBuf::from(file), PathBuf::from(page));
        [
            place("README.md", "index.md"),
            place("docs/how-to/run.md", "how-to/run.md"),
            place("SECURITY.md", "project/security.md"),
        ]
        .into()
    }

    fn on(page: &str, file: &str, text: &str) -> String {
        linked(&places(), Path::new(page), Path::new(file), text).expect("a page")
    }

    #[test]
    fn links_of_an_included_file_are_those_of_its_page() {
        let text = "[run](docs/how-to/run.md#why), ![p](docs/p.svg), [S](SECURITY.md)";
        assert_eq!(
            on("index.md", "README.md", text),
            "[run](how-to/run.md#why), ![p](p.svg), [S](project/security.md)"
        );
        let text = "[read](README.md) [on](#on) [web](https://example.org)";
        assert_eq!(
            on("project/security.md", "SECURITY.md", text),
            "[read](../index.md) [on](#on) [web](https://example.org)"
        );
    }

    #[test]
    fn a_link_to_what_is_not_on_the_site_is_its_text() {
        let text = "a copy of [`examples/`](../../examples), `[a](b)`";
        assert_eq!(
            on("how-to/run.md", "docs/how-to/run.md", text),
            "a copy of `examples/`, `[a](b)`"
        );
    }

    #[test]
    fn an_included_file_is_the_whole_page() {
        let root = tempfile::tempdir().expect("a folder");
        fs::write(root.path().join("README.md"), "# Name\n[S](SECURITY.md)\n").expect("a file");
        let of = |text| shown(root.path(), &places(), Path::new("index.md"), text);
        let page = of("<!-- note -->\n\n{{#include ../README.md}}\n").expect("a page");
        assert_eq!(page, "# Name\n[S](project/security.md)\n");
        assert!(of("more\n{{#include ../README.md}}\n").is_err());
        assert!(of("{{#include ../../README.md}}\n").is_err());
    }

    #[test]
    fn pages_are_found_at_every_level() {
        let page = |path: &str| json!({"Chapter": {"path": path, "content": "x", "sub_items": []}});
        let mut book = page("a.md");
        book["Chapter"]["sub_items"] = json!([page("b.md"), "Separator"]);
        let mut found = Vec::new();
        let all = each_page(&mut book, &mut |path, _| {
            found.push(path.display().to_string());
            Ok(())
        });
        all.expect("pages");
        assert_eq!(found, ["a.md", "b.md"]);
    }
}
