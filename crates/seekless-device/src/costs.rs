//! The numbers that a decision needs to know of a device.

/// What a device charges: the only thing of a device that a policy, an order or a readahead knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Time that one more request takes, whatever its size, in nanoseconds.
    pub request_ns: u64,
    /// Sequential bandwidth in bytes per second.
    pub bytes_per_second: u64,
    /// Requests that the device serves at once.
    pub depth: u32,
}

impl Costs {
    /// Assumed of an unknown device: a plain flash drive.
    pub const ASSUMED: Costs =
        Costs { request_ns: 100_000, bytes_per_second: 1_250_000_000, depth: 32 };

    /// Bytes that could be read in the time that one request costs: a gap smaller than this is
    /// cheaper to read than to skip.
    #[must_use]
    pub fn gap_bytes(&self) -> u64 {
        let bytes = u128::from(self.request_ns) * u128::from(self.bytes_per_second) / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// What the name of a file costs where the file system asks another program or machine for each, as
/// FUSE and network file systems do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookUps {
    /// Time of a look-up if they are made one after another, in nanoseconds.
    pub alone_ns: u64,
    /// Time that passes for each if many are under way, in nanoseconds.
    pub together_ns: u64,
}

/// [`Costs::ASSUMED`].
impl Default for Costs {
    fn default() -> Self {
        Costs::ASSUMED
    }
}
