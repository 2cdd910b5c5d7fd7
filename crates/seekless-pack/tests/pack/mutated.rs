//! Random bytes and random damage: reading gives an error or an archive. It never panics, and
//! content never differs silently.

use crate::support::{pack, read_all};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index as Position;
use seekless_pack::{Codec, Index, verify};

fn archive() -> Vec<u8> {
    let text = "some words, some words again, and words".repeat(20);
    pack(
        &[("a/b.txt", text.as_bytes()), ("ä", b"stored"), ("empty", b""), ("z", &[0; 5000])],
        Codec::Auto,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes(bytes in vec(any::<u8>(), 0..300)) {
        prop_assert!(Index::open(bytes.as_slice(), bytes.len() as u64).is_err(), "22 right bytes do not come by chance");
    }

    #[test]
    fn random_bytes_before_a_right_end(bytes in vec(any::<u8>(), 0..300), fields in vec(any::<u16>(), 8)) {
        let mut bytes = bytes;
        bytes.extend(b"PK\x05\x06");
        // Small numbers come closer to being right.
        fields.iter().take(7).for_each(|field| bytes.extend((field & 0x3f).to_le_bytes()));
        bytes.extend([0; 4]);
        let _ = read_all(&bytes);
    }

    #[test]
    fn flipped_bytes(flips in vec((any::<Position>(), any::<u8>()), 1..6)) {
        let right = archive();
        let mut bytes = right.clone();
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let whole = verify(bytes.as_slice(), bytes.len() as u64, &mut |_, _| {}).is_ok();
        let read = read_all(&bytes);
        prop_assert_eq!(read.is_ok(), whole, "verify and reading agree");
        if let Ok(files) = read {
            // Names, modes and times are not summed, but content is: it is one of those packed.
            let before: Vec<Vec<u8>> = read_all(&right).expect("our own").into_iter().map(|file| file.1).collect();
            prop_assert!(files.iter().all(|file| before.contains(&file.1)));
        }
    }

    #[test]
    fn cut_and_joined(start in any::<Position>(), length in any::<Position>(), to in any::<Position>()) {
        let right = archive();
        let start = start.index(right.len());
        let piece = right[start..start + length.index(right.len() - start)].to_vec();
        let mut bytes = right.clone();
        let to = to.index(right.len());
        bytes.splice(to..to, piece);
        let _ = read_all(&bytes);
    }
}
