//! Several packs and folders as one store: later ones override earlier ones.

use crate::faulty::{Fault, Faulty};
use crate::support::Sample;
use seekless_engine::EngineKind;
use seekless_io::{ErrorKind, Store};
use seekless_pack::Codec;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn text(words: &str) -> Vec<u8> {
    words.repeat(300).into_bytes()
}

fn packed(files: &[(&str, &str)]) -> Sample {
    let files = files.iter().map(|(name, words)| ((*name).to_owned(), text(words)));
    Sample::of_files(files.collect(), Codec::Auto)
}

/// A pack, a patch of it, and a folder with mods.
struct Game {
    data: Sample,
    patch: Sample,
    mods: PathBuf,
    _room: tempfile::TempDir,
}

impl Game {
    fn new() -> Self {
        let room = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mods = room.path().join("mods");
        fs::create_dir_all(mods.join("art/new")).unwrap();
        fs::write(mods.join("art/wall.dds"), text("mod wall")).unwrap();
        fs::write(mods.join("art/new/tower.dds"), text("mod tower")).unwrap();
        fs::write(mods.join("empty"), "").unwrap();
        std::os::unix::fs::symlink("..", mods.join("art/loop")).unwrap();
        Self {
            data: packed(&[
                ("art/wall.dds", "wall"),
                ("art/door.dds", "door"),
                ("maps/one.xml", "map"),
                ("maps/two.xml", "second"),
            ]),
            patch: packed(&[("maps/one.xml", "patched"), ("art/wall.dds", "patched wall")]),
            mods,
            _room: room,
        }
    }

    fn open(&self) -> Store {
        let builder = Store::builder().archive(&self.data.path).archive(&self.patch.path);
        builder.folder(&self.mods).engine(EngineKind::Threads).open_all().unwrap()
    }
}

const EXPECTED: [(&str, &str); 5] = [
    ("art/wall.dds", "mod wall"),
    ("art/door.dds", "door"),
    ("maps/one.xml", "patched"),
    ("maps/two.xml", "second"),
    ("art/new/tower.dds", "mod tower"),
];

#[test]
fn the_last_source_that_has_a_name_is_loaded() {
    let game = Game::new();
    let store = game.open();
    assert_eq!(store.len(), 6);
    for _ in 0..2 {
        for (name, words) in EXPECTED {
            assert_eq!(&store.load(name).unwrap()[..], text(words), "{name}");
        }
    }
    assert!(store.load("empty").unwrap().is_empty());
    let statistics = store.statistics();
    assert_eq!((statistics.misses, statistics.hits), (6, 5), "one cache for all");
    let names = EXPECTED.map(|(name, _)| name);
    for (position, result) in game.open().load_many(names) {
        assert_eq!(&result.unwrap()[..], text(EXPECTED[position].1), "{}", names[position]);
    }
    let part = game.open().read_range("art/wall.dds", 4..8).unwrap();
    assert_eq!(&part[..], b"wall");
}

#[test]
fn each_source_says_what_was_loaded_from_it() {
    let game = Game::new();
    let store = game.open();
    EXPECTED.iter().for_each(|(name, _)| drop(store.load(name).unwrap()));
    let found: Vec<_> = store
        .sources()
        .into_iter()
        .map(|source| (source.path, source.files, source.loaded, source.failed))
        .collect();
    assert_eq!(
        found,
        [
            (game.data.path.clone(), 2, 2, 0),
            (game.patch.path.clone(), 1, 1, 0),
            (game.mods.clone(), 3, 2, 0)
        ]
    );
    let source = |name| store.source(name).unwrap();
    assert_eq!(source("maps/one.xml"), game.patch.path);
    assert_eq!(source("maps/two.xml"), game.data.path);
    assert_eq!(source("art/wall.dds"), game.mods);
}

#[test]
fn names_are_brought_into_one_form() {
    let game = Game::new();
    let several = game.open();
    let single = Store::builder().engine(EngineKind::Threads).open(&game.data.path).unwrap();
    for store in [&several, &single] {
        for name in ["./maps/two.xml", "maps//two.xml", "maps\\two.xml", "/maps/./two.xml"] {
            assert_eq!(&store.load(name).unwrap()[..], text("second"), "{name}");
        }
        assert_eq!(store.load("Maps/two.xml").unwrap_err().kind(), ErrorKind::NotFound);
    }
    let message = several.load("nowhere").unwrap_err().to_string();
    for path in [&game.data.path, &game.patch.path, &game.mods] {
        assert!(message.contains(path.to_str().unwrap()), "{message}");
    }
}

