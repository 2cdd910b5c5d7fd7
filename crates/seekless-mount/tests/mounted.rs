//! Packs that are mounted, read through the kernel.

#[path = "../../seekless-pack/tests/pack/corpus.rs"]
mod corpus;
#[path = "../../seekless-pack/tests/pack/forge.rs"]
mod forge;

use seekless_io::Store;
use seekless_mount::{ErrorKind, Mounted, Options, mount};
use seekless_pack::{About, Codec, PackWriter, prepare, prepare_directory};
use std::fs;
use std::io::{ErrorKind as Io, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A pack beside the folder at which it is mounted.
struct Room {
    folder: tempfile::TempDir,
}

impl Room {
    fn new(files: &[(&str, Vec<u8>)]) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = fs::File::create(folder.path().join("data.zip")).unwrap();
        let mut pack = PackWriter::new(std::io::BufWriter::new(file));
        for (name, content) in files {
            let about = About::named(*name)
                .modified(1_700_000_000)
                .modified_ns(123_456_789)
                .mode(0o100_640);
            pack.add(prepare(about, content.clone(), Codec::Auto).unwrap()).unwrap();
        }
        let link = About::named("link").mode(0o120_777);
        pack.add(prepare(link, b"art/a.txt".to_vec(), Codec::Stored).unwrap()).unwrap();
        pack.add(prepare_directory(About::named("empty/").mode(0o40_700)).unwrap()).unwrap();
        pack.finish().unwrap().0.into_inner().unwrap().sync_all().unwrap();
        fs::create_dir(folder.path().join("at")).unwrap();
        Self { folder }
    }

    fn pack(&self) -> PathBuf {
        self.folder.path().join("data.zip")
    }

    fn at(&self) -> PathBuf {
        self.folder.path().join("at")
    }

    /// `None`, said so, where packs cannot be mounted.
    fn mount(&self, store: Store, options: Options) -> Option<Mounted> {
        match mount(store, &self.at(), options) {
            Err(error) if error.kind() == ErrorKind::System => {
                println!("skipped: FUSE is not to be had here: {error}");
                None
            }
            other => Some(other.unwrap()),
        }
    }
}

fn files() -> Vec<(&'static str, Vec<u8>)> {
    let long: Vec<u8> = (0..3_000_000_u32).flat_map(|word| (word / 7).to_le_bytes()).collect();
    vec![
        ("art/a.txt", b"brick ".repeat(400)),
        ("art/deep/b", Vec::new()),
        ("long", long),
        ("b", vec![7; 5000]),
    ]
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<String> =
        folder.read_dir().unwrap().map(|entry| name(entry).into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn programs_see_the_files_of_the_pack() {
    let room = Room::new(&files());
    let store = Store::open(room.pack()).unwrap();
    let Some(mounted) = room.mount(store, Options::default()) else { return };
    let at = room.at();
    assert_eq!(names(&at), ["art", "b", "empty", "link", "long"]);
    assert_eq!(names(&at.join("art")), ["a.txt", "deep"]);
    for (name, content) in files() {
        assert!(fs::read(at.join(name)).unwrap() == content, "{name}");
    }
    assert_eq!(fs::read(at.join("link")).unwrap(), b"brick ".repeat(400));
    let about = at.join("art/a.txt").metadata().unwrap();
    assert_eq!(
        (about.len(), about.mtime(), about.mtime_nsec()),
        (2400, 1_700_000_000, 123_456_700)
    );
    assert_eq!(about.permissions().mode() & 0o777, 0o640);
    assert_eq!(at.join("empty").metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::read(at.join("none")).unwrap_err().kind(), Io::NotFound);
    let refused = fs::write(at.join("b"), "x").unwrap_err().kind();
    assert_eq!(refused, Io::ReadOnlyFilesystem);
    mounted.unmount().unwrap();
    assert!(names(&at).is_empty());
}

#[test]
fn threads_read_parts_of_one_large_file() {
    let room = Room::new(&files());
    // A cache that the file does not fit into.
    let store = Store::builder().cache(4 << 20).open(room.pack()).unwrap();
    let Some(_mounted) = room.mount(store, Options::default()) else { return };
    let (path, content) = (room.at().join("long"), &files()[2].1);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let mut file = fs::File::open(path).unwrap();
                for step in 0..50 {
                    let start = (thread * 2_999_000 + step * 7_919) % (content.len() - 5000);
                    file.seek(SeekFrom::Start(start as u64)).unwrap();
                    let mut part = [0; 5000];
                    file.read_exact(&mut part).unwrap();
                    assert!(part[..] == content[start..start + 5000], "at {start}");
                }
            });
        }
    });
}

