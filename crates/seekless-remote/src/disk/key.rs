//! Which version of which object: what a block's tag says, and what its checksums depend on.

use sha2::{Digest, Sha256};
use twox_hash::XxHash64;

pub(super) const KEY: usize = 16;

/// A digest of all that tells one version of an object from others. It is cryptographic, since
/// others choose the names and tags of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key([u8; KEY]);

impl Key {
    /// Of what names a version, in this order.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let mut key = [0; KEY];
        key.copy_from_slice(&digest.finalize()[..KEY]);
        Self(key)
    }

    pub(super) fn from_bytes(bytes: [u8; KEY]) -> Self {
        Self(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8; KEY] {
        &self.0
    }

    /// A number that differs from object to object.
    pub(super) fn spread(&self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0[..8]);
        u64::from_le_bytes(first)
    }

    /// The checksum of a sector: of its bytes, where they belong, and how many they are. Never 0.
    pub(super) fn sum(&self, sector: u64, content: &[u8]) -> u64 {
        let mut about = [0; KEY + 16];
        about[..KEY].copy_from_slice(&self.0);
        about[KEY..KEY + 8].copy_from_slice(&sector.to_le_bytes());
        about[KEY + 8..].copy_from_slice(&(content.len() as u64).to_le_bytes());
        XxHash64::oneshot(XxHash64::oneshot(0, &about), content).max(1)
    }
}
