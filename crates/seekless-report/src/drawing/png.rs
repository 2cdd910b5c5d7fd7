//! Shapes as PNG: filled and stroked by tiny-skia, letters as paths. The file itself is short
//! enough to write here.

use super::font;
use super::shape::{Anchor, Drawing, Ink, Shape, Text};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash,
    Transform,
};
use ttf_parser::OutlineBuilder;

/// Pixels of a unit of the drawing.
const SCALE: u32 = 2;

/// How much of an area's colour covers what lies under it; as in the SVG.
const PALE: f32 = 0.18;

pub(super) fn write(drawing: &Drawing) -> Vec<u8> {
    let Some(mut pixels) = Pixmap::new(drawing.width.max(1) * SCALE, drawing.height.max(1) * SCALE)
    else {
        return Vec::new();
    };
    pixels.fill(colour(Ink::Page, 1.0));
    drawing.shapes.iter().for_each(|shape| draw(&mut pixels, shape));
    file(pixels.width(), pixels.height(), pixels.data())
}

fn colour(ink: Ink, opacity: f32) -> Color {
    let [_, red, green, blue] = ink.colours().0.to_be_bytes();
    let share = |part: u8| f32::from(part) / 255.0;
    Color::from_rgba(share(red), share(green), share(blue), opacity).unwrap_or(Color::BLACK)
}

fn paint(ink: Ink, opacity: f32) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(colour(ink, opacity));
    paint
}

fn scaled() -> Transform {
    Transform::from_scale(SCALE as f32, SCALE as f32)
}

fn draw(pixels: &mut Pixmap, shape: &Shape) {
    match shape {
        Shape::Rectangle { x, y, width, height, round, ink } => {
            if let Some(path) = rectangle([*x, *y, *width, *height], *round) {
                pixels.fill_path(&path, &paint(*ink, 1.0), FillRule::Winding, scaled(), None);
            }
        }
        Shape::Line { points, width, dashed, ink } => {
            let stroke = Stroke {
                width: *width as f32,
                line_cap: LineCap::Butt,
                line_join: LineJoin::Round,
                dash: if *dashed { StrokeDash::new(vec![6.0, 4.0], 0.0) } else { None },
                ..Stroke::default()
            };
            if let Some(path) = through(points, false) {
                pixels.stroke_path(&path, &paint(*ink, 1.0), &stroke, scaled(), None);
            }
        }
        Shape::Area { points, ink } => {
            if let Some(path) = through(points, true) {
                pixels.fill_path(&path, &paint(*ink, PALE), FillRule::Winding, scaled(), None);
            }
        }
        Shape::Text(text) => words(pixels, text),
    }
}

fn through(points: &[(f64, f64)], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        let to = if index == 0 { PathBuilder::move_to } else { PathBuilder::line_to };
        to(&mut path, x as f32, y as f32);
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// Corners are quarter circles, nearly.
fn rectangle([x, y, width, height]: [f64; 4], round: f64) -> Option<Path> {
    let (left, top, right, bottom) = (x as f32, y as f32, (x + width) as f32, (y + height) as f32);
    let round = (round as f32).min((right - left) / 2.0).min((bottom - top) / 2.0);
    if round <= 0.0 {
        return Rect::from_ltrb(left, top, right, bottom).map(PathBuilder::from_rect);
    }
    let mut path = PathBuilder::new();
    path.move_to(left + round, top);
    path.line_to(right - round, top);
    path.quad_to(right, top, right, top + round);
    path.line_to(right, bottom - round);
    path.quad_to(right, bottom, right - round, bottom);
    path.line_to(left + round, bottom);
    path.quad_to(left, bottom, left, bottom - round);
    path.line_to(left, top + round);
    path.quad_to(left, top, left + round, top);
    path.close();
    path.finish()
}

fn words(pixels: &mut Pixmap, text: &Text) {
    let width = font::width(&text.words, text.size, text.bold);
    let left = match text.anchor {
        Anchor::Start => text.x,
        Anchor::Middle => text.x - width / 2.0,
        Anchor::End => text.x - width,
    };
    let paint = paint(text.ink, 1.0);
    font::outline(&text.words, text.size, text.bold, |x, unit, outline: Outline| {
        let unit = unit as f32;
        let place = scaled().pre_translate((left + x) as f32, text.y as f32).pre_scale(unit, -unit);
        if let Some(path) = outline.0.finish() {
            pixels.fill_path(&path, &paint, FillRule::Winding, place, None);
        }
    });
}

/// A letter's outline as a path, in units of the font, y upwards.
#[derive(Default)]
struct Outline(PathBuilder);

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.0.quad_to(cx, cy, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

/// A PNG file of opaque pixels (red, green, blue, alpha): its header, one block of data, its end.
/// Each row is stored as its difference from the one above, which leaves mostly zeros to compress.
fn file(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    const EIGHT_BIT_RGB: [u8; 5] = [8, 2, 0, 0, 0];
    const UP: u8 = 2;
    let mut rows = Vec::new();
    let mut above = vec![0; 3 * width as usize];
    for row in pixels.chunks_exact(4 * width as usize) {
        let row: Vec<u8> =
            row.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        rows.push(UP);
        rows.extend(row.iter().zip(&above).map(|(here, above)| here.wrapping_sub(*above)));
        above = row;
    }
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &EIGHT_BIT_RGB].concat();
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut out, b"IHDR", &header);
    chunk(&mut out, b"IDAT", &deflated(&rows));
    chunk(&mut out, b"IEND", &[]);
    out
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], body: &[u8]) {
    let body = [kind, body].concat();
    out.extend((body.len() as u32 - 4).to_be_bytes());
    out.extend(&body);
    out.extend(crc32fast::hash(&body).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_its_size_and_checks() {
        let mut drawing = Drawing::new(30, "t");
        drawing.text((2.0, 12.0), Ink::Text, 10.0, true, "Aé×");
        let png = drawing.finish(20.0).png();
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.ends_with(b"IEND\xae\x42\x60\x82"));
        assert_eq!(png[16..24], [0, 0, 0, 60, 0, 0, 0, 40]);
        assert_eq!(png[29..33], crc32fast::hash(&png[12..29]).to_be_bytes());
    }

    #[test]
    fn letters_and_bars_leave_ink() {
        let mut pixels = Pixmap::new(80, 40).unwrap();
        let text = Text {
            x: 40.0,
            y: 15.0,
            size: 12.0,
            bold: false,
            anchor: Anchor::End,
            ink: Ink::Text,
            words: "Wm".into(),
        };
        words(&mut pixels, &text);
        let inked = pixels.pixels().iter().filter(|pixel| pixel.alpha() > 128).count();
        assert!((100..1500).contains(&inked), "{inked}");
    }
}
