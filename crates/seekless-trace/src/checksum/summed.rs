//! Sums up a Parquet file while it is written, and puts the sums into its footer.

use super::{BLOCK_BYTES, KEY_BLOCKS, KEY_FOOTER, SUM_DIGITS};
use crc32fast::Hasher;
use seekless_sys::output::Output;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;

/// An output whose blocks are summed up.
#[derive(Debug)]
pub(crate) struct Summed {
    out: BufWriter<Output>,
    bytes: u64,
    /// The sum of the current block.
    block: Hasher,
    sums: Vec<u32>,
    /// The bytes behind the blocks: the footer.
    footer: Option<Vec<u8>>,
}

impl Summed {
    pub(crate) fn new(out: Output) -> Self {
        let out = BufWriter::with_capacity(1 << 18, out);
        Self { out, bytes: 0, block: Hasher::new(), sums: Vec::new(), footer: None }
    }

    /// Where the bytes go.
    pub(crate) fn output(&self) -> &Output {
        self.out.get_ref()
    }

    /// Ends the blocks: all bytes written from here on are the footer. The caller puts these pairs
    /// last in it, in this order.
    pub(crate) fn end_blocks(&mut self) -> [(&'static str, String); 2] {
        if !self.bytes.is_multiple_of(BLOCK_BYTES) {
            self.end_block();
        }
        self.footer = Some(Vec::new());
        let mut blocks = format!("{BLOCK_BYTES} ");
        for sum in &self.sums {
            let _ = write!(blocks, "{sum:08x}"); // into text, which never fails
        }
        [(KEY_BLOCKS, blocks), (KEY_FOOTER, format!("{:08x} {:016x}", 0, self.bytes))]
    }

    fn end_block(&mut self) {
        self.sums.push(std::mem::take(&mut self.block).finalize());
    }

    /// Writes the footer's sum into the footer.
    pub(crate) fn finish(self) -> io::Result<Output> {
        let Self { out, footer, bytes, .. } = self;
        let out = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let Some(footer) = footer else { return Ok(out) };
        if let Some(at) = super::footer_value(&footer) {
            let sum = format!("{:0SUM_DIGITS$x}", crc32fast::hash(&footer));
            out.file().write_all_at(sum.as_bytes(), bytes - footer.len() as u64 + at as u64)?;
        } else {
            return Err(io::Error::other(format!("the footer does not end with {KEY_FOOTER}")));
        }
        Ok(out)
    }

    fn sum(&mut self, mut written: &[u8]) {
        if let Some(footer) = &mut self.footer {
            footer.extend_from_slice(written);
            self.bytes += written.len() as u64;
            return;
        }
        while !written.is_empty() {
            let room = BLOCK_BYTES - self.bytes % BLOCK_BYTES;
            let (part, rest) = written.split_at(written.len().min(room as usize));
            self.block.update(part);
            self.bytes += part.len() as u64;
            if self.bytes.is_multiple_of(BLOCK_BYTES) {
                self.end_block();
            }
            written = rest;
        }
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
