//! A regular file that is read in the order of cost: what has come of it, and what has not.

use super::block::{Bytes, Piece};
use super::left::Left;
use super::opened::{Opened, Stamp};
use super::options::Options;
use super::stitch::Stitch;
use crate::{Error, Hold, Records};
use std::ops::Range;
use std::time::{Duration, Instant};

/// How old an answer about what is cached may get.
const ANSWER_AGE: Duration = Duration::from_millis(300);

/// Offsets are the file's own; `base` is where reading started.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) stamp: Stamp,
    pub(super) base: u64,
    /// Whether one of the user's rules is about the file, so that its SLEDs say what it costs.
    pub(super) ruled: bool,
    /// Whether ranges were left out because they are too far away.
    pub(super) left_out: bool,
    /// `None` while it is closed.
    pub(super) opened: Option<Opened>,
    pub(super) left: Left,
    /// The holes that are reported and not read, until they were.
    pub(super) holes: Vec<Range<u64>>,
    pub(super) answer: Answer,
    /// The cached ranges that are held until they are read.
    pub(super) hold: Hold,
    /// Reads under way.
    pub(super) in_flight: usize,
    stitch: Stitch,
    /// Bytes delivered.
    emitted: u64,
    /// Whether records were too long to be kept in pieces, so that the rest comes from the front.
    in_order: bool,
}

/// The system's answer to what is cached of a file, and how far it is believed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// Whether the system could say.
    pub(super) known: bool,
    /// Whether asking costs too much to be done twice: pages are touched, or each is looked at.
    pub(super) once: bool,
    /// Whether the file was looked at since the last window: the next one is read without another
    /// look.
    pub(super) just_looked: bool,
    /// Whether a read of bytes that counted as cached took too long for that.
    pub(super) surprised: bool,
    pub(super) looked_at: Instant,
}

/// How a file ends, once everything has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It is not what it was, so all of it must come again.
    Changed,
    /// Something was appended. The last record starts at `offset` and has come as far as `begun`.
    Appended { offset: u64, begun: Vec<u8> },
    /// That was all: the last record, if it lacked its delimiter, and the number of bytes that were
    /// left out.
    Whole { last: Option<Piece>, bytes: u64, skipped: u64 },
}

impl Planned {
    /// A file that has not begun to come.
    pub(super) fn new(stamp: Stamp, base: u64, opened: Opened, records: Records) -> Self {
        let answer = Answer {
            known: false,
            once: false,
            just_looked: true,
            surprised: false,
            looked_at: Instant::now(),
        };
        Planned {
            stamp,
            base,
            ruled: false,
            left_out: false,
            opened: Some(opened),
            left: Left::default(),
            holes: Vec::new(),
            answer,
            hold: Hold::default(),
            in_flight: 0,
            stitch: Stitch::new(records),
            emitted: 0,
            in_order: false,
        }
    }

    /// Whether nothing is left and no read is under way.
    pub(super) fn is_complete(&self, cached_only: bool) -> bool {
        self.left.is_over(cached_only) && self.in_flight == 0
    }

    /// Whether the answer is too old to decide about a read from the device.
    pub(super) fn is_stale(&self) -> bool {
        let Answer { known, once, looked_at, .. } = self.answer;
        known && !once && !self.in_order && looked_at.elapsed() > ANSWER_AGE
    }

    /// Makes pieces of whole records out of the bytes that were read at `offset`.
    pub(super) fn take_in(&mut self, read: &[u8], offset: u64, options: &Options) -> Vec<Piece> {
        let start = offset - self.base;
        let completed = self.stitch.add(start, read);
        self.emitted += completed.inside.len() as u64;
        let inside = slices(options, read, start, completed.inside).into_iter();
        let mut pieces: Vec<_> = inside
            .map(|range| Piece { offset: start + range.start as u64, bytes: Bytes::Block(range) })
            .collect();
        for (offset, record) in completed.across {
            self.emitted += record.len() as u64;
            pieces.push(Piece { offset, bytes: Bytes::Own(record) });
        }
        // The record across the left edge comes first, for programs that need order.
        pieces.sort_unstable_by_key(|piece| piece.offset);
        pieces
    }

    /// Counts holes as delivered; nothing of the file has come yet.
    pub(super) fn pass_over(&mut self, holes: &[Range<u64>]) {
        for hole in holes {
            self.stitch.pass_over(hole.start - self.base, hole.end - hole.start);
            self.emitted += hole.end - hole.start;
        }
    }

    /// Bounds what is kept of records that were cut apart: where pieces in any order would take
    /// more, the rest is read in order.
    ///
    /// # Errors
    /// A single record is longer than the bound.
    pub(super) fn bound(&mut self, options: &Options) -> Result<(), Error> {
        let most = options.record_bytes_max;
        if self.stitch.kept() <= most {
            return Ok(());
        }
        let again = self.stitch.let_go();
        let (offset, kept) = self.stitch.open_record();
        if kept > most {
            return Err(Error::too_long(offset, most));
        }
        if !self.may_skip(options) {
            self.go_in_order(again); // else what was dropped counts as skipped
        }
        Ok(())
    }

    /// Reads all that is left from the front from now on, and these ranges once more.
    fn go_in_order(&mut self, again: Vec<Range<u64>>) {
        self.in_order = true;
        let base = self.base;
        let mut all = self.left.take_all();
        all.extend(again.into_iter().map(|range| base + range.start..base + range.end));
        all.sort_unstable_by_key(|range| range.start);
        all.into_iter().for_each(|range| self.left.absent.push(range));
    }

