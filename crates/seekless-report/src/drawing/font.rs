//! DejaVu Sans, which the `dejavu` crate carries: outlines for the PNG and widths for the layout of both.

use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

static REGULAR: LazyLock<Option<Face<'static>>> =
    LazyLock::new(|| Face::parse(dejavu::sans::regular(), 0).ok());
static BOLD: LazyLock<Option<Face<'static>>> = LazyLock::new(|| Face::parse(dejavu::sans::bold(), 0).ok());

fn face(bold: bool) -> Option<&'static Face<'static>> {
    if bold { BOLD.as_ref() } else { REGULAR.as_ref() }
}

/// Pixels that a line of words takes.
pub(crate) fn width(words: &str, size: f64, bold: bool) -> f64 {
    let Some(face) = face(bold) else { return 0.0 };
    let units: f64 = words.chars().map(|letter| advance(face, glyph(face, letter))).sum();
    units * size / f64::from(face.units_per_em())
}

/// Traces the outlines of a line of words whose baseline starts at 0, 0, in pixels with y downwards. `start` hears where each
/// letter begins and gives the builder for it, in font units with y upwards; the scale is the second argument.
pub(super) fn outline<B: OutlineBuilder>(
    words: &str,
    size: f64,
    bold: bool,
    mut letter: impl FnMut(f64, f64, &dyn Fn(&mut B)),
) {
    let Some(face) = face(bold) else { return };
    let scale = size / f64::from(face.units_per_em());
    let mut x = 0.0;
    for glyph in words.chars().map(|letter| glyph(face, letter)) {
        letter(x * scale, scale, &|builder: &mut B| {
            face.outline_glyph(glyph, builder);
        });
        x += advance(face, glyph);
    }
}

/// The box of the font where it lacks a letter.
fn glyph(face: &Face, letter: char) -> GlyphId {
    face.glyph_index(letter).unwrap_or(GlyphId(0))
}

fn advance(face: &Face, glyph: GlyphId) -> f64 {
    face.glyph_hor_advance(glyph).map_or(0.0, f64::from)
}
