//! The program that reports pages that come into the page cache for a followed thread: by its
//! reads, its touches of mapped files, requests of its rings, and readahead for any of these.
//! Threads that the kernel makes for a ring (io-wq, SQPOLL) are threads of its process. Pages that
//! other processes bring in, also the kernel's own, are not reported. Reads past the page cache
//! bring in none.

use super::layout::{AT_RECORD, IDS, KIND, NUMBER, TIME, call, fetched, kinds};
use super::programs::{Code, Files, Parts, lookup};
use crate::bpf::Register::{R0, R1, R2, R3, R6, R7, Stack};
use crate::bpf::Width::{Eight, Four};
use crate::bpf::{Assembler, Attached, Helper, Jump, Program};
use crate::tracepoint::{self, Field};
use std::io;

const EVENT: &str = "filemap/mm_filemap_add_to_page_cache";
const AT_IDS: i16 = -8;

/// Where the tracepoint's record has the reported fields.
struct Places {
    inode: i16,
    page: i16,
    device: i16,
    order: i16,
}

impl Places {
    fn of(format: &str) -> io::Result<Self> {
        let at = |name: &str, bytes: usize| {
            let field = Field::find(format, name)?;
            match i16::try_from(field.offset) {
                Ok(at) if field.bytes == bytes && at % bytes as i16 == 0 => Ok(at),
                _ => Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    format!("this kernel reports `{name}` of cached pages in another form"),
                )),
            }
        };
        let places = Self {
            inode: at("i_ino", 8)?,
            page: at("index", 8)?,
            device: at("s_dev", 4)?,
            order: at("order", 1)?,
        };
        Ok(places)
    }
}

impl Code<'_> {
    /// Has fetches reported from now on.
    ///
    /// # Errors
    /// This kernel has no such tracepoint (before Linux 5.18 none with sizes), or tracefs is kept
    /// from this process.
    pub(super) fn follow_fetches(&self) -> io::Result<Attached> {
        let format = tracepoint::format(&tracepoint::tracefs()?, EVENT)?;
        let program = self.at_fetch(&Places::of(&format)?);
        Attached::load_at(&program, tracepoint::number(&format)?)
    }

    fn at_fetch(&self, places: &Places) -> Program {
        let body = |code: &mut Assembler, parts: &Parts| {
            let out = code.label();
            code.copy(R6, R1);
            self.leave_unless_followed(code, out);
            code.store_number(Four, Stack, AT_RECORD + KIND, kinds::FETCHED);
            code.load(Eight, R1, Stack, AT_IDS);
            code.store(Eight, Stack, AT_RECORD + IDS, R1);
            code.call(Helper::Now);
            code.store(Eight, Stack, AT_RECORD + TIME, R0);
            self.note_call(code);
            code.load(Eight, R1, R6, places.inode);
            code.store(Eight, Stack, AT_RECORD + fetched::INODE, R1);
            code.load(Eight, R1, R6, places.page);
            code.store(Eight, Stack, AT_RECORD + fetched::PAGE, R1);
            code.load(Four, R1, R6, places.device);
            code.store(Four, Stack, AT_RECORD + fetched::DEVICE, R1);
            code.load_byte(R1, R6, places.order);
            code.store(Four, Stack, AT_RECORD + fetched::ORDER, R1);
            code.copy(R2, Stack);
            code.add(R2, AT_RECORD.into());
            code.set(R3, fetched::BYTES);
            self.send(code, parts);
            code.place(out);
            code.set(R0, 0);
            code.exit();
        };
        self.program(body, Files::None)
    }

    /// The reported call in which the thread is.
    fn note_call(&self, code: &mut Assembler) {
        let known = code.label();
        code.store_number(Four, Stack, AT_RECORD + NUMBER, 0);
        code.store_number(Eight, Stack, AT_RECORD + fetched::CONVENTION, fetched::NO_CALL);
        code.store_number(Eight, Stack, AT_RECORD + fetched::FILE, 0);
        lookup(code, &self.tables.threads, AT_IDS);
        code.jump_if(R0, Jump::Equal, 0, known);
        code.copy(R7, R0);
        code.load(Eight, R1, R7, call::RULE);
        code.jump_if(R1, Jump::Equal, 0, known); // in no call, or in one that is not reported
        code.load(Four, R1, R7, NUMBER);
        code.store(Four, Stack, AT_RECORD + NUMBER, R1);
        code.load(Eight, R1, R7, call::CONVENTION);
        code.store(Eight, Stack, AT_RECORD + fetched::CONVENTION, R1);
        code.load(Eight, R1, R7, call::FILES[0]);
        code.store(Eight, Stack, AT_RECORD + fetched::FILE, R1);
        code.place(known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: mm_filemap_add_to_page_cache\nID: 521\nformat:\n\
        \tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned long i_ino;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned long index;\toffset:24;\tsize:8;\tsigned:0;\n\
        \tfield:dev_t s_dev;\toffset:32;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned char order;\toffset:36;\tsize:1;\tsigned:0;\n";

    #[test]
    fn fields_must_have_the_form_that_the_program_reads() {
        let places = Places::of(FORMAT).unwrap();
        assert_eq!((places.inode, places.page, places.device, places.order), (16, 24, 32, 36));
        assert!(Places::of(&FORMAT.replace("offset:24", "offset:26")).is_err());
        assert!(Places::of(&FORMAT.replace(" order", " shift")).is_err());
    }
}
