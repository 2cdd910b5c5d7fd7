//! Makes the I/Os of a trace fit a target: which writes are played, and where I/Os go that the
//! target cannot take as they are. Every change is counted.

use super::{IO_BYTES_MAX, Io};
use crate::{Error, ErrorKind};
use seekless_device::units::{format_bytes, format_count};
use serde::Serialize;

const PAGE_BYTES: u64 = 4096;

/// What becomes of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writes {
    /// They are left out.
    #[default]
    Out,
    /// They are played as reads of the same place.
    AsReads,
    /// They are written. The target must have been named for that.
    Written,
}

/// What becomes of I/Os outside the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remap {
    /// Their offset is taken modulo the target's size.
    Modulo,
}

/// What a target can take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Its name, for messages.
    pub name: String,
    /// The size of each file in bytes.
    pub file_bytes: Vec<u64>,
    /// Offsets and lengths must be multiples of this; 1 if any will do.
    pub alignment: u64,
}

/// How many I/Os were changed, and in what way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Writes that were left out.
    pub writes_left_out: u64,
    /// Writes that are played as reads.
    pub writes_as_reads: u64,
    /// I/Os that were widened to the alignment.
    pub widened: u64,
    /// I/Os over 1 MiB, which were cut.
    pub cut: u64,
    /// I/Os that lay outside the target and were folded into it.
    pub remapped: u64,
}

/// I/Os that the target can take, in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fitted {
    /// The I/Os.
    pub ios: Vec<Io>,
    /// What was changed.
    pub changes: Changes,
}

/// Makes `ios` fit.
///
/// # Errors
/// Some lie outside the target, and no rule says where they go; or the target is too small for the
/// rule.
pub fn fit(
    ios: impl IntoIterator<Item = Io>,
    limits: &Limits,
    writes: Writes,
    remap: Option<Remap>,
) -> Result<Fitted, Error> {
    let mut fitted = Fitted::default();
    let mut outside = Outside::default();
    for mut io in ios {
        let changes = &mut fitted.changes;
        match writes {
            Writes::Out if io.write => {
                changes.writes_left_out += 1;
                continue;
            }
            Writes::AsReads if io.write => {
                changes.writes_as_reads += 1;
                io.write = false;
            }
            _ => {}
        }
        let room = limits.room(&io);
        if align(&mut io, limits.alignment) {
            changes.widened += 1;
        }
        if io.offset.saturating_add(io.bytes) > room {
            outside.note(&io);
            let Some(Remap::Modulo) = remap else { continue };
            fold(&mut io, limits)?;
            changes.remapped += 1;
        }
        if cut(io, &mut fitted.ios) {
            changes.cut += 1;
        }
    }
    match (remap, outside.first) {
        (None, Some(first)) => Err(outside.refused(first, limits)),
        _ => Ok(fitted),
    }
}

impl Limits {
    /// Up to where an I/O may go: a read to the end of the page with the last byte; a write only
    /// as far as it does not make the file longer.
    fn room(&self, io: &Io) -> u64 {
        let bytes = self.file_bytes.get(io.file as usize).copied().unwrap_or(0);
        match io.write {
            false => bytes.next_multiple_of(self.alignment.max(PAGE_BYTES)),
            true => bytes - bytes % self.alignment,
        }
    }

    fn bytes(&self) -> u64 {
        self.file_bytes.iter().sum()
    }
}

/// Widens an I/O to whole blocks; whether it had to.
fn align(io: &mut Io, alignment: u64) -> bool {
    let end = io.offset.saturating_add(io.bytes);
    let start = io.offset - io.offset % alignment;
    let bytes = (end - start).checked_next_multiple_of(alignment).unwrap_or(end - start);
    let widened = (start, bytes) != (io.offset, io.bytes);
    (io.offset, io.bytes) = (start, bytes);
    widened
}

/// Takes the offset modulo the file's size. What would still go past its end is moved back.
fn fold(io: &mut Io, limits: &Limits) -> Result<(), Error> {
    let bytes = limits.file_bytes.get(io.file as usize).copied().unwrap_or(0);
    let room = bytes - bytes % limits.alignment;
    if io.bytes > room {
        let (name, asked, has) = (&limits.name, format_bytes(io.bytes), format_bytes(bytes));
        let message =
            format!("{name} has {has}, too few for an I/O of {asked}: name a larger target");
        return Err(Error::new(ErrorKind::Outside, message));
    }
    io.offset = (io.offset % room).min(room - io.bytes);
    Ok(())
}

