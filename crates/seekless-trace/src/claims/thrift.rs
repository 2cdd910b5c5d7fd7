//! The part of Thrift's compact protocol that it takes to walk over a footer or page header without
//! knowing its fields. Every length is compared with the rest of the input before it is used.

use super::absurd;
use std::io::{self, Read, Result};

/// How deep structs may be nested; a footer has six levels.
const DEPTH_MAX: u32 = 32;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind(u8);

impl Kind {
    const TRUE: Kind = Kind(1);
    const FALSE: Kind = Kind(2);
    const BYTE: Kind = Kind(3);
    pub(super) const I32: Kind = Kind(5);
    const DOUBLE: Kind = Kind(7);
    const BINARY: Kind = Kind(8);
    pub(super) const LIST: Kind = Kind(9);
    const SET: Kind = Kind(10);
    pub(super) const STRUCT: Kind = Kind(12);
}

/// Reads values one after another.
pub(super) struct Compact<R> {
    input: R,
    left: u64,
    read: u64,
}

impl<R: Read> Compact<R> {
    /// Reads at most `left` bytes of `input`.
    pub(super) fn new(input: R, left: u64) -> Self {
        Self { input, left, read: 0 }
    }

    /// How many bytes may still be read.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// How many bytes have been read.
    pub(super) fn bytes_read(&self) -> u64 {
        self.read
    }

    /// The next field of a struct, after field `last`; `None` at its end. Field numbers must rise,
    /// as every writer writes them, so that no field occurs twice.
    pub(super) fn field(&mut self, last: &mut i64) -> Result<Option<(i64, Kind)>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        let number = match head >> 4 {
            0 => self.signed()?,
            step => last.saturating_add(i64::from(step)),
        };
        if number <= *last {
            return Err(absurd("has the fields of a structure out of order"));
        }
        *last = number;
        Ok(Some((number, Kind(head & 15))))
    }

    /// How many elements a list has, and their type.
    pub(super) fn list(&mut self) -> Result<(u64, Kind)> {
        let head = self.byte()?;
        let size = match head >> 4 {
            15 => self.unsigned()?,
            size => u64::from(size),
        };
        if size > self.left {
            return Err(absurd(format!("claims a list of {size} in {} bytes", self.left)));
        }
        Ok((size, Kind(head & 15)))
    }

    /// Reads an integer.
    pub(super) fn signed(&mut self) -> Result<i64> {
        let bits = self.unsigned()?;
        Ok((bits >> 1) as i64 ^ -((bits & 1) as i64))
    }

    /// Skips a value.
    pub(super) fn skip(&mut self, kind: Kind) -> Result<()> {
        self.skip_within(kind, DEPTH_MAX)
    }

    fn skip_within(&mut self, kind: Kind, depth: u32) -> Result<()> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(absurd("has structures too deep"));
        };
        match kind {
            Kind::TRUE | Kind::FALSE => Ok(()),
            Kind::BYTE => self.byte().map(drop),
            Kind(4..=6) => self.unsigned().map(drop),
            Kind::DOUBLE => self.pass(8),
            Kind::BINARY => {
                let length = self.unsigned()?;
                self.pass(length)
            }
            Kind::LIST | Kind::SET => {
                let (size, kind) = self.list()?;
                let kind =
                    if kind == Kind::TRUE || kind == Kind::FALSE { Kind::BYTE } else { kind };
                (0..size).try_for_each(|_| self.skip_within(kind, depth))
            }
            Kind::STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip_within(kind, depth)?;
                }
                Ok(())
            }
            _ => Err(absurd("holds a value of an unknown type")),
        }
    }

    fn unsigned(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(absurd("holds a number that is too long"))
    }

    fn byte(&mut self) -> Result<u8> {
        self.take(1)?;
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn pass(&mut self, count: u64) -> Result<()> {
        self.take(count)?;
        match io::copy(&mut self.input.by_ref().take(count), &mut io::sink())? {
            passed if passed == count => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn take(&mut self, count: u64) -> Result<()> {
        self.left = self.left.checked_sub(count).ok_or_else(|| absurd("continues past its end"))?;
        self.read += count;
        Ok(())
    }
}
