//! Writes an object: whole or not at all. A large one goes in parts, several at once.

use crate::connector::{Connector, OnComplete};
use crate::fault::{Fault, Kind};
use crate::object::Located;
use crate::provider;
use crate::runtime::Runtime;
use crate::{Access, Settings, object};
use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt};
use object_store::{
    Attribute, Attributes, BackoffConfig, GetOptions, MultipartUpload, PutMode,
    PutMultipartOptions, PutOptions, RetryConfig, UpdateVersion,
};
use seekless_engine::{ObjectName, Scheme};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// A smaller object goes in one request, and others in parts of at least this.
const PART_BYTES_MIN: u64 = 8 << 20;
/// What providers allow is 10,000.
const PARTS_MAX: u64 = 9000;
/// Parts on their way at once. Each is in memory.
pub(crate) const PARTS_AT_ONCE: usize = 4;
/// Names an upload in what it makes, so that its maker knows it again. Azure allows no hyphen.
const TOKEN: &str = "seeklessupload";

/// A version of an object, by what its provider names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub(crate) e_tag: Option<String>,
    pub(crate) generation: Option<String>,
}

/// Whether an object may be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// There must be none of this name, also when the last part has been written.
    New,
    /// One that is there is replaced.
    Any,
    /// It must still be this version.
    Same(Version),
}

/// Writes `content` as the object `name`, which appears whole or not at all. Calls `progress` with
/// the bytes written; if it returns false, the upload is given up.
///
/// With [`Condition::New`] and [`Condition::Same`] the provider itself refuses to replace another
/// object, so that of two writers one gets an error. Azure does that only for objects of up to
/// 8 MiB: a larger one is looked for before its parts are written.
///
/// # Errors
/// `AlreadyExists`: there is such an object. `StaleNetworkFileHandle`: it is another version. Else
/// the message says what failed, and that the parts were removed, or that they were not.
pub fn put(
    name: &ObjectName,
    content: Arc<File>,
    condition: Condition,
    access: &Access,
    settings: &Settings,
    progress: impl FnMut(u64) -> bool + Send + 'static,
) -> io::Result<()> {
    let bytes = content.metadata()?.len();
    let target = Target::new(name, condition, access, settings)?;
    let upload = Upload { target, content, bytes };
    Runtime::start()?.wait(upload.run(progress))
}

/// Refuses at once what [`put`] would refuse after long work.
///
/// # Errors
/// As [`put`], as far as a request for the object shows it.
pub fn check(
    name: &ObjectName,
    condition: Condition,
    access: &Access,
    settings: &Settings,
) -> io::Result<()> {
    let target = Target::new(name, condition, access, settings)?;
    Runtime::start()?.wait(async move { target.check().await })
}

pub(crate) fn on_complete(scheme: Scheme, condition: &Condition) -> OnComplete {
    const GENERATION: &str = "x-goog-if-generation-match";
    match (condition, scheme) {
        (Condition::New, Scheme::S3) => OnComplete::Require("if-none-match", "*".to_owned()),
        (Condition::New, Scheme::Gs) => OnComplete::Require(GENERATION, "0".to_owned()),
        (Condition::Same(Version { e_tag: Some(tag), .. }), Scheme::S3) => {
            OnComplete::Require("if-match", tag.clone())
        }
        (Condition::Same(Version { generation: Some(generation), .. }), Scheme::Gs) => {
            OnComplete::Require(GENERATION, generation.clone())
        }
        _ => OnComplete::Replace,
    }
}

/// # Errors
/// `name` is of a web server.
pub(crate) fn refuse_web(name: &ObjectName) -> io::Result<()> {
    let message = "a web server takes no objects: name it as s3://, gs:// or az://";
    match name.scheme().is_web() {
        true => Err(io::Error::new(io::ErrorKind::Unsupported, message)),
        false => Ok(()),
    }
}

/// Where an object lies, by requests that are made again until the deadline.
pub(crate) fn located(
    name: &ObjectName,
    access: &Access,
    settings: &Settings,
) -> io::Result<Located> {
    reached(name, access, settings, Connector::default())
}

