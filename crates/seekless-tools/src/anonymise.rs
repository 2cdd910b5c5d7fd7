//! Makes a trace fit to be given away: names of files become keyed hashes, and facts about the
//! machine and its user are dropped.
//!
//! A folder or file becomes the first 80 bits of HMAC-SHA-256 of its path, as 20 hexadecimal
//! digits. So the same path has the same name in every trace made with one key, a file stays in
//! its folder, and equal names in two folders are not seen to be equal. Without the key one
//! cannot try out names.

use crate::rewrite::{Rule, plain, rewrite, unread};
use hmac::{Hmac, KeyInit, Mac};
use seekless_job::{Error, Result};
use seekless_sys::output::Destination;
use seekless_trace::{Access, Kind, Metadata, RunInfo, open_any};
use serde::Serialize;
use sha2::Sha256;
use std::collections::HashMap;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;

const KEY_BYTES: usize = 32;
/// The most that a file of a key may hold.
const KEY_BYTES_MAX: u64 = 1 << 20;
const HASH_BYTES: usize = 10;
/// A longer ending of a name may reveal more than the kind of file.
const EXTENSION_CHARS_MAX: usize = 8;

/// What turns names into hashes.
pub struct Key(Vec<u8>);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(secret)")
    }
}

impl Key {
    /// A random key that is not kept, for a trace that is not compared with others.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn random() -> Result<Self> {
        let path = Path::new("/dev/urandom");
        let mut key = vec![0; KEY_BYTES];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut key));
        read.map_err(|error| Error::unreadable(path, error))?;
        Ok(Self(key))
    }

    /// The content of a file, without a line break at its end.
    ///
    /// # Errors
    /// It cannot be read, or has no bytes.
    pub fn read(path: &Path) -> Result<Self> {
        let mut key = Vec::new();
        let read =
            File::open(path).and_then(|file| file.take(KEY_BYTES_MAX + 1).read_to_end(&mut key));
        read.map_err(|error| Error::unreadable(path, error))?;
        if key.len() as u64 > KEY_BYTES_MAX {
            let why = format!("it has over {KEY_BYTES_MAX} bytes; a key is a short text");
            return Err(Error::unreadable(path, std::io::Error::other(why)));
        }
        while key.ends_with(b"\n") || key.ends_with(b"\r") {
            key.pop();
        }
        if key.is_empty() {
            let error = std::io::Error::other("it holds no key; write a long random text into it");
            return Err(Error::unreadable(path, error));
        }
        Ok(Self(key))
    }

    /// What stands for `path`.
    fn hash(&self, path: &str) -> String {
        let mut hash = String::with_capacity(2 * HASH_BYTES);
        // HMAC takes keys of any length.
        if let Ok(mac) = Hmac::<Sha256>::new_from_slice(&self.0) {
            for byte in &mac.chain_update(path).finalize().into_bytes()[..HASH_BYTES] {
                let _ = write!(hash, "{byte:02x}"); // writing to a string cannot fail
            }
        }
        hash
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Anonymised {
    /// Rows.
    pub rows: u64,
    /// Files.
    pub files: u64,
}

/// Writes `trace` to `out` with names hashed by `key`. Kept are times from each run's start, sizes,
/// offsets, operations, errors and latencies; of names the depth, and a short ending of letters and
/// digits; of runs the kernel, the clock, the duration and the exit status. Processes and threads
/// are numbered anew. Devices, inodes, commands, folders, hosts and dates go.
///
/// # Errors
/// The trace cannot be read or has no rows, or the output cannot be written.
pub fn anonymise(
    trace: &Path,
    out: &Destination,
    key: &Key,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Anonymised> {
    let trace = open_any(trace).map_err(unread)?;
    let all = trace.metadata();
    let metadata = Metadata { runs: all.runs.iter().map(run).collect(), ..plain(all) };
    let is_blocks = all.kind == Kind::Blocks;
    let mut rule = Hashed { key, is_blocks, tasks: HashMap::new() };
    let summary = rewrite(&trace, out, metadata, &mut rule, progress)?;
    Ok(Anonymised { rows: summary.rows, files: summary.files })
}

/// What may be said of a run.
fn run(run: &RunInfo) -> RunInfo {
    RunInfo {
        kernel: run.kernel.clone(),
        clock: run.clock.clone(),
        duration_ns: run.duration_ns,
        exit_status: run.exit_status,
        left_out: run.left_out,
        blind_spots: run.blind_spots.clone(),
        ..RunInfo::default()
    }
}

struct Hashed<'a> {
    key: &'a Key,
    /// Names are of devices, without folders or endings.
    is_blocks: bool,
    /// New numbers of processes and threads, which are of one kind.
    tasks: HashMap<u32, u32>,
}

impl Hashed<'_> {
    fn task(&mut self, old: u32) -> u32 {
        let next = self.tasks.len() as u32 + 1;
        match old {
            0 => 0, // unknown
            old => *self.tasks.entry(old).or_insert(next),
        }
    }
}

