//! LZMA as Zip has it (APPNOTE 5.8.8): a header of its own before the stream.
//!
//! ```text
//! version of the coder (2) | 5 (2) | properties (1) | bytes of the dictionary (4) | stream
//! ```

use super::{Fault, Step};
use lzma_rust2::{Action, LzmaStream, Status};

const HEADER_BYTES: usize = 9;

/// The largest dictionary that is kept. It grows with the content, and is never larger than that.
/// 7-Zip writes 64 MiB at most.
const DICTIONARY_BYTES_MAX: u64 = 128 << 20;

pub(super) struct Lzma {
    /// The header, as far as it has come; then the stream.
    header: Vec<u8>,
    stream: Option<LzmaStream>,
    /// Bytes of the whole content.
    bytes: u64,
    dictionary_bytes: u64,
    made: u64,
}

impl Lzma {
    pub(super) fn new(bytes: u64) -> Self {
        let header = Vec::with_capacity(HEADER_BYTES);
        Self { header, stream: None, bytes, dictionary_bytes: 0, made: 0 }
    }

    /// `is_last` says that the data ends with this piece.
    pub(super) fn step(
        &mut self,
        data: &[u8],
        out: &mut [u8],
        is_last: bool,
    ) -> Result<Step, Fault> {
        let before = data.len();
        let data = &data[self.take_header(data)..];
        let taken = before - data.len();
        if self.header.len() < HEADER_BYTES {
            return Ok(Step { taken, ..Step::default() });
        }
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => {
                let (stream, dictionary_bytes) = begun(&self.header, self.bytes)?;
                self.dictionary_bytes = dictionary_bytes;
                self.stream.insert(stream)
            }
        };
        let action = if is_last { Action::Finish } else { Action::Run };
        let done = stream.process(data, out, action).map_err(broken)?;
        self.made += done.bytes_produced as u64;
        Ok(Step {
            taken: taken + done.bytes_consumed,
            made: done.bytes_produced,
            ended: done.status == Status::StreamEnd,
        })
    }

    /// Takes what is missing of the header. Returns how many bytes that were.
    fn take_header(&mut self, data: &[u8]) -> usize {
        let missing = (HEADER_BYTES - self.header.len()).min(data.len());
        self.header.extend_from_slice(&data[..missing]);
        missing
    }

    /// The dictionary doubles while it grows.
    pub(super) fn memory_bytes(&self) -> usize {
        let dictionary = self.dictionary_bytes.min(self.made.saturating_mul(2));
        size_of::<Self>() + (64 << 10) + dictionary as usize
    }
}

/// The stream behind this header, and the bytes that its dictionary may take.
fn begun(header: &[u8], bytes: u64) -> Result<(LzmaStream, u64), Fault> {
    let [_, _, 5, 0, properties, dictionary @ ..] = header else {
        return Err(Fault::Broken("it does not begin with the properties of LZMA".to_owned()));
    };
    let declared = dictionary.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte));
    // No content refers to what lies before its start.
    let needed = declared.min(bytes);
    if needed > DICTIONARY_BYTES_MAX {
        return Err(Fault::Limit(format!(
            "it needs an LZMA dictionary of {needed} bytes, more than the 128 MiB that are kept; \
             repack it with a smaller one"
        )));
    }
    let stream = LzmaStream::new_with_props(bytes, *properties, needed as u32, None);
    Ok((stream.map_err(broken)?, needed))
}

fn broken(error: std::io::Error) -> Fault {
    Fault::Broken(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dictionary_is_as_large_as_the_content_and_bounded() {
        let header = [9, 20, 5, 0, 0x5d, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(begun(&header, 1000).map(|begun| begun.1).unwrap(), 1000);
        let limit = begun(&header, DICTIONARY_BYTES_MAX + 1).map(|_| ()).unwrap_err();
        assert!(matches!(limit, Fault::Limit(_)), "{limit:?}");
        for (at, byte) in [(2, 6), (3, 1), (4, 255)] {
            let mut other = header;
            other[at] = byte;
            let fault = begun(&other, 1000).map(|_| ()).unwrap_err();
            assert!(matches!(fault, Fault::Broken(_)), "{fault:?}");
        }
    }
}