/// A file that is too large to be held whole can be read all the same, and its other parts
/// are not decoded.
#[test]
fn of_a_very_large_file_parts_are_loaded() {
    let content: Vec<u8> = (0..12_000_000_u32).flat_map(|word| (word / 5).to_le_bytes()).collect();
    let noise: Vec<u8> = content
        .chunks(4)
        .flat_map(|word| {
            let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            word.wrapping_mul(2_654_435_761).rotate_left(9).to_be_bytes()
        })
        .collect();
    let room = Room::new(&[("deflated", content.clone()), ("stored", noise.clone())]);
    let store = Store::builder().max_entry_bytes(8 << 20).open(room.pack()).unwrap();
    assert!(store.load("deflated").is_err() && store.load("stored").is_err());
    let Some(_mounted) = room.mount(store.clone(), Options::default()) else { return };
    for (name, content) in [("deflated", &content), ("stored", &noise)] {
        let file = fs::File::open(room.at().join(name)).unwrap();
        for start in [47_000_000, 0, 999_990, 30_000_000, 31_457_270] {
            let mut part = [0; 4000];
            file.read_exact_at(&mut part, start as u64).unwrap();
            assert!(part[..] == content[start..start + 4000], "{name} at {start}");
        }
    }
    let touched = store.statistics().delivered_bytes;
    assert!(touched < 32 << 20, "{touched} bytes for five places of each file");
    assert!(fs::read(room.at().join("deflated")).unwrap() == content);
    assert!(fs::read(room.at().join("stored")).unwrap() == noise);
}

/// A stored file that is read in any direction gives its bytes, and so it does after the pack was
/// replaced.
#[test]
fn a_large_stored_file_is_read_by_its_streams() {
    let noise: Vec<u8> = (0..10_000_000_u32)
        .flat_map(|word| word.wrapping_mul(2_654_435_761).rotate_left(9).to_be_bytes())
        .collect();
    let room = Room::new(&[("small", vec![1; 1000]), ("stored", noise.clone())]);
    let store = Store::open(room.pack()).unwrap();
    let Some(_mounted) = room.mount(store.clone(), Options::default()) else { return };
    fs::rename(room.pack(), room.folder.path().join("old.zip")).unwrap();
    fs::write(room.pack(), vec![0xee; 50_000_000]).unwrap();
    let file = fs::File::open(room.at().join("stored")).unwrap();
    const BYTES: usize = 50_000;
    let check = |start: usize| {
        let mut part = vec![0; BYTES];
        file.read_exact_at(&mut part, start as u64).unwrap();
        assert!(part[..] == noise[start..start + BYTES], "at {start}");
    };
    let (from, to) = (3_000_000, 16_000_000);
    (from..to).step_by(BYTES).rev().for_each(check); // backward
    (to..2 * to).step_by(7 * BYTES).for_each(check); // strided
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let start = 24_000_000 + thread * 3_000_000;
            scope.spawn(move || (start..start + 2_900_000).step_by(BYTES).for_each(check));
        }
    });
    let mut end = vec![0; 100];
    assert_eq!(file.read_at(&mut end, noise.len() as u64 - 30).unwrap(), 30);
    assert_eq!(store.statistics().ranges, 0, "no part is read by the store");
    assert!(fs::read(room.at().join("stored")).unwrap() == noise);
}

