//! A server on loopback, an engine that reads from it, and an object whose bytes are known.

use seekless_engine::{AlignedBuf, Completion, Engine, ObjectName, Opened, Read, automatic};
use seekless_remote::{Access, Remote, Settings};
use seekless_testing::{Conduct, ObjectServer};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Of the server, by a name that needs no credentials.
pub(crate) fn web_name(server: &ObjectServer) -> PathBuf {
    format!("http://{}/bucket/object", server.address()).into()
}

pub(crate) fn s3_name(key: &str) -> ObjectName {
    ObjectName::parse(format!("s3://bucket/{key}").as_ref()).unwrap().unwrap()
}

/// S3 is this server.
pub(crate) fn access(server: &ObjectServer) -> Access {
    Access::default()
        .with("aws_endpoint", format!("http://{}", server.address()))
        .with("aws_allow_http", "true")
        .with("aws_access_key_id", "the-access-key")
        .with("aws_secret_access_key", "the-secret")
        .with("aws_region", "us-east-1")
}

/// Limits that let a test end soon.
pub(crate) fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.deadline = Duration::from_secs(30);
    settings.pause_min = Duration::from_millis(1);
    settings.pause_max = Duration::from_millis(20);
    settings
}

pub(crate) fn engine(server: &ObjectServer, settings: Settings) -> Remote {
    Remote::new(automatic(), access(server), settings).unwrap()
}

/// Bytes that differ from place to place, and with `seed`.
pub(crate) fn content(bytes: usize, seed: u32) -> Vec<u8> {
    let byte = |at: usize| (at as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) >> 24;
    (0..bytes).map(|at| byte(at) as u8).collect()
}

/// A server with an object of these bytes.
pub(crate) fn server(content: &[u8]) -> ObjectServer {
    let server = ObjectServer::start(Conduct::plain()).unwrap();
    server.put("/bucket/object", content);
    server
}

pub(crate) fn open(engine: &Remote, server: &ObjectServer) -> Opened {
    engine.open(&web_name(server), 1000).expect("no file").unwrap()
}

/// Reads ranges of `bytes` at once, and gives what came in their order.
pub(crate) fn read(
    engine: &Remote,
    opened: &Opened,
    offsets: &[u64],
    bytes: usize,
) -> Vec<io::Result<AlignedBuf>> {
    let (done, ended) = mpsc::channel();
    let read = |(tag, offset): (u64, &u64)| Read {
        file: Arc::clone(&opened.file),
        offset: *offset,
        buffer: AlignedBuf::with_capacity(bytes),
        tag,
        done: done.clone().into(),
    };
    engine.submit((0..).zip(offsets).map(read).collect());
    let mut completions: Vec<Completion> = ended.iter().take(offsets.len()).collect();
    completions.sort_unstable_by_key(|completion| completion.tag);
    let result = |completion: Completion| {
        let Completion { buffer, result, .. } = completion;
        result.inspect(|bytes| assert_eq!(*bytes, buffer.len())).map(|_| buffer)
    };
    completions.into_iter().map(result).collect()
}
