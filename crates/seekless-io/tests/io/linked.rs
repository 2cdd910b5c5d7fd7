//! Symbolic links of packs: a name that is one loads the file to which it leads in the store, and
//! none is followed out of it.

use crate::support::content;
use seekless_engine::EngineKind;
use seekless_io::{ErrorKind, Store};
use seekless_pack::{About, Codec, PackWriter, prepare, prepare_directory};
use std::fs;
use std::path::PathBuf;

/// Files and links beside each other in a folder of the host that a link could lead to.
struct Room {
    folder: tempfile::TempDir,
}

impl Room {
    fn new() -> Self {
        Self { folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A pack of files, which say their own names, and links, coded by `codec`.
    fn pack(&self, name: &str, files: &[&str], links: &[(&str, &str)], codec: Codec) -> PathBuf {
        let path = self.at(name);
        let mut pack = PackWriter::new(fs::File::create(&path).unwrap());
        for file in files {
            pack.add(prepare(About::named(*file), file.as_bytes().to_vec(), codec).unwrap())
                .unwrap();
        }
        for (link, text) in links {
            let about = About::named(*link).mode(0o120_777);
            pack.add(prepare(about, text.as_bytes().to_vec(), codec).unwrap()).unwrap();
        }
        pack.add(prepare_directory(About::named("lib/")).unwrap()).unwrap();
        pack.finish().unwrap();
        path
    }
}

fn loaded(store: &Store, name: &str) -> String {
    String::from_utf8(store.load(name).unwrap().to_vec()).unwrap()
}

/// The message of a load that must fail as if there were no such file.
fn refusal(store: &Store, name: &str) -> String {
    let error = store.load(name).map(|bytes| bytes.to_vec()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(store.bytes(name).is_err() && store.read_range(name, 0..1).is_err(), "{name}");
    error.to_string()
}

#[test]
fn a_link_loads_the_file_to_which_it_leads() {
    let room = Room::new();
    let links = [
        ("lib/so", "so.1"),
        ("lib64", "lib"),
        ("bin/deep/up", "../../lib64/so"),
        ("lib/so.1", "so.1.2"),
        ("folder", "lib"),
        ("long", &*"./".repeat(200)),
    ];
    let path = room.pack("a.zip", &["a", "lib/so.1.2", "lib/x"], &links, Codec::Auto);
    let store = Store::builder().engine(EngineKind::Threads).open(&path).unwrap();
    for name in ["lib/so", "lib/so.1", "bin/deep/up", "lib64/so", "./folder//so", "lib/so.1.2"] {
        assert_eq!(loaded(&store, name), "lib/so.1.2", "{name}");
        assert_eq!(store.bytes(name).unwrap(), 10);
        assert_eq!(&store.read_range(name, 4..6).unwrap()[..], b"so");
    }
    assert_eq!((loaded(&store, "lib64/x"), loaded(&store, "a")), ("lib/x".into(), "a".into()));
    let many = ["lib64/so", "a"].map(str::to_owned);
    let many: Vec<_> =
        store.load_many(many).map(|(place, got)| (place, got.unwrap().len())).collect();
    assert!(many.contains(&(0, 10)) && many.contains(&(1, 1)), "{many:?}");
    let expected = [
        ("a", 1),
        ("lib/so.1.2", 10),
        ("lib/x", 5),
        ("lib/so", 10),
        ("bin/deep/up", 10),
        ("lib/so.1", 10),
    ];
    assert_eq!(store.names(), expected, "links to folders are no files");
    assert_eq!((store.len(), store.sources()[0].files), (6, 6));
    assert_eq!((store.link_text("lib64"), store.link_text("a")), (Some(&b"lib"[..]), None));
    // The file that they share was read once.
    assert_eq!(store.statistics().misses, 3);
}

#[test]
fn no_link_is_followed_out_of_the_store() {
    let room = Room::new();
    fs::write(room.at("secret"), "secret").unwrap();
    let absolute = room.at("secret").display().to_string();
    let chain: Vec<(String, String)> =
        (0..60).map(|at| (format!("chain{at:02}"), format!("chain{:02}", at + 1))).collect();
    let mut links = vec![
        ("passwd", "/etc/passwd"),
        ("up", "../../../../../../etc/passwd"),
        ("beside", "../secret"),
        ("lib/beside", "../../secret"),
        ("here", "secret"),
        ("absolute", &*absolute),
        ("root", "/"),
        ("through", "root/etc/passwd"),
        ("self", "self"),
        ("ping", "lib/pong"),
        ("lib/pong", "../ping"),
        ("chain60", "a"),
        ("empty", ""),
        ("nul", "a\0b"),
    ];
    links.extend(chain.iter().map(|(name, text)| (&**name, &**text)));
    let path = room.pack("a.zip", &["a"], &links, Codec::Stored);
    for store in [
        Store::builder().engine(EngineKind::Threads).open(&path).unwrap(),
        // A folder's own links lead where they lead; those of a pack are not followed into it.
        Store::builder().archive(&path).folder(room.at("none")).open_all().unwrap_or_else(|_| {
            fs::create_dir(room.at("none")).unwrap();
            Store::builder().archive(&path).folder(room.at("none")).open_all().unwrap()
        }),
    ] {
        for name in [
            "passwd",
            "up",
            "beside",
            "lib/beside",
            "absolute",
            "root",
            "through",
            "root/etc/passwd",
        ] {
            let why = refusal(&store, name);
            assert!(why.contains("leads out of the archive") && why.contains("a.zip"), "{why}");
        }
        for name in ["self", "ping", "lib/pong", "self/x", "chain00", "chain20"] {
            let why = refusal(&store, name);
            assert!(why.contains("too many links"), "{why}");
        }
        for name in ["here", "empty", "nul"] {
            let why = refusal(&store, name);
            assert!(why.contains("where there is no file"), "{why}");
        }
        assert!(refusal(&store, "absolute").contains(&absolute), "it says where the link leads");
        assert_eq!(
            (loaded(&store, "chain60"), loaded(&store, "chain21")),
            ("a".into(), "a".into())
        );
        let names: Vec<&str> = store.names().iter().map(|(name, _)| *name).collect();
        assert_eq!((names.len(), store.len()), (1 + 1 + 39, 41), "{names:?}");
        assert!(names.iter().all(|name| store.load(name).is_ok()));
    }
}

#[test]
fn a_patch_counts_where_a_link_leads_and_what_it_is_called() {
    let room = Room::new();
    let data = room.pack(
        "data.zip",
        &["lib/a", "b"],
        &[("l", "lib/a"), ("m", "lib/a"), ("n", "new")],
        Codec::Stored,
    );
    let patch = room.pack("patch.zip", &["m", "new"], &[("b", "new")], Codec::Stored);
    fs::create_dir_all(room.at("mods/lib")).unwrap();
    fs::write(room.at("mods/lib/a"), "modded").unwrap();
    let builder = Store::builder().archive(data).archive(patch).folder(room.at("mods"));
    let store = builder.engine(EngineKind::Threads).open_all().unwrap();
    let content = ["l", "m", "n", "b"].map(|name| loaded(&store, name));
    assert_eq!(content, ["modded", "m", "new", "new"]);
    let files: Vec<u64> = store.sources().iter().map(|source| source.files).collect();
    assert_eq!((files, store.len()), (vec![2, 3, 1], 6));
}

#[test]
fn a_damaged_or_endless_link_costs_that_link_alone() {
    let room = Room::new();
    let long = "x/".repeat(3000);
    let path =
        room.pack("a.zip", &["a"], &[("long", &long), ("bad", "a"), ("good", "a")], Codec::Stored);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(4).position(|window| window == b"bada").unwrap();
    bytes[at + 3] = b'b';
    fs::write(&path, bytes).unwrap();
    let store = Store::builder().engine(EngineKind::Threads).open(&path).unwrap();
    for name in ["long", "bad"] {
        let why = refusal(&store, name);
        assert!(why.contains("is damaged, or longer than a path can be"), "{why}");
    }
    assert_eq!(loaded(&store, "good"), "a");
    assert_eq!(store.len(), 2);
}

#[test]
fn links_that_lie_together_cost_one_read_at_most_to_open() {
    let room = Room::new();
    let links: Vec<(String, String)> =
        (0..500).map(|at| (format!("link{at}"), format!("file{at}"))).collect();
    let mut pack = PackWriter::new(fs::File::create(room.at("a.zip")).unwrap());
    for at in 0..500 {
        pack.add(
            prepare(About::named(format!("file{at}")), content(at, 5000), Codec::Stored).unwrap(),
        )
        .unwrap();
    }
    let without = room.pack("b.zip", &["a"], &[], Codec::Stored);
    for (name, text) in &links {
        let about = About::named(name).mode(0o120_777);
        pack.add(prepare(about, text.clone().into_bytes(), Codec::Stored).unwrap()).unwrap();
    }
    pack.finish().unwrap();
    let open =
        |path| Store::builder().engine(EngineKind::Threads).direct(false).open(path).unwrap();
    let (plain, linked) = (open(without), open(room.at("a.zip")));
    let requests = linked.counters().requests;
    assert!(requests <= plain.counters().requests + 2, "{requests} requests");
    assert_eq!(linked.len(), 1000);
    assert_eq!(linked.load("link7").unwrap()[..], content(7, 5000)[..]);
}
