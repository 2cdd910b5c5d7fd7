//! Shows other machines where the ranges of files lie: `seekless sleds --serve`. It only reads,
//! below given folders only, and everything it does is bounded.

mod clients;

use crate::wire::{
    ANSWER_BYTES_MAX, Answer, QUESTION_BYTES_MAX, Question, SLEDS_MAX, VERSION, Wire, WireSled,
    read_line, write_line,
};
use crate::{Confidence, Error, ErrorKind, Level, Sled, Surveyor};
use clients::{Clients, Entered};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::cell::RefCell;
use std::io::{self, Read};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The limits of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// The server answers only for files below these folders.
    pub roots: Vec<PathBuf>,
    /// The most clients connected at once. One more takes the place of the client that has been
    /// silent for longest, or is turned away.
    pub clients_max: usize,
    /// The most clients from one address. Each asks one question at a time, so this bounds its
    /// questions at once, too.
    pub clients_of_peer_max: usize,
    /// How long a client may take to send a question, and to fetch the whole answer.
    pub patience: Duration,
}

/// How long a question waits for a descriptor that others hold.
const SHORTAGE: Duration = Duration::from_secs(2);

impl Default for ServerOptions {
    fn default() -> Self {
        let patience = Duration::from_secs(10);
        ServerOptions { roots: Vec::new(), clients_max: 32, clients_of_peer_max: 8, patience }
    }
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    roots: Vec<(PathBuf, OwnedFd)>,
    surveyor: Surveyor,
    options: ServerOptions,
    clients: Mutex<Clients<Arc<TcpStream>>>,
}

impl Server {
    /// Listens at an address. The surveyor asks no other server, even if its configuration names
    /// some.
    ///
    /// # Errors
    /// The address is not available, or a root is not a folder.
    pub fn bind(
        address: impl ToSocketAddrs,
        options: ServerOptions,
        surveyor: Surveyor,
    ) -> Result<Server, Error> {
        let shared = Shared::new(options, surveyor)?;
        let listener = TcpListener::bind(address).map_err(|error| {
            Error::new(ErrorKind::Remote, format!("cannot listen there: {error}"))
        })?;
        Ok(Server { listener, shared: Arc::new(shared) })
    }

