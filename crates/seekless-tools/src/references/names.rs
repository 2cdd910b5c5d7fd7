//! An index of names by their ends: which files a few words in some content may mean.
//!
//! A name is found by any of its ends that begin at a folder, with or without its extensions. Upper
//! and lower case of ASCII count as the same.

use super::tokens::{NAME_BYTES_MAX, NAME_BYTES_MIN, is_plain};
use seekless_policy::eviction::Id;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// A name that more files end with names none of them.
const SAME_ENDS_MAX: usize = 4;
/// The same for a name without the extension: a file may lie beside what was made of it.
const SAME_STEMS_MAX: usize = 8;
/// Of more that end alike none is looked at, so that a common name costs little.
const LOOKED_AT_MAX: usize = 64;
/// Extensions that one name can be found without.
const EXTENSIONS_MAX: usize = 4;
/// Folders that may come before a whole name: of a place where the tree once was, or a host.
const FOLDERS_BEFORE_MAX: usize = 8;
/// Bits of the filter for each entry: one word in this many passes by chance.
const FILTER_BITS: usize = 16;

/// How a name was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(super) enum Way {
    /// It is the whole name.
    Whole,
    /// It leads there from the folder of the file that names it.
    Relative,
    /// It is the end of the name, with a folder.
    End,
    /// It is the last part of the name.
    Last,
    /// The name goes on with another extension; with a folder.
    Longer,
    /// The same of the last part.
    LastLonger,
    /// The name has another extension; with a folder.
    Other,
    /// The same of the last part.
    LastOther,
    /// Its dots stand for folders.
    Dotted,
    /// The file of this name is there, and this one was made of it: its name goes on with another
    /// extension.
    MadeOf,
    /// Not in the content: the named file has the whole name and an extension.
    Made,
    /// Not in the content: the other way round.
    Source,
    /// Not in the content: both lie in one folder and differ in extensions only.
    Sibling,
}

/// How a name was found, and how many files it may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct How {
    pub(super) way: Way,
    /// 0: one; 1: two; 2: three or four; 3: more.
    pub(super) others: u8,
}

impl How {
    pub(super) fn new(way: Way, files: usize) -> Self {
        let others = match files {
            0 | 1 => 0,
            2 => 1,
            3 | 4 => 2,
            _ => 3,
        };
        Self { way, others }
    }
}

/// A name up to one of its extensions.
#[derive(Clone, Copy)]
struct Entry {
    file: Id,
    end: u16,
}

/// The ends of all names.
pub(super) struct Index<'a> {
    names: &'a [String],
    /// Sorted by the bytes from the end to the front.
    entries: Vec<Entry>,
    /// By the hash of the last part: which entries have it.
    parts: HashMap<u64, (u32, u32), BuildHasherDefault<DefaultHasher>>,
    filter: Vec<u64>,
    has_spaces: bool,
}

impl<'a> Index<'a> {
    pub(super) fn new(names: &'a [String]) -> Self {
        let mut entries: Vec<Entry> = Vec::with_capacity(names.len() * 2);
        for (file, name) in names.iter().enumerate() {
            if !name.ends_with('/') && trimmed(name).len() <= NAME_BYTES_MAX {
                let ends = ends(trimmed(name)).map(|end| Entry { file: file as Id, end });
                entries.extend(ends);
            }
        }
        let backwards = |entry: &Entry| head(names, *entry).bytes().rev().map(lower).chain([b'/']);
        entries.sort_unstable_by(|a, b| backwards(a).cmp(backwards(b)).then(a.file.cmp(&b.file)));
        let filter = vec![0; (entries.len() * FILTER_BITS).next_power_of_two().max(64) / 64];
        let has_spaces = names.iter().any(|name| name.bytes().any(|byte| !is_plain(byte)));
        let mut index = Self { names, entries, parts: HashMap::default(), filter, has_spaces };
        for place in 0..index.entries.len() {
            let hash = hash(last(head(names, index.entries[place]).as_bytes()));
            index.parts.entry(hash).or_insert((place as u32, 0)).1 = place as u32 + 1;
            let (word, bit) = index.bit(hash);
            index.filter[word] |= bit;
        }
        index
    }

    /// Whether a name has a space or another character that seldom is part of one.
    pub(super) fn has_spaces(&self) -> bool {
        self.has_spaces
    }

