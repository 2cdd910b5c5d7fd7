//! A row group of loads. Most of its columns hold one value in all rows. `file` and `path` have the
//! same keys, and `bytes` and `file_bytes` the same values, so each pair is encoded once.

mod numbers;

use super::bits;
use super::chunk::{Chunk, Finished, Squeezer};
use super::loads::Loads;
use super::name_columns::NameColumns;
use super::times::TimeColumn;
use crate::{Op, schema};
use numbers::SizeColumns;
use parquet::basic::Encoding;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::statistics::Statistics;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};
use std::ops::Range;

/// Rows of a page.
const PAGE_ROWS: usize = 1 << 15;

/// The row group of loads that is being encoded.
pub(super) struct LoadGroup {
    schema: Vec<ColumnDescPtr>,
    /// The run of each row, in runs of (run, rows).
    runs: Vec<(u32, usize)>,
    rows: usize,
    names: NameColumns,
    sizes: SizeColumns,
    times: TimeColumn,
    /// One for each thread: of the names, and of the numbers.
    squeezers: [Squeezer; 2],
}

impl LoadGroup {
    /// An empty group of a file of this schema.
    pub(super) fn new(schema: &SchemaDescriptor) -> Result<Self> {
        let schema = schema.columns().to_vec();
        let column = |name| column(&schema, name);
        Ok(Self {
            runs: Vec::new(),
            rows: 0,
            names: NameColumns::new(column(schema::FILE), column(schema::PATH)),
            sizes: SizeColumns::new(column(schema::BYTES), column(schema::FILE_BYTES))?,
            times: TimeColumn::new(column(schema::TIME_NS)),
            squeezers: [Squeezer::new()?, Squeezer::new()?],
            schema,
        })
    }

