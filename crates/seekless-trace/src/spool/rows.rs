//! The rows of a frame: the names of files that occur for the first time, then the columns one
//! after another, in the order of the fields of [`Access`]. Numbers are little-endian.
//!
//! ```text
//! rows (u32) | names (u32) | each name: length (u32), bytes | run | time_ns | ... | inode
//! ```
//!
//! A column whose values may be unknown begins with a byte: 0 if no value is known, 1 if all are,
//! 2 if some are; then a bit a row says which, and unknown values are 0.

use crate::{Access, FileId, Op};

/// Some rows, and the names of the files that occur in them for the first time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SpoolBatch {
    pub(super) new_names: Vec<String>,
    pub(super) rows: Vec<Access>,
}

const NONE_KNOWN: u8 = 0;
const ALL_KNOWN: u8 = 1;
const SOME_KNOWN: u8 = 2;

/// Adds the rows, whose files have the numbers `files`, to `out`. `names` are those of new files.
pub(super) fn encode(rows: &[Access], files: &[FileId], names: &[String], out: &mut Vec<u8>) {
    out.extend((rows.len() as u32).to_le_bytes()); // a batch has some thousand rows
    out.extend((names.len() as u32).to_le_bytes());
    for name in names {
        out.extend((name.len() as u32).to_le_bytes()); // a path is far shorter
        out.extend_from_slice(name.as_bytes());
    }
    column(rows, out, |row| row.run.to_le_bytes());
    column(rows, out, |row| row.time_ns.to_le_bytes());
    column(rows, out, |row| row.pid.to_le_bytes());
    column(rows, out, |row| row.tid.to_le_bytes());
    column(rows, out, |row| [row.op as u8]);
    column(files, out, |file| file.to_le_bytes());
    column(rows, out, |row| row.offset.to_le_bytes());
    column(rows, out, |row| row.bytes.to_le_bytes());
    optional(rows, out, |row| row.latency_ns.map(u64::to_le_bytes));
    optional(rows, out, |row| row.error.map(i32::to_le_bytes));
    optional(rows, out, |row| row.file_bytes.map(u64::to_le_bytes));
    optional(rows, out, |row| row.device.map(u64::to_le_bytes));
    optional(rows, out, |row| row.inode.map(u64::to_le_bytes));
}

fn column<T, const N: usize>(rows: &[T], out: &mut Vec<u8>, field: impl Fn(&T) -> [u8; N]) {
    out.extend(rows.iter().flat_map(field));
}

fn optional<const N: usize>(
    rows: &[Access],
    out: &mut Vec<u8>,
    field: impl Fn(&Access) -> Option<[u8; N]>,
) {
    let known = rows.iter().filter(|row| field(row).is_some()).count();
    if known == 0 {
        return out.push(NONE_KNOWN);
    }
    if known == rows.len() {
        out.push(ALL_KNOWN);
    } else {
        out.push(SOME_KNOWN);
        let bit = |bits: u8, (at, row)| bits | u8::from(field(row).is_some()) << at;
        out.extend(rows.chunks(8).map(|rows| rows.iter().enumerate().fold(0, bit)));
    }
    column(rows, out, |row| field(row).unwrap_or([0; N]));
}

