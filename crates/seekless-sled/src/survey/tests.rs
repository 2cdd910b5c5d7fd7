//! Surveys of files that are cached, absent, sparse, remote or changed, and what the rules say of
//! them.

use super::*;
use crate::provider::Mock;
use crate::{Confidence, Kind};
use crate::{RemoteRule, Server, ServerOptions};
use rustix::fs::inotify;
use seekless_device::Row;
use seekless_sys::residency::{drop_cached, resident_bytes};
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::time::Instant;
use tempfile::TempDir;

const MIB: u64 = 1 << 20;

fn workplace() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder")
}

fn surveyor(config: &str) -> Surveyor {
    Surveyor::with(Config::parse(config).expect("a configuration"), Devices::default())
}

/// A file of data that is on the device and not in memory, as far as the system obeys.
fn cold_file(folder: &Path, bytes: u64) -> PathBuf {
    let path = folder.join("data");
    let file = File::create(&path).expect("made");
    let content: Vec<u8> = (0..bytes).map(|number| (number % 251) as u8).collect();
    (&file).write_all(&content).expect("room");
    file.sync_all().expect("synced");
    drop_cached(file.as_fd()).expect("dropped");
    path
}

fn resident(path: &Path) -> Option<u64> {
    resident_bytes(File::open(path).expect("there").as_fd()).expect("an answer")
}

fn covers(survey: &Survey) {
    let mut end = 0;
    for sled in &survey.sleds {
        assert_eq!(sled.offset, end);
        assert!(sled.bytes > 0);
        end = sled.end();
    }
    assert_eq!(end, survey.bytes);
}

#[test]
fn a_part_that_was_read_is_memory_and_the_rest_is_the_device() {
    let folder = workplace();
    let path = cold_file(folder.path(), 8 * MIB);
    if resident(&path) != Some(0) {
        eprintln!("skipped: the page cache cannot be emptied or asked here");
        return;
    }
    let survey = surveyor("").path(&path).expect("surveyed");
    covers(&survey);
    assert_eq!(survey.bytes_at(Level::Device), 8 * MIB);

    let file = File::open(&path).expect("there");
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).expect("advised");
    file.read_exact_at(&mut vec![0; MIB as usize], 4 * MIB).expect("read");
    let survey = surveyor("").path(&path).expect("surveyed");
    covers(&survey);
    let memory: Vec<_> = survey.sleds.iter().filter(|sled| sled.level == Level::Memory).collect();
    let first = memory.first().expect("what was read is in memory");
    assert!(first.offset <= 4 * MIB && memory.iter().map(|sled| sled.bytes).sum::<u64>() >= MIB);
    assert!(survey.bytes_at(Level::Device) > 0, "{survey:?}");
    assert!(
        survey.delivery_time(Plan::Best, None).high
            <= survey.delivery_time(Plan::Linear, None).high
    );
    let open = surveyor("").file(&file).expect("surveyed");
    assert_eq!(open.sleds, survey.sleds);
}

#[test]
fn asking_reads_nothing() {
    let folder = workplace();
    let path = cold_file(folder.path(), 4 * MIB);
    let mut surveyor = surveyor("");
    surveyor.path(&path).expect("surveyed"); // mounts and devices are found out once
    let before = (resident(&path), read_bytes());
    for _ in 0..10 {
        surveyor.path(&path).expect("surveyed");
    }
    let after = (resident(&path), read_bytes());
    match (before.1, after.1) {
        (Some(before), Some(after)) => {
            assert_eq!(before, after, "bytes read from devices by this thread")
        }
        _ => eprintln!("skipped: no /proc/thread-self/io here"),
    }
    assert!(after.0 <= before.0, "nothing came into memory: {before:?}, {after:?}");
}

/// Bytes that this thread had a device deliver.
fn read_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok())
}

#[test]
fn a_hole_of_a_tebibyte_costs_nothing() {
    let folder = workplace();
    let path = folder.path().join("sparse");
    File::create(&path).expect("made").set_len(1 << 40).expect("sparse");
    let survey = surveyor("").path(&path).expect("surveyed");
    let [only] = survey.sleds[..] else { panic!("{survey:?}") };
    assert_eq!((only.level, only.bytes), (Level::Hole, 1 << 40));
    assert_eq!(survey.delivery_time(Plan::Linear, None), DeliveryTime::default());
}

