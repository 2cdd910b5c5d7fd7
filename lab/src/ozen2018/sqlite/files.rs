//! The store's files in a trace, as one range of bytes. A single file has the place that the file
//! system reports. The files of a folder are laid end to end in the order of their first call, with
//! an unused page between two: some of them no longer exist when the recording ends.

use super::calls::{Call, Captured};
use super::laid::{Laid, PAGE_BYTES};
use anyhow::{Context, Result, ensure};
use seekless::trace::{Columns, Op, Trace, escape_path};
use std::path::Path;

/// Reads the calls on the store's files from a trace.
pub(super) fn read(trace: &Path, store: &Path) -> Result<Captured> {
    let trace = Trace::open(trace)?;
    let mut files = Files::new(store, &trace.file_names()?);
    for batch in trace.scan(Columns::OP | Columns::FILE | Columns::OFFSET | Columns::BYTES)? {
        let batch = batch?;
        for row in 0..batch.rows() {
            let (file, op) = (batch.file()[row], batch.op()[row]);
            if !files.hold(file) {
                continue;
            }
            ensure!(op != Op::Map, "the store maps a file, so its reads cannot be seen");
            if matches!(op, Op::Read | Op::Write) && batch.bytes()[row] > 0 {
                let offset = u64::try_from(batch.offset()[row])?;
                let bytes = u32::try_from(batch.bytes()[row])?;
                files.push(file, Call { offset, bytes, write: op == Op::Write });
            }
        }
    }
    if store.is_dir() { Ok(files.end_to_end()) } else { files.alone(store) }
}

/// The calls on the store's files.
struct Files {
    /// For each file of the trace, whether it is one of the store's, and where its last call ends.
    ends: Vec<Option<u64>>,
    /// Each file at its first call.
    order: Vec<u32>,
    calls: Vec<(u32, Call)>,
}

impl Files {
    fn new(store: &Path, names: &[String]) -> Self {
        let own = escape_path(store.as_os_str().as_encoded_bytes());
        let inside = format!("{own}/");
        let end = |name: &String| (*name == own || name.starts_with(&inside)).then_some(0);
        Self { ends: names.iter().map(end).collect(), order: Vec::new(), calls: Vec::new() }
    }

    fn hold(&self, file: u32) -> bool {
        self.ends.get(file as usize).is_some_and(Option::is_some)
    }

    fn push(&mut self, file: u32, call: Call) {
        if let Some(Some(end)) = self.ends.get_mut(file as usize) {
            if *end == 0 {
                self.order.push(file);
            }
            *end = call.end().max(*end);
            self.calls.push((file, call));
        }
    }

    fn alone(self, store: &Path) -> Result<Captured> {
        let file_bytes =
            store.metadata().with_context(|| format!("cannot look at {}", store.display()))?.len();
        let calls = self.calls.into_iter().map(|(_, call)| call).collect();
        Ok(Captured { calls, file_bytes, laid: Laid::of(store, file_bytes)? })
    }

    fn end_to_end(mut self) -> Captured {
        let (mut starts, mut next) = (vec![0; self.ends.len()], 0);
        for &file in &self.order {
            starts[file as usize] = next;
            let end = self.ends[file as usize].unwrap_or(0);
            next += end.next_multiple_of(PAGE_BYTES) + PAGE_BYTES;
        }
        for (file, call) in &mut self.calls {
            call.offset += starts[*file as usize];
        }
        let calls = self.calls.into_iter().map(|(_, call)| call).collect();
        Captured { calls, file_bytes: next, laid: Laid::in_one_piece(next) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_folder_lie_end_to_end_with_a_page_between_them() {
        let names = ["/a/store/x", "/a/store2", "/a/store/y/z", "/a/store/unused"];
        let mut files = Files::new(Path::new("/a/store"), &names.map(str::to_owned));
        let held: Vec<u32> = (0..5).filter(|&file| files.hold(file)).collect();
        assert_eq!(held, [0, 2, 3]);
        let call = |offset, bytes| Call { offset, bytes, write: false };
        files.push(2, call(4000, 100));
        files.push(0, call(0, 10));
        files.push(2, call(0, 8192));
        let captured = files.end_to_end();
        assert_eq!(captured.calls, [call(4000, 100), call(12_288, 10), call(0, 8192)]);
        assert_eq!(captured.file_bytes, 20_480);
    }
}
