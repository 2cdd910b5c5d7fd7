//! Another machine that knows more about the files below a mount. It is asked over TCP, and its
//! answer is checked before it is believed.

use super::claim::{Claim, Presence, Provider, Target};
use crate::wire::{
    ANSWER_BYTES_MAX, Answer, Question, VERSION, checked, left, read_line, write_line,
};
use crate::{Confidence, Error, ErrorKind, Level, Sled};
use seekless_device::Zone;
use seekless_sys::hosts;
use std::io;
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest wait for a connection to one of the server's addresses.
const CONNECT: Duration = Duration::from_secs(1);
/// The longest wait in all: for the connection, the question and the whole answer.
const ANSWER: Duration = Duration::from_secs(3);
/// A server that failed is not asked again for so long. A walk over many files must not wait for it
/// each time.
const GRUDGE: Duration = Duration::from_secs(30);

/// A server, and how paths below a mount translate to its own.
#[derive(Clone, Debug)]
pub struct Remote {
    /// The folder on this machine.
    pub mount: PathBuf,
    /// The folder's path on the server.
    pub prefix: PathBuf,
    /// The cost of the network between, added to the server's.
    pub network: Zone,
    /// The connection to the server.
    pub line: Line,
}

/// A connection to a server that stays open from one question to the next. Clones share it.
#[derive(Clone, Debug)]
pub struct Line {
    server: Arc<str>,
    patience: Duration,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    stream: Option<TcpStream>,
    failed: Option<Instant>,
}

impl Line {
    /// A connection to `host:port`, made when it is first used.
    #[must_use]
    pub fn new(server: &str) -> Self {
        Line { server: server.into(), patience: ANSWER, state: Arc::default() }
    }

    /// The server's SLEDs of a file of `bytes`, and how long the answer took.
    fn ask(&self, path: &str, bytes: u64) -> Result<(Vec<Sled>, Duration), Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failed.is_some_and(|when| when.elapsed() < GRUDGE) {
            return Err(self.failure("failed a moment ago and is not asked again yet"));
        }
        let started = Instant::now();
        let line = self.line(&mut state, path).map_err(|error| {
            state.failed = Some(Instant::now());
            self.failure(&error.to_string())
        })?;
        let elapsed = started.elapsed();
        match understood(line, bytes) {
            Ok(sleds) => Ok((sleds, elapsed)),
            Err(NotTaken::Said(why)) => Err(self.failure(&why)),
            Err(NotTaken::Nonsense(what)) => Err(self.nonsense(&mut state, &what)),
        }
    }

    /// Asks over the open connection. If the server has closed it, connects anew.
    fn line(&self, state: &mut State, path: &str) -> io::Result<Vec<u8>> {
        let deadline = Instant::now() + self.patience;
        if let Some(stream) = state.stream.take()
            && let Ok(line) = exchange(state, stream, path, deadline)
        {
            return Ok(line);
        }
        let stream = self.connect(deadline)?;
        exchange(state, stream, path, deadline)
    }

    fn connect(&self, deadline: Instant) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "no such host");
        for address in hosts::addresses(&self.server)? {
            match TcpStream::connect_timeout(&address, CONNECT.min(left(deadline)?)) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn nonsense(&self, state: &mut State, what: &str) -> Error {
        *state = State { stream: None, failed: Some(Instant::now()) };
        self.failure(&format!("the answer is invalid: {what}"))
    }

    fn failure(&self, why: &str) -> Error {
        Error::new(ErrorKind::Remote, format!("{}: {why}", self.server))
    }
}

/// Why an answer is not taken.
#[derive(Debug)]
enum NotTaken {
    /// The server reported an error, or answered for another file.
    Said(String),
    /// It makes no sense.
    Nonsense(String),
}

