//! Reads the files of a folder and finds the names of others in them.
//!
//! Of each kind of file some are read first. Where these name next to nothing, as pictures and
//! sound do, the others of the kind are left unread.

use super::Files;
use super::mentions::{Lists, MENTIONS_MAX, MENTIONS_OF_FILE_MAX, Mentions, extension};
use super::names::{How, Index};
use super::tokens::{NAME_BYTES_MAX, NAME_BYTES_MIN, Part, each, tidied};
use seekless_job::crew;
use seekless_job::{Error, ErrorKind, Result};
use seekless_policy::eviction::Id;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

/// Of each file, at most.
const FILE_BYTES_MAX: u64 = 64 << 20;
const PART_BYTES: usize = 1 << 20;
/// Files of a kind that are read to know whether the kind names others.
const TRIED: usize = 24;
/// Bytes of each of them that are read, at most.
const TRIED_BYTES: u64 = 4 << 20;
/// A kind that names fewer files than one in this many bytes is left unread.
const BYTES_OF_MENTION_MAX: u64 = 256 << 10;
/// Candidates that are remembered, so that what a file repeats costs little.
const REMEMBERED: usize = 1 << 12;

/// The mentions in `files` below `dir`; `progress` gets the bytes that are done, and all. A file
/// that cannot be read has none.
///
/// # Errors
/// `cancel` was set, or no thread can be started.
pub fn scan_folder(
    dir: &Path,
    files: Files<'_>,
    cancel: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Mentions> {
    let index = Index::new(files.names);
    let mut scan = Scan {
        dir,
        files,
        index: &index,
        cancel,
        lists: Lists::new(files.names.len(), MENTIONS_MAX),
        done: 0,
        all: files.bytes.iter().sum(),
        progress,
    };
    scan.companions();
    let kinds = kinds(files.names);
    let (tried, rest): (Vec<_>, Vec<_>) = kinds.into_iter().map(split).unzip();
    let mut yields = vec![Yield::default(); tried.len()];
    scan.read(&flat(&tried), TRIED_BYTES, &mut |kind, file| yields[kind].add(file))?;
    let (worth, left): (Vec<_>, Vec<_>) =
        flat(&rest).into_iter().partition(|&(kind, _)| yields[kind].is_worth_it());
    let again: Vec<_> = flat(&tried)
        .into_iter()
        .filter(|&(kind, file)| yields[kind].is_worth_it() && scan.bytes(file) > TRIED_BYTES)
        .collect();
    scan.skip(&left);
    scan.read(&[again, worth].concat(), FILE_BYTES_MAX, &mut |_, _| {})?;
    Ok(Mentions::new(files.names, scan.lists))
}

/// What some files of a kind have named.
#[derive(Clone, Copy, Default)]
struct Yield {
    bytes: u64,
    mentions: u64,
}

impl Yield {
    fn add(&mut self, read: &Scanned) {
        self.bytes += read.bytes;
        self.mentions += read.found.len() as u64;
    }

    fn is_worth_it(self) -> bool {
        self.mentions * BYTES_OF_MENTION_MAX > self.bytes
    }
}

/// The files of each extension, by number.
fn kinds(names: &[String]) -> Vec<Vec<Id>> {
    let mut numbers = HashMap::new();
    let mut kinds: Vec<Vec<Id>> = Vec::new();
    for (file, name) in names.iter().enumerate().filter(|(_, name)| !name.ends_with('/')) {
        let kind = *numbers.entry(extension(name)).or_insert(kinds.len());
        if kind == kinds.len() {
            kinds.push(Vec::new());
        }
        kinds[kind].push(file as Id);
    }
    kinds
}

/// Some of a kind, evenly spread, and the others.
fn split(kind: Vec<Id>) -> (Vec<Id>, Vec<Id>) {
    let step = kind.len().div_ceil(TRIED).max(1);
    let numbered = kind.into_iter().enumerate();
    let (tried, rest): (Vec<_>, Vec<_>) = numbered.partition(|(place, _)| place % step == 0);
    let files = |part: Vec<(usize, Id)>| part.into_iter().map(|(_, file)| file).collect();
    (files(tried), files(rest))
}

fn flat(kinds: &[Vec<Id>]) -> Vec<(usize, Id)> {
    let of = |(kind, files): (usize, &Vec<Id>)| {
        files.iter().map(move |&file| (kind, file)).collect::<Vec<_>>()
    };
    kinds.iter().enumerate().flat_map(of).collect()
}

/// A file that was read, as far as it could be.
struct Scanned {
    bytes: u64,
    found: Vec<(Id, How)>,
}

struct Scan<'a, 'p> {
    dir: &'a Path,
    files: Files<'a>,
    index: &'a Index<'a>,
    cancel: &'a AtomicBool,
    lists: Lists,
    done: u64,
    all: u64,
    progress: &'p mut dyn FnMut(u64, u64),
}

impl Scan<'_, '_> {
    fn companions(&mut self) {
        for file in 0..self.files.names.len() as Id {
            let mut found = Vec::new();
            self.index.companions(file, &mut found);
            self.lists.add(file, found);
        }
    }

    fn bytes(&self, file: Id) -> u64 {
        self.files.bytes.get(file as usize).copied().unwrap_or(0)
    }

    fn skip(&mut self, files: &[(usize, Id)]) {
        self.done += files.iter().map(|&(_, file)| self.bytes(file)).sum::<u64>();
        (self.progress)(self.done, self.all);
    }

    /// Reads up to `bytes_max` of each file on all cores, and hands on what was found.
    fn read(
        &mut self,
        files: &[(usize, Id)],
        bytes_max: u64,
        take: &mut dyn FnMut(usize, &Scanned),
    ) -> Result<()> {
        let next = AtomicUsize::new(0);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let work = Work {
            dir: self.dir,
            names: self.files.names,
            index: self.index,
            cancel: self.cancel,
            files,
            next: &next,
            bytes_max,
        };
        std::thread::scope(|scope| -> Result<()> {
            let (sender, receiver) = sync_channel(64);
            crew::start(scope, cores.min(files.len()), move || work.run(&sender))?;
            for (place, scanned) in receiver {
                let (kind, file) = files[place];
                take(kind, &scanned);
                self.done = (self.done + self.bytes(file)).min(self.all);
                self.lists.add_all(file, scanned.found);
                (self.progress)(self.done, self.all);
            }
            Ok::<(), Error>(())
        })?;
        if self.cancel.load(Ordering::Relaxed) {
            let why = "looking for names in the files was interrupted";
            return Err(Error::new(ErrorKind::Interrupted, why));
        }
        Ok(())
    }
}

#[derive(Clone)]
struct Work<'a> {
    dir: &'a Path,
    names: &'a [String],
    index: &'a Index<'a>,
    cancel: &'a AtomicBool,
    files: &'a [(usize, Id)],
    next: &'a AtomicUsize,
    bytes_max: u64,
}

