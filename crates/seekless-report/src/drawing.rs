//! A picture as a list of shapes, which become SVG or PNG: charts lay out, the two writers draw.
//!
//! Colours have names, so that an SVG can swap them where its reader asks for dark; a PNG is for a
//! light page. Widths of text come from the PNG's font, which is wider than those that an SVG asks
//! for, so what fits there fits everywhere.

mod font;
mod png;
mod shape;
mod svg;

pub(crate) use font::width as text_width;
pub use shape::Drawing;
#[cfg(test)]
pub(crate) use shape::assert_texts_keep_apart;
pub(crate) use shape::{Anchor, Ink, Shape, Text};
use std::path::Path;
pub(crate) use svg::dark_rules;

/// What a picture is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scalable, light or dark as its reader asks.
    Svg,
    /// Pixels, two for each unit of the SVG.
    Png,
}

impl Format {
    /// By the file's ending, or what to type instead.
    ///
    /// # Errors
    /// It is neither `.svg` nor `.png`.
    pub fn of(path: &Path) -> Result<Self, String> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            _ => Err(format!("{}: a picture's name ends in .svg or .png", path.display())),
        }
    }
}

impl Drawing {
    /// As a whole SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::write(self)
    }

    /// As an element of an HTML page whose style has [`dark_rules`].
    #[must_use]
    pub(crate) fn svg_in_page(&self) -> String {
        svg::write_in_page(self)
    }

    /// As a PNG file, two pixels for each unit.
    #[must_use]
    pub fn png(&self) -> Vec<u8> {
        png::write(self)
    }

    /// The bytes of the picture's file.
    #[must_use]
    pub fn encode(&self, format: Format) -> Vec<u8> {
        match format {
            Format::Svg => self.svg().into_bytes(),
            Format::Png => self.png(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_decides() {
        assert_eq!(Format::of(Path::new("a/b.SVG")), Ok(Format::Svg));
        assert_eq!(Format::of(Path::new("b.png")), Ok(Format::Png));
        assert!(Format::of(Path::new("b.pdf")).unwrap_err().contains(".svg or .png"));
        assert!(Format::of(Path::new("png")).is_err());
    }
}