    /// How many rows it has.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a part of the loads on two threads, and does `work` meanwhile.
    pub(super) fn add<T>(
        &mut self,
        loads: &Loads,
        part: Range<usize>,
        work: impl FnOnce() -> T,
    ) -> Result<T> {
        self.rows += part.len();
        for run in loads.runs[part.clone()].chunk_by(|one, other| one == other) {
            self.runs.push((run[0], run.len()));
        }
        let Self { names, sizes, times, squeezers: [of_names, of_numbers], .. } = self;
        let (keys, numbers, done) = std::thread::scope(|scope| {
            let keys = scope.spawn(|| {
                pages(&part).try_for_each(|page| {
                    let ids = &loads.ids[page.clone()];
                    names.page(&loads.files[page], |at, text| digits(ids[at], text), of_names)
                })
            });
            let numbers = scope.spawn(|| {
                pages(&part).try_for_each(|page| {
                    times.page(&loads.times[page.clone()], of_numbers)?;
                    sizes.page(&loads.bytes[page])
                })
            });
            let done = work();
            (keys.join(), numbers.join(), done)
        });
        for encoded in [keys, numbers] {
            encoded.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(done)
    }

    /// Ends the group, and returns its columns in the order of the schema. The next rows begin
    /// another.
    pub(super) fn finish(&mut self) -> Result<Vec<Finished>> {
        let Self { names, sizes, times, squeezers: [of_names, _], .. } = self;
        let (names, time_ns, sizes) = std::thread::scope(|scope| {
            let names = scope.spawn(|| names.finish(of_names));
            let (time_ns, sizes) = (times.finish(), sizes.finish());
            (names.join(), time_ns, sizes)
        });
        let [file, path] = names.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let (time_ns, [bytes, file_bytes]) = (time_ns?, sizes?);
        let zero = || Constant::U32(0);
        let mut finished = vec![
            self.run()?,
            time_ns,
            self.constant(schema::PID, zero())?,
            self.constant(schema::TID, zero())?,
            self.constant(schema::OP, Constant::Text(Op::Load.as_str()))?,
            file,
            path,
            self.constant(schema::OFFSET, Constant::I64(0))?,
            bytes,
            self.null(schema::LATENCY_NS)?,
            self.null(schema::ERROR)?,
            file_bytes,
            self.null(schema::DEVICE)?,
            self.null(schema::INODE)?,
        ];
        if schema::has_lifetimes(&self.schema) {
            finished.push(self.null(schema::TTL_NS)?);
        }
        (self.rows, self.runs) = (0, Vec::new());
        Ok(finished)
    }

    /// Runs number from 0 and come in order.
    fn run(&mut self) -> Result<Finished> {
        let mut numbers: Vec<u32> = self.runs.iter().map(|&(run, _)| run).collect();
        numbers.dedup();
        let key = |&(run, rows): &(u32, usize)| {
            (numbers.partition_point(|&number| number < run) as u32, rows)
        };
        let keys: Vec<(u32, usize)> = self.runs.iter().map(key).collect();
        let plain: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let ends = [numbers.first(), numbers.last()].map(|number| number.map(|&of| of as i32));
        let statistics = Statistics::int32(ends[0], ends[1], None, Some(0), false);
        self.keyed(schema::RUN, &keys, (&plain, numbers.len()), statistics)
    }

    fn constant(&mut self, name: &str, value: Constant) -> Result<Finished> {
        let statistics = value.statistics();
        self.keyed(name, &[(0, self.rows)], (&value.plain(), 1), statistics)
    }

    /// A column of one page, of keys in runs; `dictionary` are its values and their number.
    fn keyed(
        &mut self,
        name: &str,
        keys: &[(u32, usize)],
        dictionary: (&[u8], usize),
        statistics: Statistics,
    ) -> Result<Finished> {
        let mut chunk = Chunk::new(column(&self.schema, name));
        let mut body = Vec::new();
        bits::runs(keys, &mut body);
        chunk.page(self.rows, Encoding::RLE_DICTIONARY, &self.squeezers[1].squeeze(&body)?)?;
        let values = self.squeezers[1].squeeze(dictionary.0)?;
        chunk.finish(Some((&values, dictionary.1)), statistics)
    }

    /// A column without a value.
    fn null(&mut self, name: &str) -> Result<Finished> {
        let column = column(&self.schema, name);
        let nulls = Some(self.rows as u64);
        let statistics = match column.physical_type() {
            parquet::basic::Type::INT32 => Statistics::int32(None, None, None, nulls, false),
            _ => Statistics::int64(None, None, None, nulls, false),
        };
        let mut chunk = Chunk::new(column);
        let mut body = Vec::new();
        chunk.levels(self.rows, false, &mut body);
        chunk.page(self.rows, Encoding::PLAIN, &self.squeezers[1].squeeze(&body)?)?;
        chunk.finish(None, statistics)
    }
}

/// The value of all rows of a column.
enum Constant {
    U32(u32),
    I64(i64),
    Text(&'static str),
}

impl Constant {
    fn plain(&self) -> Vec<u8> {
        match self {
            Self::U32(value) => value.to_le_bytes().to_vec(),
            Self::I64(value) => value.to_le_bytes().to_vec(),
            Self::Text(value) => {
                let mut plain = (value.len() as u32).to_le_bytes().to_vec();
                plain.extend_from_slice(value.as_bytes());
                plain
            }
        }
    }

    fn statistics(&self) -> Statistics {
        match *self {
            Self::U32(value) => {
                let value = Some(value as i32);
                Statistics::int32(value, value, None, Some(0), false)
            }
            Self::I64(value) => Statistics::int64(Some(value), Some(value), None, Some(0), false),
            Self::Text(value) => {
                let value = || Some(ByteArray::from(value));
                Statistics::byte_array(value(), value(), None, Some(0), false)
            }
        }
    }
}

pub(super) fn column(schema: &[ColumnDescPtr], name: &str) -> ColumnDescPtr {
    let found = schema.iter().find(|column| column.name() == name);
    found.expect("the writer's own schema has the column").clone()
}

/// Appends an id as text.
fn digits(id: u64, text: &mut Vec<u8>) {
    text.extend_from_slice(itoa::Buffer::new().format(id).as_bytes());
}

/// Divides rows into those of pages.
fn pages(rows: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
    let end = rows.end;
    rows.clone().step_by(PAGE_ROWS).map(move |start| start..end.min(start + PAGE_ROWS))
}

#[cfg(test)]
mod tests;
