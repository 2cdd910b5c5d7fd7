//! Checks both tools against naive models, for every pixel type and in every order of pieces; on
//! damaged files; and against fitsverify and astropy where they are installed.

mod damage;
mod histograms;
mod oracles;
mod rebins;

use super::card::{Card, Value};
use super::feed::{Feed, Stretch, Visit};
use super::hdu::Source;
use super::header::Header;
use super::image::{Image, Stored};
use crate::error::Result;
use seekless_read::Records;
use std::path::Path;

/// Numbers that depend on a seed alone (xorshift).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        (self.roll() >> 16) % limit
    }
}

/// An image to be written.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) bitpix: i64,
    pub(super) axes: Vec<u64>,
    pub(super) cards: Vec<(&'static str, f64)>,
    pub(super) blank: Option<i64>,
    /// Big-endian.
    pub(super) data: Vec<u8>,
}

impl Made {
    /// Pixels of moderate size, one in sixteen undefined: BLANK, or a NaN.
    pub(super) fn new(bitpix: i64, axes: &[u64], seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let blank = (bitpix > 0 && seed.is_multiple_of(2)).then_some(7);
        let mut data = Vec::new();
        for _ in 0..axes.iter().product() {
            let undefined = dice.below(16) == 0;
            let small = dice.below(200) as i64 - if bitpix == 8 { 0 } else { 100 };
            let large = dice.roll() as i64;
            match bitpix {
                8 => data.push(if undefined { 7 } else { small as u8 }),
                16 => data.extend((if undefined { 7 } else { small as i16 * 3 }).to_be_bytes()),
                32 => {
                    data.extend((if undefined { 7 } else { small as i32 * 70_001 }).to_be_bytes())
                }
                64 => data.extend((if undefined { 7 } else { large >> 12 }).to_be_bytes()),
                -32 => data
                    .extend((if undefined { f32::NAN } else { small as f32 * 0.37 }).to_be_bytes()),
                _ => data
                    .extend((if undefined { f64::NAN } else { large as f64 / 1e15 }).to_be_bytes()),
            }
        }
        Made { bitpix, axes: axes.to_vec(), cards: Vec::new(), blank, data }
    }

    pub(super) fn card(mut self, key: &'static str, value: f64) -> Self {
        self.cards.push((key, value));
        self
    }

    /// As an HDU: whole blocks.
    pub(super) fn hdu(&self, primary: bool) -> Vec<u8> {
        let mut bytes = self.header(primary).encode();
        bytes.extend(&self.data);
        bytes.resize(bytes.len().next_multiple_of(2880), 0);
        bytes
    }

    pub(super) fn header(&self, primary: bool) -> Header {
        let whole =
            |key: &str, value: i128| Card::new(key, Value::Integer(value), "made for a test");
        let mut cards = vec![match primary {
            true => Card::new("SIMPLE", Value::Logical(true), "FITS"),
            false => Card::new("XTENSION", Value::Text("IMAGE"), "an image"),
        }];
        cards.push(whole("BITPIX", self.bitpix.into()));
        cards.push(whole("NAXIS", self.axes.len() as i128));
        for (axis, &length) in self.axes.iter().enumerate() {
            cards.push(whole(&format!("NAXIS{}", axis + 1), length.into()));
        }
        if !primary {
            cards.extend([whole("PCOUNT", 0), whole("GCOUNT", 1)]);
        }
        // A zero that is written as a real number makes real pixels of whole ones, for some
        // readers.
        let written = |value: f64| {
            if value.fract() == 0.0 { Value::Integer(value as i128) } else { Value::Real(value) }
        };
        cards.extend(self.cards.iter().map(|(key, value)| Card::new(key, written(*value), "")));
        cards.extend(self.blank.map(|blank| whole("BLANK", blank.into())));
        Header::new(cards)
    }

    fn scale(&self, key: &str, otherwise: f64) -> f64 {
        self.cards.iter().find(|card| card.0 == key).map_or(otherwise, |card| card.1)
    }

