//! Encodes sorted rows as Parquet: cuts them into row groups and pages, and numbers files by first
//! appearance.

use super::chunk::Finished;
use super::load_group::LoadGroup;
use super::loads::Loads;
use super::row_group::{ROW_GROUP_ROWS, RowGroup};
use crate::checksum::{MAKER, Summed};
use crate::error::{Error, Result};
use crate::names::Names;
use crate::{Access, FileId, Metadata, schema};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use seekless_sys::output::Output;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A Parquet file being written, with numbers for its files.
pub(super) struct Encoder {
    parquet: SerializedFileWriter<Summed>,
    path: PathBuf,
    rows: u64,
    /// The caller's number → this file's.
    numbers: Vec<Option<FileId>>,
    /// This file's number → the caller's.
    order: Vec<FileId>,
    /// The row group that is being encoded, once there are rows.
    group: Option<Box<RowGroup>>,
    /// The row group of loads, once there are loads.
    loads: Option<Box<LoadGroup>>,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder")
            .field("path", &self.path)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl Encoder {
    pub(super) fn create(out: Output, lifetimes: bool) -> Result<Self> {
        let path = out.path().to_owned();
        let properties = Arc::new(properties(lifetimes));
        let parquet = schema::schema(lifetimes)
            .and_then(|schema| SerializedFileWriter::new(Summed::new(out), schema, properties))
            .map_err(|error| failed(&path, error))?;
        Ok(Encoder {
            parquet,
            path,
            rows: 0,
            numbers: Vec::new(),
            order: Vec::new(),
            group: None,
            loads: None,
        })
    }

    /// Whether the file has the lifetimes of objects.
    pub(super) fn has_lifetimes(&self) -> bool {
        schema::has_lifetimes(self.parquet.schema_descr().columns())
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn files(&self) -> u64 {
        self.order.len() as u64
    }

    /// Adds rows. They are sorted, and not older than the rows already written. Their files have
    /// the caller's numbers.
    pub(super) fn write(&mut self, mut rows: &[Access], names: &Names) -> Result<()> {
        self.end_load_group()?;
        self.numbers.resize(names.len().max(self.numbers.len()), None);
        while !rows.is_empty() {
            let group = match &mut self.group {
                Some(group) => group,
                None => {
                    let group = RowGroup::new(self.parquet.schema_descr());
                    let group = group.map_err(|error| failed(&self.path, error))?;
                    self.group.insert(Box::new(group))
                }
            };
            let (page, rest) = rows.split_at(group.room().min(rows.len()));
            let (numbers, order) = (&mut self.numbers, &mut self.order);
            let number = |file: FileId| {
                *numbers[file as usize].get_or_insert_with(|| {
                    order.push(file);
                    order.len() as FileId - 1
                })
            };
            group.add(page, number);
            self.rows += page.len() as u64;
            if group.room() == 0 {
                let name = |file: FileId| names.get(self.order[file as usize]);
                group.end_page(name).map_err(|error| failed(&self.path, error))?;
                if group.is_full() {
                    self.end_group(names)?;
                }
            }
            rows = rest;
        }
        Ok(())
    }

    /// Adds loads, and does `work` meanwhile. They are sorted, and not older than the rows already
    /// written, which were loads too.
    pub(super) fn write_loads<T>(&mut self, loads: &Loads, work: impl FnOnce() -> T) -> Result<T> {
        let known = self.order.len() as FileId;
        let files = loads.files.iter().map(|&file| file + 1).max().unwrap_or(0).max(known);
        self.order.extend(known..files);
        self.numbers.extend((known..files).map(Some));
        let mut start = 0;
        while let Some(room) = self.full_at(loads.len() - start) {
            self.add_loads(loads, start..start + room, || ())?;
            self.end_load_group()?;
            start += room;
        }
        self.add_loads(loads, start..loads.len(), work)
    }

    /// How many of `more` loads fill their row group, if they do.
    fn full_at(&self, more: usize) -> Option<usize> {
        let room = ROW_GROUP_ROWS - self.loads.as_ref().map_or(0, |loads| loads.rows());
        (more >= room).then_some(room)
    }

    fn add_loads<T>(
        &mut self,
        loads: &Loads,
        part: Range<usize>,
        work: impl FnOnce() -> T,
    ) -> Result<T> {
        let wrong = |error| failed(&self.path, error);
        let group = match &mut self.loads {
            Some(group) => group,
            None => {
                let group = LoadGroup::new(self.parquet.schema_descr()).map_err(wrong)?;
                self.loads.insert(Box::new(group))
            }
        };
        self.rows += part.len() as u64;
        group.add(loads, part, work).map_err(wrong)
    }

    /// Writes the row group of loads, if it has rows.
    fn end_load_group(&mut self) -> Result<()> {
        let Some(loads) = self.loads.as_mut().filter(|loads| loads.rows() > 0) else {
            return Ok(());
        };
        let columns = loads.finish();
        self.append(columns)
    }

    /// Writes the row group, if it has rows.
    fn end_group(&mut self, names: &Names) -> Result<()> {
        let Some(group) = self.group.as_mut().filter(|group| group.rows() > 0) else {
            return Ok(());
        };
        let name = |file: FileId| names.get(self.order[file as usize]);
        let columns = group.end_page(name).and_then(|()| group.finish());
        self.append(columns)
    }

    fn append(&mut self, columns: parquet::errors::Result<Vec<Finished>>) -> Result<()> {
        let write = || {
            let mut group = self.parquet.next_row_group()?;
            for Finished { bytes, close } in columns? {
                group.append_column(&bytes, close)?;
            }
            group.close().map(drop)
        };
        write().map_err(|error| failed(&self.path, error))
    }

    /// Writes the metadata and the footer. Also returns the file's numbers → the caller's.
    pub(super) fn finish_ordered(
        mut self,
        metadata: &Metadata,
        names: &Names,
    ) -> Result<(Output, Vec<FileId>)> {
        let path = self.path.clone();
        let unwritten = |error| Error::io(&path, "could not be written", error);
        self.end_load_group()?;
        self.end_group(names)?;
        self.parquet.flush().map_err(unwritten)?;
        if metadata.keeps_arguments() {
            self.parquet.inner().output().make_private().map_err(unwritten)?; // before it has them
        }
        let sums = self.parquet.inner_mut().end_blocks();
        for (key, value) in metadata.to_pairs().into_iter().chain(sums) {
            self.parquet.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        let out = self.parquet.into_inner().map_err(|error| failed(&self.path, error))?;
        Ok((out.finish().map_err(unwritten)?, self.order))
    }

    pub(super) fn finish(self, metadata: &Metadata, names: &Names) -> Result<Output> {
        Ok(self.finish_ordered(metadata, names)?.0)
    }
}

fn properties(lifetimes: bool) -> WriterProperties {
    // Arrow's schema has the columns that every trace has.
    let arrow = || KeyValue::new(schema::ARROW_KEY.to_owned(), schema::ARROW_SCHEMA.to_owned());
    let by_run_and_time = [0, 1].map(|column_idx| SortingColumn {
        column_idx,
        descending: false,
        nulls_first: false,
    });
    WriterProperties::builder()
        .set_created_by(format!("{MAKER}{}", env!("CARGO_PKG_VERSION")))
        .set_sorting_columns(Some(by_run_and_time.to_vec()))
        .set_key_value_metadata(Some(if lifetimes { Vec::new() } else { vec![arrow()] }))
        .build()
}

fn failed(path: &Path, error: parquet::errors::ParquetError) -> Error {
    Error::new(crate::ErrorKind::Io, path, "could not be written").because(error)
}
