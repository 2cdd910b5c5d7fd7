//! The store's library as C and C++ programs see it: installed, found by pkg-config, linked shared
//! and static, and run, under valgrind too where that is installed.

#[path = "../../tests/shared/mod.rs"]
mod shared;

use seekless_pack::{About, Codec, PackWriter, prepare};
use shared::{built_library, declared, has, run};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Where everything of this test lies: installed library, programs, a pack and a folder.
struct Place {
    folder: PathBuf,
    prefix: PathBuf,
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> String {
    fs::read_to_string(here().join("include/seekless_store.h")).unwrap()
}

fn tools() -> bool {
    has("cc") && has("c++") && has("pkg-config")
}

/// Builds and installs the library once.
fn place() -> &'static Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    PLACE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-store");
        let _ = fs::remove_dir_all(&folder);
        let prefix = folder.join("prefix");
        fs::create_dir_all(folder.join("mods/art")).unwrap();
        fs::write(folder.join("mods/art/wall.dds"), "mod").unwrap();
        let mut pack = PackWriter::new(fs::File::create(folder.join("data.zip")).unwrap());
        let plain = (0..=255).cycle().take(256 * 40).collect();
        let files = [
            ("art/wall.dds", b"brick".repeat(1000), Codec::Auto),
            ("plain", plain, Codec::Stored),
            ("empty", Vec::new(), Codec::Auto),
        ];
        for (name, bytes, codec) in files {
            pack.add(prepare(About::named(name), bytes, codec).unwrap()).unwrap();
        }
        pack.finish().unwrap();
        run(Command::new(here().join("../install.sh"))
            .arg("--prefix")
            .arg(&prefix)
            .arg("--built")
            .arg(built_library("seekless-store-c"))
            .args(["--only", "store"]));
        Place { folder, prefix }
    })
}

impl Place {
    /// The flags that a user's build would ask for.
    fn pkg_config(&self, ask: &[&str]) -> Vec<String> {
        let words = run(Command::new("pkg-config")
            .args(ask)
            .arg("seekless-store")
            .env("PKG_CONFIG_PATH", self.prefix.join("lib/pkgconfig"))
            .env("PKG_CONFIG_ALLOW_SYSTEM_LIBS", "1"));
        words.split_whitespace().map(str::to_owned).collect()
    }

    /// Compiles a program; nothing in it or in the header may be warned of.
    fn compiled(&self, compiler: &[&str], source: &str, link: &[String]) -> PathBuf {
        let stem = Path::new(source).file_stem().unwrap().to_str().unwrap();
        let kind = if link.iter().any(|word| word.ends_with(".a")) { "static" } else { "shared" };
        let program = self.folder.join(format!("{stem}-{}-{kind}", compiler[0]));
        run(Command::new(compiler[0])
            .args(&compiler[1..])
            .args(["-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
            .args(self.pkg_config(&["--cflags"]))
            .arg(here().join(source))
            .args(["-x", "none", "-o"])
            .arg(&program)
            .args(link)
            .arg("-lpthread"));
        program
    }

    fn shared(&self, compiler: &[&str], source: &str) -> PathBuf {
        self.compiled(compiler, source, &self.pkg_config(&["--libs"]))
    }

    /// A command that finds the library, in the folder of the pack.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env("LD_LIBRARY_PATH", self.prefix.join("lib")).env("LC_ALL", "C");
        command.env("XDG_CONFIG_HOME", &self.folder).env("XDG_STATE_HOME", &self.folder);
        command.current_dir(&self.folder);
        command
    }
}

const C: [&str; 2] = ["cc", "-std=c11"];
const CPP: [&str; 4] = ["c++", "-std=c++17", "-x", "c++"];

#[test]
fn every_call_does_as_the_header_says() {
    if !tools() {
        return;
    }
    let place = place();
    let calls = place.shared(&C, "tests/calls.c");
    run(place.command(&calls).args(["data.zip", "mods"]));
    if has("valgrind") {
        let words =
            ["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"];
        // Should it hang, it is ended, and the test fails.
        let mut bounded = place.command("timeout");
        bounded.args(["-k", "5", "120", "valgrind"]).args(words).arg(&calls);
        run(bounded.args(["data.zip", "mods", "threads"]));
    }
    let mut link = vec![place.prefix.join("lib/libseekless_store.a").display().to_string()];
    let words = place.pkg_config(&["--libs", "--static"]).into_iter();
    link.extend(words.filter(|word| word != "-lseekless_store"));
    let calls = place.compiled(&C, "tests/calls.c", &link);
    run(place.command(&calls).env_remove("LD_LIBRARY_PATH").args(["data.zip", "mods"]));
}

#[test]
fn the_example_loads_a_pack_in_c_and_in_cpp() {
    if !tools() {
        return;
    }
    let place = place();
    for compiler in [&C[..], &CPP[..]] {
        let program = place.shared(compiler, "examples/load_pack.c");
        let said = run(place.command(&program).args(["data.zip", "art/wall.dds", "plain"]));
        let sum =
            (b'b' as u64 + u64::from(b'r') + u64::from(b'i') + u64::from(b'c') + u64::from(b'k'))
                * 1000;
        let expected = format!(
            "art/wall.dds: 5000 bytes, sum {sum}, 4 of them first\n\
             plain: 10240 bytes, sum {}, 4 of them first\n4 hits, 2 misses\n",
            40 * 255 * 128
        );
        assert_eq!(said, expected);
        let absent = place.command(&program).args(["data.zip", "nowhere"]).output().unwrap();
        assert_eq!(absent.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&absent.stderr).contains("data.zip: has no entry named"));
        let sanitized = [compiler, &["-fsanitize=address,undefined"]].concat();
        if compiler == C && has_sanitizer() {
            let program = place.shared(&sanitized, "tests/calls.c");
            run(place.command(&program).args(["data.zip", "mods"]));
        }
    }
}

