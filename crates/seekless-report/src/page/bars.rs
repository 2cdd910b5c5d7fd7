//! Bars of one or several parts: a row a figure, the longest fills the width.

use super::text::{escape, shown};
use std::fmt::Write as _;

/// Rows that are shown.
const MOST_ROWS: usize = 200;

/// Bars over one scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// Above them.
    pub heading: String,
    /// What a reader should know of them; may be empty.
    pub note: String,
    /// The names of a bar's parts, from left to right. Bars of one named part have one colour. If
    /// there is no name, the first row has the colour of *before*, the others that of *after*.
    pub parts: Vec<String>,
    /// From top to bottom.
    pub rows: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// What it is of.
    pub label: String,
    /// The lengths of its parts; one that is negative or not finite is not drawn.
    pub values: Vec<f64>,
    /// The figure in words.
    pub figure: String,
}

impl Bars {
    pub(super) fn html(&self) -> String {
        let rows = || self.rows.iter().take(MOST_ROWS);
        let longest = rows().map(Bar::length).fold(0.0, f64::max);
        let mut html = format!("<section>{}\n", super::heading(&self.heading, &self.note));
        if self.parts.len() > 1 {
            html += "<p class=\"legend\" aria-hidden=\"true\">";
            for (index, name) in self.parts.iter().enumerate() {
                let name = escape(&shown(name));
                let _ = write!(html, "<span><i class=\"bar-{}\"></i>{name}</span> ", index % 4);
            }
            html += "</p>\n";
        }
        html += "<table class=\"bars\">\n";
        for (index, row) in rows().enumerate() {
            html += &row.html(longest, &self.parts, index == 0);
        }
        html += "</table>";
        if self.rows.len() > MOST_ROWS {
            let left_out = self.rows.len() - MOST_ROWS;
            let _ = write!(html, "\n<p class=\"thinned\">{left_out} more are left out.</p>");
        }
        html + "</section>"
    }
}

impl Bar {
    fn lengths(&self) -> impl Iterator<Item = f64> {
        let length = |&value: &f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
        self.values.iter().take(16).map(length)
    }

    fn length(&self) -> f64 {
        self.lengths().sum()
    }

    fn html(&self, longest: f64, parts: &[String], is_first: bool) -> String {
        let mut rects = String::new();
        let mut at = 0.0;
        for (index, length) in self.lengths().enumerate().filter(|_| longest > 0.0) {
            let width = 100.0 * length / longest;
            let class = match parts.len() {
                0 if is_first => "before".to_owned(),
                0 => "after".to_owned(),
                1 => "bar-1".to_owned(),
                _ => format!("bar-{}", index % 4),
            };
            let name = parts.get(index).map(|name| escape(&shown(name))).unwrap_or_default();
            let _ = write!(
                rects,
                "<rect class=\"{class}\" x=\"{at:.3}%\" width=\"{width:.3}%\" height=\"100%\">\
                 <title>{name}</title></rect>"
            );
            at += width;
        }
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"bar\"><svg aria-hidden=\"true\">{rects}\
             </svg></td><td class=\"figure\">{}</td></tr>\n",
            escape(&shown(&self.label)),
            escape(&shown(&self.figure))
        )
    }
}
