//! The sums of boxes of pixels.
//!
//! A row of boxes is summed at once, from whole rows of pixels. So no sum depends on the order in
//! which the file was read. Whole numbers are summed exactly.

use super::image::{Image, Pixel, Scale, Stored, pixels};
use crate::error::{Error, ErrorKind, Result};
use std::ops::AddAssign;

/// How the output stores its pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) stored: Stored,
    pub(super) scale: Scale,
}

/// How a box of input pixels becomes one output pixel.
#[derive(Clone, Debug)]
pub(super) struct Boxes {
    pub(super) image: Image,
    /// The size of a box in pixels.
    pub(super) width: u64,
    pub(super) height: u64,
    /// Whether to divide a sum by the number of pixels in a box.
    pub(super) average: bool,
    /// The number used in place of an undefined pixel.
    pub(super) undefined: f64,
    /// Whether a number that cannot be stored is replaced by the nearest that can; otherwise it is
    /// an error.
    pub(super) clamp: bool,
    pub(super) target: Target,
}

/// The sum of the stored numbers of a box's defined pixels, and the count of undefined ones.
#[derive(Clone, Copy, Debug, Default)]
struct Sum<S> {
    sum: S,
    undefined: u64,
}

/// The number of an output pixel, before it is converted to the output's type.
#[derive(Clone, Copy, Debug)]
enum Number {
    Whole(i128),
    Real(f64),
}

/// Counts of undefined and clamped pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Undefined pixels.
    pub(super) undefined: u64,
    /// Boxes whose number could not be stored.
    pub(super) clamped: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: Tally) {
        self.undefined += other.undefined;
        self.clamped += other.clamped;
    }
}

impl Boxes {
    /// Pixels in a box.
    fn pixels(&self) -> i128 {
        i128::from(self.width) * i128::from(self.height)
    }

    /// Makes one row of the output, appended to `out`, from the `height` rows of pixels in `band`.
    ///
    /// # Errors
    /// A number cannot be stored and may not be clamped. The message names the output's row, `row`.
    pub(super) fn row(&self, band: &[u8], row: u64, out: &mut Vec<u8>) -> Result<Tally> {
        match self.image.stored {
            Stored::U8 => self.whole_row::<u8, i64>(band, row, out),
            Stored::I16 => self.whole_row::<i16, i64>(band, row, out),
            // 64 bits hold the sum of 2^31 pixels of 32 bits, and no row of a box has more pixels.
            Stored::I32 => self.whole_row::<i32, i64>(band, row, out),
            Stored::I64 => self.whole_row::<i64, i128>(band, row, out),
            Stored::F32 => self.real_row::<f32>(band, row, out),
            Stored::F64 => self.real_row::<f64>(band, row, out),
        }
    }

    /// Adds up, for each box, the results of `add` for each of the box's rows of pixels.
    fn sums<S: Copy + Default + AddAssign>(
        &self,
        band: &[u8],
        pixel_bytes: usize,
        add: impl Fn(&[u8]) -> Sum<S>,
    ) -> Vec<Sum<S>> {
        let row_bytes = self.image.axes[0] as usize * pixel_bytes;
        let box_bytes = self.width as usize * pixel_bytes;
        let mut sums = vec![Sum::default(); row_bytes / box_bytes];
        for pixels in band.chunks_exact(row_bytes) {
            for (total, part) in sums.iter_mut().zip(pixels.chunks_exact(box_bytes)) {
                let part = add(part);
                total.sum += part.sum;
                total.undefined += part.undefined;
            }
        }
        sums
    }

    /// Sums boxes of whole numbers. `Part` is a type that can hold the sum of one row of a box.
    fn whole_row<P, Part>(&self, band: &[u8], row: u64, out: &mut Vec<u8>) -> Result<Tally>
    where
        P: Pixel + Into<i64>,
        Part: From<i64> + Into<i128> + std::iter::Sum,
    {
        let sums = match self.image.blank {
            None => self.sums(band, P::BYTES, |part| {
                let sum: Part = pixels::<P>(part).map(|pixel| Part::from(pixel.into())).sum();
                Sum { sum: sum.into(), undefined: 0 }
            }),
            Some(blank) => self.sums(band, P::BYTES, |part| {
                let stored = || pixels::<P>(part).map(Into::<i64>::into);
                let sum: Part = stored().filter(|&pixel| pixel != blank).map(Part::from).sum();
                let undefined = stored().filter(|&pixel| pixel == blank).count() as u64;
                Sum { sum: sum.into(), undefined }
            }),
        };
        self.finish(sums.iter().map(|sum| (self.of_whole(*sum), sum.undefined)), row, out)
    }

    fn real_row<P: Pixel + Into<f64>>(
        &self,
        band: &[u8],
        row: u64,
        out: &mut Vec<u8>,
    ) -> Result<Tally> {
        let sums = self.sums(band, P::BYTES, |part| {
            let mut found = Sum { sum: 0.0, undefined: 0 };
            for pixel in pixels::<P>(part) {
                let pixel: f64 = pixel.into();
                match pixel.is_nan() {
                    true => found.undefined += 1,
                    false => found.sum += pixel,
                }
            }
            found
        });
        self.finish(
            sums.iter().map(|sum| (self.of_real(sum.sum, sum.undefined), sum.undefined)),
            row,
            out,
        )
    }

