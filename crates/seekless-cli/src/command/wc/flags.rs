//! The options of wc: GNU's, in the order in which it names those that an abbreviation may stand
//! for, and ours.

use super::{Draft, Wrong, duration, held, total};
use crate::getopt::{Flag, Value};
use seekless::sled::Plan;
use std::ffi::OsStr;

/// Sets what an option with this value asks for.
pub(super) type Sets = fn(&mut Draft, &OsStr) -> Result<(), Wrong>;

const fn gnus(long: &'static [&'static str], doc: &'static str, sets: Sets) -> Flag<Sets> {
    Flag { short: b"", long, value: Value::No, group: "Options", doc, abbreviates: true, sets }
}

const fn ours(long: &'static [&'static str], doc: &'static str, sets: Sets) -> Flag<Sets> {
    Flag { abbreviates: false, group: "Options of seekless", ..gnus(long, doc, sets) }
}

pub(super) const FLAGS: [Flag<Sets>; 17] = [
    Flag {
        short: b"c",
        ..gnus(&["bytes"], "Print the bytes", |draft, _| set(&mut draft.wanted.bytes))
    },
    Flag {
        short: b"m",
        ..gnus(&["chars"], "Print the characters", |draft, _| set(&mut draft.wanted.characters))
    },
    Flag {
        short: b"l",
        ..gnus(&["lines"], "Print the newlines", |draft, _| set(&mut draft.wanted.lines))
    },
    Flag {
        short: b"L",
        ..gnus(&["max-line-length"], "Print the columns of the longest line", |draft, _| {
            set(&mut draft.wanted.columns)
        })
    },
    Flag {
        short: b"w",
        ..gnus(&["words"], "Print the words", |draft, _| set(&mut draft.wanted.words))
    },
    Flag {
        value: Value::Required("F"),
        ..gnus(
            &["files0-from"],
            "Count the files whose names stand in F, each ended by a NUL; - is standard input",
            |draft, list| {
                draft.list = Some(list.to_owned());
                Ok(())
            },
        )
    },
    Flag {
        value: Value::Required("WHEN"),
        ..gnus(
            &["total"],
            "When to print a line for all: auto (the default), always, only, never",
            |draft, when| {
                draft.total = total(when)?;
                Ok(())
            },
        )
    },
    ours(&["linear"], "Read file by file from the first byte to the last", |draft, _| {
        draft.plan = Plan::Linear;
        Ok(())
    }),
    ours(&["cached-only"], "Count only cached bytes, and name the files skipped", |draft, _| {
        set(&mut draft.reach.cached_only)
    }),
    Flag {
        value: Value::Required("TIME"),
        ..ours(
            &["max-latency"],
            "Leave out what takes longer than this (100ms, say) to its first byte, and name it",
            |draft, time| {
                draft.reach.max_latency = Some(duration(time, "--max-latency")?);
                Ok(())
            },
        )
    },
    Flag {
        value: Value::Required("TIME"),
        ..ours(
            &["max-wait"],
            "Leave out what takes longer than this (10s, say) to its last byte, and name it",
            |draft, time| {
                draft.reach.max_wait = Some(duration(time, "--max-wait")?);
                Ok(())
            },
        )
    },
    ours(&["recall"], "Recall archived files at once, not after all others", |draft, _| {
        set(&mut draft.reach.recall)
    }),
    Flag {
        value: Value::Required("BYTES"),
        ..ours(
            &["hold"],
            "Hold this many cached bytes (64MiB, say) in memory until they are counted",
            |draft, bytes| {
                draft.hold_bytes = held(bytes)?;
                Ok(())
            },
        )
    },
    ours(&["json"], "Print the counts and figures as JSON", |draft, _| set(&mut draft.json)),
    ours(&["stats"], "Say on standard error what was read from where", |draft, _| {
        set(&mut draft.stats)
    }),
    gnus(&["help"], "Print help", |_, _| Err(Wrong::Help)),
    gnus(&["version"], "Print version", |_, _| Err(Wrong::Version)),
];

fn set(what: &mut bool) -> Result<(), Wrong> {
    *what = true;
    Ok(())
}
