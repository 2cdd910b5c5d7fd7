//! The Rust files of the workspace.

use crate::workspace::Workspace;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// A file of a crate.
pub(super) struct Source {
    /// The crate's name.
    pub(super) package: String,
    /// From the workspace's root.
    pub(super) path: String,
    /// The module's path in its crate, such as `cache/paged`; empty for `lib.rs`. `None` outside
    /// of `src`.
    pub(super) module: Option<String>,
    pub(super) text: String,
}

impl Source {
    /// Whether it holds tests alone.
    pub(super) fn is_test(&self) -> bool {
        let module = self.module.as_deref().unwrap_or("tests");
        module.split('/').any(|name| name == "tests")
    }

    /// The text in front of the tests of the file.
    pub(super) fn without_tests(&self) -> &str {
        match self.text.find("#[cfg(test)]\nmod ") {
            Some(start) => &self.text[..start],
            None => &self.text,
        }
    }
}

/// All files below the folders of the workspace's crates, by path.
pub(super) fn read(root: &Path) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for package in Workspace::own()?.packages {
        let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
        let mut files = Vec::new();
        list(folder, &mut files)?;
        for file in files {
            let text = fs::read_to_string(&file)
                .with_context(|| format!("cannot read {}", file.display()))?;
            let path = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            let module = file.strip_prefix(folder.join("src")).ok().map(module_of);
            sources.push(Source { package: package.name.clone(), path, module, text });
        }
    }
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    sources.dedup_by(|one, other| one.path == other.path);
    Ok(sources)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                list(&path, files)?;
            }
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn module_of(below_src: &Path) -> String {
    let path = below_src.with_extension("").display().to_string();
    match path.as_str() {
        "lib" | "main" => String::new(),
        _ => path.strip_suffix("/mod").unwrap_or(&path).to_owned(),
    }
}
