//! Fast counting: loops over rows of bytes that the compiler turns into vector code.

use super::words::Words;

/// Bytes in a row: two 16-byte vectors or one 32-byte vector.
const ROW: usize = 32;
/// Rows in a unit. A lane of eight bits would allow 255. With fewer, one unusual character sends
/// less text to the slow path.
const ROWS: usize = 64;
/// Bytes that are tested together for being plain. The first is only the predecessor of the rows'
/// first byte.
pub(crate) const UNIT: usize = ROW * ROWS + 1;

/// Places in a piece that are read side by side: memory delivers several streams faster than one.
const STREAMS: usize = 4;
/// Bytes that one stream advances at a time; the compiler turns rows of exactly this size into
/// vector code.
const STEP: usize = 64;
/// The smallest piece that is split into streams.
const STREAMED_MIN: usize = 16 << 10;

/// The number of newlines.
pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    if bytes.len() < STREAMED_MIN {
        return few_newlines(bytes);
    }
    let each = bytes.len() / STREAMS / STEP * STEP;
    let (streamed, rest) = bytes.split_at(each * STREAMS);
    let mut total = few_newlines(rest);
    for start in (0..each).step_by(STEP * 255) {
        let length = (each - start).min(STEP * 255);
        total +=
            streams(std::array::from_fn(|stream| &streamed[stream * each + start..][..length]));
    }
    total
}

/// Counts without asking what the processor supports: in a virtual machine that costs more than
/// counting a small file.
fn few_newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// The newlines of streams of equal length. It must be at most 255 steps, because a lane has eight
/// bits.
fn streams(streams: [&[u8]; STREAMS]) -> u64 {
    let mut lanes = [[0u8; STEP]; STREAMS];
    let mut at = 0;
    while let [Some(a), Some(b), Some(c), Some(d)] =
        streams.map(|stream| stream[at..].first_chunk::<STEP>())
    {
        for (lanes, row) in lanes.iter_mut().zip([a, b, c, d]) {
            for lane in 0..STEP {
                lanes[lane] += u8::from(row[lane] == b'\n');
            }
        }
        at += STEP;
    }
    lanes.iter().flatten().map(|&lane| u64::from(lane)).sum()
}

/// The number of characters: bytes that are not continuation bytes of UTF-8.
pub(crate) fn characters(text: &str) -> u64 {
    let mut total = 0;
    for piece in text.as_bytes().chunks(ROW * 255) {
        let rows = piece.chunks_exact(ROW);
        total += rows.remainder().iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64;
        let mut lanes = [0u8; ROW];
        for row in rows {
            for lane in 0..ROW {
                lanes[lane] += u8::from(row[lane] & 0xc0 != 0x80);
            }
        }
        total += sum(&lanes);
    }
    total
}

/// Whether a byte is white space of ASCII.
#[inline(always)]
fn separates(byte: u8) -> bool {
    (byte == b' ') | (byte.wrapping_sub(9) < 5)
}

/// Counts the words of a unit into `words`, if the unit holds only printable ASCII and white space.
/// Otherwise returns `false` and leaves `words` unchanged.
pub(crate) fn words(unit: &[u8; UNIT], words: &mut Words) -> bool {
    let mut ends = [0u8; ROW];
    let mut strange = [0u8; ROW];
    let rows = unit[1..].chunks_exact(ROW).zip(unit[..UNIT - 1].chunks_exact(ROW));
    for (row, before) in rows {
        for lane in 0..ROW {
            let (byte, last) = (row[lane], before[lane]);
            let (separator, after) = (separates(byte), separates(last));
            ends[lane] += u8::from(separator & !after);
            strange[lane] |= u8::from(!separator & (byte.wrapping_sub(0x21) >= 0x5e));
        }
    }
    let first = unit[0];
    let plain_first = separates(first) || (0x21..0x7f).contains(&first);
    if !plain_first || strange.iter().any(|&lane| lane != 0) {
        return false;
    }
    join(unit, sum(&ends), words);
    true
}

/// Adds a plain unit in which `ends` separators follow a printable byte.
fn join(unit: &[u8; UNIT], ends: u64, words: &mut Words) {
    let first = unit[0];
    let head = !separates(first);
    let separated = !head || ends > 0;
    let open = !separates(unit[UNIT - 1]);
    *words = words.join(Words { separated, head, closed: ends, open });
}

fn sum(lanes: &[u8; ROW]) -> u64 {
    lanes.iter().map(|&lane| u64::from(lane)).sum()
}
