//! Reads at an offset that say what becomes of the page cache: as usual, without leaving anything
//! in it (RWF_DONTCACHE, Linux 6.14), or only what is there already (RWF_NOWAIT).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Of linux/fs.h; libc does not name it yet.
const RWF_DONTCACHE: libc::c_int = 0x80;

/// How a read treats the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// As `pread` does.
    Usual,
    /// What had to be brought in is dropped again; what was cached stays.
    Leave,
    /// Only what is cached; `WouldBlock` otherwise. The kernel starts to read it all the same, so
    /// this is no probe.
    NoWait,
}

/// Reads up to `buffer.len()` bytes at `offset`; fewer at the end of the file, or where the kernel
/// stops short.
///
/// # Errors
/// `Unsupported` when the kernel or the file system does not know the way asked for, so that the
/// caller can take another; otherwise what `preadv2` says.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64, caching: Caching) -> io::Result<usize> {
    let flags = match caching {
        Caching::Usual => 0,
        Caching::Leave => RWF_DONTCACHE,
        Caching::NoWait => libc::RWF_NOWAIT,
    };
    let offset: i64 =
        offset.try_into().map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: one live vector element over a buffer that is ours to write for the length given.
    let read = unsafe { libc::preadv2(file.as_raw_fd(), &raw const part, 1, offset, flags) };
    match usize::try_from(read) {
        Ok(read) => Ok(read),
        Err(_) => Err(refusal(io::Error::last_os_error(), caching)),
    }
}

/// Reads on until the buffer is full or the file ends: the number of bytes.
///
/// # Errors
/// As [`read_at`], but for interruptions; what the buffer holds then means nothing.
pub fn fill(file: &File, buffer: &mut [u8], offset: u64, caching: Caching) -> io::Result<usize> {
    fill_by(buffer, offset, 1, |rest, at| read_at(file, rest, at, caching))
}

/// Calls `read` until the buffer is full or the file ends: the number of bytes. Reads under
/// O_DIRECT go on only from a multiple of `grain` bytes; one that stops elsewhere has met the end
/// of the file.
///
/// # Errors
/// As `read`, but for interruptions; what the buffer holds then means nothing.
pub fn fill_by(
    buffer: &mut [u8],
    offset: u64,
    grain: u64,
    mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        if !(filled as u64).is_multiple_of(grain) {
            break;
        }
    }
    Ok(filled)
}

/// ENOSYS: no preadv2; EOPNOTSUPP: no such flag, here or in this file system. EINVAL is left alone:
/// it has other causes.
fn refusal(error: io::Error, caching: Caching) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ENOSYS | libc::EOPNOTSUPP) if caching != Caching::Usual => {
            io::ErrorKind::Unsupported.into()
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn every_way_reads_the_same_or_is_refused_by_name() {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(b"0123456789").unwrap();
        for caching in [Caching::Usual, Caching::Leave, Caching::NoWait] {
            let mut buffer = [0; 16];
            match read_at(&file, &mut buffer, 4, caching) {
                Ok(read) => assert_eq!(&buffer[..read], b"456789"),
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{caching:?}: {error}")
                }
            }
        }
        assert!(read_at(&file, &mut [0; 4], u64::MAX, Caching::Usual).is_err());
    }

    #[test]
    fn a_buffer_is_filled_by_short_reads_up_to_the_end_or_to_one_off_the_grain() {
        let mut steps = [Ok(4), Err(io::ErrorKind::Interrupted.into()), Ok(2), Ok(0)].into_iter();
        let mut asked = Vec::new();
        let read = |rest: &mut [u8], at: u64| {
            asked.push((rest.len(), at));
            steps.next().expect("no further read")
        };
        assert_eq!(fill_by(&mut [0; 10], 100, 1, read).unwrap(), 6);
        assert_eq!(asked, [(10, 100), (6, 104), (6, 104), (4, 106)]);
        let mut steps = [4, 2].into_iter();
        let read =
            |_: &mut [u8], _: u64| Ok(steps.next().expect("no read after one off the grain"));
        assert_eq!(fill_by(&mut [0; 10], 100, 4, read).unwrap(), 6);
        let refused = |_: &mut [u8], _: u64| Err(io::ErrorKind::InvalidInput.into());
        assert!(fill_by(&mut [0; 10], 100, 4, refused).is_err());
    }

    #[test]
    fn leaving_the_cache_alone_brings_nothing_in() {
        use std::os::fd::AsFd;
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![1; 1 << 20]).unwrap();
        file.sync_data().unwrap();
        crate::residency::drop_cached(file.as_fd()).unwrap();
        if crate::residency::resident_bytes(file.as_fd()).unwrap() != Some(0) {
            eprintln!("skipped: the file stays in the page cache (tmpfs?)");
            return;
        }
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
        match read_at(&file, &mut vec![0; 1 << 20], 0, Caching::Leave) {
            Ok(read) => {
                assert!(read > 0);
                assert_eq!(crate::residency::resident_bytes(file.as_fd()).unwrap(), Some(0));
            }
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::Unsupported);
                eprintln!("skipped: no RWF_DONTCACHE here");
            }
        }
    }
}
