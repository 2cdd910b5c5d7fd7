//! Reads libCacheSim's binary formats, oracleGeneral and lcs: records of one length, each a request
//! for an object. They are read in large pieces and decoded without a copy, since a simulator
//! spends as long on a record's way into memory as on its simulation.

use crate::Kind;
use crate::compressed::{self, Input};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::foreign::{LCS_HEADER_BYTES, LCS_MAGIC, ORACLE_RECORD_BYTES};
use crate::import::{self, Format, Sample, Select};
use std::path::{Path, PathBuf};

/// Records are read in pieces of about this many bytes, which stay in the second-level cache. They
/// are larger than a buffered reader's buffer, so that nothing is copied twice.
const PIECE_BYTES: usize = 64 << 10;
/// Time, object and size of a record, in the wider of their two forms.
const FIELDS_BYTES: usize = 20;
/// Bytes of a record of each version of lcs, from 1.
const LCS_RECORD_BYTES: [usize; 8] = [24, 28, 36, 40, 44, 52, 68, 100];

/// A request for an object. What else a record holds (its next access, operation, tenant, lifetime
/// and features) is not kept: a simulator computes the first, and counts each record as a read, as
/// libCacheSim does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The time in seconds, from a start that the format does not give.
    pub seconds: u32,
    /// The number of the object.
    pub object: u64,
    /// The size of the object in bytes.
    pub bytes: u64,
}

/// What stands where a record will be.
pub(crate) const NO_RECORD: Record = Record { seconds: 0, object: 0, bytes: 0 };

/// The length of a record, and whether its size is an i64 instead of a u32.
#[derive(Clone, Copy, Debug)]
struct Layout {
    bytes: usize,
    wide: bool,
}

impl Layout {
    #[inline]
    fn record(self, bytes: &[u8]) -> Option<Record> {
        let fields: &[u8; FIELDS_BYTES] = bytes.first_chunk()?;
        let (seconds, rest) = fields.split_first_chunk()?;
        let (object, rest) = rest.split_first_chunk()?;
        let (small, _) = rest.split_first_chunk()?;
        let wide = rest.first_chunk()?;
        Some(Record {
            seconds: u32::from_le_bytes(*seconds),
            object: u64::from_le_bytes(*object),
            bytes: if self.wide {
                u64::from_le_bytes(*wide)
            } else {
                u64::from(u32::from_le_bytes(*small))
            },
        })
    }
}

/// The records of a file, in order.
pub struct Records {
    input: Input,
    path: PathBuf,
    layout: Layout,
    piece: Vec<u8>,
    /// How many bytes of content come before the next piece.
    at: u64,
    /// Which records are used, if not all are.
    chosen: Option<Chosen>,
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records")
            .field("path", &self.path)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

/// Which records are used.
struct Chosen {
    /// How many may still be read.
    left: u64,
    sample: Option<Sample>,
    not_sampled: u64,
}

/// Some thousand records that follow each other.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

impl<'a> Piece<'a> {
    /// How many records it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.layout.bytes
    }

    /// Whether it has no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Its records, in order.
    pub fn records(self) -> impl ExactSizeIterator<Item = Record> + use<'a> {
        let layout = self.layout;
        let record = move |bytes| layout.record(bytes).unwrap_or(NO_RECORD); // each has its bytes
        self.bytes.chunks_exact(layout.bytes).map(record)
    }
}

impl Records {
    /// Opens a file of records: oracleGeneral or lcs, plain or compressed. `None` if it has another
    /// format. If `options` name no format, the content and the ending of its name decide.
    ///
    /// # Errors
    /// The file cannot be read, or the header of lcs is damaged or of an unknown version. A pipe
    /// holds no records, though `options` name no format: what was read of it is lost.
    pub fn open(path: &Path, options: &import::Options) -> Result<Option<Self>> {
        let is_other = options.format.is_some_and(|format| !format.is_records());
        if is_other || !(import::is_file(path) || is_pipe(path)) {
            return Ok(None);
        }
        let mut input = compressed::open(path)?;
        let format = match options.format {
            Some(format) => format,
            None => Format::detect(path, &mut input)?,
        };
        if format.is_records() {
            return Self::of(input, path, format, &options.select).map(Some);
        }
        if is_pipe(path) {
            let message = "is a pipe, and does not begin with records of oracleGeneral or lcs; \
                           name its format with --format";
            return Err(Error::new(ErrorKind::NotATrace, path, message));
        }
        Ok(None)
    }

