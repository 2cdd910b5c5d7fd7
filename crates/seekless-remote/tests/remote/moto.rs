//! The whole protocol by another's server: `moto`, behind a proxy with delays and faults. It checks
//! signatures' form, ranges, conditions and uploads by its own code.

use crate::common::{access, content, engine, read, s3_name, settings};
use seekless_engine::Engine;
use seekless_remote::{Condition, DiskCache, Kept, Plan, Version, put, renew, update};
use seekless_testing::{Conduct, Fault, ObjectServer};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A running server, which is stopped at the end.
struct Moto {
    child: Child,
    address: SocketAddr,
}

impl Moto {
    /// `None` if it is not installed: `./test` installs it.
    fn start() -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let program = root.join("target/test-s3/bin/moto_server");
        let address = TcpListener::bind(("127.0.0.1", 0)).ok()?.local_addr().ok()?;
        let port = address.port().to_string();
        let mut command = Command::new(program);
        command.args(["-H", "127.0.0.1", "-p", &port]).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().ok()?;
        let moto = Self { child, address };
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(began.elapsed() < Duration::from_secs(120), "moto does not answer");
            thread::sleep(Duration::from_millis(50));
        }
        Some(moto)
    }

    fn make_bucket(&self) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = "PUT /bucket HTTP/1.1\r\nHost: s3.amazonaws.com\r\nContent-Length: 0\r\n\
                    Authorization: AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request\
                    \r\nConnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn file(content: &[u8]) -> Arc<File> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    Arc::new(file)
}

/// What was read once costs no request, and the cache says what it has.
fn through_the_disk_cache(proxy: &ObjectServer, path: &str, bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    for expected in [0, bytes.len() as u64] {
        let note = Box::new(|words: &str| panic!("{words}"));
        let cache = DiskCache::open(folder.path(), 48 << 20, note).unwrap();
        let engine = engine(proxy, settings()).with_disk_cache(cache);
        let opened = engine.open(path.as_ref(), 1000).unwrap().unwrap();
        let here = engine.cached(&opened.file).unwrap().unwrap().ranges;
        assert_eq!(here.iter().map(|range| range.bytes).sum::<u64>(), expected);
        let before = proxy.served().requests;
        let found = read(&engine, &opened, &[0], bytes.len()).remove(0).unwrap();
        assert!(*found == *bytes, "{path}");
        assert_eq!(proxy.served().requests == before, expected > 0);
    }
}

/// A new version, of which another server copies most itself.
fn renews(proxy: &ObjectServer) {
    let (name, access, old) = (s3_name("a pack+ü.zip"), access(proxy), content(40 << 20, 3));
    put(&name, file(&old), Condition::New, &access, &settings(), |_| true).unwrap();
    let engine = engine(proxy, settings());
    let path = name.to_string();
    let opened = engine.open(path.as_ref(), 1).unwrap().unwrap();
    let version = engine.version(&opened.file).unwrap();
    let new = [&b"new"[..], &old].concat();
    let kept = vec![Kept { from: 0, to: 3, bytes: old.len() as u64 }];
    let plan = Plan::new(&name, new.len() as u64, kept);
    assert!(plan.copied_bytes() > 34 << 20);
    let holes = plan.copied_bytes() as usize;
    let sent = [&new[..new.len() - holes], &vec![0; holes]].concat();
    let written = |version: &Version| {
        let version = version.clone();
        renew(&name, file(&sent), &plan, version, &access, &settings(), |_| true)
    };
    written(&version).unwrap();
    let opened = engine.open(path.as_ref(), new.len() as u64).unwrap().unwrap();
    assert!(*opened.tail == new);
    let error = written(&version).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleNetworkFileHandle, "{error}");
    for line in ["one", "two"] {
        update(&s3_name("list"), 100, &access, &settings(), |before| {
            Ok(Some([before.unwrap_or_default(), line.as_bytes()].concat()))
        })
        .unwrap();
    }
    update(&s3_name("list"), 100, &access, &settings(), |found| {
        assert_eq!(found, Some(&b"onetwo"[..]));
        Ok(None)
    })
    .unwrap();
}

#[test]
fn another_server_takes_and_gives_the_same_bytes() {
    let Some(moto) = Moto::start() else {
        println!("skipped: moto is not installed (pip install 'moto[server]')");
        return;
    };
    moto.make_bucket();
    let (delay, spread) = (Duration::from_millis(4), Duration::from_millis(2));
    let faults = [Fault::Internal, Fault::SlowDown, Fault::Truncated, Fault::IgnoredRange];
    let conduct = Conduct::plain().delayed(delay, spread);
    let proxy = ObjectServer::before(moto.address, conduct.clone()).unwrap();
    renews(&proxy);
    let access = access(&proxy);
    for (key, bytes) in [("small", 5000), ("large", 20 << 20)] {
        let (name, bytes) = (s3_name(key), content(bytes, 1));
        let written =
            |condition| put(&name, file(&bytes), condition, &access, &settings(), |_| true);
        written(Condition::New).unwrap();
        assert_eq!(written(Condition::New).unwrap_err().kind(), ErrorKind::AlreadyExists);
        written(Condition::Any).unwrap();
        let engine = engine(&proxy, settings());
        let path = name.to_string();
        let opened = engine.open(path.as_ref(), 1000).unwrap().unwrap();
        assert_eq!(opened.bytes, bytes.len() as u64);
        assert!(*opened.tail == bytes[bytes.len() - 1000..]);
        proxy.conduct(conduct.clone().faulty(200, faults));
        let offsets: Vec<u64> = (0..40).map(|turn| turn * 100).collect();
        for (offset, found) in offsets.iter().zip(read(&engine, &opened, &offsets, 700)) {
            assert!(*found.unwrap() == bytes[*offset as usize..][..700], "{key} at {offset}");
        }
        proxy.conduct(conduct.clone());
        through_the_disk_cache(&proxy, &path, &bytes);
        put(&name, file(b"another"), Condition::Any, &access, &settings(), |_| true).unwrap();
        let error = read(&engine, &opened, &[0], 100).remove(0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StaleNetworkFileHandle, "{error}");
    }
}
