//! Makes absolute names from paths as programs pass them: relative to a directory, with `.` and
//! `..`.

use hashbrown::HashMap;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use std::os::fd::AsRawFd;

/// Folders of special files, which are recorded only on request.
const SPECIAL: [&[u8]; 3] = [b"/proc", b"/sys", b"/dev"];

/// How many prefixes are remembered before all of them are forgotten.
const REMEMBERED_MAX: usize = 1 << 16;

/// Makes names absolute. Remembers what `a/b/..` really is, since `b` may be a link.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    real: HashMap<Vec<u8>, Vec<u8>, foldhash::fast::RandomState>,
}

impl Paths {
    /// The absolute name of `path`, which is relative to the absolute directory `base`. Links
    /// before a `..` are resolved if the kernel has them cached; the rest is taken as written.
    pub(crate) fn absolute(&mut self, base: &[u8], path: &[u8]) -> Vec<u8> {
        let whole = join(base, path);
        let Some(end) = end_of_last_parent(&whole) else { return tidy(&whole) };
        let (prefix, rest) = whole.split_at(end);
        match self.real(prefix) {
            Some(real) => tidy(&join(&real, rest.strip_prefix(b"/").unwrap_or(rest))),
            None => tidy(&whole),
        }
    }

    fn real(&mut self, prefix: &[u8]) -> Option<Vec<u8>> {
        if let Some(known) = self.real.get(prefix) {
            return Some(known.clone());
        }
        let real = cached_name(prefix)?;
        if self.real.len() >= REMEMBERED_MAX {
            self.real.clear();
        }
        self.real.insert(prefix.to_vec(), real.clone());
        Some(real)
    }
}

/// A directory's name without links, from the kernel's cache: the kernel has just looked it up for
/// the program. We do not ask the file system, which may be served by a stopped process of the
/// program. `None` if it is not cached, and before Linux 5.12.
fn cached_name(directory: &[u8]) -> Option<Vec<u8>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let found =
        rustix::fs::openat2(CWD, directory, flags, Mode::empty(), ResolveFlags::CACHED).ok()?;
    let link = format!("/proc/self/fd/{}", found.as_raw_fd());
    Some(rustix::fs::readlink(link, Vec::new()).ok()?.into_bytes())
}

/// Whether a name is under /proc, /sys or /dev.
pub(crate) fn is_special(path: &[u8]) -> bool {
    SPECIAL
        .iter()
        .any(|root| path.strip_prefix(*root).is_some_and(|rest| matches!(rest, [] | [b'/', ..])))
}

fn join(base: &[u8], path: &[u8]) -> Vec<u8> {
    if path.first() == Some(&b'/') {
        return path.to_vec();
    }
    [base, b"/", path].concat()
}

/// The end of the last `..` in a path.
fn end_of_last_parent(path: &[u8]) -> Option<usize> {
    let mut end = path.len();
    for part in path.rsplit(|byte| *byte == b'/') {
        if part == b".." {
            return Some(end);
        }
        end = end.saturating_sub(part.len() + 1);
    }
    None
}

/// Removes empty parts, `.` and `..`, as if there were no links.
fn tidy(path: &[u8]) -> Vec<u8> {
    let mut tidied = Vec::with_capacity(path.len());
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                let parent = tidied.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
                tidied.truncate(parent);
            }
            name => {
                tidied.push(b'/');
                tidied.extend_from_slice(name);
            }
        }
    }
    if tidied.is_empty() {
        tidied.push(b'/');
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::*;

    fn absolute(base: &str, path: &str) -> String {
        String::from_utf8(Paths::default().absolute(base.as_bytes(), path.as_bytes())).unwrap()
    }

    #[test]
    fn names_are_made_absolute() {
        assert_eq!(absolute("/home/me", "a//./b/"), "/home/me/a/b");
        assert_eq!(absolute("/home/me", "/x"), "/x");
        assert_eq!(absolute("/", "x"), "/x");
        assert_eq!(absolute("/home", ""), "/home");
        assert_eq!(absolute("/", "../.."), "/");
        assert_eq!(absolute("/nonexistent/here", "../c"), "/nonexistent/c");
        assert_eq!(absolute("/a", "..b/c.."), "/a/..b/c..");
    }

    #[test]
    fn a_parent_of_a_link_is_where_the_link_leads() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("far/away")).unwrap();
        std::os::unix::fs::symlink(root.join("far/away"), root.join("link")).unwrap();
        let root = root.to_str().unwrap();
        assert_eq!(absolute(root, "link/../gone"), format!("{root}/far/gone"));
        assert_eq!(absolute(root, "link/gone"), format!("{root}/link/gone"));
    }

    #[test]
    fn special_places() {
        assert!(is_special(b"/proc/self/maps") && is_special(b"/dev") && is_special(b"/sys/x"));
        assert!(!is_special(b"/device/x") && !is_special(b"/home/dev") && !is_special(b"/procs"));
    }
}