    /// The records of an open file.
    pub(crate) fn of(
        mut input: Input,
        path: &Path,
        format: Format,
        select: &Select,
    ) -> Result<Self> {
        select.check(format, Kind::Ids, path)?;
        let (layout, at) = match format {
            Format::Lcs => (lcs(&mut input, path)?, LCS_HEADER_BYTES as u64),
            _ => (Layout { bytes: ORACLE_RECORD_BYTES, wide: false }, 0),
        };
        let piece = vec![0; PIECE_BYTES / layout.bytes * layout.bytes];
        let chosen = (!select.is_all()).then(|| Chosen {
            left: select.limit.unwrap_or(u64::MAX),
            sample: select.sample,
            not_sampled: 0,
        });
        Ok(Records { input, path: path.to_owned(), layout, piece, at, chosen })
    }

    /// The next records; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read further, is damaged, or ends within a record.
    pub fn next_piece(&mut self) -> Result<Option<Piece<'_>>> {
        if self.chosen.is_some() {
            return self.next_chosen();
        }
        let filled = self.fill()?;
        let piece = Piece { bytes: &self.piece[..filled], layout: self.layout };
        Ok((filled > 0).then_some(piece))
    }

    /// The next records that are used; some pieces may have none.
    fn next_chosen(&mut self) -> Result<Option<Piece<'_>>> {
        if self.chosen.as_ref().is_none_or(|chosen| chosen.left == 0) {
            return Ok(None);
        }
        let filled = self.fill()?;
        if filled == 0 {
            return Ok(None);
        }
        let Some(chosen) = &mut self.chosen else { return Ok(None) };
        let length = self.layout.bytes;
        let mut kept = 0;
        for start in (0..filled).step_by(length) {
            if chosen.left == 0 {
                break;
            }
            chosen.left -= 1;
            let record = self.layout.record(&self.piece[start..start + length]);
            let object = record.unwrap_or(NO_RECORD).object;
            if chosen.sample.is_none_or(|sample| sample.keeps_number(object)) {
                self.piece.copy_within(start..start + length, kept);
                kept += length;
            } else {
                chosen.not_sampled += 1;
            }
        }
        Ok(Some(Piece { bytes: &self.piece[..kept], layout: self.layout }))
    }

    /// How many records were left out by the sample so far.
    #[must_use]
    pub fn not_sampled(&self) -> u64 {
        self.chosen.as_ref().map_or(0, |chosen| chosen.not_sampled)
    }

    /// Reads the next piece. Returns its bytes.
    fn fill(&mut self) -> Result<usize> {
        let start = self.at;
        let filled = self.input.fill(&self.path, &mut self.piece, start)?;
        self.at += filled as u64;
        let rest = filled % self.layout.bytes;
        if rest > 0 {
            let message = format!(
                "ends within a record of {} bytes: it is cut short, or not in this format; name its format with --format",
                self.layout.bytes
            );
            return Err(Error::corrupt(&self.path, message).at(Place::Byte(self.at - rest as u64)));
        }
        let piece = Piece { bytes: &self.piece[..filled], layout: self.layout };
        self.check_sizes(piece, start)?;
        Ok(filled)
    }

    /// Refuses a negative size.
    fn check_sizes(&self, piece: Piece<'_>, start: u64) -> Result<()> {
        let wrong = |record: Record| record.bytes > i64::MAX as u64;
        if !self.layout.wide {
            return Ok(());
        }
        let Some(at) = piece.records().position(wrong) else { return Ok(()) };
        let place = Place::Byte(start + (at * self.layout.bytes) as u64);
        let message = "has a negative size; the file is damaged, or of another version of lcs";
        Err(Error::corrupt(&self.path, message).at(place))
    }

    /// How many bytes of the file itself have been read.
    #[must_use]
    pub fn consumed(&self) -> u64 {
        self.input.consumed()
    }

    /// The name of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether this is a pipe or a device, whose content cannot be read again.
#[must_use]
pub fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Reads the header of lcs.
fn lcs(input: &mut Input, path: &Path) -> Result<Layout> {
    let mut header = vec![0; LCS_HEADER_BYTES];
    let filled = input.fill(path, &mut header, 0)?;
    let end = LCS_HEADER_BYTES - LCS_MAGIC.len();
    if filled < LCS_HEADER_BYTES || header[..8] != LCS_MAGIC || header[end..] != LCS_MAGIC {
        let message = format!("does not begin with the {LCS_HEADER_BYTES} bytes of header of lcs");
        return Err(Error::corrupt(path, message).at(Place::Byte(0)));
    }
    let version = header[8..16].iter().rev().fold(0_u64, |all, &byte| all << 8 | u64::from(byte));
    let found = usize::try_from(version).ok().and_then(|version| version.checked_sub(1));
    let Some(&bytes) = found.and_then(|at| LCS_RECORD_BYTES.get(at)) else {
        let message = format!(
            "is version {version} of lcs, expected 1 to {}; libCacheSim's traceConv writes these",
            LCS_RECORD_BYTES.len()
        );
        return Err(Error::corrupt(path, message).at(Place::Byte(8)));
    };
    Ok(Layout { bytes, wide: version >= 3 })
}
