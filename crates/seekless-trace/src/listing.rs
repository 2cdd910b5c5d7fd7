//! Opens what names files that a program needs: a trace of any format, or a list of paths as
//! `vmtouch -b` reads it. It is opened once, so that it may be a pipe; its first bytes decide.

use crate::compressed::{self, Input};
use crate::error::{Error, ErrorKind, Result};
use crate::file_list::{Again, FileList};
use crate::import::fields::bind_header;
use crate::import::{self, Format, HEAD_BYTES};
use crate::lines::Lines;
use crate::spool;
use crate::trace::{Origin, Trace};
use seekless_sys::file_kind::FileKind;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How many paths of a list are looked for.
const LOOKED_FOR: usize = 16;
/// What the paths of a list begin with that need not be looked for.
const BEGINNINGS: [&[u8]; 3] = [b"/", b"./", b"../"];

/// What names files.
#[derive(Debug)]
pub enum Listing {
    /// The accesses of runs.
    Trace(Trace),
    /// Paths, escaped as a trace's are, each once and in the order of the list.
    Paths(Vec<String>),
}

impl Listing {
    /// Opens a trace, a spool, anything that is imported as it is, or a list of paths, plain or
    /// compressed. A list holds one path a line, which may end in CR LF, or paths with a NUL behind
    /// each. What has no format of a trace is a list if its first path begins with `/`, `./` or
    /// `../`, or one of its first few paths is there; or if it is empty.
    ///
    /// # Errors
    /// It cannot be read, is neither, or `options.cancel` was set. A pipe holds no Parquet file.
    pub fn open(path: &Path, options: &import::Options) -> Result<Self> {
        match Trace::open(path) {
            Err(error) if error.kind() == ErrorKind::NotATrace => {
                Self::of(compressed::open_until(path, &options.cancel)?, path, options)
            }
            opened => opened.map(Listing::Trace),
        }
    }

    fn of(mut input: Input, path: &Path, options: &import::Options) -> Result<Self> {
        let head = input.head(path, HEAD_BYTES)?;
        if head.starts_with(b"PAR1") || head.starts_with(&spool::MAGIC) {
            let message = "is a trace that comes through a pipe, which cannot be read so; write it \
                           to a file and name that";
            return Err(Error::new(ErrorKind::NotATrace, path, message));
        }
        if head.is_empty() {
            return Ok(Listing::Paths(Vec::new()));
        }
        if FileKind::of_head(&head) == Some(FileKind::Zip) {
            return Err(Error::no_trace(path, FileKind::Zip));
        }
        if is_list(path, &head) {
            let end = if head.contains(&0) { 0 } else { b'\n' };
            let lines = Lines::of(input, path).ending_in(end);
            return Ok(Listing::Paths(FileList::of(lines, Again::IsPassedOver)?.paths));
        }
        let trace = import::open_input(path, input, options);
        let trace = trace.map_err(|error| if_list(error, path, &head))?;
        Ok(Listing::Trace(trace.named(path, Origin::Imported)))
    }
}

/// The first paths of a list that begins so.
fn first_paths(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = if head.contains(&0) { 0 } else { b'\n' };
    let path = |line| <[u8]>::strip_suffix(line, b"\r").unwrap_or(line);
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.split(move |&byte| byte == end).map(path).filter(|path| !path.is_empty()).take(LOOKED_FOR)
}

/// Whether a file that begins so is a list of paths.
fn is_list(path: &Path, head: &[u8]) -> bool {
    if Format::of_first_bytes(head).is_some()
        || Format::of_name(path).is_some_and(Format::is_records)
    {
        return false;
    }
    let Some(first) = first_paths(head).next() else { return false };
    let is_here = |path: &[u8]| Path::new(OsStr::from_bytes(path)).symlink_metadata().is_ok();
    BEGINNINGS.iter().any(|beginning| first.starts_with(beginning))
        || !has_form(first, head) && first_paths(head).any(is_here)
}

/// Whether a file that begins so looks like a trace of another format.
fn has_form(first: &[u8], head: &[u8]) -> bool {
    let names: Vec<String> = first
        .split(|&byte| byte == b',')
        .map(|name| String::from_utf8_lossy(name).trim_matches('"').to_owned())
        .collect();
    bind_header(&names).is_ok() || Format::of_content(head) != Format::Csv
}