impl Rule for Hashed<'_> {
    fn row(&mut self, access: &mut Access) -> bool {
        access.pid = self.task(access.pid);
        access.tid = self.task(access.tid);
        (access.device, access.inode) = (None, None);
        true
    }

    fn name(&mut self, name: &str) -> String {
        if self.is_blocks {
            return self.key.hash(name);
        }
        let mut hashed = String::with_capacity(2 * name.len());
        let mut start = 0;
        for part in name.split_inclusive('/') {
            let bare = part.trim_end_matches('/');
            match bare {
                "" | "." | ".." => hashed.push_str(bare),
                _ => hashed.push_str(&self.key.hash(&name[..start + bare.len()])),
            }
            hashed.push_str(&part[bare.len()..]);
            start += part.len();
        }
        if let Some(ending) = extension(name) {
            hashed.push('.');
            hashed.push_str(ending);
        }
        hashed
    }
}

/// The ending of a name that shows the kind of file.
fn extension(name: &str) -> Option<&str> {
    let ending = Path::new(name).extension()?.to_str()?;
    let plain = ending.chars().all(|char| char.is_ascii_alphanumeric());
    (plain && ending.len() <= EXTENSION_CHARS_MAX).then_some(ending)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::{Op, Trace, Writer};

    fn names(key: &Key, names: &[&str]) -> Vec<String> {
        let mut rule = Hashed { key, is_blocks: false, tasks: HashMap::new() };
        names.iter().map(|name| rule.name(name)).collect()
    }

    #[test]
    fn depth_folders_and_endings_stay_and_names_go() {
        let key = Key(b"secret".to_vec());
        let found =
            names(&key, &["/usr/lib/x.so", "/usr/lib/y", "/lib/x.so", "usr/../a.longest-end"]);
        let parts: Vec<Vec<&str>> = found.iter().map(|name| name.split('/').collect()).collect();
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 3, 3]);
        assert_eq!(parts[0][..3], parts[1][..3], "the same folder");
        assert_ne!(parts[0][2], parts[2][1], "equal names of different folders");
        assert!(parts[0][3].ends_with(".so") && parts[2][2].ends_with(".so"), "{found:?}");
        assert_ne!(parts[0][3], parts[2][2]);
        assert_eq!((parts[3][1], parts[3][2].len()), ("..", 20), "{found:?}");
        // RFC 4231 has no such text; `printf /usr | openssl dgst -sha256 -hmac secret` gives it.
        assert_eq!(parts[0][1], "47fbeb575520981768c8");
        assert_eq!(names(&key, &["/usr"]), names(&Key(b"secret".to_vec()), &["/usr"]));
        assert_ne!(names(&key, &["/usr"]), names(&Key::random().unwrap(), &["/usr"]));
    }

    #[test]
    fn what_tells_of_machine_and_user_goes_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.parquet");
        let info = RunInfo {
            command: vec!["secret-tool".into()],
            host: "secret-host".into(),
            directory: "/home/secret".into(),
            source: "secret.csv".into(),
            only: vec!["/home/secret".into()],
            kernel: "6.1".into(),
            started_unix_ns: Some(7),
            duration_ns: Some(9),
            ..RunInfo::default()
        };
        let profile = Some("{\"files\":{\"/home/secret\":{}}}".to_owned());
        let metadata = Metadata { runs: vec![info], profile, ..Metadata::default() };
        let mut writer = Writer::create(&path, metadata).unwrap();
        let file = writer.file("/home/secret/a.txt");
        let row = Access {
            time_ns: 5,
            pid: 4711,
            tid: 4712,
            offset: 9,
            bytes: 3,
            latency_ns: Some(2),
            file_bytes: Some(99),
            device: Some(64),
            inode: Some(65),
            ..Access::new(Op::Read, file)
        };
        writer.push(row).unwrap();
        writer.finish().unwrap();
        let out = Destination::new(folder.path().join("out.parquet"));
        let done = anonymise(&path, &out, &Key::random().unwrap(), &mut |_, _| {}).unwrap();
        assert_eq!(done, Anonymised { rows: 1, files: 1 });
        let hidden = Trace::open(out.path()).unwrap();
        let rows: Vec<Access> = hidden.accesses().unwrap().map(|row| row.unwrap()).collect();
        assert_eq!(rows, [Access { pid: 1, tid: 2, device: None, inode: None, ..row }]);
        let said = format!("{:?} {:?}", hidden.metadata(), hidden.file_names().unwrap());
        assert!(
            !said.contains("secret") && said.contains("6.1") && said.contains(".txt"),
            "{said}"
        );
        assert_eq!(hidden.metadata().runs[0].started_unix_ns, None);
    }

    #[test]
    fn a_key_is_the_content_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "abc\r\n").unwrap();
        assert_eq!(Key::read(&path).unwrap().0, b"abc");
        std::fs::write(&path, "\n").unwrap();
        assert!(Key::read(&path).is_err());
    }
}
