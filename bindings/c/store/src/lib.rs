//! The archive store for C and C++. `include/seekless_store.h` declares and explains the calls.
//!
//! **Invariant:** no logic of its own. `unsafe` stands in this file, `options`, `page_cache` and
//! `border` only, and no panic crosses into C.

#![expect(unsafe_code, reason = "takes and returns the raw pointers of C callers")]

#[path = "../../src/border.rs"]
mod border;
mod failure;
mod options;
pub mod page_cache;

use border::{given, put, shielded};
use failure::Failure;
use options::{COptions, put_versioned};
use seekless_io::{Buffer, Hint, LoadMany, Store};
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::ptr::null_mut;

/// `seekless_store`.
pub struct CStore(Store);

/// `seekless_buffer`.
pub struct CBuffer(Buffer);

/// `seekless_store_many`.
pub struct CMany(LoadMany);

/// `struct seekless_store_source`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CSource {
    /// `enum seekless_store_source_kind`.
    pub kind: i32,
    /// A path.
    pub path: *const c_char,
}

/// `struct seekless_store_statistics`: the fields of [`seekless_io::Statistics`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "named as the fields that they copy")]
pub struct CStatistics {
    pub hits: u64,
    pub joined: u64,
    pub revived: u64,
    pub misses: u64,
    pub bypassed: u64,
    pub read_ahead_hits: u64,
    pub ranges: u64,
    pub failed: u64,
    pub delivered_bytes: u64,
    pub coded_bytes: u64,
    pub read_bytes: u64,
    pub unused_bytes: u64,
    pub reads: u64,
    pub depth_max: u64,
    pub waits: u64,
    pub wait_ns: u64,
    pub wait_p50_ns: u64,
    pub wait_p99_ns: u64,
    pub wait_max_ns: u64,
    pub predicted_bytes: u64,
    pub predicted_used_bytes: u64,
}

/// Fills in the usual options.
///
/// # Safety
/// `options` is null or `struct_bytes` of it may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_store_options_init(options: *mut COptions, struct_bytes: usize) {
    shielded((), || {
        let usual = COptions { struct_bytes, ..COptions::default() };
        // SAFETY: as the caller says; the fields leave no gaps.
        unsafe { put_versioned(options, "options", struct_bytes, &usual) }
    });
}

/// Opens an archive.
///
/// # Safety
/// `path` is null or a string; `options` is null or as `seekless_store_options_init` left them, and
/// its policy null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_store_open(
    path: *const c_char,
    options: *const COptions,
) -> *mut CStore {
    let source = CSource { kind: 0, path };
    // SAFETY: one source, and the rest as the caller says.
    unsafe { seekless_store_open_all(&raw const source, 1, options) }
}

/// Opens several archives and folders.
///
/// # Safety
/// As [`seekless_store_open`]; `sources` is null or has `count` sources, whose paths are null or
/// strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_store_open_all(
    sources: *const CSource,
    count: usize,
    options: *const COptions,
) -> *mut CStore {
    shielded(null_mut(), || {
        // SAFETY: as the caller says.
        let mut builder = unsafe { COptions::of(options)?.builder()? };
        // SAFETY: as the caller says.
        for source in unsafe { list(sources, count, "sources") }? {
            // SAFETY: as the caller says.
            let path = unsafe { path(source.path) }?;
            builder = match source.kind {
                0 => builder.archive(path),
                1 => builder.folder(path),
                kind => return Err(Failure::argument(format!("kind: there is no {kind}"))),
            };
        }
        Ok(Box::into_raw(Box::new(CStore(builder.open_all()?))))
    })
}

/// Closes a store.
///
/// # Safety
/// `store` is null, or was opened here and not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_store_close(store: *mut CStore) {
    // SAFETY: as the caller says.
    unsafe { freed(store) };
}

/// Loads a file.
///
/// # Safety
/// `store` is null or open; `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_store_load(
    store: *mut CStore,
    name: *const c_char,
) -> *mut CBuffer {
    shielded(null_mut(), || {
        // SAFETY: as the caller says.
        let (store, name) = unsafe { (opened(store)?, text(name, "name")?) };
        Ok(handed_out(store.load(name)?))
    })
}

