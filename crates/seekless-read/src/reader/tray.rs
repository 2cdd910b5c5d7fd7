//! What a reader hands out next: events in their order, and the memory that their bytes lie in.
//!
//! The chunks that wait here come from one block of one file, or from one stream. More is read only
//! when all of them have been handed out.

use super::block::{Block, Bytes, Piece};
use super::event::{Chunk, Event};
use super::files::Files;
use super::linear::Linear;
use std::collections::VecDeque;

/// An event that waits to be handed out.
#[derive(Debug)]
enum Waiting {
    Piece(usize, Piece),
    Hole {
        file: usize,
        offset: u64,
        bytes: u64,
    },
    /// An event without bytes.
    Other(Event<'static>),
}

impl Waiting {
    /// Whether it is a part of the file's content.
    fn is_part_of(&self, file: usize) -> bool {
        matches!(self, Waiting::Piece(of, _) | Waiting::Hole { file: of, .. } if *of == file)
    }
}

/// The events that wait, and their memory.
#[derive(Debug, Default)]
pub(super) struct Tray {
    waiting: VecDeque<Waiting>,
    block: Block,
    /// The file that was read or looked at last, until it is known whether it has ended.
    last: Option<usize>,
    /// The record across an edge that was handed out last.
    own: Vec<u8>,
    /// The stream, or the file in the plain order, that is being read.
    stream: Option<Linear>,
}

impl Tray {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Lays down a block of a file, and returns its bytes. The pieces made of them must follow.
    pub(super) fn lay(&mut self, file: usize, block: Block) -> &[u8] {
        self.last = Some(file);
        self.block = block;
        self.block.bytes()
    }

    /// Notes that a file was looked at and may have ended.
    pub(super) fn looked_at(&mut self, file: usize) {
        self.last = Some(file);
    }

    /// Whether a file was read or looked at and not yet [lifted](Self::lift).
    pub(super) fn has_last(&self) -> bool {
        self.last.is_some()
    }

    /// Takes away the last file and its block, after all pieces of it were handed out.
    pub(super) fn lift(&mut self) -> Option<(usize, Block)> {
        let file = self.last.take()?;
        Some((file, std::mem::take(&mut self.block)))
    }

    pub(super) fn push(&mut self, event: Event<'static>) {
        self.waiting.push_back(Waiting::Other(event));
    }

    pub(super) fn push_pieces(&mut self, file: usize, pieces: impl IntoIterator<Item = Piece>) {
        self.waiting.extend(pieces.into_iter().map(|piece| Waiting::Piece(file, piece)));
    }

    pub(super) fn push_hole(&mut self, file: usize, offset: u64, bytes: u64) {
        self.waiting.push_back(Waiting::Hole { file, offset, bytes });
    }

    /// Takes back the pieces and holes of a file. Its other events stay.
    pub(super) fn take_back(&mut self, file: usize) {
        self.waiting.retain(|waiting| !waiting.is_part_of(file));
    }

    pub(super) fn start_stream(&mut self, stream: Linear) {
        self.stream = Some(stream);
    }

    pub(super) fn stream(&mut self) -> Option<&mut Linear> {
        self.stream.as_mut()
    }

    /// Drops the stream if it is this file's.
    pub(super) fn end_stream(&mut self, file: usize) {
        self.stream.take_if(|stream| stream.file == file);
    }

    /// The next event.
    pub(super) fn next<'a>(&'a mut self, files: &'a Files) -> Option<Event<'a>> {
        let (file, Piece { offset, bytes }) = match self.waiting.pop_front()? {
            Waiting::Other(event) => return Some(event),
            Waiting::Hole { file, offset, bytes } => {
                let open = files.get(file).and_then(|source| source.opened());
                return Some(Event::Hole { file, offset, bytes, open });
            }
            Waiting::Piece(file, piece) => (file, piece),
        };
        let bytes = match bytes {
            Bytes::Block(range) => &self.block.bytes()[range],
            Bytes::Stream => self.stream.as_ref()?.bytes(),
            Bytes::Own(record) => {
                self.own = record;
                &self.own
            }
        };
        let open = match &self.stream {
            Some(stream) if stream.file == file => Some(stream.stream()),
            _ => files.get(file).and_then(|source| source.opened()),
        };
        let base =
            files.get(file).and_then(|source| source.planned()).map_or(0, |planned| planned.base);
        Some(Event::Chunk(Chunk { file, offset, bytes, open, map: self.block.map(), base }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_engine::AlignedBuf;

    fn piece(offset: u64, bytes: Bytes) -> Piece {
        Piece { offset, bytes }
    }

    fn read(bytes: &[u8]) -> Block {
        let mut buffer = AlignedBuf::with_capacity(bytes.len());
        buffer.whole_mut()[..bytes.len()].copy_from_slice(bytes);
        buffer.set_len(bytes.len());
        Block::Read(buffer, 0..bytes.len())
    }

    fn shown(tray: &mut Tray) -> Option<String> {
        let files = Files::default();
        match tray.next(&files)? {
            Event::Chunk(chunk) => Some(format!(
                "{} {} {}",
                chunk.file,
                chunk.offset,
                String::from_utf8_lossy(chunk.bytes)
            )),
            Event::Restart { file } => Some(format!("restart {file}")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pieces_come_in_their_order_out_of_the_block_and_of_their_own() {
        let mut tray = Tray::default();
        assert_eq!(tray.lay(3, read(b"abcdef")), b"abcdef");
        tray.push_pieces(3, [piece(8, Bytes::Own(b"xyz".to_vec())), piece(11, Bytes::Block(1..4))]);
        assert_eq!(shown(&mut tray).as_deref(), Some("3 8 xyz"));
        assert_eq!(shown(&mut tray).as_deref(), Some("3 11 bcd"));
        assert!(tray.is_empty() && tray.has_last());
        let (file, block) = tray.lift().expect("laid down");
        assert_eq!((file, block.bytes()), (3, &b"abcdef"[..]));
        assert!(tray.lift().is_none() && !tray.has_last());
    }

    #[test]
    fn pieces_of_a_file_that_begins_again_are_taken_back_and_other_events_stay() {
        let mut tray = Tray::default();
        tray.lay(1, read(b"ab"));
        tray.push_pieces(1, [piece(0, Bytes::Block(0..1)), piece(1, Bytes::Block(1..2))]);
        tray.push_pieces(2, [piece(5, Bytes::Own(b"c".to_vec()))]);
        tray.push(Event::Restart { file: 1 });
        tray.take_back(1);
        assert_eq!(shown(&mut tray).as_deref(), Some("2 5 c"));
        assert_eq!(shown(&mut tray).as_deref(), Some("restart 1"));
        assert_eq!(shown(&mut tray), None);
    }
}
