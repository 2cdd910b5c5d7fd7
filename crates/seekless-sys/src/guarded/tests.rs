use super::*;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

fn written(bytes: usize) -> File {
    let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    file.write_all(&(0..bytes).map(|at| (at % 251) as u8).collect::<Vec<_>>()).unwrap();
    file
}

/// A file in memory: cutting it short costs little.
fn in_memory(bytes: u64) -> File {
    let file = rustix::fs::memfd_create("guarded", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    let file = File::from(file);
    file.set_len(bytes).unwrap();
    file
}

/// How a process of its own ends in which the test of this name runs, knowing by [`is_child`] that
/// it is one.
fn child(test: &str) -> ExitStatus {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("guarded::tests::{test}"), "--test-threads=1"]);
    command.env(CHILD, test).output().unwrap().status
}

const CHILD: &str = "SEEKLESS_GUARDED_CHILD";

fn is_child(test: &str) -> bool {
    std::env::var_os(CHILD).is_some_and(|name| name == test)
}

/// Puts a handler where SIGBUS had the runtime's.
fn handle(handler: libc::sighandler_t, flags: i32) {
    // SAFETY: all zeroes is a valid sigaction, and the handlers of these tests make only system
    // calls.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        (action.sa_sigaction, action.sa_flags) = (handler, flags);
        assert_eq!(libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()), 0);
    }
}

/// Guards something, so that the handler stands.
fn guard_something() -> GuardedMap {
    GuardedMap::new(&in_memory(page_bytes()), 0, 1).unwrap()
}

fn send_bus_error() {
    // SAFETY: a signal to this process.
    assert_eq!(unsafe { libc::kill(libc::getpid(), libc::SIGBUS) }, 0);
}

/// Reads a page of a mapping that belongs to the program, where the page of a window was, behind
/// the file's end.
fn read_own_mapping_at_a_freed_address() {
    let file = in_memory(page_bytes());
    let map = GuardedMap::new(&file, 0, page_bytes() as usize).unwrap();
    let address = map.address;
    drop(map);
    file.set_len(0).unwrap();
    // SAFETY: the address was just freed, by the only thread that maps; reading there is what the
    // test is about.
    unsafe {
        let flags = rustix::mm::MapFlags::SHARED | rustix::mm::MapFlags::FIXED;
        let bytes = page_bytes() as usize;
        let own =
            rustix::mm::mmap(address, bytes, rustix::mm::ProtFlags::READ, flags, &file, 0).unwrap();
        ptr::read_volatile(own.cast::<u8>());
    }
}

extern "C" fn exit_with_7(_: i32) {
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(7) };
}

extern "C" fn raise_again(signal: i32) {
    // SAFETY: sends a signal to this thread.
    unsafe { libc::raise(signal) };
}

#[test]
fn a_window_shows_the_file() {
    let page = page_bytes() as usize;
    let file = written(5 * page);
    let map = GuardedMap::new(&file, page as u64, 4 * page - 500).unwrap();
    map.populate();
    assert!(
        map.bytes().iter().enumerate().all(|(at, &byte)| usize::from(byte) == (at + page) % 251)
    );
    assert!(!map.is_lost());
}

#[test]
fn a_file_cut_short_reads_as_zeros_and_says_so() {
    let page = page_bytes() as usize;
    let file = written(5 * page);
    let map = GuardedMap::new(&file, 0, 5 * page).unwrap();
    assert_eq!(map.bytes()[4 * page], (4 * page % 251) as u8);
    file.set_len(page as u64).unwrap();
    assert_eq!(map.bytes()[4 * page], 0, "and the process lives");
    assert!(map.is_lost());
    assert_eq!(map.bytes()[100], 100);
    drop(map);
    assert!(
        !GuardedMap::new(&file, 0, page).unwrap().is_lost(),
        "the slot is used again, unmarked"
    );
}

#[test]
fn every_loss_of_four_threads_that_map_and_unmap_is_told() {
    let lose = || {
        let file = in_memory(0);
        let bytes = page_bytes();
        for round in 0..10_000 {
            file.set_len(bytes).unwrap();
            let Some(map) = GuardedMap::new(&file, 0, bytes as usize) else { continue };
            assert!(!map.is_lost(), "round {round}: not yet");
            file.set_len(0).unwrap();
            assert_eq!(map.touch(9), 0);
            assert!(map.is_lost(), "round {round}");
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(lose))));
}

