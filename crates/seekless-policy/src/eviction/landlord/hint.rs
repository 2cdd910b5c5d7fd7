//! A program's hint on how it will use a file: the cost of its requests, and the turn of its reads.

/// The factor on the cost of a long-lived file.
const LONG_LIVED: u32 = 8;

/// How a program will use a file, as far as it knows. The owner of the cache keeps the hint with
/// the file, and passes [`Hint::cost`] as the cost of each request. Every policy that considers
/// cost then follows the hint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Hint {
    /// Used once and not again. It costs nothing, so it leaves before all others.
    Once,
    /// No hint.
    #[default]
    Usual,
    /// Used for long, with pauses. It costs eight times as much, so it outlives files that are used
    /// as often.
    LongLived,
    /// The cost of fetching it again, where a file usually costs 1: the credit that Landlord gives
    /// it.
    Cost(u32),
    /// Needed before others that are planned with it: its read goes to the head of the line. Its
    /// cost is the usual one.
    Urgent,
}

impl Hint {
    /// The cost of a request with this hint, where it is `cost` without a hint.
    #[must_use]
    pub fn cost(self, cost: u32) -> u32 {
        match self {
            Self::Once => 0,
            Self::Usual | Self::Urgent => cost,
            Self::LongLived => cost.saturating_mul(LONG_LIVED),
            Self::Cost(told) => told,
        }
    }
}
