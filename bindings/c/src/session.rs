//! One session on a descriptor, from init to finish: a picker, and the rest of a record that did
//! not fit the buffer.

use crate::failure::Failure;
use crate::surveyor::surveyed;
use seekless_read::{FilePicker, Keeper, Records};
use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

/// The size of the buffer for a program that names no size.
const BUFFER_BYTES: u64 = 256 << 10;
/// The largest buffer, unless a record is larger.
const BUFFER_BYTES_MAX: u64 = 1 << 30;
const PAGE_BYTES: u64 = 4096;

/// Data elements of one length in a part of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    origin: u64,
    bytes_each: u64,
    /// How many; `None` for all that fit into the file.
    count: Option<u64>,
}

/// What a program asks for at the start of a session.
#[derive(Debug)]
pub(crate) struct Wanted {
    preferred_bytes: u64,
    records: Records,
    fixed: Option<Elements>,
    /// Whether the program counts in elements.
    in_elements: bool,
}

#[derive(Debug)]
pub(crate) struct Session {
    picker: FilePicker,
    wanted: Wanted,
    buffer_bytes: u64,
    /// The rest of a record that is longer than the buffer.
    rest: Range<u64>,
}

impl Elements {
    /// From C's numbers.
    pub(crate) fn new(origin: i64, bytes_each: i64, count: i64) -> Result<Self, Failure> {
        let origin = u64::try_from(origin).map_err(|_| {
            Failure::argument("origin: lies before the start of the file".to_owned())
        })?;
        let bytes_each = u64::try_from(bytes_each).ok().filter(|&bytes| bytes > 0);
        let bytes_each = bytes_each.ok_or_else(|| {
            Failure::argument("record_bytes, element_bytes: give at least 1".to_owned())
        })?;
        Ok(Elements { origin, bytes_each, count: u64::try_from(count).ok() })
    }

    /// The bytes of that many elements.
    pub(crate) fn bytes(&self, elements: i64) -> Result<u64, Failure> {
        let bytes =
            u64::try_from(elements).ok().and_then(|elements| elements.checked_mul(self.bytes_each));
        bytes.ok_or_else(|| {
            Failure::argument(format!("{elements} elements are more than can be counted in bytes"))
        })
    }

    /// The range of the whole elements in a file of this size.
    fn part(&self, file_bytes: u64) -> Range<u64> {
        let fitting = file_bytes.saturating_sub(self.origin) / self.bytes_each;
        let count = self.count.map_or(fitting, |count| count.min(fitting));
        self.origin..self.origin.saturating_add(count * self.bytes_each)
    }
}

impl Wanted {
    /// All of the file.
    pub(crate) fn records(preferred_bytes: u64, records: Records) -> Self {
        Wanted { preferred_bytes, records, fixed: None, in_elements: false }
    }

    /// Records of one length, counted in bytes.
    pub(crate) fn fixed(preferred_bytes: u64, fixed: Elements) -> Self {
        let records = Records::Fixed { origin: fixed.origin, bytes: fixed.bytes_each };
        Wanted { preferred_bytes, records, fixed: Some(fixed), in_elements: false }
    }

    /// The same, counted in records.
    pub(crate) fn elements(preferred_bytes: u64, fixed: Elements) -> Self {
        Wanted { in_elements: true, ..Self::fixed(preferred_bytes, fixed) }
    }

    /// The size of the buffer to use.
    fn buffer_bytes(&self) -> u64 {
        let preferred = if self.preferred_bytes == 0 { BUFFER_BYTES } else { self.preferred_bytes };
        let preferred = preferred.min(BUFFER_BYTES_MAX);
        match self.fixed {
            Some(fixed) => (preferred / fixed.bytes_each).max(1) * fixed.bytes_each,
            None => preferred.next_multiple_of(PAGE_BYTES),
        }
    }
}

impl Session {
    pub(crate) fn new(file: &File, wanted: Wanted) -> Result<Self, Failure> {
        let about = rustix::fs::fstat(file).map_err(|error| {
            Failure::new(error.raw_os_error(), format!("cannot ask about the file: {error}"))
        })?;
        let part = wanted
            .fixed
            .map_or(0..u64::MAX, |fixed| fixed.part(u64::try_from(about.st_size).unwrap_or(0)));
        let buffer_bytes = wanted.buffer_bytes();
        let new =
            |surveyor: &mut _| FilePicker::new(file, surveyor, part, buffer_bytes, wanted.records);
        let picker = surveyed(new)?;
        Ok(Session { picker, wanted, buffer_bytes, rest: 0..0 })
    }

