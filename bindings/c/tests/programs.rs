//! The library as C and Fortran programs see it: installed, found by pkg-config, linked shared and
//! static, and run. Their answers are compared with `wc` and with a sum made here.

mod shared;

use shared::{built_library, declared, has, run};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// What `mocked` files claim to be.
const MOCK: &str = include_str!("../../../tests/three_levels.sleds.toml");

/// Where everything of this test lies: installed library, programs, files, and a configuration that
/// believes mock files.
struct Place {
    folder: PathBuf,
    prefix: PathBuf,
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Builds and installs the library once.
fn place() -> &'static Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    PLACE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-programs");
        let _ = fs::remove_dir_all(&folder);
        let prefix = folder.join("prefix");
        fs::create_dir_all(folder.join("config/seekless")).unwrap();
        fs::write(folder.join("config/seekless/sleds.toml"), "mock_files = true\n").unwrap();
        run(Command::new(here().join("install.sh"))
            .arg("--prefix")
            .arg(&prefix)
            .arg("--built")
            .arg(built_library("seekless-c"))
            .args(["--only", "sleds"]));
        Place { folder, prefix }
    })
}

impl Place {
    /// The flags that a user's build would ask for.
    fn pkg_config(&self, ask: &[&str]) -> Vec<String> {
        let folder = self.prefix.join("lib/pkgconfig");
        let words = run(Command::new("pkg-config")
            .args(ask)
            .arg("seekless-sleds")
            .env("PKG_CONFIG_PATH", folder)
            .env("PKG_CONFIG_ALLOW_SYSTEM_LIBS", "1"));
        words.split_whitespace().map(str::to_owned).collect()
    }

    /// Compiles a C program; nothing in it or in the header may be warned of.
    fn compiled(&self, source: &str, link: &[String]) -> PathBuf {
        let stem = Path::new(source).file_stem().and_then(OsStr::to_str).unwrap();
        let program =
            self.folder.join(format!("{stem}{}", if link.len() > 3 { "_static" } else { "" }));
        let words =
            ["-std=c11", "-D_DEFAULT_SOURCE", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
        run(Command::new("cc")
            .args(words)
            .args(self.pkg_config(&["--cflags"]))
            .arg(here().join(source))
            .arg("-o")
            .arg(&program)
            .args(link)
            .arg("-lpthread"));
        program
    }

    fn shared(&self, source: &str) -> PathBuf {
        self.compiled(source, &self.pkg_config(&["--libs"]))
    }

    /// A command that finds the library and believes mock files.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env("LD_LIBRARY_PATH", self.prefix.join("lib"))
            .env("XDG_CONFIG_HOME", self.folder.join("config"))
            .env("XDG_STATE_HOME", self.folder.join("state"))
            .env("LC_ALL", "C")
            .current_dir(&self.folder);
        command
    }

    /// A file whose SLEDs are written beside it.
    fn mocked(&self, name: &str, bytes: &[u8]) {
        fs::write(self.folder.join(name), bytes).unwrap();
        fs::write(self.folder.join(format!("{name}.sleds.toml")), MOCK).unwrap();
    }
}

/// Lines of all lengths, some of them longer than a buffer, with and without words.
fn text(bytes: usize) -> Vec<u8> {
    let mut state = 42_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut text = Vec::with_capacity(bytes);
    while text.len() < bytes {
        let line = if next() % 500 == 0 { 600_000 } else { next() % 200 };
        text.extend((0..line).map(|_| if next() % 6 == 0 { b' ' } else { b'x' }));
        text.push(b'\n');
    }
    text.truncate(bytes);
    text
}

fn tools() -> bool {
    has("cc") && has("pkg-config")
}

#[test]
fn every_call_does_as_the_header_says() {
    if !tools() {
        return;
    }
    let place = place();
    let lines: Vec<u8> = (0..100).map(|at| if at % 8 == 7 { b'\n' } else { b'a' }).collect();
    place.mocked("calls.data", &lines);
    let calls = place.shared("tests/calls.c");
    run(place.command(&calls).arg("calls.data"));
    // Where the file system knows no extents.
    match tempfile::tempdir_in("/dev/shm") {
        Ok(memory) => {
            let data = memory.path().join("calls.data");
            fs::write(&data, &lines).unwrap();
            fs::write(memory.path().join("calls.data.sleds.toml"), MOCK).unwrap();
            run(place.command(&calls).arg(data));
        }
        Err(error) => eprintln!("skipped in part: no tmpfs at /dev/shm: {error}"),
    }

    if has("valgrind") {
        run(place
            .command(Path::new("valgrind"))
            .args(["-q", "--error-exitcode=9", "--leak-check=no"])
            .arg(&calls)
            .arg("calls.data"));
    }

    let mut link = vec![place.prefix.join("lib/libseekless_sleds.a").display().to_string()];
    link.extend(
        place
            .pkg_config(&["--libs", "--static"])
            .into_iter()
            .filter(|word| word != "-lseekless_sleds"),
    );
    let calls = place.compiled("tests/calls.c", &link);
    run(place.command(&calls).env_remove("LD_LIBRARY_PATH").arg("calls.data"));
}

