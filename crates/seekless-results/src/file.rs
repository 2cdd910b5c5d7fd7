//! The file of a bench's results.

use crate::Table;
use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;

/// The form of the file. A reader refuses others.
const SCHEMA: u32 = 1;

/// All tables of one bench or lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    schema: u32,
    /// The bench's name; a lab's begins with `lab-`.
    pub bench: String,
    /// Its tables, by their order of first appearance.
    pub tables: Vec<Table>,
}

impl Results {
    /// Those of a bench, without tables.
    #[must_use]
    pub fn new(bench: &str) -> Self {
        Self { schema: SCHEMA, bench: bench.to_owned(), tables: Vec::new() }
    }

    /// Reads a file and checks it.
    ///
    /// # Errors
    /// It cannot be read, is no such file, or contradicts itself.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let text = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
        let results: Self = serde_json::from_slice(&text)
            .with_context(|| format!("{shown}: no file of results; write it anew with --save"))?;
        results.check().with_context(|| shown.to_string())?;
        Ok(results)
    }

    /// Takes over tables of a later run. One of a known name replaces the older one.
    pub fn take(&mut self, tables: Vec<Table>) {
        for table in tables {
            match self.tables.iter_mut().find(|older| older.id == table.id) {
                Some(older) => *older = table,
                None => self.tables.push(table),
            }
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The tables contradict themselves, or the file cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        self.check()?;
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    fn check(&self) -> anyhow::Result<()> {
        let (known, schema) = (SCHEMA, self.schema);
        ensure!(schema == known, "results of form {schema}; this program reads form {known}");
        let mut seen = HashSet::new();
        for table in &self.tables {
            table.check()?;
            ensure!(seen.insert(&table.id), "two tables are called {}", table.id);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Better, Contender, Figure};

    fn table(id: &str, value: f64) -> Table {
        Table::new(id, "T", "case", "s", Better::Lower)
            .contenders([Contender::ours("ours")])
            .row("one", [Figure::exact(value)])
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bench.json");
        let mut results = Results::new("bench");
        results.take(vec![table("a", 1.5), table("b", 2.0)]);
        results.take(vec![table("a", 3.25)]);
        assert_eq!(results.tables.len(), 2);
        results.write(&path).unwrap();
        assert_eq!(Results::read(&path).unwrap(), results);
        assert_eq!(results.tables[0].rows[0].figures[0], Some(Figure::exact(3.25)));
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bench.json");
        let mut results = Results::new("bench");
        results.tables = vec![table("a", 1.0), table("a", 2.0)];
        assert!(results.write(&path).unwrap_err().to_string().contains("two tables"));
        std::fs::write(&path, "{\"schema\":2,\"bench\":\"b\",\"tables\":[]}").unwrap();
        assert!(format!("{:#}", Results::read(&path).unwrap_err()).contains("form 2"));
        std::fs::write(&path, "[]").unwrap();
        assert!(format!("{:#}", Results::read(&path).unwrap_err()).contains("bench.json"));
    }
}
