//! The documents as a site: made by mdBook from `docs/` (docs/book.toml), then every link of the
//! pages that were made is followed, and nothing in them may be loaded from another machine.

mod book;
mod document;
mod html;
mod sources;

pub(crate) use book::{run as book, supports};
pub(crate) use sources::check as links;

use crate::workspace::Workspace;
use anyhow::{Context, bail};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// The folder of the pages, from the root.
const DOCS: &str = "docs";

/// Declarations of the API in other languages: the file, from the root, and its place on the site.
const APIS: [(&str, &str); 4] = [
    ("bindings/c/store/include/seekless_store.h", "api/seekless_store.h"),
    ("bindings/c/include/seekless_sleds.h", "api/seekless_sleds.h"),
    ("bindings/c/include/seekless_sleds.f90", "api/seekless_sleds.f90"),
    ("bindings/python/python/seekless/_seekless.pyi", "api/_seekless.pyi"),
];

/// Makes the site in a folder and checks it. Without mdBook it says so and does nothing.
pub(crate) fn make(folder: &Path) -> anyhow::Result<()> {
    let root = Workspace::own()?.workspace_root;
    let folder = std::path::absolute(folder)?;
    // scripts/setup.sh puts it there where the distribution has none.
    let own = root.join("target/mdbook/bin/mdbook");
    let mdbook = if own.exists() { own } else { "mdbook".into() };
    if Command::new(&mdbook).arg("--version").output().is_err() {
        println!("skipped: the site: mdbook is missing (cargo install mdbook --locked)");
        return Ok(());
    }
    let output = Command::new(&mdbook)
        .args(["build", "--dest-dir"])
        .arg(&folder)
        .arg(root.join(DOCS))
        .current_dir(root.join(DOCS))
        .output()
        .context("cannot start mdbook")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("mdbook failed:\n{said}");
    }
    if said.contains("WARN") {
        bail!("mdbook warns:\n{said}");
    }
    fs::create_dir_all(folder.join("api"))?;
    for (file, place) in APIS {
        fs::copy(root.join(file), folder.join(place)).context(file)?;
    }
    let pages = html::check(&folder)?;
    println!("site: {pages} pages in {}", folder.display());
    Ok(())
}

/// A path without `.` and `..`; `None` if it leads out of where it begins.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if !plain.pop() => return None,
            Component::Normal(name) => plain.push(name),
            _ => {}
        }
    }
    Some(plain)
}

/// Whether a link leads to another machine or program.
fn is_foreign(link: &str) -> bool {
    link.contains("://") || link.starts_with("mailto:")
}