    /// Whether bytes of it may be missing in the end.
    fn may_skip(&self, options: &Options) -> bool {
        options.reach.cached_only || self.left_out
    }

    /// How the file ends, now that nothing is left; `now` describes it as it is by now.
    pub(super) fn end(&mut self, now: &Stamp, options: &Options) -> Ending {
        let may_skip = self.may_skip(options);
        let bytes = self.stamp.bytes - self.base;
        // A missing byte would be a defect of the reader. Even then, no wrong result is given.
        let delivered = self.emitted + self.stitch.kept() as u64 == bytes;
        if !self.stamp.is_kept_by(now) || !(may_skip || delivered) {
            return Ending::Changed;
        }
        let last = self.stitch.take_last(bytes);
        if now.bytes > self.stamp.bytes && !may_skip {
            let (offset, begun) = last.unwrap_or((bytes, Vec::new()));
            return Ending::Appended { offset, begun };
        }
        let emitted = self.emitted + last.as_ref().map_or(0, |(_, record)| record.len() as u64);
        let last = last.map(|(offset, record)| Piece { offset, bytes: Bytes::Own(record) });
        Ending::Whole { last, bytes, skipped: bytes - emitted }
    }
}

/// Cuts the whole records `inside` a piece that starts at `start` into chunks of about the size
/// that the options say.
fn slices(options: &Options, piece: &[u8], start: u64, inside: Range<usize>) -> Vec<Range<usize>> {
    let mut slices = Vec::new();
    let mut at = inside.start;
    while at < inside.end {
        let rest = &piece[at..inside.end];
        let offset = start + at as u64;
        let length = if rest.len() <= options.chunk_bytes {
            rest.len()
        } else {
            let records = options.records;
            let cut = records.last_cut(&rest[..options.chunk_bytes], offset);
            cut.or_else(|| records.first_cut(rest, offset)).unwrap_or(rest.len())
        };
        slices.push(at..at + length);
        at += length;
    }
    slices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use std::fs::File;
    use std::io::Write;

    fn options(chunk_bytes: usize, record_bytes_max: usize) -> Options {
        Options {
            records: Records::Delimiter(b'\n'),
            chunk_bytes,
            record_bytes_max,
            ..Options::default()
        }
    }

    /// A file with this text, still to come.
    fn planned(text: &[u8]) -> (Planned, File) {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(text).unwrap();
        let opened = Opened::new(file.try_clone().unwrap());
        let mut planned =
            Planned::new(Stamp::of(&file).unwrap(), 0, opened, Records::Delimiter(b'\n'));
        planned.left.absent.push(0..text.len() as u64);
        (planned, file)
    }

    fn read(
        planned: &mut Planned,
        text: &[u8],
        range: Range<usize>,
        options: &Options,
    ) -> Vec<Piece> {
        planned.take_in(&text[range.clone()], range.start as u64, options)
    }

    #[test]
    fn pieces_are_whole_records_of_about_the_size_asked_for() {
        let text = b"one\ntwo\nthree\nfour";
        let (mut planned, _) = planned(text);
        let options = options(8, usize::MAX);
        let pieces = read(&mut planned, text, 0..12, &options);
        assert_eq!(pieces, [Piece { offset: 0, bytes: Bytes::Block(0..8) }]);
        let pieces = read(&mut planned, text, 12..18, &options);
        assert_eq!(pieces, [Piece { offset: 8, bytes: Bytes::Own(b"three\n".to_vec()) }]);
        let now = planned.stamp;
        let last = Some(Piece { offset: 14, bytes: Bytes::Own(b"four".to_vec()) });
        assert_eq!(planned.end(&now, &options), Ending::Whole { last, bytes: 18, skipped: 0 });
    }

    #[test]
    fn a_file_that_was_cut_or_that_grew_does_not_end_as_it_is() {
        let text = b"one\ntwo";
        let (mut cut, file) = planned(text);
        read(&mut cut, text, 0..7, &options(100, usize::MAX));
        file.set_len(3).unwrap();
        assert_eq!(cut.end(&Stamp::of(&file).unwrap(), &Options::default()), Ending::Changed);
        file.set_len(20).unwrap();
        let begun = b"two".to_vec();
        assert_eq!(
            cut.end(&Stamp::of(&file).unwrap(), &Options::default()),
            Ending::Appended { offset: 4, begun }
        );
        let (mut short, _) = planned(text);
        read(&mut short, text, 0..3, &options(100, usize::MAX));
        let now = short.stamp;
        assert_eq!(short.end(&now, &Options::default()), Ending::Changed, "a byte is missing");
    }

    #[test]
    fn records_that_take_too_much_in_any_order_are_read_in_theirs_and_a_longer_one_is_an_error() {
        let text = [&[b'x'; 30][..], b"\nshort\n"].concat();
        let (mut planned, _) = planned(&text);
        let options = options(100, 32);
        planned.left.take_all();
        planned.left.cached.push(0..10);
        assert_eq!(read(&mut planned, &text, 10..30, &options), []);
        assert!(planned.bound(&options).is_ok(), "20 bytes are kept");
        let (tight, tighter) = (
            Options { record_bytes_max: 15, ..options },
            Options { record_bytes_max: 5, ..options },
        );
        assert!(planned.bound(&tight).is_ok());
        assert_eq!(
            planned.left.absent.first(),
            Some(0..30),
            "what was dropped comes again, in order"
        );
        assert_eq!(planned.left.take_all().len(), 1);
        assert!(!planned.is_stale());
        read(&mut planned, &text, 0..10, &options);
        assert_eq!(planned.bound(&tighter).unwrap_err().kind(), ErrorKind::TooLong);
    }
}
