//! The player on a model whose times are known, and on real files; what may not be overwritten.

use super::*;
use crate::{Error, ErrorKind};
use seekless_device::{Costs, DeviceModel, Nanos};
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// A device that takes 10 ns for each I/O, however many it has, and notes what it is asked.
#[derive(Default)]
struct Constant {
    in_flight: VecDeque<(Nanos, seekless_device::Io)>,
    asked: Vec<(Nanos, u64)>,
    most: usize,
}

impl DeviceModel for Constant {
    fn submit(&mut self, now: Nanos, io: seekless_device::Io) {
        self.in_flight.push_back((now + 10, io));
        self.asked.push((now, io.offset));
        self.most = self.most.max(self.in_flight.len());
    }
    fn next_event(&self) -> Option<Nanos> {
        self.in_flight.front().map(|io| io.0)
    }
    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, seekless_device::Io)) {
        while self.in_flight.front().is_some_and(|io| io.0 <= now) {
            let (at, io) = self.in_flight.pop_front().unwrap();
            done(at, io);
        }
    }
    fn costs(&self) -> Costs {
        Costs::ASSUMED
    }
}

/// `&mut` of a model, so that it can be looked at after the play.
struct Lent<'a>(&'a mut Constant);

impl DeviceModel for Lent<'_> {
    fn submit(&mut self, now: Nanos, io: seekless_device::Io) {
        self.0.submit(now, io);
    }
    fn next_event(&self) -> Option<Nanos> {
        self.0.next_event()
    }
    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, seekless_device::Io)) {
        self.0.advance(now, done);
    }
    fn costs(&self) -> Costs {
        self.0.costs()
    }
}

fn io(time_ns: u64, thread: u32, offset: u64) -> Io {
    Io { time_ns, offset, bytes: 4096, file: 0, thread, write: false }
}

fn on_model(ios: &[Io], pace: Pace, depth: u32, passes: u32) -> (Pass, Constant) {
    let mut device = Constant::default();
    let plan = Plan { pace, passes, points: 10 };
    let mut stage = Modelled::new(Lent(&mut device), &[1 << 30], depth);
    let pass = play(ios, &plan, &mut stage, &mut |_, _| true).unwrap();
    (pass, device)
}

#[test]
fn as_fast_as_possible_keeps_the_depth() {
    let ios: Vec<Io> = (0..10).map(|at| io(0, 0, at * 4096)).collect();
    let (pass, device) = on_model(&ios, Pace::Depth, 4, 1);
    assert_eq!((pass.elapsed_ns, pass.depth_max, device.most), (30, 4, 4));
    assert_eq!(pass.reads, (10, 40_960));
    assert!((pass.depth_mean - 10.0 * 10.0 / 30.0).abs() < 1e-9, "{}", pass.depth_mean);
    let (twice, device) = on_model(&ios, Pace::Depth, 4, 2);
    assert_eq!((twice.elapsed_ns, twice.reads.0, device.asked.len()), (50, 20, 20));
    assert_eq!(device.asked[10].1, 0, "the second pass begins without a pause");
}

#[test]
fn ozens_player_starts_at_least_half_of_its_slots_at_once() {
    let ios: Vec<Io> = (0..1000).map(|at| io(0, 0, at * 4096)).collect();
    let (_, device) = on_model(&ios, Pace::Ozen, 64, 1);
    let mut batches = vec![0];
    let mut last = 0;
    for &(now, _) in &device.asked {
        if now != last {
            batches.push(0);
            last = now;
        }
        *batches.last_mut().unwrap() += 1;
    }
    let (end, full) = batches.split_last().unwrap();
    assert!(full.iter().all(|batch| (32..=64).contains(batch)) && *end > 0, "{batches:?}");
}

