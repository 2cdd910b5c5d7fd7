//! The words of a made trace: `KIND:NAME=VALUE,...`.

use super::part::{Kind, Part};
use super::power::Sizes;
use super::{COUNT_MAX, MIX, Made};
use crate::{Error, ErrorKind, Result};
use seekless_device::units::parse_bytes;
use std::str::FromStr;

/// What each kind is called, and its parameters beside requests, seed and bytes.
const KINDS: [(&str, &[&str]); 4] = [
    ("zipf", &["objects", "alpha"]),
    ("loop", &["objects"]),
    ("scan", &["objects", "alpha", "every", "length"]),
    ("shift", &["objects", "alpha", "every", "by"]),
];
/// The parameters of every kind.
const SHARED: [&str; 3] = ["requests", "seed", "bytes"];

/// Whether the text begins as a description does.
pub(super) fn is_made(text: &str) -> bool {
    text.split_once(':').is_some_and(|(kind, _)| KINDS.iter().any(|(name, _)| *name == kind))
}

impl FromStr for Made {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut made = Made { parts: Vec::new(), seed: 1, sizes: None };
        for (at, part) in text.split(MIX).enumerate() {
            let words = Words::of(part)?;
            if at > 0 && (words.has("seed") || words.has("bytes")) {
                return Err(words.wrong("seed and bytes stand in the first part, for all"));
            }
            if at == 0 {
                made.seed = words.number("seed")?.unwrap_or(1);
                made.sizes = words.sizes()?;
            }
            made.parts.push(words.part()?);
        }
        if made.objects_max() > COUNT_MAX {
            let message = format!("`{text}`: these are more than 2^32 objects");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        Ok(made)
    }
}

/// The words of a part.
struct Words<'t> {
    text: &'t str,
    kind: &'t str,
    values: Vec<(&'t str, &'t str)>,
}

impl<'t> Words<'t> {
    fn of(text: &'t str) -> Result<Self> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut words = Words { text, kind, values: Vec::new() };
        let known = KINDS.iter().find(|(name, _)| *name == kind);
        let Some((_, own)) = known else {
            return Err(words.wrong("expected zipf:, loop:, scan: or shift:"));
        };
        for word in rest.split(',') {
            let (name, value) =
                word.split_once('=').ok_or_else(|| words.wrong("expected NAME=VALUE"))?;
            if !own.contains(&name) && !SHARED.contains(&name) {
                let names = [own, &SHARED[..]].concat().join(", ");
                return Err(words.wrong(&format!("has no `{name}`; there are {names}")));
            }
            if words.has(name) {
                return Err(words.wrong(&format!("gives `{name}` twice")));
            }
            words.values.push((name, value));
        }
        Ok(words)
    }

    fn part(&self) -> Result<Part> {
        let objects = self.count("objects", None)?;
        let requests = self.count("requests", None)?;
        let alpha = match self.value("alpha") {
            None => 1.0,
            Some(value) => match value.parse::<f64>() {
                Ok(alpha) if (0.0..=10.0).contains(&alpha) => alpha,
                _ => return Err(self.wrong("alpha is a number from 0 to 10")),
            },
        };
        let kind = match self.kind {
            "zipf" => Kind::Zipf { alpha },
            "loop" => Kind::Loop,
            "scan" => {
                let every = self.count("every", Some(objects.saturating_mul(10)))?;
                Kind::Scan { alpha, every, length: self.count("length", Some(objects))? }
            }
            _ => {
                let every = self.count("every", Some((requests / 10).max(1)))?;
                Kind::Shift { alpha, every, by: self.count("by", Some((objects / 10).max(1)))? }
            }
        };
        let part = Part { kind, objects, requests };
        match part.objects_max() > COUNT_MAX {
            true => Err(self.wrong("these are more than 2^32 objects")),
            false => Ok(part),
        }
    }

    fn sizes(&self) -> Result<Option<Sizes>> {
        let Some(value) = self.value("bytes") else { return Ok(None) };
        let (least, most) = value.split_once("..").unwrap_or((value, value));
        let size = |text: &str| parse_bytes(text).map_err(|why| self.wrong(&why.to_string()));
        let (least, most) = (size(least)?, size(most)?);
        match least > 0 && least <= most {
            true => Ok(Some(Sizes::new(least, most))),
            false => Err(self.wrong("bytes is a size over 0, or a range such as 1KiB..1MiB")),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    fn value(&self, name: &str) -> Option<&'t str> {
        self.values.iter().find(|(found, _)| *found == name).map(|(_, value)| *value)
    }

    /// A number from 1.
    fn count(&self, name: &str, default: Option<u64>) -> Result<u64> {
        match self.number(name)?.or(default) {
            Some(count @ 1..=COUNT_MAX) => Ok(count),
            Some(_) => Err(self.wrong(&format!("{name} is a number from 1 to 2^32"))),
            None => Err(self.wrong(&format!("needs `{name}`, such as {name}=1M"))),
        }
    }

    /// A number such as 500, 10K, 1M or 2G.
    fn number(&self, name: &str) -> Result<Option<u64>> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let units = [('K', 1000), ('k', 1000), ('M', 1_000_000), ('G', 1_000_000_000)];
        let unit = units.iter().find(|(letter, _)| value.ends_with(*letter));
        let (digits, unit) = match unit {
            Some((_, unit)) => (&value[..value.len() - 1], *unit),
            None => (value, 1),
        };
        let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
        let wrong = || self.wrong(&format!("{name}={value} is no whole number, such as 10K or 1M"));
        number.map(Some).ok_or_else(wrong)
    }

    fn wrong(&self, why: &str) -> Error {
        Error::new(ErrorKind::Usage, format!("`{}`: {why}", self.text))
    }
}
