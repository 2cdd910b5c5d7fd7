//! One HTML page of a report: a file that needs no network and opens by double click.
//!
//! The words, bars, curves and facts are plain HTML, which a reader sees without any script. The
//! timeline, the treemap and the rows of long tables are data in a block of JSON, which the page's
//! own script draws. A Content-Security-Policy names the script and the style by their hashes and
//! forbids everything else, so that no name in a trace can become code.
//!
//! The page is less than 3 MB, whatever it is made of: sections share the room, and one that gets
//! less than it wants keeps what was waited for longest and says what it left out.
//!
//! ```
//! use seekless_report::page::{Column, Content, Page, Table};
//!
//! let files = Table {
//!     heading: "Files".into(),
//!     columns: vec![Column::new("File", Content::Path), Column::new("Wait", Content::Seconds)],
//!     rows: vec![vec!["/usr/bin/ls".into(), 0.0123.into()]],
//!     ..Table::default()
//! };
//! let page = Page::new("seekless advise").sentence("A cold start takes 1.23 s.").table(files);
//! assert!(page.html().contains("<td class=\"seconds\">12.3 ms</td>"));
//! ```

mod bars;
mod columns;
mod curve;
mod facts;
mod names;
mod policy;
mod room;
mod table;
mod text;
mod timeline;
mod treemap;

pub use bars::{Bar, Bars};
pub use columns::{Cell, Column, Content};
pub use curve::Curve;
pub use facts::Facts;
pub use table::Table;
pub use timeline::{Hue, Kind, Span, Timeline};
pub use treemap::{Leaf, Treemap};

use crate::drawing::dark_rules;
use names::Names;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use text::{escape, json_in_html, shown};

/// Bytes of data that all sections share. The rest of 3 MB is for words, tags and assets.
const ROOM: usize = 2_500_000;

/// The style, but for the colours of charts on a dark page.
const STYLE: &str = include_str!("page/assets/page.css");

/// The parts of the script share one function, so that they leave no global names.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("page/assets/format.js"),
    include_str!("page/assets/parts.js"),
    include_str!("page/assets/table.js"),
    include_str!("page/assets/timeline.js"),
    include_str!("page/assets/drawing.js"),
    include_str!("page/assets/treemap.js"),
    include_str!("page/assets/page.js"),
    "})();\n"
);

/// A page: sections in the order in which they were added.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    title: String,
    sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq)]
enum Section {
    Sentence(String),
    Bars(Bars),
    Timeline(Timeline),
    Treemap(Treemap),
    Table(Table),
    Curve(Curve),
    Facts(Facts),
    Command(String),
}

