//! Fetches an object into a file without a name, in large ranges of which several are read at once.

use super::Watch;
use seekless_engine::{AlignedBuf, Completion, Engine, Opened, Read};
use std::collections::HashMap;
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
const PIECES_AT_ONCE: usize = 16;
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
    whole(engine, &opened, &path.display().to_string(), watch)
}

/// As [`fetch`], of an object that is open, which messages call `name`.
///
/// # Errors
/// As [`fetch`].
pub(super) fn whole(
    engine: &dyn Engine,
    opened: &Opened,
    name: &str,
    watch: Watch,
) -> io::Result<File> {
    let file = tempfile::tempfile().map_err(|error| no_room(opened.bytes, &error))?;
    check_room(&file, opened.bytes)?;
    let rest = opened.bytes - opened.tail.len() as u64;
    write(&file, &opened.tail, rest, opened.bytes)?;
    let all = Piece { from: 0, to: 0, bytes: rest };
    ranges(engine, opened, [all].into_iter(), &file, name, watch)?;
    Ok(file)
}

/// Bytes of an object, and where they go in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) bytes: u64,
}

/// Reads pieces of an object into a file, in the same way. Messages call it `name`.
///
/// # Errors
/// As [`fetch`].
pub(super) fn ranges(
    engine: &dyn Engine,
    opened: &Opened,
    pieces: impl Iterator<Item = Piece> + Clone,
    file: &File,
    name: &str,
    watch: Watch,
) -> io::Result<()> {
    let all: u64 = pieces.clone().map(|piece| piece.bytes).sum();
    let mut progress = (watch.progress)(format!("Fetching {name}"));
    let (done, ended) = mpsc::channel();
    let mut waiting = pieces.flat_map(cut);
    let mut under_way: HashMap<u64, Piece> = HashMap::new();
    let mut written = 0;
    loop {
        while under_way.len() < PIECES_AT_ONCE
            && let Some(piece) = waiting.next()
        {
            engine.submit(vec![read(opened, piece, &done)?]);
            under_way.insert(piece.to, piece);
        }
        if under_way.is_empty() {
            return Ok(());
        }
        let Completion { tag, buffer, result, .. } = next(&ended, watch)?;
        let bytes = result? as u64;
        match under_way.remove(&tag) {
            Some(piece) if piece.bytes == bytes => {}
            _ => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        write(file, &buffer, tag, all)?;
        written += bytes;
        progress(written, all);
    }
}

/// Pieces that are read by one request each.
fn cut(piece: Piece) -> impl Iterator<Item = Piece> {
    (0..piece.bytes).step_by(PIECE_BYTES as usize).map(move |at| Piece {
        from: piece.from + at,
        to: piece.to + at,
        bytes: PIECE_BYTES.min(piece.bytes - at),
    })
}

fn read(opened: &Opened, piece: Piece, done: &Sender<Completion>) -> io::Result<Read> {
    let buffer = AlignedBuf::try_with_capacity(piece.bytes as usize)?;
    let (file, done) = (opened.file.clone(), done.clone().into());
    Ok(Read { file, offset: piece.from, buffer, tag: piece.to, done })
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
