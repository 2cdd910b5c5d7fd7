//! Calls of children, as the kernel reports them.

use super::*;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

/// `None` where the kernel does not allow it, and says so.
fn loaded(direct: bool, rules: &[Rule], fetches: bool) -> Option<CallEvents> {
    match CallEvents::load_as(direct, rules, 8 << 20, Scope::Followed, fetches) {
        Ok(mut events) => {
            events.resume().unwrap();
            let may_be_direct = direct && seekless_sys::kernel::version() >= Some((6, 2));
            assert_eq!(events.is_direct(), may_be_direct, "refused by the verifier");
            let may_see_rings = seekless_sys::kernel::version() >= Some((6, 3));
            assert!(events.sees_rings() || !may_see_rings, "refused by the verifier");
            return Some(events);
        }
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            eprintln!("skipped: programs in the kernel are for root ({error})");
        }
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            eprintln!("skipped: {error}");
        }
        Err(error) => panic!("{error}"),
    }
    None
}

#[test]
fn what_comes_into_the_cache_for_a_child_is_reported_and_nothing_else() {
    use std::os::unix::fs::MetadataExt;
    const PAGES: u64 = 50;
    let Some(mut events) = loaded(true, &[Rule { number: 0, ..Rule::default() }], true) else {
        return;
    };
    if let Err(why) = events.sees_fetches() {
        return eprintln!("skipped: pages that come into the page cache are not reported: {why}");
    }
    let made = || {
        let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&[7; PAGES as usize * 4096]).unwrap();
        file.as_file().sync_all().unwrap();
        seekless_sys::residency::drop_cached(file.as_fd()).unwrap();
        file
    };
    let (ours, theirs) = (made(), made());
    if seekless_sys::residency::resident_bytes(theirs.as_fd()).unwrap() != Some(0) {
        return eprintln!("skipped: the file cannot be dropped from the cache");
    }
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "read line; exec cat \"$0\""]).arg(theirs.path());
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    events.follow(child.id() as i32).unwrap();
    std::fs::read(ours.path()).unwrap(); // by us, who are not followed
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
    child.wait().unwrap();
    let inode = |file: &tempfile::NamedTempFile| file.as_file().metadata().unwrap().ino();
    let mut pages: Vec<u64> = Vec::new();
    let pid = child.id() as i32;
    events.take(|event| match event {
        Event::Fetched(which, fetch) if fetch.inode == inode(&theirs) => {
            assert_eq!((which.pid, fetch.call), (pid, Some((0, false))));
            pages.extend(fetch.page..fetch.page + fetch.pages);
        }
        Event::Fetched(_, fetch) => assert_ne!(fetch.inode, inode(&ours)),
        _ => {}
    });
    pages.sort_unstable();
    pages.truncate(PAGES as usize); // a large folio may go past the file's end
    assert_eq!(pages, Vec::from_iter(0..PAGES));
    assert_eq!(events.lost(), 0);
}

#[test]
fn calls_of_a_child_are_reported_with_their_files() {
    [true, false].into_iter().for_each(calls_are_reported);
}

fn calls_are_reported(direct: bool) {
    let rules = [
        Rule { number: libc::SYS_openat as u32, opens: true, text: Some(1), ..Rule::default() },
        Rule { number: libc::SYS_read as u32, files: [Some(0), None], ..Rule::default() },
    ];
    let Some(mut events) = loaded(direct, &rules, false) else { return };
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "read line; cat /etc/passwd /no/such > /dev/null 2>&1; true"]);
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    events.follow(child.id() as i32).unwrap();
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
    child.wait().unwrap();
    let (mut opened, mut read, mut failed, mut ended) = (0, 0, false, 0);
    events.take(|event| match event {
        Event::File(key, true, file) if file.name == b"/etc/passwd" => {
            assert_eq!(file.bytes, std::fs::metadata("/etc/passwd").unwrap().len());
            opened = key;
        }
        Event::Called(_, call)
            if call.number == libc::SYS_read as u32 && call.files[0] == opened =>
        {
            read += call.result;
        }
        Event::Text(_, path) => failed |= path == b"/no/such",
        Event::Ended(_) => ended += 1,
        _ => {}
    });
    assert!(opened != 0 && read > 0 && failed);
    assert_eq!((ended, events.lost(), events.has_any()), (2, 0, false));
}

#[test]
fn a_ring_that_fills_becomes_larger_and_loses_nothing() {
    let rule = Rule { number: libc::SYS_write as u32, ..Rule::default() };
    let Some(mut events) = loaded(true, &[rule], false) else { return };
    let write = |bytes| format!("dd if=/dev/zero of=/dev/null bs=1 count={bytes} 2> /dev/null");
    let (some, more) = (5_000, 50_000); // the first ring has room for 10,000 calls
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &format!("read line; {}; echo; read line; {}", write(some), write(more))]);
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    events.follow(child.id() as i32).unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut last = (0, 0);
    let mut calls = 0;
    let shell = child.id() as i32;
    let mut take = |events: &mut CallEvents| {
        events.take(|event| {
            if let Event::Called(which, call) = event {
                assert!(which.time_ns >= last.0 && call.left_ns >= last.1, "out of order");
                last = (which.time_ns, call.left_ns);
                let is_byte = call.arguments[0] == 1 && call.result == 1;
                calls += u64::from(which.pid != shell && is_byte);
            }
        });
    };
    stdin.write_all(b"go\n").unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    take(&mut events);
    stdin.write_all(b"go\n").unwrap();
    stdout.read_to_end(&mut Vec::new()).unwrap();
    child.wait().unwrap();
    take(&mut events);
    assert_eq!((calls, events.lost()), (some + more, 0));
}