/// Whether programs can be built and run with the address sanitizer here.
fn has_sanitizer() -> bool {
    let place = place();
    let (source, program) = (place.folder.join("empty.c"), place.folder.join("empty"));
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let mut build = Command::new("cc");
    build.args(["-fsanitize=address,undefined", "-o"]).arg(&program).arg(&source);
    let built = build.output().is_ok_and(|output| output.status.success());
    let runs =
        built && place.command(&program).output().is_ok_and(|output| output.status.success());
    if !runs {
        eprintln!("skipped: no address sanitizer here");
    }
    runs
}

#[test]
fn the_header_declares_what_the_library_exports() {
    if !tools() || !has("nm") {
        return;
    }
    let library = place().prefix.join("lib/libseekless_store.so");
    let symbols = run(Command::new("nm").args(["-D", "--defined-only"]).arg(library));
    let exported: BTreeSet<&str> =
        symbols.lines().filter_map(|line| line.split(' ').next_back()).collect();
    let header = header();
    let declared: BTreeSet<&str> = declared(&header).into_iter().map(|(name, _)| name).collect();
    assert_eq!(declared, exported);
    assert!(declared.len() >= 16, "{declared:?}");
}

#[test]
fn the_header_and_the_manual_are_of_this_version_and_say_the_same() {
    let numbers = env!("CARGO_PKG_VERSION").split('.').map(|number| number.parse::<u32>().unwrap());
    let version = numbers.fold(0, |version, number| version * 1000 + number);
    let header = header();
    assert!(header.contains(&format!("#define SEEKLESS_STORE_VERSION {version}\n")), "{version}");
    let manual = fs::read_to_string(here().join("man/seekless_store.3")).unwrap();
    assert!(manual.contains(&format!("\"Seekless {}\"", env!("CARGO_PKG_VERSION"))), "{manual}");
    let words = manual.split_whitespace().collect::<Vec<_>>().join(" ");
    let described = manual.split(".SH DESCRIPTION").nth(1).unwrap();
    for (name, declaration) in declared(&header) {
        assert!(words.contains(declaration), "the synopsis lacks: {declaration}");
        assert!(described.contains(&format!("{name}()")), "the description lacks {name}()");
    }
    for line in header.lines().filter(|line| line.trim_start().starts_with("SEEKLESS_STORE_")) {
        let name = line.trim().split(' ').next().unwrap();
        assert!(manual.contains(name), "the manual lacks {name}");
    }
    if has("man") {
        let shown = Command::new("man")
            .args(["--warnings", "-l"])
            .arg(here().join("man/seekless_store.3"))
            .env("MANPAGER", "cat")
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&shown.stderr);
        assert!(shown.status.success() && said.is_empty(), "{said}");
    }
}
