//! DejaVu Sans, which the `dejavu` crate carries: outlines for the PNG and widths for the layout of
//! both.

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};
use std::sync::LazyLock;

static REGULAR: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| FontRef::new(dejavu::sans::regular()).ok());
static BOLD: LazyLock<Option<FontRef<'static>>> =
    LazyLock::new(|| FontRef::new(dejavu::sans::bold()).ok());

fn font(bold: bool) -> Option<&'static FontRef<'static>> {
    if bold { BOLD.as_ref() } else { REGULAR.as_ref() }
}

/// Pixels that a line of words takes.
pub(crate) fn width(words: &str, size: f64, bold: bool) -> f64 {
    let Some(font) = font(bold) else { return 0.0 };
    words.chars().map(|letter| advance(font, glyph(font, letter), size)).sum()
}

/// Traces the outlines of a line of words whose baseline starts at 0, 0, in pixels with y upwards.
/// `letter` gets where each letter begins, and what draws the letter with a pen.
pub(super) fn outline<P: OutlinePen>(
    words: &str,
    size: f64,
    bold: bool,
    mut letter: impl FnMut(f64, &dyn Fn(&mut P)),
) {
    let Some(font) = font(bold) else { return };
    let outlines = font.outline_glyphs();
    let mut x = 0.0;
    for glyph in words.chars().map(|letter| glyph(font, letter)) {
        letter(x, &|pen: &mut P| {
            let settings = DrawSettings::unhinted(Size::new(size as f32), LocationRef::default());
            if let Some(outline) = outlines.get(glyph) {
                // The font is ours: each of its outlines can be drawn.
                let _ = outline.draw(settings, pen);
            }
        });
        x += advance(font, glyph, size);
    }
}

/// The box of the font where it lacks a letter.
fn glyph(font: &FontRef, letter: char) -> GlyphId {
    font.charmap().map(letter).unwrap_or(GlyphId::NOTDEF)
}

fn advance(font: &FontRef, glyph: GlyphId, size: f64) -> f64 {
    let metrics = font.glyph_metrics(Size::new(size as f32), LocationRef::default());
    metrics.advance_width(glyph).map_or(0.0, f64::from)
}
