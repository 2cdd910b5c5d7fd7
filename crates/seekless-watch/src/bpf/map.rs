//! Tables that programs in the kernel and we ourselves read and write.

use super::{
    Attributes, MAP_CREATE, MAP_DELETE_ELEM, MAP_GET_NEXT_KEY, MAP_LOOKUP_ELEM, MAP_UPDATE_ELEM,
    call, halves,
};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The kind of a table, by the kernel's number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A hash whose memory is taken as it fills: made sooner, filled more slowly.
    Growing = 1 << 8 | 1,
    Array = 2,
    /// Programs that others go on to.
    Programs = 3,
    /// An array, one for each processor.
    ArrayEach = 6,
    /// A hash that forgets what was not used for long.
    Recent = 9,
    /// Tables.
    Maps = 12,
    Ring = 27,
}

/// Beside the kernel's number.
const GROWING: u32 = 1 << 8;
/// BPF_F_NO_PREALLOC.
const NO_PREALLOC: u32 = 1;

/// A table. Keys and values here are of four or eight bytes, as the table was made.
#[derive(Debug)]
pub(crate) struct Map {
    descriptor: OwnedFd,
    key_bytes: u32,
    value_bytes: u32,
}

impl Map {
    /// # Errors
    /// This process may not (CAP_BPF), or there is no memory.
    pub(crate) fn create(
        kind: Kind,
        key_bytes: u32,
        value_bytes: u32,
        entries: u32,
    ) -> io::Result<Self> {
        Self::create_like(kind, key_bytes, value_bytes, entries, 0)
    }

    /// A table with a place for one other table, in which `first` is. Others that it takes in are
    /// like that one.
    ///
    /// # Errors
    /// As [`Map::create`].
    pub(crate) fn with(first: &Self) -> io::Result<Self> {
        let place = Self::create_like(Kind::Maps, 4, 4, 1, first.as_raw_fd() as u32)?;
        place.set_map(0, first)?;
        Ok(place)
    }

    fn create_like(
        kind: Kind,
        key_bytes: u32,
        value_bytes: u32,
        entries: u32,
        inner: u32,
    ) -> io::Result<Self> {
        let mut attributes = Attributes::default();
        let kind = kind as u32;
        let flags = if kind & GROWING != 0 { NO_PREALLOC } else { 0 };
        attributes[0] = halves(kind & !GROWING, key_bytes);
        attributes[1] = halves(value_bytes, entries);
        attributes[2] = halves(flags, inner);
        let made = call(MAP_CREATE, &attributes)?;
        // SAFETY: a descriptor that the kernel has just made for us.
        let descriptor = unsafe { OwnedFd::from_raw_fd(made) };
        Ok(Self { descriptor, key_bytes, value_bytes })
    }

    /// Sets the value of a key of four bytes. Values are of four or eight bytes.
    pub(crate) fn set(&self, key: u32, value: u64) -> io::Result<()> {
        self.check(8)?;
        self.element(MAP_UPDATE_ELEM, &key, (&raw const value) as u64).map(drop)
    }

    /// Puts a loaded program under a key. The table keeps it.
    pub(crate) fn set_program(&self, key: u32, program: &OwnedFd) -> io::Result<()> {
        self.set_descriptor(key, program.as_raw_fd())
    }

    /// Puts a table under a key. When this returns, no program uses the former one any more.
    pub(crate) fn set_map(&self, key: u32, map: &Self) -> io::Result<()> {
        self.set_descriptor(key, map.as_raw_fd())
    }

    fn set_descriptor(&self, key: u32, descriptor: RawFd) -> io::Result<()> {
        let fits = self.key_bytes == 4 && self.value_bytes == 4;
        if !fits {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.element(MAP_UPDATE_ELEM, &key, (&raw const descriptor) as u64).map(drop)
    }

    /// The value of a key of four bytes, if it has one.
    pub(crate) fn get(&self, key: u32) -> Option<u64> {
        self.check(8).ok()?;
        let mut value = 0_u64;
        self.element(MAP_LOOKUP_ELEM, &key, (&raw mut value) as u64).ok()?;
        Some(value)
    }

    /// Removes a key of four bytes, if it is there.
    pub(crate) fn remove(&self, key: u32) {
        let _ = self.element(MAP_DELETE_ELEM, &key, 0); // it may have gone meanwhile
    }

    /// Whether it has any key.
    pub(crate) fn has_any(&self) -> bool {
        let mut next = [0_u64; 2];
        let mut attributes = Attributes::default();
        attributes[0] = halves(self.descriptor.as_raw_fd() as u32, 0);
        attributes[2] = (&raw mut next) as u64;
        self.key_bytes <= 16 && call(MAP_GET_NEXT_KEY, &attributes).is_ok()
    }

    /// All keys of four bytes. Those that come or go meanwhile may be left out.
    pub(crate) fn keys(&self) -> Vec<u32> {
        let (mut keys, mut next) = (Vec::new(), 0_u32);
        let mut key;
        let mut attributes = Attributes::default();
        attributes[0] = halves(self.descriptor.as_raw_fd() as u32, 0);
        attributes[2] = (&raw mut next) as u64;
        // A key that goes meanwhile makes the walk begin again.
        while self.key_bytes == 4 && call(MAP_GET_NEXT_KEY, &attributes).is_ok() {
            if keys.contains(&next) {
                break;
            }
            key = next;
            keys.push(key);
            attributes[1] = (&raw const key) as u64;
        }
        keys
    }

    fn check(&self, value_bytes: u32) -> io::Result<()> {
        let fits = self.key_bytes == 4 && self.value_bytes == value_bytes;
        if fits { Ok(()) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    fn element(&self, command: u32, key: &u32, value: u64) -> io::Result<i32> {
        let mut attributes = Attributes::default();
        attributes[0] = halves(self.descriptor.as_raw_fd() as u32, 0);
        attributes[1] = std::ptr::from_ref(key) as u64;
        attributes[2] = value;
        call(command, &attributes)
    }
}

impl AsRawFd for Map {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

impl AsFd for Map {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
