//! Capacities as users write them: sizes, shares of the working set, and ranges of either.

use crate::requests::Totals;
use crate::unit::{PAGE_BYTES, Unit};
use crate::{Error, ErrorKind, Result};
use seekless_device::units::parse_bytes;
use std::str::FromStr;

/// A range gives at most this many capacities.
const RANGE_MAX: usize = 1000;
/// Shares are whole numbers of millionths of a percent.
const PER_PERCENT: u64 = 1_000_000;

/// One or more capacities: `64MB`, `10000pages`, `10%` or `0.1` of the working set, `1MB..64MB*2`
/// (each twice the one before) or `10%..50%+10%` (each 10 % more). The last capacity of a range is
/// at or below its end. A number alone is one of ids where all weigh 1, and of bytes for files and
/// objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacities(Vec<Size>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Bytes(u64),
    /// A number alone: of ids, or of bytes of files or objects.
    Number(u64),
    /// A share of the working set, in units of 1 / ([`PER_PERCENT`] × 100).
    Share(u64),
}

impl Size {
    fn number(self) -> u64 {
        match self {
            Size::Bytes(number) | Size::Number(number) | Size::Share(number) => number,
        }
    }

    fn with(self, number: u64) -> Self {
        match self {
            Size::Bytes(_) => Size::Bytes(number),
            Size::Number(_) => Size::Number(number),
            Size::Share(_) => Size::Share(number),
        }
    }
}

impl Capacities {
    /// A capacity of this many bytes; for bare ids, of this many ids.
    #[must_use]
    pub fn of_bytes(bytes: u64) -> Self {
        Self(vec![Size::Bytes(bytes)])
    }

    /// The capacities in bytes, or in ids for bare ids. A share is rounded down to whole pages,
    /// bytes or ids, and is at least 1.
    ///
    /// # Errors
    /// A number alone, where it may mean bytes or pages; a cache of less than a page.
    pub fn resolve(&self, totals: &Totals) -> Result<Vec<u64>> {
        self.0.iter().map(|size| resolved(*size, totals)).collect()
    }

    /// As [`Capacities::resolve`], for a working set of this many pages.
    ///
    /// # Errors
    /// As [`Capacities::resolve`].
    pub fn resolve_pages(&self, pages: u64) -> Result<Vec<u64>> {
        self.resolve(&Totals::of_pages(pages))
    }

    /// Whether one of them is a share of the working set.
    pub(crate) fn has_share(&self) -> bool {
        self.0.iter().any(|size| matches!(size, Size::Share(_)))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

fn resolved(size: Size, totals: &Totals) -> Result<u64> {
    let unit_bytes = totals.unit_bytes();
    match size {
        Size::Bytes(bytes) if (1..unit_bytes).contains(&bytes) => {
            Err(wrong(&format!("{bytes}B"), "at least a page of 4096 bytes, such as 1page"))
        }
        Size::Bytes(bytes) => Ok(bytes),
        Size::Number(0) => Ok(0),
        Size::Number(number) if totals.unit == Unit::Page => {
            Err(wrong(&number.to_string(), &format!("a unit, such as {number}pages or {number}MB")))
        }
        Size::Number(number) => Ok(number),
        Size::Share(share) => {
            let whole = u128::from(totals.distinct_weight) * u128::from(share);
            let units = (whole / u128::from(100 * PER_PERCENT)).max(1) as u64;
            Ok(units.saturating_mul(unit_bytes))
        }
    }
}

impl FromStr for Capacities {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once("..") {
            Some((start, rest)) => range(text, start, rest).map(Self),
            None => Ok(Self(vec![size(text)?])),
        }
    }
}

fn range(text: &str, start: &str, rest: &str) -> Result<Vec<Size>> {
    let expected = "a range such as 1MB..64MB*2 or 10%..50%+10%";
    let (end, step, multiplies) = match (rest.split_once('*'), rest.split_once('+')) {
        (Some((end, step)), None) => (end, step, true),
        (None, Some((end, step))) => (end, step, false),
        _ => return Err(wrong(text, expected)),
    };
    let (start, end) = (size(start)?, size(end)?);
    let next: Box<dyn Fn(u64) -> u64> = if multiplies {
        let factor: f64 = step
            .parse()
            .ok()
            .filter(|&factor| factor > 1.0)
            .ok_or_else(|| wrong(step, "a factor over 1"))?;
        Box::new(move |number| (number as f64 * factor).round() as u64)
    } else {
        let step = size(step)?;
        if step.with(0) != start.with(0) {
            return Err(wrong(text, "sizes or shares, not both"));
        }
        Box::new(move |number| number.saturating_add(step.number()))
    };
    if start.with(0) != end.with(0) || start.number() > end.number() {
        return Err(wrong(text, expected));
    }
    let mut sizes = vec![start];
    let mut at = start.number();
    while next(at) > at && next(at) <= end.number() {
        at = next(at);
        sizes.push(start.with(at));
        if sizes.len() > RANGE_MAX {
            return Err(wrong(text, "at most 1,000 capacities; take larger steps"));
        }
    }
    Ok(sizes)
}

fn size(text: &str) -> Result<Size> {
    if let Some(percent) = text.strip_suffix('%') {
        return share(percent)
            .map(Size::Share)
            .ok_or_else(|| wrong(text, "a share such as 0.5% or 10%"));
    }
    if let Some(pages) = text.strip_suffix("pages").or_else(|| text.strip_suffix("page")) {
        let bytes =
            pages.trim().parse::<u64>().ok().and_then(|pages| pages.checked_mul(PAGE_BYTES));
        return bytes
            .map(Size::Bytes)
            .ok_or_else(|| wrong(text, "a number of pages such as 10000pages"));
    }
    let is_of = |text: &str, more: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || more.contains(c))
    };
    if is_of(text, "") {
        let number = text.parse().map_err(|_| wrong(text, "a number below 2^64"))?;
        return Ok(Size::Number(number));
    }
    if is_of(text, ".") {
        return fraction(text).map(Size::Share).ok_or_else(|| {
            wrong(text, "a share of the working set such as 0.1 or 10%, or a unit")
        });
    }
    parse_bytes(text)
        .map(Size::Bytes)
        .map_err(|error| Error::new(ErrorKind::Usage, error.to_string()))
}

