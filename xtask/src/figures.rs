//! Makes the pages of `docs/measured/`, their plots, docs/papers.md and the figures of README.md.
//! The results of benches and labs (`bench/results/*.json`) give the figures, `bench/pages/*.md`
//! the words. No figure is typed by hand: with `--check` the files must be what this makes.

mod markdown;
mod plot;
mod rules;
mod sources;
mod template;

use crate::workspace::Workspace;
use anyhow::{Context, bail};
use sources::Sources;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the pages.
const PAGES: &str = "docs/measured";
/// The page that lies above them.
const ABOVE: &str = "papers.md";
/// What says which part of README.md is made, and where it ends.
const BEGIN: &str = "<!-- figures: made by `cargo xtask figures` from bench/pages/README.md -->\n";
const END: &str = "<!-- end of figures -->\n";

/// Files by their paths from the root.
type Made = BTreeMap<PathBuf, Vec<u8>>;

/// Makes all files, or with `check` compares them.
pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    let root = Workspace::own()?.workspace_root;
    let made = make(&root)?;
    if check {
        compare(&root, &made)?;
        println!("figures: {} files are what the results say", made.len());
        return Ok(());
    }
    for (path, bytes) in &made {
        let path = root.join(path);
        let folder = path.parent().context("a page has a folder")?;
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    for stray in strays(&root, &made)? {
        println!("figures: {} has no words in bench/pages: delete it", stray.display());
    }
    println!("figures: {} files made", made.len());
    Ok(())
}

/// The pages, their plots, and README.md with its part replaced.
fn make(root: &Path) -> anyhow::Result<Made> {
    let sources = Sources::read(root)?;
    let (mut made, mut shown) = (Made::new(), BTreeSet::new());
    for (name, words) in &sources.pages {
        let at = || format!("bench/pages/{name}");
        rules::no_typed_figure(words).with_context(at)?;
        let page = template::expand(words, &sources).with_context(at)?;
        rules::short_cells(&page.text).with_context(at)?;
        shown.extend(page.shown);
        if name == "README.md" {
            made.insert("README.md".into(), readme(root, &page.text)?.into_bytes());
            continue;
        }
        let folder = if name == ABOVE { "docs" } else { PAGES };
        made.insert(Path::new(folder).join(name), page.text.into_bytes());
        for (plot, svg) in page.plots {
            made.insert(Path::new(PAGES).join(plot), svg.into_bytes());
        }
    }
    let missing: Vec<&String> = sources.names().filter(|name| !shown.contains(*name)).collect();
    if !missing.is_empty() {
        bail!("tables that stand on no page; add them in bench/pages: {missing:?}");
    }
    Ok(made)
}

/// README.md with its figures replaced.
fn readme(root: &Path, figures: &str) -> anyhow::Result<String> {
    let path = root.join("README.md");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let (before, after) =
        parts.with_context(|| format!("README.md lacks {} or {}", BEGIN.trim(), END.trim()))?;
    Ok(format!("{before}{BEGIN}\n{}\n\n{END}{after}", figures.trim()))
}

/// Fails if a file is not what was made, naming the first line that differs, or if the folder holds
/// another file.
fn compare(root: &Path, made: &Made) -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    for (path, bytes) in made {
        match fs::read(root.join(path)) {
            Ok(there) if there == *bytes => {}
            Ok(there) => wrong.push(first_difference(path, &there, bytes)),
            Err(error) => wrong.push(format!("{}: {error}", path.display())),
        }
    }
    let strays = strays(root, made)?;
    wrong.extend(strays.iter().map(|path| format!("{}: made of no words", path.display())));
    if !wrong.is_empty() {
        let wrong = wrong.join("\n  ");
        bail!("not what bench/results and bench/pages say; run cargo xtask figures:\n  {wrong}");
    }
    Ok(())
}

fn first_difference(path: &Path, there: &[u8], made: &[u8]) -> String {
    let (there, made) = (String::from_utf8_lossy(there), String::from_utf8_lossy(made));
    let same = there.lines().zip(made.lines()).take_while(|(there, made)| there == made).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(its end)").to_owned();
    let (there, made) = (line(&there), line(&made));
    format!("{}:{}: {there:?} should be {made:?}", path.display(), same + 1)
}

/// Files in the folder of the pages that were not made.
fn strays(root: &Path, made: &Made) -> anyhow::Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(root.join(PAGES)) else { return Ok(Vec::new()) };
    let names = entries.map(|entry| Ok(Path::new(PAGES).join(entry?.file_name())));
    let mut strays = names.collect::<anyhow::Result<Vec<PathBuf>>>()?;
    strays.retain(|path| !made.contains_key(path));
    strays.sort();
    Ok(strays)
}

#[cfg(test)]
mod tests;
