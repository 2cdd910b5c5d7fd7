//! The cache on the local disk: what it has costs no request, and whatever becomes of it, of a
//! process that writes to it, or of the object, no wrong byte comes.

use crate::common::{content, engine, open, read, server, settings, web_name};
use seekless_engine::{Engine, Opened, automatic};
use seekless_remote::{Access, DiskCache, Remote};
use seekless_testing::{Conduct, ObjectServer};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

const BYTES: usize = 3_000_001;
const CACHE_BYTES: u64 = 32 << 20;

/// An engine with a disk cache in `folder`, and what the cache says.
fn cached(server: &ObjectServer, folder: &Path) -> (Remote, Arc<Mutex<Vec<String>>>) {
    let said = Arc::new(Mutex::new(Vec::new()));
    let own = said.clone();
    let note = Box::new(move |words: &str| own.lock().unwrap().push(words.to_owned()));
    let cache = DiskCache::open(folder, CACHE_BYTES, note).unwrap();
    (engine(server, settings()).with_disk_cache(cache), said)
}

/// Reads all of an object in ranges of `bytes`, each once, and checks them.
fn read_all(engine: &Remote, opened: &Opened, expected: &[u8], bytes: usize) {
    let offsets: Vec<u64> = (0..expected.len() as u64).step_by(bytes).collect();
    for (offset, found) in offsets.iter().zip(read(engine, opened, &offsets, bytes)) {
        let start = *offset as usize;
        let end = (start + bytes).min(expected.len());
        assert!(*found.unwrap() == expected[start..end], "at {offset}");
    }
}

#[test]
fn what_was_read_once_costs_no_request_in_the_next_process() {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), content(BYTES, 1));
    let server = server(&bytes);
    let (first, _) = cached(&server, folder.path());
    let opened = open(&first, &server);
    read_all(&first, &opened, &bytes, 100_000);
    assert_eq!(server.served().requests, 1 + 31);
    // It has written all by then.
    drop(first);
    let (next, said) = cached(&server, folder.path());
    let opened = open(&next, &server);
    assert_eq!(server.served().requests, 33, "it asks which version there is");
    read_all(&next, &opened, &bytes, 77_777);
    assert_eq!(server.served().requests, 33);
    assert_eq!(next.disk_cache().unwrap().hit_bytes(), BYTES as u64);
    assert_eq!(next.counters().requests, 1, "and counts no others");
    let cached = next.cached(&opened.file).unwrap().unwrap();
    assert_eq!(cached.ranges.iter().map(|range| range.bytes).sum::<u64>(), BYTES as u64);
    assert_eq!(next.near(&opened.file).first(), Some(&(0..BYTES as u64)));
    assert!(said.lock().unwrap().is_empty());
}

#[test]
fn only_what_is_missing_is_asked_for() {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), content(BYTES, 2));
    let server = server(&bytes);
    let (first, _) = cached(&server, folder.path());
    let opened = open(&first, &server);
    assert!(read(&first, &opened, &[500_000], 300_000)[0].is_ok());
    drop(first);
    let (next, _) = cached(&server, folder.path());
    let opened = open(&next, &server);
    let before = next.counters().bytes;
    let found = read(&next, &opened, &[400_000], 200_000).remove(0).unwrap();
    assert!(*found == bytes[400_000..600_000]);
    let asked = next.counters().bytes - before;
    assert!((100_000..100_000 + 2 * 4096).contains(&asked), "{asked} bytes");
}

#[test]
fn a_completion_says_whether_the_cache_brought_it() {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), content(BYTES, 3));
    let server = server(&bytes);
    for expected in [false, true] {
        let (engine, _) = cached(&server, folder.path());
        let file = open(&engine, &server).file;
        let (done, ended) = std::sync::mpsc::channel();
        let buffer = seekless_engine::AlignedBuf::with_capacity(10_000);
        engine.submit(vec![seekless_engine::Read {
            file,
            offset: 50_000,
            buffer,
            tag: 1,
            done: done.into(),
        }]);
        assert_eq!(ended.recv().unwrap().cached, expected);
    }
}

