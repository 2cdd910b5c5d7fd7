//! The host's side of a device. It cuts long requests into commands and joins requests that lie end
//! to end. It sends the commands in their order or in that of an elevator.

use crate::{Costs, DeviceModel, Io, Nanos};
use std::collections::{BTreeMap, VecDeque};

#[cfg(test)]
mod tests;

/// How a host sends requests to its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueOptions {
    /// Largest command in bytes; 0 is taken as 1.
    pub command_bytes: u64,
    /// Commands that the device has at once; the others wait here. 0 is taken as 1.
    pub depth: u32,
    /// Whether a command that waits is sent in order of offsets, from the last back to the first,
    /// rather than in the order in which it came.
    pub elevator: bool,
}

impl Default for QueueOptions {
    /// Linux's on a disk: 512 KiB and 32 commands, without an elevator.
    fn default() -> Self {
        QueueOptions { command_bytes: 512 << 10, depth: 32, elevator: false }
    }
}

/// A device behind the host's queue, itself a device.
///
/// Requests of one instant are joined if they lie end to end and fit one command together; so none
/// is sent before time goes on: [`DeviceModel::next_event`] gives the instant itself, and
/// [`DeviceModel::advance`] to it sends them.
#[derive(Clone, Debug)]
pub struct Queue<D> {
    device: D,
    options: QueueOptions,
    /// The time up to which all has been done.
    now: Nanos,
    /// Commands made since then.
    fresh: Vec<Command>,
    waiting: Waiting,
    /// Commands that the device has, by the tag that it knows them by.
    sent: Slab<Command>,
    requests: Slab<Request>,
    ended: VecDeque<(Nanos, Io)>,
}

/// One request, or several that were joined.
#[derive(Clone, Copy, Debug)]
struct Command {
    write: bool,
    offset: u64,
    /// Bytes that the device does not have yet.
    bytes: u64,
    /// Bytes that the device gets at once.
    step: u64,
    /// Its first and last request; each knows the next.
    first: u32,
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    io: Io,
    /// Commands of it that have not ended.
    commands: u64,
    next: u32,
}

/// Fresh commands that are looked at, to join one more request with them, as in Linux's plug.
const LOOKED_AT: usize = 32;

const NO_REQUEST: u32 = u32::MAX;

impl<D: DeviceModel> Queue<D> {
    /// Puts a queue before an idle device.
    pub fn new(device: D, options: QueueOptions) -> Self {
        let options = QueueOptions {
            command_bytes: options.command_bytes.max(1),
            depth: options.depth.max(1),
            ..options
        };
        Queue {
            device,
            now: 0,
            fresh: Vec::new(),
            waiting: Waiting::new(options.elevator),
            sent: Slab::default(),
            requests: Slab::default(),
            ended: VecDeque::new(),
            options,
        }
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Requests that have not been handed back.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.requests.used() + self.ended.len()
    }

    /// Adds a request to a fresh command that it touches, or makes a command of it.
    fn join(&mut self, io: Io) {
        let step = step(io.bytes, self.options.command_bytes);
        let commands = io.bytes.div_ceil(step).max(1);
        let request = self.requests.insert(Request { io, commands, next: NO_REQUEST });
        let room = step.saturating_sub(io.bytes);
        let fits = |command: &Command| {
            command.write == io.write && (1..=room).contains(&command.bytes) && io.bytes > 0
        };
        for command in self.fresh.iter_mut().rev().take(LOOKED_AT).filter(|command| fits(command)) {
            if command.offset.checked_add(command.bytes) == Some(io.offset) {
                self.requests.get(command.last).next = request;
                command.last = request;
            } else if io.offset.checked_add(io.bytes) == Some(command.offset) {
                self.requests.get(request).next = command.first;
                (command.first, command.offset) = (request, io.offset);
            } else {
                continue;
            }
            command.bytes += io.bytes;
            return;
        }
        let Io { write, offset, bytes, .. } = io;
        self.fresh.push(Command { write, offset, bytes, step, first: request, last: request });
    }

    /// Does all that happens up to `now`.
    fn run(&mut self, now: Nanos) {
        loop {
            self.send();
            match self.device.next_event() {
                Some(event) if event <= now => self.collect(event),
                _ => break,
            }
        }
        self.now = self.now.max(now);
    }

