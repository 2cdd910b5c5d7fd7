//! What in some bytes may be a name: in text, between NULs, in UTF-16, with a length before it.

/// A shorter name is too likely to be a word.
pub(super) const NAME_BYTES_MIN: usize = 4;
/// Longer names are not looked for.
pub(super) const NAME_BYTES_MAX: usize = 1 << 10;

const PLAIN: u8 = 1;
const SPACED: u8 = 2;

/// What each byte may be part of.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | 0x80.. => PLAIN | SPACED,
            b'_' | b'-' | b'.' | b'/' | b'\\' | b'+' | b'@' | b'~' | b'%' => PLAIN | SPACED,
            b' ' | b'(' | b')' | b'&' | b'\'' | b',' | b'!' | b'[' | b']' | b'=' | b'#' => SPACED,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

/// Whether `byte` is one that names usually have.
pub(super) fn is_plain(byte: u8) -> bool {
    KINDS[usize::from(byte)] & PLAIN != 0
}

fn is_spaced(byte: u8) -> bool {
    KINDS[usize::from(byte)] & SPACED != 0
}

/// A part of a file.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) bytes: &'a [u8],
    /// What touches the start of another part was in the part before.
    pub(super) is_first: bool,
    /// What touches the end of another part will be in the part after.
    pub(super) is_last: bool,
}

/// Calls `take` with each candidate, until it returns `false`.
pub(super) fn each(part: Part<'_>, with_spaces: bool, take: &mut impl FnMut(&[u8]) -> bool) {
    let bytes = part.bytes;
    let mut at = 0;
    while at < bytes.len() {
        if !is_plain(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        at += run(&bytes[start..], is_plain);
        if at - start == 1 && bytes.get(at) == Some(&0) {
            let length = wide(&bytes[start..]);
            if length > 2 && !take_wide(&bytes[start..start + length], take) {
                return;
            }
            at = at.max(start + length);
            continue;
        }
        if is_cut(part, start, at) || at - start < NAME_BYTES_MIN {
            continue;
        }
        if !take_run(bytes, start, at, take) {
            return;
        }
    }
    if with_spaces {
        each_spaced(part, take);
    }
}

/// Runs with spaces between quotes, brackets or the ends of lines.
fn each_spaced(part: Part<'_>, take: &mut impl FnMut(&[u8]) -> bool) {
    let bytes = part.bytes;
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        at += run(&bytes[start..], is_spaced);
        let whole = &bytes[start..at];
        at += usize::from(at == start);
        let is_name = (NAME_BYTES_MIN..=NAME_BYTES_MAX).contains(&whole.len());
        if is_name && !is_cut(part, start, at) && !whole.iter().all(|&byte| is_plain(byte)) {
            for piece in [whole.trim_ascii(), quoted(whole)] {
                if piece.len() >= NAME_BYTES_MIN && !take(piece) {
                    return;
                }
            }
        }
    }
}

/// What lies between the outermost quotes or brackets.
fn quoted(run: &[u8]) -> &[u8] {
    let open = run.iter().position(|byte| b"'([=".contains(byte)).map_or(0, |at| at + 1);
    let close = run.iter().rposition(|byte| b"')]".contains(byte)).unwrap_or(run.len());
    run.get(open..close).unwrap_or_default().trim_ascii()
}

/// The length of the run of bytes at the start that `is` holds for.
fn run(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !is(byte)).unwrap_or(bytes.len())
}

/// The length of the run of UTF-16 of ASCII at the start.
fn wide(bytes: &[u8]) -> usize {
    let is_wide = |pair: &&[u8]| is_plain(pair[0]) && pair[0] < 0x80 && pair[1] == 0;
    bytes.chunks_exact(2).take_while(is_wide).count() * 2
}

fn take_wide(run: &[u8], take: &mut impl FnMut(&[u8]) -> bool) -> bool {
    let length = run.len() / 2;
    if !(NAME_BYTES_MIN..=NAME_BYTES_MAX).contains(&length) {
        return true;
    }
    take(&run.iter().step_by(2).copied().collect::<Vec<u8>>())
}

/// Whether the part before or after has the rest.
fn is_cut(part: Part<'_>, start: usize, end: usize) -> bool {
    (start == 0 && !part.is_first) || (end == part.bytes.len() && !part.is_last)
}

fn take_run(bytes: &[u8], start: usize, end: usize, take: &mut impl FnMut(&[u8]) -> bool) -> bool {
    let token = &bytes[start..end];
    if let Some(length) = length_before(&bytes[..start]).filter(|&length| length < token.len())
        && length >= NAME_BYTES_MIN
        && !take(&token[..length])
    {
        return false;
    }
    token.len() > NAME_BYTES_MAX || take(token)
}

/// The number of 32 bits that ends here, if it is small.
fn length_before(bytes: &[u8]) -> Option<usize> {
    let number: [u8; 4] = bytes.last_chunk().copied()?;
    Some(u32::from_le_bytes(number) as usize).filter(|&length| length <= NAME_BYTES_MAX)
}

/// `token` in lower case, with `/` between folders, `%41` as its byte, and without what ends a
/// sentence.
pub(super) fn tidied(token: &[u8], tidy: &mut Vec<u8>) {
    tidy.clear();
    let mut at = 0;
    while at < token.len() {
        let byte = match token[at] {
            b'\\' => b'/',
            b'%' => match token.get(at + 1..at + 3).and_then(hexadecimal) {
                Some(byte) => {
                    at += 2;
                    byte
                }
                None => b'%',
            },
            byte => byte,
        };
        // Folders are sometimes parted by two.
        if byte != b'/' || tidy.last() != Some(&b'/') {
            tidy.push(byte.to_ascii_lowercase());
        }
        at += 1;
    }
    while matches!(tidy.last(), Some(b'.' | b'/')) {
        tidy.pop();
    }
}

fn hexadecimal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
