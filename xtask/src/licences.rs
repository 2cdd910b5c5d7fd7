//! Checks the licences of the packages that Seekless is built with, and collects the notices of
//! those that are linked into what is shipped.
//!
//! Security advisories need a database from the network: see `cargo deny check` and deny.toml.

use crate::workspace::{Package, Workspace};
use anyhow::{Context, bail};
use spdx::{Expression, LicenseReq};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Licences that require only a notice. deny.toml lists the same ones.
const ALLOWED: [&str; 9] = [
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
    "bzip2-1.0.6",
];

/// The crates whose programs and libraries are shipped.
const SHIPPED: [&str; 4] = ["seekless-cli", "seekless-c", "seekless-store-c", "seekless-python"];

/// Fails if the licence of a package is missing, cannot be parsed or is not allowed. Names each.
pub(crate) fn check() -> anyhow::Result<()> {
    let workspace = Workspace::whole()?;
    let foreign = || workspace.packages.iter().filter(|package| package.source.is_some());
    let wrong: Vec<String> = foreign().filter_map(refused).collect();
    if !wrong.is_empty() {
        bail!("licences that are not allowed:\n  {}", wrong.join("\n  "));
    }
    println!("licences: {} packages, each allowed", foreign().count());
    Ok(())
}

/// Why a package may not be used; `None` if it may.
fn refused(package: &Package) -> Option<String> {
    let named = format!("{} {}", package.name, package.version);
    let Some(license) = &package.license else { return Some(format!("{named} has no licence")) };
    // Old manifests write a slash instead of OR.
    match Expression::parse(&license.replace('/', " OR ")) {
        Err(error) => Some(format!("{named}: {license}: {}", error.reason)),
        Ok(expression) if expression.evaluate(allowed) => None,
        Ok(_) => Some(format!("{named}: {license}")),
    }
}

fn allowed(license: &LicenseReq) -> bool {
    license.license.id().is_some_and(|id| ALLOWED.contains(&id.name))
}

/// Writes the notices of every package that is linked into what is shipped. Equal texts appear
/// once.
pub(crate) fn write_notices(path: &Path) -> anyhow::Result<()> {
    let workspace = Workspace::whole()?;
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut out = String::from("Seekless is built with these packages:\n\n");
    for package in linked(&workspace)? {
        let license = package.license.as_deref().unwrap_or("");
        let home = package.repository.as_deref().unwrap_or("");
        writeln!(out, "{} {}  {license}  {home}", package.name, package.version)?;
        for text in license_texts(package)? {
            texts.entry(text).or_default().push(package.name.clone());
        }
    }
    for (text, names) in texts {
        write!(out, "\n\n---- {} ----\n\n{}\n", names.join(", "), text.trim_end())?;
    }
    fs::write(path, out).with_context(|| format!("cannot write {}", path.display()))
}

/// The packages that are linked into what is shipped, by name.
pub(crate) fn linked(workspace: &Workspace) -> anyhow::Result<Vec<&Package>> {
    let graph = workspace.resolve.as_ref().context("cargo metadata told no graph")?;
    let imports: HashMap<&str, Vec<&str>> = graph
        .nodes
        .iter()
        .map(|node| {
            let linked = node
                .deps
                .iter()
                .filter(|edge| edge.dep_kinds.iter().any(|kind| kind.kind.is_none()));
            (node.id.as_str(), linked.map(|edge| edge.pkg.as_str()).collect())
        })
        .collect();
    let shipped =
        workspace.packages.iter().filter(|package| SHIPPED.contains(&package.name.as_str()));
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&str> = shipped.map(|package| package.id.as_str()).collect();
    while let Some(id) = waiting.pop() {
        if reached.insert(id) {
            waiting.extend(imports.get(id).into_iter().flatten());
        }
    }
    let mut found: Vec<_> = workspace
        .packages
        .iter()
        .filter(|package| package.source.is_some() && reached.contains(package.id.as_str()))
        .collect();
    found.sort_by_key(|package| (&package.name, &package.version));
    Ok(found)
}

/// The texts of files named LICENSE, COPYING or NOTICE in a package, at any depth: a font and a C
/// library that a package carries have their own.
fn license_texts(package: &Package) -> anyhow::Result<Vec<String>> {
    let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
    let mut paths = Vec::new();
    collect_licenses(folder, &mut paths)?;
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(String::from_utf8_lossy(&text).replace("\r\n", "\n"))
    };
    let texts: anyhow::Result<Vec<String>> = paths.iter().map(read).collect();
    Ok(texts?.into_iter().filter(|text| !is_gnu(text)).collect())
}

fn collect_licenses(folder: &Path, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            collect_licenses(&path, found)?;
        } else if kind.is_file() && is_license(&path) {
            found.push(path);
        }
    }
    Ok(())
}

fn is_license(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    let is_program = [".RS", ".SH"].iter().any(|end| name.ends_with(end));
    let starts = ["LICENSE", "LICENCE", "COPYING", "NOTICE"];
    !is_program && starts.iter().any(|start| name.starts_with(start))
}

/// Whether a text is a licence of GNU itself. zstd offers it beside BSD, and in xz it is for
/// programs that are not built here: what is shipped is under neither.
fn is_gnu(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    first.contains("GNU") && first.contains("GENERAL PUBLIC LICENSE")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(license: Option<&str>) -> Package {
        package_at(Path::new("x/Cargo.toml"), license)
    }

    fn package_at(manifest: &Path, license: Option<&str>) -> Package {
        serde_json::from_value(serde_json::json!({
            "id": "x", "name": "x", "version": "1.0.0", "source": "registry", "license": license,
            "repository": null, "manifest_path": manifest, "dependencies": [],
            "publish": null
        }))
        .expect("a package")
    }

    #[test]
    fn what_a_package_carries_keeps_its_own_licence() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write("LICENSE-MIT", "the package's");
        write("assets/font/LICENSE", "the font's\r\nowners");
        write("assets/font/README", "no licence");
        write("src/license.rs", "code");
        write("zstd/COPYING", "\n                    GNU GENERAL PUBLIC LICENSE\nVersion 2");
        let texts = license_texts(&package_at(&folder.path().join("Cargo.toml"), Some("MIT")));
        assert_eq!(texts.expect("the texts"), ["the package's", "the font's\nowners"]);
    }

    /// Pictures are drawn with DejaVu, whose package is under another licence than its fonts.
    #[test]
    fn the_font_of_pictures_is_shipped_with_its_licence() {
        let notices = tempfile::NamedTempFile::new().expect("a file");
        write_notices(notices.path()).expect("the notices");
        let text = fs::read_to_string(notices.path()).expect("the notices");
        assert!(text.contains("Bitstream Vera Fonts Copyright"), "the font's licence is missing");
        assert!(!text.contains("GNU GENERAL PUBLIC LICENSE\n"), "a licence that nothing is under");
    }

    #[test]
    fn a_licence_is_allowed_as_a_whole_expression() {
        for license in
            ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"]
        {
            assert_eq!(refused(&package(Some(license))), None, "{license}");
        }
        for license in [Some("GPL-3.0-only"), Some("MIT AND GPL-3.0-only"), Some("homemade"), None]
        {
            assert!(refused(&package(license)).is_some(), "{license:?}");
        }
    }
}