/// The SLEDs of a file of `bytes` in an answer.
fn understood(line: Vec<u8>, bytes: u64) -> Result<Vec<Sled>, NotTaken> {
    let answer: Result<Answer, _> = serde_json::from_slice(&line);
    drop(line);
    match answer.map_err(|error| NotTaken::Nonsense(error.to_string()))? {
        Answer { error: Some(error), .. } => {
            Err(NotTaken::Said(error.chars().filter(|c| !c.is_control()).take(200).collect()))
        }
        Answer { bytes: Some(there), sleds: Some(_), .. } if there != bytes => {
            Err(NotTaken::Said("the file has another size there".to_owned()))
        }
        Answer { bytes: Some(_), sleds: Some(sleds), .. } => {
            checked(&sleds, bytes).map_err(|what| NotTaken::Nonsense(what.to_owned()))
        }
        _ => Err(NotTaken::Nonsense("neither SLEDs nor an error".to_owned())),
    }
}

/// What a client takes of an answer about a file of `bytes`: start and end of each SLED, its
/// latency and bytes per second from here; or why it takes nothing. For the fuzz targets.
#[doc(hidden)]
pub fn taken_of(answer: &[u8], bytes: u64) -> Result<Vec<(u64, u64, Duration, f64)>, String> {
    let sleds = understood(answer.to_vec(), bytes).map_err(|why| format!("{why:?}"))?;
    let network = Zone {
        from_byte: 0,
        latency_ns: u64::MAX,
        latency_p90_ns: None,
        bytes_per_second: 1_000_000,
    };
    let (mount, prefix, line) = (PathBuf::new(), PathBuf::new(), Line::new(""));
    let remote = Remote { mount, prefix, network, line };
    let cost = |sled: &Sled| match remote.claim(sled, Duration::MAX).presence {
        Presence::Here { latency, bandwidth, .. } => {
            (sled.offset, sled.offset + sled.bytes, latency, bandwidth)
        }
        _ => (sled.offset, sled.offset + sled.bytes, Duration::ZERO, f64::INFINITY),
    };
    Ok(sleds.iter().map(cost).collect())
}

/// Sends one question and reads one answer. The connection stays open if both succeed.
fn exchange(
    state: &mut State,
    stream: TcpStream,
    path: &str,
    deadline: Instant,
) -> io::Result<Vec<u8>> {
    let mut question = serde_json::to_vec(&Question { seekless: VERSION, path: path.to_owned() })?;
    question.push(b'\n');
    write_line(&stream, &question, deadline)?;
    let line = read_line(&stream, ANSWER_BYTES_MAX, deadline)?;
    let line = line.ok_or(io::ErrorKind::UnexpectedEof)?;
    state.stream = Some(stream);
    Ok(line)
}

impl Provider for Remote {
    fn name(&self) -> &'static str {
        "remote"
    }

    fn claims(&self, target: &Target<'_>) -> Result<Vec<Claim>, Error> {
        let Some(name) = target.path.and_then(|path| path.strip_prefix(&self.mount).ok()) else {
            return Ok(Vec::new());
        };
        let Some(path) = self.prefix.join(name).to_str().map(str::to_owned) else {
            return Err(self
                .line
                .failure("the file's name is not UTF-8, which the protocol cannot carry"));
        };
        let (sleds, elapsed) = self.line.ask(&path, target.bytes)?;
        Ok(sleds.iter().map(|sled| self.claim(sled, elapsed)).collect())
    }
}