fn header() -> String {
    fs::read_to_string(here().join("include/seekless_sleds.h")).unwrap()
}

#[test]
fn the_header_and_the_manual_are_of_this_version() {
    let numbers = env!("CARGO_PKG_VERSION").split('.').map(|number| number.parse::<u32>().unwrap());
    let version = numbers.fold(0, |version, number| version * 1000 + number);
    assert!(header().contains(&format!("#define SEEKLESS_SLEDS_VERSION {version}\n")), "{version}");
    let manual = fs::read_to_string(here().join("man/seekless_sleds.3")).unwrap();
    assert!(manual.contains(&format!("\"Seekless {}\"", env!("CARGO_PKG_VERSION"))), "{manual}");
}

#[test]
fn the_manual_has_every_call_with_the_headers_words() {
    let (header, manual) =
        (header(), fs::read_to_string(here().join("man/seekless_sleds.3")).unwrap());
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let manual_words = one_line(&manual);
    for (name, declaration) in declared(&header) {
        assert!(manual_words.contains(declaration), "the synopsis lacks: {declaration}");
        let described = manual.split(".SH DESCRIPTION").nth(1).unwrap();
        assert!(described.contains(&format!("{name}()")), "the description lacks {name}()");
    }
    for line in header.lines().filter(|line| line.trim_start().starts_with("SLEDS_")) {
        let name = line.trim().split(' ').next().unwrap();
        assert!(manual.contains(name), "the manual lacks {name}");
    }
    if has("man") {
        let shown = Command::new("man")
            .args(["--warnings", "-l"])
            .arg(here().join("man/seekless_sleds.3"))
            .env("MANPAGER", "cat")
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        assert!(
            shown.status.success() && shown.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&shown.stderr)
        );
    }
}

#[test]
fn the_header_declares_what_the_library_exports() {
    if !tools() || !has("nm") {
        return;
    }
    let place = place();
    let library = place.prefix.join("lib/libseekless_sleds.so");
    let symbols = run(Command::new("nm").args(["-D", "--defined-only"]).arg(library));
    let exported: BTreeSet<&str> =
        symbols.lines().filter_map(|line| line.split(' ').next_back()).collect();
    let header = header();
    let declared: BTreeSet<&str> = declared(&header).into_iter().map(|(name, _)| name).collect();
    assert_eq!(declared, exported);
    assert!(declared.len() >= 15, "{declared:?}");

    if has("c++") {
        let source = place.folder.join("header.cc");
        fs::write(
            &source,
            "#include <seekless_sleds.h>\nint main() { return sleds_error()[0]; }\n",
        )
        .unwrap();
        run(Command::new("c++")
            .args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only"])
            .args(place.pkg_config(&["--cflags"]))
            .arg(source));
    }
}

#[test]
fn the_examples_count_as_wc_does() {
    if !tools() {
        return;
    }
    let place = place();
    place.mocked("mocked.txt", &text(3_000_000));
    fs::write(place.folder.join("plain.txt"), text(1_234_567)).unwrap();
    fs::write(place.folder.join("empty.txt"), "").unwrap();
    let files = ["mocked.txt", "plain.txt", "empty.txt"];
    let fields = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let expected = fields(run(place.command(Path::new("wc")).args(files)));
    for source in ["examples/wc_plain.c", "examples/wc_sleds.c"] {
        let program = place.shared(source);
        assert_eq!(fields(run(place.command(&program).args(files))), expected, "{source}");
    }
    let absent: Output =
        place.command(&place.folder.join("wc_sleds")).arg("absent.txt").output().unwrap();
    assert_eq!(absent.status.code(), Some(1));
}

/// A memory control group (version 1) of 64 MiB, or none where that may not be made.
struct Group(PathBuf);

impl Group {
    fn new() -> Option<Group> {
        let folder = format!("/sys/fs/cgroup/memory/seekless-c-{}", std::process::id());
        let group = Group(PathBuf::from(folder));
        let made = fs::create_dir(&group.0).is_ok()
            && fs::write(group.0.join("memory.limit_in_bytes"), (64 << 20).to_string()).is_ok();
        made.then_some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("memory.force_empty"), "0");
        let _ = fs::remove_dir(&self.0); // what it was charged with goes to the group above
    }
}

