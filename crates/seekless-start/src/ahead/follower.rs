//! Takes what is reported of a program, as soon as that pays: often while it waits for a device,
//! seldom while it does not.

use super::files::Files;
use super::{Options, Report, events, offset_of};
use crate::{Error, ErrorKind, Result};
use seekless_watch::call_events::{CallEvents, Event};
use std::time::{Duration, Instant};

/// How long reports may wait while a device is read.
const BUSY: Duration = Duration::from_micros(100);
/// And while nothing was read from a device lately.
const QUIET: Duration = Duration::from_millis(2);
/// How long a device counts as being read after the last page from it, or the last use of one that
/// was fetched ahead.
const BUSY_FOR: Duration = Duration::from_millis(50);
/// After this many calls beyond that, which gained nothing, calls are no longer reported: it is
/// they that cost the program something.
const CALLS_FOR_NOTHING: u64 = 2000;
/// How often it is looked what has left the cache, and which processes have ended.
const SWEEP: Duration = Duration::from_secs(1);

/// Follows a program.
pub(super) struct Follower {
    events: CallEvents,
    files: Files,
    /// The processes that were followed while they ran. The end of one may have gone unseen: it is
    /// reported before the process counts as ended.
    joined: Vec<i32>,
}

impl Follower {
    /// Loads what reports the program's reads.
    ///
    /// # Errors
    /// It does not work here, or there is no such readahead.
    pub(super) fn load(options: &Options) -> Result<Self> {
        let files = Files::new(options)?;
        // Calls are reported once something comes from a device.
        Ok(Follower { events: events()?, files, joined: Vec::new() })
    }

    /// Follows the process, what it has started, and all that these start.
    ///
    /// # Errors
    /// There is no memory.
    pub(super) fn follow(&mut self, pid: i32) -> Result<()> {
        let refused =
            |error| Error::because(ErrorKind::Record, "the process cannot be followed", error);
        let mut new = vec![pid];
        while let Some(pid) = new.pop() {
            self.events.follow(pid).map_err(refused)?;
            // Asked after it is followed: whom it starts from then on is followed, too.
            new.extend(children(pid));
            self.joined.push(pid);
        }
        self.forget_ended();
        Ok(())
    }

    fn forget_ended(&mut self) {
        let Self { events, joined, .. } = self;
        joined.retain(|&pid| {
            let lives = lives(pid);
            if !lives {
                events.forget(pid);
            }
            lives
        });
    }

    /// Reads ahead until the program and all that it has started have ended, or `is_over`.
    pub(super) fn run(&mut self, is_over: impl Fn() -> bool) {
        let (mut gained, mut swept) = (Instant::now(), Instant::now());
        let mut calls_before = 0;
        loop {
            // Asked before its reports are taken: then nothing comes after that.
            let over = is_over() || !self.events.has_any();
            let before = self.gains();
            self.take();
            if over {
                return;
            }
            if self.gains() != before {
                gained = Instant::now();
                calls_before = self.files.calls;
                let _ = self.events.resume(); // tried again at the next page
            } else if self.files.calls - calls_before > CALLS_FOR_NOTHING && !is_busy(gained) {
                self.pause();
                calls_before = self.files.calls;
            }
            if swept.elapsed() > SWEEP {
                self.files.sweep();
                self.forget_ended();
                swept = Instant::now();
            }
            std::thread::sleep(if is_busy(gained) { BUSY } else { QUIET });
        }
    }

    fn pause(&mut self) {
        self.events.pause();
        self.files.pause();
    }

    /// What was seen and done.
    pub(super) fn report(&self) -> Report {
        Report { lost: self.events.lost(), ..self.files.report }
    }

    /// What grows while reports gain something.
    fn gains(&self) -> (u64, u64) {
        (self.files.report.missed_bytes, self.files.report.used_bytes)
    }

    fn take(&mut self) {
        let files = &mut self.files;
        self.events.take(|event| match event {
            Event::File(key, _, file) => files.opened(key, file),
            Event::Fetched(which, fetch) => files.fetched(which, fetch),
            Event::Called(which, call) => {
                if let Some(offset) = offset_of(&call) {
                    files.read(which, &call, offset);
                }
            }
            Event::Ended(which) => files.ended(which.tid),
            _ => {}
        });
    }
}

/// Whether a process has not ended. One that is not waited for yet has.
fn lives(pid: i32) -> bool {
    let about = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = about.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    state.is_some_and(|state| !state.starts_with(['Z', 'X']))
}

/// The living children of a process, as far as the kernel says.
fn children(pid: i32) -> Vec<i32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let numbers = |list: String| {
        list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
    };
    lists.flat_map(numbers).collect()
}

fn is_busy(gained: Instant) -> bool {
    gained.elapsed() < BUSY_FOR
}
