//! `seekless mount` and `seekless run --mount`: programs read a pack as a folder.

use super::{copy_program, run, seekless, workplace};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_command_reads_the_files_and_its_status_is_kept() {
    let folder = workplace();
    fs::create_dir_all(folder.path().join("data/art")).unwrap();
    fs::write(folder.path().join("data/art/a"), "brick").unwrap();
    fs::create_dir(folder.path().join("at")).unwrap();
    assert!(run(folder.path(), "pack data -o data.zip").status.success());
    let mounted = || {
        let words = ["mount", "data.zip", "at", "--", "sh", "-c", "cat at/art/a; exit 7"];
        seekless(folder.path()).args(words).output().unwrap()
    };
    let output = mounted();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("cannot mount") {
        println!("skipped: FUSE is not to be had here: {said}");
        return;
    }
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(7), &b"brick"[..]), "{said}");
    assert_eq!(fs::read_dir(folder.path().join("at")).unwrap().count(), 0, "unmounted");
    fs::write(folder.path().join("at/mine"), "").unwrap();
    let output = seekless(folder.path()).args(["mount", "data.zip", "at"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not empty"));
}

/// A folder `data` of loose files, a pack of other content for it, and a place for profiles; all of
/// them readable by any user.
struct Overlaid {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

/// A user without any privilege.
const ANYBODY: u32 = 1234;

impl Overlaid {
    fn new() -> Self {
        // Folders on the way to the target folder may be root's alone.
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (path, mode) in [("", 0o755), ("data", 0o755), ("data/art", 0o755), ("state", 0o777)] {
            let path = root.join(path);
            fs::create_dir_all(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::write(root.join("data/art/a"), "packed").unwrap();
        assert!(run(&root, "pack data -o data.zip").status.success());
        fs::write(root.join("data/art/a"), "loose").unwrap();
        let programs = Path::new(env!("CARGO_BIN_EXE_seekless")).parent().unwrap();
        for program in ["seekless", "seekless-gnu", "seekless-verbs"] {
            copy_program(&programs.join(program), &root.join(program));
        }
        Self { _folder: folder, root }
    }

    /// `seekless run` with these words, as the user that runs the tests or as another. `None`, said
    /// so, where packs cannot be laid over folders.
    fn run(&self, user: Option<u32>, words: &[&str]) -> Option<Output> {
        let mut command = Command::new(self.root.join("seekless"));
        command.current_dir(&self.root).env("XDG_STATE_HOME", self.root.join("state"));
        command.arg("run").args(words).stdin(Stdio::null());
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("refuses here") || said.contains("/dev/fuse") {
            println!("skipped: packs cannot be laid over folders here: {said}");
            return None;
        }
        Some(output)
    }

    fn loose(&self) -> String {
        fs::read_to_string(self.root.join("data/art/a")).unwrap()
    }
}

fn users() -> Vec<Option<u32>> {
    if rustix::process::geteuid().is_root() { vec![None, Some(ANYBODY)] } else { vec![None] }
}

#[test]
fn one_program_sees_the_pack_in_place_of_the_folder() {
    let place = Overlaid::new();
    for user in users() {
        // The first start is recorded whole, by a process that outlives it; later ones are not.
        for _ in 0..2 {
            let words =
                ["--mount", "data.zip=data", "--", "sh", "-c", "cat data/art/a; id -u; exit 7"];
            let Some(output) = place.run(user, &words) else { return };
            let id = user.unwrap_or_else(|| rustix::process::geteuid().as_raw());
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(said, format!("packed{id}\n"), "{output:?}");
            assert_eq!(output.status.code(), Some(7));
            assert_eq!(place.loose(), "loose", "other programs do not see it");
        }
    }
}

#[test]
fn the_pack_is_there_until_the_last_child_has_ended() {
    let place = Overlaid::new();
    for user in users() {
        let late = "sleep 0.5; cat data/art/a > state/late.$$; mv state/late.$$ state/late";
        let script = format!("({late}) >/dev/null 2>&1 &");
        let words = ["--no-record", "--mount", "data.zip=data", "--", "sh", "-c", &script];
        if place.run(user, &words).is_none() {
            return;
        }
        let late = place.root.join("state/late");
        let started = Instant::now();
        while !late.exists() {
            assert!(started.elapsed() < Duration::from_secs(20), "the child has written nothing");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(fs::read_to_string(&late).unwrap(), "packed");
        fs::remove_file(late).unwrap();
    }
    // Then the process that served it ends too.
    let started = Instant::now();
    while processes_of(&place.root) > 0 {
        assert!(started.elapsed() < Duration::from_secs(20), "the helper is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How many processes run the command of this folder.
fn processes_of(root: &Path) -> usize {
    let command = root.join("seekless");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let verbs = root.join("seekless-verbs");
    processes
        .filter_map(|process| fs::read_link(process.path().join("exe")).ok())
        .filter(|exe| *exe == command || *exe == verbs)
        .count()
}

#[test]
fn packs_lie_over_one_folder_or_one_in_another() {
    let place = Overlaid::new();
    fs::create_dir_all(place.root.join("other/deep")).unwrap();
    fs::write(place.root.join("other/deep/b"), "second").unwrap();
    assert!(run(&place.root, "pack other -o other.zip").status.success());
    fs::create_dir_all(place.root.join("data/loose")).unwrap();
    for (mounts, wanted) in [
        // The last hides the others.
        (["data.zip=data", "other.zip=data"], "deep/b"),
        (["other.zip=data", "data.zip=data"], "art/a"),
        (["other.zip=data/art", "data.zip=data"], "art/a"),
        (["data.zip=data", "other.zip=data/art"], "art/deep/b"),
        // A folder that is there in the first pack alone, and one that it does not have.
        (["other.zip=data", "data.zip=data/deep"], "deep/art/a"),
        (["data.zip=data", "other.zip=data/loose"], "art/a loose/deep/b"),
    ] {
        for user in users() {
            let script = "cd data && find . -type f | sort | xargs";
            let [first, second] = mounts;
            let words =
                ["--no-record", "--mount", first, "--mount", second, "--", "sh", "-c", script];
            let Some(output) = place.run(user, &words) else { return };
            let found = String::from_utf8_lossy(&output.stdout).replace("./", "");
            assert_eq!(found.trim_end(), wanted, "{mounts:?}: {output:?}");
        }
    }
    let second = "other.zip=data/nowhere";
    let words = ["--mount", "data.zip=data", "--mount", second, "--", "echo", "started"];
    let Some(output) = place.run(None, &words) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("data/nowhere is not there"), "{said}");
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"started\n"[..]));
}

/// A process that is paused: it goes on, and is then asked to end, when this is dropped. Not by
/// Ctrl-C, which is ignored in what a shell without job control starts in the background.
struct Paused(Child);

impl Paused {
    fn new(process: Child) -> Self {
        kill_process(Pid::from_child(&process), Signal::STOP).unwrap();
        Paused(process)
    }

    /// Whether all threads have stopped. One that has not may still take a request, and a process
    /// that waits for the answer to a request that was taken cannot be killed.
    fn is_still(&self) -> bool {
        let threads = fs::read_dir(format!("/proc/{}/task", self.0.id())).unwrap().flatten();
        threads
            .filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok())
            .all(|stat| stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('T')))
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        for signal in [Signal::CONT, Signal::TERM] {
            kill_process(Pid::from_child(&self.0), signal).unwrap();
        }
        self.0.wait().unwrap();
    }
}

/// The pack lies in a folder whose server does not answer.
#[test]
fn what_was_to_serve_a_program_ends_with_it() {
    let place = Overlaid::new();
    fs::create_dir_all(place.root.join("packs")).unwrap();
    fs::create_dir_all(place.root.join("at")).unwrap();
    fs::copy(place.root.join("data.zip"), place.root.join("packs/waits.zip")).unwrap();
    assert!(run(&place.root, "pack packs -o packs.zip").status.success());
    let mut server = seekless(&place.root).args(["mount", "packs.zip", "at"]).spawn().unwrap();
    let since = Instant::now();
    let soon = || assert!(since.elapsed() < Duration::from_secs(20), "it takes too long");
    while !place.root.join("at/waits.zip").exists() {
        if server.try_wait().unwrap().is_some() {
            println!("skipped: FUSE is not to be had here");
            return;
        }
        soon();
        std::thread::sleep(Duration::from_millis(10));
    }
    let server = Paused::new(server);
    while !server.is_still() {
        soon();
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut command = Command::new(place.root.join("seekless"));
    command.current_dir(&place.root).env("XDG_STATE_HOME", place.root.join("state"));
    command.args(["run", "--no-record", "--mount", "at/waits.zip=data", "--", "true"]);
    let mut started = command.stdin(Stdio::null()).spawn().unwrap();
    while processes_of(&place.root) < 2 {
        if started.try_wait().unwrap().is_some() {
            println!("skipped: packs cannot be laid over folders here");
            return;
        }
        soon();
        std::thread::sleep(Duration::from_millis(10));
    }
    // The helper begins to watch as soon as it can.
    std::thread::sleep(Duration::from_millis(100));
    started.kill().unwrap();
    started.wait().unwrap();
    while processes_of(&place.root) > 0 {
        soon();
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_folder_whose_server_is_gone_is_said_to_be_so() {
    let place = Overlaid::new();
    let at = place.root.join("at");
    fs::create_dir(&at).unwrap();
    let words = ["mount", "data.zip", "at", "--", "sh", "-c", "kill -9 $PPID; sleep 0.1"];
    let killed = seekless(&place.root).args(words).output().unwrap();
    let since = Instant::now();
    while at.metadata().is_ok() {
        if killed.status.code().is_some() {
            println!("skipped: FUSE is not to be had here");
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(20), "the folder is still served");
        std::thread::sleep(Duration::from_millis(10));
    }
    let refused = seekless(&place.root).args(["mount", "data.zip", "at"]).output().unwrap();
    let below = [
        "sleds at/a",
        "trace info at/run.parquet",
        "sim at/run.parquet --policy lru --capacity 10",
        "pack at -o new.zip",
        "pack data --check at/data.zip",
        "warm at/list",
        "compare data data.zip --trace at/run.parquet",
        "probe at",
        "synth at/files.csv new",
    ];
    let said_below = below.map(|words| {
        let output = run(&place.root, words);
        (words, output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    });
    let unmount = ["fusermount3", "umount"].map(|program| {
        let mut command = Command::new(program);
        command.args(if program == "umount" { &["-l"][..] } else { &["-u", "-z"] }).arg(&at);
        command.status().is_ok_and(|status| status.success())
    });
    assert!(unmount.contains(&true));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("nobody serves any longer"), "{said}");
    assert_eq!(refused.status.code(), Some(2));
    let how = format!("has ended; undo it: fusermount3 -u {}", at.display());
    for (words, code, said) in said_below {
        assert!(code == Some(2) && said.contains(&how), "{words}: {said}");
    }
}

#[test]
fn a_program_starts_as_itself_without_a_pack_that_cannot_be_laid_over_a_folder() {
    let place = Overlaid::new();
    let namespace = fs::read_link("/proc/self/ns/user").unwrap();
    let itself = format!("{}\n", namespace.to_str().unwrap());
    fs::write(place.root.join("broken.zip"), "no archive").unwrap();
    for (mount, wanted) in [
        ("data.zip", "--mount data.zip: expected PACK=DIR"),
        ("data.zip=nowhere", "nowhere: the folder cannot be found"),
        ("none.zip=data", "none.zip"),
        ("broken.zip=data", "broken.zip"),
        ("data.zip=data/art/a", "is not a folder"),
    ] {
        for user in users() {
            let words = ["--mount", mount, "--", "readlink", "/proc/self/ns/user"];
            let Some(output) = place.run(user, &words) else { return };
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains(wanted) && said.contains("starts without the packs"), "{said}");
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!((output.status.code(), &*printed), (Some(0), &*itself), "{mount}");
        }
    }
}

#[test]
fn a_command_runs_without_a_pack_that_cannot_be_mounted() {
    let place = Overlaid::new();
    fs::write(place.root.join("broken.zip"), "no archive").unwrap();
    let ended = |pack: &str, folder: &str, command: &[&str]| {
        let mut mount = seekless(&place.root);
        mount.args(["mount", pack, folder, "--"]).args(command).stdin(Stdio::null());
        let output = mount.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), said)
    };
    let cases = [
        ("none.zip", "state", "none.zip"),
        ("broken.zip", "state", "broken.zip"),
        ("data.zip", "nowhere", "nowhere"),
        ("data.zip", "data", "is not empty"),
        ("data.zip", "data/art/a", "data/art/a"),
    ];
    for (pack, folder, wanted) in cases {
        let (code, printed, said) = ended(pack, folder, &["sh", "-c", "echo started; exit 3"]);
        assert_eq!((code, &*printed), (Some(3), "started\n"), "{pack} {folder}: {said}");
        let has_reason = said.contains(wanted) && said.contains("starts without the pack\n");
        assert!(has_reason, "{pack} {folder}: {said}");
    }
    for (command, wanted) in [("/no/such", 127), ("/etc/passwd", 126)] {
        let (code, _, said) = ended("none.zip", "state", &[command]);
        assert_eq!(code, Some(wanted), "{said}");
        assert!(said.contains(command), "{said}");
    }
}

/// Appends to a pack what no file can be called, as another tool might have written it.
fn make_odd(archive: &Path) -> bool {
    const SCRIPT: &str = "import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'a') as z:
    z.writestr('../up', 'x')
    z.writestr('y' * 300, 'x')";
    let done = Command::new("python3").args(["-c", SCRIPT]).arg(archive).status();
    done.is_ok_and(|status| status.success())
}

#[test]
fn what_is_left_out_of_a_pack_is_said_by_both_verbs() {
    let place = Overlaid::new();
    if !make_odd(&place.root.join("data.zip")) {
        return println!("skipped: no python3 here");
    }
    let (dots, long) = ("a name that leads out by `..`: 1", "a name longer than 255 bytes: 1");
    let words = ["--mount", "data.zip=data", "--no-record", "--", "cat", "data/art/a"];
    if let Some(output) = place.run(None, &words) {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.starts_with("seekless: ") && said.contains(dots), "{said}");
        assert!(said.contains(long) && said.contains("data.zip: 2 entries left out"), "{said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "packed");
    }
    fs::create_dir(place.root.join("at")).unwrap();
    let words = ["mount", "data.zip", "at", "--", "cat", "at/art/a"];
    let output = seekless(&place.root).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(dots) && said.contains(long), "{said}");
}

#[test]
fn folders_have_the_modes_and_times_that_they_had() {
    let folder = workplace();
    let private = folder.path().join("data/private");
    fs::create_dir_all(&private).unwrap();
    fs::write(private.join("a"), "brick").unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).unwrap();
    fs::create_dir(folder.path().join("at")).unwrap();
    let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    fs::File::open(&private).unwrap().set_modified(time).unwrap();
    assert!(run(folder.path(), "pack data -o data.zip").status.success());
    let words = ["mount", "data.zip", "at", "--", "stat", "-c", "%a %Y", "at/private"];
    let output = seekless(folder.path()).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("cannot mount") {
        return println!("skipped: FUSE is not to be had here: {said}");
    }
    assert_eq!(String::from_utf8_lossy(&output.stdout), "700 1600000000\n", "{said}");
}
