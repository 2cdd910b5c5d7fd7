//! A FITS header: cards in blocks of 2,880 bytes, up to the card END (FITS standard 4.0, section
//! 4).

use super::card::{CARD_BYTES, Card, Value, real};
use crate::error::{Error, ErrorKind, Result};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The bytes of a block. Headers and data take whole blocks.
pub(super) const BLOCK_BYTES: u64 = 2880;

/// The longest header that is read, in blocks (29 MB). Without this limit, a file without END would
/// be read whole.
const BLOCKS_MAX: u64 = 10_000;

const CARDS_A_BLOCK: usize = BLOCK_BYTES as usize / CARD_BYTES;

/// The header of one HDU.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// The file and the HDU, for messages.
    name: String,
    /// Where it starts in the file.
    pub(super) offset: u64,
    /// Its length in the file, in bytes; whole blocks.
    pub(super) bytes: u64,
    /// The cards before END.
    pub(super) cards: Vec<Card>,
}

/// The next multiple of a block's length; `None` if it exceeds 64 bits.
pub(super) fn padded(bytes: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(BLOCK_BYTES)
}

impl Header {
    /// A header that is not in a file yet.
    pub(super) fn new(cards: Vec<Card>) -> Self {
        Header { name: String::new(), offset: 0, bytes: 0, cards }
    }

    /// Reads the header of HDU `number` at `offset`.
    ///
    /// # Errors
    /// It cannot be read, has no END, or is not a header.
    pub(super) fn read(file: &File, path: &Path, number: usize, offset: u64) -> Result<Self> {
        let name = format!("{}, HDU {number}", path.display());
        let mut header = Header { name, offset, bytes: 0, cards: Vec::new() };
        let mut block = [0; BLOCK_BYTES as usize];
        for _ in 0..BLOCKS_MAX {
            let at = offset + header.bytes;
            file.read_exact_at(&mut block, at).map_err(|error| header.unreadable(at, error))?;
            header.bytes += BLOCK_BYTES;
            if header.take(&block)? {
                return Ok(header);
            }
        }
        let what = format!(
            "the header at byte {offset} has no END in its first {BLOCKS_MAX} blocks; it is damaged"
        );
        Err(Error::new(ErrorKind::Fits, format!("{}: {what}", header.name)))
    }

    /// Adds the cards of a block; true if END was among them.
    fn take(&mut self, block: &[u8]) -> Result<bool> {
        for bytes in block.chunks_exact(CARD_BYTES) {
            let mut card = Card([0; CARD_BYTES]);
            card.0.copy_from_slice(bytes);
            if card.key() == "END" {
                return Ok(true);
            }
            self.cards.push(card);
            if !card.is_text() {
                return Err(self.fault(
                    self.cards.len() - 1,
                    "its keyword is not text: the header is damaged",
                ));
            }
        }
        Ok(false)
    }

    fn unreadable(&self, at: u64, error: io::Error) -> Error {
        let name = &self.name;
        if error.kind() != io::ErrorKind::UnexpectedEof {
            return Error::because(
                ErrorKind::Io,
                format!("{name}: cannot read the header at byte {at}"),
                error,
            );
        }
        let what = format!(
            "the file ends within the header that starts at byte {}, before its END",
            self.offset
        );
        Error::new(
            ErrorKind::Fits,
            format!("{name}: {what}; the file is cut short or no FITS file"),
        )
    }

    /// An error about a card. The message names the card and its offset.
    pub(super) fn fault(&self, index: usize, what: &str) -> Error {
        let at = self.offset + (index * CARD_BYTES) as u64;
        let text = self.cards.get(index).map_or_else(|| "END".to_owned(), Card::text);
        Error::new(
            ErrorKind::Fits,
            format!("{}: card {} at byte {at} ({text}): {what}", self.name, index + 1),
        )
    }

    /// An error about the header as a whole.
    pub(super) fn refusal(&self, what: &str) -> Error {
        Error::new(ErrorKind::Fits, format!("{}: {what}", self.name))
    }

    /// The index of the first card with this keyword.
    pub(super) fn find(&self, key: &str) -> Option<usize> {
        self.cards.iter().position(|card| card.key() == key)
    }

    /// A keyword's value as written, and the index of its card.
    pub(super) fn value(&self, key: &str) -> Option<(usize, String)> {
        let index = self.find(key)?;
        self.cards[index].value().map(|value| (index, value))
    }