    /// Adds the files whose names show that they belong to `file`: one name and an extension is the
    /// other, or both lie in one folder and differ in extensions only.
    pub(super) fn companions(&self, file: Id, found: &mut Vec<(Id, How)>) {
        let Some(name) = self.names.get(file as usize).map(|name| trimmed(name)) else { return };
        let before = found.len();
        self.extended(name, Way::Made, found);
        for end in ends(name).skip(1) {
            let shorter = &name[..usize::from(end)];
            self.whole(&lowered(shorter), Way::Source, found);
        }
        if let Some(end) = ends(name).skip(1).last() {
            let mut siblings = Vec::new();
            self.extended(&name[..usize::from(end)], Way::Sibling, &mut siblings);
            siblings.retain(|(other, _)| found[before..].iter().all(|(known, _)| known != other));
            found.append(&mut siblings);
        }
        found.retain(|&(other, _)| other != file);
    }

    /// Adds the files whose names are `name` and an extension, unless there are many.
    fn extended(&self, name: &str, way: Way, found: &mut Vec<(Id, How)>) {
        let lowered = lowered(name);
        let whole = self.ending(&lowered).iter();
        let whole = whole.take_while(|entry| usize::from(entry.end) == name.len());
        add(whole.filter(|entry| !self.is_exact(**entry)), SAME_ENDS_MAX, way, found);
    }

    /// Whether `token` may be found; `false` is sure.
    pub(super) fn may_have(&self, token: &[u8]) -> bool {
        let part = last(token);
        if self.passes(hash(part)) {
            return true;
        }
        let Some(dot) = part.iter().rposition(|&byte| byte == b'.') else { return false };
        self.passes(hash(&part[..dot])) || self.passes(hash(&part[dot + 1..]))
    }

    /// Adds the files that `token`, in lower case and with `/` between folders, means in the file
    /// `from`, and what was made of them: a program may load that in their place.
    pub(super) fn resolve(&self, from: Id, token: &[u8], found: &mut Vec<(Id, How)>) {
        let before = found.len();
        self.named(from, token, found);
        for number in before..found.len() {
            let (file, how) = found[number];
            if matches!(how.way, Way::Whole | Way::Relative | Way::End | Way::Last) {
                self.extended(trimmed(&self.names[file as usize]), Way::MadeOf, found);
            }
        }
    }

    /// Adds the files that `token` means in the file `from`.
    fn named(&self, from: Id, token: &[u8], found: &mut Vec<(Id, How)>) {
        let is_relative = token.starts_with(b"./") || token.starts_with(b"../");
        if let Some(joined) = self.joined(from, token) {
            let way = if is_relative { Way::Relative } else { Way::Whole };
            if self.whole(&joined, Way::Relative, found) {
                return;
            }
            if is_relative {
                let _ = self.continued(&joined, way, found) || self.other(&joined, way, found);
                return;
            }
        }
        if is_relative {
            return;
        }
        let token = token.strip_prefix(b"/").unwrap_or(token);
        let has_folder = token.contains(&b'/');
        let pick = |folder, last| if has_folder { folder } else { last };
        let _ = self.whole(token, Way::Whole, found)
            || self.exact(token, pick(Way::End, Way::Last), found)
            || self.continued(token, pick(Way::Longer, Way::LastLonger), found)
            || self.other(token, pick(Way::Other, Way::LastOther), found)
            || self.dotted(token, has_folder, found)
            || self.deeper(token, found);
    }