#[test]
fn another_version_of_an_object_is_read_from_the_server() {
    let (folder, old) = (tempfile::tempdir().unwrap(), content(BYTES, 4));
    let (new, server) = (content(BYTES, 5), server(&old));
    let (engine, _) = cached(&server, folder.path());
    let opened = open(&engine, &server);
    read_all(&engine, &opened, &old, 1 << 20);
    drop(engine);
    server.put("/bucket/object", new.clone());
    for _ in 0..2 {
        let (engine, _) = cached(&server, folder.path());
        let opened = open(&engine, &server);
        read_all(&engine, &opened, &new, 100_000);
    }
    // An old one that is open goes on with what is here, and asks for no byte of the new one.
    server.put("/bucket/object", old.clone());
    let (engine, _) = cached(&server, folder.path());
    let opened = open(&engine, &server);
    assert!(read(&engine, &opened, &[0], 100_000)[0].is_ok());
    server.put("/bucket/object", new);
    let found = read(&engine, &opened, &[0, 1_000_000], 100_000);
    assert!(found[1].is_err());
}

#[test]
fn damage_on_the_disk_is_found_and_read_again() {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), content(BYTES, 6));
    let server = server(&bytes);
    let (first, _) = cached(&server, folder.path());
    let opened = open(&first, &server);
    read_all(&first, &opened, &bytes, 1 << 20);
    drop(first);
    // A byte of each sector of the file, tables and all but the header.
    let path = folder.path().join("objects");
    let mut whole = fs::read(&path).unwrap();
    whole.iter_mut().skip(4096 + 99).step_by(4096).for_each(|byte| *byte ^= 0x40);
    fs::write(&path, whole).unwrap();
    for expected in [false, true] {
        let (engine, _) = cached(&server, folder.path());
        let opened = open(&engine, &server);
        let before = server.served().requests;
        read_all(&engine, &opened, &bytes, 1 << 20);
        assert_eq!(server.served().requests == before, expected);
    }
}

/// Runs one of the ignored tests below as another process.
fn child(name: &str, server: &ObjectServer, folder: &Path, seed: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("disk::{name}"), "--ignored", "--nocapture"])
        .env("SEEKLESS_TEST_SERVER", server.address().to_string())
        .env("SEEKLESS_TEST_FOLDER", folder)
        .env("SEEKLESS_TEST_SEED", seed.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Reads in an order of its own, and checks. A part of tests that start it; alone it does nothing.
#[test]
#[ignore = "other tests start it"]
fn a_process_that_reads() {
    let Ok(address) = std::env::var("SEEKLESS_TEST_SERVER") else { return };
    let folder = std::env::var_os("SEEKLESS_TEST_FOLDER").unwrap();
    let seed: u64 = std::env::var("SEEKLESS_TEST_SEED").unwrap().parse().unwrap();
    let cache = DiskCache::open(Path::new(&folder), CACHE_BYTES, Box::new(|_| ())).unwrap();
    let engine = Remote::new(automatic(), Access::default(), settings()).unwrap();
    let engine = engine.with_disk_cache(cache);
    let name = format!("http://{address}/bucket/object");
    let opened = engine.open(name.as_ref(), 1000).unwrap().unwrap();
    let expected = content(BYTES, 7);
    let offsets: Vec<u64> =
        (0..600).map(|turn| (turn * 7919 + seed * 104_729) * 13 % 2_990_000).collect();
    for offsets in offsets.chunks(20) {
        for (offset, found) in offsets.iter().zip(read(&engine, &opened, offsets, 9000)) {
            assert!(*found.unwrap() == expected[*offset as usize..][..9000], "at {offset}");
        }
    }
}

#[test]
fn processes_share_it() {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), content(BYTES, 7));
    let server = server(&bytes);
    let (own, said) = cached(&server, folder.path());
    let opened = open(&own, &server);
    let children: Vec<Child> =
        (0..3).map(|seed| child("a_process_that_reads", &server, folder.path(), seed)).collect();
    for _ in 0..5 {
        read_all(&own, &opened, &bytes, 50_000);
    }
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success(), "each byte was right");
    }
    drop(own);
    let (next, _) = cached(&server, folder.path());
    let opened = open(&next, &server);
    let before = server.served().requests;
    let mut last = child("a_process_that_reads", &server, folder.path(), 9);
    assert!(last.wait().unwrap().success());
    assert_eq!(server.served().requests, before + 1, "it opened the object, and no more");
    read_all(&next, &opened, &bytes, 50_000);
    let about = fs::metadata(folder.path().join("objects")).unwrap();
    assert!(about.len() <= CACHE_BYTES && about.blocks() * 512 <= CACHE_BYTES);
    assert!(said.lock().unwrap().is_empty());
}

