//! Loads that a program announces: the order in which it will load files, for policies that know
//! the future, and the files of such a list, read ahead.

use crate::lock;
use crate::{Buffer, LoadMany, Result, Store};
use seekless_policy::eviction::Id;
use std::collections::HashMap;
use std::sync::Mutex;

impl Store {
    /// The program will load these files in this order, which replaces all earlier announcements. A
    /// store whose policy knows the future (`belady`, `belady-size`) evicts by it; others take no
    /// notice. Loads that differ are right all the same; each file counts as needed at the place
    /// where it was announced until it is loaded, or the next call.
    ///
    /// A training job announces the order of an epoch and of the next one, at the start of each:
    /// then the next use of every file is known whenever one must leave.
    ///
    /// # Errors
    /// [`NotFound`](crate::ErrorKind::NotFound) for the first name that is not there; then nothing
    /// changes.
    pub fn will_load(&self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Result<()> {
        let ids = names.into_iter().map(|name| self.find(name.as_ref()));
        self.shared().will_load(&ids.collect::<Result<Vec<_>>>()?);
        Ok(())
    }

    /// Loads files in this order, ahead of a program that [takes](Following::take) them in about
    /// the same.
    ///
    /// # Errors
    /// [`NotFound`](crate::ErrorKind::NotFound) for the first name that is not there.
    pub fn follow(&self, names: impl IntoIterator<Item = impl Into<String>>) -> Result<Following> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let ids = names.iter().map(|name| self.find(name)).collect::<Result<Vec<_>>>()?;
        let mut coming: HashMap<Id, u32> = HashMap::new();
        ids.iter().for_each(|&id| *coming.entry(id).or_default() += 1);
        let list = List {
            loads: self.load_many(names),
            ids,
            coming,
            arrived: HashMap::new(),
            arrived_bytes: 0,
        };
        Ok(Following { store: self.clone(), list: Mutex::new(list) })
    }
}

/// The files of a list, read ahead of the program; made by [`Store::follow`]. Any thread may take
/// files. Dropping it cancels what is not yet being read.
///
/// Reading runs ahead of what was taken by the window of a [`Store::load_many`]. What has arrived
/// and was not taken waits here, up to as much again.
pub struct Following {
    store: Store,
    list: Mutex<List>,
}

struct List {
    loads: LoadMany,
    ids: Vec<Id>,
    /// How often each file is still to arrive.
    coming: HashMap<Id, u32>,
    /// What has arrived and was not taken.
    arrived: HashMap<Id, Vec<Result<Buffer>>>,
    arrived_bytes: u64,
}

impl Following {
    /// The contents of files, in the order of `names`. Files that are not in the list, or lie so
    /// far behind others of it that these would not fit the window, are loaded beside it.
    pub fn take(&self, names: &[impl AsRef<str>]) -> Vec<Result<Buffer>> {
        let mut contents: Vec<Option<Result<Buffer>>> = Vec::with_capacity(names.len());
        {
            let mut list = lock(&self.list);
            for name in names {
                contents.push(match self.store.find(name.as_ref()) {
                    Ok(id) => list.take(id, self.store.shared().window_bytes()),
                    Err(error) => Some(Err(error)),
                });
            }
        }
        let missing: Vec<usize> = (0..names.len()).filter(|&at| contents[at].is_none()).collect();
        let others = missing.iter().map(|&at| names[at].as_ref());
        for (position, content) in self.store.load_many(others) {
            contents[missing[position]] = Some(content);
        }
        contents.into_iter().flatten().collect()
    }
}

impl List {
    /// The next content of `id`. `None` if it is to be loaded beside the list.
    fn take(&mut self, id: Id, window_bytes: u64) -> Option<Result<Buffer>> {
        loop {
            if let Some(content) = self.arrived.get_mut(&id).and_then(Vec::pop) {
                self.arrived_bytes -= bytes_of(&content);
                return Some(content);
            }
            if !self.coming.contains_key(&id) || self.arrived_bytes > window_bytes {
                return None;
            }
            let (position, content) = self.loads.next()?;
            let arrived = self.ids[position];
            if let Some(left) = self.coming.get_mut(&arrived) {
                *left -= 1;
                if *left == 0 {
                    self.coming.remove(&arrived);
                }
            }
            self.arrived_bytes += bytes_of(&content);
            self.arrived.entry(arrived).or_default().push(content);
        }
    }
}

fn bytes_of(content: &Result<Buffer>) -> u64 {
    content.as_ref().map_or(0, |buffer| buffer.len() as u64)
}