    /// A keyword's value as text.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.value(key).map(|(_, value)| value)
    }

    /// Whether a keyword exists with the value T.
    pub(super) fn is_true(&self, key: &str) -> bool {
        self.text(key).as_deref() == Some("T")
    }

    /// A keyword's value as a whole number, or `None` if the header does not have the keyword.
    ///
    /// # Errors
    /// The value is not a whole number.
    pub(super) fn integer(&self, key: &str) -> Result<Option<i64>> {
        let Some((index, value)) = self.value(key) else { return Ok(None) };
        value.parse().map(Some).map_err(|_| self.fault(index, "its value should be a whole number"))
    }

    /// A keyword's value as a real number, or `None` if the header does not have the keyword.
    ///
    /// # Errors
    /// The value is not a number.
    pub(super) fn real(&self, key: &str) -> Result<Option<f64>> {
        let Some((index, value)) = self.value(key) else { return Ok(None) };
        real(&value).map(Some).ok_or_else(|| self.fault(index, "its value should be a number"))
    }

    /// The whole number of a keyword that every such header must have.
    ///
    /// # Errors
    /// The keyword is missing, or its value is not a whole number.
    pub(super) fn required(&self, key: &str) -> Result<i64> {
        let missing = || {
            self.refusal(&format!("the header at byte {} has no {key}; it is damaged", self.offset))
        };
        self.integer(key)?.ok_or_else(missing)
    }

    /// Sets a keyword's value. A card that exists keeps its place and its comment; a new one is
    /// added at the end.
    pub(super) fn set(&mut self, key: &str, value: Value<'_>, comment: &str) {
        match self.find(key) {
            Some(index) => {
                let kept = self.cards[index].comment();
                let comment = if kept.is_empty() { comment } else { &kept };
                self.cards[index] = Card::new(key, value, comment);
            }
            None => self.push(Card::new(key, value, comment)),
        }
    }

    /// Sets a keyword's value. A card that exists keeps its place; a new one is added after NAXISn.
    pub(super) fn set_after_axes(&mut self, key: &str, value: Value<'_>, comment: &str) {
        if self.find(key).is_none() {
            let last_axis =
                self.cards.iter().rposition(|card| is_axis(card.key())).unwrap_or_default();
            self.cards
                .insert((last_axis + 1).min(self.cards.len()), Card::new(key, value, comment));
        } else {
            self.set(key, value, comment);
        }
    }

    /// Adds a card after the last one that is not blank.
    pub(super) fn push(&mut self, card: Card) {
        while self.cards.last().is_some_and(|last| last.text().is_empty()) {
            self.cards.pop();
        }
        self.cards.push(card);
    }

    /// Removes keywords, and the cards that continue their text.
    pub(super) fn remove(&mut self, keys: &[&str]) {
        let mut removing = false;
        self.cards.retain(|card| {
            removing = keys.contains(&card.key()) || (removing && card.key() == "CONTINUE");
            !removing
        });
    }

    /// The header's bytes in a file: whole blocks, with END.
    pub(super) fn encode(&self) -> Vec<u8> {
        let blocks = (self.cards.len() + 1).div_ceil(CARDS_A_BLOCK);
        let mut bytes: Vec<u8> = self.cards.iter().flat_map(|card| card.0).collect();
        bytes.extend_from_slice(b"END");
        bytes.resize(blocks * BLOCK_BYTES as usize, b' ');
        bytes
    }
}

/// Whether a keyword is NAXIS, NAXIS1 and so on.
fn is_axis(key: &str) -> bool {
    key.strip_prefix("NAXIS").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(keys: &[&str]) -> Header {
        Header::new(keys.iter().map(|key| Card::new(key, Value::Integer(1), "one")).collect())
    }

    #[test]
    fn a_header_takes_whole_blocks_and_reads_back() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        for cards in [0_usize, 1, 35, 36, 71, 72] {
            let keys: Vec<String> = (0..cards).map(|at| format!("KEY{at}")).collect();
            let written = header(&keys.iter().map(String::as_str).collect::<Vec<_>>());
            let bytes = written.encode();
            assert_eq!(bytes.len(), (cards + 1).div_ceil(36) * 2880);
            io::Write::write_all(&mut file, &bytes).expect("room");
            let end = file.as_file().metadata().expect("there").len();
            let read = Header::read(file.as_file(), file.path(), 0, end - bytes.len() as u64)
                .expect("a header");
            assert_eq!((read.cards, read.bytes), (written.cards, bytes.len() as u64));
        }
    }

    #[test]
    fn setting_keeps_the_place_and_the_comment() {
        let mut header = header(&["A", "B", "C"]);
        header.set("B", Value::Integer(2), "two");
        header.set("D", Value::Real(0.5), "half");
        assert_eq!(header.cards[1].text(), "B       =                    2 / one");
        assert_eq!(header.cards[3].text(), "D       =                  0.5 / half");
        header.remove(&["A", "C"]);
        assert_eq!(header.cards.len(), 2);
    }

    #[test]
    fn a_fault_names_card_and_byte() {
        let mut damaged = header(&["A"]);
        damaged.cards.push(Card::new("BZERO", Value::Text("x"), ""));
        damaged.offset = 5760;
        let error = damaged.real("BZERO").expect_err("no number").to_string();
        assert!(error.contains("card 2 at byte 5840 (BZERO   = 'x"), "{error}");
    }
}