/// Linear reading of a file larger than the cache finds nothing of it there, pass after pass.
#[test]
fn in_a_small_cache_every_pass_reads_only_what_the_last_could_not_keep() {
    const FILE_BYTES: usize = 80_000_000;
    if !tools() {
        return;
    }
    let Some(group) = Group::new() else {
        return eprintln!("skipped: no memory control groups to be had");
    };
    let place = place();
    let program = place.shared("examples/wc_sleds.c");
    fs::write(place.folder.join("large.txt"), text(FILE_BYTES)).unwrap();
    let words = "dd of=large.txt oflag=nocache conv=notrunc,fdatasync count=0 status=none
        echo $$ >\"$1/cgroup.procs\"
        for pass in 1 2 3 4 5; do \"$2\" large.txt; sed -n 's/^read_bytes: //p' /proc/$$/io; done";
    let mut shell = place.command(Path::new("sh"));
    let told = run(shell.args(["-ec", words, "sh"]).arg(&group.0).arg(&program));
    fs::remove_file(place.folder.join("large.txt")).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    let counts: Vec<&str> = lines.iter().step_by(2).copied().collect();
    assert!(counts[0].ends_with("80000000 large.txt"), "{told}");
    assert!(counts.len() == 5 && counts.iter().all(|count| *count == counts[0]), "{told}");
    let read: Vec<usize> =
        lines.iter().skip(1).step_by(2).map(|line| line.parse().unwrap()).collect();
    if read[0] < FILE_BYTES / 2 {
        return eprintln!("skipped: the file stays in the page cache (tmpfs?)");
    }
    // The least of the later passes: another test may empty the caches in between.
    let least = read.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap();
    assert!(least < FILE_BYTES / 2, "{told}");
}

#[test]
fn the_example_prints_sleds() {
    if !tools() {
        return;
    }
    let place = place();
    place.mocked("print.data", &[1; 1000]);
    let program = place.shared("examples/sleds_print.c");
    let words = run(place.command(&program).arg("print.data"));
    let lines: Vec<Vec<&str>> =
        words.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["0", "30", "archive", "40.000000", "s", "5.0", "MB/s"]);
    assert_eq!(lines[3][..3], ["70", "930", "device"]);
    assert!(lines[4].starts_with(&["linear:"]), "{words}");
    let folder = place.command(&program).arg(".").output().unwrap();
    assert!(String::from_utf8_lossy(&folder.stderr).contains("a folder, which has no SLEDs"));
}

#[test]
fn fortran_takes_the_mean_of_elements() {
    if !tools() || !has("gfortran") {
        return;
    }
    let place = place();
    let values: Vec<f32> = (0..300_000_u32).map(|at| ((at * 7919) % 1000) as f32 - 250.0).collect();
    let mut bytes = vec![b'h'; 2880];
    bytes.extend(values.iter().flat_map(|value| value.to_ne_bytes()));
    bytes.extend([0; 3]);
    place.mocked("numbers.data", &bytes);
    let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64;
    for (name, module) in [("mean_plain", None), ("mean_sleds", Some("include/seekless_sleds.f90"))]
    {
        let program = place.folder.join(name);
        run(Command::new("gfortran")
            .args(["-O1", "-Wall", "-J"])
            .arg(&place.folder)
            .args(module.map(|module| here().join(module)))
            .arg(here().join(format!("examples/{name}.f90")))
            .arg("-o")
            .arg(&program)
            .args(place.pkg_config(&["--libs"])));
        let words = run(place.command(&program).args(["numbers.data", "2880"]));
        let (count, found) = words.trim().split_once(' ').unwrap();
        assert_eq!(count, "300000", "{name}");
        assert!((found.parse::<f64>().unwrap() - mean).abs() < 1e-6, "{name}: {found}, not {mean}");
    }
}

/// Van Meter and Gao 2000, Table 4: the lab prints it.
#[test]
fn the_lines_that_adoption_changes_are_counted() {
    let words = run(&mut Command::new(here().join("adopting.sh")));
    let rows: Vec<Vec<&str>> = words.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0], ["application", "modified", "total"]);
    for row in &rows[1..] {
        let (modified, total) = (row[1].parse::<u32>().unwrap(), row[2].parse::<u32>().unwrap());
        assert!(0 < modified && modified * 2 < total, "{row:?}");
    }
    assert_eq!(rows.len(), 3);
}
