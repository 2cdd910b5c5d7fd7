//! When dirty pages that stay in the cache are written: periodically, when there are too many, or
//! when the program syncs.

use crate::{Error, ErrorKind, Result};
use seekless_device::units::parse_duration;
use std::fmt;
use std::str::FromStr;

/// When dirty pages are written back. An eviction always writes. By default nothing else does, as
/// in Ozen's program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WriteBack {
    /// Writes all dirty pages once in a period.
    pub every: Option<Period>,
    /// Writes all dirty pages when they exceed this share of the capacity (0 to 1).
    pub dirty_max: Option<f64>,
    /// Writes the dirty pages of a file when the trace has a sync of it.
    pub on_sync: bool,
}

/// A period of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Nanoseconds of the trace's time.
    Time(u64),
    /// A number of requests.
    Requests(u64),
}

impl WriteBack {
    /// Whether pages are written other than by eviction.
    #[must_use]
    pub fn is_active(&self) -> bool {
        *self != Self::default()
    }

    /// Whether the requests must have times.
    #[must_use]
    pub fn needs_times(&self) -> bool {
        matches!(self.every, Some(Period::Time(_)))
    }
}

/// `evict`; or one or more of `every=30s` (or `every=10000`, requests), `dirty=10%` and `sync`,
/// separated by commas.
impl FromStr for WriteBack {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut rule = Self::default();
        for part in text.split(',') {
            match part.split_once('=') {
                None if part == "evict" => {}
                None if part == "sync" => rule.on_sync = true,
                Some(("every", period)) => rule.every = Some(parse_period(period)?),
                Some(("dirty", share)) => rule.dirty_max = Some(parse_share(share)?),
                _ => {
                    return Err(wrong(
                        part,
                        "evict, every=TIME, every=REQUESTS, dirty=PERCENT% or sync",
                    ));
                }
            }
        }
        Ok(rule)
    }
}

impl fmt::Display for WriteBack {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("evict")?;
        match self.every {
            Some(Period::Time(nanoseconds)) => write!(out, ",every={nanoseconds}ns")?,
            Some(Period::Requests(requests)) => write!(out, ",every={requests}")?,
            None => {}
        }
        if let Some(share) = self.dirty_max {
            write!(out, ",dirty={}%", 100.0 * share)?;
        }
        if self.on_sync { out.write_str(",sync") } else { Ok(()) }
    }
}

fn parse_period(text: &str) -> Result<Period> {
    let period = match text.parse() {
        Ok(requests) => Period::Requests(requests),
        Err(_) => Period::Time(
            parse_duration(text)
                .map_err(|error| Error::new(ErrorKind::Usage, error.to_string()))?,
        ),
    };
    match period {
        Period::Time(0) | Period::Requests(0) => Err(wrong(text, "more than 0")),
        period => Ok(period),
    }
}

fn parse_share(text: &str) -> Result<f64> {
    let percent = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    match percent {
        Some(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(wrong(text, "a share of the capacity, such as 10%")),
    }
}

fn wrong(text: &str, expected: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("`{text}`: expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_written() {
        let rule: WriteBack = "every=30s,dirty=10%,sync".parse().unwrap();
        let every = Some(Period::Time(30_000_000_000));
        assert_eq!(rule, WriteBack { every, dirty_max: Some(0.1), on_sync: true });
        let rule: WriteBack = "every=500".parse().unwrap();
        assert_eq!((rule.every, rule.needs_times()), (Some(Period::Requests(500)), false));
        assert!(!"evict".parse::<WriteBack>().unwrap().is_active());
        for bad in ["", "every", "every=0", "every=x", "dirty=5", "dirty=101%", "never"] {
            assert_eq!(bad.parse::<WriteBack>().unwrap_err().kind(), ErrorKind::Usage, "{bad}");
        }
    }
}
