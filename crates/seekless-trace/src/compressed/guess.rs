//! Compression that the first bytes only suggest. Records of other tools may begin with the same
//! bytes: with times, or with sizes of 4096 bytes. So the beginning must also decode, unless the
//! file's name says how it is compressed.

use super::XZ_MEMORY_MAX;
use flate2::bufread::GzDecoder;
use liblzma::stream::{Action, Status, Stream};
use std::io::Read;
use std::path::Path;

/// How much of a file is decoded to try a guess.
pub(super) const LOOK_BYTES: u64 = 1 << 16;
/// A file that decodes to this much is taken for compressed.
const ENOUGH_BYTES: u64 = 16 << 20;

/// Whether other files often begin as this format does: gzip has a magic number of three bytes,
/// and lzma-alone has none.
pub(super) fn is_weak(format: &str) -> bool {
    matches!(format, "gzip" | "lzma")
}

/// Whether the name of a file says that it has this format.
pub(super) fn is_named(path: &Path, format: &str) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let endings: &[&str] = match format {
        "gzip" => &["gz", "tgz"],
        _ => &["lzma"],
    };
    endings.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Whether `start`, the beginning of a file or all of it if that is shorter than [`LOOK_BYTES`],
/// decodes.
pub(super) fn decodes(format: &str, start: &[u8]) -> bool {
    match format {
        "gzip" => inflates(start),
        _ => lzma_decodes(start),
    }
}

/// Whether there is content, or a right end, behind a header of gzip. What is damaged later is gzip
/// all the same.
fn inflates(start: &[u8]) -> bool {
    GzDecoder::new(start).read(&mut [0]).is_ok()
}

/// Whether the data decodes without an error as far as it goes. If that is all of the file, it ends
/// there; or it was cut short, and is a text that lzma has made shorter.
fn lzma_decodes(start: &[u8]) -> bool {
    let Ok(mut stream) = Stream::new_lzma_decoder(XZ_MEMORY_MAX) else { return false };
    let is_whole = (start.len() as u64) < LOOK_BYTES;
    let mut out = vec![0; 1 << 16];
    loop {
        let rest = &start[stream.total_in() as usize..];
        let before = (stream.total_in(), stream.total_out());
        match stream.process(rest, &mut out, Action::Run) {
            Ok(Status::StreamEnd) => return stream.total_in() as usize == start.len(),
            Ok(_) => {}
            Err(_) => return false,
        }
        if stream.total_out() > ENOUGH_BYTES {
            return true;
        }
        if (stream.total_in(), stream.total_out()) == before {
            return !is_whole || stream.total_out() > stream.total_in();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn lzma(content: &[u8]) -> Vec<u8> {
        let options = liblzma::stream::LzmaOptions::new_preset(6).unwrap();
        let stream = Stream::new_lzma_encoder(&options).unwrap();
        let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// The beginning of a file.
    fn look(bytes: &[u8]) -> &[u8] {
        &bytes[..bytes.len().min(LOOK_BYTES as usize)]
    }

    #[test]
    fn what_is_compressed_decodes() {
        let mut noise = 5_u64;
        let long: Vec<u8> = (0..300_000)
            .map(|_| {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (noise >> 56) as u8
            })
            .collect();
        for content in [&b""[..], b"a", &[7; 1 << 25], &long] {
            assert!(decodes("lzma", look(&lzma(content))), "{} bytes", content.len());
            assert!(decodes("gzip", look(&gzip(content))), "{} bytes", content.len());
        }
        let cut = &lzma(&long)[..1000];
        assert!(!decodes("lzma", cut), "what ends within noise may be anything");
        let text = "1700000000,read,/usr/lib/x86_64-linux-gnu/libc.so.6,4096\n".repeat(99);
        let cut = lzma(text.as_bytes());
        assert!(decodes("lzma", &cut[..cut.len() - 20]), "a text that was cut short");
        assert!(decodes("gzip", &gzip(&long)[..1000]), "what is cut short is gzip all the same");
    }

    #[test]
    fn records_that_begin_like_compressed_data_do_not_decode() {
        // Seconds, object, bytes, next use: of 20 and of 10,000 records.
        for (records, first) in [(20_u32, 1_u64), (20, 2), (10_000, 1), (10_000, 0x5d)] {
            for bytes in [4096_u32, 65_536, 1 << 24, 3 << 16] {
                for seconds in [0_u32, 0x0008_8b1f] {
                    let record = |at: u32| {
                        let mut record = (seconds + at).to_le_bytes().to_vec();
                        record.extend((first + u64::from(at % 5)).to_le_bytes());
                        record.extend(bytes.to_le_bytes());
                        record.extend((-1_i64).to_le_bytes());
                        record
                    };
                    let file: Vec<u8> = (0..records).flat_map(record).collect();
                    assert!(!decodes("lzma", look(&file)), "{records} {first} {bytes}");
                    assert!(!decodes("gzip", look(&file)), "{records} {first} {bytes}");
                }
            }
        }
    }

    #[test]
    fn a_name_that_says_so_is_believed() {
        for (name, format, is) in [
            ("a.LZMA", "lzma", true),
            ("a.csv.gz", "gzip", true),
            ("a.gz", "lzma", false),
            ("a", "gzip", false),
        ] {
            assert_eq!(is_named(Path::new(name), format), is, "{name}");
        }
    }
}