/// Some letters, which are not those of other files.
fn letters(number: usize, bytes: usize) -> Vec<u8> {
    let word = |at: usize| (at + number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..bytes).map(|at| b'a' + (word(at / 2) as u8 & 15)).collect()
}

/// A program may keep more files open than there is memory for their contents.
#[test]
fn what_open_files_hold_is_bounded_and_read_again() {
    const BYTES: usize = 3_000_000;
    let names: Vec<String> = (0..64).map(|number| format!("{number}")).collect();
    // Some take less room than the others, or are stored.
    let bytes = |number: usize| match number % 8 {
        6 => BYTES / 4,
        _ => BYTES,
    };
    let content = |number: usize| match number % 8 {
        7 => (0..BYTES).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8).collect(),
        _ => letters(number, bytes(number)),
    };
    let files: Vec<(&str, Vec<u8>)> =
        names.iter().enumerate().map(|(number, name)| (name.as_str(), content(number))).collect();
    let room = Room::new(&files);
    let builder = Store::builder().cache(4 << 20).window(4 << 20).beyond_cache(16 << 20);
    let store = builder.direct(false).open(room.pack()).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let failed = {
        let told = told.clone();
        Box::new(move |words: &str| told.lock().unwrap().push(words.to_owned()))
    };
    let options = Options { open_bytes: 4 << 20, failed, ..Options::default() };
    let Some(_mounted) = room.mount(store.clone(), options) else { return };
    let open: Vec<_> =
        names.iter().map(|name| fs::File::open(room.at().join(name)).unwrap()).collect();
    // In no order that readahead foresees, and by several threads.
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (open, files, store, told) = (&open, &files, &store, &told);
            scope.spawn(move || {
                for step in 0..256 {
                    let number = (step * 29 + thread * 7) % 64;
                    let at = (step * 379_721 + thread * 1_111_111) % (bytes(number) - 4096);
                    let mut part = [0; 4096];
                    let read = open[number].read_exact_at(&mut part, at as u64);
                    assert!(read.is_ok(), "{number} at {at}: {read:?} {:?}", told.lock().unwrap());
                    assert!(part[..] == files[number].1[at..at + 4096], "{number} at {at}");
                    let held = store.statistics().held_bytes;
                    assert!(held <= (8 + 8) << 20, "{held} bytes");
                }
            });
        }
    });
}

/// As other tools deflate it: without a table of chunks that can be inflated alone.
fn without_chunks(pack: &Path) {
    let mut archive = fs::read(pack).unwrap();
    let is_table =
        |at: &usize| archive[*at..].starts_with(b"SK") && archive[at + 4..].starts_with(&[1, 20]);
    let at = (0..archive.len() - 6).rev().find(is_table).unwrap();
    archive[at + 4] = 99; // a version that nobody knows
    fs::write(pack, archive).unwrap();
}

#[test]
fn a_part_of_a_large_deflated_file_takes_little_memory() {
    const BYTES: usize = 300_000_000;
    let content = |at: usize| (at >> 20) as u8 ^ (at as u8 & 7);
    let room = Room::new(&[("large", (0..BYTES).map(content).collect())]);
    without_chunks(&room.pack());
    let builder = Store::builder().cache(4 << 20).beyond_cache(8 << 20);
    let store = builder.direct(false).open(room.pack()).unwrap();
    assert!(store.index().chunks(store.index().find("large").unwrap()).is_none());
    let options = Options { open_bytes: 4 << 20, ..Options::default() };
    let Some(_mounted) = room.mount(store.clone(), options) else { return };
    let file = fs::File::open(room.at().join("large")).unwrap();
    for start in [BYTES / 2, 10, BYTES - 10, BYTES / 3] {
        let mut part = [0; 10];
        file.read_exact_at(&mut part, start as u64).unwrap();
        assert!((start..start + 10).map(content).eq(part), "at {start}");
        let held = store.statistics().held_bytes;
        assert!(held <= 8 << 20, "{held} bytes");
    }
    let (mut part, mut at) = (vec![0; 1 << 20], 0);
    while at < BYTES {
        let bytes = file.read_at(&mut part, at as u64).unwrap();
        assert!(bytes > 0 && (at..at + bytes).map(content).eq(part[..bytes].iter().copied()));
        at += bytes;
    }
}

