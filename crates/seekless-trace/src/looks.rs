//! The names that a start looks up: those of files that it opens or asks about, whether they are
//! there or not, and the folders on the way to them. Of a cold file system each costs a block of
//! inodes or of a folder's names.

use crate::error::Result;
use crate::{Access, Batch, Columns, FileId, Op, Trace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// ENOENT.
const NO_ENTRY: i32 = 2;

/// A name that a run looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The absolute path, escaped as a trace's are.
    pub name: String,
    /// What it is.
    pub kind: LookKind,
    /// Its inode; `None` if there is no such file.
    pub inode: Option<u64>,
    /// The bytes of a folder's list of names.
    pub bytes: Option<u64>,
}

/// What is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LookKind {
    /// A name, of a file or of nothing.
    Name,
    /// A folder in which others are looked up.
    Folder,
    /// A folder that is listed whole.
    Listed,
}

impl LookKind {
    /// The kind of row that stands for it in a profile.
    fn op(self) -> Op {
        match self {
            LookKind::Name => Op::Stat,
            LookKind::Folder => Op::Open,
            LookKind::Listed => Op::List,
        }
    }

    fn of(op: Op) -> Option<Self> {
        [LookKind::Name, LookKind::Folder, LookKind::Listed].into_iter().find(|it| it.op() == op)
    }
}

impl Look {
    /// The row of a profile.
    pub(crate) fn row(&self, run: u32, time_ns: u64, file: FileId) -> Access {
        Access {
            run,
            time_ns,
            file_bytes: self.bytes,
            inode: self.inode,
            error: self.inode.is_none().then_some(NO_ENTRY),
            ..Access::new(self.kind.op(), file)
        }
    }

    /// Those of a profile, in their order.
    pub(crate) fn of_profile(trace: &Trace) -> Result<Vec<Self>> {
        let names = trace.file_names()?;
        let mut looks = Vec::new();
        let columns = Columns::OP | Columns::FILE | Columns::FILE_BYTES | Columns::INODE;
        for batch in trace.scan(columns)? {
            let batch = batch?;
            for row in 0..batch.rows() {
                if let Some(kind) = LookKind::of(batch.op()[row]) {
                    looks.push(Self {
                        name: names[batch.file()[row] as usize].clone(),
                        kind,
                        inode: batch.inode().get(row),
                        bytes: batch.file_bytes().get(row),
                    });
                }
            }
        }
        Ok(looks)
    }
}

/// The names that the newest run of a trace looked up, each once, in the order of the first look;
/// and which of them it listed.
///
/// # Errors
/// The trace cannot be read.
pub fn looked_up(trace: &Trace) -> Result<Vec<(String, bool)>> {
    let names = trace.file_names()?;
    let mut order: Vec<FileId> = Vec::new();
    let mut is_listed: Vec<Option<bool>> = vec![None; names.len()];
    let mut newest = 0;
    for batch in trace.scan(Columns::RUN | Columns::OP | Columns::FILE)? {
        let batch: &Batch = &batch?;
        for row in 0..batch.rows() {
            let (file, run) = (batch.file()[row], batch.run()[row]);
            if run > newest {
                newest = run;
                order.clear();
                is_listed.fill(None);
            }
            let op = batch.op()[row];
            if matches!(op, Op::Open | Op::Stat | Op::List | Op::Fault) {
                let known = &mut is_listed[file as usize];
                if known.is_none() {
                    order.push(file);
                }
                *known = Some(known.unwrap_or(false) || op == Op::List);
            }
        }
    }
    let named =
        |file: FileId| (names[file as usize].clone(), is_listed[file as usize].unwrap_or(false));
    Ok(order.into_iter().map(named).collect())
}

/// The folders in which the newest run of a trace wrote to files, escaped as in the trace, sorted.
///
/// # Errors
/// The trace cannot be read.
pub fn written_in(trace: &Trace) -> Result<Vec<String>> {
    let names = trace.file_names()?;
    let (mut newest, mut folders) = (0, BTreeSet::new());
    for batch in trace.scan(Columns::RUN | Columns::OP | Columns::FILE)? {
        let batch: &Batch = &batch?;
        for row in 0..batch.rows() {
            if batch.run()[row] > newest {
                newest = batch.run()[row];
                folders.clear();
            }
            let name = &names[batch.file()[row] as usize];
            if batch.op()[row] == Op::Write
                && name.starts_with('/')
                && let Some((folder, _)) = name.rsplit_once('/')
            {
                folders.insert(folder);
            }
        }
    }
    Ok(folders.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metadata, Writer};

    #[test]
    fn each_name_of_the_newest_run_is_looked_up_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.parquet");
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        let [old, folder_id, gone, read] =
            ["/old", "/folder", "/gone", "/read"].map(|name| writer.file(name));
        let rows = [
            (0, Op::Open, old),
            (1, Op::Open, folder_id),
            (1, Op::Stat, gone),
            (1, Op::List, folder_id),
            (1, Op::Read, read),
            (1, Op::Stat, gone),
        ];
        for (time_ns, (run, op, file)) in (0..).zip(rows) {
            writer.push(Access { run, time_ns, ..Access::new(op, file) }).unwrap();
        }
        writer.finish().unwrap();
        let found = looked_up(&Trace::open(&path).unwrap()).unwrap();
        assert_eq!(found, [("/folder".to_owned(), true), ("/gone".to_owned(), false)]);
    }

    #[test]
    fn the_folders_in_which_the_newest_run_wrote_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.parquet");
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        let names = ["/old/a", "/e/b", "/e/c", "/d/a", "pipe:[1]", "/read/a"];
        let files = names.map(|name| writer.file(name));
        let ops = [Op::Write, Op::Write, Op::Write, Op::Write, Op::Write, Op::Read];
        for ((time_ns, file), op) in (0..).zip(files).zip(ops) {
            let run = u32::from(time_ns > 0);
            writer.push(Access { run, time_ns, ..Access::new(op, file) }).unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(written_in(&Trace::open(&path).unwrap()).unwrap(), ["/d", "/e"]);
    }
}
