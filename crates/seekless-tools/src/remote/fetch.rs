//! Fetches an object into a file without a name, in large ranges of which several are read at once.

use super::Watch;
use seekless_engine::{AlignedBuf, Completion, Engine, Opened, Read};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// The end of the object that comes with the request that opens it: most lists and profiles are
/// smaller.
const FIRST_BYTES: u64 = 2 << 20;
/// One range. Services advise 8 to 16 MB.
const PIECE_BYTES: u64 = 8 << 20;
/// Ranges that are read at once, each in memory.
const PIECES_AT_ONCE: u64 = 16;
/// How often to look whether the user wants it to end.
const LOOK: Duration = Duration::from_millis(100);

/// Fetches the object that `path` names into the folder for temporary files. It uses at most
/// 130 MiB of memory.
///
/// # Errors
/// The object cannot be read, there is no room for it, or the user ends it.
pub(super) fn fetch(engine: &dyn Engine, path: &Path, watch: Watch) -> io::Result<File> {
    let absent = || Err(io::ErrorKind::NotFound.into());
    let opened = engine.open(path, FIRST_BYTES).unwrap_or_else(absent)?;
    let file = tempfile::tempfile().map_err(|error| no_room(opened.bytes, &error))?;
    check_room(&file, opened.bytes)?;
    let rest = opened.bytes - opened.tail.len() as u64;
    write(&file, &opened.tail, rest, opened.bytes)?;
    let mut progress = (watch.progress)(format!("Fetching {}", path.display()));
    let (done, ended) = mpsc::channel();
    let (mut asked, mut written) = (0, 0);
    while written < rest {
        while asked < rest && asked - written < PIECES_AT_ONCE * PIECE_BYTES {
            let bytes = PIECE_BYTES.min(rest - asked);
            engine.submit(vec![piece(&opened, asked, bytes, &done)?]);
            asked += bytes;
        }
        let Completion { tag, buffer, result, .. } = next(&ended, watch)?;
        let bytes = result?;
        if bytes as u64 != PIECE_BYTES.min(rest - tag) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        write(&file, &buffer, tag, opened.bytes)?;
        written += bytes as u64;
        progress(written, rest);
    }
    Ok(file)
}

fn piece(opened: &Opened, offset: u64, bytes: u64, done: &Sender<Completion>) -> io::Result<Read> {
    let buffer = AlignedBuf::try_with_capacity(bytes as usize)?;
    Ok(Read { file: opened.file.clone(), offset, buffer, tag: offset, done: done.clone().into() })
}

fn next(ended: &Receiver<Completion>, watch: Watch) -> io::Result<Completion> {
    loop {
        match ended.recv_timeout(LOOK) {
            Ok(completion) => return Ok(completion),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the thread of requests has ended"));
            }
            Err(RecvTimeoutError::Timeout) if (watch.is_cancelled)() => {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "it was interrupted"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn write(file: &File, bytes: &[u8], offset: u64, whole: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset).map_err(|error| no_room(whole, &error))
}

/// Refuses an object that would not fit, before any of it is fetched.
fn check_room(file: &File, bytes: u64) -> io::Result<()> {
    let about = rustix::fs::fstatvfs(file)?;
    match about.f_bavail.saturating_mul(about.f_frsize) {
        free if free < bytes => Err(no_room(bytes, &format!("{free} bytes are free"))),
        _ => Ok(()),
    }
}

fn no_room(bytes: u64, why: &dyn std::fmt::Display) -> io::Error {
    let message = format!(
        "no room for its {bytes} bytes in {}: {why}; set TMPDIR to a folder that has it",
        std::env::temp_dir().display()
    );
    io::Error::new(io::ErrorKind::StorageFull, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_what_to_do() {
        let file = tempfile::tempfile().unwrap();
        check_room(&file, 1).unwrap();
        let error = check_room(&file, u64::MAX).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().contains("set TMPDIR to a folder that has it"), "{error}");
    }
}