    /// Sends what the device has room for.
    fn send(&mut self) {
        for command in self.fresh.drain(..) {
            self.waiting.push(command);
        }
        while self.sent.used() < self.options.depth as usize {
            let Some(command) = self.waiting.pop() else { return };
            let Command { write, offset, bytes, .. } = command;
            let tag = u64::from(self.sent.insert(command));
            self.device.submit(self.now, Io { tag, write, offset, bytes });
        }
    }

    /// Takes what the device has ended by `event`.
    fn collect(&mut self, event: Nanos) {
        self.now = self.now.max(event);
        let Queue { device, sent, requests, ended, .. } = self;
        device.advance(event, &mut |end, io| {
            let command = sent.remove(io.tag as u32);
            let mut next = command.first;
            loop {
                let number = next;
                let request = requests.get(number);
                next = request.next;
                request.commands -= 1;
                if request.commands == 0 {
                    ended.push_back((end, requests.remove(number).io));
                }
                if number == command.last {
                    break;
                }
            }
        });
    }
}

impl<D: DeviceModel> DeviceModel for Queue<D> {
    fn submit(&mut self, now: Nanos, io: Io) {
        if now > self.now {
            self.run(now);
        }
        self.join(io);
    }

    fn next_event(&self) -> Option<Nanos> {
        let ended = self.ended.front().map(|&(end, _)| end);
        let unsent = (!self.fresh.is_empty()).then_some(self.now);
        ended.into_iter().chain(unsent).chain(self.device.next_event()).min()
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        self.run(now);
        while let Some((end, io)) = self.ended.pop_front() {
            done(end, io);
        }
    }

    /// The device's own.
    fn costs(&self) -> Costs {
        self.device.costs()
    }
}

/// Commands that the device has no room for.
#[derive(Clone, Debug)]
enum Waiting {
    Fifo(VecDeque<Command>),
    /// By offset, those of one offset by number; and where the last one sent ended.
    Elevator {
        commands: BTreeMap<(u64, u64), Command>,
        number: u64,
        position: u64,
    },
}

impl Waiting {
    fn new(elevator: bool) -> Self {
        match elevator {
            true => Waiting::Elevator { commands: BTreeMap::new(), number: 0, position: 0 },
            false => Waiting::Fifo(VecDeque::new()),
        }
    }

    fn push(&mut self, command: Command) {
        match self {
            Waiting::Fifo(commands) => commands.push_back(command),
            Waiting::Elevator { commands, number, .. } => {
                commands.insert((command.offset, *number), command);
                *number += 1;
            }
        }
    }

    /// The next that the device gets. What remains of a long one stays.
    fn pop(&mut self) -> Option<Command> {
        match self {
            Waiting::Fifo(commands) => match commands.front_mut()?.cut() {
                Some(piece) => Some(piece),
                None => commands.pop_front(),
            },
            Waiting::Elevator { commands, position, .. } => {
                let above = commands.range((*position, 0)..).next();
                let key = *above.or_else(|| commands.iter().next())?.0;
                let mut command = commands.remove(&key)?;
                let piece = command.cut();
                if piece.is_some() {
                    commands.insert((command.offset, key.1), command);
                }
                let next = piece.unwrap_or(command);
                *position = next.offset.saturating_add(next.bytes);
                Some(next)
            }
        }
    }
}

impl Command {
    /// Cuts the first piece off, if this is too long.
    fn cut(&mut self) -> Option<Self> {
        if self.bytes <= self.step {
            return None;
        }
        let piece = Command { bytes: self.step, ..*self };
        self.offset = self.offset.saturating_add(self.step);
        self.bytes -= self.step;
        Some(piece)
    }
}

/// Bytes of each command of an I/O: the largest that the device takes, or more, so that an I/O is
/// never cut into over 65,536.
pub(crate) fn step(bytes: u64, command_bytes: u64) -> u64 {
    command_bytes.max(bytes >> 16)
}

/// Things by number; numbers are used again.
#[derive(Clone, Debug)]
struct Slab<T> {
    things: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { things: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    fn insert(&mut self, thing: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.things[number as usize] = thing;
            return number;
        }
        self.things.push(thing);
        u32::try_from(self.things.len() - 1).expect("fewer than 2^32 requests in flight")
    }

    fn get(&mut self, number: u32) -> &mut T {
        &mut self.things[number as usize]
    }

    fn remove(&mut self, number: u32) -> T {
        self.free.push(number);
        self.things[number as usize]
    }

    fn used(&self) -> usize {
        self.things.len() - self.free.len()
    }
}
