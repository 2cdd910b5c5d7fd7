//! The order in which a file is read: what a delivery time is estimated for, and what a reader is told.

/// The order of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Plan {
    /// The cheapest chunk of all files first, the lowest offset among equals.
    #[default]
    Best,
    /// File by file, from the first byte to the last.
    Linear,
}
