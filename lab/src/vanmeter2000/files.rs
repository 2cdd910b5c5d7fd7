//! The files to read: a text with known answers, and a FITS image. They are made outside the
//! control group, so that none of their pages belongs to the group at the first pass.

use anyhow::{Context, ensure};
use seekless::sys::residency::{drop_cached, resident_bytes};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const BLOCK_BYTES: usize = 1 << 20;
/// Words that are in one line each, at places drawn evenly.
pub(super) const NEEDLES: u64 = 64;
/// A word in the first line of each block.
pub(super) const MARK: &str = "marked9";
/// A word in no line.
pub(super) const ABSENT: &str = "needle9999";
/// The block size of FITS files.
const FITS_BLOCK: usize = 2880;
/// Pixels in a row, of 4 bytes each.
const ROW_PIXELS: usize = 1024;

/// The longest time that the slowest disk takes for one readahead of 8 MiB.
const ARRIVAL_MAX: Duration = Duration::from_secs(60);

/// A text and the answers to its questions.
pub(super) struct Text {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) lines: u64,
    /// All lines that hold [`MARK`].
    pub(super) marked: Vec<u8>,
    /// Each word and its place.
    pub(super) needles: Vec<(String, u64)>,
}

/// A linear congruential generator: the same numbers each time.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

impl Text {
    /// Words in lines of 40 to 100 bytes, whole blocks.
    pub(super) fn make(path: PathBuf, bytes: u64) -> anyhow::Result<Self> {
        let blocks = (bytes / BLOCK_BYTES as u64).max(1);
        let mut random = Random(7);
        let (template, starts) = template(&mut random);
        let bytes = blocks * BLOCK_BYTES as u64;
        let lines = blocks * starts.len() as u64;
        let mut text = Text { path, bytes, lines, marked: Vec::new(), needles: Vec::new() };
        for number in 0..NEEDLES {
            // One word in each of this many equal parts of the text, but not in the first line of a
            // block, which has the mark.
            let part = bytes / NEEDLES;
            let place = number * part + random.below(part);
            let line = starts[1..]
                .partition_point(|&start| start as u64 <= place % BLOCK_BYTES as u64)
                .max(1);
            let place = place / BLOCK_BYTES as u64 * BLOCK_BYTES as u64 + starts[line] as u64;
            text.needles.push((format!("needle{number:04}"), place));
        }
        text.write(&template, blocks)
            .with_context(|| format!("cannot write {}", text.path.display()))?;
        Ok(text)
    }

    fn write(&mut self, template: &[u8], blocks: u64) -> anyhow::Result<()> {
        let mut file = File::create(&self.path)?;
        for number in 0..blocks {
            let mut block = template.to_vec();
            let mark = format!("block{number:08} {MARK} ");
            block[..mark.len()].copy_from_slice(mark.as_bytes());
            let end =
                block.iter().position(|&byte| byte == b'\n').map_or(block.len(), |end| end + 1);
            self.marked.extend(&block[..end]);
            let start = number * BLOCK_BYTES as u64;
            for (needle, place) in &self.needles {
                if let Some(place) =
                    place.checked_sub(start).filter(|&place| place < BLOCK_BYTES as u64)
                {
                    block[place as usize..][..needle.len()].copy_from_slice(needle.as_bytes());
                }
            }
            file.write_all(&block)?;
        }
        file.sync_all()?;
        Ok(())
    }
}

/// A block of lines, and the start of each.
fn template(random: &mut Random) -> (Vec<u8>, Vec<usize>) {
    let mut block: Vec<u8> = (0..BLOCK_BYTES)
        .map(|_| if random.below(7) == 0 { b' ' } else { b'a' + random.below(26) as u8 })
        .collect();
    let mut starts = vec![0];
    loop {
        let next = starts[starts.len() - 1] + 40 + random.below(61) as usize;
        // The last line fills the block.
        if next + 100 > BLOCK_BYTES {
            block[BLOCK_BYTES - 1] = b'\n';
            return (block, starts);
        }
        block[next - 1] = b'\n';
        starts.push(next);
    }
}

/// An image of 32-bit floating-point pixels, whole rows of 4 KiB; returns the file's size.
pub(super) fn make_image(path: &Path, bytes: u64) -> anyhow::Result<u64> {
    // A multiple of four, so that boxes of four by four cover it.
    let rows = (bytes / (4 * ROW_PIXELS as u64) / 4 * 4).max(4);
    write_image(path, rows).with_context(|| format!("cannot write {}", path.display()))
}

fn write_image(path: &Path, rows: u64) -> anyhow::Result<u64> {
    let card = |name: &str, value: String| format!("{name:<8}= {value:>20}{:50}", "");
    let cards = [
        card("SIMPLE", "T".to_owned()),
        card("BITPIX", "-32".to_owned()),
        card("NAXIS", "2".to_owned()),
        card("NAXIS1", ROW_PIXELS.to_string()),
        card("NAXIS2", rows.to_string()),
        format!("{:<80}", "END"),
    ];
    let mut random = Random(11);
    let pixels: Vec<u8> =
        (0..BLOCK_BYTES / 4).flat_map(|_| (random.below(1000) as f32).to_be_bytes()).collect();
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(format!("{:<FITS_BLOCK$}", cards.concat()).as_bytes())?;
    let data = rows * 4 * ROW_PIXELS as u64;
    let mut left = data;
    while left > 0 {
        let piece = left.min(pixels.len() as u64);
        file.write_all(&pixels[..piece as usize])?;
        left -= piece;
    }
    let padding = (FITS_BLOCK as u64 - data % FITS_BLOCK as u64) % FITS_BLOCK as u64;
    file.write_all(&vec![0; padding as usize])?;
    file.into_inner()?.sync_all()?;
    Ok(FITS_BLOCK as u64 + data + padding)
}

/// Evicts all of a file from the page cache. First waits for reads that a program which ended early
/// had still requested.
pub(super) fn forget(path: &Path) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let deadline = Instant::now() + ARRIVAL_MAX;
    loop {
        drop_cached(file.as_fd())?;
        let left =
            resident_bytes(file.as_fd())?.context("this kernel does not say what is cached")?;
        if left == 0 {
            return Ok(());
        }
        ensure!(
            Instant::now() < deadline,
            "{} stays in the page cache: {left} bytes of it",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_text_is_true() {
        let folder = tempfile::tempdir().unwrap();
        let text = Text::make(folder.path().join("text"), 3 << 20).unwrap();
        let read = std::fs::read_to_string(&text.path).unwrap();
        assert_eq!(read.len() as u64, text.bytes);
        assert_eq!(read.lines().count() as u64, text.lines);
        let marked: String = read
            .lines()
            .filter(|line| line.contains(MARK))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(marked.as_bytes(), text.marked);
        for (needle, place) in &text.needles {
            let places: Vec<usize> =
                read.match_indices(needle.as_str()).map(|(place, _)| place).collect();
            assert_eq!(places, [*place as usize], "{needle}");
        }
        assert!(!read.contains(ABSENT));
    }

    #[test]
    fn an_image_is_whole_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image.fits");
        let bytes = make_image(&path, 1 << 20).unwrap();
        let read = std::fs::read(&path).unwrap();
        assert_eq!(read.len() as u64, bytes);
        assert_eq!(read.len() % FITS_BLOCK, 0);
        assert!(read.starts_with(b"SIMPLE  =                    T"));
    }
}
