//! How long to wait, how often to try, how much at once.

use std::time::Duration;

/// Limits of a [`Remote`](crate::Remote) and of [`put`](crate::put).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Requests that run at once; the others wait for their turn. Each may have a connection of
    /// its own.
    pub streams: u32,
    /// A read that has not ended after this time is an error.
    pub deadline: Duration,
    /// A request is given up, and made again, if its answer does not begin within this time, or
    /// brings no byte for as long.
    pub patience: Duration,
    /// The longest wait before the second try. It doubles with each further one; a random share of
    /// it is waited.
    pub pause_min: Duration,
    /// The longest wait before any try.
    pub pause_max: Duration,
    /// The share of requests that may be made a second time because they are late; 0 for none.
    pub hedge_share: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            streams: 128,
            deadline: Duration::from_secs(60),
            patience: Duration::from_secs(10),
            pause_min: Duration::from_millis(50),
            pause_max: Duration::from_secs(5),
            hedge_share: 0.05,
        }
    }
}

impl Settings {
    /// No request is made twice because it is late: for measuring.
    #[must_use]
    pub fn without_hedges(self) -> Self {
        Self { hedge_share: 0.0, ..self }
    }
}