impl Work<'_> {
    fn run(&self, sender: &SyncSender<(usize, Scanned)>) {
        let mut finder = Finder::new(self.index);
        let mut buffer = Vec::with_capacity(NAME_BYTES_MAX + PART_BYTES);
        while !self.cancel.load(Ordering::Relaxed) {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&(_, file)) = self.files.get(place) else { return };
            let opened = open(self.dir, &self.names[file as usize]);
            finder.start(file);
            let bytes = opened.map_or(0, |opened| self.one(opened, &mut finder, &mut buffer));
            if sender.send((place, Scanned { bytes, found: finder.finish() })).is_err() {
                return;
            }
        }
    }

    /// Looks through one file; returns how many bytes of it.
    fn one(&self, file: File, finder: &mut Finder<'_>, buffer: &mut Vec<u8>) -> u64 {
        let mut file = file.take(self.bytes_max);
        let mut bytes = 0;
        buffer.clear();
        while !self.cancel.load(Ordering::Relaxed) {
            let kept = buffer.len();
            let read = (&mut file).take(PART_BYTES as u64).read_to_end(buffer).unwrap_or(0);
            let is_last = read < PART_BYTES;
            let part = Part { bytes: buffer, is_first: bytes == 0, is_last };
            bytes += read as u64;
            if read == 0 && kept == 0 || !finder.look(part) || is_last {
                break;
            }
            let end = buffer.len();
            buffer.copy_within(end - NAME_BYTES_MAX - 1..end, 0);
            buffer.truncate(NAME_BYTES_MAX + 1);
        }
        bytes
    }
}

/// The file of that name, if it is one and lies below `dir`.
fn open(dir: &Path, name: &str) -> Option<File> {
    let name = Path::new(name);
    if !name.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let path = dir.join(name);
    // To open a pipe would wait for who writes into it.
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    File::open(path).ok()
}

/// Finds the names in the parts of one file after another.
struct Finder<'a> {
    index: &'a Index<'a>,
    file: Id,
    found: Vec<(Id, How)>,
    seen: HashSet<Id>,
    remembered: Vec<Vec<u8>>,
    resolved: Vec<(Id, How)>,
    tidy: Vec<u8>,
}

impl<'a> Finder<'a> {
    fn new(index: &'a Index<'a>) -> Self {
        Self {
            index,
            file: 0,
            found: Vec::new(),
            seen: HashSet::new(),
            remembered: vec![Vec::new(); REMEMBERED],
            resolved: Vec::new(),
            tidy: Vec::new(),
        }
    }

    fn start(&mut self, file: Id) {
        self.file = file;
        self.found.clear();
        self.seen.clear();
        self.remembered.iter_mut().for_each(Vec::clear);
    }

    fn finish(&mut self) -> Vec<(Id, How)> {
        self.found.as_slice().to_vec()
    }

    /// Whether more parts are worth a look.
    fn look(&mut self, part: Part<'_>) -> bool {
        each(part, self.index.has_spaces(), &mut |token| self.take(token));
        self.found.len() < MENTIONS_OF_FILE_MAX
    }

    fn take(&mut self, token: &[u8]) -> bool {
        let is_untidy = token.contains(&b'%') || token.contains(&b'\\') || token.ends_with(b".");
        if !is_untidy && !self.index.may_have(token) {
            return true;
        }
        tidied(token, &mut self.tidy);
        if self.tidy.len() < NAME_BYTES_MIN || self.is_repeated() {
            return true;
        }
        self.resolved.clear();
        self.index.resolve(self.file, &self.tidy, &mut self.resolved);
        for &(to, how) in &self.resolved {
            if to != self.file && self.seen.insert(to) && self.found.len() < MENTIONS_OF_FILE_MAX {
                self.found.push((to, how));
            }
        }
        self.found.len() < MENTIONS_OF_FILE_MAX
    }

    /// Whether the candidate was met not long ago; it is remembered.
    fn is_repeated(&mut self) -> bool {
        let slot = self.tidy.iter().fold(self.tidy.len(), |hash, &byte| {
            hash.wrapping_mul(31).wrapping_add(usize::from(byte))
        });
        let remembered = &mut self.remembered[slot % REMEMBERED];
        if *remembered == self.tidy {
            return true;
        }
        remembered.clear();
        remembered.extend_from_slice(&self.tidy);
        false
    }
}
