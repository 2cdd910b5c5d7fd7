//! One read: asks for a range until all of it has come, and never beyond the deadline.

use crate::Settings;
use crate::fault::{Fault, Kind};
use crate::learned::Learned;
use crate::object::{Located, Object};
use crate::pause::Pauses;
use futures_util::future::{Either, select};
use futures_util::stream::{BoxStream, StreamExt};
use object_store::{GetOptions, GetResult};
use std::io;
use std::ops::Range;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};

/// Odd answers in a row after which it is an error.
const ODD_MAX: u32 = 5;

/// What all requests of an engine share.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) settings: Settings,
    pub(crate) learned: Learned,
    /// Requests that may begin.
    streams: Semaphore,
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Client {
    pub(crate) fn new(settings: Settings) -> Self {
        let streams = settings.streams.clamp(1, 1 << 16);
        Self {
            settings,
            learned: Learned::new(streams, settings.hedge_share),
            streams: Semaphore::new(streams as usize),
            requests: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Requests made and bytes received.
    pub(crate) fn counted(&self) -> (u64, u64) {
        (self.requests.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Fills `buffer` with the bytes of `object` from `offset` on, which it has.
    pub(crate) async fn read(
        &self,
        object: &Object,
        offset: u64,
        buffer: &mut [u8],
    ) -> io::Result<()> {
        let mut filled = 0;
        let end = offset + buffer.len() as u64;
        let mut tries = Tries::new(&self.settings);
        while filled < buffer.len() {
            let before = filled;
            let from = offset + filled as u64;
            let part = self.part(object, from..end, buffer, &mut filled);
            let fault = match timeout_at(tries.deadline, part).await {
                Ok(Ok(())) => continue,
                Ok(Err(fault)) => fault,
                Err(_) => tries.late(),
            };
            // What brings bytes goes on.
            if filled > before {
                tries.odd = 0;
            }
            tries
                .wait(fault)
                .await
                .map_err(|error| within(&format!("bytes {offset} to {}", end - 1), error))?;
        }
        Ok(())
    }

    /// Answers `ask` as a whole, which is about no object that is open yet.
    pub(crate) async fn first(
        &self,
        at: &Located,
        ask: GetOptions,
    ) -> io::Result<(GetResultHead, Vec<u8>)> {
        let mut tries = Tries::new(&self.settings);
        loop {
            let answer = timeout_at(tries.deadline, self.whole(at, ask.clone())).await;
            let fault = match answer {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(fault)) => fault,
                Err(_) => tries.late(),
            };
            tries.wait(fault).await?;
        }
    }

    async fn whole(
        &self,
        at: &Located,
        ask: GetOptions,
    ) -> Result<(GetResultHead, Vec<u8>), Fault> {
        let _turn = self.streams.acquire().await;
        let result = self.request(at, ask.clone()).await?;
        let head = GetResultHead { meta: result.meta.clone(), range: result.range.clone() };
        let bytes = if ask.head { 0 } else { head.range.end - head.range.start };
        let length = crate::object::length(bytes)
            .map_err(|_| Fault::lasting(io::ErrorKind::OutOfMemory, "it does not fit in memory"))?;
        let (mut content, mut filled) = (vec![0; length], 0);
        if length > 0 {
            self.receive(result.into_stream(), &mut content, &mut filled).await?;
        }
        Ok((head, content))
    }

    /// Asks once for `range`, the last bytes of `buffer`, and raises `filled` by what came.
    async fn part(
        &self,
        object: &Object,
        range: Range<u64>,
        buffer: &mut [u8],
        filled: &mut usize,
    ) -> Result<(), Fault> {
        let _turn = self.streams.acquire().await;
        let result = self.begin(object, range).await?;
        object.check(&result.meta)?;
        self.receive(result.into_stream(), buffer, filled).await
    }

    /// The beginning of an answer. Where it pays, a request that is late is made a second time, and
    /// the first answer counts.
    async fn begin(&self, object: &Object, range: Range<u64>) -> Result<GetResult, Fault> {
        let ask = || self.request(&object.at, object.options(range.clone()));
        let mut first = pin!(ask());
        let Some(late_after) = self.learned.late_after() else { return first.await };
        if let Ok(answer) = timeout(late_after, &mut first).await {
            return answer;
        }
        if !self.learned.hedge() {
            return first.await;
        }
        match select(first, pin!(ask())).await {
            Either::Left((Ok(answer), _)) | Either::Right((Ok(answer), _)) => Ok(answer),
            Either::Left((Err(_), second)) => second.await,
            Either::Right((Err(_), first)) => first.await,
        }
    }

    async fn request(&self, at: &Located, ask: GetOptions) -> Result<GetResult, Fault> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.learned.asked();
        let began = Instant::now();
        let answer = timeout(self.settings.patience, at.store.get_opts(&at.path, ask)).await;
        match answer {
            Ok(Ok(result)) => {
                self.learned.began(began.elapsed());
                Ok(result)
            }
            Ok(Err(error)) => Err(Fault::of(&error)),
            Err(_) => Err(Fault::passing("the server did not answer in time")),
        }
    }

    /// Takes a body, which must bring just what is missing of `buffer`.
    async fn receive(
        &self,
        mut body: BoxStream<'static, object_store::Result<bytes::Bytes>>,
        buffer: &mut [u8],
        filled: &mut usize,
    ) -> Result<(), Fault> {
        let (began, before) = (Instant::now(), *filled);
        loop {
            let piece = match timeout(self.settings.patience, body.next()).await {
                Ok(Some(Ok(piece))) => piece,
                Ok(Some(Err(error))) => return Err(Fault::of(&error)),
                Ok(None) if *filled == buffer.len() => break,
                Ok(None) => return Err(Fault::passing("the answer ended early")),
                Err(_) => return Err(Fault::passing("the server stopped sending")),
            };
            self.bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
            let Some(place) = buffer.get_mut(*filled..*filled + piece.len()) else {
                *filled = before;
                let words = "the server sends more than was asked for";
                return Err(Fault::odd(io::ErrorKind::InvalidData, words));
            };
            place.copy_from_slice(&piece);
            *filled += piece.len();
        }
        self.learned.ended((*filled - before) as u64, began.elapsed());
        Ok(())
    }
}

/// What an answer says of its object, and which part it brought.
#[derive(Debug)]
pub(crate) struct GetResultHead {
    pub(crate) meta: object_store::ObjectMeta,
    pub(crate) range: Range<u64>,
}

/// The tries of one read.
struct Tries {
    deadline: Instant,
    began: Instant,
    pauses: Pauses,
    made: u32,
    odd: u32,
    /// What was wrong with the last one.
    last: Option<String>,
}

impl Tries {
    fn new(settings: &Settings) -> Self {
        let began = Instant::now();
        let deadline = began + settings.deadline;
        Self { deadline, began, pauses: Pauses::new(settings), made: 0, odd: 0, last: None }
    }

    /// The deadline came during a try: what was wrong before says more than that.
    fn late(&mut self) -> Fault {
        let words = self.last.take();
        Fault::passing(words.unwrap_or_else(|| "the server did not answer in time".to_owned()))
    }

    /// Waits before the next try.
    ///
    /// # Errors
    /// `fault` stays whatever is tried, or the deadline comes first.
    async fn wait(&mut self, fault: Fault) -> io::Result<()> {
        self.made += 1;
        match fault.kind {
            Kind::Lasting(kind) => return Err(io::Error::new(kind, fault.words)),
            Kind::Odd(kind) => {
                self.odd += 1;
                if self.odd >= ODD_MAX {
                    return Err(io::Error::new(kind, fault.words));
                }
            }
            Kind::Passing => {}
        }
        let next = Instant::now() + self.pauses.next();
        if next >= self.deadline {
            let (tries, seconds) = (self.made, self.began.elapsed().as_secs_f64());
            let message = format!(
                "{}, in {tries} tries within {seconds:.1} s; the storage is overloaded or cannot \
                 be reached: try again later",
                fault.words
            );
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        self.last = Some(fault.words);
        tokio::time::sleep_until(next).await;
        Ok(())
    }
}

/// The error of a read, which names the range.
fn within(range: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{range}: {error}"))
}