impl Remote {
    /// The cost of a server's SLED from here: both latencies, and the smaller bandwidth.
    fn claim(&self, there: &Sled, elapsed: Duration) -> Claim {
        let level = if there.level == Level::Archive { Level::Archive } else { Level::Network };
        let latency = there.latency.saturating_add(Duration::from_nanos(self.network.latency_ns));
        let bandwidth = there.bandwidth.min(self.network.bytes_per_second as f64);
        let confidence =
            if there.level == Level::Unknown { Confidence::Unknown } else { there.confidence };
        let presence = Presence::Here { level, latency, bandwidth, confidence };
        Claim {
            offset: there.offset,
            bytes: there.bytes,
            presence,
            age: there.age.saturating_add(elapsed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;
    use std::path::Path;

    /// A server that gives `answer` to the first question and leaves.
    fn hostile(answer: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("known").to_string();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept()?;
            read_line(&stream, 1 << 16, Instant::now() + Duration::from_secs(5))?;
            stream.write_all(answer)
        });
        address
    }

    fn ask(server: &str) -> Result<Vec<Claim>, Error> {
        let mount = Path::new("/mnt/nfs");
        let path = mount.join("deep/file");
        let target = Target { file: None, path: Some(&path), bytes: 100, allocated_bytes: 0 };
        let network = Zone {
            from_byte: 0,
            latency_ns: 1_000_000,
            latency_p90_ns: None,
            bytes_per_second: 1_000_000,
        };
        let (mount, prefix) = (mount.to_owned(), PathBuf::from("/export"));
        Remote { mount, prefix, network, line: Line::new(server) }.claims(&target)
    }

    #[test]
    fn a_good_answer_costs_the_network_on_top() {
        let answer = br#"{"bytes":100,"sleds":[{"offset":0,"bytes":60,"latency_s":0.000001,"bandwidth":4e9,"level":"memory","confidence":"exact","age_s":0},{"offset":60,"bytes":40,"latency_s":0.018,"bandwidth":9e5,"level":"archive","confidence":"sampled","age_s":2.5}]}
"#;
        let ranges = ask(&hostile(answer)).expect("an answer");
        let has = |claim: &Claim| match claim.presence {
            Presence::Here { level, latency, bandwidth, .. } => {
                (level, latency.as_micros(), bandwidth)
            }
            _ => panic!("{claim:?}"),
        };
        assert_eq!(has(&ranges[0]), (Level::Network, 1001, 1e6));
        assert_eq!(has(&ranges[1]), (Level::Archive, 19_000, 9e5));
        assert!(ranges[1].age >= Duration::from_millis(2500));
    }

    #[test]
    fn hostile_answers_are_errors() {
        let range = r#"{"offset":0,"bytes":1,"latency_s":0,"bandwidth":1,"level":"memory","confidence":"exact","age_s":0}"#;
        let answers = [
            String::new(),
            "\n".to_owned(),
            "{}\n".to_owned(),
            "no json".to_owned(),
            "[[[[[[[[\n".to_owned(),
            format!("{}\n", "[".repeat(100_000)),
            r#"{"error":"no such file"}"#.to_owned() + "\n",
            r#"{"bytes":99,"sleds":[]}"#.to_owned() + "\n",
            format!("{{\"bytes\":100,\"sleds\":[{range},{range}]}}\n"),
            format!("{{\"bytes\":100,\"sleds\":[{range}]}}\nand more\n"),
            "x".repeat(ANSWER_BYTES_MAX + 4096),
        ];
        for answer in answers {
            let shown: String = answer.chars().take(60).collect();
            let error = ask(&hostile(answer.leak().as_bytes())).expect_err(&shown);
            assert_eq!(error.kind(), ErrorKind::Remote, "{shown}");
        }
    }

    #[test]
    fn an_answer_that_never_ends_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let server = listener.local_addr().expect("known").to_string();
        std::thread::spawn(move || -> io::Result<()> {
            // It sends a byte at a time, on the kept connection and on the next.
            loop {
                let (mut stream, _) = listener.accept()?;
                std::thread::spawn(move || {
                    while stream.write_all(b" ").is_ok() {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                });
            }
        });
        let line = Line { patience: Duration::from_millis(200), ..Line::new(&server) };
        let error = line.ask("/x", 1).expect_err("no answer");
        assert_eq!(error.kind(), ErrorKind::Remote);
    }

    #[test]
    fn a_server_that_is_not_there_is_asked_once() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let server = listener.local_addr().expect("known").to_string();
        drop(listener);
        let line = Line::new(&server);
        let error = line.ask("/x", 1).expect_err("nobody there");
        assert_eq!(error.kind(), ErrorKind::Remote);
        let again = line.ask("/x", 1).expect_err("nobody there");
        assert!(again.to_string().contains("not asked again"), "{again}");
    }
}
