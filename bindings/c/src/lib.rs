//! SLEDs for C and Fortran: the calls of Van Meter and Gao (2000, section 4.2, Table 1).
//! `include/seekless_sleds.h` declares and explains them.
//!
//! **Invariant:** no logic of its own. `unsafe` stands in this file, `arrays`, `border` and
//! `descriptor` only, and no panic crosses into C.

#![expect(unsafe_code, reason = "takes and returns the raw pointers of C callers")]

mod arrays;
mod border;
mod descriptor;
mod failure;
mod session;
mod surveyor;
mod table;

use border::{given, put, shielded};
use failure::Failure;
use seekless_read::Records;
use seekless_sled::{Confidence, Level, Plan, Sled, Turnover};
use session::{Elements, Session, Wanted};
use std::ffi::{CStr, c_char, c_double, c_int, c_void};

/// `struct sled`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CSled {
    /// Bytes from the start of the file.
    pub offset: i64,
    /// Bytes.
    pub length: i64,
    /// Seconds to the first byte.
    pub latency: c_double,
    /// Bytes per second from then on.
    pub bandwidth: c_double,
    /// Seconds since the system was asked.
    pub age: c_double,
    /// `enum sleds_level`.
    pub level: i32,
    /// `enum sleds_confidence`.
    pub confidence: i32,
}

/// The levels' names, at their numbers.
const LEVELS: [&CStr; 6] = [c"hole", c"memory", c"device", c"network", c"archive", c"unknown"];

/// Returns all SLEDs of a file.
///
/// # Safety
/// `sleds` and `count` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sleds_get(fd: c_int, sleds: *mut *mut CSled, count: *mut usize) -> c_int {
    shielded(-1, || {
        given(sleds, "sleds")?;
        given(count, "count")?;
        let found =
            descriptor::with(fd, |file| surveyor::surveyed(|surveyor| surveyor.file(file)))?.sleds;
        let array = arrays::allocated(found.iter().map(c_sled))?;
        // SAFETY: neither is null, and the caller lets them be written to.
        unsafe {
            sleds.write(array);
            count.write(found.len());
        }
        Ok(0)
    })
}

/// Frees what [`sleds_get`] returned.
///
/// # Safety
/// `sleds` is null, or came from [`sleds_get`] and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sleds_free(sleds: *mut CSled) {
    // SAFETY: null, or from the malloc in `arrays::allocated` and not freed since.
    unsafe { libc::free(sleds.cast()) };
}

/// Estimates the seconds to deliver all of a file, at worst.
#[unsafe(no_mangle)]
pub extern "C" fn sleds_total_delivery_time(fd: c_int, attack_plan: c_int) -> c_double {
    shielded(-1.0, || delivery_time(fd, attack_plan).map(|(_, high)| high))
}

/// Estimates the seconds at best and at worst.
///
/// # Safety
/// `low` and `high` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sleds_delivery_time_range(
    fd: c_int,
    attack_plan: c_int,
    low: *mut c_double,
    high: *mut c_double,
) -> c_int {
    shielded(-1, || {
        let time = delivery_time(fd, attack_plan)?;
        // SAFETY: the caller lets them be written to.
        unsafe {
            put(low, "low", time.0)?;
            put(high, "high", time.1)?;
        }
        Ok(0)
    })
}

/// Begins a session on a descriptor.
#[unsafe(no_mangle)]
pub extern "C" fn sleds_pick_init(fd: c_int, preferred_buffer_bytes: usize, record: c_int) -> i64 {
    shielded(-1, || {
        let records = match record {
            -1 => Records::None,
            byte => Records::Delimiter(u8::try_from(byte).map_err(|_| {
                Failure::argument(
                    "record: give a byte from 0 to 255, or SLEDS_NO_RECORDS".to_owned(),
                )
            })?),
        };
        table::begin(fd, Wanted::records(preferred_buffer_bytes as u64, records))
    })
}