/// Adds the I/O, in pieces if it is too long; whether it was.
fn cut(io: Io, ios: &mut Vec<Io>) -> bool {
    let (mut offset, mut left) = (io.offset, io.bytes);
    while left > IO_BYTES_MAX {
        ios.push(Io { offset, bytes: IO_BYTES_MAX, ..io });
        (offset, left) = (offset + IO_BYTES_MAX, left - IO_BYTES_MAX);
    }
    ios.push(Io { offset, bytes: left, ..io });
    io.bytes > IO_BYTES_MAX
}

/// What lies outside.
#[derive(Default)]
struct Outside {
    count: u64,
    first: Option<Io>,
}

impl Outside {
    fn note(&mut self, io: &Io) {
        self.count += 1;
        self.first.get_or_insert(*io);
    }

    fn refused(&self, first: Io, limits: &Limits) -> Error {
        let message = format!(
            "{}: {} I/Os lie outside the target, which has {}; the first is of {} at offset {}: \
             name a larger target, or fold them into it with --remap modulo",
            limits.name,
            format_count(self.count),
            format_bytes(limits.bytes()),
            format_bytes(first.bytes),
            first.offset
        );
        Error::new(ErrorKind::Outside, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(offset: u64, bytes: u64, write: bool) -> Io {
        Io { time_ns: 0, offset, bytes, file: 0, thread: 0, write }
    }

    fn limits(bytes: u64) -> Limits {
        Limits { name: "disk".into(), file_bytes: vec![bytes], alignment: 4096 }
    }

    fn ranges(fitted: &Fitted) -> Vec<(u64, u64)> {
        fitted.ios.iter().map(|io| (io.offset, io.bytes)).collect()
    }

    #[test]
    fn writes_are_left_out_unless_something_else_was_said() {
        let ios = [io(0, 4096, false), io(4096, 4096, true)];
        let with = |writes| fit(ios, &limits(1 << 20), writes, None).unwrap();
        let out = with(Writes::Out);
        assert_eq!((ranges(&out), out.changes.writes_left_out), (vec![(0, 4096)], 1));
        let reads = with(Writes::AsReads);
        assert!(reads.ios.iter().all(|io| !io.write) && reads.changes.writes_as_reads == 1);
        assert!(with(Writes::Written).ios[1].write);
    }

    #[test]
    fn short_ios_are_widened_and_long_ones_cut() {
        let ios = [io(512, 512, false), io(4000, 200, false), io(0, (2 << 20) + 1, false)];
        let fitted = fit(ios, &limits(16 << 20), Writes::Out, None).unwrap();
        let mib = 1 << 20;
        let expected = [(0, 4096), (0, 8192), (0, mib), (mib, mib), (2 * mib, 4096)];
        assert_eq!(ranges(&fitted), expected);
        assert_eq!((fitted.changes.widened, fitted.changes.cut), (3, 1));
        let bytes = Limits { alignment: 1, ..limits(16 << 20) };
        let fitted = fit([io(3, 5, false)], &bytes, Writes::Out, None).unwrap();
        assert_eq!((ranges(&fitted), fitted.changes), (vec![(3, 5)], Changes::default()));
    }

    #[test]
    fn what_lies_outside_is_refused_or_folded() {
        let ios = [io(0, 4096, false), io(20_480, 4096, false), io(12_288, 8192, false)];
        let error = fit(ios, &limits(16_384), Writes::Out, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Outside);
        assert!(error.to_string().contains("2 I/Os lie outside"), "{error}");
        let folded = fit(ios, &limits(16_384), Writes::Out, Some(Remap::Modulo)).unwrap();
        assert_eq!(ranges(&folded), [(0, 4096), (4096, 4096), (8192, 8192)]);
        assert_eq!(folded.changes.remapped, 2);
        let small = fit([io(0, 65_536, false)], &limits(100), Writes::Out, Some(Remap::Modulo));
        assert!(small.unwrap_err().to_string().contains("a larger target"));
        let far = fit([io(u64::MAX - 5, 4, false)], &limits(16_384), Writes::Out, None);
        assert_eq!(far.unwrap_err().kind(), ErrorKind::Outside);
    }

    #[test]
    fn a_read_may_reach_into_the_last_block_and_a_write_may_not() {
        let last = |write| fit([io(8192, 100, write)], &limits(8292), Writes::Written, None);
        assert_eq!(ranges(&last(false).unwrap()), [(8192, 4096)]);
        assert_eq!(last(true).unwrap_err().kind(), ErrorKind::Outside);
    }
}
