//! The paper's reader of archives: blocks of one size, those of a file several at once, and the
//! last few are kept for the next file.

use seekless::engine::{AlignedBuf, Completion, Engine, EngineKind, Read, build};
use seekless::sys::direct::open_direct;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;

/// Blocks that are kept: "the last few".
const BLOCKS_KEPT: usize = 16;
/// Blocks of a file in flight at once.
const AT_ONCE: usize = 8;

pub(super) struct BlockReader {
    engine: Arc<dyn Engine>,
    file: Arc<File>,
    block_bytes: u64,
    /// By number, those read last at the end.
    kept: VecDeque<(u64, AlignedBuf)>,
}

impl BlockReader {
    /// Past the page cache where the file system allows it. `block_bytes` is a multiple of 4096.
    pub(super) fn open(path: &Path, block_bytes: u64) -> io::Result<Self> {
        let file = match open_direct(path)? {
            Some(file) => file,
            None => File::open(path)?,
        };
        let (file, kept) = (Arc::new(file), VecDeque::new());
        Ok(Self { engine: build(EngineKind::Auto)?, file, block_bytes, kept })
    }

    /// Replaces `out` by the `bytes` bytes at `offset`.
    pub(super) fn read(&mut self, offset: u64, bytes: u64, out: &mut Vec<u8>) -> io::Result<()> {
        let end = offset + bytes;
        let numbers = offset / self.block_bytes..end.div_ceil(self.block_bytes);
        let mut blocks = BTreeMap::new();
        for (number, block) in std::mem::take(&mut self.kept) {
            match numbers.contains(&number) {
                true => drop(blocks.insert(number, block)),
                false => self.kept.push_back((number, block)),
            }
        }
        let missing = numbers.filter(|number| !blocks.contains_key(number)).collect();
        self.fetch(missing, &mut blocks)?;
        out.clear();
        for (number, block) in &blocks {
            let start = number * self.block_bytes;
            let within = |at: u64| (at.saturating_sub(start) as usize).min(block.len());
            out.extend_from_slice(&block[within(offset)..within(end)]);
        }
        self.kept.extend(blocks);
        let over = self.kept.len().saturating_sub(BLOCKS_KEPT);
        self.kept.drain(..over);
        Ok(())
    }

    fn fetch(
        &self,
        missing: VecDeque<u64>,
        blocks: &mut BTreeMap<u64, AlignedBuf>,
    ) -> io::Result<()> {
        let (done, ended) = channel();
        let ask = |number: u64| -> io::Result<Read> {
            Ok(Read {
                file: self.file.clone(),
                offset: number * self.block_bytes,
                buffer: AlignedBuf::try_with_capacity(self.block_bytes as usize)?,
                tag: number,
                done: done.clone().into(),
            })
        };
        let mut line = missing.iter().copied();
        let first = line.by_ref().take(AT_ONCE).map(ask).collect::<io::Result<Vec<Read>>>()?;
        self.engine.submit(first);
        for _ in 0..missing.len() {
            let Completion { tag, buffer, result, .. } = ended.recv().map_err(io::Error::other)?;
            result?;
            blocks.insert(tag, buffer);
            if let Some(number) = line.next() {
                self.engine.submit(vec![ask(number)?]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_come_whole_from_blocks_of_any_size() {
        let bytes: Vec<u8> = (0..300_000u32).map(|at| (at * 7 / 3) as u8).collect();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("archive");
        std::fs::write(&path, &bytes).expect("room");
        for block_bytes in [4096, 16 << 10, 1 << 20] {
            let mut reader = BlockReader::open(&path, block_bytes).expect("it opens");
            let mut out = Vec::new();
            for (offset, length) in
                [(0, 1), (4_000, 200), (4_000, 200_000), (299_999, 1), (0, 300_000), (8_192, 4_096)]
            {
                reader.read(offset, length, &mut out).expect("it is there");
                let expected = &bytes[offset as usize..(offset + length) as usize];
                assert!(out == expected, "{length} bytes at {offset} in blocks of {block_bytes}");
                assert!(reader.kept.len() <= BLOCKS_KEPT);
            }
        }
    }
}