#[test]
fn a_closed_loop_keeps_each_threads_order() {
    let ios = [io(0, 1, 0), io(1, 1, 1), io(2, 2, 2), io(3, 1, 3), io(4, 2, 4)];
    let (pass, device) = on_model(&ios, Pace::Closed, 64, 1);
    assert_eq!(device.asked, [(0, 0), (0, 2), (10, 1), (10, 4), (20, 3)]);
    assert_eq!((pass.elapsed_ns, pass.depth_max), (30, 2));
    let (_, one) = on_model(&ios, Pace::Closed, 1, 1);
    assert_eq!(one.asked.iter().map(|ask| ask.1).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn times_are_absolute_and_lag_is_told() {
    let ios = [io(1000, 0, 0), io(1001, 0, 1), io(1002, 0, 2), io(1100, 0, 3)];
    let (pass, device) = on_model(&ios, Pace::Timed { speed: 1.0 }, 64, 1);
    assert_eq!(device.asked, [(0, 0), (1, 1), (2, 2), (100, 3)]);
    assert_eq!(pass.lag.unwrap().max(), 0);
    let (pass, device) = on_model(&ios, Pace::Timed { speed: 2.0 }, 64, 1);
    assert_eq!((device.asked[3], pass.elapsed_ns), ((50, 3), 60));
    // With one slot the second and third are late; the last is not made later by them.
    let (pass, device) = on_model(&ios, Pace::Timed { speed: 1.0 }, 1, 1);
    assert_eq!(device.asked, [(0, 0), (10, 1), (20, 2), (100, 3)]);
    assert_eq!(pass.lag.unwrap().max(), 18);
}

#[test]
fn points_are_spread_evenly_and_no_more_than_asked_for() {
    let ios: Vec<Io> = (0..95).map(|at| io(0, 0, at)).collect();
    let (pass, _) = on_model(&ios, Pace::Depth, 1, 1);
    let offsets: Vec<u64> = pass.points.iter().map(|point| point.offset).collect();
    assert_eq!(offsets, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
}

#[test]
fn no_ios_take_no_time() {
    for pace in [Pace::Depth, Pace::Ozen, Pace::Closed, Pace::Timed { speed: 1.0 }] {
        let (pass, _) = on_model(&[], pace, 4, 2);
        assert_eq!((pass.elapsed_ns, pass.reads.0), (0, 0));
    }
}

#[test]
fn an_interruption_ends_the_play() {
    let ios: Vec<Io> = (0..10).map(|at| io(at * 1_000_000_000, 0, 0)).collect();
    let mut stage = Modelled::new(Constant::default(), &[1 << 30], 1);
    let plan = Plan { pace: Pace::Timed { speed: 1.0 }, ..Plan::default() };
    let mut calls = 0;
    let error = play(&ios, &plan, &mut stage, &mut |_, _| {
        calls += 1;
        calls < 3
    });
    assert_eq!((error.unwrap_err().kind(), calls), (ErrorKind::Interrupted, 3));
}

/// A folder on a real file system; /tmp may be memory.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
}

fn file(folder: &Path, bytes: usize) -> PathBuf {
    let path = folder.join("target");
    fs::write(&path, vec![7; bytes]).unwrap();
    path
}

fn live(target: &Target, ios: &[Io], threads: bool) -> Result<Rounds, Error> {
    let mut stage = Live::new(target, 8, 8192, b"@".to_vec(), threads)?;
    Rounds::live(ios, &Plan::default(), Repeat::Times(2), target, &mut stage, &mut |_, _| true)
}

#[test]
fn a_real_file_is_read_by_both_engines() {
    let folder = folder();
    let target = Target::read_only(&[file(folder.path(), 100_000)]).unwrap();
    let limits = target.limits();
    let ios: Vec<Io> = (0..24).map(|at| io(0, 0, at * 4096)).chain([io(0, 0, 98_304)]).collect();
    let fitted = fit(ios, &limits, Writes::Out, None).unwrap();
    for threads in [false, true] {
        let rounds = live(&target, &fitted.ios, threads).unwrap();
        assert_eq!((rounds.reads, rounds.writes, rounds.rounds_ns.len()), (25, 0, 2));
        assert!(rounds.time.min_ns > 0 && rounds.cpu_ns_per_io.is_some_and(|cpu| cpu > 0.0));
        assert!(rounds.depth_max <= 8 && rounds.read_latency.is_some());
    }
}

#[test]
fn a_file_of_its_own_is_written_where_the_trace_says_and_nowhere_else() {
    let folder = folder();
    let path = file(folder.path(), 65_536);
    for threads in [false, true] {
        fs::write(&path, vec![7; 65_536]).unwrap();
        let target = Target::write_file(&path, &Protected::default()).unwrap();
        assert!(target.allows(Writes::Written));
        let ios = [Io { write: true, ..io(0, 0, 8192) }, io(0, 0, 0)];
        live(&target, &ios, threads).unwrap();
        drop(target);
        let bytes = fs::read(&path).unwrap();
        let written: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] != 7).collect();
        assert_eq!((written[0], written.len(), bytes.len()), (8192, 4096, 65_536));
    }
}