fn reached(
    name: &ObjectName,
    access: &Access,
    settings: &Settings,
    connector: Connector,
) -> io::Result<Located> {
    let service = provider::build(name, access, retries(settings), connector)?;
    Ok(Located::at(service, provider::path(name)?))
}

/// Requests that are made again until the deadline.
pub(crate) fn retries(settings: &Settings) -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: settings.pause_min,
            max_backoff: settings.pause_max,
            base: 2.0,
        },
        max_retries: 100,
        retry_timeout: settings.deadline,
    }
}

/// Different for each upload.
fn token() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{:x}-{count:x}", std::process::id(), time.as_nanos())
}

/// An object that is to be made.
pub(crate) struct Target {
    pub(crate) at: Located,
    condition: Condition,
    token: String,
}

impl Target {
    pub(crate) fn new(
        name: &ObjectName,
        condition: Condition,
        access: &Access,
        settings: &Settings,
    ) -> io::Result<Self> {
        refuse_web(name)?;
        let connector = Connector::new(on_complete(name.scheme(), &condition));
        let at = reached(name, access, settings, connector)?;
        Ok(Self { at, condition, token: token() })
    }

    /// The provider says that there is such an object. If that is ours, an answer was lost, and the
    /// request was made again.
    pub(crate) async fn conflicted(&self) -> io::Result<()> {
        match self.found().await {
            Ok(Some((token, _))) if token == self.token => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => Err(error),
            _ => Err(self.refused()),
        }
    }

    /// The error of an object that is not to be replaced.
    fn refused(&self) -> io::Error {
        match self.condition {
            Condition::Same(_) => Fault::replaced(Kind::Lasting).into(),
            Condition::New | Condition::Any => exists(),
        }
    }

    /// Refuses an object that is there and is not to be replaced, as far as that shows. A user who
    /// may only write is refused the question: then the write itself decides.
    pub(crate) async fn check(&self) -> io::Result<()> {
        if self.condition == Condition::Any {
            return Ok(());
        }
        match (self.found().await, &self.condition) {
            (Ok(None), Condition::New) => Ok(()),
            (Ok(Some((_, tag))), Condition::Same(version)) if tag == version.e_tag => Ok(()),
            (Ok(_), _) => Err(self.refused()),
            (Err(error), _) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            (Err(error), _) => Err(error),
        }
    }

    /// The token of the object of this name, empty if it has none, and its tag; `None` if there is
    /// no object.
    async fn found(&self) -> io::Result<Option<(String, Option<String>)>> {
        let ask = GetOptions { head: true, ..GetOptions::new() };
        match self.at.store.get_opts(&self.at.path, ask).await {
            Ok(found) => {
                let token = found.attributes.get(&Attribute::Metadata(TOKEN.into()));
                let token = token.map(|token| token.to_string()).unwrap_or_default();
                Ok(Some((token, found.meta.e_tag.clone())))
            }
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(Fault::of(&error).into()),
        }
    }

    pub(crate) fn attributes(&self) -> Attributes {
        Attributes::from_iter([(Attribute::Metadata(TOKEN.into()), self.token.clone())])
    }
}

/// An object on its way.
struct Upload {
    target: Target,
    content: Arc<File>,
    bytes: u64,
}

impl Upload {
    async fn run(self, mut progress: impl FnMut(u64) -> bool) -> io::Result<()> {
        self.target.check().await?;
        let made = match self.bytes <= PART_BYTES_MIN {
            true => self.at_once().await,
            false => self.in_parts(&mut progress).await?,
        };
        match made.map_err(|error| Fault::of(&error)) {
            Ok(()) => {
                progress(self.bytes);
                Ok(())
            }
            Err(Fault { kind: Kind::Lasting(io::ErrorKind::StaleNetworkFileHandle), .. }) => {
                self.target.conflicted().await
            }
            Err(fault) if fault.kind == Kind::Lasting(io::ErrorKind::AlreadyExists) => {
                self.target.conflicted().await
            }
            Err(fault) => Err(fault.into()),
        }
    }