    /// The address that it listens at.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the process ends, each client in its own thread. A failed connection does not
    /// end the server, nor does a shortage of descriptors or memory.
    ///
    /// # Errors
    /// The listening socket is broken.
    pub fn run(&self) -> io::Result<()> {
        loop {
            // Without a free descriptor accept(2) fails even if no client waits, and then none need
            // make room.
            let mut waited = [PollFd::new(&self.listener, PollFlags::IN)];
            let _ = poll(&mut waited, None); // if it fails, accept(2) waits
            match self.listener.accept() {
                Ok((stream, peer)) => self.enter(stream, peer.ip()),
                Err(error) if is_final(&error) => return Err(error),
                Err(error) => {
                    if is_shortage(&error) {
                        self.shared.clients().make_room().into_iter().for_each(hang_up);
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
    }

    fn enter(&self, stream: TcpStream, peer: IpAddr) {
        let stream = Arc::new(stream);
        let entered = self.shared.clients().enter(peer, Arc::clone(&stream), Instant::now());
        let number = match entered {
            Entered::Refused(_) => return,
            Entered::As(number, gone) => {
                gone.into_iter().for_each(hang_up);
                number
            }
        };
        let leaving = Leaving(Arc::clone(&self.shared), number);
        // If no thread starts, dropping `leaving` hangs up on the client and takes it out.
        let _ = std::thread::Builder::new().name("seekless-client".to_owned()).spawn(move || {
            let _ = leaving.0.serve(&stream, leaving.1);
        });
    }
}

/// How many clients the process has descriptors for: one for the connection, and those that
/// answering takes.
fn affordable() -> usize {
    const OF_CLIENT: u64 = 4;
    const OTHERS: u64 = 16;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let most = limit.map_or(u64::MAX, |limit| (limit.saturating_sub(OTHERS) / OF_CLIENT).max(1));
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Takes a client out when its thread ends, for any reason.
struct Leaving(Arc<Shared>, u64);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.clients().leave(self.1);
    }
}

/// Ends a connection on which a thread is waiting.
fn hang_up(stream: Arc<TcpStream>) {
    let _ = stream.shutdown(Shutdown::Both); // it may have ended by itself
}

/// Whether every later accept(2) would fail, too. All other errors are about one connection, or
/// pass.
fn is_final(error: &io::Error) -> bool {
    is_one_of(error, &[Errno::BADF, Errno::INVAL, Errno::NOTSOCK, Errno::OPNOTSUPP])
}

/// Whether a client must leave before another can be accepted.
fn is_shortage(error: &io::Error) -> bool {
    is_one_of(error, &[Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM])
}

fn is_one_of(error: &io::Error, list: &[Errno]) -> bool {
    error.raw_os_error().is_some_and(|code| list.iter().any(|errno| errno.raw_os_error() == code))
}

fn opened_root(root: &Path) -> Result<(PathBuf, OwnedFd), Error> {
    let said = |error| Error::io(root, error);
    let path = root.canonicalize().map_err(said)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder =
        rustix::fs::openat(CWD, &path, flags, Mode::empty()).map_err(|error| said(error.into()))?;
    Ok((path, folder))
}

impl Shared {
    fn new(options: ServerOptions, surveyor: Surveyor) -> Result<Self, Error> {
        let roots = options
            .roots
            .iter()
            .map(|root| opened_root(root))
            .collect::<Result<Vec<_>, Error>>()?;
        let clients_max = options.clients_max.min(affordable());
        let clients = Mutex::new(Clients::new(clients_max, options.clients_of_peer_max));
        Ok(Shared { roots, surveyor: surveyor.without_remotes(), options, clients })
    }

    fn clients(&self) -> MutexGuard<'_, Clients<Arc<TcpStream>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves one client until it hangs up, is too slow, or must make room.
    fn serve(&self, stream: &TcpStream, number: u64) -> io::Result<()> {
        stream.set_nodelay(true)?;
        self.converse(stream, |silent| self.clients().is_silent_since(number, silent))
    }

    /// Answers one question after the other. `stays` is given the time since when the client has
    /// been silent, or `None` while an answer is being made; it returns whether the client may
    /// stay.
    fn converse(
        &self,
        stream: &impl Wire,
        mut stays: impl FnMut(Option<Instant>) -> bool,
    ) -> io::Result<()> {
        let mut surveyor = self.surveyor.clone();
        let deadline = || Instant::now() + self.options.patience;
        while let Some(line) = read_line(stream, QUESTION_BYTES_MAX, deadline())? {
            if !stays(None) {
                break;
            }
            let text = match self.answer(&mut surveyor, &line) {
                Ok((sleds, bytes)) => written(&sleds, bytes)?,
                Err(why) => serde_json::to_vec(&Answer::error(why))?,
            };
            // From here on the client must act: fetch the answer, or ask again.
            if !stays(Some(Instant::now())) {
                break;
            }
            write_line(stream, &[&text[..], b"\n"].concat(), deadline())?;
        }
        Ok(())
    }

    fn answer(&self, surveyor: &mut Surveyor, line: &[u8]) -> Result<(Vec<Sled>, u64), String> {
        let question: Question = serde_json::from_slice(line).map_err(|_| "not understood")?;
        if question.seekless != VERSION {
            return Err(format!("this is version {VERSION}"));
        }
        let path = Path::new(&question.path);
        let deadline = Instant::now() + SHORTAGE;
        loop {
            match self.find(path).and_then(|file| surveyor.held(&file)) {
                Ok(survey) => return Ok((survey.sleds, survey.bytes)),
                // Clients that were made to leave close their descriptors soon.
                Err(error) if error.io_error().is_some_and(is_shortage) => {
                    if Instant::now() > deadline {
                        return Err("this server has too many open files".to_owned());
                    }
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(error) => return Err(refusal(&error).to_owned()),
            }
        }
    }

    /// A handle (`O_PATH`) on a file below one of the roots, which neither opens nor recalls it.
    /// Files
    /// outside, and those that cannot be reached, are missing.
    fn find(&self, path: &Path) -> Result<OwnedFd, Error> {
        let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
        let below = self
            .roots
            .iter()
            .find_map(|(root, folder)| Some((folder, path.strip_prefix(root).ok()?)));
        let below = below.filter(|_| path.components().all(plain));
        let (folder, name) = below.ok_or_else(|| Error::io(path, Errno::NOENT.into()))?;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let missing_unless_short = |error: Errno| match io::Error::from(error) {
            error if is_shortage(&error) => error,
            _ => Errno::NOENT.into(),
        };
        openat2(folder, name, flags, Mode::empty(), within)
            .map_err(|error| Error::io(path, missing_unless_short(error)))
    }
}

/// Why a question has no answer, without more than a client may know.
fn refusal(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotAFile => "not a regular file",
        _ if error.io_error().is_some_and(|error| is_one_of(error, &[Errno::NOENT])) => {
            "no such file"
        }
        _ => "not readable",
    }
}

/// The answer for a file of `bytes`, with as many SLEDs as fit.
fn written(sleds: &[Sled], bytes: u64) -> io::Result<Vec<u8>> {
    let mut sleds_max = SLEDS_MAX;
    loop {
        let text = serde_json::to_vec(&Answer::sleds(bytes, shortened(sleds, bytes, sleds_max)))?;
        if text.len() < ANSWER_BYTES_MAX || sleds_max == 1 {
            return Ok(text);
        }
        sleds_max /= 2; // figures of very many digits
    }
}

/// At most `sleds_max` SLEDs. What follows them is one of unknown level.
fn shortened(sleds: &[Sled], bytes: u64, sleds_max: usize) -> Vec<WireSled> {
    let Some((last, first)) =
        sleds.get(..sleds_max).and_then(<[Sled]>::split_last).filter(|_| sleds.len() > sleds_max)
    else {
        return sleds.iter().map(WireSled::from).collect();
    };
    let (level, confidence) = (Level::Unknown, Confidence::Unknown);
    let rest = Sled { bytes: bytes - last.offset, level, confidence, ..*last };
    first.iter().chain([&rest]).map(WireSled::from).collect()
}

/// A server without network clients: questions reach it in memory. For the fuzz targets.
#[doc(hidden)]
#[derive(Debug)]
pub struct Unconnected(Shared);

impl Unconnected {
    /// Serves the files below `root`.
    ///
    /// # Errors
    /// It is no folder.
    pub fn new(root: &Path, surveyor: Surveyor) -> Result<Self, Error> {
        let options = ServerOptions { roots: vec![root.to_owned()], ..ServerOptions::default() };
        Shared::new(options, surveyor).map(Unconnected)
    }

    /// Its answer to a client that sends these bytes, some at a time.
    ///
    /// # Errors
    /// Why it hung up.
    pub fn talk(&self, said: &[u8], at_a_time: usize) -> (Vec<u8>, io::Result<()>) {
        let memory = Memory {
            said: RefCell::new(said),
            at_a_time: at_a_time.max(1),
            received: RefCell::default(),
        };
        let ended = self.0.converse(&memory, |_| true);
        (memory.received.into_inner(), ended)
    }
}

/// A client that sends its bytes, and takes the answer.
struct Memory<'a> {
    said: RefCell<&'a [u8]>,
    at_a_time: usize,
    received: RefCell<Vec<u8>>,
}

impl Wire for Memory<'_> {
    fn read_within(&self, buffer: &mut [u8], _: Duration) -> io::Result<usize> {
        let most = self.at_a_time.min(buffer.len());
        self.said.borrow_mut().read(&mut buffer[..most])
    }

    fn write_within(&self, bytes: &[u8], _: Duration) -> io::Result<usize> {
        let taken = &bytes[..bytes.len().min(self.at_a_time)];
        self.received.borrow_mut().extend_from_slice(taken);
        Ok(taken.len())
    }
}

#[cfg(test)]
mod tests;
