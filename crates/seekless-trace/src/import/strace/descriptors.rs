//! The open files of each process: which file a descriptor is, and where in it the next read goes.

use super::call::Call;
use super::name_of;
use crate::Op;
use crate::import::accesses::Row;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// An open file description, which several descriptors may share.
#[derive(Debug, Default)]
struct Description {
    /// Its path; `None` of a pipe, a socket or the like.
    path: Option<Vec<u8>>,
    position: u64,
    file_bytes: Option<u64>,
}

#[derive(Clone, Debug)]
struct Descriptor {
    description: Rc<RefCell<Description>>,
    closes_on_exec: bool,
}

/// How many processes, and how many descriptors of one, are followed. Real ones are fewer.
const FOLLOWED_MAX: usize = 1 << 16;

/// What the threads of a process share.
#[derive(Clone, Debug, Default)]
struct Table {
    descriptors: HashMap<i64, Descriptor>,
    folder: Option<Vec<u8>>,
}

impl Table {
    fn insert(&mut self, number: i64, descriptor: Descriptor) {
        if self.descriptors.len() >= FOLLOWED_MAX {
            self.descriptors.clear();
        }
        self.descriptors.insert(number, descriptor);
    }
}

/// Where a transfer takes place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Position {
    /// Where the descriptor stands, which moves on.
    Current,
    /// At the offset that an argument names.
    Argument(usize),
    /// Without a place.
    Zero,
}

/// The tables of all processes.
#[derive(Default)]
pub(super) struct Descriptors {
    tables: HashMap<u32, Rc<RefCell<Table>>>,
    /// Processes that are making another, with whether it shares their table: a child may be seen
    /// before its parent's call ends.
    forking: Vec<(u32, bool)>,
}

impl Descriptors {
    /// A process has begun to make another.
    pub(super) fn begin_fork(&mut self, pid: u32, shared: bool) {
        self.forking.retain(|(parent, _)| *parent != pid);
        if self.forking.len() < FOLLOWED_MAX {
            self.forking.push((pid, shared));
        }
    }

    /// A process has made another.
    pub(super) fn fork(&mut self, pid: u32, child: u32, shared: bool) {
        self.forking.retain(|(parent, _)| *parent != pid);
        if child > 0 && !self.tables.contains_key(&child) {
            self.inherit(pid, child, shared);
        }
    }

    /// A process has ended.
    pub(super) fn end(&mut self, pid: u32) {
        self.tables.remove(&pid);
        self.forking.retain(|(parent, _)| *parent != pid);
    }

    fn inherit(&mut self, parent: u32, child: u32, shared: bool) {
        if self.tables.len() >= FOLLOWED_MAX {
            self.tables.clear();
        }
        let table = Rc::clone(self.tables.entry(parent).or_default());
        let table = if shared { table } else { Rc::new(RefCell::new(table.borrow().clone())) };
        self.tables.insert(child, table);
    }

    fn table(&mut self, pid: u32) -> Rc<RefCell<Table>> {
        let is_new = !self.tables.contains_key(&pid);
        if let Some((parent, shared)) = self.forking.pop_if(|_| is_new) {
            self.inherit(parent, pid, shared);
        }
        if self.tables.len() >= FOLLOWED_MAX {
            self.tables.clear();
        }
        Rc::clone(self.tables.entry(pid).or_default())
    }

    pub(super) fn exec(&mut self, pid: u32) {
        // From here on its descriptors are its own.
        let mut table = self.table(pid).borrow().clone();
        table.descriptors.retain(|_, descriptor| !descriptor.closes_on_exec);
        self.tables.insert(pid, Rc::new(RefCell::new(table)));
    }

    pub(super) fn change_folder(&mut self, pid: u32, call: &Call<'_>) {
        if let Some(path) = call.path(0) {
            let table = self.table(pid);
            let path = absolute(path, table.borrow().folder.as_deref());
            table.borrow_mut().folder = Some(path);
        }
    }

