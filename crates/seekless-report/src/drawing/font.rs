//! DejaVu Sans, which the `dejavu` crate carries: outlines for the PNG and widths for the layout of
//! both.

use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

static REGULAR: LazyLock<Option<Face<'static>>> =
    LazyLock::new(|| Face::parse(dejavu::sans::regular(), 0).ok());
static BOLD: LazyLock<Option<Face<'static>>> =
    LazyLock::new(|| Face::parse(dejavu::sans::bold(), 0).ok());

fn font(bold: bool) -> Option<&'static Face<'static>> {
    if bold { BOLD.as_ref() } else { REGULAR.as_ref() }
}

/// Pixels that a line of words takes.
pub(crate) fn width(words: &str, size: f64, bold: bool) -> f64 {
    let Some(font) = font(bold) else { return 0.0 };
    words.chars().map(|letter| advance(font, glyph(font, letter)) * unit(font, size)).sum()
}

/// Traces the outlines of a line of words whose baseline starts at 0, 0, with y upwards. `letter`
/// gets where each letter begins in pixels, how many pixels a unit of its outline takes, and the
/// outline.
pub(super) fn outline<B: OutlineBuilder + Default>(
    words: &str,
    size: f64,
    bold: bool,
    mut letter: impl FnMut(f64, f64, B),
) {
    let Some(font) = font(bold) else { return };
    let unit = unit(font, size);
    let mut x = 0.0;
    for glyph in words.chars().map(|letter| glyph(font, letter)) {
        let mut outline = B::default();
        font.outline_glyph(glyph, &mut outline);
        letter(x, unit, outline);
        x += advance(font, glyph) * unit;
    }
}

/// The box of the font, glyph 0, where it lacks a letter.
fn glyph(font: &Face, letter: char) -> GlyphId {
    font.glyph_index(letter).unwrap_or_default()
}

/// In units of the font.
fn advance(font: &Face, glyph: GlyphId) -> f64 {
    font.glyph_hor_advance(glyph).map_or(0.0, f64::from)
}

/// Pixels that a unit of the font takes.
fn unit(font: &Face, size: f64) -> f64 {
    size / f64::from(font.units_per_em())
}