impl Page {
    /// A page without sections.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), sections: Vec::new() }
    }

    /// Adds a paragraph; one in front of all other sections is the answer, in large letters.
    #[must_use]
    pub fn sentence(self, text: &str) -> Self {
        self.with(Section::Sentence(text.to_owned()))
    }

    /// Adds bars.
    #[must_use]
    pub fn bars(self, bars: Bars) -> Self {
        self.with(Section::Bars(bars))
    }

    /// Adds a timeline.
    #[must_use]
    pub fn timeline(self, timeline: Timeline) -> Self {
        self.with(Section::Timeline(timeline))
    }

    /// Adds a treemap of folders.
    #[must_use]
    pub fn treemap(self, treemap: Treemap) -> Self {
        self.with(Section::Treemap(treemap))
    }

    /// Adds a table that can be sorted and searched.
    #[must_use]
    pub fn table(self, table: Table) -> Self {
        self.with(Section::Table(table))
    }

    /// Adds curves.
    #[must_use]
    pub fn curve(self, curve: Curve) -> Self {
        self.with(Section::Curve(curve))
    }

    /// Adds how it was measured, and on what.
    #[must_use]
    pub fn facts(self, facts: Facts) -> Self {
        self.with(Section::Facts(facts))
    }

    /// Adds the command that repeats it.
    #[must_use]
    pub fn command(self, command: &str) -> Self {
        self.with(Section::Command(command.to_owned()))
    }

    fn with(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// The whole file. The same page always gives the same bytes.
    #[must_use]
    pub fn html(&self) -> String {
        let mut body = String::new();
        for (index, section) in self.sections.iter().enumerate() {
            let _ = writeln!(body, "{}", section.html(&id(index), index == 0));
        }
        self.document(&body, &json_in_html(&self.data()))
    }

    /// What the script draws. Small sections come first, so that large ones get what these leave;
    /// a text that several sections show takes room only once.
    fn data(&self) -> Value {
        let mut names = Names::default();
        let mut parts = BTreeMap::new();
        let wanted = |&index: &usize| self.sections[index].wanted(&Names::default());
        let mut order: Vec<usize> = (0..self.sections.len()).collect();
        order.sort_by_cached_key(wanted);
        let mut room = ROOM;
        for (done, &index) in order.iter().enumerate() {
            let grant = room / (order.len() - done);
            let before = names.bytes();
            if let Some(part) = self.sections[index].data(&id(index), grant, &mut names) {
                let used = part.to_string().len() + names.bytes() - before;
                room = room.saturating_sub(used);
                parts.insert(index, part);
            }
        }
        let parts: Vec<Value> = parts.into_values().collect();
        json!({ "names": names.into_list(), "parts": parts })
    }

    fn document(&self, body: &str, data: &str) -> String {
        let title = escape(&shown(&self.title));
        let style = style();
        let policy = policy::policy(SCRIPT, &style);
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <link rel=\"icon\" href=\"data:,\">\n\
             <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n\
             <h1>{title}</h1>\n{body}\
             <noscript><p class=\"note\">The timeline, the treemap and the rows after the first \
             of each table need this page's script.</p></noscript>\n</main>\n\
             <footer>Made by Seekless. This page is one file and asks no network.</footer>\n\
             <script type=\"application/json\" id=\"data\">{data}</script>\n\
             <script>{SCRIPT}</script>\n</body>\n</html>\n"
        )
    }
}

impl Section {
    /// The bytes of data that it would take without an end.
    fn wanted(&self, names: &Names) -> usize {
        match self {
            Section::Timeline(timeline) => timeline.wanted(names),
            Section::Treemap(treemap) => treemap.wanted(names),
            Section::Table(table) => table.wanted(names),
            _ => 0,
        }
    }

    /// What is seen of it without a script.
    fn html(&self, id: &str, is_first: bool) -> String {
        match self {
            Section::Sentence(text) => facts::sentence(text, is_first),
            Section::Bars(bars) => bars.html(),
            Section::Timeline(timeline) => timeline.html(id),
            Section::Treemap(treemap) => treemap.html(id),
            Section::Table(table) => table.html(id),
            Section::Curve(curve) => curve.html(),
            Section::Facts(facts) => facts.html(),
            Section::Command(command) => facts::command(command, id),
        }
    }

    /// What the script draws of it, in about `room` bytes.
    fn data(&self, id: &str, room: usize, names: &mut Names) -> Option<Value> {
        match self {
            Section::Timeline(timeline) => Some(timeline.data(id, room, names)),
            Section::Treemap(treemap) => Some(treemap.data(id, room, names)),
            Section::Table(table) => Some(table.data(id, room, names)),
            _ => None,
        }
    }
}

fn style() -> String {
    let dark = dark_rules(".chart ");
    format!("{STYLE}@media screen and (prefers-color-scheme: dark) {{{dark}}}\n")
}

/// The name of a section's element.
fn id(index: usize) -> String {
    format!("part-{index}")
}

/// The head of a section: its heading, and what a reader should know of it.
fn heading(heading: &str, note: &str) -> String {
    let mut html = format!("<h2>{}</h2>", escape(&shown(heading)));
    if !note.is_empty() {
        let _ = write!(html, "\n<p class=\"note\">{}</p>", escape(&shown(note)));
    }
    html
}

#[cfg(test)]
#[path = "page/tests.rs"]
mod tests;
