//! A table: its first rows in HTML, all that fit in the data, where the script sorts and searches.

use super::columns::{Cell, Column, Content};
use super::names::Names;
use super::room::fitting;
use super::text::{escape, shown};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Rows of a page, at most.
const MOST_ROWS: usize = 20_000;

/// Rows that a reader sees at first, and without a script.
const FIRST_ROWS: usize = 20;

/// Bytes that a number takes in the data, with its comma.
const NUMBER_BYTES: usize = 12;

/// A table whose rows come in the order of their worth: of a table that is too large, the last
/// rows are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Above it.
    pub heading: String,
    /// What a reader should know of it; may be empty.
    pub note: String,
    /// From left to right.
    pub columns: Vec<Column>,
    /// From top to bottom. A short row is filled up with empty cells.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) fn wanted(&self, names: &Names) -> usize {
        self.costs(names).take(MOST_ROWS).sum()
    }

    fn costs(&self, names: &Names) -> impl Iterator<Item = usize> {
        let cost = |cell: &Cell| match cell {
            Cell::Text(text) => NUMBER_BYTES + names.new_bytes(text),
            Cell::Number(_) | Cell::Empty => NUMBER_BYTES,
        };
        self.rows.iter().map(move |row| row.iter().map(cost).sum())
    }

    fn cell<'a>(&self, row: &'a [Cell], column: usize) -> &'a Cell {
        row.get(column).unwrap_or(&Cell::Empty)
    }

    pub(super) fn html(&self, id: &str) -> String {
        let mut html = format!(
            "<section id=\"{id}\">{}\n<div class=\"wide\"><table class=\"sorted\"><thead><tr>",
            super::heading(&self.heading, &self.note)
        );
        for column in &self.columns {
            let class = column.content.name();
            let name = escape(&shown(&column.name));
            let _ = write!(html, "<th scope=\"col\" class=\"{class}\">{name}</th>");
        }
        html += "</tr></thead>\n<tbody>\n";
        for row in self.rows.iter().take(FIRST_ROWS) {
            html += "<tr>";
            for (index, column) in self.columns.iter().enumerate() {
                let words = self.cell(row, index).words(column.content);
                let _ =
                    write!(html, "<td class=\"{}\">{}</td>", column.content.name(), escape(&words));
            }
            html += "</tr>\n";
        }
        html + "</tbody></table></div></section>"
    }

    pub(super) fn data(&self, id: &str, room: usize, names: &mut Names) -> Value {
        let kept = fitting(self.costs(names), room, MOST_ROWS);
        let columns = self.columns.iter().enumerate().map(|(index, column)| {
            let cells = self.rows[..kept].iter();
            let cells = cells.map(|row| step(self.cell(row, index), column.content, names));
            let cells: Vec<Value> = cells.collect();
            json!({ "content": column.content.name(), "cells": cells })
        });
        let columns: Vec<Value> = columns.collect();
        json!({
            "part": "table", "id": id, "columns": columns, "rows": kept,
            "first": FIRST_ROWS, "left_out": self.rows.len() - kept,
        })
    }
}

/// A cell in the data: the number of a text, steps of a unit, -1 for *unknown*, null for nothing.
fn step(cell: &Cell, content: Content, names: &mut Names) -> Value {
    match cell {
        Cell::Number(value) if !content.is_words() => {
            content.steps(*value).map_or(json!(-1), |steps| json!(steps))
        }
        Cell::Text(text) if content.is_words() => json!(names.number(text)),
        // Words among figures, and figures among words, are shown and not sorted by.
        Cell::Text(_) | Cell::Number(_) if content.is_words() => {
            json!(names.number(&cell.words(Content::Count)))
        }
        Cell::Text(text) => json!([names.number(text)]),
        Cell::Number(_) | Cell::Empty => Value::Null,
    }
}
