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
    /// Recall archived files at once, while others are read. Otherwise a recall begins when all
    /// else has been read.
    pub recall: bool,
}

impl Reach {
    /// Whether bytes may be left out.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.cached_only || self.max_latency.is_some()
    }

    /// Whether something with this latency is left out.
    pub(crate) fn leaves_out(&self, latency: Duration) -> bool {
        self.cached_only || self.max_latency.is_some_and(|most| latency > most)
    }

    /// Why bytes were left out, for messages: "1000 bytes are …". `unknown` as
    /// [`Event::End`](crate::Event::End) says.
    #[must_use]
    pub fn why(&self, unknown: bool) -> String {
        match self.max_latency {
            Some(most) if !self.cached_only => {
                format!("more than {} away", format_duration(most.as_nanos() as u64))
            }
            _ if unknown => "not known to be cached".to_owned(),
            _ => "not cached".to_owned(),
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
        assert!(bounded.leaves_out(far) && !bounded.leaves_out(near));
        assert_eq!(bounded.why(false), "more than 100.0 ms away");
        let cached = Reach { cached_only: true, ..bounded };
        assert!(cached.leaves_out(Duration::ZERO) && cached.is_bounded());
        assert_eq!(
            [false, true].map(|unknown| cached.why(unknown)),
            ["not cached", "not known to be cached"]
        );
        assert!(!Reach::default().is_bounded() && !Reach::default().leaves_out(Duration::MAX));
    }
}