/// A share as libCacheSim has it, above 0 and at most 1: `0.1` is 10 %.
fn fraction(text: &str) -> Option<u64> {
    let (whole, digits) = text.split_once('.').filter(|(_, digits)| !digits.is_empty())?;
    let (moved, rest) = digits.split_at(digits.len().min(2));
    let percent = share(&format!("{whole}{moved:0<2}.{rest}"))?;
    (percent <= 100 * PER_PERCENT).then_some(percent)
}

/// Millionths of a percent, without rounding.
fn share(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 6 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
    let share = whole.parse::<u64>().ok()?.checked_mul(PER_PERCENT)?.checked_add(fraction)?;
    (share > 0).then_some(share)
}

fn wrong(text: &str, expected: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("`{text}`: expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Requests;

    fn resolved(text: &str) -> Vec<u64> {
        // 48,974 pages.
        let requests = Requests::from_pages((0..48_974).collect());
        text.parse::<Capacities>().unwrap().resolve(&requests.totals()).unwrap()
    }

    #[test]
    fn a_fraction_is_a_share_and_a_number_needs_a_unit_where_it_may_mean_two_things() {
        assert_eq!([resolved("0.1"), resolved("1.0")], [resolved("10%"), resolved("100%")]);
        assert_eq!([resolved("0.5"), resolved("0.00125")], [resolved("50%"), resolved("0.125%")]);
        assert_eq!(resolved("0.1..0.3*2"), resolved("10%..30%*2"));
        let at = |text: &str, requests: &Requests| {
            text.parse::<Capacities>().unwrap().resolve(&requests.totals())
        };
        let (pages, files) = (Requests::from_pages(vec![0]), Requests::from_files(&[0], &[7]));
        let ids = Requests::from_files(&[0], &[1]);
        let objects = Requests::from_sized(&[0], &[7]);
        assert_eq!((at("10", &ids).unwrap(), at("10", &objects).unwrap()), (vec![10], vec![10]));
        let refused = |text, requests| at(text, requests).unwrap_err().to_string();
        assert_eq!(refused("10", &pages), "`10`: expected a unit, such as 10pages or 10MB");
        assert_eq!(at("10", &files).unwrap(), [10]);
        assert!(refused("10B", &pages).contains("at least a page"));
        assert_eq!(at("0", &pages).unwrap(), [0]);
    }

    #[test]
    fn shares_are_of_the_working_set_and_rounded_down() {
        let pages = |percent: &str| resolved(percent)[0] / 4096;
        assert_eq!(["1%", "5%", "10%", "20%", "40%"].map(pages), [489, 2448, 4897, 9794, 19_589]);
        assert_eq!((pages("0.000001%"), pages("250%")), (1, 122_435));
    }

    #[test]
    fn ranges_step_by_factor_or_sum_and_stop_at_their_end() {
        assert_eq!(resolved("1MB..5MB*2"), [1_000_000, 2_000_000, 4_000_000]);
        assert_eq!(resolved("1MB..3MB+1MB"), [1_000_000, 2_000_000, 3_000_000]);
        assert_eq!(resolved("10%..30%+10%"), [4897 * 4096, 9794 * 4096, 14_692 * 4096]);
        assert_eq!(resolved("10000pages"), [40_960_000]);
        assert_eq!(resolved("64MiB"), [64 << 20]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for bad in [
            "",
            "x",
            "%",
            "0%",
            "1MB..2MB",
            "2MB..1MB*2",
            "1MB..2MB*1",
            "1%..2MB*2",
            "1B..9MB+1B",
            "1MB..2MB+1%",
            "pages",
            "1.5",
            "0.0",
            "1.",
            "..5*2",
            "1..2MB*2",
        ] {
            assert_eq!(bad.parse::<Capacities>().unwrap_err().kind(), ErrorKind::Usage, "{bad}");
        }
    }
}