    async fn at_once(&self) -> object_store::Result<()> {
        let content = self.part(0..self.bytes).map_err(unreadable)?;
        let mode = match &self.target.condition {
            Condition::New => PutMode::Create,
            Condition::Any => PutMode::Overwrite,
            Condition::Same(Version { e_tag, generation }) => {
                PutMode::Update(UpdateVersion { e_tag: e_tag.clone(), version: generation.clone() })
            }
        };
        let options =
            PutOptions { mode, attributes: self.target.attributes(), ..PutOptions::default() };
        self.target.at.store.put_opts(&self.target.at.path, content.into(), options).await.map(drop)
    }

    /// The inner result is that of making one object of the parts. If a part fails, all are
    /// removed.
    async fn in_parts(
        &self,
        progress: &mut impl FnMut(u64) -> bool,
    ) -> io::Result<object_store::Result<()>> {
        let options = PutMultipartOptions {
            attributes: self.target.attributes(),
            ..PutMultipartOptions::default()
        };
        let begun = self.target.at.store.put_multipart_opts(&self.target.at.path, options).await;
        let mut upload = begun.map_err(|error| io::Error::from(Fault::of(&error)))?;
        if let Err(error) = self.send_parts(&mut *upload, progress).await {
            return Err(given_up(&mut *upload, error).await);
        }
        let made = upload.complete().await;
        if made.is_err() {
            // After a refusal the parts are still there. If the object is ours, this does nothing.
            let _ = upload.abort().await;
        }
        Ok(made.map(drop))
    }

    async fn send_parts(
        &self,
        upload: &mut dyn MultipartUpload,
        progress: &mut impl FnMut(u64) -> bool,
    ) -> io::Result<()> {
        let part_bytes = self.bytes.div_ceil(PARTS_MAX).max(PART_BYTES_MIN);
        let mut waiting = FuturesUnordered::new();
        let (mut sent, mut done) = (0, 0);
        loop {
            while sent < self.bytes && waiting.len() < PARTS_AT_ONCE {
                let end = (sent + part_bytes).min(self.bytes);
                let part = upload.put_part(self.part(sent..end)?.into());
                let bytes = end - sent;
                waiting.push(async move { part.await.map(|()| bytes) });
                sent = end;
            }
            match waiting.next().await {
                None => return Ok(()),
                Some(Ok(bytes)) => done += bytes,
                Some(Err(error)) => return Err(Fault::of(&error).into()),
            }
            if !progress(done) {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "it was interrupted"));
            }
        }
    }

    fn part(&self, range: Range<u64>) -> io::Result<Bytes> {
        part(&self.content, range)
    }
}

/// A range of a file.
pub(crate) fn part(content: &File, range: Range<u64>) -> io::Result<Bytes> {
    let mut part = vec![0; object::length(range.end - range.start)?];
    content.read_exact_at(&mut part, range.start)?;
    Ok(part.into())
}

/// Removes the parts of an upload that failed. The error says so, or that they are still there.
async fn given_up(upload: &mut dyn MultipartUpload, error: io::Error) -> io::Error {
    let aborted = upload.abort().await;
    gave_up(&error, aborted.is_ok())
}

/// The error of an upload that failed, whose parts were removed or not.
pub(crate) fn gave_up(error: &io::Error, removed: bool) -> io::Error {
    let after = match removed {
        true => "; nothing was left behind",
        false => {
            "; its parts could not be removed: a lifecycle rule of the bucket should remove \
                   uploads that were not completed"
        }
    };
    io::Error::new(error.kind(), format!("{error}{after}"))
}

fn exists() -> io::Error {
    let message = "exists already; give --force to replace it";
    io::Error::new(io::ErrorKind::AlreadyExists, message)
}

fn unreadable(error: io::Error) -> object_store::Error {
    object_store::Error::Generic { store: "file", source: Box::new(error) }
}
