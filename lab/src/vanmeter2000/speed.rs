//! The speed of the device: 200 MB/s, or one of the paper's (Tables 2 and 3), or the caller's.

use seekless::device::units::{format_rate, parse_rate};
use serde::Serialize;
use std::str::FromStr;

/// A throttle. A latency becomes a limit on requests, which is the same with one request in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Speed {
    pub(super) name: String,
    pub(super) bytes_per_second: Option<u64>,
    pub(super) requests_per_second: Option<u64>,
}

/// The paper's devices: latency in milliseconds, bytes a second.
const PAPER: [(&str, u64, u64); 4] = [
    ("disk", 18_000, 9_000_000),
    ("cdrom", 130_000, 2_800_000),
    ("nfs", 270_000, 1_000_000),
    ("fits-disk", 16_500, 7_000_000),
];

impl FromStr for Speed {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        if let Some(&(name, micros, bytes_per_second)) =
            PAPER.iter().find(|(name, ..)| *name == word)
        {
            let requests_per_second = Some((1_000_000 / micros).max(1));
            return Ok(Speed {
                name: name.to_owned(),
                bytes_per_second: Some(bytes_per_second),
                requests_per_second,
            });
        }
        let bytes_per_second = parse_rate(word).map_err(|error| {
            format!("{error}; or one of the paper's: disk, cdrom, nfs, fits-disk")
        })?;
        Ok(Speed {
            name: format_rate(bytes_per_second),
            bytes_per_second: Some(bytes_per_second),
            requests_per_second: None,
        })
    }
}

impl Speed {
    /// A device that limits itself.
    pub(super) fn unlimited(name: &str) -> Self {
        Speed { name: name.to_owned(), bytes_per_second: None, requests_per_second: None }
    }

    pub(super) fn words(&self) -> String {
        match (self.bytes_per_second, self.requests_per_second) {
            (Some(bytes), Some(requests)) => {
                format!("{}: {}, {requests} requests/s", self.name, format_rate(bytes))
            }
            _ => self.name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_devices_have_their_latency_as_a_bound_on_requests() {
        let disk: Speed = "disk".parse().unwrap();
        assert_eq!((disk.bytes_per_second, disk.requests_per_second), (Some(9_000_000), Some(55)));
        assert_eq!("nfs".parse::<Speed>().unwrap().requests_per_second, Some(3));
        let plain: Speed = "200MB/s".parse().unwrap();
        assert_eq!((plain.bytes_per_second, plain.requests_per_second), (Some(200_000_000), None));
        assert!("tape".parse::<Speed>().unwrap_err().contains("cdrom"));
    }
}
