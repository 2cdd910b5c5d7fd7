//! How far a reader goes for the bytes of files.

use seekless_device::units::format_duration;
use std::time::Duration;

/// How far a reader goes for the bytes of files. The default is as far as it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Deliver only cached bytes, which cost the device nothing. No file is opened that this might
    /// recall from an archive.
    pub cached_only: bool,
    /// Leave out what takes longer than this to its first byte. A file is opened only if it can be
    /// recalled within this time.
    pub max_latency: Option<Duration>,
    /// Leave out what takes longer than this to its last byte: what of a file lies on one level, or
    /// a recall.
    pub max_wait: Option<Duration>,
    /// Recall archived files at once, while others are read. Otherwise a recall begins when all
    /// else has been read.
    pub recall: bool,
}

impl Reach {
    /// Whether bytes may be left out.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.cached_only || self.is_timed()
    }

    /// Whether something may be left out by the time that it takes.
    pub(crate) fn is_timed(&self) -> bool {
        self.max_latency.is_some() || self.max_wait.is_some()
    }

    /// Whether something is left out whose first byte comes after `latency`, and its last after
    /// `wait`.
    pub(crate) fn leaves_out(&self, latency: Duration, wait: Duration) -> bool {
        let is_beyond = |most: Option<Duration>, time| most.is_some_and(|most| time > most);
        self.cached_only || is_beyond(self.max_latency, latency) || is_beyond(self.max_wait, wait)
    }

    /// Why bytes were left out, for messages: "1000 bytes are …". `unknown` as
    /// [`Event::End`](crate::Event::End) says.
    #[must_use]
    pub fn why(&self, unknown: bool) -> String {
        let time = |most: Duration| format_duration(most.as_nanos() as u64);
        match (self.max_latency, self.max_wait) {
            _ if self.cached_only && unknown => "not known to be cached".to_owned(),
            _ if self.cached_only || !self.is_timed() => "not cached".to_owned(),
            (Some(most), None) => format!("more than {} away", time(most)),
            (None, Some(most)) => format!("more than {} of waiting", time(most)),
            (Some(near), Some(most)) => {
                format!("more than {} away, or {} of waiting", time(near), time(most))
            }
            (None, None) => String::new(), // not timed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_leaves_out_what_is_farther_and_says_so() {
        let (near, far) = (Duration::from_millis(100), Duration::from_millis(101));
        let bounded = Reach { max_latency: Some(near), ..Reach::default() };
        assert!(bounded.leaves_out(far, near) && !bounded.leaves_out(near, far));
        let patient = Reach { max_wait: Some(near), ..Reach::default() };
        assert!(patient.leaves_out(near, far) && !patient.leaves_out(near, near));
        assert!(patient.is_bounded() && patient.why(false) == "more than 100.0 ms of waiting");
        assert_eq!(bounded.why(false), "more than 100.0 ms away");
        let cached = Reach { cached_only: true, ..bounded };
        assert!(cached.leaves_out(Duration::ZERO, Duration::ZERO) && cached.is_bounded());
        assert_eq!(
            [false, true].map(|unknown| cached.why(unknown)),
            ["not cached", "not known to be cached"]
        );
        let none = Reach::default();
        assert!(!none.is_bounded() && !none.leaves_out(Duration::MAX, Duration::MAX));
    }
}
