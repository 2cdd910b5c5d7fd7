//! The pixels of an image: how they are stored, and which number each means (FITS standard 4.0,
//! sections 4.4.2.5 and 5).
//!
//! A pixel's number is BZERO + BSCALE x the stored number. A pixel that stores BLANK or a NaN is
//! undefined.

use super::hdu::Hdu;
use crate::error::Result;
use std::ops::Range;

/// The greatest BZERO that is handled as a whole number.
const WHOLE_MAX: f64 = 18_446_744_073_709_551_616.0; // 2^64

/// How a pixel is stored, big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    U8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Stored {
    pub(super) fn of(bitpix: i64) -> Option<Self> {
        Some(match bitpix {
            8 => Stored::U8,
            16 => Stored::I16,
            32 => Stored::I32,
            64 => Stored::I64,
            -32 => Stored::F32,
            -64 => Stored::F64,
            _ => return None,
        })
    }

    pub(super) fn bitpix(self) -> i64 {
        match self {
            Stored::U8 => 8,
            Stored::I16 => 16,
            Stored::I32 => 32,
            Stored::I64 => 64,
            Stored::F32 => -32,
            Stored::F64 => -64,
        }
    }

    pub(super) fn bytes(self) -> u64 {
        self.bitpix().unsigned_abs() / 8
    }

    pub(super) fn is_float(self) -> bool {
        self.bitpix() < 0
    }

    /// The least and the greatest whole number that can be stored.
    pub(super) fn limits(self) -> (i128, i128) {
        match self {
            Stored::U8 => (0, 255),
            Stored::I16 => (i16::MIN.into(), i16::MAX.into()),
            Stored::I32 => (i32::MIN.into(), i32::MAX.into()),
            _ => (i64::MIN.into(), i64::MAX.into()),
        }
    }
}

/// How a stored number is converted to the pixel's number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) factor: f64,
    pub(super) zero: f64,
}

impl Scale {
    pub(super) const PLAIN: Scale = Scale { factor: 1.0, zero: 0.0 };

    /// BZERO, if it is a whole number and BSCALE is 1. Whole numbers then stay exact. Unsigned
    /// types are stored this way.
    pub(super) fn whole(self) -> Option<i128> {
        let whole = self.factor == 1.0 && self.zero.fract() == 0.0 && self.zero.abs() <= WHOLE_MAX;
        whole.then_some(self.zero as i128)
    }
}

/// An image within a file.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) stored: Stored,
    pub(super) scale: Scale,
    /// The number that undefined pixels store; only for whole-number types.
    pub(super) blank: Option<i64>,
    pub(super) axes: Vec<u64>,
    pub(super) data: Range<u64>,
}

/// A pixel as it is stored.
pub(super) trait Pixel: Copy {
    const BYTES: usize;
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! pixel {
    ($($type:ty),*) => {$(
        impl Pixel for $type {
            const BYTES: usize = size_of::<$type>();
            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$type>()];
                own.copy_from_slice(bytes);
                <$type>::from_be_bytes(own)
            }
        }
    )*};
}

pixel!(u8, i16, i32, i64, f32, f64);

/// The pixels in `bytes`, whose length must be a multiple of a pixel's.
#[inline]
pub(super) fn pixels<P: Pixel>(bytes: &[u8]) -> impl Iterator<Item = P> {
    bytes.chunks_exact(P::BYTES).map(P::from_bytes)
}

impl Image {
    /// The image of an HDU.
    ///
    /// # Errors
    /// The HDU has no image, or its header describes the pixels in an invalid way.
    pub(super) fn of(hdu: &Hdu) -> Result<Self> {
        let header = &hdu.header;
        let stored = match Stored::of(hdu.bitpix) {
            Some(stored) if hdu.has_pixels() => stored,
            _ if header.is_true("ZIMAGE") => {
                return Err(header.refusal(
                    "is a compressed image, stored as a table: unpack it first (funpack)",
                ));
            }
            _ if hdu.is_image => return Err(header.refusal("holds no pixels")),
            _ => return Err(header.refusal("is not an image")),
        };
        let pixels = hdu.axes.iter().product::<u64>();
        if (hdu.data.end - hdu.data.start) / stored.bytes() != pixels {
            return Err(header.refusal(
                "is an image with parameters or groups (PCOUNT, GCOUNT), which none should have",
            ));
        }
        let factor = header.real("BSCALE")?.unwrap_or(1.0);
        if factor == 0.0 {
            let index = header.find("BSCALE").unwrap_or_default();
            return Err(header.fault(index, "a scale of 0 makes all pixels alike"));
        }
        let scale = Scale { factor, zero: header.real("BZERO")?.unwrap_or(0.0) };
        let blank = if stored.is_float() { None } else { header.integer("BLANK")? };
        Ok(Image { stored, scale, blank, axes: hdu.axes.clone(), data: hdu.data.clone() })
    }

    pub(super) fn pixels(&self) -> u64 {
        (self.data.end - self.data.start) / self.stored.bytes()
    }

    /// Calls `each` with each pixel's number, or with NaN for an undefined pixel.
    #[inline]
    pub(super) fn values(&self, bytes: &[u8], each: impl FnMut(f64)) {
        match self.stored {
            Stored::U8 => self.whole_values::<u8>(bytes, each),
            Stored::I16 => self.whole_values::<i16>(bytes, each),
            Stored::I32 => self.whole_values::<i32>(bytes, each),
            Stored::I64 => self.whole(bytes).map(|stored| self.value(stored)).for_each(each),
            Stored::F32 => self.real_values::<f32>(bytes, each),
            Stored::F64 => self.real_values::<f64>(bytes, each),
        }
    }

    /// The stored numbers of 64-bit pixels; `None` for undefined ones.
    #[inline]
    pub(super) fn whole(&self, bytes: &[u8]) -> impl Iterator<Item = Option<i64>> {
        let blank = self.blank;
        pixels::<i64>(bytes).map(move |stored| (Some(stored) != blank).then_some(stored))
    }

    /// The pixel's number for a stored whole number, rounded only once.
    #[inline]
    pub(super) fn value(&self, stored: Option<i64>) -> f64 {
        match (stored, self.scale.whole()) {
            (None, _) => f64::NAN,
            (Some(stored), Some(zero)) => (i128::from(stored) + zero) as f64,
            (Some(stored), None) => self.scale.zero + self.scale.factor * stored as f64,
        }
    }

    #[inline]
    fn whole_values<P: Pixel + Into<i64> + Into<f64>>(
        &self,
        bytes: &[u8],
        mut each: impl FnMut(f64),
    ) {
        let Scale { factor, zero } = self.scale;
        let value = |pixel: P| zero + factor * Into::<f64>::into(pixel);
        match self.blank {
            None => pixels::<P>(bytes).for_each(|pixel| each(value(pixel))),
            Some(blank) => pixels::<P>(bytes).for_each(|pixel| {
                let stored: i64 = pixel.into();
                each(if stored == blank { f64::NAN } else { value(pixel) });
            }),
        }
    }

    #[inline]
    fn real_values<P: Pixel + Into<f64>>(&self, bytes: &[u8], mut each: impl FnMut(f64)) {
        let Scale { factor, zero } = self.scale;
        match self.scale == Scale::PLAIN {
            // Computing 0 + 1 x -0.0 would lose the sign of the zero.
            true => pixels::<P>(bytes).for_each(|pixel| each(pixel.into())),
            false => pixels::<P>(bytes).for_each(|pixel| each(zero + factor * pixel.into())),
        }
    }
}
