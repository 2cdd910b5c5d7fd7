//! The player: decides at each turn which I/Os start, and notes when they end.

use super::pass::Watch;
use super::{Ended, Io, Pace, Pass, Stage};
use crate::{Error, ErrorKind};
use seekless_device::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// How long a wait may last before the user is asked whether to go on.
const PATIENCE_NS: Nanos = 100_000_000;

/// How many I/Os are handed over together where the pace does not say. With all that are free at
/// once, device and player work in turn: at depth 32 the device did 0.77 of what fio makes of it,
/// and 0.97 to 1.00 with two.
const HANDED_OVER: usize = 2;

/// How to play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// When each I/O starts.
    pub pace: Pace,
    /// How often the I/Os are played, one play after the other without a pause; at least 1.
    pub passes: u32,
    /// At most this many points are kept for a picture; 0 keeps none.
    pub points: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { pace: Pace::default(), passes: 1, points: 0 }
    }
}

/// Plays `ios` on `stage`. Calls `progress` with the I/Os that have ended and that there are; if it
/// says `false`, the play ends with an error. To drop a real stage waits for what is in flight.
///
/// # Errors
/// An I/O failed, or the play was interrupted.
pub fn play(
    ios: &[Io],
    plan: &Plan,
    stage: &mut dyn Stage,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Pass, Error> {
    let total = ios.len() as u64 * u64::from(plan.passes.max(1));
    let mut player = Player {
        ios,
        passes: plan.passes.max(1),
        free: (0..stage.depth()).rev().collect(),
        flights: vec![Flight::default(); stage.depth() as usize],
        watch: Watch::new(plan.points, total, stage.now()),
        stage,
        ended: Vec::new(),
        progress,
        asked_at: 0,
    };
    match plan.pace {
        Pace::Depth => player.by_depth(1)?,
        Pace::Ozen => {
            let half = (player.free.len() / 2).max(1);
            player.by_depth(half)?;
        }
        Pace::Closed => player.closed()?,
        Pace::Timed { speed } => player.timed(speed)?,
    }
    (player.progress)(total, total);
    Ok(player.watch.finish())
}

/// An I/O in flight.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    index: usize,
    since: Nanos,
}

struct Player<'a> {
    ios: &'a [Io],
    passes: u32,
    stage: &'a mut dyn Stage,
    free: Vec<u32>,
    flights: Vec<Flight>,
    watch: Watch,
    ended: Vec<Ended>,
    progress: &'a mut dyn FnMut(u64, u64) -> bool,
    asked_at: Nanos,
}

impl Player<'_> {
    /// Keeps the slots full. I/Os start when this many slots are free; the last ones with fewer. A
    /// batch goes to the device at once; without batches it begins while more are prepared.
    fn by_depth(&mut self, batch: usize) -> Result<(), Error> {
        let total = self.ios.len() * self.passes as usize;
        let mut next = 0;
        loop {
            let ready = self.free.len().min(total - next);
            if ready >= batch || next + ready == total {
                let now = self.stage.now();
                for index in next..next + ready {
                    self.start(index, now, None);
                    if batch == 1 && (index + 1 - next).is_multiple_of(HANDED_OVER) {
                        self.stage.start();
                    }
                }
                next += ready;
            }
            if self.in_flight() == 0 {
                return Ok(());
            }
            self.turn(None)?;
        }
    }

    /// Each I/O at its time; late ones at once. What is in flight never delays the next one, unless
    /// all slots are taken.
    fn timed(&mut self, speed: f64) -> Result<(), Error> {
        let first = self.ios.first().map_or(0, |io| io.time_ns);
        for _ in 0..self.passes {
            let start = self.stage.now();
            let due = |io: &Io| start + ((io.time_ns - first) as f64 / speed) as Nanos;
            let mut next = 0;
            loop {
                let now = self.stage.now();
                while let Some(io) = self.ios.get(next)
                    && due(io) <= now
                    && !self.free.is_empty()
                {
                    self.start(next, now, Some(due(io)));
                    next += 1;
                }
                match self.ios.get(next) {
                    None if self.in_flight() == 0 => break,
                    Some(io) if !self.free.is_empty() => self.turn(Some(due(io)))?,
                    _ => self.turn(None)?,
                }
            }
        }
        Ok(())
    }

    /// Each thread's I/Os one after the other. Of those that may start, the first in the trace
    /// starts first.
    fn closed(&mut self) -> Result<(), Error> {
        const NONE: u32 = u32::MAX;
        let mut following = vec![NONE; self.ios.len()];
        let mut firsts = Vec::new();
        let mut last: HashMap<u32, usize> = HashMap::new();
        for (index, io) in self.ios.iter().enumerate() {
            match last.insert(io.thread, index) {
                Some(before) => following[before] = index as u32,
                None => firsts.push(index as u32),
            }
        }
        drop(last);
        for _ in 0..self.passes {
            let mut ready: BinaryHeap<Reverse<u32>> = firsts.iter().copied().map(Reverse).collect();
            loop {
                let now = self.stage.now();
                while !self.free.is_empty()
                    && let Some(Reverse(index)) = ready.pop()
                {
                    self.start(index as usize, now, None);
                }
                if self.in_flight() == 0 {
                    break;
                }
                self.turn(None)?;
                let ended = self.ended.iter().map(|ended| self.flights[ended.slot as usize].index);
                let next = ended.map(|index| following[index]).filter(|&next| next != NONE);
                ready.extend(next.map(Reverse));
            }
        }
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.flights.len() - self.free.len()
    }

    /// Starts an I/O in a free slot. `index` counts over all passes.
    fn start(&mut self, index: usize, now: Nanos, due: Option<Nanos>) {
        let index = index % self.ios.len();
        let slot = self.free.pop().expect("a caller that has looked for a free slot");
        self.flights[slot as usize] = Flight { index, since: now };
        self.stage.push(slot, &self.ios[index]);
        self.watch.started(now, due);
    }

    fn turn(&mut self, until: Option<Nanos>) -> Result<(), Error> {
        self.ended.clear();
        let until = until.map(|until| until.min(self.stage.now().saturating_add(PATIENCE_NS)));
        self.stage.turn(until, &mut self.ended)?;
        for &Ended { slot, at } in &self.ended {
            let flight = self.flights[slot as usize];
            self.free.push(slot);
            self.watch.ended(&self.ios[flight.index], flight.since, at);
        }
        self.ask()
    }

    /// Now and then, shows how far the play is and asks whether it shall go on.
    fn ask(&mut self) -> Result<(), Error> {
        let now = self.ended.last().map_or_else(|| self.stage.now(), |ended| ended.at);
        if now < self.asked_at.saturating_add(PATIENCE_NS) {
            return Ok(());
        }
        self.asked_at = now;
        let (done, total) = self.watch.done_and_total();
        if (self.progress)(done, total) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Interrupted, "the replay was interrupted".to_owned()))
    }
}