#[test]
fn threads_that_share_a_window_all_hear_of_its_loss() {
    let bytes = page_bytes();
    for _ in 0..500 {
        let file = in_memory(bytes);
        let map = GuardedMap::new(&file, 0, bytes as usize).unwrap();
        file.set_len(0).unwrap();
        std::thread::scope(|scope| {
            (0..3).for_each(|_| {
                scope.spawn(|| assert!(map.touch(0) == 0 && map.is_lost()));
            });
        });
    }
}

#[test]
fn a_bus_error_of_the_programs_own_mapping_ends_it_as_it_would_without_us() {
    let test = "a_bus_error_of_the_programs_own_mapping_ends_it_as_it_would_without_us";
    if is_child(test) {
        return read_own_mapping_at_a_freed_address();
    }
    assert_eq!(child(test).signal(), Some(libc::SIGBUS));
}

#[test]
fn a_bus_error_of_the_programs_own_mapping_goes_to_its_handler() {
    let test = "a_bus_error_of_the_programs_own_mapping_goes_to_its_handler";
    if is_child(test) {
        handle(exit_with_7 as extern "C" fn(i32) as *const () as usize, 0);
        return read_own_mapping_at_a_freed_address();
    }
    assert_eq!(child(test).code(), Some(7));
}

#[test]
fn a_bus_error_that_is_sent_ends_a_program_that_does_not_handle_it() {
    let test = "a_bus_error_that_is_sent_ends_a_program_that_does_not_handle_it";
    if is_child(test) {
        let _map = guard_something();
        return send_bus_error();
    }
    assert_eq!(child(test).signal(), Some(libc::SIGBUS));
}

#[test]
fn a_bus_error_that_is_sent_goes_to_the_programs_handler() {
    let test = "a_bus_error_that_is_sent_goes_to_the_programs_handler";
    if is_child(test) {
        handle(exit_with_7 as extern "C" fn(i32) as *const () as usize, 0);
        let _map = guard_something();
        return send_bus_error();
    }
    assert_eq!(child(test).code(), Some(7));
}

#[test]
fn a_bus_error_that_is_sent_is_ignored_where_the_program_ignores_it_and_losses_are_still_told() {
    let test = "a_bus_error_that_is_sent_is_ignored_where_the_program_ignores_it_and_losses_are_still_told";
    if is_child(test) {
        handle(libc::SIG_IGN, 0);
        let map = guard_something();
        (0..3).for_each(|_| send_bus_error());
        assert!(!map.is_lost());
        assert!(map.bytes()[0] == 0);
        let file = in_memory(0);
        let lost = GuardedMap::new(&file, 0, 1).unwrap();
        assert!(lost.touch(0) == 0 && lost.is_lost());
        std::process::exit(9);
    }
    assert_eq!(child(test).code(), Some(9));
}

#[test]
fn a_handler_for_one_signal_gets_one() {
    let test = "a_handler_for_one_signal_gets_one";
    if is_child(test) {
        handle(raise_again as extern "C" fn(i32) as *const () as usize, libc::SA_RESETHAND);
        let _map = guard_something();
        return send_bus_error();
    }
    assert_eq!(child(test).signal(), Some(libc::SIGBUS));
}

#[test]
fn a_range_holds_its_pages_and_no_others() {
    let pages = Pages::new(10, 3).unwrap();
    assert_eq!((8..15).filter(|&page| pages.holds(page)).collect::<Vec<_>>(), [10, 11, 12]);
    let most = (1 << 24) - 1;
    let far = Pages::new((1 << 40) - 1, most).unwrap();
    assert!(far.holds((1 << 40) - 2 + most) && !far.holds((1 << 40) - 1 + most));
    for (first, count) in [(0, 1), (1, 0), (1 << 40, 1), (1, 1 << 24)] {
        assert_eq!(Pages::new(first, count), None);
    }
}
