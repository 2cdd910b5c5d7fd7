//! What the words of an operation column mean.

use crate::Op;
use std::collections::BTreeMap;
use std::str::FromStr;

/// The words of caches of keys and values, and of published traces of stores. An entry that is read
/// or stored is asked for, so that it is a load. A `delete` becomes no row, as in other simulators,
/// unless it is said to be a `remove`.
const KEY_VALUE: [(&str, Meaning); 26] = [
    ("get", Meaning::Row(Op::Load)),
    ("gets", Meaning::Row(Op::Load)),
    ("gat", Meaning::Row(Op::Load)),
    ("gats", Meaning::Row(Op::Load)),
    ("get_lease", Meaning::Row(Op::Load)),
    ("set", Meaning::Row(Op::Load)),
    ("set_lease", Meaning::Row(Op::Load)),
    ("put", Meaning::Row(Op::Load)),
    ("add", Meaning::Row(Op::Load)),
    ("replace", Meaning::Row(Op::Load)),
    ("cas", Meaning::Row(Op::Load)),
    ("append", Meaning::Row(Op::Load)),
    ("prepend", Meaning::Row(Op::Load)),
    ("incr", Meaning::Row(Op::Load)),
    ("decr", Meaning::Row(Op::Load)),
    ("delete", Meaning::LeftOut),
    ("invalidate", Meaning::LeftOut),
    ("getchunkdata.notinitialized", Meaning::Row(Op::Read)),
    ("getchunkdata.permanent", Meaning::Row(Op::Read)),
    ("putchunk.notinitialized", Meaning::Row(Op::Write)),
    ("putchunk.permanent", Meaning::Row(Op::Write)),
    ("rest.get.object", Meaning::Row(Op::Load)),
    ("rest.put.object", Meaning::Row(Op::Load)),
    ("rest.copy.object", Meaning::Row(Op::Load)),
    ("rest.head.object", Meaning::LeftOut),
    ("rest.delete.object", Meaning::LeftOut),
];

/// What becomes of a row with some word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Row(Op),
    LeftOut,
}

/// What the words of an operation column mean, parsed from `get=load,delete=remove` or
/// `set=skip`. Words that are
/// not named mean what they usually do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ops(BTreeMap<String, Meaning>);

impl FromStr for Ops {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = BTreeMap::new();
        for part in text.split(',') {
            let (word, op) =
                part.split_once('=').ok_or_else(|| format!("`{part}`: expected WORD=OPERATION"))?;
            let meaning = match op {
                "skip" => Meaning::LeftOut,
                op => Meaning::Row(op.parse().map_err(|wrong| format!("`{op}`: {wrong} skip"))?),
            };
            if words.insert(word.trim().to_ascii_lowercase(), meaning).is_some() {
                return Err(format!("gives `{word}` two meanings"));
            }
        }
        Ok(Ops(words))
    }
}

impl Ops {
    /// What `text` means. The error says what was expected.
    pub(super) fn meaning(&self, text: &[u8]) -> Result<Meaning, String> {
        let text = text.trim_ascii();
        // The words of traces themselves, which are most.
        if self.0.is_empty()
            && let Some(op) = std::str::from_utf8(text).ok().and_then(|word| word.parse().ok())
        {
            return Ok(Meaning::Row(op));
        }
        let word = String::from_utf8_lossy(text).to_ascii_lowercase();
        if let Some(&meaning) = self.0.get(&word) {
            return Ok(meaning);
        }
        if let Some((_, meaning)) = KEY_VALUE.iter().find(|(known, _)| *known == word) {
            return Ok(*meaning);
        }
        match word.as_str() {
            "r" => Ok(Meaning::Row(Op::Read)),
            "w" => Ok(Meaning::Row(Op::Write)),
            word => {
                let shown = text[..text.len().min(40)].escape_ascii();
                let op = word.parse().map_err(|wrong| {
                    format!("has op `{shown}`, {wrong}; --ops can give it a meaning")
                });
                op.map(Meaning::Row)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_what_they_usually_do_unless_told_otherwise() {
        let usual = Ops::default();
        assert_eq!(usual.meaning(b" Read ").unwrap(), Meaning::Row(Op::Read));
        assert_eq!(usual.meaning(b"W").unwrap(), Meaning::Row(Op::Write));
        assert_eq!(usual.meaning(b"GET").unwrap(), Meaning::Row(Op::Load));
        assert_eq!(usual.meaning(b"DELETE").unwrap(), Meaning::LeftOut);
        let error = usual.meaning(b"touched").unwrap_err();
        assert!(error.starts_with("has op `touched`, expected one of"), "{error}");
        let told: Ops = "SET=skip,fetched=read,read=write".parse().unwrap();
        assert_eq!(told.meaning(b"set").unwrap(), Meaning::LeftOut);
        assert_eq!(told.meaning(b"fetched").unwrap(), Meaning::Row(Op::Read));
        assert_eq!(told.meaning(b"read").unwrap(), Meaning::Row(Op::Write));
        assert_eq!(told.meaning(b"get").unwrap(), Meaning::Row(Op::Load));
        let told: Ops = "delete=remove".parse().unwrap();
        assert_eq!(told.meaning(b"DELETE").unwrap(), Meaning::Row(Op::Remove));
        for wrong in ["get", "get=fly", "a=read,A=write"] {
            assert!(wrong.parse::<Ops>().is_err(), "{wrong}");
        }
    }
}
