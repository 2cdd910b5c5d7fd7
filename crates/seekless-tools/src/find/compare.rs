//! Numbers with a sign before them: `+n` more than, `-n` less than, `n` exactly.

/// A bound on a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound<T> {
    More(T),
    Exactly(T),
    Less(T),
}

impl<T: PartialOrd> Bound<T> {
    /// Whether `value` keeps the bound.
    pub(super) fn holds(&self, value: T) -> bool {
        match self {
            Bound::More(bound) => value > *bound,
            Bound::Exactly(bound) => value == *bound,
            Bound::Less(bound) => value < *bound,
        }
    }
}

impl<T> Bound<T> {
    /// Splits the sign from the text and reads the rest by `read`.
    pub(super) fn parse(text: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<Self> {
        match text.as_bytes().first()? {
            b'+' => read(&text[1..]).map(Bound::More),
            b'-' => read(&text[1..]).map(Bound::Less),
            _ => read(text).map(Bound::Exactly),
        }
    }

    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> Bound<U> {
        match self {
            Bound::More(value) => Bound::More(change(value)),
            Bound::Exactly(value) => Bound::Exactly(change(value)),
            Bound::Less(value) => Bound::Less(change(value)),
        }
    }
}

/// A whole number without sign.
pub(super) fn whole(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}