#[test]
fn an_error_names_the_source_and_fails_that_file_only() {
    let game = Game::new();
    let engine = Arc::new(Faulty::new(Fault::None));
    let builder = Store::builder().shared_engine(engine.clone()).direct(false).cache(0);
    let builder = builder.archive(&game.data.path).archive(&game.patch.path).folder(&game.mods);
    let store = builder.open_all().unwrap();
    fs::remove_file(game.mods.join("art/new/tower.dds")).unwrap();
    fs::write(game.mods.join("art/wall.dds"), "shorter").unwrap();
    let failed = |name: &str, source: &Path, why: &str| {
        let error = store.load(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Read, "{error}");
        for part in [source.to_str().unwrap(), name, why] {
            assert!(error.to_string().contains(part), "{part:?} is missing in {error}");
        }
    };
    failed("art/new/tower.dds", &game.mods, "No such file");
    failed("art/wall.dds", &game.mods, "had 2400 when the store was opened");
    assert_eq!(&store.load("maps/two.xml").unwrap()[..], text("second"));
    // In the patch, whose entries lie behind all of the data's.
    let index = Store::open(&game.patch.path).unwrap().index().clone();
    let bad = index.entry(index.find("maps/one.xml").unwrap());
    engine.set(Fault::Bad(bad.header_offset..bad.header_offset + bad.extent_bytes));
    failed("maps/one.xml", &game.patch.path, &format!("offset {}:", bad.header_offset));
    assert_eq!(store.sources().iter().map(|source| source.failed).sum::<u64>(), 3);
}

#[test]
fn a_store_of_folders_alone_or_of_nothing() {
    let game = Game::new();
    let store = Store::builder().folder(&game.mods).open_all().unwrap();
    assert_eq!(&store.load("art/wall.dds").unwrap()[..], text("mod wall"));
    assert!(store.index().is_empty() && !store.is_empty());
    assert_eq!(store.path(), game.mods);
    let error = Store::builder().open_all().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Setting);
    let absent = Store::builder().folder(game.mods.join("absent")).open_all().unwrap_err();
    assert_eq!(absent.kind(), ErrorKind::Open);
    assert!(absent.to_string().contains("mods/absent"), "{absent}");
}

#[test]
fn files_of_several_sources_are_never_read_at_once() {
    let game = Game::new();
    // Requests cost so much that everything near is read together.
    let costs = seekless_io::Costs { request_ns: 1 << 40, bytes_per_second: 1 << 34, depth: 1 };
    let builder = Store::builder().engine(EngineKind::Threads).direct(false).costs(costs);
    let builder = builder.archive(&game.data.path).archive(&game.patch.path).folder(&game.mods);
    let store = builder.open_all().unwrap();
    let before = store.counters().requests;
    for (position, result) in store.load_many(EXPECTED.map(|(name, _)| name)) {
        assert_eq!(&result.unwrap()[..], text(EXPECTED[position].1));
    }
    assert_eq!(store.counters().requests - before, 4, "one for each pack and each loose file");
}

#[test]
fn a_pack_older_than_its_files_is_noticed() {
    let room = tempfile::tempdir().unwrap();
    let (folder, path) = (room.path().join("data"), room.path().join("data.zip"));
    fs::create_dir(&folder).unwrap();
    let mut pack = seekless_pack::PackWriter::new(fs::File::create(&path).unwrap());
    for name in ["a", "b", "c"] {
        fs::write(folder.join(name), name).unwrap();
        let modified = fs::metadata(folder.join(name)).unwrap().modified().unwrap();
        let second = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let about = seekless_pack::About::named(name).modified(second as i64);
        pack.add(seekless_pack::prepare(about, name.into(), Codec::Auto).unwrap()).unwrap();
    }
    pack.finish().unwrap();
    let store = Store::open(&path).unwrap();
    // The pack has whole seconds, and the files are as new as it is: their content decides.
    assert!(store.changed_since(&folder).unwrap().is_empty());
    let time = fs::metadata(folder.join("a")).unwrap().modified().unwrap();
    fs::write(folder.join("a"), "A").unwrap();
    fs::File::options().write(true).open(folder.join("a")).unwrap().set_modified(time).unwrap();
    assert_eq!(store.changed_since(&folder).unwrap(), ["a"]);
    fs::write(folder.join("a"), "a").unwrap();
    fs::File::options().write(true).open(folder.join("a")).unwrap().set_modified(time).unwrap();
    fs::write(folder.join("b"), "longer").unwrap();
    fs::remove_file(folder.join("c")).unwrap();
    assert_eq!(store.changed_since(&folder).unwrap(), ["b", "c"]);
    assert_eq!(store.changed_since(room.path().join("x")).unwrap_err().kind(), ErrorKind::Open);
}