#[test]
fn what_is_read_once_is_not_asked_for_again() {
    let room = Room::new(&files());
    let store = Store::open(room.pack()).unwrap();
    let Some(_mounted) = room.mount(store.clone(), Options::default()) else { return };
    let read = || fs::read(room.at().join("long")).unwrap().len();
    read();
    let delivered = || store.statistics().delivered_bytes;
    let first = delivered();
    assert!(first >= 12_000_000, "{first}");
    assert_eq!(read(), 12_000_000);
    assert_eq!(delivered(), first, "it lies in the page cache");
}

#[test]
fn links_are_shown_as_links_and_the_kernel_follows_them() {
    let room = Room::new(&files());
    let path = room.pack().with_file_name("linked.zip");
    let mut pack = PackWriter::new(fs::File::create(&path).unwrap());
    pack.add(prepare(About::named("lib/a"), b"a".to_vec(), Codec::Stored).unwrap()).unwrap();
    fs::write(room.folder.path().join("outside"), "of the mount").unwrap();
    let texts = [
        ("lib64", "lib"),
        ("out", "../outside"),
        ("loop", "loop"),
        ("none", "nowhere"),
        ("up", "lib64/a"),
    ];
    for (name, text) in texts {
        let about = About::named(name).mode(0o120_777);
        pack.add(prepare(about, text.as_bytes().to_vec(), Codec::Stored).unwrap()).unwrap();
    }
    pack.finish().unwrap();
    let store = Store::open(&path).unwrap();
    let Some(mounted) = room.mount(store.clone(), Options::default()) else { return };
    for (name, text) in texts {
        assert_eq!(fs::read_link(room.at().join(name)).unwrap(), Path::new(text), "{name}");
        assert!(room.at().join(name).symlink_metadata().unwrap().is_symlink());
    }
    let read = |name: &str| fs::read_to_string(room.at().join(name));
    assert_eq!((read("lib64/a").unwrap(), read("up").unwrap()), ("a".to_owned(), "a".to_owned()));
    // As on any file system: who follows it is the kernel, with the rights of the program.
    assert_eq!(read("out").unwrap(), "of the mount");
    assert_eq!(read("none").unwrap_err().kind(), Io::NotFound);
    assert!(read("loop").is_err());
    // The store itself does not leave the pack.
    assert!(store.load("out").is_err() && store.load("up").is_ok());
    drop(mounted);
}

/// Programs that count links look for no more folders in a folder than its links say.
#[test]
fn what_the_kernel_tells_of_folders_is_true() {
    let many: Vec<String> = (0..5_000).map(|number| format!("many/{number}")).collect();
    let mut files = files();
    files.extend(many.iter().map(|name| (name.as_str(), Vec::new())));
    let room = Room::new(&files);
    let Some(_mounted) = room.mount(Store::open(room.pack()).unwrap(), Options::default()) else {
        return;
    };
    let links = |folder: &str| room.at().join(folder).metadata().unwrap().nlink();
    assert_eq!(["", "art", "many", "empty", "b"].map(links), [5, 3, 2, 2, 1]);
    let listed = names(&room.at().join("many"));
    assert_eq!(listed.len(), 5_000);
    let folder = fs::File::open(room.at().join("many")).unwrap();
    let mut entries = rustix::fs::Dir::read_from(&folder).unwrap();
    let all: Vec<_> = entries.by_ref().map(|entry| entry.unwrap()).collect();
    assert_eq!(all.len(), 5_002);
    // From a place in the midst, as `telldir` gave it.
    entries.seek(all[2_500].offset()).unwrap();
    let rest: Vec<_> = entries.map(|entry| entry.unwrap().file_name().to_owned()).collect();
    assert!(rest.iter().map(|name| &**name).eq(all[2_501..].iter().map(|entry| entry.file_name())));
    let inode = |name: &str| room.at().join("many").join(name).metadata().unwrap().ino();
    for entry in all.iter().skip(2).step_by(777) {
        let name = entry.file_name().to_str().unwrap();
        assert_eq!(entry.ino(), inode(name));
        assert_eq!(entry.file_type(), rustix::fs::FileType::RegularFile);
    }
    let about = rustix::fs::statvfs(room.at()).unwrap();
    assert_eq!((about.f_bavail, about.f_ffree, about.f_namemax), (0, 0, 1024));
}

