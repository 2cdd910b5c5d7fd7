//! The rival that changes one flag: it reads from the first byte to the last with RWF_DONTCACHE,
//! and does not know what is cached. It counts lines, prints those that hold a word, or stops at
//! the first.

use anyhow::Context;
use seekless::sys::reads::{Caching, read_at};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const BUFFER_BYTES: usize = 1 << 20;

/// Options of the program that the lab starts in its control group.
#[derive(clap::Args, Debug)]
pub(crate) struct LinearArgs {
    /// Counts lines instead.
    #[arg(long)]
    count: bool,
    /// Only reports by its exit code whether there is such a line.
    #[arg(long)]
    quiet: bool,
    #[arg(long, default_value = "")]
    word: String,
    file: PathBuf,
}

/// Reads as `args` say. The exit code is 1 if nothing matched.
pub(crate) fn read(args: &LinearArgs) -> anyhow::Result<ExitCode> {
    let file =
        File::open(&args.file).with_context(|| format!("cannot open {}", args.file.display()))?;
    let mut work = Work { args, lines: 0, matches: 0, out: std::io::stdout().lock() };
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut offset, mut kept) = (0_u64, 0);
    loop {
        if kept == buffer.len() {
            buffer.resize(2 * kept, 0);
        }
        let read =
            read_at(&file, &mut buffer[kept..], offset, Caching::Leave).with_context(|| {
                format!("cannot read {} at {offset} with RWF_DONTCACHE", args.file.display())
            })?;
        let filled = kept + read;
        let whole = match read {
            0 => filled,
            _ => buffer[..filled].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1),
        };
        if work.on_lines(&buffer[..whole])? || read == 0 {
            break;
        }
        buffer.copy_within(whole..filled, 0);
        kept = filled - whole;
        offset += read as u64;
    }
    work.end()
}

struct Work<'a> {
    args: &'a LinearArgs,
    lines: u64,
    matches: u64,
    out: std::io::StdoutLock<'static>,
}

impl Work<'_> {
    /// Returns true if no more needs to be read.
    fn on_lines(&mut self, text: &[u8]) -> anyhow::Result<bool> {
        if self.args.count {
            self.lines +=
                text.chunks(u8::MAX.into()).map(|piece| u64::from(newlines(piece))).sum::<u64>();
            return Ok(false);
        }
        let mut rest = text;
        while let Some(found) = find(rest, self.args.word.as_bytes()) {
            self.matches += 1;
            if self.args.quiet {
                return Ok(true);
            }
            let start =
                rest[..found].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
            let end = rest[found..]
                .iter()
                .position(|&byte| byte == b'\n')
                .map_or(rest.len(), |end| found + end + 1);
            self.out.write_all(&rest[start..end])?;
            rest = &rest[end..];
        }
        Ok(false)
    }

    fn end(mut self) -> anyhow::Result<ExitCode> {
        if self.args.count {
            writeln!(self.out, "{}", self.lines)?;
        }
        self.out.flush()?;
        Ok(ExitCode::from(u8::from(!self.args.count && self.matches == 0)))
    }
}

/// Counts in at most 255 bytes, so that the count fits a byte and the compiler counts sixteen bytes
/// at once.
fn newlines(piece: &[u8]) -> u8 {
    piece.iter().map(|&byte| u8::from(byte == b'\n')).sum()
}

/// The first place of `word`. Searches for its last byte, which is the rarest in the lab's texts,
/// in blocks that the compiler turns into vector code.
fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    let &last = word.last()?;
    let mut start = word.len() - 1;
    while start < text.len() {
        let block = &text[start..text.len().min(start + 256)];
        if block.iter().fold(false, |any, &byte| any | (byte == last)) {
            let ends = (start..start + block.len()).filter(|&end| text[end] == last);
            let mut starts = ends.map(|end| end + 1 - word.len());
            if let Some(found) = starts.find(|&found| text[found..].starts_with(word)) {
                return Some(found);
            }
        }
        start += block.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_wherever_it_lies() {
        for place in [0, 1, 250, 255, 256, 300, 995] {
            let mut text = vec![b'a'; 1000];
            text[place..place + 5].copy_from_slice(b"bcde7");
            assert_eq!(find(&text, b"bcde7"), Some(place));
        }
        assert_eq!(find(b"7777", b"bcde7"), None);
        assert_eq!(find(b"e7", b"bcde7"), None);
    }
}