    /// An open: of the path in argument `path`, below the folder in argument `folder`.
    pub(super) fn open(
        &mut self,
        pid: u32,
        call: &Call<'_>,
        folder: Option<usize>,
        path: usize,
    ) -> Option<Row<'static>> {
        let asked = self.named(pid, call, folder, path)?;
        if call.error.is_some() {
            return Some(Row::new(Op::Open, name_of(&asked)));
        }
        let path_opened = call.result_path.map(plain_path).unwrap_or(Some(asked));
        let description = Description { path: path_opened.clone(), ..Description::default() };
        let descriptor = Descriptor {
            description: Rc::new(RefCell::new(description)),
            closes_on_exec: call
                .arguments
                .iter()
                .any(|text| text.windows(9).any(|word| word == b"O_CLOEXEC")),
        };
        let table = self.table(pid);
        table.borrow_mut().insert(call.result, descriptor);
        Some(Row::new(Op::Open, name_of(&path_opened?)))
    }

    /// The path that a call names.
    fn named(
        &mut self,
        pid: u32,
        call: &Call<'_>,
        folder: Option<usize>,
        path: usize,
    ) -> Option<Vec<u8>> {
        let path = call.path(path)?;
        if path.starts_with(b"/") {
            return Some(path);
        }
        let said = folder.map(|at| call.argument(at)).unwrap_or_default();
        let shown = said.iter().position(|&byte| byte == b'<').map(|at| &said[at + 1..]);
        let shown = shown.and_then(|text| text.strip_suffix(b">")).and_then(plain_path);
        let table = self.table(pid);
        let table = table.borrow();
        let open = folder.and_then(|at| call.descriptor(at)).and_then(|(number, _)| {
            table.descriptors.get(&number)?.description.borrow().path.clone()
        });
        let base = shown.or(open).or_else(|| table.folder.clone());
        Some(absolute(path, base.as_deref()))
    }

    /// The open file that argument `at` names.
    fn description(
        &mut self,
        pid: u32,
        call: &Call<'_>,
        at: usize,
    ) -> Option<Rc<RefCell<Description>>> {
        let (number, shown) = call.descriptor(at)?;
        let table = self.table(pid);
        let mut table = table.borrow_mut();
        let known = table.descriptors.get(&number).map(|found| Rc::clone(&found.description));
        let Some(shown) = shown else { return known };
        let path = plain_path(shown);
        if let Some(known) = known.filter(|known| known.borrow().path == path) {
            return Some(known);
        }
        // Opened before the text began, or in a way that is not followed.
        let description = Rc::new(RefCell::new(Description { path, ..Description::default() }));
        let own = Rc::clone(&description);
        table.insert(number, Descriptor { description: own, closes_on_exec: false });
        Some(description)
    }

    pub(super) fn transfer(
        &mut self,
        pid: u32,
        call: &Call<'_>,
        op: Op,
        position: Position,
        bytes: u64,
    ) -> Option<Row<'static>> {
        let description = self.description(pid, call, 0)?;
        let mut description = description.borrow_mut();
        let name = name_of(description.path.as_deref()?);
        if let (Op::Stat, Some(size)) = (op, size(call)) {
            description.file_bytes = Some(size);
        }
        let offset = match position {
            Position::Zero => 0,
            Position::Argument(at) => call.number(at)?.cast_unsigned(),
            Position::Current => {
                let at = description.position;
                description.position = at.saturating_add(bytes);
                at
            }
        };
        Some(Row { offset, bytes, file_bytes: description.file_bytes, ..Row::new(op, name) })
    }

    /// A map of the file in argument 4, from the offset in argument 5.
    pub(super) fn map(&mut self, pid: u32, call: &Call<'_>) -> Option<Row<'static>> {
        let description = self.description(pid, call, 4)?;
        let description = description.borrow();
        let offset = call.number(5)?.cast_unsigned();
        let bytes = if call.error.is_some() { 0 } else { call.number(1)?.cast_unsigned() };
        let name = name_of(description.path.as_deref()?);
        let file_bytes = description.file_bytes;
        Some(Row { offset, bytes, file_bytes, ..Row::new(Op::Map, name) })
    }

    /// A look at the attributes of a name, or of the descriptor if the name is empty.
    pub(super) fn look(
        &mut self,
        pid: u32,
        call: &Call<'_>,
        folder: Option<usize>,
        path: usize,
    ) -> Option<Row<'static>> {
        if folder.is_some() && call.path(path)?.is_empty() {
            return self.transfer(pid, call, Op::Stat, Position::Zero, 0);
        }
        let name = name_of(&self.named(pid, call, folder, path)?);
        Some(Row { file_bytes: size(call), ..Row::new(Op::Stat, name) })
    }

    pub(super) fn close(&mut self, pid: u32, call: &Call<'_>) -> Option<Row<'static>> {
        let row = self.transfer(pid, call, Op::Close, Position::Zero, 0);
        if let Some((number, _)) = call.descriptor(0) {
            self.table(pid).borrow_mut().descriptors.remove(&number);
        }
        row
    }

    pub(super) fn seek(&mut self, pid: u32, call: &Call<'_>) {
        if let (Some(found), Ok(at)) = (self.description(pid, call, 0), call.result.try_into()) {
            found.borrow_mut().position = at;
        }
    }

    pub(super) fn duplicate(&mut self, pid: u32, call: &Call<'_>, closes_on_exec: bool) {
        if let Some(description) = self.description(pid, call, 0) {
            let table = self.table(pid);
            let descriptor = Descriptor { description, closes_on_exec };
            table.borrow_mut().insert(call.result, descriptor);
        }
    }
}

/// A path that `-y` prints, if it is one of a file: `pipe:[1]` is not, and devices are marked.
fn plain_path(shown: &[u8]) -> Option<Vec<u8>> {
    let shown = shown.strip_suffix(b" (deleted)").unwrap_or(shown);
    let is_device = shown.windows(6).any(|part| part == b"<char ");
    // With -xx all of a path is in escapes.
    Some(super::call::unescape(shown)).filter(|path| path.starts_with(b"/") && !is_device)
}

fn absolute(path: Vec<u8>, folder: Option<&[u8]>) -> Vec<u8> {
    match folder {
        Some(folder) if !path.starts_with(b"/") => {
            let path = path.strip_prefix(b"./").unwrap_or(&path);
            if path == b"." { folder.to_vec() } else { [folder, b"/", path].concat() }
        }
        _ => path,
    }
}

/// The size of a regular file that a call printed.
fn size(call: &Call<'_>) -> Option<u64> {
    let number = |field: &[u8]| {
        let text = call.arguments.iter().find_map(|text| {
            let at = text.windows(field.len()).position(|window| window == field)?;
            Some(&text[at + field.len()..])
        })?;
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        crate::import::number::whole(&text[..digits])
    };
    let is_file = call.arguments.iter().any(|text| text.windows(7).any(|part| part == b"S_IFREG"));
    is_file.then(|| number(b"st_size=").or_else(|| number(b"stx_size=")))?
}
