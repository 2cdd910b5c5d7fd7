//! A model as bytes.
//!
//! ```text
//! "SKLP" | version 2 | entries | runs | run... | kinds | (guesses, right)...
//!     | files | (file, references, reference...)... | CRC-32 of all these
//! run: loads | step from the entry before...
//! reference: step from the entry before, the first from the file | chance, 1 byte
//! ```
//!
//! Numbers are LEB128; a step has its sign in the lowest bit; a file is given as its distance from
//! the one before. The CRC-32 is 4 bytes, little-endian. Version 1 has no references.

use super::{LOADS_MAX, Model, RUNS_MAX};
use crate::foresight::prediction::rates::{BINS, Count, Rates};
use crate::foresight::references::{REFERENCES_MAX, References};
use crate::id::Id;
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;

const MAGIC: &[u8; 4] = b"SKLP";
const VERSION: u64 = 2;
const CRC_BYTES: usize = 4;

pub(super) fn write(model: &Model) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for number in [VERSION, model.entries.into(), model.runs.len() as u64] {
        put(&mut bytes, number);
    }
    for run in &model.runs {
        put(&mut bytes, run.len() as u64);
        let mut last = 0i64;
        for &id in run.iter() {
            put_step(&mut bytes, last, id.into());
            last = id.into();
        }
    }
    put(&mut bytes, BINS as u64);
    for Count { guesses, right } in model.rates.0 {
        put(&mut bytes, guesses.into());
        put(&mut bytes, right.into());
    }
    write_references(&model.references, &mut bytes);
    let sum = crc32fast::hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

fn write_references(references: &References, bytes: &mut Vec<u8>) {
    put(bytes, references.files().count() as u64);
    let mut before = 0;
    for file in references.files() {
        put(bytes, (file - before).into());
        put(bytes, references.of(file).count() as u64);
        before = file;
        let mut last = file.into();
        for (to, chance) in references.of(file) {
            put_step(bytes, last, to.into());
            bytes.push(chance);
            last = to.into();
        }
    }
}

fn put_step(bytes: &mut Vec<u8>, from: i64, to: i64) {
    let step = to - from;
    put(bytes, ((step << 1) ^ (step >> 63)) as u64);
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub(super) fn read(bytes: &[u8]) -> Result<Model> {
    let (body, sum) = bytes
        .split_last_chunk::<CRC_BYTES>()
        .filter(|(body, _)| body.starts_with(MAGIC))
        .ok_or_else(|| wrong("it is no model of a prediction"))?;
    if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
        return Err(wrong("its checksum does not match: the model is damaged"));
    }
    let mut from = From(&body[MAGIC.len()..]);
    let version = from.number()?;
    if !(1..=VERSION).contains(&version) {
        return Err(wrong("its version is unknown: it was made by another release"));
    }
    let entries = u32::try_from(from.number()?).map_err(|_| wrong("it has too many entries"))?;
    let count = from.count(RUNS_MAX, "runs")?;
    let mut left = LOADS_MAX;
    let runs = (0..count).map(|_| from.run(entries, &mut left)).collect::<Result<Vec<_>>>()?;
    let rates = from.rates()?;
    let references = match version {
        1 => References::default(),
        _ => from.references(entries)?,
    };
    match from.0 {
        [] => Ok(Model { entries, runs, rates, references }),
        _ => Err(wrong("something follows its end")),
    }
}

/// What has not been read yet.
struct From<'a>(&'a [u8]);

impl From<'_> {
    fn number(&mut self) -> Result<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or_else(|| wrong("it is cut short"))?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(wrong("a number in it is too large"))
    }

    /// A count of things that take a byte each at least.
    fn count(&mut self, max: usize, what: &str) -> Result<usize> {
        let number = self.number()?;
        match usize::try_from(number) {
            Ok(count) if count <= max.min(self.0.len()) => Ok(count),
            _ => Err(wrong(&format!("it cannot have {number} {what}"))),
        }
    }

    /// A run of at most `left` loads, which are counted off.
    fn run(&mut self, entries: u32, left: &mut usize) -> Result<Arc<[Id]>> {
        // Each entry is loaded first only once.
        let count = self.count((*left).min(entries as usize), "loads in a run")?;
        *left -= count;
        let mut run = Vec::with_capacity(count);
        let mut last = 0;
        for _ in 0..count {
            last = self.step(last, entries)?;
            run.push(last);
        }
        Ok(run.into())
    }

    /// The entry that lies a step from this one.
    fn step(&mut self, last: Id, entries: u32) -> Result<Id> {
        let number = self.number()?;
        let step = (number >> 1) as i64 ^ -((number & 1) as i64);
        let id =
            i64::from(last).checked_add(step).filter(|id| (0..i64::from(entries)).contains(id));
        Ok(id.ok_or_else(|| wrong("it names an entry that the archive cannot have"))? as Id)
    }

    fn references(&mut self, entries: u32) -> Result<References> {
        let files = self.count(entries as usize, "files that name others")?;
        let (mut all, mut file) = (Vec::new(), 0u32);
        for _ in 0..files {
            let further = self.number()?;
            let next = u64::from(file).checked_add(further).filter(|&id| id < entries.into());
            file = next.ok_or_else(|| wrong("a file that the archive cannot have names others"))?
                as Id;
            let mut last = file;
            for _ in 0..self.count(REFERENCES_MAX - all.len(), "references")? {
                last = self.step(last, entries)?;
                let (&chance, rest) =
                    self.0.split_first().ok_or_else(|| wrong("it is cut short"))?;
                self.0 = rest;
                all.push((file, last, chance));
            }
        }
        Ok(References::new(entries, all))
    }

    fn rates(&mut self) -> Result<Rates> {
        // Kinds were added at the end.
        let kinds = self.number()? as usize;
        let mut rates = Rates::default();
        let counted = rates.0.get_mut(..kinds);
        for count in counted.ok_or_else(|| wrong("it counts other kinds of guesses"))? {
            let (guesses, right) = (self.number()?, self.number()?);
            if right > guesses || guesses > 1 << 20 {
                return Err(wrong("more guesses came true in it than were made"));
            }
            *count = Count { guesses: guesses as u32, right: right as u32 };
        }
        Ok(rates)
    }
}

fn wrong(message: &str) -> Error {
    Error::new(ErrorKind::Model, format!("the prediction cannot be read: {message}"))
}
