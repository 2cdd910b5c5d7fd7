//! Shapes as SVG, written by hand: colours are attributes for a light page, and style rules that
//! swap them for a dark one.

use super::shape::{Anchor, Drawing, Ink, Shape, Text};
use std::fmt::Write;

pub(super) fn write(drawing: &Drawing) -> String {
    let (width, height) = (drawing.width, drawing.height);
    let mut out = format!(
        "{}<style>{}</style>\n<rect class=\"{}\" width=\"{width}\" height=\"{height}\" \
         rx=\"8\" fill=\"{}\"/>\n",
        head(drawing),
        style(),
        class(Ink::Page),
        colour(Ink::Page),
    );
    write_shapes(&mut out, drawing);
    out
}

/// The picture as an element of a page that has a style of its own: without rules, and without a
/// ground.
pub(super) fn write_in_page(drawing: &Drawing) -> String {
    let mut out = head(drawing);
    write_shapes(&mut out, drawing);
    // A policy that names styles by their hashes allows none in attributes.
    out.replace(" style=\"fill:none\"", " fill=\"none\"")
}

fn head(drawing: &Drawing) -> String {
    let (width, height) = (drawing.width, drawing.height);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\">\n<title>{}</title>\n",
        escape(&drawing.title)
    )
}

fn write_shapes(out: &mut String, drawing: &Drawing) {
    for shape in &drawing.shapes {
        let _ = writeln!(out, "{}", element(shape));
    }
    *out += "</svg>\n";
}

fn style() -> String {
    let dark = dark_rules("");
    format!(
        "text{{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}}\n@media \
         (prefers-color-scheme:dark){{{dark}}}"
    )
}

/// The colours of a dark page. `within` limits them: a selector and a blank, or nothing.
pub(crate) fn dark_rules(within: &str) -> String {
    let mut rules = String::new();
    for ink in Ink::all() {
        let (class, dark) = (class(ink), ink.colours().1);
        let _ = write!(
            rules,
            "{within}.{class}{{fill:#{dark:06x}}}{within}.{class}-line{{stroke:#{dark:06x}}}"
        );
    }
    rules
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
