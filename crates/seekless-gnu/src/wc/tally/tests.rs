//! Random text that is cut anywhere and counted in any order has the counts of a naive walk over
//! the whole.

use super::super::pieces::Pieces;
use super::*;
use crate::clib::ctype::Ctype;
use proptest::prelude::*;

const ALL: Wanted =
    Wanted { lines: true, words: true, characters: true, bytes: true, columns: true };

/// Counts one character at a time, in order, by the published rules alone.
fn naive(bytes: &[u8], charset: &mut Charset) -> Counts {
    let mut counts = Counts { bytes: bytes.len() as u64, ..Counts::default() };
    let (mut open, mut column, mut at) = (false, 0, 0);
    let utf8 = charset.is_utf8();
    while at < bytes.len() {
        let (code, length) = match utf8::decode(&bytes[at..]) {
            _ if !utf8 => (bytes[at].into(), 1),
            Decoded::Character(code, length) => (code, length),
            _ => {
                at += 1;
                continue;
            }
        };
        at += length;
        counts.characters += 1;
        let class =
            if code < 0x80 || !utf8 { charset.bytes()[code as usize] } else { charset.class(code) };
        counts.lines += u64::from(code == 10);
        column = match code {
            10 | 12 | 13 => 0,
            9 => column + 8 - column % 8,
            _ => column + class.columns(),
        };
        counts.columns = counts.columns.max(column);
        if class.is_separator() {
            counts.words += u64::from(open);
            open = false;
        }
        open |= class.is_printable();
    }
    counts.words += u64::from(open);
    counts
}

fn charsets() -> Vec<Charset> {
    let utf8 = Ctype::named(c"C.UTF-8");
    if utf8.is_none() {
        eprintln!("skipped: no locale C.UTF-8");
    }
    let c = Charset::of(None, false);
    std::iter::once(c).chain(utf8.map(|utf8| Charset::of(Some(utf8), false))).collect()
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[a-z]{1,9}".prop_map(String::into_bytes),
        4 => "[ \t\n\r\u{b}\u{c}]{1,3}".prop_map(String::into_bytes),
        2 => "\\PC{1,4}".prop_map(String::into_bytes),
        1 => prop::collection::vec(0x80u8..0xc0, 1..8),
        2 => prop::collection::vec(any::<u8>(), 1..8),
        1 => (1usize..5000).prop_map(|length| b"plain text, then more\n".iter().copied().cycle().take(length).collect()),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn cut(bytes: &[u8], cuts: &[prop::sample::Index]) -> Vec<(u64, Vec<u8>)> {
    let mut ends: Vec<usize> =
        cuts.iter().map(|cut| cut.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
    ends.sort_unstable();
    ends.dedup();
    ends.windows(2).map(|pair| (pair[0] as u64, bytes[pair[0]..pair[1]].to_vec())).collect()
}

proptest! {
    #[test]
    fn pieces_in_any_order_count_like_the_whole(
        bytes in text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        order in any::<u64>(),
    ) {
        for charset in &mut charsets() {
            let expected = naive(&bytes, charset);
            prop_assert_eq!(Tally::of(&bytes, ALL, charset).counts(), expected);
            let mut chunks = cut(&bytes, &cuts);
            let mut seed = order;
            chunks.sort_by_cached_key(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                seed >> 33
            });
            let mut pieces = Pieces::default();
            for (offset, bytes) in &chunks {
                pieces.add(*offset, bytes, ALL, charset);
            }
            prop_assert!(pieces.whole());
            prop_assert_eq!(pieces.counts(), expected);
            for wanted in [
                Wanted { characters: true, ..Wanted::default() },
                Wanted { words: true, ..Wanted::default() },
                Wanted { columns: true, lines: true, ..Wanted::default() },
            ] {
                let mut pieces = Pieces::default();
                for (offset, bytes) in &chunks {
                    pieces.add(*offset, bytes, wanted, charset);
                }
                let counts = pieces.counts();
                prop_assert!(!wanted.characters || counts.characters == expected.characters);
                prop_assert!(!wanted.words || counts.words == expected.words);
                prop_assert!(!wanted.columns || (counts.columns, counts.lines) == (expected.columns, expected.lines));
            }
        }
    }

    #[test]
    fn bytes_that_only_follow_are_joined_one_by_one(bytes in prop::collection::vec(0x80u8..=0xff, 0..12), order in any::<u64>()) {
        for charset in &mut charsets() {
            let expected = naive(&bytes, charset);
            let mut left: Vec<usize> = (0..bytes.len()).collect();
            let mut pieces = Pieces::default();
            let mut seed = order;
            while !left.is_empty() {
                let at = left.swap_remove(seed as usize % left.len());
                seed = seed.rotate_right(7);
                pieces.add(at as u64, &bytes[at..=at], ALL, charset);
            }
            prop_assert_eq!(pieces.counts(), expected);
        }
    }
}

#[test]
fn long_pieces_are_read_in_streams_and_count_the_same() {
    let text: Vec<u8> = (0..200_003u32)
        .map(|at| if at % 7 == 3 || at % 1000 < 300 { b'\n' } else { b'x' })
        .collect();
    for length in [16 << 10, (16 << 10) + 1, 64 * 255 * 4, 64 * 255 * 4 + 63, 100_000, text.len()] {
        let expected = text[..length].iter().filter(|&&byte| byte == b'\n').count() as u64;
        assert_eq!(plain::newlines(&text[..length]), expected, "{length}");
    }
}