#[test]
fn while_paused_calls_are_unreported_and_births_and_ends_are_reported() {
    let rule = Rule { number: libc::SYS_write as u32, ..Rule::default() };
    let Some(mut events) = loaded(true, &[rule], false) else { return };
    let write = "dd if=/dev/zero of=/dev/null bs=1 count=100 2> /dev/null";
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &format!("read line; {write}; echo; read line; {write}")]);
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    events.follow(child.id() as i32).unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let seen = |events: &mut CallEvents| {
        let (mut calls, mut births, mut ends) = (0, 0, 0);
        events.take(|event| match event {
            Event::Called(..) => calls += 1,
            Event::Born { .. } => births += 1,
            Event::Ended(_) => ends += 1,
            _ => {}
        });
        (calls, births, ends)
    };
    events.pause();
    assert!(events.is_paused());
    stdin.write_all(b"go\n").unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    assert_eq!(seen(&mut events), (0, 1, 1));
    events.resume().unwrap();
    assert!(!events.is_paused());
    stdin.write_all(b"go\n").unwrap();
    stdout.read_to_end(&mut Vec::new()).unwrap();
    child.wait().unwrap();
    let (calls, births, ends) = seen(&mut events);
    assert!(calls >= 100, "{calls}");
    assert_eq!((births, ends, events.has_any()), (1, 2, false));
}

#[test]
fn one_that_ended_before_it_was_followed_can_be_forgotten() {
    let Some(events) = loaded(true, &[Rule::default()], false) else { return };
    let mut child = Command::new("/bin/true").spawn().unwrap();
    child.wait().unwrap();
    events.follow(child.id() as i32).unwrap();
    assert!(events.has_any());
    events.forget(child.id() as i32);
    events.forget(child.id() as i32);
    assert!(!events.has_any());
}

/// The events of a shell that runs this, after it has begun.
fn reported_of_a_shell(rules: &[Rule], script: &str, mut each: impl FnMut(Event<'_>)) -> bool {
    let Some(mut events) = loaded(true, rules, false) else { return false };
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &format!("read line; {script}")]);
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    events.follow(child.id() as i32).unwrap();
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
    child.wait().unwrap();
    events.take(&mut each);
    assert_eq!(events.lost(), 0);
    true
}

#[test]
fn a_name_of_many_parts_is_reported_whole() {
    let deep = tempfile::tempdir().unwrap();
    let folder = (0..30).fold(deep.path().canonicalize().unwrap(), |folder, part| {
        folder.join(format!("part{part}"))
    });
    std::fs::create_dir_all(&folder).unwrap();
    let name = folder.join("file");
    std::fs::write(&name, "text").unwrap();
    let rule = Rule { number: libc::SYS_openat as u32, opens: true, ..Rule::default() };
    let mut names = Vec::new();
    let script = format!("cat {0} {0} > /dev/null", name.display());
    let is_reported = reported_of_a_shell(&[rule], &script, |event| {
        if let Event::File(_, true, file) = event {
            names.push(file.name);
        }
    });
    let expected = name.into_os_string().into_encoded_bytes();
    let count = names.iter().filter(|name| **name == expected).count();
    assert!(!is_reported || count == 2, "{names:?}");
}

#[test]
fn a_call_is_reported_only_if_its_arguments_fulfil_the_condition() {
    let number = libc::SYS_openat as u32;
    let when = When::ArgumentWith(2, libc::O_CREAT as u32);
    let rule = Rule { number, when, opens: true, ..Rule::default() };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new");
    let (mut calls, mut others) = (0, 0);
    let script = format!("cat /etc/passwd > {}", file.display());
    let is_reported = reported_of_a_shell(&[rule], &script, |event| match event {
        Event::Called(_, call) if call.arguments[2] & libc::O_CREAT as u64 != 0 => calls += 1,
        Event::Called(..) => others += 1,
        _ => {}
    });
    assert!(!is_reported || (calls, others) == (1, 0), "{calls} {others}");
}

#[test]
fn a_close_is_reported_once_where_no_other_thread_has_the_descriptor() {
    let number = libc::SYS_close as u32;
    let rule = Rule { number, moment: Moment::Both, files: [Some(0), None], ..Rule::default() };
    let (mut whole, mut parts, mut unnamed) = (0, 0, 0);
    let is_reported =
        reported_of_a_shell(&[rule], "cat /etc/passwd > /dev/null; true", |event| match event {
            Event::Called(_, call) => {
                whole += 1;
                unnamed += usize::from(call.result == 0 && call.files[0] == 0);
            }
            Event::Entered(..) | Event::Left(..) => parts += 1,
            _ => {}
        });
    assert!(!is_reported || whole > 0 && (parts, unnamed) == (0, 0), "{whole} {parts} {unnamed}");
}
