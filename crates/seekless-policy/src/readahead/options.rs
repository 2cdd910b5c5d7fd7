//! What a user may set of every readahead.

use crate::{Error, ErrorKind};
use std::fmt;
use std::str::FromStr;

/// Bytes of a page.
pub(super) const PAGE_BYTES: u64 = 4096;

/// How far a readahead may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The largest window in pages. With 0 a readahead reads what is asked for and nothing ahead.
    pub max_pages: u32,
    /// Where the marker of a window lies.
    pub lead: Lead,
}

impl Default for Options {
    /// Windows of at most 128 KiB, as in Linux unless the device asks for more.
    fn default() -> Self {
        Self { max_pages: 32, lead: Lead::Auto }
    }
}

impl Options {
    /// The default options, with windows of at most `bytes`, rounded down to pages.
    #[must_use]
    pub fn with_max_bytes(bytes: u64) -> Self {
        let max_pages = u32::try_from(bytes / PAGE_BYTES).unwrap_or(u32::MAX);
        Self { max_pages, ..Self::default() }
    }
}

/// How many pages of a window are left to read when the next window is fetched: its marker lies
/// that many pages before its end (`async_size` in Wu 2010, section 2.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lead {
    /// As the algorithm has it; mostly the whole window.
    #[default]
    Auto,
    /// No marker: the next window is fetched when the reader misses.
    Off,
    /// This many pages, at most the whole window.
    Pages(u32),
}

impl Lead {
    /// The lead of a window of `pages`, where the algorithm would take `auto`.
    pub(super) fn of(self, auto: u64, pages: u64) -> u64 {
        match self {
            Lead::Auto => auto,
            Lead::Off => 0,
            Lead::Pages(lead) => u64::from(lead).min(pages),
        }
    }
}

impl FromStr for Lead {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        match word {
            "auto" => Ok(Lead::Auto),
            "off" => Ok(Lead::Off),
            _ => word.parse().map(Lead::Pages).map_err(|_| {
                let message = format!("`{word}` is no lead: write auto, off or a number of pages");
                Error::new(ErrorKind::BadParameter, message)
            }),
        }
    }
}

impl fmt::Display for Lead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lead::Auto => out.pad("auto"),
            Lead::Off => out.pad("off"),
            Lead::Pages(pages) => pages.fmt(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_is_read_as_it_is_printed() {
        for lead in [Lead::Auto, Lead::Off, Lead::Pages(0), Lead::Pages(17)] {
            assert_eq!(lead.to_string().parse::<Lead>().unwrap(), lead);
        }
        let error = "most".parse::<Lead>().unwrap_err();
        assert!(error.to_string().contains("auto, off or a number"), "{error}");
    }

    #[test]
    fn a_maximum_in_bytes_is_whole_pages() {
        assert_eq!(Options::with_max_bytes(131_072), Options::default());
        assert_eq!(Options::with_max_bytes(4095).max_pages, 0);
        assert_eq!(Options::with_max_bytes(u64::MAX).max_pages, u32::MAX);
    }
}
