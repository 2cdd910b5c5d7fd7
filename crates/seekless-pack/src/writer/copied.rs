//! Entries of another archive, taken over coded as they lie there.

use super::PackWriter;
use crate::decode::data_offset;
use crate::entry::Entry;
use crate::error::{Error, ErrorKind, Result};
use crate::index::Index;
use crate::likeness::FileTime;
use crate::record::Record;
use std::io::{self, Write};
use std::ops::Range;

impl<W: Write> PackWriter<W> {
    /// Appends the entries `numbers` of another archive, which lie there directly behind each
    /// other, as they are: not decoded, not checked. `copy` is given the sink and the range of
    /// bytes of that archive, and must append exactly these. `about` says the Unix mode of each
    /// entry, and the nanoseconds after the second in which its file was modified: both stand in
    /// the directory alone.
    ///
    /// # Errors
    /// [`ErrorKind::Disagrees`] if an entry cannot be copied ([`Index::can_be_copied`]), or does
    /// not end where the next begins; [`ErrorKind::Duplicate`] as [`add`](Self::add); or
    /// [`ErrorKind::Io`] if `copy` fails, after which every call fails.
    pub fn add_copied(
        &mut self,
        from: &Index,
        numbers: Range<u32>,
        about: impl Fn(u32) -> (u32, u32),
        copy: impl FnOnce(&mut W, Range<u64>) -> io::Result<()>,
    ) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        let begin = from.entry(numbers.start).header_offset;
        let mut end = begin;
        for number in numbers.clone() {
            let entry = from.entry(number);
            if entry.header_offset != end || !from.can_be_copied(number) {
                return Err(cannot(&entry, from.name(number)));
            }
            end += entry.extent_bytes;
        }
        numbers.clone().try_for_each(|number| self.admit(from.name(number)))?;
        let result = copy(&mut self.sink, begin..end);
        self.failed |= result.is_err();
        result.map_err(|error| {
            Error::io(format!("cannot copy the entries at offsets {begin} to {end}"), error)
        })?;
        for number in numbers {
            let entry = from.entry(number);
            let header_offset = self.at + (entry.header_offset - begin);
            let (mode, modified_ns) = about(number);
            let record = self.record(from, number, &entry, mode, header_offset);
            self.note(&Record { modified_ns, ..record });
        }
        self.at += end - begin;
        Ok(())
    }

    /// Appends entry `number` of another archive with another mode and time of modification: its
    /// header is written anew, its data copied as it is, neither decoded nor checked. `head` is the
    /// entry's extent, or so much of it as holds the local header; `copy` as for
    /// [`add_copied`](Self::add_copied).
    ///
    /// # Errors
    /// As [`add_copied`](Self::add_copied); or as [`data_offset`](crate::data_offset).
    pub fn add_retimed(
        &mut self,
        from: &Index,
        number: u32,
        (mode, modified): (u32, FileTime),
        head: &[u8],
        copy: impl FnOnce(&mut W, Range<u64>) -> io::Result<()>,
    ) -> Result<()> {
        let (entry, name) = (from.entry(number), from.name(number));
        if !from.can_be_copied(number) {
            return Err(cannot(&entry, name));
        }
        let begin = entry.header_offset + data_offset(&entry, name, head)?;
        let end = begin + entry.coded_bytes;
        self.admit(name)?;
        let record = self.record(from, number, &entry, mode, self.at);
        let record =
            Record { modified: Some(modified.seconds), modified_ns: modified.ns, ..record };
        self.put_header(&record)?;
        let result = copy(&mut self.sink, begin..end);
        self.failed |= result.is_err();
        result.map_err(|error| Error::io(format!("cannot copy the data of {name:?}"), error))?;
        self.at += entry.coded_bytes;
        self.note(&record);
        Ok(())
    }

    /// What the headers of an entry of another archive say in this one.
    fn record<'a>(
        &self,
        from: &'a Index,
        number: u32,
        entry: &Entry,
        mode: u32,
        header_offset: u64,
    ) -> Record<'a> {
        Record {
            name: from.name(number),
            mode,
            modified: entry.modified_here(),
            modified_ns: entry.modified_ns,
            method: entry.method,
            crc: entry.crc,
            bytes: entry.bytes,
            coded_bytes: entry.coded_bytes,
            header_offset,
            wide_sizes: entry.bytes.max(entry.coded_bytes) >= self.limits.bytes,
            chunks: from.chunk_table(number),
        }
    }
}

