//! Made-up levels, for tests and to show what tape or a CD would look like. `FILE.sleds.toml`
//! describes the file `FILE` beside it.

use super::claim::{Claim, Presence, Provider, Target};
use crate::config::{bounded_text, from_toml};
use crate::{Confidence, Error, ErrorKind, Level};
use seekless_device::units::{parse_duration, parse_offset, parse_rate};
use serde::Deserialize;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A larger file is not a description.
const BYTES_MAX: u64 = 1 << 20;

/// Answers with the description beside the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    #[serde(default)]
    range: Vec<Described>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    #[serde(default)]
    offset: Option<String>,
    #[serde(default)]
    bytes: Option<String>,
    level: Level,
    #[serde(default)]
    latency: Option<String>,
    #[serde(default)]
    bandwidth: Option<String>,
    #[serde(default)]
    confidence: Option<Confidence>,
    #[serde(default)]
    age: Option<String>,
}

impl Mock {
    /// The path of the description of a file.
    #[must_use]
    pub fn path_of(file: &Path) -> PathBuf {
        let mut name = OsString::from(file);
        name.push(".sleds.toml");
        PathBuf::from(name)
    }

    /// Parses the description of a file of `bytes`. A range without an offset starts where the last
    /// one ended. A range without a length extends to the end of the file.
    ///
    /// # Errors
    /// The text is not a valid description, or its ranges are out of order.
    pub fn parse(text: &str, bytes: u64) -> Result<Vec<Claim>, Error> {
        let description: Description = from_toml(text)?;
        let mut claims: Vec<Claim> = Vec::new();
        let mut at = 0;
        for described in &description.range {
            let offset = number(described.offset.as_deref(), parse_offset)?.unwrap_or(at);
            if offset < at {
                let why = format!("a range starts at {offset}, before the last one ends ({at})");
                return Err(Error::new(ErrorKind::Config, why));
            }
            let end = number(described.bytes.as_deref(), parse_offset)?
                .map_or(bytes, |length| offset.saturating_add(length));
            let end = end.min(bytes);
            if offset < end {
                let age = number(described.age.as_deref(), parse_duration)?
                    .map_or(Duration::ZERO, Duration::from_nanos);
                claims.push(Claim {
                    offset,
                    bytes: end - offset,
                    presence: described.presence()?,
                    age,
                });
            }
            at = end.max(at);
        }
        Ok(claims)
    }
}

impl Described {
    fn presence(&self) -> Result<Presence, Error> {
        let latency = number(self.latency.as_deref(), parse_duration)?.unwrap_or(0);
        let bandwidth = number(self.bandwidth.as_deref(), parse_rate)?
            .map_or(f64::INFINITY, |rate| rate as f64);
        if bandwidth == 0.0 {
            return Err(Error::new(
                ErrorKind::Config,
                "a bandwidth of 0 would never finish a read".to_owned(),
            ));
        }
        let doubt =
            if self.level == Level::Unknown { Confidence::Unknown } else { Confidence::Exact };
        let confidence = self.confidence.unwrap_or(doubt);
        Ok(Presence::Here {
            level: self.level,
            latency: Duration::from_nanos(latency),
            bandwidth,
            confidence,
        })
    }
}

fn number(
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<u64, seekless_device::Error>,
) -> Result<Option<u64>, Error> {
    text.map(parse).transpose().map_err(|error| Error::new(ErrorKind::Config, error.to_string()))
}

impl Provider for Mock {
    fn name(&self) -> &'static str {
        "mock"
    }

    fn claims(&self, target: &Target<'_>) -> Result<Vec<Claim>, Error> {
        let Some(path) = target.path.map(Mock::path_of) else { return Ok(Vec::new()) };
        match bounded_text(&path, BYTES_MAX) {
            Ok(text) => Mock::parse(&text, target.bytes).map_err(|error| error.of_file(&path)),
            Err(error)
                if error.io_error().is_some_and(|io| io.kind() == io::ErrorKind::NotFound) =>
            {
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAPE: &str = r#"
[[range]]
bytes = "1MiB"
level = "memory"
latency = "175ns"
bandwidth = "48MB/s"

[[range]]
level = "archive"
latency = "40s"
bandwidth = "5MB/s"
age = "3s"
"#;

    #[test]
    fn a_description_covers_the_file_to_its_end() {
        let ranges = Mock::parse(TAPE, 4 << 20).expect("understood");
        let shape: Vec<_> =
            ranges.iter().map(|range| (range.offset, range.bytes, range.age.as_secs())).collect();
        assert_eq!(shape, [(0, 1 << 20, 0), (1 << 20, 3 << 20, 3)]);
        assert_eq!(Mock::parse(TAPE, 5).expect("understood").len(), 1, "cut at the file's end");
        assert_eq!(Mock::parse("", 5).expect("nothing said"), []);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let bad = [
            "[[range]]\nlevel = \"tape\"",
            "[[range]]\noffset = \"9\"\nlevel = \"device\"\n[[range]]\noffset = \"3\"\nlevel = \"device\"",
            "[[range]]\nlevel = \"device\"\nbandwidth = \"0\"",
            "[[range]]\nlevel = \"device\"\nlatency = \"long\"",
            "range = 5",
        ];
        for text in bad {
            assert_eq!(Mock::parse(text, 100).expect_err(text).kind(), ErrorKind::Config);
        }
    }
}
