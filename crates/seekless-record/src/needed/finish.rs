//! After the program's end: joins files with their names, and windows with what is cached.

use super::Needed;
use super::names::Names;
use super::seen::{Fast, Look, Seen, Touch};
use crate::faults::Askable;
use crate::paths;
use hashbrown::HashSet;
use seekless_trace::{FileId, Need, PageSet, escape_path};
use seekless_watch::first_needs::Kind;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const PAGE_BYTES: u64 = 4096;

/// A file with a name.
struct File {
    number: FileId,
    bytes: Option<u64>,
    /// What is cached of the pages that were mapped by windows, if that is known.
    cached: Option<Vec<Range<u64>>>,
}

impl Seen {
    /// Adds all to what was needed.
    pub(super) fn finish(mut self, needed: &mut Needed) {
        let mut names = Names::default();
        for (id, name) in &self.inherited {
            let _ = names.offer(*id, name); // it may have gone
        }
        let mut known = self.look(&mut names, needed);
        names.offer_programs(std::mem::take(&mut self.executed));
        let files = self.name_files(&names, &mut known, needed);
        self.add_needs(&files, needed);
        needed.lost += self.lost;
    }

    /// The names that were looked up, each once.
    fn look(&mut self, names: &mut Names, needed: &mut Needed) -> HashSet<Vec<u8>, Fast> {
        let mut known: HashSet<Vec<u8>, Fast> = HashSet::default();
        for Look { name, opened } in std::mem::take(&mut self.looks) {
            let named = opened.and_then(|id| names.offer(id, &name));
            let name = named.map_or(name, |named| named.name.clone());
            let is_listed = opened.is_some_and(|id| self.listed.contains(&id));
            if !known.contains(&name) {
                needed.looks.push((escape_path(&name), is_listed));
                known.insert(name);
            }
        }
        known
    }

    /// The files of which pages were needed, in the order of their numbers here.
    fn name_files(
        &self,
        names: &Names,
        known: &mut HashSet<Vec<u8>, Fast>,
        needed: &mut Needed,
    ) -> Vec<Option<File>> {
        let windows = self.windows();
        let file = |(id, windows): (_, Option<Range<u64>>)| {
            let Some(named) = names.of(id) else {
                // Shared memory is on a device without a number, and has no names.
                needed.unnamed += u64::from(id.device().0 != 0);
                return None;
            };
            if paths::is_special(&named.name) {
                return None;
            }
            if known.insert(named.name.clone()) {
                needed.looks.push((escape_path(&named.name), false));
            }
            needed.names.push(escape_path(&named.name));
            needed.file_bytes.push(named.bytes);
            let path = Path::new(OsStr::from_bytes(&named.name));
            Some(File {
                number: (needed.names.len() - 1) as FileId,
                bytes: named.bytes,
                cached: windows.and_then(|pages| Askable::local(path, id.inode).cached(&pages)),
            })
        };
        self.files.iter().copied().zip(windows).map(file).collect()
    }

    /// From the first to the last page of each file's windows.
    fn windows(&self) -> Vec<Option<Range<u64>>> {
        let mut windows: Vec<Option<Range<u64>>> = vec![None; self.files.len()];
        for touch in self.touches.iter().filter(|touch| touch.kind == Kind::Window) {
            let pages = windows[touch.file as usize].get_or_insert(touch.pages());
            *pages = pages.start.min(touch.first)..pages.end.max(touch.pages().end);
        }
        windows
    }

    fn add_needs(&self, files: &[Option<File>], needed: &mut Needed) {
        let mut pages = PageSet::default();
        for touch in &self.touches {
            let Some(file) = &files[touch.file as usize] else { continue };
            let time_ns = touch.time_ns.saturating_sub(self.started_ns);
            for part in touch.parts(file) {
                let Some((first, last)) = pages.add(file.number, part) else { continue };
                let (offset, end) = (first * PAGE_BYTES, (last + 1) * PAGE_BYTES);
                let bytes = file.bytes.map_or(end, |bytes| end.min(bytes)).saturating_sub(offset);
                let mapped = touch.kind != Kind::Read;
                needed.needs.push(Need { file: file.number, offset, bytes, time_ns, mapped });
            }
        }
    }
}

impl Touch {
    fn pages(&self) -> Range<u64> {
        self.first..self.last.saturating_add(1)
    }

    /// The pages that there are: of a window those that are cached, as the kernel maps no others.
    fn parts(&self, file: &File) -> Vec<Range<u64>> {
        let size = file.bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(PAGE_BYTES));
        let whole = self.first..self.pages().end.min(size);
        let Some(cached) = file.cached.as_deref().filter(|_| self.kind == Kind::Window) else {
            return vec![whole];
        };
        let from = cached.partition_point(|run| run.end <= whole.start);
        let inside = cached[from..].iter().take_while(|run| run.start < whole.end);
        let parts: Vec<_> =
            inside.map(|run| run.start.max(whole.start)..run.end.min(whole.end)).collect();
        // Without any, they have left the cache since.
        if parts.is_empty() { vec![whole] } else { parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_what_is_cached_of_it() {
        let touch = |kind| Touch { file: 0, first: 8, last: 23, time_ns: 0, kind };
        let file = |cached: Option<Vec<Range<u64>>>| File {
            number: 0,
            bytes: Some(20 * PAGE_BYTES - 1),
            cached,
        };
        let pages = |kind, cached| {
            let parts = touch(kind).parts(&file(cached));
            parts.into_iter().flatten().collect::<Vec<u64>>()
        };
        let cached = || Some(vec![0..9, 12..14, 18..40]);
        let whole: Vec<u64> = (8..20).collect();
        assert_eq!(pages(Kind::Window, cached()), [8, 12, 13, 18, 19]);
        assert_eq!(pages(Kind::Read, cached()), whole);
        assert_eq!(pages(Kind::Window, None), whole);
        let others = Some(vec![0..3, 4..5]);
        assert_eq!(pages(Kind::Window, others), whole);
    }
}
