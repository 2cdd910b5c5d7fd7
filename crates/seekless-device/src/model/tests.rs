//! What holds for every model: for each preset, alone and behind the host's queue.

use super::*;
use crate::{AnyDevice, Parameters, Preset, Queue, QueueOptions};
use proptest::prelude::*;

/// What a caller does: after a pause, one more I/O.
type Step = (Nanos, Io);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let pause = prop_oneof![Just(0u64), 0..100_000u64, 0..50_000_000u64];
    let page = prop_oneof![0..64u64, 0..2_000_000u64];
    let bytes = prop_oneof![Just(0u64), 1..20_000u64, Just(4096u64), 0..3_000_000u64];
    let step = (pause, page, bytes, prop::bool::weighted(0.2));
    let made =
        |(pause, page, bytes, write)| (pause, Io { tag: 0, write, offset: page * 4096, bytes });
    prop::collection::vec(step.prop_map(made), 1..60).prop_map(|mut steps| {
        (0..).zip(&mut steps).for_each(|(tag, (_, io))| io.tag = tag);
        steps
    })
}

/// Completions of the steps, the first at `start`. With `polls`, time passes in pieces between
/// them.
fn run(
    device: &mut dyn DeviceModel,
    start: Nanos,
    steps: &[Step],
    polls: bool,
) -> Vec<(Nanos, Io)> {
    let (mut now, mut ends) = (start, Vec::new());
    for &(pause, io) in steps {
        if polls {
            device.advance(now + pause / 3, &mut |end, io| ends.push((end, io)));
            let event = device.next_event().map_or(now, |event| event.clamp(now, now + pause));
            device.advance(event.max(now + pause / 3), &mut |end, io| ends.push((end, io)));
        }
        now += pause;
        device.submit(now, io);
    }
    while let Some(event) = device.next_event() {
        device.advance(event, &mut |end, io| ends.push((end, io)));
    }
    ends
}

/// The least time of an I/O whose largest command has this many bytes: an object store serves the
/// commands that it is cut into at once.
fn least_ns(parameters: &Parameters, command_bytes: u64) -> Nanos {
    match parameters {
        Parameters::Disk(disk) => disk.overhead_ns,
        Parameters::Flash(flash) => flash.overhead_ns,
        Parameters::Volume(volume) => volume.latency_ns,
        Parameters::ObjectStore(store) => {
            store.first_byte[0].latency_ns + command_bytes * 1_000_000_000 / store.bytes_per_second
        }
        Parameters::LatencyTable(table) => {
            table.reads.iter().flat_map(|row| &row.latency_ns).copied().min().unwrap_or(0)
        }
    }
}

/// Every I/O ends once, in order of time, and not before it can where no command is larger than
/// `command_bytes`.
fn check(steps: &[Step], ends: &[(Nanos, Io)], parameters: &Parameters, command_bytes: u64) {
    assert!(ends.is_sorted_by_key(|&(end, _)| end), "{ends:?}");
    let mut tags: Vec<u64> = ends.iter().map(|(_, io)| io.tag).collect();
    tags.sort_unstable();
    assert!(tags.iter().copied().eq(0..steps.len() as u64), "{tags:?}");
    for &(end, io) in ends {
        let (before, from) = steps.split_at(io.tag as usize);
        assert_eq!(io, from[0].1);
        let submitted: Nanos = before.iter().chain(&from[..1]).map(|(pause, _)| pause).sum();
        assert!(
            end >= submitted + least_ns(parameters, io.bytes.min(command_bytes)),
            "{io:?} at {submitted} ends at {end}"
        );
    }
}

fn model(parameters: &Parameters) -> AnyDevice {
    parameters.model().expect("checked")
}

fn queue(parameters: &Parameters, options: QueueOptions) -> Queue<AnyDevice> {
    Queue::new(model(parameters), options)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_io_ends_once_in_time_and_looking_changes_nothing(steps in steps()) {
        for preset in Preset::all() {
            let parameters = preset.parameters();
            let ends = run(&mut model(&parameters), 0, &steps, false);
            check(&steps, &ends, &parameters, u64::MAX);
            prop_assert_eq!(&ends, &run(&mut model(&parameters), 0, &steps, true), "{}", preset.name());
            for (depth, elevator) in [(1, false), (4, true)] {
                let options = QueueOptions { depth, elevator, ..QueueOptions::default() };
                let ends = run(&mut queue(&parameters, options), 0, &steps, false);
                check(&steps, &ends, &parameters, options.command_bytes);
            }
        }
    }

    #[test]
    fn time_may_be_shifted_unless_something_turns(steps in steps(), shift in 1..1_000_000_000u64) {
        for preset in Preset::all() {
            let parameters = preset.parameters();
            let shift = match &parameters {
                // Three revolutions, which are whole nanoseconds.
                Parameters::Disk(disk) => shift % 1000 * if disk.rpm == 7200 { 25_000_000 } else { 50_000_000 },
                _ => shift,
            };
            let ends = run(&mut model(&parameters), 0, &steps, false);
            let mut shifted = run(&mut model(&parameters), shift, &steps, false);
            shifted.iter_mut().for_each(|(end, _)| *end -= shift);
            prop_assert_eq!(ends, shifted, "{}", preset.name());
        }
    }

    #[test]
    fn who_cuts_a_request_plays_no_part(steps in steps()) {
        // One command at a time, in their order, and no two requests of one instant to join.
        let apart: Vec<Step> = steps.into_iter().map(|(pause, io)| (pause + 1, io)).collect();
        for name in ["wu-2010", "wu-2010-cached", "cdrom-2000"] {
            let parameters = Preset::named(name).unwrap().parameters();
            let Parameters::Disk(disk) = &parameters else { panic!("{name} is a disk") };
            let options = QueueOptions { command_bytes: disk.command_bytes, depth: 1, elevator: false };
            let cut = run(&mut queue(&parameters, options), 0, &apart, false);
            prop_assert_eq!(run(&mut model(&parameters), 0, &apart, false), cut, "{}", name);
        }
    }
}

#[test]
fn half_a_revolution_later_a_disk_answers_otherwise() {
    let parameters = Preset::named("wu-2010").unwrap().parameters();
    let took = |start| {
        let io = Io { tag: 0, write: false, offset: 0, bytes: 4096 };
        run(&mut model(&parameters), start, &[(0, io)], false)[0].0 - start
    };
    let half = 60_000_000_000 / 7200 / 2;
    assert_eq!(took(0) - took(half), half, "it waits half a revolution less");
}
