//! What pages are made of: the tables of all results, and the words around them.

use anyhow::{Context, ensure};
use seekless_results::{Results, Table};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const RESULTS: &str = "bench/results";
const PAGES: &str = "bench/pages";

/// Tables by `bench/id`, and the words of each page by its file's name.
pub(super) struct Sources {
    tables: BTreeMap<String, Table>,
    pub(super) pages: BTreeMap<String, String>,
}

impl Sources {
    pub(super) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut tables = BTreeMap::new();
        for path in files(&root.join(RESULTS), "json")? {
            let results = Results::read(&path)?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            ensure!(stem == results.bench, "{}: results of {}", path.display(), results.bench);
            for table in results.tables {
                tables.insert(format!("{}/{}", results.bench, table.id), table);
            }
        }
        let mut pages = BTreeMap::new();
        for path in files(&root.join(PAGES), "md")? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let words = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            pages.insert(name, words);
        }
        Ok(Self { tables, pages })
    }

    /// The names of all tables.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.tables.keys()
    }

    /// The table of this name.
    pub(super) fn table(&self, name: &str) -> anyhow::Result<&Table> {
        let table = self.tables.get(name);
        table.with_context(|| format!("{RESULTS} holds no table {name}"))
    }
}

/// The files of a folder whose names end so, sorted.
fn files(folder: &Path, ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths =
        entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    paths.sort();
    Ok(paths)
}