/// Reads a part of a file.
///
/// # Safety
/// As [`seekless_store_load`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_store_read_range(
    store: *mut CStore,
    name: *const c_char,
    offset: u64,
    bytes: u64,
) -> *mut CBuffer {
    shielded(null_mut(), || {
        // SAFETY: as the caller says.
        let (store, name) = unsafe { (opened(store)?, text(name, "name")?) };
        Ok(handed_out(store.read_range(name, offset..offset.saturating_add(bytes))?))
    })
}

/// Begins to load many files.
///
/// # Safety
/// `store` is null or open; `names` is null or has `count` pointers that are null or strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_store_load_many(
    store: *mut CStore,
    names: *const *const c_char,
    count: usize,
) -> *mut CMany {
    shielded(null_mut(), || {
        // SAFETY: as the caller says.
        let (store, names) = unsafe { (opened(store)?, list(names, count, "names")?) };
        // SAFETY: as the caller says.
        let texts = names.iter().map(|&name| unsafe { text(name, "a name") });
        let names = texts.collect::<Result<Vec<&str>, Failure>>()?;
        Ok(Box::into_raw(Box::new(CMany(store.load_many(names)))))
    })
}

/// Waits for the next file.
///
/// # Safety
/// `many` is null, or was begun here and not ended, and is used by no other thread now; `position`
/// and `buffer` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_store_many_next(
    many: *mut CMany,
    position: *mut usize,
    buffer: *mut *mut CBuffer,
) -> c_int {
    shielded(-1, || {
        given(many, "many")?;
        given(position, "position")?;
        // SAFETY: neither is null, and the caller lets them be used.
        unsafe { put(buffer, "buffer", null_mut())? };
        // SAFETY: as above.
        let Some((at, result)) = (unsafe { &mut (*many).0 }).next() else { return Ok(0) };
        // SAFETY: not null, and the caller lets it be written to.
        unsafe { position.write(at) };
        let file = handed_out(result?);
        // SAFETY: as above.
        unsafe { buffer.write(file) };
        Ok(1)
    })
}

/// Ends the iterator.
///
/// # Safety
/// `many` is null, or was begun here and not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_store_many_end(many: *mut CMany) {
    // SAFETY: as the caller says.
    unsafe { freed(many) };
}

/// The content of a file.
///
/// # Safety
/// `buffer` was loaded here and not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_buffer_data(buffer: *const CBuffer) -> *const u8 {
    // SAFETY: as the caller says, or null.
    unsafe { buffer.as_ref() }.map_or(c"".as_ptr().cast(), |buffer| buffer.0.as_ptr())
}

/// Its size in bytes.
///
/// # Safety
/// As [`seekless_buffer_data`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_buffer_bytes(buffer: *const CBuffer) -> usize {
    // SAFETY: as the caller says, or null.
    unsafe { buffer.as_ref() }.map_or(0, |buffer| buffer.0.len())
}

/// Gives a buffer back.
///
/// # Safety
/// `buffer` is null, or was loaded here and not released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_buffer_release(buffer: *mut CBuffer) {
    // SAFETY: as the caller says.
    unsafe { freed(buffer) };
}

/// Says how long a file will be needed.
///
/// # Safety
/// As [`seekless_store_load`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_store_hint(
    store: *mut CStore,
    name: *const c_char,
    hint: c_int,
    cost: u32,
) -> c_int {
    shielded(-1, || {
        // SAFETY: as the caller says.
        let (store, name) = unsafe { (opened(store)?, text(name, "name")?) };
        let hint = match hint {
            0 => Hint::Once,
            1 => Hint::Usual,
            2 => Hint::LongLived,
            3 => Hint::Cost(cost),
            4 => Hint::Urgent,
            other => return Err(Failure::argument(format!("hint: there is no {other}"))),
        };
        store.hint(name, hint)?;
        Ok(0)
    })
}

