//! Archives of few bytes that claim much. Also read by the live engine's tests.

use crate::forge::{Forged, Forgery, put16, put32, put64};

const DEFLATE: u16 = 8;
const LZMA: u16 = 14;
const ZSTD: u16 = 93;
/// Deflate's best case: what a directory may claim for each byte of data.
const RATIO_MAX: usize = 1032;

/// An archive made to deceive.
pub(crate) struct Hostile {
    pub(crate) what: &'static str,
    pub(crate) archive: Vec<u8>,
    /// Bytes of content in its largest right entry: these may be asked for.
    pub(crate) right_bytes: usize,
}

/// One of every kind.
pub(crate) fn hostile() -> Vec<Hostile> {
    let sample = |what, archive| Hostile { what, archive, right_bytes: 0 };
    let lie = |method, flags, bytes| {
        Forgery::of([wide(method, flags, bytes), Forged::stored("b", b"beta")])
    };
    let zeros = vec![0; 100 << 20];
    let bomb = deflated("bomb", &zeros);
    vec![
        sample("an unknown method, nearly 2^64 bytes", lie(LZMA, 0, u64::MAX).bytes()),
        sample("encrypted, nearly 2^64 bytes", lie(DEFLATE, 1, u64::MAX - 1).bytes()),
        sample("stored, nearly 2^64 bytes", lie(0, 0, u64::MAX).bytes()),
        sample("an unknown method, 2^63 bytes twice", twice(1 << 63)),
        sample("noise as a bomb", claims("noise", noise(300 << 10), RATIO_MAX)),
        sample("many noises as bombs", many_noises()),
        sample("little content as a bomb", claims("little", little(), RATIO_MAX)),
        sample("a bomb that claims more", claims("bomb", bomb.data.clone(), RATIO_MAX)),
        sample("a bomb that claims little", claims("bomb", bomb.data.clone(), 10)),
        Hostile { right_bytes: zeros.len(), ..sample("a bomb", Forgery::of([bomb]).bytes()) },
        sample("zstd, nearly 2^64 bytes", lie(ZSTD, 0, u64::MAX).bytes()),
        sample("a zstd bomb that claims more", zstd_runs(0x38, 800, 900)),
        sample("a zstd bomb that claims little", zstd_runs(0x38, 800, 8)),
        sample("zstd with a window of 2 TiB", zstd_runs(0xf8, 800, 800)),
        Hostile { right_bytes: 800 << 17, ..sample("a zstd bomb", zstd_runs(0x38, 800, 800)) },
        sample("long names of an old code page", long_names()),
        sample("as many entries as go into the end record", many_entries()),
        sample("a count of nearly 2^64", end64(u64::MAX, 94, None)),
        sample("a directory of nearly 2^64 bytes", end64(2, u64::MAX, None)),
        sample("a directory at nearly 2^64", end64(2, 94, Some(u64::MAX - 93))),
        sample("lengths of 64 KiB", lengths()),
    ]
}

/// An entry whose sizes stand in a Zip64 field, here and there alike.
fn wide(method: u16, flags: u16, bytes: u64) -> Forged {
    let mut entry = Forged { method, flags, ..Forged::stored("a", b"alpha") };
    let coded_bytes = if method == 0 { bytes } else { 5 };
    (entry.bytes, entry.coded_bytes) = (u32::MAX, u32::MAX);
    put16(&mut entry.local_extra, &[1, 16]);
    put64(&mut entry.local_extra, &[bytes, coded_bytes]);
    entry.central_extra = entry.local_extra.clone();
    entry
}

fn twice(bytes: u64) -> Vec<u8> {
    let mut second = wide(LZMA, 0, bytes);
    second.name = b"b".into();
    Forgery::of([wide(LZMA, 0, bytes), second]).bytes()
}

pub(crate) fn deflated(name: &str, content: &[u8]) -> Forged {
    let mut compressor = libdeflater::Compressor::default();
    let mut data = vec![0; compressor.deflate_compress_bound(content.len())];
    let length = compressor.deflate_compress(content, &mut data).expect("within the bound");
    data.truncate(length);
    let right = Forged::stored(name, content);
    Forged { method: DEFLATE, coded_bytes: length as u32, data, ..right }
}