#[test]
fn a_file_that_got_shorter_is_an_error_with_its_offset() {
    let folder = folder();
    let path = file(folder.path(), 65_536);
    let target = Target::read_only(&[&path]).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
    let error = live(&target, &[io(0, 0, 0), io(0, 0, 32_768)], false).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("target: the read of 4096 bytes at offset 32768 failed"), "{message}");
}

/// Asserts that a target is refused for this reason, and its bytes are as they were.
fn refused(path: &Path, protected: &Protected, why: &str) {
    let before = fs::read(path).unwrap();
    let error = Target::write_file(path, protected).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    assert!(error.to_string().contains(why), "{error}");
    assert_eq!(fs::read(path).unwrap(), before);
}

#[test]
fn files_that_something_else_may_want_are_refused() {
    let folder = folder();
    let path = file(folder.path(), 8192);
    let none = Protected::default();

    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    refused(&link, &none, "a symbolic link");

    let second = folder.path().join("second");
    fs::hard_link(&path, &second).unwrap();
    refused(&path, &none, "it has 2 names");
    fs::remove_file(second).unwrap();

    let open = fs::File::open(&path).unwrap();
    refused(&path, &none, "it is open in");
    drop(open);

    refused(&path, &none.clone().and(&path), "it is the trace");
    let beside = folder.path().join("beside");
    fs::write(&beside, "read").unwrap();
    refused(&path, &Protected::trees_of(&[&beside]), "from which the trace reads");
    let deep = folder.path().join("deep");
    fs::create_dir(&deep).unwrap();
    refused(&file(&deep, 4096), &Protected::trees_of(&[&beside]), "from which the trace reads");

    let first = Target::write_file(&path, &none).unwrap();
    refused(&path, &none, "it is open in");
    drop(first);
    Target::write_file(&path, &none).expect("nothing else wants it");
}

#[test]
fn what_is_no_file_or_no_device_is_refused() {
    let folder = folder();
    let none = Protected::default();
    for path in [folder.path(), Path::new("/nonexistent/file")] {
        assert_eq!(Target::write_file(path, &none).unwrap_err().kind(), ErrorKind::Io, "{path:?}");
    }
    let zero = Target::write_file(Path::new("/dev/zero"), &none).unwrap_err();
    assert!(zero.to_string().contains("not a regular file"), "{zero}");
    let path = file(folder.path(), 4096);
    let error = Target::destroy_device(&path).unwrap_err();
    assert!(error.kind() == ErrorKind::Refused && error.to_string().contains("not a block device"));
}

#[test]
fn a_mounted_device_is_refused() {
    use std::os::unix::fs::MetadataExt;
    let root = fs::metadata("/").unwrap().dev();
    let device = seekless_sys::block::BlockDevice::numbered(root);
    let Some(path) = device.map(|device| Path::new("/dev").join(device.name())) else {
        eprintln!("skipped: the root is on no block device");
        return;
    };
    match Target::destroy_device(&path) {
        Err(error) if error.kind() == ErrorKind::Refused => {
            assert!(error.to_string().contains("mounted at /"), "{error}");
        }
        Err(error) => eprintln!("skipped: {} cannot be opened: {error}", path.display()),
        Ok(_) => panic!("{} may not be written", path.display()),
    }
}

#[test]
fn a_file_is_made_whole_or_not_at_all() {
    let folder = folder();
    let path = folder.path().join("made");
    let error = create_file(&path, 3 << 20, &mut |done, _| done < 2 << 20).unwrap_err();
    assert_eq!((error.kind(), path.exists()), (ErrorKind::Interrupted, false));
    create_file(&path, (3 << 20) + 5, &mut |_, _| true).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), (3 << 20) + 5);
    let again = create_file(&path, 4096, &mut |_, _| true).unwrap_err();
    assert_eq!(
        (again.kind(), fs::metadata(&path).unwrap().len()),
        (ErrorKind::Refused, (3 << 20) + 5)
    );
}