/// Decodes the rows of a spool in which `files` files have occurred so far; `None` if they are not
/// as a writer writes them.
pub(super) fn decode(body: &[u8], files: u32) -> Option<SpoolBatch> {
    let mut body = Cursor(body);
    let count = body.number()? as usize;
    let new_names = (0..body.number()?).map(|_| body.name()).collect::<Option<Vec<_>>>()?;
    let files = files.checked_add(u32::try_from(new_names.len()).ok()?)?;
    let runs = body.column(count)?;
    let mut rows = vec![Access::new(Op::Open, 0); count];
    for (row, run) in rows.iter_mut().zip(runs) {
        row.run = u32::from_le_bytes(*run);
    }
    body.fill(&mut rows, |row, time| row.time_ns = u64::from_le_bytes(time))?;
    body.fill(&mut rows, |row, pid| row.pid = u32::from_le_bytes(pid))?;
    body.fill(&mut rows, |row, tid| row.tid = u32::from_le_bytes(tid))?;
    for (row, [op]) in rows.iter_mut().zip(body.column(count)?) {
        row.op = *Op::ALL.get(usize::from(*op))?;
    }
    body.fill(&mut rows, |row, file| row.file = u32::from_le_bytes(file))?;
    if rows.iter().any(|row| row.file >= files) {
        return None; // a file without its name
    }
    body.fill(&mut rows, |row, offset| row.offset = i64::from_le_bytes(offset))?;
    body.fill(&mut rows, |row, bytes| row.bytes = u64::from_le_bytes(bytes))?;
    body.fill_known(&mut rows, |row, latency| row.latency_ns = Some(u64::from_le_bytes(latency)))?;
    body.fill_known(&mut rows, |row, error| row.error = Some(i32::from_le_bytes(error)))?;
    body.fill_known(&mut rows, |row, bytes| row.file_bytes = Some(u64::from_le_bytes(bytes)))?;
    body.fill_known(&mut rows, |row, device| row.device = Some(u64::from_le_bytes(device)))?;
    body.fill_known(&mut rows, |row, inode| row.inode = Some(u64::from_le_bytes(inode)))?;
    body.0.is_empty().then_some(SpoolBatch { new_names, rows })
}

/// The part of a body that is still to be read.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(*self.take(4)?.first_chunk()?))
    }

    fn name(&mut self) -> Option<String> {
        let length = self.number()? as usize;
        Some(str::from_utf8(self.take(length)?).ok()?.to_owned())
    }

    fn column<const N: usize>(&mut self, rows: usize) -> Option<&'a [[u8; N]]> {
        Some(self.take(rows.checked_mul(N)?)?.as_chunks().0)
    }

    /// Gives each row its value of the next column.
    fn fill<const N: usize>(
        &mut self,
        rows: &mut [Access],
        set: impl Fn(&mut Access, [u8; N]),
    ) -> Option<()> {
        let column = self.column(rows.len())?;
        rows.iter_mut().zip(column).for_each(|(row, value)| set(row, *value));
        Some(())
    }

    /// Gives each row its value of the next column, where one is known.
    fn fill_known<const N: usize>(
        &mut self,
        rows: &mut [Access],
        set: impl Fn(&mut Access, [u8; N]),
    ) -> Option<()> {
        let known = match self.take(1)? {
            [NONE_KNOWN] => return Some(()),
            [ALL_KNOWN] => None,
            [SOME_KNOWN] => Some(self.take(rows.len().div_ceil(8))?),
            _ => return None,
        };
        let column = self.column(rows.len())?;
        let is_known = |at: usize| known.is_none_or(|bits| bits[at / 8] >> (at % 8) & 1 == 1);
        for (at, (row, value)) in rows.iter_mut().zip(column).enumerate() {
            if is_known(at) {
                set(row, *value);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> Vec<u8> {
        let row = |at: u64| Access {
            time_ns: at,
            offset: -1,
            error: at.is_multiple_of(3).then_some(-5),
            file_bytes: Some(at),
            ..Access::new(Op::ALL[at as usize % Op::ALL.len()], 0)
        };
        let (rows, mut out) = ((0..21).map(row).collect::<Vec<_>>(), Vec::new());
        let files: Vec<FileId> = (0..21).map(|at| at % 3).collect();
        encode(&rows, &files, &["b".to_owned(), "\u{e9}".to_owned()], &mut out);
        let decoded = decode(&out, 1).unwrap();
        assert_eq!(decoded.new_names, ["b", "\u{e9}"]);
        let numbered = rows.iter().zip(&files).map(|(row, &file)| Access { file, ..*row });
        assert!(decoded.rows.into_iter().eq(numbered));
        out
    }

    /// Sums guard a body; a body that a hostile writer has summed must not do harm either.
    #[test]
    fn no_other_body_panics_or_takes_memory() {
        let whole = body();
        assert_eq!(decode(&whole, 0), None, "a file without its name");
        for length in 0..whole.len() {
            assert_eq!(decode(&whole[..length], 1), None);
        }
        for at in 0..whole.len() {
            for value in [0, 1, 2, 0x7f, 0x80, 0xff] {
                let mut body = whole.clone();
                body[at] = value;
                if let Some(batch) = decode(&body, 1) {
                    assert_eq!(batch.rows.len(), 21);
                }
            }
        }
    }
}