#[test]
fn an_empty_file_has_no_sleds() {
    let folder = workplace();
    let path = folder.path().join("empty");
    File::create(&path).expect("made");
    let survey = surveyor("mock_files = true").path(&path).expect("surveyed");
    assert_eq!((survey.bytes, survey.sleds.len()), (0, 0));
    assert_eq!(sleds(&path).map(|sleds| sleds.len()).unwrap_or(0), 0);
}

#[test]
fn what_is_no_regular_file_is_refused_without_waiting() {
    let folder = workplace();
    let at = |name: &str| folder.path().join(name);
    rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).expect("made");
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("bound");
    std::os::unix::fs::symlink("loop", at("loop")).expect("made");
    let mut surveyor = surveyor("");
    let kind =
        |path: &Path, surveyor: &mut Surveyor| surveyor.path(path).expect_err("refused").kind();
    for path in [at("pipe"), at("socket"), folder.path().to_owned(), PathBuf::from("/dev/null")] {
        assert_eq!(kind(&path, &mut surveyor), ErrorKind::NotAFile, "{}", path.display());
    }
    for path in [at("missing"), at("loop")] {
        let error = surveyor.path(&path).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains(path.to_str().expect("text")), "{error}");
    }
    let (pipe, _writer) = io::pipe().expect("a pipe");
    let file = File::from(OwnedFd::from(pipe));
    assert_eq!(surveyor.file(&file).expect_err("refused").kind(), ErrorKind::NotAFile);
}

/// Runs on a thread of its own as the user `nobody`; `None` if this is not root's to do.
fn as_nobody<T: Send>(job: impl FnOnce() -> T + Send) -> Option<T> {
    use rustix::thread::{set_thread_res_gid, set_thread_res_uid};
    let (user, group) = (rustix::fs::Uid::from_raw(65534), rustix::fs::Gid::from_raw(65534));
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            set_thread_res_gid(group, group, group).ok()?;
            set_thread_res_uid(user, user, user).ok()?;
            Some(job())
        });
        thread.join().expect("no panic")
    })
}

