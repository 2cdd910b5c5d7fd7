//! The bins of a histogram: which bin a number falls into, and how many numbers each bin holds.

use super::image::{Image, Stored};
use super::pass::Work;
use super::write::Sink;
use crate::error::{Error, ErrorKind, Result};

/// The most bins that a histogram may have.
pub const BINS_MAX: u64 = 1 << 24;

/// One end of the range. A whole number is kept exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound {
    pub(super) real: f64,
    pub(super) whole: Option<i128>,
}

impl Bound {
    pub(super) fn real(real: f64) -> Self {
        // No pixel of a whole-number type exceeds 2^64.
        let whole = (real.fract() == 0.0 && real.abs() <= 1.9e19).then_some(real as i128);
        Bound { real, whole }
    }

    pub(super) fn whole(whole: i128) -> Self {
        Bound { real: whole as f64, whole: Some(whole) }
    }
}

/// How the range is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Division {
    /// Into bins of this width. A bin excludes its upper edge, and the last bin holds the upper end
    /// of the range.
    Size(f64),
    /// Into this many bins. The last one includes the upper end of the range.
    Count(u64),
}

/// How many whole steps of `size` fit between the two ends.
fn steps(low: Bound, high: Bound, size: f64) -> f64 {
    match (low.whole, high.whole, Bound::real(size).whole) {
        (Some(low), Some(high), Some(size)) if size > 0 => ((high - low) / size) as f64,
        _ => ((high.real - low.real) / size).floor(),
    }
}

/// A histogram that is being filled.
#[derive(Clone, Debug)]
pub(super) struct Bins {
    image: Image,
    pub(super) low: Bound,
    pub(super) high: Bound,
    pub(super) size: f64,
    /// Lower end, upper end and width for 64-bit whole numbers, which a double cannot hold.
    whole: Option<(i128, i128, i128)>,
    pub(super) counts: Vec<u64>,
    pub(super) below: u64,
    pub(super) above: u64,
    /// Undefined pixels.
    pub(super) undefined: u64,
}

impl Bins {
    /// Empty bins over `low` to `high`, both included.
    ///
    /// # Errors
    /// The upper end is below the lower one, an end is not finite, or there would be too many bins.
    pub(super) fn new(image: &Image, low: Bound, high: Bound, division: Division) -> Result<Self> {
        let invalid = |what: String| Err(Error::new(ErrorKind::Invalid, what));
        let width = high.real - low.real;
        if !width.is_finite() || width < 0.0 {
            return invalid(format!("no range goes from {} up to {}", low.real, high.real));
        }
        let (size, count) = match division {
            Division::Size(size) => (size, steps(low, high, size) + 1.0),
            // All pixels have the same value.
            Division::Count(count) if width == 0.0 => (1.0, count as f64),
            Division::Count(count) => (width / count as f64, count as f64),
        };
        if size.is_nan() || size <= 0.0 {
            return invalid(format!(
                "{} to {} cannot be divided into {count} bins",
                low.real, high.real
            ));
        }
        if count > BINS_MAX as f64 {
            return invalid(format!(
                "that would be {count:.0} bins, and {BINS_MAX} is the most: take wider ones"
            ));
        }
        let exact = image.stored == Stored::I64 && image.scale.whole().is_some();
        let whole = match (low.whole, high.whole, Bound::real(size).whole) {
            (Some(low), Some(high), Some(size)) if exact => Some((low, high, size)),
            _ => None,
        };
        let counts = vec![0; count as usize];
        Ok(Bins {
            image: image.clone(),
            low,
            high,
            size,
            whole,
            counts,
            below: 0,
            above: 0,
            undefined: 0,
        })
    }

    /// Counts a number `times` times. A NaN counts as an undefined pixel.
    #[inline]
    pub(super) fn add(&mut self, value: f64, times: u64) {
        if value.is_nan() {
            self.undefined += times;
        } else if value < self.low.real {
            self.below += times;
        } else if value > self.high.real {
            self.above += times;
        } else {
            let bin = ((value - self.low.real) / self.size) as usize;
            let last = self.counts.len() - 1;
            self.counts[bin.min(last)] += times;
        }
    }

    #[inline]
    fn add_whole(&mut self, value: i128, (low, high, size): (i128, i128, i128)) {
        if value < low {
            self.below += 1;
        } else if value > high {
            self.above += 1;
        } else {
            let last = self.counts.len() - 1;
            self.counts[((value - low) / size).min(last as i128) as usize] += 1;
        }
    }