#[test]
fn a_process_that_is_killed_leaves_a_cache_that_works() {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), content(BYTES, 7));
    let server = server(&bytes);
    let delay = Duration::from_millis(1);
    server.conduct(Conduct::plain().delayed(delay, delay));
    let (mut killed, mut kept) = (0, 0);
    for turn in 0..40u64 {
        // A new one every few turns, so that the making of it is met too.
        if turn % 8 == 0 {
            let _ = fs::remove_file(folder.path().join("objects"));
        }
        let until = server.served().requests + 1 + turn * 5;
        let mut child = child("a_process_that_reads", &server, folder.path(), turn);
        while server.served().requests < until && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_micros(100));
        }
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().code().is_none());
        let (engine, said) = cached(&server, folder.path());
        let opened = open(&engine, &server);
        let cached = engine.cached(&opened.file).unwrap().unwrap();
        kept += u32::from(!cached.ranges.is_empty());
        // What is there is right; of the rest, so much is read that the next turn has a rest too.
        for range in cached.ranges {
            let bytes_there = range.bytes as usize;
            let found = read(&engine, &opened, &[range.offset], bytes_there).remove(0).unwrap();
            assert!(*found == bytes[range.offset as usize..][..bytes_there], "turn {turn}");
        }
        assert!(said.lock().unwrap().is_empty());
    }
    assert!(killed > 10 && kept > 10, "{killed} were killed, {kept} had kept something");
    let (engine, _) = cached(&server, folder.path());
    let opened = open(&engine, &server);
    read_all(&engine, &opened, &bytes, 50_000);
}

/// A file system in memory that holds this much.
struct Small(tempfile::TempDir);

impl Small {
    fn mounted(bytes: u64) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]).arg(folder.path());
        let mounted = mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        mounted.then_some(Self(folder))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_ends_the_keeping_and_no_load() {
    let Some(disk) = Small::mounted(1 << 20) else {
        println!("skipped: a small file system needs root");
        return;
    };
    let bytes = content(BYTES, 8);
    let server = server(&bytes);
    for _ in 0..2 {
        let (engine, said) = cached(&server, disk.0.path());
        let opened = open(&engine, &server);
        read_all(&engine, &opened, &bytes, 50_000);
        read_all(&engine, &opened, &bytes, 70_000);
        drop(engine);
        let said = said.lock().unwrap();
        let path = disk.0.path().join("objects");
        let expected = format!("{}: nothing more is cached: the disk is full", path.display());
        assert_eq!(*said, [expected]);
    }
    let (engine, _) = cached(&server, disk.0.path());
    let opened = open(&engine, &server);
    let kept: u64 =
        engine.cached(&opened.file).unwrap().unwrap().ranges.iter().map(|range| range.bytes).sum();
    assert!((100_000..1 << 20).contains(&kept), "what fits is there: {kept}");
}

#[test]
fn what_has_no_strong_tag_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = content(BYTES, 9);
    let server = server(&bytes);
    server.tag_weakly("/bucket/object");
    for _ in 0..2 {
        let (engine, _) = cached(&server, folder.path());
        let opened = engine.open(&web_name(&server), 10).unwrap().unwrap();
        let before = server.served().requests;
        read_all(&engine, &opened, &bytes, 1 << 20);
        assert!(server.served().requests > before);
        assert_eq!(engine.cached(&opened.file).unwrap(), None);
    }
}