#[test]
fn of_another_users_file_nothing_is_called_cached() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("set");
    let path = cold_file(folder.path(), MIB);
    let (readable, secret) = (path.clone(), folder.path().join("secret"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("set");
    fs::write(&secret, "secret").expect("written");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("set");
    let seen = as_nobody(|| {
        let mut surveyor = surveyor("");
        (surveyor.path(&readable), surveyor.path(&secret))
    });
    let Some((readable, secret)) = seen else {
        eprintln!("skipped: only root can become another user");
        return;
    };
    let readable = readable.expect("it may be read");
    covers(&readable);
    assert_eq!(readable.bytes_at(Level::Memory), 0, "{readable:?}");
    assert!(
        readable
            .sleds
            .iter()
            .all(|sled| sled.confidence == Confidence::Unknown || sled.level == Level::Hole)
    );
    let (low, high) = (
        readable.delivery_time(Plan::Best, None).low,
        readable.delivery_time(Plan::Best, None).high,
    );
    assert!(low < high, "unknown is a range");
    assert_eq!(secret.expect_err("not allowed").kind(), ErrorKind::Io);
}

#[test]
fn what_looks_recalled_is_not_opened() {
    let folder = workplace();
    let path = folder.path().join("stub");
    File::create(&path).expect("made").set_len(5 * MIB).expect("no blocks");
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).expect("inotify");
    inotify::add_watch(&watch, &path, inotify::WatchFlags::OPEN).expect("watched");
    let rule = |recall: &str| {
        let path = folder.path().canonicalize().expect("there");
        format!("[[mount]]\npath = {path:?}\nrecall = {recall}\n")
    };
    let opened = || rustix::io::read(&watch, &mut [0_u8; 4096][..]).is_ok();

    for recall in
        ["{ zero_blocks = true }", r#"{ command = ["echo", "released"], offline = "released" }"#]
    {
        let survey = surveyor(&rule(recall)).path(&path).expect("surveyed");
        assert_eq!(survey.bytes_at(Level::Archive), 5 * MIB, "{recall}");
        let closed = surveyor(&rule(recall)).closed(&path).expect("surveyed");
        assert_eq!(closed, Some(survey), "{recall}");
        assert!(!opened(), "{recall}");
    }
    let survey = surveyor(&rule(r#"{ command = ["false"] }"#)).path(&path).expect("surveyed");
    assert_eq!(survey.bytes_at(Level::Unknown), 5 * MIB, "who cannot be asked does not say no");
    assert_eq!(survey.notes.len(), 1);
    let closed = surveyor(&rule(r#"{ command = ["false"] }"#)).closed(&path).expect("surveyed");
    assert_eq!(closed, Some(survey));
    assert!(!opened());
    assert_eq!(surveyor(&rule("{ never = true }")).closed(&path).expect("surveyed"), None);
    assert_eq!(surveyor("").closed(folder.path()).expect("a folder"), None);
    assert!(surveyor("").closed(&folder.path().join("none")).is_err());
    let file = File::open(&path).expect("there");
    let ruled = |config: &str| surveyor(config).ruled(&path, &file).expect("surveyed").is_some();
    assert!(ruled(&rule("{ never = true }")) && ruled("mock_files = true") && !ruled(""));
    assert!(opened());
    let survey = surveyor(&rule("{ never = true }")).path(&path).expect("surveyed");
    assert_eq!(survey.bytes_at(Level::Hole), 5 * MIB);
    assert!(opened());
}

#[test]
fn a_mock_shows_a_tape() {
    let folder = workplace();
    let path = folder.path().join("tape");
    fs::write(&path, vec![1; 4 << 20]).expect("written");
    let text = "[[range]]\nlevel = \"archive\"\nlatency = \"40s\"\nbandwidth = \"4MiB/s\"\n";
    fs::write(Mock::path_of(&path), text).expect("written");
    let survey = surveyor("mock_files = true").path(&path).expect("surveyed");
    assert_eq!(survey.bytes_at(Level::Archive), 4 * MIB);
    assert_eq!(survey.delivery_time(Plan::Best, None).high, Duration::from_secs(41));
    let text = "[[range]]\nlevel = \"archive\"\nlatency = \"40s\"\nbytes = \"1MiB\"\n";
    fs::write(Mock::path_of(&path), text).expect("written");
    let survey = surveyor("mock_files = true").path(&path).expect("surveyed");
    covers(&survey);
    assert_eq!(survey.bytes_at(Level::Archive), MIB, "the rest is what it is");
    assert_eq!(surveyor("").path(&path).expect("surveyed").bytes_at(Level::Archive), 0);
}

#[test]
fn the_users_word_holds_against_what_was_measured() {
    let folder = workplace();
    let path = cold_file(folder.path(), MIB);
    let mut devices = Devices::default();
    let (home, row) =
        Surveyor::with(Config::default(), devices.clone()).home(&path).expect("a home");
    if home.kind != Kind::Local || resident(&path) != Some(0) {
        eprintln!("skipped: not on a device whose cache can be emptied");
        return;
    }
    assert_eq!(row.origin, Origin::Assumed);
    let row = Row::new(Origin::Calibrated, 7_000_000, 1 << 20);
    devices.insert(
        home.key.clone(),
        crate::Entry { measured_unix_s: 0, conditions: String::new(), row },
    );
    let latency = |config: &str| {
        let config = Config::parse(config).expect("a configuration");
        let survey = Surveyor::with(config, devices.clone()).path(&path).expect("surveyed");
        survey.sleds[0].latency.as_millis()
    };
    assert_eq!(latency(""), 7);
    let given = format!(
        "[device.{:?}]\nzones = [{{ latency = \"9ms\", bandwidth = \"1MB/s\" }}]\n",
        home.key
    );
    assert_eq!(latency(&given), 9);
    let mount = folder.path().canonicalize().expect("there");
    let named = "[device.cd-rom]\nzones = [{ latency = \"130ms\", bandwidth = \"2800KB/s\" }]\n";
    assert_eq!(
        latency(&format!("{given}{named}[[mount]]\npath = {mount:?}\nrow = \"cd-rom\"\n")),
        130
    );
}

/// A server of `export` below a folder, and a configuration that maps `here` to it.
fn served(folder: &Path, options: ServerOptions) -> (String, Config) {
    let export = folder.join("export").canonicalize().expect("there");
    let here = folder.join("here").canonicalize().expect("there");
    let options = ServerOptions { roots: vec![export.clone()], ..options };
    let server = Server::bind("127.0.0.1:0", options, surveyor("")).expect("a port");
    let address = server.address().expect("known").to_string();
    std::thread::spawn(move || server.run());
    let remote = Some(RemoteRule { server: address.clone(), prefix: export });
    let rule = MountRule {
        path: here,
        row: None,
        level: Some(Level::Network),
        cache: None,
        remote,
        recall: None,
    };
    (address, Config { mounts: vec![rule], ..Config::default() })
}

fn shared_folder() -> TempDir {
    let folder = workplace();
    for name in ["export", "here"] {
        fs::create_dir(folder.path().join(name)).expect("made");
        cold_file(&folder.path().join(name), 2 * MIB);
    }
    folder
}

#[test]
fn another_machine_tells_what_it_has() {
    let folder = shared_folder();
    let there = File::open(folder.path().join("export/data")).expect("there");
    there.read_exact_at(&mut vec![0; 2 << 20], 0).expect("read");
    if resident(&folder.path().join("here/data")) != Some(0) {
        eprintln!("skipped: the page cache cannot be emptied here");
        return;
    }
    let (_, config) = served(folder.path(), ServerOptions::default());
    let mut client = Surveyor::with(config, Devices::default());
    for _ in 0..3 {
        let survey = client.path(&folder.path().join("here/data")).expect("surveyed");
        covers(&survey);
        assert_eq!(survey.notes, [""; 0]);
        assert_eq!(survey.bytes_at(Level::Network), 2 * MIB, "{survey:?}");
        assert!(survey.sleds[0].age > Duration::ZERO, "it was asked elsewhere");
    }
    fs::write(folder.path().join("export/data"), "shorter").expect("written");
    let survey = client.path(&folder.path().join("here/data")).expect("surveyed");
    assert!(survey.notes[0].contains("another size"), "{:?}", survey.notes);
}

#[test]
fn nothing_outside_its_roots_exists_for_a_server() {
    let folder = shared_folder();
    fs::write(folder.path().join("secret"), "secret").expect("written");
    let export = folder.path().join("export").canonicalize().expect("there");
    std::os::unix::fs::symlink("../secret", export.join("relative")).expect("made");
    std::os::unix::fs::symlink(folder.path().join("secret"), export.join("absolute"))
        .expect("made");
    rustix::fs::mknodat(CWD, export.join("pipe"), FileType::Fifo, Mode::RWXU, 0).expect("made");
    let (address, _) = served(folder.path(), ServerOptions::default());
    let mut stream = TcpStream::connect(address).expect("it listens");
    let mut ask = |path: &str| {
        let question = format!("{{\"seekless\":1,\"path\":{path:?}}}\n");
        stream.write_all(question.as_bytes()).expect("sent");
        let line =
            crate::wire::read_line(&stream, 1 << 20, Instant::now() + Duration::from_secs(5))
                .expect("an answer");
        String::from_utf8(line.expect("a line")).expect("text")
    };
    let at = |name: &str| export.join(name).display().to_string();
    assert!(ask(&at("data")).contains("\"sleds\""));
    for path in [
        at("../secret"),
        at("relative"),
        at("absolute"),
        at("missing"),
        "/etc/passwd".into(),
        "data".into(),
    ] {
        assert_eq!(ask(&path), r#"{"error":"no such file"}"#, "{path}");
    }
    fs::create_dir(export.join("folder")).expect("made");
    for path in [at("pipe"), at("folder")] {
        assert_eq!(ask(&path), r#"{"error":"not a regular file"}"#, "{path}");
    }
}

#[test]
fn hostile_clients_are_hung_up_on_and_the_others_served() {
    let folder = shared_folder();
    let options = ServerOptions {
        clients_max: 8,
        patience: Duration::from_millis(200),
        ..ServerOptions::default()
    };
    let (address, config) = served(folder.path(), options);
    let say = |words: &[u8]| {
        let mut stream = TcpStream::connect(&address).expect("it listens");
        let _ = stream.write_all(words);
        crate::wire::read_line(&stream, 1 << 20, Instant::now() + Duration::from_secs(5))
    };
    assert_eq!(say(b"{}\n").expect("an answer"), Some(br#"{"error":"not understood"}"#.to_vec()));
    assert_eq!(
        say(b"\xff\xfe\n").expect("an answer"),
        Some(br#"{"error":"not understood"}"#.to_vec())
    );
    let other = say(b"{\"seekless\":2,\"path\":\"/\"}\n").expect("an answer");
    assert_eq!(other, Some(br#"{"error":"this is version 1"}"#.to_vec()));
    assert!(
        matches!(say(b"half a question"), Ok(None) | Err(_)),
        "no answer to what does not come"
    );
    assert!(matches!(say(&vec![b'x'; 1 << 20]), Ok(None) | Err(_)), "no answer to what never ends");
    // Those who say nothing take the places for as long as they may, and no longer.
    let idle: Vec<_> = (0..20).map(|_| TcpStream::connect(&address).expect("it listens")).collect();
    std::thread::sleep(Duration::from_millis(600));
    let survey = Surveyor::with(config, Devices::default())
        .path(&folder.path().join("here/data"))
        .expect("surveyed");
    drop(idle);
    assert!(survey.notes.is_empty(), "{:?}", survey.notes);
}
