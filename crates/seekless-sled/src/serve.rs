//! Telling another machine what lies where: `seekless sleds --serve`. Read-only, below given folders only, bounded in everything.

mod clients;

use crate::wire::{
    ANSWER_BYTES_MAX, Answer, QUESTION_BYTES_MAX, Question, SLEDS_MAX, VERSION, WireSled, read_line,
    write_line,
};
use crate::{Confidence, Error, ErrorKind, Level, Sled, Surveyor};
use clients::{Clients, Entered};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How much a server does for its clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// Only files below these folders are told about.
    pub roots: Vec<PathBuf>,
    /// Clients connected at once. One more takes the place of the one that has been silent for longest, or is turned away.
    pub clients_max: usize,
    /// Of those, clients of one address. Each asks one question at a time, so these are its questions at once, too.
    pub clients_of_peer_max: usize,
    /// How long a client may take for a question, and for fetching the whole answer.
    pub patience: Duration,
}

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
    /// Listens at an address. What the surveyor's configuration says of other servers is left out: nobody is asked in turn.
    ///
    /// # Errors
    /// The address cannot be had, or a root is no folder.
    pub fn bind(
        address: impl ToSocketAddrs,
        options: ServerOptions,
        surveyor: Surveyor,
    ) -> Result<Server, Error> {
        let roots = options.roots.iter().map(|root| opened_root(root)).collect::<Result<Vec<_>, Error>>()?;
        let listener = TcpListener::bind(address)
            .map_err(|error| Error::new(ErrorKind::Remote, format!("cannot listen there: {error}")))?;
        let surveyor = surveyor.without_remotes();
        let clients_max = options.clients_max.min(affordable());
        let clients = Mutex::new(Clients::new(clients_max, options.clients_of_peer_max));
        let shared = Shared { roots, surveyor, options, clients };
        Ok(Server { listener, shared: Arc::new(shared) })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the process ends, each client in a thread of its own. A connection that fails, and a shortage of descriptors
    /// or memory, end nothing.
    ///
    /// # Errors
    /// The listener is none (any more).
    pub fn run(&self) -> io::Result<()> {
        loop {
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
        // Without a thread, the client is hung up on and taken out.
        let _ = std::thread::Builder::new().name("seekless-client".to_owned()).spawn(move || {
            let _ = leaving.0.serve(&stream, leaving.1);
        });
    }
}

/// How many clients the process has descriptors for: one for the connection, and those that an answer takes.
fn affordable() -> usize {
    const OF_CLIENT: u64 = 4;
    const OTHERS: u64 = 16;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let most = limit.map_or(u64::MAX, |limit| (limit.saturating_sub(OTHERS) / OF_CLIENT).max(1));
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Takes a client out, however its thread ends.
struct Leaving(Arc<Shared>, u64);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.clients().leave(self.1);
    }
}

/// Ends a connection that a thread is waiting on.
fn hang_up(stream: Arc<TcpStream>) {
    let _ = stream.shutdown(Shutdown::Both); // it may have ended by itself
}

/// Whether no later call can succeed (accept(2)): everything else is about one connection, or passes.
fn is_final(error: &io::Error) -> bool {
    is_one_of(error, &[Errno::BADF, Errno::INVAL, Errno::NOTSOCK, Errno::OPNOTSUPP])
}

/// Whether somebody must leave before anybody can come.
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
    let folder = rustix::fs::openat(CWD, &path, flags, Mode::empty()).map_err(|error| said(error.into()))?;
    Ok((path, folder))
}

impl Shared {
    fn clients(&self) -> MutexGuard<'_, Clients<Arc<TcpStream>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Questions and answers in turn, until the client hangs up, is too slow, or must make room.
    fn serve(&self, stream: &TcpStream, number: u64) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut surveyor = self.surveyor.clone();
        let deadline = || Instant::now() + self.options.patience;
        while let Some(line) = read_line(stream, QUESTION_BYTES_MAX, deadline())? {
            if !self.clients().is_silent_since(number, None) {
                break;
            }
            let text = match self.answer(&mut surveyor, &line) {
                Ok((sleds, bytes)) => written(&sleds, bytes)?,
                Err(why) => serde_json::to_vec(&Answer::error(why))?,
            };
            // From here on the next step is the client's, be it to fetch the answer or to ask again.
            if !self.clients().is_silent_since(number, Some(Instant::now())) {
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
        let file = self.find(Path::new(&question.path))?;
        let survey = surveyor.held(&file).map_err(|error| match error.kind() {
            ErrorKind::NotAFile => "not a regular file",
            _ => "not readable",
        })?;
        Ok((survey.sleds, survey.bytes))
    }

    /// A handle on a file below one of the roots, which neither opens nor recalls it. What lies outside does not exist.
    fn find(&self, path: &Path) -> Result<OwnedFd, &'static str> {
        let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
        let below =
            self.roots.iter().find_map(|(root, folder)| Some((folder, path.strip_prefix(root).ok()?)));
        let (folder, name) = below.filter(|_| path.components().all(plain)).ok_or("no such file")?;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        openat2(folder, name, flags, Mode::empty(), within).map_err(|_| "no such file")
    }
}

/// The answer for a file of `bytes`, with as many SLEDs as it may have.
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

/// At most so many SLEDs; what lies behind them is unknown.
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

#[cfg(test)]
mod tests;
