//! What a program may say of a file's life: a factor on the cost of its requests.

/// By how much a long-lived file is dearer than its cost says.
const LONG_LIVED: u32 = 8;

/// How long a file will be wanted, as far as the program knows. The owner of the cache keeps the hint with the file's name and
/// passes [`Hint::cost`] as the cost of each request for it; any policy that weighs cost then heeds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Hint {
    /// Used once and not again: costs nothing, so that it leaves before all others.
    ShortLived,
    /// Nothing is known.
    #[default]
    Usual,
    /// Wanted for long, with pauses: costs eight times as much, so that it outstays what is used as often.
    LongLived,
}

impl Hint {
    /// The cost of a request for a file with this hint, whose cost without it is `cost`.
    #[must_use]
    pub fn cost(self, cost: u32) -> u32 {
        match self {
            Self::ShortLived => 0,
            Self::Usual => cost,
            Self::LongLived => cost.saturating_mul(LONG_LIVED),
        }
    }
}