    pub(crate) fn buffer_bytes(&self) -> u64 {
        self.buffer_bytes
    }

    /// The next range, at most a buffer.
    pub(crate) fn next_read(
        &mut self,
        file: &File,
        buffer_bytes: u64,
        whole_records: bool,
    ) -> Result<Option<Range<u64>>, Failure> {
        if self.wanted.in_elements {
            return Err(Failure::argument(
                "this descriptor counts in elements: call ff_sleds_pick_next_read".to_owned(),
            ));
        }
        self.next_bytes(file, buffer_bytes, whole_records)
    }

    /// The first and the number of the next elements.
    pub(crate) fn next_elements(
        &mut self,
        file: &File,
        buffer_elements: i64,
    ) -> Result<Option<(i64, i64)>, Failure> {
        let unit = self.unit("sleds_pick_next_read")?;
        let buffer_bytes = unit.bytes(buffer_elements)?;
        let range = self.next_bytes(file, buffer_bytes, true)?;
        let number = |bytes: u64| i64::try_from(bytes / unit.bytes_each).unwrap_or(i64::MAX);
        Ok(range.map(|range| (number(range.start - unit.origin), number(range.end - range.start))))
    }

    /// The range of the `elements` from the number `first` on, as far as the session has them, and
    /// the bytes of each.
    pub(crate) fn elements(&self, first: i64, elements: i64) -> Result<(Range<u64>, u64), Failure> {
        let unit = self.unit("sleds_pick_read")?;
        let start = unit.origin.checked_add(unit.bytes(first)?);
        let left = unit.count.map_or(u64::MAX, |count| count.saturating_mul(unit.bytes_each));
        let bytes = unit.bytes(elements)?.min(left.saturating_sub(unit.bytes(first)?));
        let range = start.and_then(|start| Some(start..start.checked_add(bytes)?));
        let range = range.ok_or_else(|| {
            Failure::argument(format!("element {first} lies beyond the largest offset"))
        })?;
        Ok((range, unit.bytes_each))
    }

    /// The keeper through which the file is read.
    pub(crate) fn keeper(&self) -> Arc<Keeper> {
        Arc::clone(self.picker.keeper())
    }

    /// Holds up to `bytes` cached bytes until they are handed out; returns how many are held.
    pub(crate) fn hold(&self, file: &File, bytes: u64) -> u64 {
        self.picker.hold(file, bytes)
    }

    /// The element of a session that counts in elements. In other sessions, `other` is the call to
    /// make.
    fn unit(&self, other: &str) -> Result<Elements, Failure> {
        let unit = self.wanted.fixed.filter(|_| self.wanted.in_elements);
        unit.ok_or_else(|| {
            Failure::argument(format!("this descriptor counts in bytes: call {other}"))
        })
    }

    /// Looks at the file again.
    pub(crate) fn refresh(&mut self, file: &File) -> Result<(), Failure> {
        surveyed(|surveyor| self.picker.refresh(file, surveyor))
    }

    fn next_bytes(
        &mut self,
        file: &File,
        buffer_bytes: u64,
        whole_records: bool,
    ) -> Result<Option<Range<u64>>, Failure> {
        if buffer_bytes == 0 {
            return Err(Failure::argument("the buffer has 0 bytes".to_owned()));
        }
        if self.rest.is_empty() {
            self.picker.set_chunk_bytes(self.buffer_bytes.min(buffer_bytes));
            let Some(next) = surveyed(|surveyor| self.picker.next_read(file, surveyor))? else {
                return Ok(None);
            };
            self.rest = next;
        }
        let rest = self.rest.end - self.rest.start;
        if whole_records && rest > buffer_bytes {
            return Err(Failure::too_small(rest));
        }
        let piece = self.rest.start..self.rest.start + rest.min(buffer_bytes);
        self.rest.start = piece.end;
        Ok(Some(piece))
    }
}

#[cfg(test)]
mod tests;
