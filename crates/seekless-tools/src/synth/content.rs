//! Makes content that deflates to about 0.55 of its size, as game data does. It alternates random
//! bytes of seven bits with copies of recent bytes. The same path gives the same content.

use seekless_device::SplitMix64;
use seekless_trace::fnv_1a;

/// Bytes of a block. Blocks are made independently of each other.
pub(super) const BLOCK_BYTES: usize = 64 << 10;
/// The greatest distance of a copy from its source, well inside deflate's window of 32 KiB.
const REACH_BYTES: usize = 8 << 10;
/// The longest copy and the shortest distance, so that a copy never overlaps its source.
const COPY_BYTES_MAX: usize = 32;
const SEVEN_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;

/// The content of one file.
#[derive(Clone, Debug)]
pub struct Content {
    seed: u64,
}

impl Content {
    /// The content of the file that a trace calls `path`.
    #[must_use]
    pub fn of(path: &str) -> Self {
        Self { seed: fnv_1a(path.as_bytes()) }
    }

    /// The first `bytes` of the content. Use [`fill`](Self::fill) for more than fits in memory.
    #[must_use]
    pub fn bytes(&self, bytes: usize) -> Vec<u8> {
        let mut content = vec![0; bytes];
        self.fill(0, &mut content);
        content
    }

    /// Fills `buffer` with the content from block `first_block` on (blocks have 64 KiB).
    pub fn fill(&self, first_block: u64, buffer: &mut [u8]) {
        for (block, number) in buffer.chunks_mut(BLOCK_BYTES).zip(first_block..) {
            fill_block(
                block,
                SplitMix64::new(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            );
        }
    }
}

fn fill_block(block: &mut [u8], mut random: SplitMix64) {
    let mut at = 0;
    while at < block.len() {
        let dice = random.bits();
        let words = 2 + (dice & 3).min(2) as usize;
        for _ in 0..words {
            at = noise(block, at, &mut random);
        }
        let length = 14 + (dice >> 8 & 15) as usize;
        let back = COPY_BYTES_MAX + ((dice >> 32) as usize) % REACH_BYTES;
        at = copy(block, at, back, length);
    }
}

fn noise(block: &mut [u8], at: usize, random: &mut SplitMix64) -> usize {
    let word = (random.bits() & SEVEN_BITS).to_le_bytes();
    let end = block.len().min(at + word.len());
    if at < end {
        block[at..end].copy_from_slice(&word[..end - at]);
    }
    end
}

fn copy(block: &mut [u8], at: usize, back: usize, length: usize) -> usize {
    // Near the block's start the distance must be shorter, but never below a copy's length.
    let back = if back > at {
        COPY_BYTES_MAX + back % (at.saturating_sub(COPY_BYTES_MAX) + 1)
    } else {
        back
    };
    let end = block.len().min(at + length);
    if back > at || at >= end {
        return at;
    }
    block.copy_within(at - back..end - back, at);
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use libdeflater::{CompressionLvl, Compressor};

    fn ratio(path: &str, bytes: usize) -> f64 {
        let content = Content::of(path).bytes(bytes);
        let mut compressor = Compressor::new(CompressionLvl::new(6).unwrap_or_default());
        let mut coded = vec![0; compressor.deflate_compress_bound(bytes)];
        let length = compressor.deflate_compress(&content, &mut coded).expect("within the bound");
        length as f64 / bytes as f64
    }

    #[test]
    fn it_deflates_to_about_055() {
        for bytes in [4096, 5000, 8192, 20_000, 65_536, 70_000, 300_000, 1 << 20] {
            for path in ["a", "public/art/textures/skins/wall.dds", "x/y"] {
                let ratio = ratio(path, bytes);
                assert!(
                    (0.50..=0.60).contains(&ratio),
                    "{bytes} bytes of {path} deflate to {ratio:.3}"
                );
            }
        }
    }

    #[test]
    fn the_same_path_gives_the_same_bytes_and_parts_agree() {
        let whole = Content::of("a").bytes(3 * BLOCK_BYTES + 5);
        assert_eq!(whole, Content::of("a").bytes(3 * BLOCK_BYTES + 5));
        assert_ne!(whole[..64], Content::of("b").bytes(64)[..]);
        assert_ne!(whole[..64], whole[BLOCK_BYTES..BLOCK_BYTES + 64]);
        let mut part = vec![0; BLOCK_BYTES];
        Content::of("a").fill(2, &mut part);
        assert_eq!(part, whole[2 * BLOCK_BYTES..3 * BLOCK_BYTES]);
    }

    #[test]
    fn a_shorter_file_is_a_start_of_a_longer_one() {
        let longest = Content::of("a").bytes(100);
        for bytes in 0..100 {
            assert_eq!(Content::of("a").bytes(bytes), longest[..bytes]);
        }
    }

    #[test]
    fn content_stays_the_same_from_version_to_version() {
        assert_eq!(crc32fast::hash(&Content::of("public/a.txt").bytes(100_000)), 47_594_034);
    }
}
