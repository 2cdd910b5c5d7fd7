//! Whether anything else uses a file or device, to be asked before it is overwritten. Each answer
//! is a few words for a message, such as `open in postgres (process 812)`.

use crate::block::{Stack, Store, swaps};
use crate::mounts::Mounts;
use rustix::fs::{major, makedev, minor};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a lease is asked for again, and after which time.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// Who uses a regular file, beside this descriptor of it. `None` if nothing was found; processes of
/// other users can be examined by root only, but a file that they have open is noticed all the
/// same where the file system has leases and the file is ours.
///
/// # Errors
/// The file cannot be examined.
pub fn of_file(file: &File) -> io::Result<Option<String>> {
    let metadata = file.metadata()?;
    let same = |other: &Metadata| (other.dev(), other.ino()) == (metadata.dev(), metadata.ino());
    if let Some(path) = swaps().iter().find(|path| fs::metadata(path).is_ok_and(|it| same(&it))) {
        return Ok(Some(format!("swapped to by the system ({})", path.display())));
    }
    // Without /sys there are no loop devices.
    let stack = Stack::read().unwrap_or_default();
    if let Some(standing) = stack.on_file(Store::of(&metadata)) {
        let used = Used::read()?.words(&stack.above(&standing));
        return Ok(Some(with_use(standing.words, used)));
    }
    let mapped = Mapped { device: metadata.dev(), inode: metadata.ino() };
    let found = process(&same, Some(&mapped), file);
    Ok(found.or_else(|| is_leased_to_others(file).then(|| "open in another process".to_owned())))
}

/// Who uses a block device, one of its partitions, or the disk that it is a part of, beside this
/// descriptor of it; or a device that stands on one of these, or shares what a loop device stores
/// its data in.
///
/// # Errors
/// The device, or the mounts, cannot be examined.
pub fn of_device(file: &File) -> io::Result<Option<String>> {
    let (stack, used) = (Stack::read()?, Used::read()?);
    let number = file.metadata()?.rdev();
    stack.name(number).ok_or(io::ErrorKind::NotFound)?;
    let own = stack.relatives(number);
    if let Some(words) = used.words(&own) {
        return Ok(Some(words));
    }
    if let Some(standing) = stack.on(&own).into_iter().next() {
        let used = used.words(&stack.above(&standing));
        return Ok(Some(with_use(standing.words, used)));
    }
    if let Some(words) = below(&stack, &used, &own) {
        return Ok(Some(words));
    }
    let same = |it: &Metadata| it.file_type().is_block_device() && own.contains(&it.rdev());
    Ok(process(&same, None, file))
}

/// Who uses the bytes in which loop devices of these numbers store their data, beside them.
fn below(stack: &Stack, used: &Used, numbers: &[u64]) -> Option<String> {
    let (store, others) = stack.below(numbers)?;
    if let Some(other) = others.first() {
        let words = "on a file or device that is also ".to_owned() + &other.words;
        return Some(with_use(words, used.words(&stack.above(other))));
    }
    let Store::Device(number) = store else { return None };
    let name = stack.name(number).unwrap_or("another device");
    let own = stack.relatives(number);
    let words = used.words(&own).or_else(|| is_claimed(name).then(|| "in use".to_owned()));
    match words {
        Some(words) => Some(format!("stored on {name}, which is {words}")),
        None => below(stack, used, &own),
    }
}

/// Words for what stands on a device, and in which way that is used.
fn with_use(standing: String, used: Option<String>) -> String {
    used.map_or(standing.clone(), |used| format!("{standing}, which is {used}"))
}

/// Whether the kernel refuses a claim of the block device, because a file system, swap or another
/// device has one, in whatever namespace.
fn is_claimed(name: &str) -> bool {
    let node = Path::new("/dev").join(name);
    let claim = fs::OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(node);
    claim.is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
}

/// What the system mounts and swaps to.
struct Used {
    mounts: Mounts,
    swaps: Vec<PathBuf>,
}

impl Used {
    fn read() -> io::Result<Self> {
        Ok(Self { mounts: Mounts::of_all_namespaces()?, swaps: swaps() })
    }

    /// In which way it uses one of these devices.
    fn words(&self, numbers: &[u64]) -> Option<String> {
        let same = |path: &Path| {
            let found = fs::metadata(path);
            found.is_ok_and(|it| it.file_type().is_block_device() && numbers.contains(&it.rdev()))
        };
        for mount in self.mounts.iter() {
            let number = makedev(mount.device.0, mount.device.1);
            // btrfs has numbers of its own, but names its device.
            let named = || mount.source.starts_with('/') && same(Path::new(&mount.source));
            if numbers.contains(&number) || named() {
                return Some(format!("mounted at {}", mount.point.display()));
            }
        }
        let swapped = self.swaps.iter().any(|path| same(path));
        swapped.then(|| "swapped to by the system".to_owned())
    }
}

