//! How much may be read ahead because it was guessed.

/// Bytes that the share of right guesses is taken of, roughly: the last ones.
const RECENT_BYTES: u64 = 8 << 20;

/// Bytes that are read ahead and have not been used, and what share of the last ones was.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    unused_bytes: u64,
    /// Of the last guesses, by bytes; both at most [`RECENT_BYTES`].
    right: u64,
    wrong: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { unused_bytes: 0, right: RECENT_BYTES / 2, wrong: 0 }
    }
}

impl Budget {
    pub(super) fn ahead(&mut self, bytes: u64) {
        self.unused_bytes += bytes;
    }

    pub(super) fn used(&mut self, bytes: u64) {
        self.unused_bytes = self.unused_bytes.saturating_sub(bytes);
        self.right += bytes;
        self.forget();
    }

    pub(super) fn wasted(&mut self, bytes: u64) {
        self.unused_bytes = self.unused_bytes.saturating_sub(bytes);
        self.wrong += bytes;
        self.forget();
    }

    fn forget(&mut self) {
        while self.right + self.wrong > RECENT_BYTES {
            (self.right, self.wrong) = (self.right / 2, self.wrong / 2);
        }
    }

    /// Bytes of the archive that are read ahead and were not used yet.
    #[must_use]
    pub fn unused_bytes(&self) -> u64 {
        self.unused_bytes
    }

    /// What of `bytes` may be used: all of it while guesses are right, and less the more of them
    /// are wrong. Half of them wrong leave a quarter.
    #[must_use]
    pub fn of(&self, bytes: u64) -> u64 {
        let all = u128::from(self.right + self.wrong).max(1);
        let right = u128::from(self.right);
        (u128::from(bytes) * right * right / (all * all)) as u64
    }
}
