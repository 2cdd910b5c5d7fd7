//! The reads of a pattern on a file, or on the files of a folder: the same for all rivals.

use super::spec::{Kind, Pattern};
use seekless_device::SplitMix64;
use seekless_job::{Error, ErrorKind, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of the chunk of a column.
const CHUNK_BYTES: u64 = 1 << 20;

/// The same places every time.
const SEED: u64 = 2010;

/// One read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Which of the plan's descriptors.
    pub(super) descriptor: u32,
    pub(super) offset: u64,
    pub(super) bytes: u32,
}

/// What is read, in order.
#[derive(Debug)]
pub(super) struct Plan {
    /// The file of each descriptor.
    pub(super) descriptors: Vec<PathBuf>,
    /// Whether each is opened at its first read and closed before the next is opened.
    pub(super) in_turn: bool,
    pub(super) steps: Vec<Step>,
}

impl Plan {
    /// The reads of `pattern` until they come to `amount` bytes or the pattern ends.
    pub(super) fn new(path: &Path, pattern: Pattern, amount: u64) -> Result<Self> {
        let unreadable = |error| Error::unreadable(path, error);
        let metadata = fs::metadata(path).map_err(unreadable)?;
        let is_files = pattern.kind == Kind::Files;
        if metadata.is_dir() != is_files {
            let needs = if is_files { "a folder" } else { "a file" };
            let message = format!("{}: the pattern {pattern} reads {needs}", path.display());
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let plan = match is_files {
            true => files(path, pattern.read_bytes, amount).map_err(unreadable)?,
            false => Self::of_file(path, metadata.len(), pattern, amount),
        };
        match plan.steps.is_empty() {
            true => {
                let message = format!("{}: is too small for {pattern}", path.display());
                Err(Error::new(ErrorKind::Invalid, message))
            }
            false => Ok(plan),
        }
    }

    /// The reads of a pattern on a file of `size` bytes, which need not exist.
    pub(super) fn of_file(path: &Path, size: u64, pattern: Pattern, amount: u64) -> Self {
        let file = Laid { size, read: pattern.read_bytes, amount, random: SplitMix64::new(SEED) };
        let (descriptors, steps) = match pattern.kind {
            Kind::Streams { count, each } => {
                let descriptors = if each { count } else { 1 };
                (descriptors, file.interleaved(count, pattern.read_bytes, each))
            }
            Kind::Strides { count, step } => (1, file.interleaved(count, step, false)),
            kind => (1, file.alone(kind)),
        };
        let descriptors = vec![path.to_owned(); descriptors as usize];
        Plan { descriptors, in_turn: false, steps }
    }

    /// The files, each once.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut files = self.descriptors.clone();
        files.dedup();
        files
    }
}

/// A file and how it is read.
struct Laid {
    size: u64,
    read: u64,
    amount: u64,
    random: SplitMix64,
}

impl Laid {
    fn reads(&self) -> u64 {
        (self.amount / self.read).max(1)
    }

    /// Whole reads that the file has room for.
    fn places(&self) -> u64 {
        self.size / self.read
    }

    fn step(&self, descriptor: u32, offset: u64) -> Step {
        let bytes = self.read.min(self.size.saturating_sub(offset));
        Step { descriptor, offset, bytes: bytes as u32 }
    }

    fn at(&self, offsets: impl Iterator<Item = u64>) -> Vec<Step> {
        let steps = offsets.map(|offset| self.step(0, offset));
        steps.take_while(|step| step.bytes > 0).take(self.reads() as usize).collect()
    }

    /// A pattern of one reader.
    fn alone(mut self, kind: Kind) -> Vec<Step> {
        let (read, places) = (self.read, self.places());
        let mut random = std::mem::replace(&mut self.random, SplitMix64::new(SEED));
        match kind {
            Kind::Backward => self.at((0..places).rev().map(|place| place * read)),
            Kind::Random if places > 0 => {
                self.at(std::iter::repeat_with(|| random.below(places) * read))
            }
            Kind::Stride { step } => self.at((0..).map(|number| number * step)),
            Kind::Sparse { skipped_percent } => {
                let kept = |_: &u64| random.share() * 100.0 >= skipped_percent;
                self.at((0..self.size.div_ceil(read)).filter(kept).map(|place| place * read))
            }
            Kind::Disturbed { percent } if places > 0 => {
                let mut next = 0;
                self.at(std::iter::repeat_with(|| {
                    if random.share() * 100.0 < percent {
                        return random.below(places) * read;
                    }
                    next += read;
                    next - read
                }))
            }
            Kind::Columnar { wanted, columns } => {
                let chosen = choose(wanted, columns, &mut random);
                let chunks = (0..).flat_map(|group: u64| {
                    chosen.iter().map(move |column| (group * columns + column) * CHUNK_BYTES)
                });
                self.at(chunks.flat_map(|chunk| {
                    (0..CHUNK_BYTES.div_ceil(read)).map(move |part| chunk + part * read)
                }))
            }
            _ => self.at((0..self.size.div_ceil(read)).map(|place| place * read)),
        }
    }

