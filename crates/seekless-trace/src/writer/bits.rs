//! How Parquet packs integers into bits: the keys of a dictionary (its hybrid of runs and packed
//! bits), and numbers as differences (DELTA_BINARY_PACKED). Both are in Parquet's "Encodings.md".

/// Differences that share their least value.
const BLOCK: usize = 128;
/// Differences that share a width.
const MINIBLOCK: usize = 32;
/// Packed keys come in groups of this many.
const GROUP: usize = 8;

/// Appends a number, seven bits a byte.
fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// How many bits the number takes.
fn width(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()) as usize
}

/// Appends values of `width` bits each, which fill `bytes` bytes or fewer; the rest are zeros.
fn pack(values: impl Iterator<Item = u64>, width: usize, bytes: usize, out: &mut Vec<u8>) {
    let end = out.len() + bytes;
    let (mut held, mut bits) = (0_u128, 0);
    for value in values {
        held |= u128::from(value) << bits;
        bits += width;
        if bits >= 64 {
            out.extend_from_slice(&(held as u64).to_le_bytes());
            held >>= 64;
            bits -= 64;
        }
    }
    out.extend_from_slice(&held.to_le_bytes()[..bits.div_ceil(8)]);
    out.resize(end, 0);
}

/// Appends a run of one value of `width` bits, without the width.
pub(super) fn run(value: u32, length: usize, width: usize, out: &mut Vec<u8>) {
    varint((length as u64) << 1, out);
    out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8)]);
}

/// Appends keys of one bit, packed.
pub(super) fn flags(flags: &[bool], out: &mut Vec<u8>) {
    varint((flags.len().div_ceil(GROUP) as u64) << 1 | 1, out);
    let byte = |group: &[bool]| {
        group.iter().enumerate().fold(0, |byte, (bit, &flag)| byte | u8::from(flag) << bit)
    };
    out.extend(flags.chunks(GROUP).map(byte));
}

/// Appends the body of a page of keys: their width, and the keys as one run or packed.
pub(super) fn keys(keys: &[u32], out: &mut Vec<u8>) {
    let first = keys.first().copied().unwrap_or(0);
    let width = width(keys.iter().copied().max().unwrap_or(0).into()).max(1);
    out.push(width as u8);
    if keys.iter().all(|&key| key == first) {
        return run(first, keys.len(), width, out);
    }
    let groups = keys.len().div_ceil(GROUP);
    varint((groups as u64) << 1 | 1, out);
    pack(keys.iter().map(|&key| key.into()), width, groups * width, out);
}

/// Appends the body of a page of keys that come in runs of (key, length).
pub(super) fn runs(runs: &[(u32, usize)], out: &mut Vec<u8>) {
    let width = width(runs.iter().map(|&(key, _)| key).max().unwrap_or(0).into()).max(1);
    out.push(width as u8);
    runs.iter().for_each(|&(key, length)| run(key, length, width, out));
}

/// Appends 64-bit numbers as differences.
pub(super) fn delta(values: &[u64], out: &mut Vec<u8>) {
    let (first, rest) = values.split_first().map_or((0, values), |(first, rest)| (*first, rest));
    for number in [BLOCK as u64, (BLOCK / MINIBLOCK) as u64, values.len() as u64] {
        varint(number, out);
    }
    varint(zigzag(first as i64), out);
    let mut before = first;
    let mut above = [0; BLOCK];
    for block in rest.chunks(BLOCK) {
        for (place, &value) in above.iter_mut().zip(block) {
            *place = value.wrapping_sub(before) as i64;
            before = value;
        }
        let above = &mut above[..block.len()];
        let least = above.iter().copied().min().unwrap_or(0);
        above.iter_mut().for_each(|value| *value = value.wrapping_sub(least));
        varint(zigzag(least), out);
        delta_block(above, out);
    }
}

/// Appends what a block's differences are above their least: the widths of all miniblocks, then
/// those that have values.
fn delta_block(above: &[i64], out: &mut Vec<u8>) {
    let widths = above
        .chunks(MINIBLOCK)
        .map(|mini| width(mini.iter().fold(0, |all, &value| all | value as u64)));
    let mut bytes = [0; BLOCK / MINIBLOCK];
    bytes.iter_mut().zip(widths).for_each(|(byte, width)| *byte = width as u8);
    out.extend_from_slice(&bytes);
    for (mini, width) in above.chunks(MINIBLOCK).zip(bytes.map(usize::from)) {
        pack(mini.iter().map(|&value| value as u64), width, MINIBLOCK / 8 * width, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack(bytes: &[u8], width: usize, at: usize) -> u64 {
        (0..width).fold(0, |all, bit| {
            let place = at * width + bit;
            all | u64::from(bytes[place / 8] >> (place % 8) & 1) << bit
        })
    }

    #[test]
    fn every_width_comes_back() {
        for width in 1..=64 {
            let values: Vec<u64> = (1..20_u64)
                .map(|value| value.wrapping_mul(u64::MAX / 23) >> (64 - width))
                .collect();
            let mut out = vec![7];
            pack(values.iter().copied(), width, 4 * 8 * width, &mut out);
            assert_eq!(out.len(), 1 + 4 * 8 * width);
            let found: Vec<u64> = (0..19).map(|at| unpack(&out[1..], width, at)).collect();
            assert_eq!(found, values, "{width} bits");
        }
    }

    /// The example of the format's description: 1 to 5 differ by 1.
    #[test]
    fn equal_differences_take_no_bits() {
        let mut out = Vec::new();
        delta(&[1, 2, 3, 4, 5], &mut out);
        assert_eq!(out, [0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
    }

    #[test]
    fn keys_are_a_run_or_packed() {
        let mut out = Vec::new();
        keys(&[3; 100], &mut out);
        assert_eq!(out, [2, 200, 1, 3]);
        out.clear();
        keys(&[0, 1, 2, 3, 4, 5, 6, 7], &mut out);
        assert_eq!(out, [3, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010], "the format's own example");
        out.clear();
        flags(&[true, false, true, false, false, false, false, true, true], &mut out);
        assert_eq!(out, [5, 0b1000_0101, 1], "two groups");
        out.clear();
        runs(&[(0, 2), (1, 1)], &mut out);
        assert_eq!(out, [1, 4, 0, 2, 1]);
    }
}
