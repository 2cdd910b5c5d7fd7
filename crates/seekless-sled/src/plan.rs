//! The order in which a file is read. Delivery times are estimated for a plan, and a reader follows
//! one.

/// The order of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Plan {
    /// The cheapest chunk of all files first, the lowest offset among equals.
    #[default]
    Best,
    /// File by file, from the first byte to the last.
    Linear,
}
