//! The picture is a well-formed document whose texts keep apart.

use super::*;
use crate::drawing::assert_texts_keep_apart;

fn sample() -> Drawing {
    before_after(
        "Loading a level: loose files against a pack",
        &[("loose files, one after another", 8.04), ("pack & order <greedy>", 0.62)],
        "seekless tour, 120 requests/s and 150 MB/s, a run that the order was not made from",
    )
}

#[test]
fn words_are_escaped_and_tags_close() {
    let svg = sample().svg();
    assert!(svg.contains("pack &amp; order &lt;greedy&gt;"), "{svg}");
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    assert!(svg.ends_with("</svg>\n"));
    assert!(svg.contains("prefers-color-scheme:dark"));
}

#[test]
fn a_name_that_no_xml_can_hold_leaves_the_document_whole() {
    let drawing = before_after("Loading a\x1b[2Jb", &[("\u{9b}", 2.0), ("pack", 1.0)], "");
    let svg = drawing.svg();
    assert!(svg.contains("Loading a\u{fffd}[2Jb"), "{svg}");
    assert!(svg.chars().all(|char| char == '\n' || !char.is_control()), "{svg}");
}

#[test]
fn bars_are_in_proportion_and_inside_the_page() {
    let drawing = sample();
    let bars: Vec<f64> = drawing
        .shapes()
        .iter()
        .filter_map(|shape| match shape {
            Shape::Rectangle { width, ink: Ink::Before | Ink::After, .. } => Some(*width),
            _ => None,
        })
        .collect();
    assert_eq!(bars.len(), 2);
    assert!((bars[1] / bars[0] - 0.62 / 8.04).abs() < 0.001, "{bars:?}");
    assert!(bars[0] + 2.0 * MARGIN + FIGURE <= WIDTH);
    assert!(drawing.svg().contains("(13.0×)"), "the ratio to the first row");
}

#[test]
fn lines_of_text_stay_apart_even_when_long() {
    let long = "word ".repeat(60);
    let unbroken = "x".repeat(300);
    assert_texts_keep_apart(&before_after(&long, &[(&unbroken, 1.0), ("b", 0.5)], &long));
    assert_texts_keep_apart(&sample());
}

#[test]
fn odd_figures_do_no_harm() {
    let svg = before_after("t", &[("a", f64::NAN), ("b", 0.0)], "").svg();
    assert!(svg.contains(">unknown<"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    assert!(before_after("", &[], "").svg().ends_with("</svg>\n"));
}
