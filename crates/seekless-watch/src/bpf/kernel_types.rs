//! Where the fields of the kernel's structs are: its own type information (BTF), as it publishes it
//! in /sys. Only offsets are read from it.

use super::published::Published;
use std::collections::HashMap;
use std::io;

const PUBLISHED: &str = "/sys/kernel/btf/vmlinux";
const MAGIC: u16 = 0xeb9f;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const POINTER: u32 = 2;
const NAMED: u32 = 8;
const FUNCTION: u32 = 12;
const FUNCTION_TYPE: u32 = 13;
/// A chain of unnamed structs within structs is not longer.
const DEPTH_MAX: u32 = 8;

/// What is kept of a name's first four letters: a number below this.
const BEGINNINGS: usize = 1 << 12;
/// One type in this many is noted with its start.
const STRIDE: usize = 16;

/// The types: some 150,000.
pub(crate) struct KernelTypes {
    bytes: Published,
    /// Where every sixteenth type begins, from type 0, which is void and takes no room, on.
    starts: Vec<u32>,
    names: usize,
    /// The numbers of structs and given names, and where they begin, by the names that were asked
    /// for.
    found: HashMap<&'static str, Vec<(u32, usize)>>,
    function: Option<u32>,
}

impl KernelTypes {
    /// Only structs and given names that are `wanted` and this `function` can be asked for
    /// afterwards. All have names of four letters or more.
    ///
    /// # Errors
    /// The kernel publishes none (it was built without them), or in another form.
    pub(crate) fn of_this_kernel(
        wanted: &[&'static str],
        function: &'static str,
    ) -> io::Result<Self> {
        Self::parse(Published::open(PUBLISHED.as_ref())?, wanted, function)
            .ok_or_else(|| io::Error::other(format!("{PUBLISHED} is not understood")))
    }

    fn parse(bytes: Published, wanted: &[&'static str], function: &'static str) -> Option<Self> {
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
        let mut types = Self {
            starts: vec![u32::try_from(at).ok()?],
            bytes,
            names,
            found: wanted.iter().map(|&name| (name, Vec::new())).collect(),
            function: None,
        };
        let mut beginnings = [false; BEGINNINGS];
        for name in wanted {
            beginnings[beginning(name.as_bytes(), 0)?] = true;
        }
        for count in 1_u32.. {
            if at >= end {
                break;
            }
            if (count as usize).is_multiple_of(STRIDE) {
                types.starts.push(u32::try_from(at).ok()?);
            }
            let info = number(&types.bytes, at + 4)?;
            match kind(info) {
                STRUCT | NAMED => types.note(count, at, &beginnings, wanted),
                // Four of ten types are functions.
                FUNCTION if types.function.is_none() && types.is_named(at, function) => {
                    types.function = Some(count);
                }
                _ => {}
            }
            at += 12 + extra_bytes(kind(info), members(info))?;
        }
        Some(types)
    }

    /// Notes a type, if its name is wanted. Most names do not begin as any of those, so few are
    /// compared.
    fn note(
        &mut self,
        number: u32,
        at: usize,
        beginnings: &[bool; BEGINNINGS],
        wanted: &[&'static str],
    ) {
        let name = self::number(&self.bytes, at).map(|offset| self.names + offset as usize);
        let beginning = name.and_then(|name| beginning(&self.bytes, name));
        if !beginning.is_some_and(|beginning| beginnings[beginning]) {
            return;
        }
        if let Some(name) = wanted.iter().find(|name| self.is_named(at, name)) {
            self.found.entry(name).or_default().push((number, at));
        }
    }

    /// The offset in bytes of a field of the struct with this name.
    ///
    /// # Errors
    /// This kernel has no such struct or field.
    pub(crate) fn offset(&self, of: &str, field: &str) -> io::Result<i32> {
        self.all_of(of).find_map(|(_, at)| self.field(at, field, DEPTH_MAX)).ok_or_else(|| {
            io::Error::new(io::ErrorKind::Unsupported, format!("this kernel has no {of}.{field}"))
        })
    }

    /// How many arguments a function has to whose pointer this name is given.
    pub(crate) fn arguments(&self, name: &str) -> Option<usize> {
        let named = self.one_of(name, NAMED)?.1;
        let next = |at: usize| self.start(number(&self.bytes, at + 8)?);
        let (pointer, function) = (next(named)?, next(next(named)?)?);
        let info = |at: usize| number(&self.bytes, at + 4);
        let is_one = kind(info(pointer)?) == POINTER && kind(info(function)?) == FUNCTION_TYPE;
        is_one.then_some(members(info(function)?))
    }

    /// The number of the struct with this name.
    pub(crate) fn structure(&self, name: &str) -> Option<i32> {
        self.one_of(name, STRUCT)?.0.try_into().ok()
    }

    /// The number of the function that was wanted.
    pub(crate) fn function(&self) -> Option<i32> {
        self.function?.try_into().ok()
    }

    fn one_of(&self, name: &str, kind: u32) -> Option<(u32, usize)> {
        self.all_of(name).find(|(_, at)| self.kind_at(*at) == Some(kind))
    }

    /// Where the type of this number begins.
    fn start(&self, number: u32) -> Option<usize> {
        let number = number as usize;
        let mut at = *self.starts.get(number / STRIDE)? as usize;
        // Of the first stride there is one type less: void.
        let from = if number < STRIDE { 1 } else { number / STRIDE * STRIDE };
        for _ in from..number {
            let info = self::number(&self.bytes, at + 4)?;
            at += 12 + extra_bytes(kind(info), members(info))?;
        }
        (number > 0).then_some(at)
    }

    fn kind_at(&self, at: usize) -> Option<u32> {
        number(&self.bytes, at + 4).map(kind)
    }

    /// The types of this name: their numbers, and where they begin.
    fn all_of(&self, name: &str) -> impl Iterator<Item = (u32, usize)> {
        self.found.get(name).into_iter().flatten().copied()
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

/// Of the name at this place.
fn beginning(names: &[u8], at: usize) -> Option<usize> {
    const GOLDEN_RATIO: u32 = 0x9e37_79b1;
    let bits = BEGINNINGS.ilog2();
    number(names, at).map(|letters| (letters.wrapping_mul(GOLDEN_RATIO) >> (32 - bits)) as usize)
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
        6 | FUNCTION_TYPE => 8 * members,         // enumeration
        POINTER | 7..=FUNCTION | 16 | 18 => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `struct outer { int x; struct { int y; }; }` with the inner one first.
    fn types() -> Vec<u8> {
        let word = |number: u32| number.to_ne_bytes().to_vec();
        let (one_member, two_members) = (STRUCT << 24 | 1, STRUCT << 24 | 2);
        let inner = [word(0), word(one_member), word(4), word(9), word(0), word(0)].concat();
        let outer = [
            [word(1), word(two_members), word(8)].concat(),
            [word(7), word(0), word(0)].concat(),
            [word(0), word(1), word(32)].concat(),
        ];
        let types = [inner, outer.concat()].concat();
        let names = b"\0outer\0x\0y\0";
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
        let types =
            KernelTypes::parse(Published::Read(types()), &["outer", "other"], "run").unwrap();
        assert_eq!(types.offset("outer", "x").unwrap(), 0);
        assert_eq!(types.offset("outer", "y").unwrap(), 4);
        assert!(types.offset("outer", "z").is_err() && types.offset("other", "x").is_err());
    }

    #[test]
    fn bytes_that_are_cut_off_are_refused() {
        let whole = types();
        let parse = |bytes| KernelTypes::parse(Published::Read(bytes), &["outer"], "run");
        assert!(parse(whole[..60].to_vec()).is_none() && parse(Vec::new()).is_none());
    }
}