fn cannot(entry: &Entry, name: &str) -> Error {
    let why = "it cannot be copied as it lies there; prepare it from its file";
    Error::of(entry, name, ErrorKind::Disagrees, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{About, Codec, decode, prepare};

    fn pack(files: &[(&str, &str)]) -> (Vec<u8>, Index) {
        let mut pack = PackWriter::new(Vec::new());
        for (name, content) in files {
            let about = About::named(*name).modified(1_700_000_000);
            pack.add(prepare(about, content.as_bytes().to_vec(), Codec::Auto).unwrap()).unwrap();
        }
        let archive = pack.finish().unwrap().0;
        let index = Index::open(archive.as_slice(), archive.len() as u64).unwrap();
        (archive, index)
    }

    #[test]
    fn copied_entries_are_read_as_before() {
        let text = "the same words again and again ".repeat(40);
        let (old, index) = pack(&[("a", "1"), ("ä/b", &text), ("c", "3"), ("d", "4")]);
        let mut new = PackWriter::new(Vec::new());
        let ready = prepare(About::named("new"), b"5".to_vec(), Codec::Auto).unwrap();
        new.add(ready).unwrap();
        for numbers in [3..4, 0..2, 2..2] {
            let copy = |sink: &mut Vec<u8>, range: Range<u64>| {
                sink.extend(&old[range.start as usize..range.end as usize]);
                Ok(())
            };
            new.add_copied(&index, numbers, |_| (0o100_640, 700), copy).unwrap();
        }
        let (archive, written) = new.finish().unwrap();
        assert_eq!((written.entries, written.archive_bytes), (4, archive.len() as u64));
        let index = Index::open(archive.as_slice(), archive.len() as u64).unwrap();
        let mut found = Vec::new();
        for (entry, number) in index.entries().zip(0..) {
            let mut content = Vec::new();
            let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
            decode(&entry, index.name(number), extent, &mut content).unwrap();
            found.push((index.name(number), String::from_utf8(content).unwrap()));
        }
        let texts: Vec<(&str, &str)> = found.iter().map(|(name, text)| (*name, &**text)).collect();
        assert_eq!(texts, [("new", "5"), ("d", "4"), ("a", "1"), ("ä/b", &text)]);
        let about = |number: u32| {
            let entry = index.entry(number);
            (entry.mode, entry.modified, entry.modified_ns)
        };
        assert_eq!(about(3), (Some(0o100_640), Some(1_700_000_000), 700));
    }

    #[test]
    fn a_retimed_entry_says_its_new_time_in_both_headers_and_keeps_its_data() {
        let text = "the same words again and again ".repeat(40);
        let (old, index) = pack(&[("a", "1"), ("b", &text)]);
        let mut new = PackWriter::new(Vec::new());
        let time = FileTime { seconds: 1_800_000_001, ns: 300 };
        let data = |sink: &mut Vec<u8>, range: Range<u64>| {
            sink.extend(&old[range.start as usize..range.end as usize]);
            Ok(())
        };
        let head = &old[index.entry(1).header_offset as usize..][..60];
        new.add_retimed(&index, 1, (0o100_600, time), head, data).unwrap();
        let short = new.add_retimed(&index, 0, (0, time), &old[..10], data).unwrap_err();
        assert_eq!(short.kind(), ErrorKind::Truncated);
        let archive = new.finish().unwrap().0;
        let index = Index::open(archive.as_slice(), archive.len() as u64).unwrap();
        let entry = index.entry(0);
        assert_eq!((entry.file_time(), entry.mode), (Some(time), Some(0o100_600)));
        let mut content = Vec::new();
        decode(&entry, "b", &archive, &mut content).unwrap();
        assert_eq!(content, text.as_bytes());
        let stamp = i32::try_from(time.seconds).unwrap().to_le_bytes();
        assert_eq!(archive.windows(4).filter(|bytes| *bytes == stamp).count(), 2);
    }

    #[test]
    fn what_does_not_lie_together_or_is_there_is_refused() {
        let (_, index) = pack(&[("a", "1"), ("b", "2")]);
        let mut new = PackWriter::new(Vec::new());
        new.add(prepare(About::named("b"), Vec::new(), Codec::Auto).unwrap()).unwrap();
        let none = |_: &mut Vec<u8>, _: Range<u64>| Ok(());
        let error = new.add_copied(&index, 1..2, |_| (0, 0), none).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Duplicate);
        let failing = |_: &mut Vec<u8>, _: Range<u64>| Err(io::Error::other("full"));
        let error = new.add_copied(&index, 0..1, |_| (0, 0), failing).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(new.finish().is_err(), "a hole would follow");
    }
}