/// Writes the statistics.
///
/// # Safety
/// `store` is null or open; `statistics` is null or `struct_bytes` of it may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seekless_store_get_statistics(
    store: *const CStore,
    statistics: *mut CStatistics,
    struct_bytes: usize,
) -> c_int {
    shielded(-1, || {
        // SAFETY: as the caller says.
        let of = unsafe { opened(store) }?.statistics();
        let found = CStatistics {
            hits: of.hits,
            joined: of.joined,
            revived: of.revived,
            misses: of.misses,
            bypassed: of.bypassed,
            read_ahead_hits: of.read_ahead_hits,
            ranges: of.ranges,
            failed: of.failed,
            delivered_bytes: of.delivered_bytes,
            coded_bytes: of.coded_bytes,
            read_bytes: of.read_bytes,
            unused_bytes: of.unused_bytes,
            reads: of.reads,
            depth_max: of.depth_max,
            waits: of.waits,
            wait_ns: of.wait_ns,
            wait_p50_ns: of.wait_p50_ns,
            wait_p99_ns: of.wait_p99_ns,
            wait_max_ns: of.wait_max_ns,
            predicted_bytes: of.predicted.bytes,
            predicted_used_bytes: of.predicted.used_bytes,
        };
        // SAFETY: as the caller says; all fields are of one size.
        unsafe { put_versioned(statistics, "statistics", struct_bytes, &found)? };
        Ok(0)
    })
}

/// The version: major * 1000000 + minor * 1000 + patch.
#[unsafe(no_mangle)]
pub extern "C" fn seekless_store_version() -> c_int {
    border::version()
}

/// Says why the last failed call of this thread failed.
#[unsafe(no_mangle)]
pub extern "C" fn seekless_store_error() -> *const c_char {
    border::last_error()
}

fn handed_out(buffer: Buffer) -> *mut CBuffer {
    Box::into_raw(Box::new(CBuffer(buffer)))
}

/// Drops what was handed out; null is nothing. A panic ends here.
///
/// # Safety
/// `pointer` is null, or came from a box and was not freed.
unsafe fn freed<T>(pointer: *mut T) {
    if !pointer.is_null() {
        shielded((), || {
            // SAFETY: as the caller says.
            drop(unsafe { Box::from_raw(pointer) });
            Ok(())
        });
    }
}

/// # Safety
/// `store` is null or open for as long as the result lasts.
unsafe fn opened<'a>(store: *const CStore) -> Result<&'a Store, Failure> {
    // SAFETY: as the caller says.
    match unsafe { store.as_ref() } {
        Some(store) => Ok(&store.0),
        None => Err(Failure::argument("store is NULL".to_owned())),
    }
}

/// # Safety
/// `items` is null or has `count` items, for as long as the result lasts.
unsafe fn list<'a, T>(items: *const T, count: usize, name: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    given(items.cast_mut(), name)?;
    if count.checked_mul(size_of::<T>()).is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        return Err(Failure::argument(format!("{name}: {count} are more than memory has")));
    }
    // SAFETY: not null, of a length that a slice may have, and the caller's for as long.
    Ok(unsafe { std::slice::from_raw_parts(items, count) })
}

/// # Safety
/// `pointer` is null or a string, for as long as the result lasts.
unsafe fn bytes_of<'a>(pointer: *const c_char, name: &str) -> Result<&'a CStr, Failure> {
    given(pointer.cast_mut(), name)?;
    // SAFETY: not null, hence a string.
    Ok(unsafe { CStr::from_ptr(pointer) })
}

/// # Safety
/// As [`bytes_of`].
unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str, Failure> {
    // SAFETY: as the caller says.
    let text = unsafe { bytes_of(pointer, name) }?;
    text.to_str().map_err(|_| Failure::argument(format!("{name} is not UTF-8")))
}

/// # Safety
/// As [`bytes_of`].
unsafe fn path<'a>(pointer: *const c_char) -> Result<&'a Path, Failure> {
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: as the caller says.
    let bytes = unsafe { bytes_of(pointer, "path") }?.to_bytes();
    Ok(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}
