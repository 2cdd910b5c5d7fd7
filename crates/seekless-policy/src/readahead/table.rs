//! The table of all readaheads. A row has the name, the constructor, one line on what it does, and
//! the source. A new readahead is a file and a row.

use super::matcher::Matcher;
use super::{Fixed, Legacy, NoReadahead, Options, Readahead, Streams, linux, ondemand};
use crate::{Error, ErrorKind, Result};
use seekless_device::nearest;

/// A readahead as lists show it.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// Which program it is from, or who published it.
    pub source: &'static str,
    build: fn(Options) -> Box<dyn Readahead>,
}

/// Every readahead that [`named`] knows.
pub const READAHEADS: &[About] = &[
    About {
        name: "none",
        what: "fetches what is asked for, and nothing ahead",
        source: "folklore",
        build: |_| Box::new(NoReadahead),
    },
    About {
        name: "legacy",
        what: "two windows; every read that does not follow the last one closes them",
        source: "Linux 2.6.22",
        build: |options| Box::new(Legacy::new(options)),
    },
    About {
        name: "ondemand",
        what: "one window and a marker in the cache; streams may interleave",
        source: "Wu, Xi and Xu 2010; Linux 2.6.24",
        build: |options| Box::new(Matcher::new(&ondemand::ALGORITHM, options)),
    },
    About {
        name: "linux",
        what: "ondemand that also finds streams by what they left in the cache",
        source: "Linux 6.x",
        build: |options| Box::new(Matcher::new(&linux::ALGORITHM, options)),
    },
    About {
        name: "ahead-15",
        what: "a miss fetches the 15 pages after it too, for block traces",
        source: "McCarthy 2015, further work",
        build: |options| Box::new(Fixed::new(options)),
    },
    About {
        name: "ahead-15@gate",
        what: "the same while the requests saved are worth the pages read",
        source: "Seekless",
        build: |options| Box::new(Fixed::gated(options)),
    },
    About {
        name: "streams",
        what: "a table of streams in any order: forward, backward, strided, sparse",
        source: "Seekless, after zfetch (OpenZFS) and Leap (2020)",
        build: |options| Box::new(Streams::new(options)),
    },
];

/// The readahead called `name`.
///
/// # Errors
/// No readahead has that name.
pub fn named(name: &str, options: Options) -> Result<Box<dyn Readahead>> {
    Ok((find(name)?.build)(options))
}

/// Says whether [`named`] knows a name.
///
/// # Errors
/// It does not. The message has the names most like it.
pub fn check_name(name: &str) -> Result<()> {
    find(name).map(|_| ())
}

fn find(name: &str) -> Result<&'static About> {
    READAHEADS.iter().find(|about| about.name == name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Error {
    let names: Vec<&str> = READAHEADS.iter().map(|about| about.name).collect();
    let near = match nearest(name, names.iter().copied()) {
        near if near.is_empty() => String::new(),
        near => format!("; near it are {}", near.join(", ")),
    };
    let message = format!("no readahead is called {name:?}{near}; there are {}", names.join(", "));
    Error::new(ErrorKind::UnknownName, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_readahead_has_a_line_and_can_be_built() {
        for (at, about) in READAHEADS.iter().enumerate() {
            assert!(named(about.name, Options::default()).is_ok(), "{}", about.name);
            assert!(!about.what.is_empty() && !about.source.is_empty(), "{}", about.name);
            let twice = READAHEADS[..at].iter().any(|other| other.name == about.name);
            assert!(!twice, "{} twice", about.name);
        }
    }

    #[test]
    fn a_typo_is_answered_with_what_is_near() {
        for (wrong, meant) in [("on-demand", "ondemand"), ("Linux", "linux"), ("lagacy", "legacy")]
        {
            let error = check_name(wrong).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnknownName);
            assert!(error.to_string().contains(&format!("near it are {meant}")), "{error}");
        }
    }
}
