//! A server over the loopback interface, and clients that do it harm.

use super::*;
use crate::wire::checked;
use crate::{Config, Devices};
use std::io::{Read, Write};
use std::path::Path;
use tempfile::TempDir;

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(600);

/// A server of a folder with a file `data` of 100,000 bytes.
fn serving(address: &str, options: ServerOptions) -> (TempDir, SocketAddr) {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
    std::fs::write(folder.path().join("data"), vec![1; 100_000]).expect("written");
    let options = ServerOptions { roots: vec![folder.path().to_owned()], ..options };
    let surveyor = Surveyor::with(Config::default(), Devices::default());
    let server = Server::bind(address, options, surveyor).expect("a port");
    let at = server.address().expect("known");
    std::thread::spawn(move || server.run());
    (folder, at)
}

fn ask(mut stream: &TcpStream, folder: &Path) -> io::Result<Answer> {
    let path = folder.canonicalize()?.join("data").display().to_string();
    let mut question = serde_json::to_vec(&Question { seekless: VERSION, path })?;
    question.push(b'\n');
    stream.write_all(&question)?;
    let line = read_line(stream, ANSWER_BYTES_MAX, Instant::now() + LONG)?;
    Ok(serde_json::from_slice(&line.ok_or(io::ErrorKind::UnexpectedEof)?)?)
}

fn is_answered(stream: &TcpStream, folder: &Path) -> bool {
    ask(stream, folder).is_ok_and(|answer| answer.bytes == Some(100_000))
}

#[test]
fn silent_connections_of_one_address_keep_nobody_out() {
    let options = ServerOptions {
        clients_max: 4,
        clients_of_peer_max: 4,
        patience: LONG,
        ..Default::default()
    };
    let (folder, at) = serving("127.0.0.1:0", options);
    let silent: Vec<_> = (0..20).map(|_| TcpStream::connect(at).expect("connected")).collect();
    let stream = TcpStream::connect(at).expect("connected");
    assert!(is_answered(&stream, folder.path()));
    assert!(is_answered(&stream, folder.path()), "again over the same line");
    drop(silent);
}

#[test]
fn a_peer_has_a_bounded_number_of_connections_and_another_peer_is_served() {
    let options = ServerOptions {
        clients_max: 8,
        clients_of_peer_max: 2,
        patience: LONG,
        ..Default::default()
    };
    let (folder, at) = serving("[::]:0", options);
    let Ok(other) = TcpStream::connect(("::1", at.port())) else {
        return eprintln!("skipped: no IPv6 here");
    };
    let Ok(first) = TcpStream::connect(("127.0.0.1", at.port())) else {
        return eprintln!("skipped: IPv6 does not take IPv4 here");
    };
    assert!(is_answered(&other, folder.path()) && is_answered(&first, folder.path()));
    let more: Vec<_> =
        (0..2).map(|_| TcpStream::connect(("127.0.0.1", at.port())).expect("connected")).collect();
    assert!(more.iter().all(|stream| is_answered(stream, folder.path())));
    let mut first = first;
    assert_eq!(first.read(&mut [0; 1]).expect("hung up"), 0, "it was silent for longest");
    assert!(is_answered(&other, folder.path()), "the other peer's line stands");
}

#[test]
fn a_client_that_is_slow_with_its_question_is_hung_up_on() {
    let options = ServerOptions { patience: Duration::from_millis(200), ..Default::default() };
    let (_folder, at) = serving("127.0.0.1:0", options);
    let mut stream = TcpStream::connect(at).expect("connected");
    // Byte by byte, without end: each comes in time, the question does not.
    while stream.write_all(b" ").is_ok() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_answer_of_many_sleds_is_one_that_a_client_takes() {
    let sled = |number: u64| Sled {
        offset: u64::MAX / 2 + 2 * number,
        bytes: 1,
        latency: Duration::from_secs_f64(1.0 / 3.0),
        bandwidth: 1e19 / 3.0,
        level: Level::Network,
        confidence: Confidence::Unknown,
        age: Duration::from_secs_f64(100_000.0 / 3.0),
    };
    let sleds: Vec<_> = (0..100_000).map(sled).collect();
    let bytes = u64::MAX;
    let text = written(&sleds, bytes).expect("written");
    assert!(text.len() < ANSWER_BYTES_MAX, "{}", text.len());
    let answer: Answer = serde_json::from_slice(&text).expect("read");
    let sleds = checked(&answer.sleds.expect("some"), bytes).expect("sound");
    assert!(sleds.len() > SLEDS_MAX / 4);
    assert_eq!(sleds.last().map(|last| (last.end(), last.level)), Some((bytes, Level::Unknown)));
}
