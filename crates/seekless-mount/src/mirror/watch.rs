//! What changes in the folders of a mirror.
//!
//! A folder is watched before its entry is compared with what was noted: so nothing that changes
//! afterwards is missed. What has changed is first answered from the real folder, and then the
//! kernel is told to forget what it knows. The system queues a change before the call that makes it
//! returns: so each answer takes what is queued first, and no change is missed that was complete
//! when the kernel asked. What the kernel knows already, it may believe until it is told.

use super::about::About;
use super::nodes::{Node, Nodes};
use super::{Changed, Folder};
use crate::lock;
use fuser::{INodeNo, Notifier};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::iter::once;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, sleep};
use std::time::Duration;

/// An answer that was on its way when something changed may reach the kernel after the word to
/// forget it: so that is repeated after this time.
const UNDER_WAY: Duration = Duration::from_millis(20);
const EVENT_BYTES: usize = 16 << 10;

/// The folders that are watched.
pub(super) struct Watch {
    nodes: Arc<Nodes>,
    inotify: OwnedFd,
    /// Folders by the number of their watch.
    places: Mutex<HashMap<i32, usize>>,
    changed: Arc<Mutex<Vec<Changed>>>,
    /// What is taken, for the thread that has the kernel forget it. One thread takes at a time.
    taken: Mutex<Sender<Event>>,
}

/// What an event says.
pub(super) enum Event {
    /// The names of a folder, or one of its files.
    In { place: usize, name: Option<OsString>, names_changed: bool },
    /// Events were lost.
    Lost,
}

