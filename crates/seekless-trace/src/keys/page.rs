//! A page of keys: runs of one key and packed keys by turns (Parquet's "Encodings.md",
//! RLE_DICTIONARY). A byte before them says how many bits a key has.

use bytes::Bytes;

const WIDTH_MAX: usize = 32;
/// Packed keys come in groups of this many.
const GROUP: usize = 8;

/// The keys of a page that are still to be read.
#[derive(Debug, Default)]
pub(super) struct KeyPage {
    bytes: Bytes,
    /// The next byte of `bytes` that is not part of the run.
    at: usize,
    /// How many keys are left.
    left: usize,
    width: usize,
    run: Run,
}

#[derive(Clone, Copy, Debug)]
enum Run {
    /// This key, `left` times.
    Same { key: usize, left: usize },
    /// Packed keys; the next one begins at this bit.
    Packed { bit: usize, left: usize },
}

impl Default for Run {
    fn default() -> Self {
        Run::Same { key: 0, left: 0 }
    }
}

impl KeyPage {
    /// `None` if the page is damaged.
    pub(super) fn new(bytes: Bytes, keys: usize) -> Option<Self> {
        let width = usize::from(*bytes.first()?);
        (width <= WIDTH_MAX).then(|| KeyPage {
            bytes,
            at: 1,
            left: keys,
            width,
            run: Run::default(),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Adds the words of the next keys to `out`: `rows`, or as many as the page has. `None` if the
    /// page is damaged.
    pub(super) fn read<T: Copy>(
        &mut self,
        rows: usize,
        words: &[T],
        out: &mut Vec<T>,
    ) -> Option<()> {
        let mut wanted = rows.min(self.left);
        self.left -= wanted;
        while wanted > 0 {
            let taken = match &mut self.run {
                Run::Same { left: 0, .. } | Run::Packed { left: 0, .. } => {
                    self.run = self.next_run()?;
                    continue;
                }
                Run::Same { key, left } => {
                    let taken = wanted.min(*left);
                    *left -= taken;
                    out.extend(std::iter::repeat_n(*words.get(*key)?, taken));
                    taken
                }
                Run::Packed { bit, left } => {
                    let taken = wanted.min(*left);
                    *left -= taken;
                    for _ in 0..taken {
                        out.push(*words.get(bits(&self.bytes, *bit, self.width)?)?);
                        *bit += self.width;
                    }
                    taken
                }
            };
            wanted -= taken;
        }
        Some(())
    }

    fn next_run(&mut self) -> Option<Run> {
        let header = self.varint()?;
        let count = (header >> 1) as usize;
        if header & 1 == 0 {
            let key = bits(&self.bytes, self.at * 8, self.width)?;
            self.at += self.width.div_ceil(8);
            return (count > 0).then_some(Run::Same { key, left: count });
        }
        let bit = self.at * 8;
        self.at = self.at.checked_add(count.checked_mul(self.width)?)?;
        let left = count.checked_mul(GROUP)?;
        (left > 0 && self.at <= self.bytes.len()).then_some(Run::Packed { bit, left })
    }

    fn varint(&mut self) -> Option<u32> {
        let mut number = 0;
        for shift in (0..u32::BITS).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            number |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

/// The number of `width` bits that begins at `bit`.
fn bits(bytes: &[u8], bit: usize, width: usize) -> Option<usize> {
    let rest = bytes.get(bit / 8..)?;
    let held = match rest.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None if rest.len() * 8 >= bit % 8 + width => {
            rest.iter().rev().fold(0, |held, &byte| held << 8 | u64::from(byte))
        }
        None => return None,
    };
    Some((held >> (bit % 8)) as usize & ((1 << width) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], keys: usize, step: usize) -> Option<Vec<u32>> {
        let words: Vec<u32> = (0..8).collect();
        let (mut page, mut out) = (KeyPage::new(bytes.to_vec().into(), keys)?, Vec::new());
        while !page.is_empty() {
            page.read(step, &words, &mut out)?;
        }
        Some(out)
    }

    /// The example of packed bits in Parquet's "Encodings.md", behind a run.
    #[test]
    fn runs_and_packed_keys_are_read_in_parts_of_any_size() {
        let bytes = [3, 10 << 1, 5, 1 << 1 | 1, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        let expected: Vec<u32> = [5; 10].into_iter().chain(0..8).collect();
        for step in [1, 3, 8, 100] {
            assert_eq!(read(&bytes, 18, step).as_ref(), Some(&expected));
        }
        assert_eq!(read(&bytes, 13, 4).as_deref(), Some(&expected[..13]), "the rest is padding");
    }

    #[test]
    fn what_is_cut_or_not_in_the_dictionary_is_damaged() {
        let bytes = [3, 10 << 1, 5, 1 << 1 | 1, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length], 18, 100), None, "{length} bytes");
        }
        assert_eq!(read(&bytes, 19, 100), None, "no key is left");
        assert_eq!(read(&[4, 2 << 1, 9], 2, 100), None, "the dictionary has no key 9");
        assert_eq!(read(&[33, 2 << 1, 0], 2, 100), None, "keys are too wide");
        assert_eq!(read(&[3, 0, 0, 0, 0], 2, 100), None, "empty runs end");
        assert_eq!(read(&[1, 0xff, 0xff, 0xff, 0xff, 0x0f], 2, 100), None, "packed, far too many");
    }
}
