//! Table 4: the lines that a program changes to use the library. The paper's numbers beside those
//! of our examples in C and Fortran, and of a real program.

use seekless::report::table;
use serde::Serialize;
use std::path::Path;
use std::process::Command;

/// The paper's numbers: lines of the application's own sources, changed and in all.
const PAPER: [(&str, u64, u64); 6] = [
    ("grep", 560, 1930),
    ("wc", 140, 530),
    ("find", 70, 1600),
    ("gmc", 93, 1500),
    ("fimhisto", 49, 645),
    ("fimgbin", 45, 870),
];

/// One program that adopts SLEDs.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) application: String,
    modified: u64,
    total: u64,
}

impl Row {
    /// Reads a line of the scripts of the bindings.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let (application, modified, total) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Row {
            application: application.to_owned(),
            modified: modified.parse().ok()?,
            total: total.parse().ok()?,
        })
    }

    fn cells(&self, what: &str) -> Vec<String> {
        let name = format!("{}, {what}", self.application);
        vec![name, "ours".to_owned(), self.modified.to_string(), self.total.to_string()]
    }
}

/// Our numbers, counted by the script of the bindings; empty where it is missing.
pub(super) fn rows() -> Vec<Row> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/c/adopting.sh");
    let said =
        Command::new("bash").arg(script).output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).lines().filter_map(Row::parse).collect()
}

pub(super) fn words(rows: &[Row], real: Option<&Row>) -> String {
    let paper = PAPER.iter().map(|&(name, modified, total)| {
        vec![name.to_owned(), "the paper".to_owned(), modified.to_string(), total.to_string()]
    });
    let real = real.map(|row| row.cells("changed by a script of bindings/c"));
    let ours = rows.iter().map(|row| row.cells("an example in bindings/c"));
    let header = ["application", "whose", "lines modified", "of"];
    format!(
        "Lines that a program changes to adopt SLEDs (Table 4)\n\n{}",
        table(&header, real.into_iter().chain(ours).chain(paper).collect()),
    )
}
