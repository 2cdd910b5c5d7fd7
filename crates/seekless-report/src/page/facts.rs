//! Words: the answer, how it was measured, and the command that repeats it.

use super::text::{escape, shown, shown_command};
use std::fmt::Write as _;

/// Facts that are shown.
const MOST: usize = 200;

/// Names and their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Above them.
    pub heading: String,
    /// From top to bottom.
    pub rows: Vec<(String, String)>,
}

impl Facts {
    pub(super) fn html(&self) -> String {
        let mut html = format!("<section>{}\n<dl>\n", super::heading(&self.heading, ""));
        for (name, value) in self.rows.iter().take(MOST) {
            let (name, value) = (escape(&shown(name)), escape(&shown(value)));
            let _ = writeln!(html, "<div><dt>{name}</dt><dd>{value}</dd></div>");
        }
        html += "</dl>";
        if self.rows.len() > MOST {
            let left_out = self.rows.len() - MOST;
            let _ = write!(html, "\n<p class=\"thinned\">{left_out} more are left out.</p>");
        }
        html + "</section>"
    }
}

/// A paragraph; the first of a page is the answer.
pub(super) fn sentence(text: &str, is_first: bool) -> String {
    let class = if is_first { " id=\"answer\"" } else { "" };
    format!("<p{class}>{}</p>", escape(&shown(text)))
}

/// A command, in as many lines as it has.
pub(super) fn command(command: &str, id: &str) -> String {
    format!(
        "<section id=\"{id}\"><h2>To repeat it</h2>\n<pre class=\"command\"><code>{}</code></pre>\
         </section>",
        escape(&shown_command(command))
    )
}