/// A file as /proc/PID/maps names it.
struct Mapped {
    device: u64,
    inode: u64,
}

/// The first process that has such a file open, or has it mapped; `own` does not count.
fn process(
    same: &dyn Fn(&Metadata) -> bool,
    mapped: Option<&Mapped>,
    own: &File,
) -> Option<String> {
    let own = Path::new("/proc")
        .join(std::process::id().to_string())
        .join("fd")
        .join(own.as_raw_fd().to_string());
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().filter(|name| name.bytes().all(|it| it.is_ascii_digit()))
        else {
            continue;
        };
        let mut open = fs::read_dir(entry.path().join("fd")).into_iter().flatten().flatten();
        let is_open = open.any(|descriptor| {
            let path = descriptor.path();
            path != own && fs::metadata(&path).is_ok_and(|it| same(&it))
        });
        let does = if is_open {
            "open"
        } else if mapped.is_some_and(|mapped| maps(&entry.path(), mapped)) {
            "mapped"
        } else {
            continue;
        };
        let command = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        return Some(format!("{does} in {} (process {pid})", command.trim()));
    }
    None
}

/// `7f12-7f13 r--p 00000000 fe:00 1234 /path`.
fn maps(process: &Path, mapped: &Mapped) -> bool {
    let Ok(text) = fs::read(process.join("maps")) else { return false };
    let device = format!("{:02x}:{:02x}", major(mapped.device), minor(mapped.device));
    let inode = mapped.inode.to_string();
    String::from_utf8_lossy(&text).lines().any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(3);
        (fields.next(), fields.next()) == (Some(device.as_str()), Some(inode.as_str()))
    })
}

/// Whether the kernel refuses a write lease, and goes on to refuse it, because another description
/// of the file is open. One that was just closed may still count for a moment.
fn is_leased_to_others(file: &File) -> bool {
    let mut refused = is_refused_a_lease(file);
    for _ in 0..TRIES {
        if !refused {
            break;
        }
        std::thread::sleep(PAUSE);
        refused = is_refused_a_lease(file);
    }
    refused
}

/// Asks for the lease, and gives it back at once.
fn is_refused_a_lease(file: &File) -> bool {
    let lease = |kind: libc::c_int| {
        // SAFETY: the descriptor is open, and the call touches no memory of ours.
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind) }
    };
    if lease(libc::F_WRLCK) == 0 {
        lease(libc::F_UNLCK);
        return false;
    }
    io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = folder.path().join("data");
        fs::write(&path, vec![1; 4096]).unwrap();
        (folder, path)
    }

    fn asked(path: &Path) -> Option<String> {
        of_file(&fs::OpenOptions::new().read(true).write(true).open(path).unwrap()).unwrap()
    }

    #[test]
    fn a_file_of_its_own_is_free_and_one_open_elsewhere_is_not() {
        let (_folder, path) = file();
        assert_eq!(asked(&path), None);
        let mut other = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::from(File::open(&path).unwrap()))
            .spawn()
            .unwrap();
        let found = asked(&path);
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(found, Some(format!("open in sleep (process {})", other.id())));
        assert_eq!(asked(&path), None);
    }

    #[test]
    fn a_second_descriptor_of_ours_counts() {
        let (_folder, path) = file();
        let _second = File::open(&path).unwrap();
        assert!(asked(&path).is_some_and(|words| words.starts_with("open in ")));
    }

    #[test]
    fn a_mapped_file_is_in_use_though_it_was_closed() {
        let (_folder, path) = file();
        let map = crate::map::Map::new(&File::open(&path).unwrap()).unwrap();
        let found = asked(&path);
        drop(map);
        assert!(found.as_ref().is_some_and(|words| words.starts_with("mapped in ")), "{found:?}");
    }

    #[test]
    fn the_disk_of_the_root_is_in_use() {
        let number = fs::metadata("/").unwrap().dev();
        let Some(disk) = crate::block::BlockDevice::numbered(number) else {
            eprintln!("skipped: the root is on no block device");
            return;
        };
        let path = Path::new("/dev").join(disk.name());
        let Ok(file) = File::open(&path) else {
            eprintln!("skipped: {} cannot be opened", path.display());
            return;
        };
        assert!(of_device(&file).unwrap().is_some_and(|words| words.starts_with("mounted at")));
    }
}