    /// The lower edge of a bin. For `counts.len()`, it is the upper edge of the last bin.
    pub(super) fn edge(&self, bin: usize) -> f64 {
        self.low.real + bin as f64 * self.size
    }

    /// The number of pixels in all bins.
    pub(super) fn counted(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn count(&mut self, bytes: &[u8]) {
        let image = self.image.clone();
        match (self.whole, image.scale.whole()) {
            (Some(range), Some(zero)) => image.whole(bytes).for_each(|stored| match stored {
                Some(stored) => self.add_whole(i128::from(stored) + zero, range),
                None => self.undefined += 1,
            }),
            _ => image.values(bytes, |value| self.add(value, 1)),
        }
    }
}

impl Work for Bins {
    fn records(&mut self, _at: u64, bytes: &[u8], _sink: &mut Sink) -> Result<()> {
        self.count(bytes);
        Ok(())
    }

    fn restart(&mut self) {
        self.counts.fill(0);
        (self.below, self.above, self.undefined) = (0, 0, 0);
    }
}

/// How often each stored number of 8 or 16 bits occurs. A histogram over any range can be computed
/// from this without another pass.
#[derive(Clone, Debug)]
pub(super) struct Frequencies {
    image: Image,
    counts: Vec<u64>,
}

impl Frequencies {
    pub(super) fn new(image: &Image) -> Option<Self> {
        let values = match image.stored {
            Stored::U8 => 1 << 8,
            Stored::I16 => 1 << 16,
            _ => return None,
        };
        Some(Frequencies { image: image.clone(), counts: vec![0; values] })
    }

    /// Each number that occurs, with its count. NaN stands for undefined pixels.
    pub(super) fn values(&self) -> Vec<(f64, u64)> {
        let mut found = Vec::new();
        for (at, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let stored = match self.image.stored {
                Stored::U8 => vec![at as u8],
                _ => (at as u16).to_be_bytes().to_vec(),
            };
            self.image.values(&stored, |value| found.push((value, count)));
        }
        found
    }
}

impl Work for Frequencies {
    fn records(&mut self, _at: u64, bytes: &[u8], _sink: &mut Sink) -> Result<()> {
        let counts = &mut self.counts;
        match self.image.stored {
            Stored::U8 => bytes.iter().for_each(|&pixel| counts[usize::from(pixel)] += 1),
            _ => super::image::pixels::<i16>(bytes)
                .for_each(|pixel| counts[usize::from(pixel as u16)] += 1),
        }
        Ok(())
    }

    fn restart(&mut self) {
        self.counts.fill(0);
    }
}

/// The least and the greatest finite number.
#[derive(Clone, Debug)]
pub(super) struct Extremes {
    image: Image,
    least: f64,
    greatest: f64,
    /// Least and greatest as stored, for 64-bit whole numbers.
    stored: Option<(i64, i64)>,
}

impl Extremes {
    pub(super) fn new(image: &Image) -> Self {
        Extremes {
            image: image.clone(),
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
            stored: None,
        }
    }

    pub(super) fn add(&mut self, value: f64) {
        if value.is_finite() {
            self.least = self.least.min(value);
            self.greatest = self.greatest.max(value);
        }
    }

    /// Least and greatest, or `None` if no pixel has a finite number.
    pub(super) fn bounds(&self) -> Option<(Bound, Bound)> {
        if let (Some((least, greatest)), Some(zero)) = (self.stored, self.image.scale.whole()) {
            return Some((
                Bound::whole(i128::from(least) + zero),
                Bound::whole(i128::from(greatest) + zero),
            ));
        }
        (self.least <= self.greatest).then(|| (Bound::real(self.least), Bound::real(self.greatest)))
    }
}

impl Work for Extremes {
    fn records(&mut self, _at: u64, bytes: &[u8], _sink: &mut Sink) -> Result<()> {
        let image = self.image.clone();
        if image.stored == Stored::I64 && image.scale.whole().is_some() {
            for stored in image.whole(bytes).flatten() {
                let (least, greatest) = self.stored.unwrap_or((stored, stored));
                self.stored = Some((least.min(stored), greatest.max(stored)));
            }
        } else {
            image.values(bytes, |value| self.add(value));
        }
        Ok(())
    }

    fn restart(&mut self) {
        *self = Extremes::new(&self.image);
    }
}
