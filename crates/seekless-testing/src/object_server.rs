//! A server on loopback that speaks as much of S3's protocol as packs need, and is as slow and as
//! faulty as a test wants it: object storage without a network. It has objects of its own, or
//! passes requests on to another server, such as `moto`.

mod conduct;
mod message;
mod objects;
mod upstream;

pub use conduct::{Conduct, Fault};
use message::{Request, Response};
use objects::Objects;
use std::io::{self, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Bytes of a body that are sent between two looks at the bandwidth.
const PIECE_BYTES: usize = 16 << 10;

/// A running server. Dropped, it takes no more connections.
#[derive(Debug)]
pub struct ObjectServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

/// What a server was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Requests, with those that got a fault.
    pub requests: u64,
    /// Requests that got a fault.
    pub faults: u64,
    /// Of them, those that list names, which providers charge like writes.
    pub lists: u64,
    /// Bytes of the bodies that were sent.
    pub bytes: u64,
    /// The most requests that were answered at once.
    pub at_once: u64,
}

#[derive(Debug)]
struct Shared {
    conduct: Mutex<Conduct>,
    objects: Mutex<Objects>,
    upstream: Option<SocketAddr>,
    served: Mutex<(Served, u64)>,
    closing: AtomicBool,
}

impl ObjectServer {
    /// A server with objects of its own, none at first.
    ///
    /// # Errors
    /// Loopback gives no port.
    pub fn start(conduct: Conduct) -> io::Result<Self> {
        Self::with(conduct, None)
    }

    /// A server that passes each request on to the one at `upstream`.
    ///
    /// # Errors
    /// Loopback gives no port.
    pub fn before(upstream: SocketAddr, conduct: Conduct) -> io::Result<Self> {
        Self::with(conduct, Some(upstream))
    }

    fn with(conduct: Conduct, upstream: Option<SocketAddr>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            conduct: Mutex::new(conduct),
            objects: Mutex::default(),
            upstream,
            served: Mutex::default(),
            closing: AtomicBool::new(false),
        });
        let own = shared.clone();
        let listener = thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if own.closing.load(Ordering::Acquire) {
                    return;
                }
                let shared = own.clone();
                let serve = move || drop(shared.serve(stream));
                let _ = thread::Builder::new().stack_size(256 << 10).spawn(serve);
            }
        });
        Ok(Self { address, shared, listener: Some(listener) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How it behaves from now on.
    pub fn conduct(&self, conduct: Conduct) {
        *lock(&self.shared.conduct) = conduct;
    }

    /// Puts an object at `path` (`/bucket/key`), or another in its place.
    pub fn put(&self, path: &str, content: impl Into<Vec<u8>>) {
        lock(&self.shared.objects).put(path, content.into(), Vec::new());
    }

    /// From now on the object at `path` has a weak ETag, as of a server that compresses.
    pub fn tag_weakly(&self, path: &str) {
        lock(&self.shared.objects).tag_weakly(path);
    }

    /// The content of the object at `path`.
    #[must_use]
    pub fn content(&self, path: &str) -> Option<Vec<u8>> {
        lock(&self.shared.objects).content(path).map(|content| content.to_vec())
    }

    /// Parts of uploads that were neither completed nor removed.
    #[must_use]
    pub fn parts(&self) -> usize {
        lock(&self.shared.objects).parts()
    }

    /// What it was asked for so far.
    #[must_use]
    pub fn served(&self) -> Served {
        lock(&self.shared.served).0
    }
}

impl Drop for ObjectServer {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        let _ = TcpStream::connect(self.address);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

impl Shared {
    /// Answers the requests of one connection.
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        while let Some(request) = Request::read(&mut reader)? {
            if self.closing.load(Ordering::Acquire) {
                return Ok(());
            }
            self.count(|served, under_way| {
                served.requests += 1;
                served.lists += u64::from(request.is_list());
                *under_way += 1;
                served.at_once = served.at_once.max(*under_way);
            });
            let sent = self.answer(&request, &stream);
            self.count(|_, under_way| *under_way -= 1);
            if !sent? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn count(&self, change: impl FnOnce(&mut Served, &mut u64)) {
        let (served, under_way) = &mut *lock(&self.served);
        change(served, under_way);
    }

    /// Answers one request. Returns false if the connection is to be closed.
    fn answer(&self, request: &Request, stream: &TcpStream) -> io::Result<bool> {
        let (delay, fault, bytes_per_second) = {
            let conduct = &mut *lock(&self.conduct);
            (conduct.delay(), conduct.fault(request.is_read()), conduct.bytes_per_second)
        };
        let due = Instant::now() + delay;
        if fault.is_some() {
            self.count(|served, _| served.faults += 1);
        }
        let mut response = match fault {
            Some(Fault::Reset) => {
                sleep_until(due);
                return Ok(false);
            }
            Some(fault) if fault.answer().is_some() => fault.answer().unwrap_or_default(),
            Some(Fault::IgnoredRange) => self.handle(&request.without("range"))?,
            _ => self.handle(request)?,
        };
        if fault == Some(Fault::WrongTag) && response.is_success() {
            response.set("ETag", "\"another\"");
            response.body.reverse();
        }
        let is_whole = fault != Some(Fault::Truncated) || response.body.len() < 2;
        let sent = if is_whole { response.body.len() } else { response.body.len() / 2 };
        // What another server takes is a part of the delay.
        sleep_until(due);
        response.send_head(&mut &*stream)?;
        if request.method != "HEAD" {
            send(&response.body, 0..sent, bytes_per_second, stream)?;
            self.count(|served, _| served.bytes += sent as u64);
        }
        Ok(is_whole)
    }

    fn handle(&self, request: &Request) -> io::Result<Response> {
        match self.upstream {
            Some(upstream) => upstream::ask(upstream, request),
            None => Ok(lock(&self.objects).handle(request)),
        }
    }
}

/// Sends a part of a body at a rate. Each piece has its time from the beginning, so that a sleep
/// which takes too long does not lower the rate.
fn send(
    body: &[u8],
    range: Range<usize>,
    bytes_per_second: Option<u64>,
    mut stream: &TcpStream,
) -> io::Result<()> {
    let (began, mut sent) = (Instant::now(), 0);
    for piece in body[range].chunks(PIECE_BYTES) {
        sent += piece.len() as u64;
        if let Some(rate) = bytes_per_second {
            sleep_until(began + Duration::from_nanos(sent * 1_000_000_000 / rate.max(1)));
        }
        stream.write_all(piece)?;
    }
    stream.flush()
}

fn sleep_until(time: Instant) {
    thread::sleep(time.saturating_duration_since(Instant::now()));
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