impl Watch {
    /// Also returns what [`follow`] takes.
    pub(super) fn new(
        nodes: Arc<Nodes>,
        changed: Arc<Mutex<Vec<Changed>>>,
    ) -> io::Result<(Self, Receiver<Event>)> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let (taken, events) = channel();
        let (places, taken) = (Mutex::default(), Mutex::new(taken));
        Ok((Self { nodes, inotify, places, changed, taken }, events))
    }

    /// Watches the folders, in the order of their inodes, and takes those for known that are as
    /// they were noted. Returns how many these are.
    pub(super) fn begin(&self) -> usize {
        let folders = &self.nodes.folders;
        let mut order: Vec<usize> = (0..folders.len()).collect();
        order.sort_by_key(|place| folders[*place].folder.about.inode);
        let mut places = lock(&self.places);
        let events = WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        for place in order {
            let Folder { path, about, .. } = &folders[place].folder;
            let watch = inotify::add_watch(&self.inotify, path, events);
            let is_same = About::at(path).is_ok_and(|found| found.is_as(about));
            match watch {
                Ok(watch) if is_same && places.insert(watch, place).is_none() => {
                    folders[place].set_known(true);
                }
                _ => self.note(path.clone(), false),
            }
        }
        self.nodes.known_folders()
    }

    /// Looks at the entries of all files, in the order of their inodes.
    pub(super) fn check_files(&self, notifier: &Notifier) {
        let mut files: Vec<(u64, &Node)> = self.nodes.files().collect();
        files.sort_by_key(|(number, _)| *number);
        for (number, file) in files {
            // If another file has its name by now, its folder is no longer known.
            let found = About::at(&file.path).ok().filter(|found| found.is_of(&file.about));
            if found.is_some_and(|found| !found.is_as(&file.about)) && file.change() {
                self.note(file.path.clone(), true);
                let _ = notifier.inval_inode(INodeNo(number), 0, 0);
            }
        }
    }

    fn note(&self, path: PathBuf, was_served: bool) {
        lock(&self.changed).push(Changed { path, was_served });
    }

    fn event(&self, event: &inotify::Event<'_>) -> Option<Event> {
        let flags = event.events();
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            return Some(Event::Lost);
        }
        let place = *lock(&self.places).get(&event.wd())?;
        let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()).to_owned());
        let of_names = ReadFlags::CREATE
            | ReadFlags::DELETE
            | ReadFlags::MOVED_FROM
            | ReadFlags::MOVED_TO
            | ReadFlags::DELETE_SELF
            | ReadFlags::MOVE_SELF
            | ReadFlags::UNMOUNT
            | ReadFlags::IGNORED;
        // Without a name it is the folder's own entry that has changed.
        let names_changed = name.is_none() || flags.intersects(of_names);
        Some(Event::In { place, name, names_changed })
    }

    /// Takes all changes that are queued. An error: no more will be seen.
    pub(super) fn catch_up(&self) -> io::Result<()> {
        let taken = lock(&self.taken);
        let mut buffer = [MaybeUninit::<u8>::uninit(); EVENT_BYTES];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        loop {
            let (event, ends) = match reader.next() {
                Ok(event) => (self.event(&event), None),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(()),
                // Then nothing is known any more.
                Err(error) => (Some(Event::Lost), Some(error)),
            };
            if let Some(event) = event {
                self.take(&event);
                // At the end of the process there is no thread that would take it.
                let _ = taken.send(event);
            }
            if let Some(error) = ends {
                return Err(error.into());
            }
        }
    }

    /// From now on what has changed is answered from the real folder.
    fn take(&self, event: &Event) {
        let Event::In { place, name, names_changed } = event else {
            self.nodes.folders.iter().for_each(|folder| _ = folder.set_known(false));
            self.nodes.files().for_each(|(_, file)| _ = file.change());
            return;
        };
        let known = &self.nodes.folders[*place];
        if *names_changed && known.set_known(false) {
            self.note(known.folder.path.clone(), false);
        }
        // Of a name that was removed, the open file stays as it was.
        if !names_changed
            && let Some((_, file)) = self.file(*place, name.as_deref())
            && file.change()
        {
            self.note(file.path.clone(), false);
        }
    }

    fn file(&self, place: usize, name: Option<&OsStr>) -> Option<(u64, &Node)> {
        let number = self.nodes.folders[place].folder.find(name?)?.about?.inode;
        Some((number, self.nodes.file(number)?))
    }

    /// The kernel forgets what it knows of it. It may know nothing.
    fn forget(&self, event: &Event, notifier: &Notifier) {
        let Event::In { place, name, .. } = event else {
            for folder in &self.nodes.folders {
                self.forget_folder(&folder.folder, notifier);
            }
            return;
        };
        let folder = &self.nodes.folders[*place].folder;
        match name {
            Some(name) => {
                let parent = INodeNo(folder.about.inode);
                let _ = notifier.inval_entry(parent, name);
                let _ = notifier.inval_inode(parent, 0, 0);
                if let Some((number, _)) = self.file(*place, Some(name))
                    && self.nodes.unchanged(number).is_none()
                {
                    let _ = notifier.inval_inode(INodeNo(number), 0, 0);
                }
            }
            None => self.forget_folder(folder, notifier),
        }
    }

    fn forget_folder(&self, folder: &Folder, notifier: &Notifier) {
        let parent = INodeNo(folder.about.inode);
        for name in &folder.names {
            let _ = notifier.inval_entry(parent, OsStr::new(&name.name));
            if let Some(about) = name.about.filter(|about| !about.is_folder()) {
                let _ = notifier.inval_inode(INodeNo(about.inode), 0, 0);
            }
        }
        let _ = notifier.inval_inode(parent, 0, 0);
    }
}

/// Starts threads that follow the changes until this process ends: one waits for them, the other
/// has the kernel forget what it knows.
pub(super) fn follow(
    watch: &Arc<Watch>,
    events: Receiver<Event>,
    notifier: Notifier,
) -> io::Result<()> {
    let waits = watch.clone();
    let wait = move || {
        loop {
            let mut asked = [PollFd::new(&waits.inotify, PollFlags::IN)];
            match poll(&mut asked, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => sleep(UNDER_WAY),
            }
            if waits.catch_up().is_err() {
                return;
            }
        }
    };
    Builder::new().name("seekless-changes".to_owned()).spawn(wait)?;
    let watch = watch.clone();
    let forget = move || {
        while let Ok(first) = events.recv() {
            let changes: Vec<Event> = once(first).chain(events.try_iter()).collect();
            changes.iter().for_each(|event| watch.forget(event, &notifier));
            sleep(UNDER_WAY);
            changes.iter().for_each(|event| watch.forget(event, &notifier));
        }
    };
    Builder::new().name("seekless-forget".to_owned()).spawn(forget).map(drop)
}
