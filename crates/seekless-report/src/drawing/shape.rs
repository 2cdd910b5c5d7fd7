//! What a picture is made of: shapes in named colours, in pixels from the top left.

#[cfg(test)]
use super::font::width as text_width;

/// A colour by what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Page,
    Text,
    Quiet,
    Grid,
    Before,
    After,
    /// The n-th of a chart's series.
    Series(usize),
}

/// Light and dark of each series; more series begin again. The hues are those of Okabe and Ito,
/// which the colour-blind tell apart, as dark (or as light) as words on the page must be.
const SERIES: [(u32, u32); 8] = [
    (0x0072b2, 0x56b4e9),
    (0xc04f00, 0xff9a4d),
    (0x00805d, 0x3ddbb0),
    (0xaa3377, 0xe58ac0),
    (0x806600, 0xf0e442),
    (0x1a86bd, 0x9ad8ff),
    (0x1f2328, 0xe6edf3),
    (0x6e7781, 0x9198a1),
];

impl Ink {
    /// How many differ.
    pub(super) const ALL: usize = 6 + SERIES.len();

    pub(super) fn number(self) -> usize {
        match self {
            Ink::Page => 0,
            Ink::Text => 1,
            Ink::Quiet => 2,
            Ink::Grid => 3,
            Ink::Before => 4,
            Ink::After => 5,
            Ink::Series(index) => 6 + index % SERIES.len(),
        }
    }

    pub(super) fn all() -> impl Iterator<Item = Ink> {
        let named = [Ink::Page, Ink::Text, Ink::Quiet, Ink::Grid, Ink::Before, Ink::After];
        named.into_iter().chain((0..Ink::ALL - 6).map(Ink::Series))
    }

    /// Red, green and blue on a light page and on a dark one.
    pub(super) fn colours(self) -> (u32, u32) {
        match self {
            Ink::Page => (0xffffff, 0x0d1117),
            Ink::Text => (0x1f2328, 0xe6edf3),
            Ink::Quiet => (0x59636e, 0x9198a1),
            Ink::Grid => (0xe4e8ec, 0x262c33),
            Ink::Before => (0x9a6700, 0xd29922),
            Ink::After => (0x1a7f37, 0x3fb950),
            Ink::Series(index) => SERIES[index % SERIES.len()],
        }
    }
}

/// Where a text stands in relation to its x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// One line of words; y is its baseline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) anchor: Anchor,
    pub(crate) ink: Ink,
    pub(crate) words: String,
}

/// What is drawn, in pixels from the top left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Rectangle {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        round: f64,
        ink: Ink,
    },
    /// Through the points; dashed if asked.
    Line {
        points: Vec<(f64, f64)>,
        width: f64,
        dashed: bool,
        ink: Ink,
    },
    /// Filled, and pale.
    Area {
        points: Vec<(f64, f64)>,
        ink: Ink,
    },
    Text(Text),
}

impl Shape {
    fn moved_down(self, by: f64) -> Self {
        let all = |points: Vec<(f64, f64)>| points.into_iter().map(|(x, y)| (x, y + by)).collect();
        match self {
            Shape::Rectangle { x, y, width, height, round, ink } => {
                Shape::Rectangle { x, y: y + by, width, height, round, ink }
            }
            Shape::Line { points, width, dashed, ink } => {
                Shape::Line { points: all(points), width, dashed, ink }
            }
            Shape::Area { points, ink } => Shape::Area { points: all(points), ink },
            Shape::Text(text) => Shape::Text(Text { y: text.y + by, ..text }),
        }
    }
}

/// A finished picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) title: String,
    pub(super) shapes: Vec<Shape>,
}

impl Drawing {
    pub(crate) fn new(width: u32, title: &str) -> Self {
        Self { width, height: 0, title: title.to_owned(), shapes: Vec::new() }
    }

    pub(crate) fn push(&mut self, shape: Shape) {
        self.shapes.push(shape);
    }

    /// A line of words that starts at x.
    pub(crate) fn text(
        &mut self,
        (x, y): (f64, f64),
        ink: Ink,
        size: f64,
        bold: bool,
        words: &str,
    ) {
        let words = words.to_owned();
        self.push(Shape::Text(Text { x, y, size, bold, anchor: Anchor::Start, ink, words }));
    }

    /// The page ends here.
    pub(crate) fn finish(mut self, height: f64) -> Self {
        self.height = height.ceil() as u32;
        self
    }

    /// This picture with another title, for those who do not see it.
    pub(crate) fn titled(mut self, title: &str) -> Self {
        title.clone_into(&mut self.title);
        self
    }

    /// This picture with another one below it; the title is this one's.
    #[must_use]
    pub fn above(mut self, below: Drawing) -> Drawing {
        let down = f64::from(self.height);
        self.width = self.width.max(below.width);
        self.height += below.height;
        self.shapes.extend(below.shapes.into_iter().map(|shape| shape.moved_down(down)));
        self
    }

    #[cfg(test)]
    pub(crate) fn texts(&self) -> Vec<&Text> {
        self.shapes
            .iter()
            .filter_map(|shape| if let Shape::Text(text) = shape { Some(text) } else { None })
            .collect()
    }

    #[cfg(test)]
    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.shapes
    }
}

/// Fails if two texts of a picture touch, or one leaves the page.
#[cfg(test)]
pub(crate) fn assert_texts_keep_apart(drawing: &Drawing) {
    let box_of = |text: &&Text| {
        let width = text_width(&text.words, text.size, text.bold);
        let left = match text.anchor {
            Anchor::Start => text.x,
            Anchor::Middle => text.x - width / 2.0,
            Anchor::End => text.x - width,
        };
        (left, left + width, text.y - 0.75 * text.size, text.y + 0.2 * text.size)
    };
    let texts = drawing.texts();
    let boxes: Vec<_> = texts.iter().map(box_of).collect();
    for (index, one) in boxes.iter().enumerate() {
        let inside =
            one.0 >= 0.0 && one.1 <= f64::from(drawing.width) && one.3 <= f64::from(drawing.height);
        assert!(inside, "{:?} leaves the page: {one:?}", texts[index]);
        for (other, text) in boxes.iter().zip(&texts).skip(index + 1) {
            let apart =
                one.1 <= other.0 || other.1 <= one.0 || one.3 <= other.2 || other.3 <= one.2;
            assert!(apart, "{:?} and {text:?} overlap", texts[index]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inks_are_numbered_apart() {
        let numbers: Vec<usize> = Ink::all().map(Ink::number).collect();
        assert_eq!(numbers, (0..Ink::ALL).collect::<Vec<_>>());
    }
}
