//! What holds for any bytes that are read as a Zip. The fuzz target `zip` runs this too.

use seekless_pack::{Entry, Index, Method, Position, data_range, decode, verify};

/// Opens, verifies and decodes; panics where the reader does not keep what it promises.
pub(crate) fn check(archive: &[u8]) {
    let whole = verify(archive, archive.len() as u64, &mut |_, _| {});
    let Ok(index) = Index::open(archive, archive.len() as u64) else {
        assert!(whole.is_err(), "verified, and not to be opened");
        return;
    };
    check_index(&index);
    let mut content = Vec::new();
    let mut sums = (0, 0, 0);
    for (entry, number) in index.entries().zip(0..) {
        match check_entry(archive, &entry, index.name(number), &mut content) {
            true => sums = (sums.0 + 1, sums.1 + entry.bytes, sums.2 + entry.coded_bytes),
            false => assert!(whole.is_err(), "verified, and {:?} is broken", index.name(number)),
        }
    }
    match whole {
        Ok(found) => assert_eq!((found.entries, found.bytes, found.coded_bytes), sums),
        Err(error) => assert!(sums.0 < index.len() as u64, "all is right, yet: {error}"),
    }
}

/// Checks that extents lie one after another before the directory, and that each name leads only to
/// its entry.
fn check_index(index: &Index) {
    let mut end = 0;
    for (entry, number) in index.entries().zip(0..) {
        assert!(entry.header_offset >= end, "overlap");
        end = entry.header_offset + entry.extent_bytes;
        let name = index.name(number);
        assert_eq!(index.find(name), Some(number));
        assert!(
            !name.is_empty() && !name.starts_with('/') && !name.split('/').any(|part| part == "..")
        );
    }
    assert!(end <= index.data_bytes());
}

/// Whether the entry is right; then it has the size and the sum that the directory says.
fn check_entry(archive: &[u8], entry: &Entry, name: &str, content: &mut Vec<u8>) -> bool {
    let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
    match decode(entry, name, extent, content) {
        Ok(()) => {
            assert_eq!((content.len() as u64, crc32fast::hash(content)), (entry.bytes, entry.crc));
            assert!(
                streamed(entry, name, extent).is_none_or(|streamed| streamed == Some(entry.crc))
            );
            true
        }
        Err(error) => {
            let message = error.to_string();
            assert!(
                message.starts_with(&format!("entry {name:?} at offset {}: ", entry.header_offset)),
                "{message}"
            );
            // Data that goes on behind the content is no error of a part.
            let _ = streamed(entry, name, extent);
            false
        }
    }
}

/// The sum of a coded entry that is decoded in steps, or `Some(None)` if that fails: it must end.
fn streamed(entry: &Entry, name: &str, extent: &[u8]) -> Option<Option<u32>> {
    let data = &extent[data_range(entry, name, extent).ok()?];
    if entry.method == Method::Stored {
        return None;
    }
    let mut position = Position::start(entry, name).ok()?;
    let (mut crc, mut out) = (crc32fast::Hasher::new(), [0; 5000]);
    while position.content() < entry.bytes {
        let rest = &data[position.data() as usize..];
        let Ok(step) = position.step(entry, name, &rest[..rest.len().min(3000)], &mut out) else {
            return Some(None);
        };
        crc.update(&out[..step.made]);
    }
    Some(Some(crc.finalize()))
}
