//! Telling another machine what lies where: `seekless sleds --serve`. Read-only, below given folders only, bounded in everything.

use crate::wire::{Answer, QUESTION_BYTES_MAX, Question, SLEDS_MAX, VERSION, WireSled, read_line};
use crate::{Confidence, Error, ErrorKind, Level, Sled, Surveyor};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How much a server does for its clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// Only files below these folders are told about.
    pub roots: Vec<PathBuf>,
    /// Clients served at once; more are turned away.
    pub clients_max: usize,
    /// How long a client may take for a question or for fetching an answer.
    pub patience: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions { roots: Vec::new(), clients_max: 32, patience: Duration::from_secs(10) }
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
    clients: AtomicUsize,
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
        let shared = Shared { roots, surveyor, options, clients: AtomicUsize::new(0) };
        Ok(Server { listener, shared: Arc::new(shared) })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the process ends, each client in a thread of its own.
    ///
    /// # Errors
    /// No more connections can be accepted.
    pub fn run(&self) -> io::Result<()> {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if is_passing(&error) => {
                    std::thread::sleep(Duration::from_millis(20));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let shared = Arc::clone(&self.shared);
            if shared.clients.fetch_add(1, Ordering::SeqCst) >= shared.options.clients_max {
                shared.clients.fetch_sub(1, Ordering::SeqCst);
                continue; // hung up
            }
            let leaving = Leaving(shared);
            // Without a thread, the client is hung up on and counted out.
            let _ = std::thread::Builder::new().name("seekless-client".to_owned()).spawn(move || {
                let _ = leaving.0.serve(stream);
            });
        }
    }
}

/// Counts a client out, however its thread ends.
struct Leaving(Arc<Shared>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::SeqCst);
    }
}

fn is_passing(error: &io::Error) -> bool {
    use rustix::io::Errno;
    const PASSING: [Errno; 5] = [Errno::CONNABORTED, Errno::INTR, Errno::MFILE, Errno::NFILE, Errno::NOBUFS];
    error.raw_os_error().is_some_and(|code| PASSING.iter().any(|errno| errno.raw_os_error() == code))
}

fn opened_root(root: &Path) -> Result<(PathBuf, OwnedFd), Error> {
    let said = |error| Error::io(root, error);
    let path = root.canonicalize().map_err(said)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(CWD, &path, flags, Mode::empty()).map_err(|error| said(error.into()))?;
    Ok((path, folder))
}

impl Shared {
    /// Questions and answers in turn, until the client hangs up or is too slow.
    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(self.options.patience))?;
        let mut surveyor = self.surveyor.clone();
        while let Some(line) = read_line(&mut stream, QUESTION_BYTES_MAX, self.options.patience)? {
            let answer = self.answer(&mut surveyor, &line);
            let mut text = serde_json::to_vec(&answer.unwrap_or_else(|error| Answer::Error { error }))?;
            text.push(b'\n');
            stream.write_all(&text)?;
        }
        Ok(())
    }

    fn answer(&self, surveyor: &mut Surveyor, line: &[u8]) -> Result<Answer, String> {
        let question: Question = serde_json::from_slice(line).map_err(|_| "not understood")?;
        if question.seekless != VERSION {
            return Err(format!("this is version {VERSION}"));
        }
        let file = self.find(Path::new(&question.path))?;
        let survey = surveyor.held(&file).map_err(|error| match error.kind() {
            ErrorKind::NotAFile => "not a regular file",
            _ => "not readable",
        })?;
        Ok(Answer::Sleds { bytes: survey.bytes, sleds: shortened(&survey.sleds, survey.bytes) })
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

/// As many SLEDs as an answer may have; what lies behind them is unknown.
fn shortened(sleds: &[Sled], bytes: u64) -> Vec<WireSled> {
    let Some((last, first)) =
        sleds.get(..SLEDS_MAX).and_then(<[Sled]>::split_last).filter(|_| sleds.len() > SLEDS_MAX)
    else {
        return sleds.iter().map(WireSled::from).collect();
    };
    let (level, confidence) = (Level::Unknown, Confidence::Unknown);
    let rest = Sled { bytes: bytes - last.offset, level, confidence, ..*last };
    first.iter().chain([&rest]).map(WireSled::from).collect()
}