/// Begins a session with records of one length.
#[unsafe(no_mangle)]
pub extern "C" fn sleds_pick_init_fixed(
    fd: c_int,
    preferred_buffer_bytes: usize,
    origin: i64,
    record_bytes: i64,
) -> i64 {
    shielded(-1, || {
        let records = Elements::new(origin, record_bytes, -1)?;
        table::begin(fd, Wanted::fixed(preferred_buffer_bytes as u64, records))
    })
}

/// Says where to read next.
///
/// # Safety
/// `offset` and `length` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sleds_pick_next_read(
    fd: c_int,
    buffer_bytes: usize,
    whole_records: c_int,
    offset: *mut i64,
    length: *mut usize,
) -> c_int {
    shielded(-1, || {
        given(offset, "offset")?;
        given(length, "length")?;
        let advised = descriptor::with(fd, |file| {
            table::session(fd, |session| {
                session.next_read(file, buffer_bytes as u64, whole_records != 0)
            })
        });
        let (start, bytes, more) = match advised {
            Ok(Some(range)) => (range.start, range.end - range.start, 1),
            Ok(None) => (0, 0, 0),
            Err(failure) => {
                // SAFETY: not null, and the caller lets it be written to.
                unsafe {
                    length.write(usize::try_from(failure.needed_bytes).unwrap_or(usize::MAX))
                };
                return Err(failure);
            }
        };
        // SAFETY: neither is null, and the caller lets them be written to.
        unsafe {
            offset.write(i64::try_from(start).unwrap_or(i64::MAX));
            length.write(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        Ok(more)
    })
}

/// Reads as `pread` does, and leaves cached pages in the cache.
///
/// # Safety
/// `buffer` is null or `bytes` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sleds_pick_read(
    fd: c_int,
    buffer: *mut c_void,
    bytes: usize,
    offset: i64,
) -> libc::ssize_t {
    shielded(-1, || {
        let offset = u64::try_from(offset).map_err(|_| {
            Failure::argument("offset: lies before the start of the file".to_owned())
        })?;
        // SAFETY: as the caller says.
        let buffer = unsafe { arrays::lent(buffer, bytes) }?;
        read(fd, buffer, offset).map(usize::cast_signed)
    })
}

/// Holds cached bytes in memory until they are handed out.
#[unsafe(no_mangle)]
pub extern "C" fn sleds_pick_hold(fd: c_int, bytes: usize) -> libc::ssize_t {
    shielded(-1, || {
        let held = descriptor::with(fd, |file| {
            table::session(fd, |session| Ok::<_, Failure>(session.hold(file, bytes as u64)))
        })?;
        Ok(isize::try_from(held).unwrap_or(isize::MAX))
    })
}

/// Looks at the file again.
#[unsafe(no_mangle)]
pub extern "C" fn sleds_pick_refresh(fd: c_int) -> c_int {
    shielded(-1, || {
        descriptor::with(fd, |file| table::session(fd, |session| session.refresh(file)))?;
        Ok(0)
    })
}

/// Ends the session.
#[unsafe(no_mangle)]
pub extern "C" fn sleds_pick_finish(fd: c_int) -> c_int {
    shielded(-1, || table::finish(fd).map(|()| 0))
}

/// Begins a session that counts in data elements.
#[unsafe(no_mangle)]
pub extern "C" fn ff_sleds_pick_init(
    fd: c_int,
    preferred_buffer_elements: i64,
    origin: i64,
    element_bytes: i64,
    elements: i64,
) -> i64 {
    shielded(-1, || {
        let unit = Elements::new(origin, element_bytes, elements)?;
        let preferred = unit.bytes(preferred_buffer_elements.max(0))?;
        let bytes = table::begin(fd, Wanted::elements(preferred, unit))?;
        Ok(bytes / element_bytes)
    })
}

/// Says which elements to read next.
///
/// # Safety
/// `first` and `count` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ff_sleds_pick_next_read(
    fd: c_int,
    buffer_elements: i64,
    first: *mut i64,
    count: *mut i64,
) -> c_int {
    shielded(-1, || {
        given(first, "first")?;
        given(count, "count")?;
        let next = |session: &mut Session| {
            descriptor::with(fd, |file| session.next_elements(file, buffer_elements))
        };
        let advised = table::session(fd, next)?;
        let (start, elements) = advised.unwrap_or((0, 0));
        // SAFETY: neither is null, and the caller lets them be written to.
        unsafe {
            first.write(start);
            count.write(elements);
        }
        Ok(c_int::from(advised.is_some()))
    })
}