#[test]
fn a_damaged_file_is_an_error_of_that_file_and_is_told() {
    let room = Room::new(&files());
    let mut bytes = fs::read(room.pack()).unwrap();
    let store = Store::open(room.pack()).unwrap();
    let entry = store.index().entry(store.index().find("long").unwrap());
    bytes[(entry.header_offset + entry.extent_bytes / 2) as usize] ^= 0x55;
    fs::write(room.pack(), &bytes).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let options = Options {
        failed: Box::new({
            let told = told.clone();
            move |words| told.lock().unwrap().push(words.to_owned())
        }),
        ..Options::default()
    };
    let store = Store::builder().direct(false).open(room.pack()).unwrap();
    let Some(_mounted) = room.mount(store, options) else { return };
    assert_eq!(fs::read(room.at().join("long")).unwrap_err().raw_os_error(), Some(5));
    assert!(told.lock().unwrap()[0].contains("long"), "{told:?}");
    assert_eq!(fs::read(room.at().join("b")).unwrap(), vec![7; 5000]);
}

#[test]
fn a_folder_that_holds_something_is_not_hidden_unasked() {
    let room = Room::new(&files());
    let store = || Store::open(room.pack()).unwrap();
    let error = mount(store(), &room.pack(), Options::default()).unwrap_err();
    assert!(error.to_string().contains("is not a folder"), "{error}");
    fs::write(room.at().join("mine"), "x").unwrap();
    let error = mount(store(), &room.at(), Options::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Folder);
    let options = Options { over: true, ..Options::default() };
    let Some(mounted) = room.mount(store(), options) else { return };
    assert!(!names(&room.at()).contains(&"mine".to_owned()));
    drop(mounted);
    assert_eq!(names(&room.at()), ["mine"]);
}

/// All files below a folder, with their paths in it.
fn files_below(folder: &Path, prefix: &str, found: &mut Vec<(String, Vec<u8>)>) {
    for name in names(folder) {
        let (path, name) = (folder.join(&name), format!("{prefix}{name}"));
        match path.is_dir() {
            true => files_below(&path, &format!("{name}/"), found),
            false => found.push((name, fs::read(path).unwrap())),
        }
    }
}

#[test]
fn odd_archives_of_other_tools_are_served_but_for_what_is_odd() {
    let room = Room::new(&[]);
    for case in corpus::cases() {
        fs::write(room.pack(), &case.archive).unwrap();
        let store = Store::open(room.pack()).unwrap();
        assert_eq!(store.len(), case.files.len(), "{}", case.what);
        assert_eq!(
            store.left_out().is_empty(),
            case.left_out == 0 && !case.what.contains("behind")
        );
        let Some(mounted) = room.mount(store, Options::default()) else { return };
        assert_eq!(mounted.left_out(), 0, "{}", case.what);
        let (mut found, mut expected) = (Vec::new(), case.files);
        files_below(&room.at(), "", &mut found);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}", case.what);
        mounted.unmount().unwrap();
    }
}
