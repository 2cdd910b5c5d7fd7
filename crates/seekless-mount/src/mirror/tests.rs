use super::*;
use rustix::fs::{Mode, OFlags, openat};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};

const FILES: usize = 8;
const BYTES: usize = 10_000;

/// A folder of files, all of which a pack holds, and what else it holds.
struct Place {
    folder: tempfile::TempDir,
    mirrored: Mirrored,
    /// The folder that holds the roots.
    top: OwnedFd,
    pack: File,
}

fn name(number: usize) -> String {
    format!("f{number}")
}

fn content(number: usize) -> Vec<u8> {
    vec![b'a' + number as u8; BYTES]
}

impl Place {
    /// `None` if this process may not mount.
    fn new() -> Option<Self> {
        let Ok(detached) = Detached::for_mirror() else {
            println!("skipped: this process may not mount");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let mut pack = tempfile::tempfile().unwrap();
        let noted = |number: usize| {
            let name = name(number);
            fs::write(path.join(&name), content(number)).unwrap();
            let about = About::at(&path.join(&name)).unwrap();
            let offset = Some((number * BYTES) as u64);
            let (inode, kind) = (about.inode, about.mode);
            Name { name, inode, kind, about: Some(about), offset, link: None }
        };
        let names: Vec<Name> = (0..FILES).map(noted).collect();
        (0..FILES).for_each(|number| pack.write_all(&content(number)).unwrap());
        let about = About::at(&path).unwrap();
        let absent = vec!["none".to_owned()];
        let folders = vec![Folder { path, about, names, absent }];
        let (fuse, top) = detached.into_parts();
        let kept = top.try_clone().unwrap();
        let mirror = Mirror { roots: vec![0], folders };
        let pack_of_mirror = pack.try_clone().unwrap();
        let mirrored = Detached::of_parts(fuse, top).mirror(mirror, pack_of_mirror).unwrap();
        Some(Self { folder, mirrored, top: kept, pack })
    }

    /// Opens a file as the program sees it.
    fn open(&self, name: &str, flags: OFlags) -> File {
        openat(&self.top, format!("0/{name}"), flags, Mode::empty()).unwrap().into()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        let mut content = Vec::new();
        self.open(name, OFlags::RDONLY).read_to_end(&mut content).unwrap();
        content
    }

    /// Reads all files, and returns how many questions that took.
    fn read_all(&self) -> u64 {
        let before = self.mirrored.requests();
        (0..FILES).for_each(|number| assert_eq!(self.read(&name(number)), content(number)));
        self.mirrored.requests() - before
    }

    /// By a thread of its own, whose questions count for none of the program.
    fn hand_over(&mut self) {
        let all = 0..(FILES * BYTES) as u64;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut ahead = self.mirrored.ahead().unwrap();
                ahead.hand_over(&self.pack, std::slice::from_ref(&all), &|| true);
                ahead.look_up_rest(&|| true);
            });
        });
    }
}

#[test]
fn what_was_handed_over_is_not_asked_for() {
    let (Some(plain), Some(mut ahead)) = (Place::new(), Place::new()) else { return };
    ahead.hand_over();
    assert_eq!(ahead.mirrored.requests(), 0, "the program has asked for nothing");
    let (plain, ahead) = (plain.read_all(), ahead.read_all());
    // Of each file: a look at its name, and a read.
    assert!(ahead + 2 * FILES as u64 <= plain, "{ahead} questions instead of {plain}");
}

#[test]
fn names_that_are_absent_are_handed_over_until_they_are_made() {
    let Some(mut place) = Place::new() else { return };
    place.hand_over();
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let folder = openat(&place.top, "0", flags, Mode::empty()).unwrap();
    let look_at = |name: &str| rustix::fs::statat(&folder, name, rustix::fs::AtFlags::empty());
    let look = || look_at("none");
    look_at("f0").unwrap(); // asks for the entry of the root, once
    let before = place.mirrored.requests();
    assert!(look().is_err());
    assert_eq!(place.mirrored.requests(), before, "the kernel knows that it is absent");
    fs::write(place.folder.path().join("none"), b"now").unwrap();
    let begun = std::time::Instant::now();
    while look().is_err() && begun.elapsed() < std::time::Duration::from_secs(30) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(look().is_ok(), "what is made is seen");
}

#[test]
fn a_file_that_changes_after_it_was_handed_over_is_seen_as_it_is() {
    let Some(mut place) = Place::new() else { return };
    place.hand_over();
    fs::write(place.folder.path().join("f3"), b"new").unwrap();
    place.mirrored.check_files();
    assert_eq!(place.read("f3"), b"new");
    assert_eq!(place.read("f4"), content(4));
}

#[test]
fn a_file_that_has_changed_is_not_handed_over() {
    let Some(mut place) = Place::new() else { return };
    fs::write(place.folder.path().join("f3"), b"new").unwrap();
    place.mirrored.check_files();
    place.hand_over();
    assert_eq!(place.read("f3"), b"new");
}

/// The kernel reads a real file itself, if it may; another program writes it meanwhile.
#[test]
fn a_real_file_is_read_as_it_is_in_each_way_that_it_is_opened() {
    let Some(place) = Place::new() else { return };
    let path = place.folder.path().join("real");
    fs::write(&path, content(1)).unwrap();
    let one = place.open("real", OFlags::RDONLY);
    let other = place.open("real", OFlags::RDONLY);
    let mut part = [0; 100];
    one.read_exact_at(&mut part, 5000).unwrap();
    assert_eq!(part, [b'b'; 100]);
    let outside = File::options().write(true).open(&path).unwrap();
    outside.write_all_at(&[b'x'; 100], 5000).unwrap();
    let again = place.open("real", OFlags::RDONLY);
    for file in [&other, &again] {
        file.read_exact_at(&mut part, 5000).unwrap();
        assert_eq!(part, [b'x'; 100]);
    }
    // The program's own write, while it has the file open for reading.
    let writes = place.open("real", OFlags::RDWR);
    writes.write_all_at(&[b'y'; 200], 9950).unwrap();
    one.read_exact_at(&mut part, 10_050).unwrap();
    assert_eq!(part, [b'y'; 100]);
    assert_eq!(fs::read(&path).unwrap()[9950..], [b'y'; 200]);
    assert_eq!(one.metadata().unwrap().size(), 10_150);
    drop((one, other, again, writes));
    assert_eq!(place.read("real").len(), 10_150);
    assert!(place.open("real", OFlags::RDWR).write_at(b"z", 0).is_ok());
    assert_eq!(place.read("real")[0], b'z');
}