    /// The number of a box of whole-number pixels. It is exact if BZERO, BSCALE and the number for
    /// undefined pixels are whole too.
    fn of_whole(&self, found: Sum<i128>) -> Number {
        let defined = self.pixels() - i128::from(found.undefined);
        let filling = match self.undefined {
            _ if found.undefined == 0 => Some(0),
            number => (number.fract() == 0.0 && number.abs() < 1e18).then_some(number as i128),
        };
        let (Some(zero), Some(filling)) = (self.image.scale.whole(), filling) else {
            return self.of_real(found.sum as f64, found.undefined);
        };
        let sum = found.sum + zero * defined + filling * i128::from(found.undefined);
        match self.average {
            false => Number::Whole(sum),
            true if self.target.stored.is_float() => {
                Number::Real(sum as f64 / self.pixels() as f64)
            }
            true => Number::Whole(rounded(sum, self.pixels())),
        }
    }

    fn of_real(&self, sum: f64, undefined: u64) -> Number {
        let Scale { factor, zero } = self.image.scale;
        let pixels = self.pixels() as f64;
        let mut number = sum;
        if self.image.scale != Scale::PLAIN {
            number = factor * sum + zero * (pixels - undefined as f64);
        }
        if undefined > 0 {
            number += self.undefined * undefined as f64;
        }
        Number::Real(if self.average { number / pixels } else { number })
    }

    fn finish(
        &self,
        numbers: impl Iterator<Item = (Number, u64)>,
        row: u64,
        out: &mut Vec<u8>,
    ) -> Result<Tally> {
        let mut tally = Tally::default();
        for (column, (number, undefined)) in numbers.enumerate() {
            tally.undefined += undefined;
            match self.target.stored {
                Stored::F32 => out.extend((self.unscaled(number) as f32).to_be_bytes()),
                Stored::F64 => out.extend(self.unscaled(number).to_be_bytes()),
                stored => {
                    let (least, greatest) = stored.limits();
                    let whole =
                        self.whole(number).filter(|whole| (least..=greatest).contains(whole));
                    let whole = match whole {
                        Some(whole) => whole,
                        None if self.clamp => {
                            tally.clamped += 1;
                            self.nearest(number, least, greatest)
                        }
                        None => return Err(self.overflow(number, column as u64, row)),
                    };
                    let bytes = whole.to_be_bytes();
                    out.extend(&bytes[bytes.len() - stored.bytes() as usize..]);
                }
            }
        }
        Ok(tally)
    }

    /// The double to store for a number, by the output's BZERO and BSCALE.
    fn unscaled(&self, number: Number) -> f64 {
        let Scale { factor, zero } = self.target.scale;
        let number = match number {
            Number::Whole(whole) => whole as f64,
            Number::Real(real) => real,
        };
        if self.target.scale == Scale::PLAIN { number } else { (number - zero) / factor }
    }

    /// The whole number to store for a number, rounded half away from zero (as Fortran's NINT);
    /// `None` if it is far too large.
    fn whole(&self, number: Number) -> Option<i128> {
        if let (Number::Whole(whole), Some(zero)) = (number, self.target.scale.whole()) {
            return Some(whole - zero);
        }
        let real = self.unscaled(number).round();
        (real.abs() < 1e30).then_some(real as i128)
    }

    fn nearest(&self, number: Number, least: i128, greatest: i128) -> i128 {
        match self.whole(number) {
            Some(whole) => whole.clamp(least, greatest),
            // Adding infinities of both signs gives NaN, which a cast would turn into 0.
            None => (self.unscaled(number) as i64).into(),
        }
        .clamp(least, greatest)
    }

    fn overflow(&self, number: Number, column: u64, row: u64) -> Error {
        let number = match number {
            Number::Whole(whole) => whole.to_string(),
            Number::Real(real) => real.to_string(),
        };
        let what = format!(
            "pixel {} of row {} of the output would be {number}, which BITPIX {} cannot hold: take another --datatype, \
             --average, or --overflow for the nearest that it can",
            column + 1,
            row + 1,
            self.target.stored.bitpix()
        );
        Error::new(ErrorKind::Invalid, what)
    }
}

/// A quotient rounded to the nearest whole number, half away from zero.
fn rounded(sum: i128, divisor: i128) -> i128 {
    let half = divisor / 2;
    let magnitude = (sum.unsigned_abs() as i128 + half) / divisor;
    if sum < 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_rounded_half_away_from_zero() {
        for (sum, divisor, expected) in [
            (7, 2, 4),
            (-7, 2, -4),
            (5, 3, 2),
            (4, 3, 1),
            (-4, 3, -1),
            (0, 9, 0),
            (10, 4, 3),
            (-10, 4, -3),
        ] {
            assert_eq!(rounded(sum, divisor), expected, "{sum} / {divisor}");
        }
    }
}
