//! The class of each character in the user's locale. The locale is loaded only when a byte needs
//! it; plain ASCII text does not.

use crate::clib::ctype::{Character, Ctype, Encoding};

/// The class of a character in one byte: its columns and two flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Class(u8);

const SEPARATOR: u8 = 0x80;
const PRINTABLE: u8 = 0x40;
const COLUMNS: u8 = 0x3f;

/// Spaces at which a line must not break. They separate words all the same, unless POSIXLY_CORRECT
/// is set.
const UNBREAKING: [u32; 4] = [0xa0, 0x2007, 0x202f, 0x2060];

/// The highest number of a character; nothing above is printable.
const LAST: u32 = 0x10_ffff;

impl Class {
    fn of(character: Character, posixly_correct: bool) -> Class {
        if !character.printable {
            return Class(0);
        }
        let unbreaking = !posixly_correct && UNBREAKING.contains(&character.code);
        let parts = character.space || unbreaking;
        Class(if parts { SEPARATOR } else { PRINTABLE } | character.columns.min(COLUMNS))
    }

    #[inline]
    pub(crate) fn is_separator(self) -> bool {
        self.0 & SEPARATOR != 0
    }

    #[inline]
    pub(crate) fn is_printable(self) -> bool {
        self.0 & PRINTABLE != 0
    }

    #[inline]
    pub(crate) fn columns(self) -> u64 {
        (self.0 & COLUMNS).into()
    }
}

/// The classes of bytes in ASCII, which hold in every locale. Bytes beyond ASCII have no class in
/// the C locale. Control characters that separate words are included; the caller handles how they
/// move the column.
pub(crate) const ASCII: [Class; 256] = {
    let mut classes = [Class(0); 256];
    let mut byte = 0x21;
    while byte < 0x7f {
        classes[byte] = Class(PRINTABLE | 1);
        byte += 1;
    }
    classes[b' ' as usize] = Class(SEPARATOR | 1);
    byte = 9;
    while byte < 14 {
        classes[byte] = Class(SEPARATOR);
        byte += 1;
    }
    classes
};

/// The characters of the user's locale.
#[derive(Debug)]
pub struct Charset {
    posixly_correct: bool,
    /// Loaded when it is first needed.
    state: State,
}

#[derive(Debug)]
enum State {
    Unasked,
    Bytes(Box<[Class; 256]>),
    Utf8 { ctype: Ctype, blocks: Vec<Option<Box<[Class; 256]>>> },
}

impl Charset {
    /// The locale of the environment, which is loaded when it is first needed.
    #[must_use]
    pub fn from_environment() -> Self {
        let posixly_correct = std::env::var_os("POSIXLY_CORRECT").is_some();
        // The order of setlocale(3): the first that is set and not empty.
        let name = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(|name| std::env::var_os(name).filter(|value| !value.is_empty()));
        let plain = name.is_none_or(|name| name == "C" || name == "POSIX");
        let state = if plain { State::Bytes(Box::new(ASCII)) } else { State::Unasked };
        Charset { posixly_correct, state }
    }

    /// The characters of one locale.
    #[cfg(test)]
    pub(crate) fn of(ctype: Option<Ctype>, posixly_correct: bool) -> Self {
        Charset { posixly_correct, state: State::of(ctype, posixly_correct) }
    }

    /// Whether a character may take several bytes.
    pub(crate) fn is_utf8(&mut self) -> bool {
        if matches!(self.state, State::Unasked) {
            self.state = State::of(Ctype::from_environment(), self.posixly_correct);
        }
        matches!(self.state, State::Utf8 { .. })
    }

    /// The classes of bytes in a locale where each byte is a character.
    pub(crate) fn bytes(&self) -> &[Class; 256] {
        match &self.state {
            State::Bytes(classes) => classes,
            _ => &ASCII,
        }
    }

    /// The class of a character beyond ASCII.
    #[inline]
    pub(crate) fn class(&mut self, code: u32) -> Class {
        let State::Utf8 { ctype, blocks } = &mut self.state else { return Class(0) };
        if code > LAST {
            return Class(0);
        }
        let block = (code >> 8) as usize;
        if let Some(Some(classes)) = blocks.get(block) {
            return classes[code as usize & 0xff];
        }
        let classes = ctype
            .characters(code & !0xff)
            .map(|character| Class::of(character, self.posixly_correct));
        if blocks.len() <= block {
            blocks.resize(block + 1, None);
        }
        blocks[block] = Some(Box::new(classes));
        classes[code as usize & 0xff]
    }
}

impl State {
    fn of(ctype: Option<Ctype>, posixly_correct: bool) -> State {
        match ctype {
            Some(ctype) if ctype.encoding() == Encoding::Utf8 => {
                State::Utf8 { ctype, blocks: Vec::new() }
            }
            Some(ctype) if ctype.encoding() == Encoding::SingleByte => {
                let mut classes = ctype.bytes().map(|byte| Class::of(byte, posixly_correct));
                classes[..0x80].copy_from_slice(&ASCII[..0x80]);
                State::Bytes(Box::new(classes))
            }
            // Other multibyte encodings are counted as bytes; the help says so.
            _ => State::Bytes(Box::new(ASCII)),
        }
    }
}