/// A zstd entry of this many blocks, each of 128 KiB of zeros in four bytes, that claims to have
/// `claimed` of them. `window` is the byte that states the window's size (RFC 8878, 3.1.1.1.2).
fn zstd_runs(window: u8, blocks: u32, claimed: u32) -> Vec<u8> {
    let mut data = vec![0x28, 0xb5, 0x2f, 0xfd, 0, window];
    for block in 1..=blocks {
        let header = u32::from(block == blocks) | 1 << 1 | (128 << 10) << 3;
        data.extend(&header.to_le_bytes()[..3]);
        data.push(0);
    }
    let right = Forged::stored("runs", &vec![0; (blocks as usize) << 17]);
    let (bytes, coded_bytes) = (claimed << 17, data.len() as u32);
    Forgery::of([Forged { method: ZSTD, bytes, coded_bytes, data, ..right }]).bytes()
}

/// An archive of one entry with this data, which claims `ratio` bytes of content for each.
fn claims(name: &str, data: Vec<u8>, ratio: usize) -> Vec<u8> {
    Forgery::of([claim(name, data, ratio)]).bytes()
}

fn claim(name: &str, data: Vec<u8>, ratio: usize) -> Forged {
    let (coded_bytes, bytes) = (data.len() as u32, (data.len() * ratio) as u32);
    Forged { method: DEFLATE, bytes, coded_bytes, data, ..Forged::stored(name, b"") }
}

/// xorshift.
fn noise(bytes: usize) -> Vec<u8> {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed as u8
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

fn many_noises() -> Vec<u8> {
    let entries = (0..60).map(|number| claim(&format!("{number}"), noise(20 << 10), RATIO_MAX));
    Forgery::of(entries.collect::<Vec<_>>()).bytes()
}

/// Deflate data of 400 KiB of noise: right, and breaking off long before what it will claim.
fn little() -> Vec<u8> {
    deflated("little", &noise(400 << 10)).data
}

/// Each byte of these names becomes three in UTF-8.
fn long_names() -> Vec<u8> {
    let name = |number: u8| {
        let mut name = vec![0xc4; 65_000];
        name.push(b'a' + number);
        name
    };
    let entries = (0..20).map(|number| Forged { name: name(number), ..Forged::stored("", b"") });
    Forgery::of(entries.collect::<Vec<_>>()).bytes()
}

fn many_entries() -> Vec<u8> {
    Forgery::of(
        (0..65_535).map(|number| Forged::stored(&format!("{number:x}"), b"")).collect::<Vec<_>>(),
    )
    .bytes()
}

/// Two right entries, and a Zip64 end record that says otherwise.
fn end64(entries: u64, directory_bytes: u64, directory_offset: Option<u64>) -> Vec<u8> {
    let mut forgery = Forgery::of([Forged::stored("a", b""), Forged::stored("b", b"")]);
    let directory_starts = 2 * 31;
    let record_starts = directory_starts + 2 * 47;
    let between = &mut forgery.between;
    put32(between, &[0x0606_4b50]);
    put64(between, &[44]);
    put16(between, &[45, 45]);
    put32(between, &[0, 0]);
    put64(
        between,
        &[entries, entries, directory_bytes, directory_offset.unwrap_or(directory_starts)],
    );
    put32(between, &[0x0706_4b50, 0]);
    put64(between, &[record_starts]);
    put32(between, &[1]);
    (forgery.count, forgery.directory_bytes, forgery.directory_offset) =
        (Some(u16::MAX), Some(u32::MAX), Some(u32::MAX));
    forgery.bytes()
}

/// An archive whose extra fields and comments have their greatest length, and whose first local
/// header claims a name of that length.
fn lengths() -> Vec<u8> {
    let mut entry = Forged::stored("a", b"alpha");
    (entry.local_extra, entry.central_extra) = (vec![0; 65_535], vec![0; 65_535]);
    entry.comment = vec![b'c'; 65_535];
    let mut forgery = Forgery::of([entry, Forged::stored("b", b"beta")]);
    forgery.comment = vec![b'c'; 65_535];
    let mut archive = forgery.bytes();
    archive[26..28].copy_from_slice(&u16::MAX.to_le_bytes());
    archive
}
