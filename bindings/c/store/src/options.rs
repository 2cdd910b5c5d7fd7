//! The options of a store as C gives them. A struct of an older header is shorter, one of a newer
//! header longer: what both know counts.

use crate::border::given;
use crate::failure::Failure;
use crate::text;
use seekless_engine::EngineKind;
use seekless_io::{Costs, Store, StoreBuilder};
use std::ffi::c_char;
use std::mem::{MaybeUninit, size_of};

/// `SEEKLESS_STORE_USUAL`.
const USUAL: u64 = u64::MAX;

/// `struct seekless_store_options`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct COptions {
    /// What the caller's header calls its size.
    pub struct_bytes: usize,
    /// Bytes of content that the cache keeps.
    pub cache_bytes: u64,
    /// Bytes kept of reads for files not yet asked for.
    pub read_ahead_bytes: u64,
    /// Bytes that a list of loads is read ahead.
    pub window_bytes: u64,
    /// Bytes of the largest file that is loaded.
    pub max_entry_bytes: u64,
    /// The eviction policy; null is `landlord`.
    pub policy: *const c_char,
    /// Nanoseconds that a request costs; 0 is unknown.
    pub request_ns: u64,
    /// Bytes per second that the device delivers; 0 is unknown.
    pub bytes_per_second: u64,
    /// Requests that it serves at once; 0 is unknown.
    pub depth: u32,
    /// Threads that decode; 0 is as many as cores.
    pub workers: u32,
    /// `enum seekless_store_engine`.
    pub engine: i32,
    /// Whether to read past the page cache.
    pub direct: i32,
}

impl Default for COptions {
    fn default() -> Self {
        Self {
            struct_bytes: size_of::<Self>(),
            cache_bytes: USUAL,
            read_ahead_bytes: USUAL,
            window_bytes: USUAL,
            max_entry_bytes: USUAL,
            policy: std::ptr::null(),
            request_ns: 0,
            bytes_per_second: 0,
            depth: 0,
            workers: 0,
            engine: 0,
            direct: 1,
        }
    }
}

impl COptions {
    /// The caller's options; of fields that its header does not have, the usual.
    ///
    /// # Safety
    /// `options` is null or points to as many bytes as its `struct_bytes` says.
    pub(crate) unsafe fn of(options: *const Self) -> Result<Self, Failure> {
        if options.is_null() {
            return Ok(Self::default());
        }
        // SAFETY: not null, and every version of the struct begins with its size.
        let given = unsafe { (&raw const (*options).struct_bytes).read() };
        if given < size_of::<usize>() {
            let why = "options: struct_bytes is not set; call seekless_store_options_init first";
            return Err(Failure::argument(why.to_owned()));
        }
        let mut found = MaybeUninit::new(Self::default());
        // SAFETY: the caller vouches for `given` bytes, and `found` has all that are copied. Every
        // field holds any bytes.
        let found = unsafe {
            let bytes = given.min(size_of::<Self>());
            std::ptr::copy_nonoverlapping(options.cast::<u8>(), found.as_mut_ptr().cast(), bytes);
            found.assume_init()
        };
        Ok(found)
    }

    /// A builder with these settings.
    ///
    /// # Safety
    /// `policy` is null or a string.
    pub(crate) unsafe fn builder(&self) -> Result<StoreBuilder, Failure> {
        let kind = match self.engine {
            0 => EngineKind::Auto,
            1 => EngineKind::Ring,
            2 => EngineKind::Threads,
            other => return Err(Failure::argument(format!("engine: there is no {other}"))),
        };
        let mut builder = Store::builder().engine(kind).direct(self.direct != 0);
        if self.cache_bytes != USUAL {
            builder = builder.cache(self.cache_bytes);
        }
        if self.read_ahead_bytes != USUAL {
            builder = builder.read_ahead_cache(self.read_ahead_bytes);
        }
        if self.window_bytes != USUAL {
            builder = builder.window(self.window_bytes);
        }
        if self.max_entry_bytes != USUAL {
            builder = builder.max_entry_bytes(self.max_entry_bytes);
        }
        if !self.policy.is_null() {
            // SAFETY: as the caller says.
            builder = builder.policy(unsafe { text(self.policy, "policy") }?);
        }
        if self.workers > 0 {
            builder = builder.workers(self.workers as usize);
        }
        match (self.request_ns, self.bytes_per_second, self.depth) {
            (0, 0, 0) => Ok(builder),
            (request_ns, bytes_per_second @ 1.., depth @ 1..) => {
                Ok(builder.costs(Costs { request_ns, bytes_per_second, depth }))
            }
            _ => {
                let why = "give bytes_per_second and depth, too, or leave all three 0";
                Err(Failure::argument(why.to_owned()))
            }
        }
    }
}

/// Writes as much of `value` as a struct of `bytes` bytes has, and zeros behind it.
///
/// # Safety
/// `target` is null or `bytes` of it may be written to. `T` has no padding.
pub(crate) unsafe fn put_versioned<T: Copy>(
    target: *mut T,
    name: &str,
    bytes: usize,
    value: &T,
) -> Result<(), Failure> {
    given(target, name)?;
    let known = bytes.min(size_of::<T>());
    // SAFETY: not null, and the caller lets `bytes` of it be written to; `value` has `known`.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const *value).cast::<u8>(), target.cast(), known);
        target.cast::<u8>().add(known).write_bytes(0, bytes - known);
    }
    Ok(())
}
