//! The folders that generated command lines are run over.

use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, mknodat, utimensat};
use std::ffi::OsStr;
use std::fs::Permissions;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Name, bytes, permissions, age in seconds (the future is negative).
const FILES: &[(&[u8], u64, u32, i64)] = &[
    (b"a/one", 1, 0o644, 1_000),
    (b"a/two words", 511, 0o600, 90_000),
    (b"a/b/512", 512, 0o755, 200_000),
    (b"a/b/513.txt", 513, 0o4755, 3_500_000),
    (b"a/b/c/ONE.TXT", 1024, 0o2711, 40_000_000),
    (b"a/b/c/k1", 1025, 0o1644, 400_000_000),
    (b"a/empty", 0, 0o444, 95),
    (b"d e/x\ty", 2048, 0o666, 3_700),
    (b"d e/quote\"s'", 100, 0o777, -3_700),
    (b"x\ny/back\\slash", 10, 0o000, -90_000),
    (b"x\ny/*star[", 3, 0o640, -400_000_000),
    (b".hid/.dot", 0, 0o7777, 86_400 * 180 + 4_000),
    (b"b\xe4r", 5, 0o604, 86_400 * 184),
    (b"\xc3\xa4\xc3\x96", 5, 0o060, 2_000_000_000),
    (b"\xf0\x9f\x98\x80", 5, 0o100, 150),
    (b"\x01ctl\x7f", 5, 0o010, 270),
    (b"zero\xe2\x80\x8bwidth", 5, 0o001, 1_700_000_000),
    (b"\xe2\x80\x99q\xe2\x80\x98", 5, 0o505, 86_400 * 3 + 500),
    (b"-dash", 5, 0o040, 86_400 * 2 + 500),
    (b"trail ", 5, 0o400, 86_400 + 500),
    (b"deep/1/2/3/4/5/end", 7, 0o644, 600),
];

const FOLDERS: &[(&[u8], u32)] = &[
    (b"a/b/c", 0o755),
    (b"d e", 0o1777),
    (b"x\ny", 0o2755),
    (b".hid", 0o700),
    (b"nothing", 0o555),
    (b"deep/1/2/3/4/5", 0o755),
    (b"links", 0o755),
];

const LINKS: &[(&str, &str)] = &[
    ("links/file", "../a/one"),
    ("links/folder", "../a/b"),
    ("links/dangling", "no where"),
    ("links/self", "self"),
    ("links/ping", "pong"),
    ("links/pong", "ping"),
    ("links/through", "file/x"),
    ("links/up", ".."),
    ("links/pipe", "../pipe"),
    ("links/slash", "../a/b/"),
    ("a/b/back", "../.."),
    ("linked", "a/b/513.txt"),
];

/// Makes the large tree, and beside it a folder of many files.
pub(super) fn make(root: &Path) -> io::Result<()> {
    let now =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let at = |name: &[u8]| root.join(OsStr::from_bytes(name));
    for (name, _) in FOLDERS {
        std::fs::create_dir_all(at(name))?;
    }
    for (number, &(name, bytes, mode, age)) in FILES.iter().enumerate() {
        std::fs::write(at(name), vec![b'x'; bytes as usize])?;
        std::fs::set_permissions(at(name), Permissions::from_mode(mode))?;
        touch(&at(name), now - age / 2 - 7, now - age, number as i64 * 41_234_567)?;
    }
    std::fs::File::create(at(b"sparse"))?.set_len(3_000_000)?;
    for (link, target) in LINKS {
        symlink(target, at(link.as_bytes()))?;
    }
    // Two chains of links: one shorter than the kernel's limit, one longer. Neither has just that
    // length: with `-L` GNU find looks up whole paths, whose own links count too.
    let chain = root.with_file_name("chain");
    std::fs::create_dir(&chain)?;
    for number in 0..60 {
        let target =
            if number == 0 { "../tree/a/one".to_owned() } else { (number - 1).to_string() };
        symlink(target, chain.join(number.to_string()))?;
    }
    symlink("../../chain/30", at(b"links/short"))?;
    symlink("../../chain/50", at(b"links/long"))?;
    std::fs::hard_link(at(b"a/one"), at(b"d e/hard"))?;
    mknodat(CWD, at(b"pipe"), FileType::Fifo, Mode::from_raw_mode(0o620), 0)?;
    let _ = std::os::unix::net::UnixListener::bind(at(b"socket"))?;
    let null = rustix::fs::makedev(1, 3);
    // Only root can make devices and give files away.
    let _ = mknodat(CWD, at(b"null"), FileType::CharacterDevice, Mode::from_raw_mode(0o666), null);
    let _ = mknodat(
        CWD,
        at(b"block"),
        FileType::BlockDevice,
        Mode::from_raw_mode(0o660),
        rustix::fs::makedev(259, 65),
    );
    let _ = chown(at(b"a/b/512"), Some(4242), Some(4343));
    let _ = chown(at(b"a/b/c/k1"), Some(1), Some(2_000_000_000));
    let _ = lchown(at(b"links/dangling"), Some(4244), Some(1));
    // The empty name is first: after a message about another file, GNU find would use that file's
    // name for it.
    let names: &[u8] = b"\0a/one\0nosuch\0./d e\0links/self\0a";
    std::fs::write(at(b"names"), names)?;
    touch(&at(b"deep/1/2"), now - 50_000, now - 700_000, 5)?;
    for (name, mode) in FOLDERS {
        std::fs::set_permissions(at(name), Permissions::from_mode(*mode))?;
    }
    let many = root.with_file_name("many");
    for number in 0..40 {
        std::fs::create_dir_all(many.join(format!("folder{number}")))?;
        for file in 0..9 {
            std::fs::write(
                many.join(format!("folder{number}/file{file}")),
                vec![b'm'; number * file],
            )?;
        }
    }
    Ok(())
}

fn touch(path: &Path, read: i64, changed: i64, part_ns: i64) -> io::Result<()> {
    let time = |tv_sec| Timespec { tv_sec, tv_nsec: part_ns % 1_000_000_000 };
    let times = Timestamps { last_access: time(read), last_modification: time(changed) };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Makes a small tree, for a command line that changes files.
pub(super) fn make_small(root: &Path) {
    let made = || -> io::Result<()> {
        for folder in ["a/b", "keep/in", "empty"] {
            std::fs::create_dir_all(root.join(folder))?;
        }
        for file in ["a/one", "a/b/two.o", "keep/three.o", "keep/in/four", "five.o", "odd\nname"] {
            std::fs::write(root.join(file), file)?;
        }
        symlink("keep", root.join("link"))?;
        symlink("gone", root.join("a/dangling"))
    };
    made().expect("a small tree");
}

/// Every path with its content, sorted.
pub(super) fn contents(root: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let kind = entry.file_type().expect("a type");
            let inside =
                if kind.is_file() { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
            found.push((
                path.strip_prefix(root).expect("below").as_os_str().as_bytes().to_vec(),
                inside,
            ));
            if kind.is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}