    /// `token` from the folder of `from`, without `.` and `..`.
    fn joined(&self, from: Id, token: &[u8]) -> Option<Vec<u8>> {
        let name = trimmed(self.names.get(from as usize)?);
        let folder = name.rfind('/').map_or("", |slash| &name[..slash]);
        let mut path: Vec<u8> = lowered(folder);
        for part in token.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => {
                    if path.is_empty() {
                        return None;
                    }
                    let slash = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
                    path.truncate(slash);
                }
                part => {
                    if !path.is_empty() {
                        path.push(b'/');
                    }
                    path.extend_from_slice(part);
                }
            }
        }
        Some(path)
    }

    fn whole(&self, name: &[u8], way: Way, found: &mut Vec<(Id, How)>) -> bool {
        // An entry comes before those that it is the end of.
        let mut same =
            self.ending(name).iter().take_while(|entry| usize::from(entry.end) == name.len());
        match same.find(|entry| self.is_exact(**entry)) {
            Some(entry) => found.push((entry.file, How::new(way, 1))),
            None => return false,
        }
        true
    }

    fn exact(&self, end: &[u8], way: Way, found: &mut Vec<(Id, How)>) -> bool {
        let entries = self.ending(end);
        if entries.len() > LOOKED_AT_MAX {
            return true;
        }
        let entries = entries.iter().filter(|entry| self.is_exact(**entry));
        add(entries, SAME_ENDS_MAX, way, found)
    }

    fn continued(&self, end: &[u8], way: Way, found: &mut Vec<(Id, How)>) -> bool {
        add(self.ending(end).iter(), SAME_STEMS_MAX, way, found)
    }

    fn other(&self, end: &[u8], way: Way, found: &mut Vec<(Id, How)>) -> bool {
        let part = last(end).len();
        let dot = end
            .iter()
            .rposition(|&byte| byte == b'.')
            .filter(|&dot| dot > end.len() - part && dot >= NAME_BYTES_MIN && end.len() - dot <= 9);
        dot.is_some_and(|dot| self.continued(&end[..dot], way, found))
    }

    fn dotted(&self, token: &[u8], has_folder: bool, found: &mut Vec<(Id, How)>) -> bool {
        if has_folder || !token.contains(&b'.') {
            return false;
        }
        let path: Vec<u8> =
            token.iter().map(|&byte| if byte == b'.' { b'/' } else { byte }).collect();
        self.continued(&path, Way::Dotted, found)
    }

    /// A whole name after other folders.
    fn deeper(&self, token: &[u8], found: &mut Vec<(Id, How)>) -> bool {
        let slashes = (0..token.len()).filter(|&at| token[at] == b'/').take(FOLDERS_BEFORE_MAX);
        let mut rest = slashes.map(|slash| &token[slash + 1..]).filter(|rest| rest.contains(&b'/'));
        rest.any(|rest| self.whole(rest, Way::Whole, found))
    }

    /// The entries that end with `end`, at the border of a folder.
    fn ending(&self, end: &[u8]) -> &[Entry] {
        let part = hash(last(end));
        if !self.passes(part) {
            return &[];
        }
        let Some(&(first, after)) = self.parts.get(&part) else { return &[] };
        let entries = &self.entries[first as usize..after as usize];
        let start = entries.partition_point(|entry| self.compare(*entry, end) == Ordering::Less);
        let entries = &entries[start..];
        let after = entries.partition_point(|entry| self.compare(*entry, end) == Ordering::Equal);
        &entries[..after]
    }

    /// How the end of an entry, as long as `end` and the border before, compares with it.
    fn compare(&self, entry: Entry, end: &[u8]) -> Ordering {
        let backwards = head(self.names, entry).bytes().rev().map(lower).chain([b'/']);
        backwards.take(end.len() + 1).cmp(end.iter().rev().copied().chain([b'/']))
    }

    fn is_exact(&self, entry: Entry) -> bool {
        usize::from(entry.end) == trimmed(&self.names[entry.file as usize]).len()
    }

    fn passes(&self, hash: u64) -> bool {
        let (word, bit) = self.bit(hash);
        self.filter[word] & bit != 0
    }

    fn bit(&self, hash: u64) -> (usize, u64) {
        let bit = (hash >> 20) as usize & (self.filter.len() * 64 - 1);
        (bit / 64, 1 << (bit % 64))
    }
}

/// Adds the files of `entries` unless there are none or more than `max`; whether there are any.
fn add<'e>(
    entries: impl Iterator<Item = &'e Entry> + Clone,
    max: usize,
    way: Way,
    found: &mut Vec<(Id, How)>,
) -> bool {
    let count = entries.clone().take(max + 1).count();
    if (1..=max).contains(&count) {
        let how = How::new(way, count);
        found.extend(entries.map(|entry| (entry.file, how)));
    }
    count > 0
}

fn lowered(name: &str) -> Vec<u8> {
    name.bytes().map(lower).collect()
}

fn trimmed(name: &str) -> &str {
    name.trim_start_matches('/')
}

fn head(names: &[String], entry: Entry) -> &str {
    // An entry ends before a dot or where the name does.
    trimmed(&names[entry.file as usize]).get(..usize::from(entry.end)).unwrap_or_default()
}

/// Where a name ends with and without extensions.
fn ends(name: &str) -> impl Iterator<Item = u16> + '_ {
    let part = name.len() - last(name.as_bytes()).len();
    let dots = name.bytes().enumerate().rev().filter(move |&(at, byte)| byte == b'.' && at > part);
    [name.len()].into_iter().chain(dots.map(|(at, _)| at).take(EXTENSIONS_MAX)).map(|at| at as u16)
}

/// What follows the last folder.
fn last(name: &[u8]) -> &[u8] {
    name.iter().rposition(|&byte| byte == b'/').map_or(name, |slash| &name[slash + 1..])
}

fn lower(byte: u8) -> u8 {
    if byte == b'\\' { b'/' } else { byte.to_ascii_lowercase() }
}

/// A quick hash of a part in either case.
fn hash(part: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = part.len() as u64;
    for chunk in part.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        word.make_ascii_lowercase();
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
        hash ^= hash >> 29;
    }
    hash.wrapping_mul(FACTOR)
}
