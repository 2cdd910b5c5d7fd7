//! Late rows on disk: sorted chunks of fixed-size records, compressed with zstd, in unnamed files
//! beside the output.

use super::merged::{Merged, Rows};
use crate::error::{Error, Result};
use crate::{Access, Op};
use seekless_sys::output::Destination;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

/// How many chunks are kept; then they are merged into one.
const SPILLS_MAX: usize = 64;
const RECORD_BYTES: usize = 86;

/// The chunks spilled so far. Rows of one instant are in the order in which they were pushed.
#[derive(Debug)]
pub(super) struct Spills {
    beside: Destination,
    files: Vec<File>,
}

impl Spills {
    /// The chunks will be beside that output.
    pub(super) fn new(beside: Destination) -> Self {
        Spills { beside, files: Vec::new() }
    }

    /// Sorts `rows` and spills them, leaving `rows` empty.
    pub(super) fn add(&mut self, rows: &mut Vec<Access>) -> Result<()> {
        rows.sort_by_key(Access::key);
        let mut spill = SpillWriter::create(&self.beside)?;
        rows.drain(..).try_for_each(|row| spill.push(&row))?;
        self.files.push(spill.finish()?);
        if self.files.len() >= SPILLS_MAX { self.compact() } else { Ok(()) }
    }

    fn compact(&mut self) -> Result<()> {
        let mut one = SpillWriter::create(&self.beside)?;
        let spills = std::mem::replace(self, Spills::new(self.beside.clone()));
        for row in Merged::new(spills.into_readers()?)? {
            one.push(&row?)?;
        }
        self.files.push(one.finish()?);
        Ok(())
    }

    /// Readers of the chunks, in the order they were spilled.
    pub(super) fn into_readers(self) -> Result<Vec<Rows>> {
        let path = self.beside.path().to_owned();
        self.files
            .into_iter()
            .map(|file| Ok(Box::new(SpillReader::open(file, &path)?) as Box<_>))
            .collect()
    }
}

struct SpillWriter {
    out: zstd::Encoder<'static, BufWriter<File>>,
    path: PathBuf,
}

impl SpillWriter {
    fn create(beside: &Destination) -> Result<Self> {
        let made = beside.scratch();
        let no_room =
            |error| Error::io(beside.path(), "no temporary file could be made for it", error);
        let out = BufWriter::new(made.map_err(no_room)?);
        let out = zstd::Encoder::new(out, 1).map_err(|error| failed(beside.path(), error))?;
        Ok(SpillWriter { out, path: beside.path().to_owned() })
    }

    fn push(&mut self, row: &Access) -> Result<()> {
        self.out.write_all(&encode(row)).map_err(|error| failed(&self.path, error))
    }

    fn finish(self) -> Result<File> {
        let finish = || {
            let mut file =
                self.out.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.rewind()?;
            Ok(file)
        };
        finish().map_err(|error| failed(&self.path, error))
    }
}

struct SpillReader {
    input: zstd::Decoder<'static, BufReader<File>>,
    path: PathBuf,
}

impl SpillReader {
    fn open(file: File, path: &Path) -> Result<Self> {
        let input = zstd::Decoder::new(file).map_err(|error| failed(path, error))?;
        Ok(SpillReader { input, path: path.to_owned() })
    }
}

impl Iterator for SpillReader {
    type Item = Result<Access>;

    fn next(&mut self) -> Option<Result<Access>> {
        let mut record = [0; RECORD_BYTES];
        match self.input.read_exact(&mut record) {
            Ok(()) => Some(Ok(decode(&record))),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(error) => Some(Err(failed(&self.path, error))),
        }
    }
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::io(path, "a temporary file beside it failed", error)
}

fn encode(row: &Access) -> [u8; RECORD_BYTES] {
    let options = [
        row.latency_ns,
        row.error.map(|error| error as u32 as u64),
        row.file_bytes,
        row.device,
        row.inode,
        row.ttl_ns.map(NonZeroU64::get),
    ];
    let known = options
        .iter()
        .enumerate()
        .fold(0, |bits, (at, option)| bits | u8::from(option.is_some()) << at);
    let mut record = [0; RECORD_BYTES];
    let mut rest = &mut record[..];
    let mut put = |bytes: &[u8]| {
        let (head, tail) = std::mem::take(&mut rest).split_at_mut(bytes.len());
        head.copy_from_slice(bytes);
        rest = tail;
    };
    put(&[row.op as u8, known]);
    [row.run, row.pid, row.tid, row.file].iter().for_each(|value| put(&value.to_le_bytes()));
    [row.time_ns, row.offset as u64, row.bytes].iter().for_each(|value| put(&value.to_le_bytes()));
    put(&(options[1].unwrap_or(0) as u32).to_le_bytes());
    [0, 2, 3, 4, 5].iter().for_each(|&at| put(&options[at].unwrap_or(0).to_le_bytes()));
    record
}

fn decode(record: &[u8; RECORD_BYTES]) -> Access {
    let mut rest = &record[2..];
    let mut u32 = || u32::from_le_bytes(take(&mut rest));
    let [run, pid, tid, file] = std::array::from_fn(|_| u32());
    let mut u64 = || u64::from_le_bytes(take(&mut rest));
    let [time_ns, offset, bytes] = std::array::from_fn(|_| u64());
    let error = i32::from_le_bytes(take(&mut rest));
    let known = |at: usize| record[1] & 1 << at != 0;
    let mut u64 = |at| Some(u64::from_le_bytes(take(&mut rest))).filter(|_| known(at));
    Access {
        run,
        time_ns,
        pid,
        tid,
        op: Op::ALL[usize::from(record[0]) % Op::ALL.len()],
        file,
        offset: offset as i64,
        bytes,
        latency_ns: u64(0),
        error: Some(error).filter(|_| known(1)),
        file_bytes: u64(2),
        device: u64(3),
        inode: u64(4),
        ttl_ns: u64(5).and_then(NonZeroU64::new),
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (head, tail) = rest.split_at(N);
    *rest = tail;
    std::array::from_fn(|at| head[at])
}
