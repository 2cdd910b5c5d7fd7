//! The memory that hostile answers cost a client, and hostile questions a server; the fuzz targets
//! on their seeds and mutations of them. In a process of its own, because its allocator counts.

#![expect(unreachable_pub, reason = "the fuzz targets' own crate exports what their files hold")]

#[path = "../../../fuzz/src/drive.rs"]
mod drive;
#[path = "../../../fuzz/src/wire.rs"]
mod wire;

#[path = "../../../tests/allocations.rs"]
mod allocations;

use allocations::peak_of_process;
use seekless_sled::{Config, Devices, Surveyor};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Mutex, PoisonError};

const BYTES_MAX: usize = 1_000_000;
/// Memory is counted for one test at a time.
static COUNTING: Mutex<()> = Mutex::new(());
const SLED: &str = r#"{"offset":0,"bytes":1,"latency_s":0,"bandwidth":1,"level":"hole","confidence":"exact","age_s":0}"#;

/// The most memory that was in use while a server that answers with `answer`, as often as the
/// client takes it, was asked.
fn cost(answer: &'static str) -> usize {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = listener.local_addr().expect("known");
    let thread = std::thread::spawn(move || -> std::io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        BufReader::with_capacity(1 << 10, stream.try_clone()?)
            .read_line(&mut String::with_capacity(1 << 10))?;
        stream.write_all(answer.as_bytes())?;
        stream.write_all(b"\n")
    });
    let mount = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
    let path = mount.path().canonicalize().expect("there").join("file");
    std::fs::write(&path, [1; 100]).expect("written");
    rustix::fs::fadvise(
        std::fs::File::open(&path).expect("there"),
        0,
        None,
        rustix::fs::Advice::DontNeed,
    )
    .expect("a file");
    // As on a mount of which only the names are known: nothing of it is cached, so the server is
    // asked.
    std::fs::File::options()
        .write(true)
        .open(&path)
        .expect("there")
        .set_len(1 << 30)
        .expect("sparse");
    let mount = path.parent().expect("a folder");
    let rule = format!(
        "[[mount]]\npath = {mount:?}\nremote = {{ server = \"{server}\", prefix = \"/export\" }}\n"
    );
    let mut surveyor =
        Surveyor::with(Config::parse(&rule).expect("understood"), Devices::default());
    let (survey, cost) = peak_of_process(|| surveyor.path(&path));
    let survey = survey.expect("an answer, whatever the server says");
    assert!(survey.notes.iter().any(|note| note.starts_with("remote: ")), "{:?}", survey.notes);
    drop(thread.join());
    cost
}

#[test]
fn a_hostile_answer_costs_less_than_a_megabyte() {
    let _counting = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    let megabytes = |piece: &str, count: usize| piece.repeat(count * 1_000_000 / piece.len());
    // Of the size of the largest answer that is read to its end.
    let full = |piece: &str| piece.repeat((384 << 10) / piece.len() - 1);
    let mut sleds = format!("{{\"bytes\":1073741824,\"sleds\":[{SLED}");
    while sleds.len() < (384 << 10) - 200 {
        write!(sleds, ",{SLED}").expect("memory");
    }
    sleds += "]}";
    let answers = [
        megabytes("x", 50),
        megabytes("[", 50),
        full("["),
        format!("[{}0]", full("0,")),
        format!("{{\"x\":[{}0]}}", full("0,")),
        format!("{{\"x\":{{{}\"a\":0}}}}", full("\"a\":0,")),
        format!("{{\"error\":\"{}\"}}", full("x")),
        format!("{{\"sleds\":\"{}\"}}", full("\\u0041")),
        sleds,
    ];
    for answer in answers {
        let shown: String = answer.chars().take(40).collect();
        let cost = cost(answer.leak());
        assert!(cost < BYTES_MAX, "{shown}...: {cost} bytes");
    }
}

/// Calls `body` with the target's inputs, in memory that is bounded beside the input's own.
fn bounded(target: &str, body: impl Fn(&[u8])) {
    let _counting = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    drive::drive(target, |input| {
        let ((), cost) = peak_of_process(|| body(input));
        assert!(cost < BYTES_MAX + 16 * input.len(), "{cost} bytes for {}", input.len());
    });
}

#[test]
fn any_bytes_as_an_answer() {
    bounded("wire_answer", wire::answer);
}

#[test]
fn any_bytes_as_questions() {
    bounded("wire_questions", wire::questions);
}