/// Says of a file of no known format what a list would need.
fn if_list(error: Error, path: &Path, head: &[u8]) -> Error {
    let first = first_paths(head).next();
    let is_text = !head.contains(&0) && first.is_some_and(|first| !has_form(first, head));
    if !is_text || Format::of_first_bytes(head).is_some() || error.kind() == ErrorKind::Interrupted
    {
        return error;
    }
    let message = "is no trace; if this is a list: its first line names no file that is here";
    Error::new(error.kind(), path, message).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file of this content in a folder with a file `here` is: its paths, or `None` if it is
    /// a trace.
    fn opened(name: &str, content: &[u8]) -> Result<Option<Vec<String>>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        match Listing::open(&path, &import::Options::default())? {
            Listing::Paths(paths) => Ok(Some(paths)),
            Listing::Trace(_) => Ok(None),
        }
    }

    #[test]
    fn lists_are_told_from_traces() {
        // A test runs in the folder of its crate, where Cargo.toml is.
        let of = |paths: &[&str]| Some(paths.iter().map(|path| (*path).to_owned()).collect());
        for (name, content, expected) in [
            ("gone", b"/no/such/file\n./x\n" as &[u8], of(&["/no/such/file", "./x"])),
            ("relative", b"no/such\nCargo.toml", of(&["no/such", "Cargo.toml"])),
            ("folder", b"src\n", of(&["src"])),
            ("device", b"/dev/null\n", of(&["/dev/null"])),
            ("twice", b"../a\n../b\n\n../a\n", of(&["../a", "../b"])),
            ("crlf", b"/a b\r\n/c\r\n", of(&["/a b", "/c"])),
            ("mark", b"\xef\xbb\xbf/a\n", of(&["/a"])),
            ("nul", b"/a\nb\0/c\r\0", of(&["/a\nb", "/c\r"])),
            (
                "odd",
                b"\xff odd, \"name\n/etc/passwd\nCargo.toml\n",
                of(&["\\xff odd, \"name", "/etc/passwd", "Cargo.toml"]),
            ),
            ("list.csv", b"/a,path\n", of(&["/a,path"])),
            ("csv", b"path,op,offset,bytes\n/a,read,0,10\n", None),
            ("quoted.csv", b"\"op\",\"path\"\nread,/a\n", None),
            ("ids", b"1\n2\n3\n", None),
            ("fio", b"fio version 2 iolog\n/a add\n/a open\n/a read 0 10\n/a close\n", None),
        ] {
            assert_eq!(opened(name, content).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn what_is_neither_is_an_error_that_says_what_a_list_needs() {
        let error = opened("neither", b"no such name\nnor this\n").unwrap_err();
        let said = error.to_string();
        assert!(said.ends_with("if this is a list: its first line names no file that is here"));
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("its header names no `path`"), "{cause}");
        let error = opened("wrong.csv", b"path,offset\n/a,x\n").unwrap_err();
        assert!(!error.to_string().contains("list"), "{error}");
    }

    #[test]
    fn a_list_may_be_compressed() {
        use std::io::Write;
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(b"/a\n/b\n").unwrap();
        let paths = opened("list.gz", &writer.finish().unwrap()).unwrap();
        assert_eq!(paths, Some(vec!["/a".to_owned(), "/b".to_owned()]));
    }

    /// The first bytes of a pipe were once read twice, and were gone.
    #[test]
    fn a_pipe_is_read_once_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let whole = |content: &'static [u8]| {
            std::thread::scope(|scope| {
                scope.spawn(|| std::fs::write(&path, content).unwrap());
                Listing::open(&path, &import::Options::default())
            })
        };
        assert!(
            matches!(whole(b"/a\n/b\n").unwrap(), Listing::Paths(paths) if paths == ["/a", "/b"])
        );
        let trace = whole(b"path,op,offset,bytes\n/a,read,0,10\n").unwrap();
        assert!(matches!(trace, Listing::Trace(trace) if trace.rows() == 1));
        assert!(whole(b"PAR1 and more").unwrap_err().to_string().contains("write it to a file"));
    }

    #[test]
    fn a_pipe_that_nobody_writes_to_is_left_when_the_caller_asks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let options = import::Options::default();
        let error = std::thread::scope(|scope| {
            let opening = scope.spawn(|| Listing::open(&path, &options));
            options.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
            opening.join().unwrap().unwrap_err()
        });
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }
}
