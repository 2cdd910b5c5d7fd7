//! The queue before a device that notes what it gets.

use super::*;

/// Takes 10 ns for each command, one after another.
#[derive(Debug, Default)]
struct Line {
    got: Vec<(u64, u64)>,
    free: Nanos,
    in_flight: VecDeque<(Nanos, Io)>,
}

impl DeviceModel for Line {
    fn submit(&mut self, now: Nanos, io: Io) {
        self.got.push((io.offset, io.bytes));
        self.free = self.free.max(now) + 10;
        self.in_flight.push_back((self.free, io));
    }

    fn next_event(&self) -> Option<Nanos> {
        self.in_flight.front().map(|&(end, _)| end)
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        while let Some(&(end, io)) = self.in_flight.front()
            && end <= now
        {
            self.in_flight.pop_front();
            done(end, io);
        }
    }

    fn costs(&self) -> Costs {
        Costs { request_ns: 10, bytes_per_second: 1, depth: 1 }
    }
}

fn queue(command_bytes: u64, depth: u32, elevator: bool) -> Queue<Line> {
    Queue::new(Line::default(), QueueOptions { command_bytes, depth, elevator })
}

fn io(tag: u64, offset: u64, bytes: u64) -> Io {
    Io { tag, write: false, offset, bytes }
}

fn ends(queue: &mut Queue<Line>, now: Nanos) -> Vec<(u64, Nanos)> {
    let mut ends = Vec::new();
    queue.advance(now, &mut |end, io| ends.push((io.tag, end)));
    ends
}

#[test]
fn a_long_request_is_cut_and_ends_with_its_last_command() {
    let mut queue = queue(100, 32, false);
    queue.submit(0, io(7, 1000, 250));
    queue.submit(0, io(8, 5000, 1));
    assert_eq!(ends(&mut queue, 1000), [(7, 30), (8, 40)]);
    assert_eq!(queue.device().got, [(1000, 100), (1100, 100), (1200, 50), (5000, 1)]);
    assert_eq!(queue.in_flight(), 0);
}

#[test]
fn requests_of_one_instant_that_lie_end_to_end_are_one_command() {
    let mut queue = queue(100, 32, false);
    // Behind it, another stream, before it, and one that would make it too long.
    for (tag, offset, bytes) in [(0, 40, 20), (1, 60, 30), (2, 500, 10), (3, 20, 20), (4, 90, 31)] {
        queue.submit(5, io(tag, offset, bytes));
    }
    let write = Io { tag: 5, write: true, offset: 510, bytes: 1 };
    queue.submit(5, write);
    assert_eq!(queue.next_event(), Some(5), "to be sent");
    assert_eq!(ends(&mut queue, 5), []);
    assert_eq!(queue.device().got, [(20, 70), (500, 10), (90, 31), (510, 1)]);
    assert_eq!(ends(&mut queue, 1000), [(3, 15), (0, 15), (1, 15), (2, 25), (4, 35), (5, 45)]);
}

#[test]
fn later_requests_are_not_joined() {
    let mut queue = queue(100, 32, false);
    queue.submit(0, io(0, 0, 10));
    queue.submit(1, io(1, 10, 10));
    ends(&mut queue, 1);
    queue.submit(1, io(2, 20, 10));
    ends(&mut queue, 1000);
    assert_eq!(queue.device().got, [(0, 10), (10, 10), (20, 10)]);
}

#[test]
fn an_elevator_goes_up_and_begins_again_below() {
    let mut queue = queue(100, 1, true);
    queue.submit(0, io(0, 500, 10));
    assert_eq!(ends(&mut queue, 0), []);
    for (tag, offset) in [(1, 900), (2, 100), (3, 600), (4, 50)] {
        queue.submit(1, io(tag, offset, 10));
    }
    let order: Vec<u64> = ends(&mut queue, 1000).into_iter().map(|(tag, _)| tag).collect();
    assert_eq!(order, [0, 3, 1, 4, 2]);
}

#[test]
fn a_command_that_waits_is_sent_when_another_ends() {
    let mut queue = queue(100, 2, false);
    (0..5).for_each(|tag| queue.submit(0, io(tag, tag * 1000, 10)));
    ends(&mut queue, 0);
    assert_eq!(queue.device().got.len(), 2);
    ends(&mut queue, 10);
    assert_eq!(queue.device().got.len(), 3);
    // The queue was not advanced for a while: what ended meanwhile made room at its own time.
    queue.submit(1000, io(9, 0, 10));
    assert_eq!(ends(&mut queue, 2000), [(1, 20), (2, 30), (3, 40), (4, 50), (9, 1010)]);
}

#[test]
fn an_absurd_request_is_cut_into_few_commands() {
    let mut queue = queue(1, 1, true);
    queue.submit(0, io(0, 5, u64::MAX));
    assert_eq!(ends(&mut queue, u64::MAX).len(), 1);
    assert!(queue.device().got.len() <= 65_537);
}