    /// What each pixel stands for, computed the plain way; `None` is undefined.
    pub(super) fn numbers(&self) -> Vec<Option<f64>> {
        let (factor, zero) = (self.scale("BSCALE", 1.0), self.scale("BZERO", 0.0));
        let stored = |bytes: &[u8]| -> Option<f64> {
            let whole = |value: i64| (Some(value) != self.blank).then_some(value as f64);
            match self.bitpix {
                8 => whole(bytes[0].into()),
                16 => whole(i16::from_be_bytes(bytes.try_into().unwrap()).into()),
                32 => whole(i32::from_be_bytes(bytes.try_into().unwrap()).into()),
                64 => whole(i64::from_be_bytes(bytes.try_into().unwrap())),
                -32 => Some(f32::from_be_bytes(bytes.try_into().unwrap()).into()),
                _ => Some(f64::from_be_bytes(bytes.try_into().unwrap())),
            }
        };
        let pixels = self.data.chunks_exact(self.bitpix.unsigned_abs() as usize / 8);
        pixels
            .map(|pixel| {
                stored(pixel).filter(|number| !number.is_nan()).map(|number| zero + factor * number)
            })
            .collect()
    }
}

/// Hands out a file in random pieces in random order. With `restarts` it starts again once, midway.
pub(super) struct Shuffled {
    pub(super) dice: Dice,
    pub(super) restarts: bool,
}

impl Feed for Shuffled {
    fn pass(&mut self, stretch: Stretch<'_>, visit: &mut dyn Visit) -> Result<()> {
        let Stretch { source, from, records } = stretch;
        let Records::Fixed { origin, bytes: record } = records else { panic!("records are fixed") };
        let file = std::fs::read(&source.path).expect("readable");
        // Every place at which a record may begin.
        let edges =
            |at: &u64| *at > from && (*at + record - origin % record).is_multiple_of(record);
        let mut cuts: Vec<u64> = (from + 1..file.len() as u64).filter(edges).collect();
        let pieces = self.dice.below(20) as usize;
        while cuts.len() > pieces {
            cuts.swap_remove(self.dice.below(cuts.len() as u64) as usize);
        }
        cuts.extend([from, file.len() as u64]);
        cuts.sort_unstable();
        let mut pieces: Vec<(u64, u64)> = cuts.windows(2).map(|cut| (cut[0], cut[1])).collect();
        let count = pieces.len();
        for at in 0..count {
            pieces.swap(at, self.dice.below(count as u64) as usize);
        }
        if std::mem::take(&mut self.restarts) {
            for (start, end) in &pieces[..count / 2] {
                let lies: Vec<u8> =
                    file[*start as usize..*end as usize].iter().map(|byte| byte ^ 1).collect();
                visit.piece(*start, &lies)?;
            }
            visit.restart();
        }
        for (start, end) in pieces {
            visit.piece(start, &file[start as usize..end as usize])?;
        }
        Ok(())
    }
}

/// Writes HDUs as a file.
pub(super) fn write(path: &Path, hdus: &[Vec<u8>]) {
    std::fs::write(path, hdus.concat()).expect("room");
}

/// The image of an HDU of a file, and its pixels' numbers as our own reader gives them.
pub(super) fn read_image(path: &Path, hdu: usize) -> (Image, Vec<f64>) {
    let source = Source::open(path).expect("a FITS file");
    let image = Image::of(&source.hdus[hdu]).expect("an image");
    let file = std::fs::read(path).expect("readable");
    let mut numbers = Vec::new();
    image.values(&file[image.data.start as usize..image.data.end as usize], |number| {
        numbers.push(number)
    });
    (image, numbers)
}

#[test]
fn every_kind_of_pixel_reads_as_the_plain_way_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.fits");
    for bitpix in [8, 16, 32, 64, -32, -64] {
        for (factor, zero) in [(1.0, 0.0), (1.0, 32768.0), (0.25, -3.5)] {
            let made = Made::new(bitpix, &[5, 4, 2], 2).card("BSCALE", factor).card("BZERO", zero);
            write(&path, &[made.hdu(true)]);
            let (image, numbers) = read_image(&path, 0);
            assert_eq!(image.stored, Stored::of(bitpix).expect("known"));
            let expected = made.numbers();
            assert_eq!(numbers.len(), expected.len());
            for (number, expected) in numbers.iter().zip(expected) {
                assert_eq!(
                    (!number.is_nan()).then_some(*number),
                    expected,
                    "{bitpix} {factor} {zero}"
                );
            }
        }
    }
}
