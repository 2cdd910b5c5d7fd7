//! Numbers with an optional sign: `+n` means more than n, `-n` less than n, `n` exactly n.

/// A bound on a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound<T> {
    More(T),
    Exactly(T),
    Less(T),
}

impl<T: PartialOrd> Bound<T> {
    /// Whether `value` is within the bound.
    pub(super) fn holds(&self, value: T) -> bool {
        match self {
            Bound::More(bound) => value > *bound,
            Bound::Exactly(bound) => value == *bound,
            Bound::Less(bound) => value < *bound,
        }
    }

    /// Whether all values from `low` to `high` are within the bound. `None` if only some are.
    pub(super) fn over(&self, low: T, high: T) -> Option<bool> {
        let (all, some) = match self {
            Bound::More(bound) => (low > *bound, high > *bound),
            Bound::Exactly(bound) => {
                (low == *bound && high == *bound, low <= *bound && high >= *bound)
            }
            Bound::Less(bound) => (high < *bound, low < *bound),
        };
        if all == some { Some(all) } else { None }
    }
}

impl<T> Bound<T> {
    /// Splits off the sign, and reads the rest with `read`.
    pub(super) fn parse(text: &[u8], read: impl FnOnce(&[u8]) -> Option<T>) -> Option<Self> {
        match text.first()? {
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

/// Reads a whole number as C's strtoumax(3) does: blanks and a plus may come first.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii_start();
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    let numeric = digits.iter().all(u8::is_ascii_digit);
    numeric.then(|| std::str::from_utf8(digits).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_decided_if_all_its_values_agree() {
        for bound in [Bound::More(3), Bound::Exactly(3), Bound::Less(3)] {
            for (low, high) in (0..7).flat_map(|low| (low..7).map(move |high| (low, high))) {
                let all = (low..=high).all(|value| bound.holds(value));
                let any = (low..=high).any(|value| bound.holds(value));
                let expected = (all == any).then_some(all);
                assert_eq!(bound.over(low, high), expected, "{bound:?} over {low}..={high}");
            }
        }
    }
}
