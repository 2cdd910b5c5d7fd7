//! The arguments, one at a time.

use std::ffi::{OsStr, OsString};

/// A reader of arguments.
pub(super) struct Tokens<'a> {
    arguments: &'a [OsString],
    next: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(arguments: &'a [OsString]) -> Self {
        Tokens { arguments, next: 0 }
    }

    pub(super) fn peek(&self) -> Option<&'a OsStr> {
        self.arguments.get(self.next).map(OsString::as_os_str)
    }

    /// The next argument if it is UTF-8, as all words of an expression are; an empty text stands for others.
    pub(super) fn peek_str(&self) -> Option<&'a str> {
        self.peek().map(|token| token.to_str().unwrap_or_default())
    }

    pub(super) fn next(&mut self) -> Option<&'a OsStr> {
        let token = self.peek()?;
        self.next += 1;
        Some(token)
    }

    /// Takes the next argument if it is one of these words.
    pub(super) fn take(&mut self, words: &[&str]) -> bool {
        let found = self.peek_str().is_some_and(|token| words.contains(&token));
        self.next += usize::from(found);
        found
    }

    /// The argument before the one that `next` would give.
    pub(super) fn previous(&self) -> Option<String> {
        let index = self.next.checked_sub(1)?;
        self.arguments.get(index).map(|token| token.to_string_lossy().into_owned())
    }
}
