//! The words for a rule of write-back.

use super::{Period, Shrink, WriteBack};
use crate::unit::PAGE_BYTES;
use crate::{Error, ErrorKind, Result};
use seekless_device::units::{parse_bytes, parse_duration};
use seekless_policy::cache::write_back::Cluster;
use std::str::FromStr;

const EXPECTED: &str = "evict, linux, sync, every=PERIOD, dirty=SHARE%, expire=PERIOD, wake=PERIOD, \
                        background=SHARE%, limit=SHARE%, cluster=file, cluster=SIZE or \
                        shrink=SHARE%@FROM..UNTIL";

/// `evict`, `linux`, or rules such as `every=30s` (or `every=10000`, requests), `dirty=10%`,
/// `expire=30s`, `background=10%`, `limit=20%`, `cluster=file`, `shrink=50%@60s..90s` and `sync`,
/// separated by commas. A later rule replaces an earlier one, so that `linux,expire=10s` is Linux
/// with another age.
impl FromStr for WriteBack {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut rule = Self::default();
        for part in text.split(',') {
            match part.split_once('=') {
                None if part == "evict" => {}
                None if part == "linux" => rule = Self { shrink: rule.shrink, ..Self::LINUX },
                None if part == "sync" => rule.on_sync = true,
                Some(("every", period)) => rule.every = Some(parse_period(period)?),
                Some(("expire", period)) => rule.expire = Some(parse_period(period)?),
                Some(("wake", period)) => rule.wake = Some(parse_period(period)?),
                Some(("dirty", share)) => rule.dirty_max = Some(parse_share(share)?),
                Some(("background", share)) => rule.background = Some(parse_share(share)?),
                Some(("limit", share)) => rule.limit = Some(parse_share(share)?),
                Some(("cluster", what)) => rule.cluster = parse_cluster(what)?,
                Some(("shrink", how)) => rule.shrink = Some(parse_shrink(how)?),
                _ => return Err(wrong(part, EXPECTED)),
            }
        }
        rule.check()
    }
}

fn parse_period(text: &str) -> Result<Period> {
    match parse_instant(text)? {
        Period::Time(0) | Period::Requests(0) => Err(wrong(text, "more than 0")),
        period => Ok(period),
    }
}

fn parse_instant(text: &str) -> Result<Period> {
    match text.parse() {
        Ok(requests) => Ok(Period::Requests(requests)),
        Err(_) => Ok(Period::Time(
            parse_duration(text)
                .map_err(|error| Error::new(ErrorKind::Usage, error.to_string()))?,
        )),
    }
}

fn parse_share(text: &str) -> Result<f64> {
    let percent = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    match percent {
        Some(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(wrong(text, "a share of the capacity, such as 10%")),
    }
}

fn parse_cluster(text: &str) -> Result<Cluster> {
    if text == "file" {
        return Ok(Cluster::File);
    }
    let pages = match text.strip_suffix("pages") {
        Some(number) => number.parse().ok(),
        None => parse_bytes(text).ok().map(|bytes| bytes / PAGE_BYTES),
    };
    match pages {
        Some(pages) if pages > 0 => Ok(Cluster::Pages(pages)),
        _ => Err(wrong(text, "file, or a size of at least a page, such as 64KiB or 16pages")),
    }
}

/// `50%@60s..90s`.
fn parse_shrink(text: &str) -> Result<Shrink> {
    let parts =
        text.split_once('@').and_then(|(share, when)| Some((share, when.split_once("..")?)));
    let Some((share, (from, until))) = parts else {
        return Err(wrong(text, "a share and when, such as 50%@60s..90s"));
    };
    let (from, until) = (parse_instant(from)?, parse_instant(until)?);
    Ok(Shrink { share: parse_share(share)?, from, until })
}

fn wrong(text: &str, expected: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("`{text}`: expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> WriteBack {
        text.parse().unwrap()
    }

    #[test]
    fn rules_are_read_as_written() {
        let every = Some(Period::Time(30_000_000_000));
        let expected =
            WriteBack { every, dirty_max: Some(0.1), on_sync: true, ..WriteBack::default() };
        assert_eq!(rule("every=30s,dirty=10%,sync"), expected);
        let requests = rule("every=500");
        assert_eq!((requests.every, requests.needs_times()), (Some(Period::Requests(500)), false));
        assert!(!rule("evict").is_active());
        assert_eq!(rule("linux"), WriteBack::LINUX);
        let own = rule("linux,expire=10s,cluster=64KiB,shrink=50%@1s..2s");
        assert_eq!(own.expire, Some(Period::Time(10_000_000_000)));
        assert_eq!((own.cluster, own.limit), (Cluster::Pages(16), Some(0.2)));
        let (from, until) = (Period::Time(1_000_000_000), Period::Time(2_000_000_000));
        assert_eq!(own.shrink, Some(Shrink { share: 0.5, from, until }));
        assert_eq!(rule(&own.to_string()), own, "what is printed can be read");
        assert_eq!(rule("expire=600").wakes(), Some(Period::Requests(100)));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for bad in [
            "",
            "every",
            "every=0",
            "every=x",
            "dirty=5",
            "dirty=101%",
            "never",
            "cluster=1",
            "cluster=0pages",
            "shrink=50%",
            "shrink=50%@9s..3s",
            "background=30%,limit=20%",
            "expire=30s,wake=100",
            "wake=5s",
        ] {
            let error = bad.parse::<WriteBack>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{bad}");
        }
    }
}
