//! The picture is a well-formed document whose texts keep apart.

use super::*;

fn sample() -> String {
    before_after_svg(
        "Loading a level: loose files against a pack",
        &[("loose files, one after another", 8.04), ("pack & order <greedy>", 0.62)],
        "seekless tour, 120 requests/s and 150 MB/s, a run that the order was not made from",
    )
}

/// The number behind ` name="` in a line.
fn number(line: &str, name: &str) -> f64 {
    let start = line.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
    line[start..].split('"').next().unwrap().parse().unwrap()
}

#[test]
fn words_are_escaped_and_tags_close() {
    let svg = sample();
    assert!(svg.contains("pack &amp; order &lt;greedy&gt;"), "{svg}");
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    assert!(svg.ends_with("</svg>\n"));
    assert!(svg.contains("prefers-color-scheme:dark"));
}

#[test]
fn bars_are_in_proportion_and_inside_the_page() {
    let svg = sample();
    let widths: Vec<f64> = svg
        .lines()
        .filter(|line| line.contains("class=\"before\"") || line.contains("class=\"after\""))
        .map(|line| number(line, "width"))
        .collect();
    assert_eq!(widths.len(), 2);
    assert!((widths[1] / widths[0] - 0.62 / 8.04).abs() < 0.001, "{widths:?}");
    assert!(widths[0] + f64::from(2 * MARGIN + FIGURE) <= f64::from(WIDTH));
    assert!(svg.contains("(13.0×)"), "the ratio to the first row: {svg}");
}

#[test]
fn lines_of_text_stay_apart_even_when_long() {
    let long = "word ".repeat(60);
    let unbroken = "x".repeat(300);
    let svg = before_after_svg(&long, &[(&unbroken, 1.0), ("b", 0.5)], &long);
    let mut last: f64 = 0.0;
    for line in
        svg.lines().filter(|line| line.starts_with("<text") && !line.contains("font-weight=\"600\">1"))
    {
        let (y, size) = (number(line, "y"), number(line, "font-size"));
        let beside_bar = number(line, "x") > f64::from(MARGIN);
        assert!(beside_bar || y - size >= last - 4.0, "{line} after {last}");
        let letters = line.split(['>', '<']).nth(2).unwrap().chars().count() as f64;
        assert!(letters * size * 0.56 <= f64::from(WIDTH - 2 * MARGIN), "{line}");
        last = y;
    }
}

#[test]
fn odd_figures_do_no_harm() {
    let svg = before_after_svg("t", &[("a", f64::NAN), ("b", 0.0)], "");
    assert!(svg.contains(">unknown<"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    assert!(before_after_svg("", &[], "").ends_with("</svg>\n"));
}

#[test]
fn wrapping_keeps_every_letter() {
    assert_eq!(wrap("one two three", 8), ["one two", "three"]);
    assert_eq!(wrap(&"y".repeat(10), 8).concat(), "y".repeat(10));
    assert!(wrap("", 8).is_empty());
}

#[test]
fn a_pack_that_loses_by_far_is_not_zero_times_as_fast() {
    let svg = before_after_svg("x", &[("loose", 0.01), ("pack", 0.3)], "");
    assert!(svg.contains("(0.03×)"), "{svg}");
}