    /// Readers that each go through a part of the file of their own; which goes on is chosen at
    /// random each time.
    fn interleaved(mut self, count: u64, step: u64, each: bool) -> Vec<Step> {
        let part = self.size / count / step * step;
        let reads = (self.reads() / count).max(1).min(part / step);
        let mut readers: Vec<(u32, u64)> = (0..count).map(|reader| (reader as u32, 0)).collect();
        let mut steps = Vec::new();
        while !readers.is_empty() && reads > 0 {
            let place = self.random.below(readers.len() as u64) as usize;
            let (reader, done) = &mut readers[place];
            let descriptor = if each { *reader } else { 0 };
            let offset = u64::from(*reader) * part + *done * step;
            *done += 1;
            let ended = *done == reads;
            steps.push(self.step(descriptor, offset));
            if ended {
                readers.swap_remove(place);
            }
        }
        steps
    }
}

/// This many columns, in their order.
fn choose(wanted: u64, columns: u64, random: &mut SplitMix64) -> Vec<u64> {
    let mut left: Vec<u64> = (0..columns).collect();
    let mut chosen: Vec<u64> =
        (0..wanted).map(|_| left.swap_remove(random.below(left.len() as u64) as usize)).collect();
    chosen.sort_unstable();
    chosen
}

/// The files below a folder whole, in the order of names, until they come to `amount` bytes.
fn files(folder: &Path, read: u64, amount: u64) -> std::io::Result<Plan> {
    let mut plan = Plan { descriptors: Vec::new(), in_turn: true, steps: Vec::new() };
    let mut left = amount;
    let mut folders = vec![folder.to_owned()];
    while let Some(path) = folders.pop() {
        let mut entries = fs::read_dir(&path)?.collect::<std::io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        let mut below = Vec::new();
        for entry in entries {
            let kind = entry.file_type()?;
            if kind.is_dir() {
                below.push(entry.path());
            } else if kind.is_file() && left > 0 {
                let size = entry.metadata()?.len();
                left = left.saturating_sub(size);
                let descriptor = plan.descriptors.len() as u32;
                plan.descriptors.push(entry.path());
                plan.steps.extend((0..size.div_ceil(read)).map(|part| {
                    let bytes = read.min(size - part * read) as u32;
                    Step { descriptor, offset: part * read, bytes }
                }));
            }
        }
        folders.extend(below.into_iter().rev());
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn offsets(pattern: &str, size: u64, amount: u64) -> Vec<u64> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        File::create(&path).unwrap().set_len(size).unwrap();
        let plan = Plan::new(&path, pattern.parse().unwrap(), amount).unwrap();
        plan.steps.iter().map(|step| step.offset).collect()
    }

    #[test]
    fn each_pattern_reads_where_it_says() {
        assert_eq!(offsets("forward:4KiB", 20_000, 1 << 20), [0, 4096, 8192, 12288, 16384]);
        assert_eq!(offsets("forward:4KiB", 20_000, 8192), [0, 4096]);
        assert_eq!(offsets("backward:4KiB", 20_000, 1 << 20), [12288, 8192, 4096, 0]);
        assert_eq!(offsets("stride:16KiB", 50_000, 1 << 20), [0, 16384, 32768, 49152]);
        let columns = offsets("columnar:2/4/512KiB", 8 << 20, 1 << 30);
        assert_eq!(columns.len(), 8, "two groups of two chunks of two reads");
        assert!(columns.iter().all(|offset| columns.contains(&((offset + (4 << 20)) % (8 << 20)))));
        let sparse = offsets("sparse:50%", 4 << 20, 1 << 30);
        assert!((400..624).contains(&sparse.len()) && sparse.is_sorted());
        let disturbed = offsets("disturbed:10%", 4 << 20, 4 << 20);
        let strays = disturbed.windows(2).filter(|pair| pair[1] != pair[0] + 4096).count();
        assert!((100..300).contains(&strays), "each stray breaks the order twice: {strays}");
    }

    #[test]
    fn interleaved_readers_each_go_through_their_part() {
        for (pattern, step) in [("streams:3/4KiB", 4096), ("strides:3/16KiB/4KiB", 16384)] {
            let offsets = offsets(pattern, 3 << 20, 1 << 20);
            for part in 0..3 {
                let of_part: Vec<u64> =
                    offsets.iter().copied().filter(|offset| offset >> 20 == part).collect();
                assert!(of_part.len() > 50);
                assert!(of_part.windows(2).all(|pair| pair[1] == pair[0] + step), "{pattern}");
            }
            assert!(!offsets.is_sorted());
        }
    }

    #[test]
    fn a_folder_is_read_in_the_order_of_names_and_nothing_else_by_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        for (name, size) in [("c", 5000), ("a", 3000), ("b/d", 0), ("b/e", 10)] {
            File::create(folder.path().join(name)).unwrap().set_len(size).unwrap();
        }
        let plan = Plan::new(folder.path(), "files:4KiB".parse().unwrap(), 1 << 20).unwrap();
        let names: Vec<_> = plan
            .descriptors
            .iter()
            .map(|path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap())
            .collect();
        assert_eq!(names, ["a", "c", "b/d", "b/e"]);
        let reads: Vec<_> = plan.steps.iter().map(|step| (step.descriptor, step.bytes)).collect();
        assert_eq!(reads, [(0, 3000), (1, 4096), (1, 904), (3, 10)]);
        let forward = "forward".parse().unwrap();
        assert!(Plan::new(folder.path(), forward, 1).unwrap_err().to_string().contains("a file"));
        let small = Plan::new(&folder.path().join("b/d"), forward, 1).unwrap_err();
        assert!(small.to_string().contains("too small"), "{small}");
    }
}
