//! How slow and how faulty a server is. The same seed gives the same delays and faults, in the
//! order in which requests come.

use super::message::Response;
use std::time::Duration;

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 500 InternalError.
    Internal,
    /// 503 without a word.
    Unavailable,
    /// 503 SlowDown.
    SlowDown,
    /// The connection is closed in place of an answer.
    Reset,
    /// Half of the body comes, and the connection is closed.
    Truncated,
    /// Other bytes come, under another ETag.
    WrongTag,
    /// 200 with the whole object, as from a proxy that does not know ranges.
    IgnoredRange,
    /// 400 ExpiredToken. Its text repeats the access key, as S3's does.
    Expired,
    /// 403 RequestTimeTooSkewed.
    Skewed,
}

impl Fault {
    /// Those that pass: another try helps.
    pub const PASSING: [Fault; 7] = [
        Fault::Internal,
        Fault::Unavailable,
        Fault::SlowDown,
        Fault::Reset,
        Fault::Truncated,
        Fault::WrongTag,
        Fault::IgnoredRange,
    ];

    /// Whether it can befall only the request of a range.
    fn is_of_reads(self) -> bool {
        matches!(self, Self::Truncated | Self::WrongTag | Self::IgnoredRange)
    }

    /// What is answered in place of what was asked for.
    pub(super) fn answer(self) -> Option<Response> {
        let (status, code) = match self {
            Self::Internal => (500, "InternalError"),
            Self::Unavailable => return Some(Response::of(503)),
            Self::SlowDown => (503, "SlowDown"),
            Self::Expired => (400, "ExpiredToken"),
            Self::Skewed => (403, "RequestTimeTooSkewed"),
            _ => return None,
        };
        Some(Response::error(status, code))
    }
}

/// How slow and how faulty a server is.
#[derive(Clone, Debug)]
pub struct Conduct {
    /// Time before an answer begins: the least and the greatest, even between them.
    pub delay: (Duration, Duration),
    /// Bandwidth of one connection; `None` for what loopback gives.
    pub bytes_per_second: Option<u64>,
    /// How many of a thousand requests get a fault.
    pub fault_permille: u64,
    /// Which faults these are, in turn.
    pub faults: Vec<Fault>,
    state: u64,
    next_fault: usize,
}

impl Conduct {
    /// Fast, and without fault.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            delay: (Duration::ZERO, Duration::ZERO),
            bytes_per_second: None,
            fault_permille: 0,
            faults: Vec::new(),
            state: 1,
            next_fault: 0,
        }
    }

    /// A delay of `mean` give or take `spread`.
    #[must_use]
    pub fn delayed(self, mean: Duration, spread: Duration) -> Self {
        Self { delay: (mean.saturating_sub(spread), mean + spread), ..self }
    }

    /// Each connection brings this many bytes a second.
    #[must_use]
    pub fn limited(self, bytes_per_second: u64) -> Self {
        Self { bytes_per_second: Some(bytes_per_second), ..self }
    }

    /// Of a thousand requests, this many get one of `faults`.
    #[must_use]
    pub fn faulty(self, permille: u64, faults: impl Into<Vec<Fault>>) -> Self {
        Self { fault_permille: permille, faults: faults.into(), ..self }
    }

    /// SplitMix64.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(super) fn delay(&mut self) -> Duration {
        let (least, greatest) = self.delay;
        let share = f64::from((self.draw() >> 32) as u32) / f64::from(u32::MAX);
        least + greatest.saturating_sub(least).mul_f64(share)
    }

    /// The fault of the next request, if it gets one.
    pub(super) fn fault(&mut self, is_read: bool) -> Option<Fault> {
        if self.draw() % 1000 >= self.fault_permille {
            return None;
        }
        let turn = self.next_fault;
        self.next_fault += 1;
        let of_reads = |fault: &&Fault| is_read || !fault.is_of_reads();
        let possible: Vec<Fault> = self.faults.iter().filter(of_reads).copied().collect();
        possible.get(turn.checked_rem(possible.len())?).copied()
    }
}
