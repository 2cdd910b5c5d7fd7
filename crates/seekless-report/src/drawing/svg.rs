//! Shapes as SVG, written by hand: colours are attributes for a light page, and style rules that
//! swap them for a dark one.

use super::shape::{Anchor, Drawing, Ink, Shape, Text};
use std::fmt::Write;

pub(super) fn write(drawing: &Drawing) -> String {
    let (width, height) = (drawing.width, drawing.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\">\n<title>{}</title>\n<style>{}</style>\n<rect class=\"{}\" width=\"{width}\" height=\"{height}\" \
         rx=\"8\" fill=\"{}\"/>\n",
        escape(&drawing.title),
        style(),
        class(Ink::Page),
        colour(Ink::Page),
    );
    for shape in &drawing.shapes {
        let _ = writeln!(out, "{}", element(shape));
    }
    out + "</svg>\n"
}

fn style() -> String {
    let mut style =
        "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}\n@media \
         (prefers-color-scheme:dark){"
            .to_owned();
    for ink in Ink::all() {
        let (class, dark) = (class(ink), ink.colours().1);
        let _ = write!(style, ".{class}{{fill:#{dark:06x}}}.{class}-line{{stroke:#{dark:06x}}}");
    }
    style + "}"
}

fn class(ink: Ink) -> String {
    match ink {
        Ink::Page => "page".to_owned(),
        Ink::Text => "ink".to_owned(),
        Ink::Quiet => "quiet".to_owned(),
        Ink::Grid => "grid".to_owned(),
        Ink::Before => "before".to_owned(),
        Ink::After => "after".to_owned(),
        Ink::Series(_) => format!("series{}", ink.number() - Ink::Series(0).number()),
    }
}

fn colour(ink: Ink) -> String {
    format!("#{:06x}", ink.colours().0)
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Rectangle { x, y, width, height, round, ink } => format!(
            "<rect class=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round}\" \
             fill=\"{}\"/>",
            class(*ink),
            colour(*ink)
        ),
        Shape::Line { points, width, dashed, ink } => format!(
            "<polyline class=\"{}-line\" points=\"{}\" style=\"fill:none\" stroke=\"{}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\"{}/>",
            class(*ink),
            list(points),
            colour(*ink),
            if *dashed { " stroke-dasharray=\"6 4\"" } else { "" }
        ),
        Shape::Area { points, ink } => format!(
            "<polygon class=\"{}\" points=\"{}\" fill=\"{}\" fill-opacity=\"0.18\"/>",
            class(*ink),
            list(points),
            colour(*ink)
        ),
        Shape::Text(text) => line(text),
    }
}

fn list(points: &[(f64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

fn line(text: &Text) -> String {
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    format!(
        "<text class=\"{}\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"{}\" font-weight=\"{}\"{anchor} fill=\"{}\">{}</text>",
        class(text.ink),
        text.x,
        text.y,
        text.size,
        if text.bold { 600 } else { 400 },
        colour(text.ink),
        escape(&text.words)
    )
}

/// The text in XML, which has no control characters: in names, they are shown as unknown ones.
fn escape(text: &str) -> String {
    let text = text.replace(char::is_control, "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
