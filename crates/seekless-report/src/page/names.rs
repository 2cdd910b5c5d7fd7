//! The texts of the data: each stands there once, and sections give its number.

use super::text::{json_bytes, shown};
use std::collections::HashMap;

/// Bytes of quotes and a comma around a text.
const AROUND: usize = 3;

/// Texts by number, in the order in which they came.
#[derive(Default)]
pub(super) struct Names {
    numbers: HashMap<String, usize>,
    list: Vec<String>,
    bytes: usize,
}

impl Names {
    /// The number of a text, which is shown as it is in a page.
    pub(super) fn number(&mut self, text: &str) -> usize {
        let text = shown(text);
        if let Some(&number) = self.numbers.get(&text) {
            return number;
        }
        self.bytes += AROUND + json_bytes(&text);
        self.list.push(text.clone());
        self.numbers.insert(text, self.list.len() - 1);
        self.list.len() - 1
    }

    /// Bytes that the data takes for a text which it may have already.
    pub(super) fn new_bytes(&self, text: &str) -> usize {
        let text = shown(text);
        if self.numbers.contains_key(&text) { 0 } else { AROUND + json_bytes(&text) }
    }

    /// Bytes of all texts.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }
}
