//! The mounted file systems: /proc/self/mountinfo (proc_pid_mountinfo(5)).

use crate::escape::unescaped;
use std::io;
use std::path::{Path, PathBuf};

/// All mounts that this process sees, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mounts(Vec<Mount>);

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The `st_dev` of its files, except where a file system has several (btrfs).
    pub device: (u32, u32),
    /// The folder of its file system that is mounted: `/` unless only a part is.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// The type of the file system, such as `fuse.sshfs`.
    pub kind: String,
    /// The device or the share.
    pub source: String,
    /// Options of the file system, separated by commas.
    pub options: String,
}

impl Mounts {
    /// Reads the mounts as they are now.
    ///
    /// # Errors
    /// /proc/self/mountinfo cannot be read.
    pub fn read() -> io::Result<Mounts> {
        Ok(Mounts::parse(&String::from_utf8_lossy(&std::fs::read("/proc/self/mountinfo")?)))
    }

    /// Reads those of all mount namespaces that processes are in, as far as we may look: each
    /// namespace once, our own first.
    ///
    /// # Errors
    /// /proc/self/mountinfo cannot be read.
    pub(crate) fn of_all_namespaces() -> io::Result<Mounts> {
        let mut all = Mounts::read()?;
        let namespace = |process: &Path| std::fs::read_link(process.join("ns/mnt")).ok();
        let mut seen: Vec<PathBuf> = namespace(Path::new("/proc/self")).into_iter().collect();
        for process in std::fs::read_dir("/proc")?.flatten().map(|entry| entry.path()) {
            let Some(found) = namespace(&process).filter(|found| !seen.contains(found)) else {
                continue;
            };
            seen.push(found);
            if let Ok(text) = std::fs::read(process.join("mountinfo")) {
                all.0.extend(Mounts::parse(&String::from_utf8_lossy(&text)).0);
            }
        }
        Ok(all)
    }

    /// Reads the text of such a file. Lines that are not understood are skipped.
    #[must_use]
    pub fn parse(text: &str) -> Mounts {
        Mounts(text.lines().filter_map(mount).collect())
    }

    /// Each of them, in that order.
    pub fn iter(&self) -> impl Iterator<Item = &Mount> {
        self.0.iter()
    }

    /// The mount of files with that device number; if no mount has it, the deepest mount above
    /// `path`. Of several the newest.
    #[must_use]
    pub fn of(&self, device: (u32, u32), path: Option<&Path>) -> Option<&Mount> {
        let by_number = self.0.iter().rev().find(|mount| mount.device == device);
        by_number.or_else(|| self.below(path?))
    }

    fn below(&self, path: &Path) -> Option<&Mount> {
        let holding = self.0.iter().filter(|mount| path.starts_with(&mount.point));
        holding.max_by_key(|mount| mount.point.components().count())
    }
}

/// `36 35 98:0 /root /point options tag:value - type source options`.
fn mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ').skip(2);
    let (major, minor) = fields.next()?.split_once(':')?;
    let root = PathBuf::from(unescaped(fields.next()?));
    let point = PathBuf::from(unescaped(fields.next()?));
    let mut fields = after.split(' ');
    let kind = fields.next()?.to_owned();
    let source = unescaped(fields.next()?).to_string_lossy().into_owned();
    let options = fields.next().unwrap_or_default().to_owned();
    Some(Mount {
        device: (major.parse().ok()?, minor.parse().ok()?),
        root,
        point,
        kind,
        source,
        options,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
40 27 0:50 /@home /home rw shared:1 - btrfs /dev/sdb1 rw,subvol=/@home
41 27 0:51 / /mnt/two\040words rw - nfs4 server:/export/two\040words rw
42 27 8:1 / /data rw - xfs /dev/sda1 rw
nonsense
43 27 0:52 / /data/deep rw - fuse.rclone remote: rw
";

    #[test]
    fn a_mount_is_found_by_number_and_else_by_the_path() {
        let mounts = Mounts::parse(TEXT);
        let found =
            |device, path: &str| mounts.of(device, Some(Path::new(path))).map(|m| m.kind.as_str());
        assert_eq!(found((8, 1), "/elsewhere"), Some("xfs"));
        assert_eq!(found((0, 99), "/home/me/file"), Some("btrfs"));
        assert_eq!(found((0, 99), "/data/deep/file"), Some("fuse.rclone"));
        assert_eq!(found((0, 99), "/data/deeper"), Some("xfs"));
        assert_eq!(mounts.of((0, 99), None), None);
    }

    #[test]
    fn blanks_in_names_are_blanks() {
        let mounts = Mounts::parse(TEXT);
        let mount = mounts.of((0, 51), None).expect("mounted");
        assert_eq!(mount.point, Path::new("/mnt/two words"));
        assert_eq!(mount.source, "server:/export/two words");
        assert_eq!((mount.root.as_path(), mount.options.as_str()), (Path::new("/"), "rw"));
    }
}
