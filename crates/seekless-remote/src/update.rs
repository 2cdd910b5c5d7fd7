//! Changes a small object in one step: it is read, and written only if it is still that version.
//! If another writer was faster, all begins anew with what that one wrote. So none of several
//! writers at once loses what another wrote.

use crate::fault::{Fault, Kind};
use crate::object::{self, Located};
use crate::pause::Pauses;
use crate::put;
use crate::runtime::Runtime;
use crate::{Access, Settings};
use bytes::Bytes;
use object_store::{Error, GetOptions, PutMode, PutOptions, UpdateVersion};
use seekless_engine::ObjectName;
use std::future::Future;
use std::io;
use std::thread;
use std::time::Duration;
use tokio::time::Instant;

/// What there was of an object, and how to name that version.
type Found = Option<(Bytes, UpdateVersion)>;

/// Gives `change` the content of the object `name`, `None` if it does not exist, and writes what it
/// returns; if that is `None`, the object stays as it is. `change` is called again if the object
/// was changed meanwhile. All of it ends within [`Settings::deadline`].
///
/// # Errors
/// The object has more than `bytes_max` bytes, or cannot be read or written; `change` fails; a web
/// server is to be written to; it was changed by others each time until the deadline.
pub fn update(
    name: &ObjectName,
    bytes_max: u64,
    access: &Access,
    settings: &Settings,
    mut change: impl FnMut(Option<&[u8]>) -> io::Result<Option<Vec<u8>>>,
) -> io::Result<()> {
    let at = put::located(name, access, settings)?;
    let (runtime, mut pauses) = (Runtime::start()?, Pauses::new(settings));
    let deadline = Instant::now() + settings.deadline;
    loop {
        let found = read(at.clone(), bytes_max);
        let (content, mode) = match runtime.wait(by(deadline, found))? {
            None => (None, PutMode::Create),
            Some((content, version)) => (Some(content), PutMode::Update(version)),
        };
        let Some(new) = change(content.as_deref())? else { return Ok(()) };
        put::refuse_web(name)?;
        let why = match runtime.wait(by(deadline, write(at.clone(), new.into(), mode)))? {
            Written::Whole => return Ok(()),
            Written::Overtaken => "others change it all the time: try again later".to_owned(),
            Written::Unclear(why) => why,
        };
        let pause = pauses.next();
        if Instant::now() + pause >= deadline {
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        thread::sleep(pause);
    }
}

async fn by<T>(deadline: Instant, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "the server did not answer in time");
    tokio::time::timeout_at(deadline, work).await.map_err(late)?
}

async fn read(at: Located, bytes_max: u64) -> io::Result<Found> {
    /// A body that ends early is asked for again.
    const PAUSE: Duration = Duration::from_millis(50);
    loop {
        let answer = match at.store.get_opts(&at.path, GetOptions::new()).await {
            Ok(answer) => answer,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(Fault::of(&error).into()),
        };
        let (bytes, meta) = (answer.meta.size, answer.meta.clone());
        if bytes > bytes_max {
            let why = format!("it has {bytes} bytes, and {bytes_max} are the most here");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        match answer.bytes().await {
            Ok(content) if content.len() == object::length(bytes)? => {
                let version = UpdateVersion { e_tag: meta.e_tag, version: meta.version };
                return Ok(Some((content, version)));
            }
            Err(error) if Fault::of(&error).kind != Kind::Passing => {
                return Err(Fault::of(&error).into());
            }
            _ => tokio::time::sleep(PAUSE).await,
        }
    }
}

enum Written {
    Whole,
    /// Another writer was faster.
    Overtaken,
    /// The answer was lost, so it may have been written. This says how.
    Unclear(String),
}

async fn write(at: Located, content: Bytes, mode: PutMode) -> io::Result<Written> {
    let options = PutOptions { mode, ..PutOptions::default() };
    let error = match at.store.put_opts(&at.path, content.into(), options).await {
        Ok(_) => return Ok(Written::Whole),
        Err(error) => error,
    };
    if let Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotFound { .. } = error
    {
        return Ok(Written::Overtaken);
    }
    let fault = Fault::of(&error);
    match fault.kind {
        Kind::Passing => Ok(Written::Unclear(fault.words)),
        _ => Err(fault.into()),
    }
}