/// Reads as [`sleds_pick_read`], in data elements.
///
/// # Safety
/// `buffer` is null or may be written to for that many elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ff_sleds_pick_read(
    fd: c_int,
    buffer: *mut c_void,
    elements: i64,
    first: i64,
) -> i64 {
    shielded(-1, || {
        let (range, bytes_each) = table::session(fd, |session| session.elements(first, elements))?;
        let bytes = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        // SAFETY: as the caller says; no more elements than were asked for.
        let buffer = unsafe { arrays::lent(buffer, bytes) }?;
        let read = read(fd, buffer, range.start)? as u64;
        Ok(i64::try_from(read / bytes_each).unwrap_or(i64::MAX))
    })
}

/// As [`sleds_pick_refresh`].
#[unsafe(no_mangle)]
pub extern "C" fn ff_sleds_pick_refresh(fd: c_int) -> c_int {
    sleds_pick_refresh(fd)
}

/// As [`sleds_pick_finish`].
#[unsafe(no_mangle)]
pub extern "C" fn ff_sleds_pick_finish(fd: c_int) -> c_int {
    sleds_pick_finish(fd)
}

/// As [`sleds_total_delivery_time`].
#[unsafe(no_mangle)]
pub extern "C" fn ff_sleds_total_delivery_time(fd: c_int, attack_plan: c_int) -> c_double {
    sleds_total_delivery_time(fd, attack_plan)
}

/// The version: major * 1000000 + minor * 1000 + patch.
#[unsafe(no_mangle)]
pub extern "C" fn sleds_version() -> c_int {
    border::version()
}

/// Returns the word for a level.
#[unsafe(no_mangle)]
pub extern "C" fn sleds_level_name(level: c_int) -> *const c_char {
    let name = usize::try_from(level).ok().and_then(|level| LEVELS.get(level));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Says why the last failed call of this thread failed.
#[unsafe(no_mangle)]
pub extern "C" fn sleds_error() -> *const c_char {
    border::last_error()
}

fn read(fd: c_int, buffer: &mut [u8], offset: u64) -> Result<usize, Failure> {
    descriptor::with(fd, |file| Ok::<_, Failure>(table::keeper(fd)?.read(file, buffer, offset)?))
}

fn delivery_time(fd: c_int, attack_plan: c_int) -> Result<(f64, f64), Failure> {
    let plan = match attack_plan {
        0 => Plan::Linear,
        1 => Plan::Best,
        _ => {
            return Err(Failure::argument(
                "attack_plan: give SLEDS_LINEAR or SLEDS_BEST".to_owned(),
            ));
        }
    };
    let survey = descriptor::with(fd, |file| surveyor::surveyed(|surveyor| surveyor.file(file)))?;
    let room = Turnover::look().ok().map(|now| now.room_bytes);
    let time = survey.delivery_time(plan, room);
    Ok((time.low.as_secs_f64(), time.high.as_secs_f64()))
}

fn c_sled(sled: &Sled) -> CSled {
    let whole = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    CSled {
        offset: whole(sled.offset),
        length: whole(sled.bytes),
        latency: sled.latency.as_secs_f64(),
        bandwidth: sled.bandwidth,
        age: sled.age.as_secs_f64(),
        level: match sled.level {
            Level::Hole => 0,
            Level::Memory => 1,
            Level::Device => 2,
            Level::Network => 3,
            Level::Archive => 4,
            _ => 5,
        },
        confidence: match sled.confidence {
            Confidence::Exact => 0,
            Confidence::Sampled => 1,
            Confidence::Unknown => 2,
        },
    }
}

#[cfg(test)]
mod tests;
