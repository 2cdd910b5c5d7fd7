//! Files that are read through a page cache, with a readahead of ours.

use crate::border::{given, shielded};
use crate::failure::Failure;
use crate::{freed, path, text};
use seekless_page_cache::{File, PageCache};
use seekless_policy::readahead::{Options, named};
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

/// The most that a readahead fetches at once.
const WINDOW_BYTES: u64 = 8 << 20;

/// `seekless_page_cache`.
pub struct CPageCache(PageCache);

/// `seekless_file`.
pub struct CFile(File);

/// Makes a cache.
///
/// # Safety
/// `policy` and `readahead` are null or strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_page_cache_make(
    bytes: u64,
    policy: *const c_char,
    readahead: *const c_char,
) -> *mut CPageCache {
    shielded(null_mut(), || {
        // SAFETY: as the caller says.
        let policy = unsafe { word(policy, "policy", "lru") }?;
        // SAFETY: as the caller says.
        let readahead = unsafe { word(readahead, "readahead", "streams") }?;
        let readahead = named(readahead, Options::with_max_bytes(WINDOW_BYTES))?;
        let cache =
            PageCache::builder().bytes(bytes).policy(policy).readahead(readahead).build()?;
        Ok(Box::into_raw(Box::new(CPageCache(cache))))
    })
}

/// Gives a cache back; its open files stay usable.
///
/// # Safety
/// `cache` is null, or was made here and not given back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_page_cache_free(cache: *mut CPageCache) {
    // SAFETY: as the caller says.
    unsafe { freed(cache) };
}

/// Opens a file for reading.
///
/// # Safety
/// `cache` is null or was made here and not given back; `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_file_open(
    cache: *mut CPageCache,
    name: *const c_char,
) -> *mut CFile {
    shielded(null_mut(), || {
        given(cache, "cache")?;
        // SAFETY: not null, and as the caller says.
        let (cache, path) = unsafe { (&(*cache).0, path(name)?) };
        Ok(Box::into_raw(Box::new(CFile(cache.open(path)?))))
    })
}

/// Reads bytes from an offset on.
///
/// # Safety
/// `file` is null or open; `buffer` is null or `bytes` of it may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_file_read_at(
    file: *mut CFile,
    buffer: *mut c_void,
    bytes: usize,
    offset: u64,
) -> i64 {
    shielded(-1, || {
        given(file, "file")?;
        let bytes = bytes.min(isize::MAX as usize);
        if bytes == 0 {
            return Ok(0);
        }
        given(buffer, "buffer")?;
        // SAFETY: neither is null, and the caller lets the bytes be written to. They are set before
        // they are borrowed, since memory of C may never have been.
        let (file, buffer) = unsafe {
            buffer.write_bytes(0, bytes);
            (&(*file).0, std::slice::from_raw_parts_mut(buffer.cast::<u8>(), bytes))
        };
        Ok(file.read_at(buffer, offset)? as i64)
    })
}

/// The size of a file, now.
///
/// # Safety
/// `file` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_file_bytes(file: *mut CFile) -> i64 {
    shielded(-1, || {
        given(file, "file")?;
        // SAFETY: not null, and as the caller says.
        let size = unsafe { &(*file).0 }.size()?;
        Ok(i64::try_from(size).unwrap_or(i64::MAX))
    })
}

/// Closes a file.
///
/// # Safety
/// `file` is null, or was opened here and not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_file_close(file: *mut CFile) {
    // SAFETY: as the caller says.
    unsafe { freed(file) };
}

/// A word, or the usual one for null.
///
/// # Safety
/// `pointer` is null or a string, for as long as the result lasts.
unsafe fn word<'a>(
    pointer: *const c_char,
    name: &str,
    usual: &'static str,
) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Ok(usual);
    }
    // SAFETY: as the caller says.
    unsafe { text(pointer, name) }
}
