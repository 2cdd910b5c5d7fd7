//! Adjusts the world coordinates of a header to a rebinned image (FITS standard 4.0, section 8).
//!
//! The centre of the first pixel is 1. So the position p of the old image is (p - 1/2) / b + 1/2 in
//! the new one, for boxes of b pixels.

use super::card::Value;
use super::header::Header;
use crate::error::Result;

/// Rescales CRPIX, CDELT, CD and PC of both axes, in all alternative systems, and IRAF's LTV and
/// LTM.
///
/// # Errors
/// A value is not a number.
pub(super) fn rebin(header: &mut Header, sizes: [f64; 2]) -> Result<()> {
    let keys: Vec<String> = header.cards.iter().map(|card| card.key().to_owned()).collect();
    for key in keys {
        let Some(rescale) = rule(&key, sizes) else { continue };
        if let Some(value) = header.real(&key)? {
            header.set(&key, Value::Real(rescale.of(value)), "");
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rescale {
    /// A position on an axis whose pixels become this many times larger.
    Place(f64),
    Times(f64),
}

impl Rescale {
    fn of(self, value: f64) -> f64 {
        match self {
            Rescale::Place(size) => (value - 0.5) / size + 0.5,
            Rescale::Times(factor) => value * factor,
        }
    }
}

/// How to rescale a keyword's value; `None` if it does not change.
fn rule(key: &str, sizes: [f64; 2]) -> Option<Rescale> {
    // A letter at the end names an alternative system.
    let plain = match key.as_bytes() {
        [.., digit, letter] if digit.is_ascii_digit() && letter.is_ascii_uppercase() => {
            &key[..key.len() - 1]
        }
        _ => key,
    };
    let size = |axis: &str| match axis {
        "1" => Some(sizes[0]),
        "2" => Some(sizes[1]),
        _ => None,
    };
    let pair =
        |axes: &str| axes.split_once('_').map(|(one, other)| (one.to_owned(), other.to_owned()));
    if let Some(axis) = plain.strip_prefix("CRPIX") {
        return size(axis).map(Rescale::Place);
    }
    if let Some(axis) = plain.strip_prefix("CDELT") {
        return size(axis).map(Rescale::Times);
    }
    if let Some(axis) = plain.strip_prefix("LTV") {
        return size(axis).map(Rescale::Place);
    }
    if let Some((_, axis)) = plain.strip_prefix("LTM").and_then(pair) {
        return size(&axis).map(|size| Rescale::Times(1.0 / size));
    }
    if let Some((_, axis)) = plain.strip_prefix("CD").and_then(pair) {
        return size(&axis).map(Rescale::Times);
    }
    // The first index of a matrix is a world axis, the second an image axis. CDELT multiplies a row
    // of PC and grows by the box size along the row's own axis. PC corrects for the difference.
    let (row, column) = plain.strip_prefix("PC").and_then(pair)?;
    let column = size(&column).unwrap_or(1.0);
    let row = size(&row).unwrap_or(1.0);
    (row != column).then_some(Rescale::Times(column / row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::Card;

    #[test]
    fn a_place_keeps_its_coordinates() {
        let cards = [
            ("CRPIX1", 100.5),
            ("CRPIX2", 7.0),
            ("CDELT1", -0.1),
            ("CDELT2", 0.2),
            ("PC1_2", 0.5),
            ("PC2_1", -0.5),
            ("CD1_2A", 3.0),
            ("CRPIX3", 9.0),
            ("LTV1", 0.5),
            ("LTM2_2", 1.0),
        ];
        let cards =
            cards.iter().map(|(key, value)| Card::new(key, Value::Real(*value), "")).collect();
        let mut header = Header::new(cards);
        rebin(&mut header, [4.0, 2.0]).expect("numbers");
        let now = |key: &str| header.real(key).expect("a number").expect("there");
        assert_eq!([now("CRPIX1"), now("CRPIX2"), now("CRPIX3")], [25.5, 3.75, 9.0]);
        assert_eq!([now("CDELT1"), now("CDELT2"), now("CD1_2A")], [-0.4, 0.4, 6.0]);
        assert_eq!([now("LTV1"), now("LTM2_2")], [0.5, 0.5]);
        // World 1 of a step of one old pixel along axis 2, in old and new terms.
        assert_eq!(-0.1 * 0.5, now("CDELT1") * now("PC1_2") / 2.0);
        assert_eq!(0.2 * -0.5, now("CDELT2") * now("PC2_1") / 4.0);
    }
}
