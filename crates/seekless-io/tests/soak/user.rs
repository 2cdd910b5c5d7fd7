//! A thread that uses the store in every way: single loads, lists, lists that are followed, runs
//! that were foreseen, futures, parts, hints; some of it given up on the way. Every byte that
//! arrives is compared.

use crate::draws::Draws;
use crate::files::{FILES, may_be_read_in_part, name, run};
use seekless_io::{Buffer, Error, ErrorKind, Hint, Store};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Buffers that a thread holds at most.
const HELD_MAX: usize = 24;

pub(crate) struct User<'a> {
    store: &'a Store,
    contents: &'a [Vec<u8>],
    draws: Draws,
    held: Vec<(u64, Range<usize>, Buffer)>,
    done: &'a Done,
}

/// What all users did.
#[derive(Default, Debug)]
pub(crate) struct Done {
    pub(crate) loads: AtomicU64,
    pub(crate) failed: AtomicU64,
    /// Lists, futures and lists followed that were given up.
    pub(crate) cancelled: AtomicU64,
    pub(crate) parts: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl<'a> User<'a> {
    pub(crate) fn new(
        store: &'a Store,
        contents: &'a [Vec<u8>],
        draws: Draws,
        done: &'a Done,
    ) -> Self {
        Self { store, contents, draws, held: Vec::new(), done }
    }

    pub(crate) fn act(&mut self) {
        match self.draws.below(40) {
            0 | 1 => self.hint(),
            2 => self.list(),
            3 => self.follow(),
            4 => self.run(),
            5 | 6 => self.future(),
            7 | 8 => self.part(),
            9..=16 if !self.held.is_empty() => self.release(),
            _ => {
                let file = self.file();
                let loaded = self.store.load(&name(file));
                self.loaded(file, loaded);
            }
        }
    }

    /// Lets all buffers go.
    pub(crate) fn end(&mut self) {
        while !self.held.is_empty() {
            self.release();
        }
    }

    /// A file, of which the first ones are the most popular.
    fn file(&mut self) -> u64 {
        let bound = 1 + self.draws.below(FILES);
        self.draws.below(bound)
    }

    fn loaded(&mut self, file: u64, loaded: Result<Buffer, Error>) {
        let whole = 0..self.contents[file as usize].len();
        self.arrived(file, whole, loaded);
    }

    fn arrived(&mut self, file: u64, range: Range<usize>, loaded: Result<Buffer, Error>) {
        count(&self.done.loads);
        match loaded {
            Ok(buffer) => {
                self.check(file, &range, &buffer);
                if self.held.len() == HELD_MAX {
                    self.release();
                }
                if self.draws.below(3) == 0 {
                    self.held.push((file, range, buffer));
                }
            }
            Err(error) => {
                count(&self.done.failed);
                let message = error.to_string();
                assert!(matches!(error.kind(), ErrorKind::Read | ErrorKind::Corrupt), "{message}");
                assert!(message.contains(&name(file)), "{message}");
            }
        }
    }

    fn check(&self, file: u64, range: &Range<usize>, buffer: &Buffer) {
        let expected = &self.contents[file as usize][range.clone()];
        assert!(buffer[..] == *expected, "{} has other bytes", name(file));
    }

    /// Lets a buffer go, whose bytes must still be the file's.
    fn release(&mut self) {
        let at = self.draws.below(self.held.len() as u64) as usize;
        let (file, range, buffer) = self.held.swap_remove(at);
        self.check(file, &range, &buffer);
    }

    fn hint(&mut self) {
        let hint = [Hint::LongLived, Hint::Usual, Hint::Once][self.draws.below(3) as usize];
        self.store.hint(&name(self.file()), hint).unwrap();
    }

    /// Neighbours, and how many of them are waited for.
    fn neighbours(&mut self) -> (Vec<u64>, usize) {
        let (first, count) = (self.file(), 1 + self.draws.below(60));
        let files: Vec<u64> = (first..FILES.min(first + count)).collect();
        let taken = match self.draws.below(3) {
            0 => self.draws.below(files.len() as u64) as usize,
            _ => files.len(),
        };
        if taken < files.len() {
            crate::user::count(&self.done.cancelled);
        }
        (files, taken)
    }

    /// Loads a list, and sometimes gives up on the way.
    fn list(&mut self) {
        let (files, taken) = self.neighbours();
        let names: Vec<String> = files.iter().map(|&file| name(file)).collect();
        for (at, loaded) in self.store.load_many(names).take(taken) {
            self.loaded(files[at], loaded);
        }
    }

    /// Takes what is read ahead, a few at a time, and sometimes lets the rest go.
    fn follow(&mut self) {
        let (files, taken) = self.neighbours();
        let names: Vec<String> = files.iter().map(|&file| name(file)).collect();
        let following = self.store.follow(names.clone()).unwrap();
        for (files, names) in files[..taken].chunks(5).zip(names[..taken].chunks(5)) {
            for (&file, loaded) in files.iter().zip(following.take(names)) {
                self.loaded(file, loaded);
            }
        }
    }

    /// Loads what the pack foresees, with a few other files between.
    fn run(&mut self) {
        for file in run(self.draws.below(4)) {
            let loaded = self.store.load(&name(file));
            self.loaded(file, loaded);
            if self.draws.below(10) == 0 {
                let file = self.file();
                let loaded = self.store.load(&name(file));
                self.loaded(file, loaded);
            }
        }
    }

    /// Begins a few loads, and waits for some of them.
    fn future(&mut self) {
        let files: Vec<u64> = (0..3).map(|_| self.file()).collect();
        let begun: Vec<_> = files.iter().map(|&file| self.store.load_async(&name(file))).collect();
        for (file, future) in files.into_iter().zip(begun) {
            match self.draws.below(2) {
                0 => count(&self.done.cancelled),
                _ => self.loaded(file, pollster::block_on(future)),
            }
        }
    }

    fn part(&mut self) {
        let file = self.file();
        if !may_be_read_in_part(file) {
            return;
        }
        let bytes = self.contents[file as usize].len() as u64;
        let start = self.draws.below(bytes);
        let range = start..start + self.draws.below(bytes - start);
        let part = self.store.read_range(&name(file), range.clone());
        count(&self.done.parts);
        self.arrived(file, range.start as usize..range.end as usize, part);
    }
}
