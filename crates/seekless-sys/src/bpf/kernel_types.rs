//! Where the fields of the kernel's structs are: its own type information (BTF), as it publishes it
//! in /sys. Only offsets are read from it.

use super::published::Published;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io;

const PUBLISHED: &str = "/sys/kernel/btf/vmlinux";
const MAGIC: u16 = 0xeb9f;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const POINTER: u32 = 2;
const NAMED: u32 = 8;
const FUNCTION: u32 = 13;
/// What a type takes at least, in bytes.
const TYPE_BYTES: usize = 12;
/// A chain of unnamed structs within structs is not longer.
const DEPTH_MAX: u32 = 8;

/// The types, and where each begins.
pub(crate) struct KernelTypes {
    bytes: Published,
    /// By number; type 0 is void.
    starts: Vec<u32>,
    /// Where those begin that are asked for by name: a ninth of all.
    structs: Vec<u32>,
    named: Vec<u32>,
    names: usize,
    /// Where the structs of a name begin, of names that were asked for.
    found: RefCell<HashMap<String, Vec<usize>>>,
}

impl KernelTypes {
    /// # Errors
    /// The kernel publishes none (it was built without them), or in another form.
    pub(crate) fn of_this_kernel() -> io::Result<Self> {
        Self::parse(Published::open(PUBLISHED.as_ref())?)
            .ok_or_else(|| io::Error::other(format!("{PUBLISHED} is not understood")))
    }

    fn parse(bytes: Published) -> Option<Self> {
        if u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]) != MAGIC {
            return None;
        }
        let header = |at| number(&bytes, at).map(|number| number as usize);
        let length = header(4)?;
        let mut at = length.checked_add(header(8)?)?;
        let end = at.checked_add(header(12)?)?;
        let names = length.checked_add(header(16)?)?;
        if bytes.len() < end.max(names.checked_add(header(20)?)?) {
            return None;
        }
        let mut starts = Vec::with_capacity((end - at) / TYPE_BYTES);
        let (mut structs, mut named) = (Vec::new(), Vec::new());
        starts.push(0);
        while at < end {
            let start = u32::try_from(at).ok()?;
            starts.push(start);
            let info = number(&bytes, at + 4)?;
            match kind(info) {
                STRUCT => structs.push(start),
                NAMED => named.push(start),
                _ => {}
            }
            at += 12 + extra_bytes(kind(info), members(info))?;
        }
        Some(Self { bytes, starts, structs, named, names, found: RefCell::default() })
    }

    /// The offset in bytes of a field of the struct with this name.
    ///
    /// # Errors
    /// This kernel has no such struct or field.
    pub(crate) fn offset(&self, of: &str, field: &str) -> io::Result<i32> {
        let mut known = self.found.borrow_mut();
        let structs = known.entry(of.to_owned()).or_insert_with(|| self.all_of(&self.structs, of));
        structs.iter().find_map(|&at| self.field(at, field, DEPTH_MAX)).ok_or_else(|| {
            io::Error::new(io::ErrorKind::Unsupported, format!("this kernel has no {of}.{field}"))
        })
    }

    /// How many arguments a function has to whose pointer this name is given.
    pub(crate) fn arguments(&self, name: &str) -> Option<usize> {
        let named = *self.all_of(&self.named, name).first()?;
        let next = |at: usize| self.start(number(&self.bytes, at + 8)?);
        let (pointer, function) = (next(named)?, next(next(named)?)?);
        let info = |at: usize| number(&self.bytes, at + 4);
        let is_one = kind(info(pointer)?) == POINTER && kind(info(function)?) == FUNCTION;
        is_one.then_some(members(info(function)?))
    }

    /// Where the type of this number begins.
    fn start(&self, number: u32) -> Option<usize> {
        self.starts.get(number as usize).map(|&start| start as usize)
    }

    /// Those of the types that have this name.
    fn all_of(&self, types: &[u32], name: &str) -> Vec<usize> {
        let types = types.iter().map(|&start| start as usize);
        types.filter(|&at| self.is_named(at, name)).collect()
    }

    /// Looks into unnamed structs and unions, too.
    fn field(&self, at: usize, field: &str, depth: u32) -> Option<i32> {
        let info = number(&self.bytes, at + 4)?;
        if depth == 0 || !matches!(kind(info), STRUCT | UNION) {
            return None;
        }
        let has_bitfields = info >> 31 == 1;
        (0..members(info)).find_map(|member| {
            let at = at + 12 + 12 * member;
            let bits = number(&self.bytes, at + 8)?;
            let bytes = (if has_bitfields { bits & 0xff_ffff } else { bits } / 8) as i32;
            if self.is_named(at, field) {
                return Some(bytes);
            }
            let inner = self.start(number(&self.bytes, at + 4)?)?;
            let is_unnamed = number(&self.bytes, at)? == 0;
            is_unnamed.then(|| self.field(inner, field, depth - 1)).flatten().map(|at| bytes + at)
        })
    }

    /// Whether the type or member at this place has this name.
    fn is_named(&self, at: usize, name: &str) -> bool {
        let Some(offset) = number(&self.bytes, at) else { return false };
        let start = self.names + offset as usize;
        let end = start + name.len();
        self.bytes.get(start..end) == Some(name.as_bytes()) && self.bytes.get(end) == Some(&0)
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

fn kind(info: u32) -> u32 {
    info >> 24 & 0x1f
}

fn members(info: u32) -> usize {
    (info & 0xffff) as usize
}

/// What follows the twelve bytes that begin every type. `None` for a kind that we do not know.
fn extra_bytes(kind: u32, members: usize) -> Option<usize> {
    Some(match kind {
        1 | 14 | 17 => 4,                         // integer, variable, mark
        3 => 12,                                  // array
        STRUCT | UNION | 15 | 19 => 12 * members, // also a section, and a wide enumeration
        6 | FUNCTION => 8 * members,              // enumeration, function's type
        POINTER | 7..=12 | 16 | 18 => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `struct a { int x; struct { int y; }; }` with the inner one first.
    fn types() -> Vec<u8> {
        let word = |number: u32| number.to_ne_bytes().to_vec();
        let (one_member, two_members) = (STRUCT << 24 | 1, STRUCT << 24 | 2);
        let inner = [word(0), word(one_member), word(4), word(5), word(0), word(0)].concat();
        let outer = [
            [word(1), word(two_members), word(8)].concat(),
            [word(3), word(0), word(0)].concat(),
            [word(0), word(1), word(32)].concat(),
        ];
        let types = [inner, outer.concat()].concat();
        let names = b"\0a\0x\0y\0";
        let mut header = MAGIC.to_ne_bytes().to_vec();
        header.extend([1, 0]);
        let length = types.len() as u32;
        for number in [24, 0, length, length, names.len() as u32] {
            header.extend(word(number));
        }
        [header, types, names.to_vec()].concat()
    }

    #[test]
    fn fields_are_found_also_in_unnamed_structs() {
        let types = KernelTypes::parse(Published::Read(types())).unwrap();
        assert_eq!(types.offset("a", "x").unwrap(), 0);
        assert_eq!(types.offset("a", "y").unwrap(), 4);
        assert!(types.offset("a", "z").is_err() && types.offset("b", "x").is_err());
    }

    #[test]
    fn bytes_that_are_cut_off_are_refused() {
        let whole = types();
        assert!(KernelTypes::parse(Published::Read(whole[..60].to_vec())).is_none());
        assert!(KernelTypes::parse(Published::Read(Vec::new())).is_none());
    }
}
