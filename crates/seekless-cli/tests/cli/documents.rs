//! Every `console` block of README.md and of the pages below docs/ runs, in order, in a folder that
//! holds a copy of `examples/`. A command must print the text that the block shows below it; `...`
//! stands for any lines. In a block that begins with `console figures` the figures may differ, as
//! they depend on the machine, but they must be in the same places. The kind of every other block
//! says which test runs it, or that none does. `cargo xtask links` follows the documents' links.

use snapbox::assert::Assert;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// One command of a document and its expected output.
struct Example {
    line: usize,
    command: String,
    shown: String,
    /// Whether the figures may differ.
    figures_vary: bool,
}

#[test]
fn the_commands_of_the_documents_do_what_they_show() {
    for document in documents() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        copy_folder(&Path::new(ROOT).join("examples"), folder.path());
        let text = std::fs::read_to_string(&document).expect("the document");
        for example in examples(&text) {
            check(&document, &example, folder.path());
        }
    }
}

fn documents() -> Vec<PathBuf> {
    let mut found = vec![Path::new(ROOT).join("README.md")];
    let mut folders = vec![Path::new(ROOT).join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of documents") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 10, "the pages of docs/ and its folders: {found:?}");
    found
}

/// The pages of these folders, by their names below `docs/`, with their text.
fn pages(folders: &[&str]) -> Vec<(String, String)> {
    let docs = Path::new(ROOT).join("docs");
    let all = documents().into_iter();
    let named = all.filter_map(|path| Some((path.strip_prefix(&docs).ok()?.to_owned(), path)));
    let wanted = named.filter(|(name, _)| folders.iter().any(|folder| name.starts_with(folder)));
    wanted
        .map(|(name, path)| {
            let text = std::fs::read_to_string(path).expect("the document");
            (name.display().to_string(), text)
        })
        .collect()
}

/// A reader of a page sees at once what to type: a block, or in a reference a command in the text.
#[test]
fn each_page_shows_a_command_within_ten_lines() {
    let block = |line: &str| line.starts_with("```");
    let command = |line: &str| line.contains("`seekless ") || line.contains("`./run ");
    for (name, text) in pages(&["tutorials", "how-to", "reference"]) {
        let mut head = text.lines().take(10);
        let shown = head.any(|line| block(line) || name.starts_with("reference") && command(line));
        assert!(shown, "docs/{name}: no command within ten lines");
    }
}

/// Kinds of blocks, and which test runs them.
const KINDS: [(&str, &str); 13] = [
    ("console", "this file"),
    ("console figures", "this file"),
    ("rust", "the doc test of docs/reference/library.md"),
    ("rust,no_run", "the same compiles it"),
    ("python", "bindings/python/tests/test_documents.py"),
    ("sh", "none: it needs another program, or a place of its own"),
    ("py", "none: it needs a package or a cluster"),
    ("sql", "bindings/python/tests/test_documents.py"),
    ("c", "none"),
    ("toml", "the tests of crates/seekless-sled/src/config.rs"),
    ("ini", "none: a file of another program"),
    ("json", "none: a file of another program"),
    ("text", "none: a drawing"),
];

#[test]
fn the_kind_of_each_block_says_who_runs_it() {
    for (name, text) in pages(&["tutorials", "how-to", "reference"]) {
        let mut inside = false;
        for (number, line) in text.lines().enumerate() {
            let Some(kind) = line.strip_prefix("```") else { continue };
            let at = format!("docs/{name}:{}: {line}", number + 1);
            inside = !inside;
            assert!(!inside || KINDS.iter().any(|(known, _)| *known == kind), "{at}");
            let run = match kind {
                "rust" | "rust,no_run" => name == "reference/library.md",
                "python" => ["how-to/python.md", "reference/trace-format.md"].contains(&&*name),
                "sql" => name == "reference/trace-format.md",
                "toml" => name == "reference/sleds.md",
                _ => true,
            };
            assert!(run, "{at}: no test runs it here");
        }
    }
}

/// The commands of all `console` blocks: a line that starts with `$ `, and the lines below it up to
/// the next one.
fn examples(text: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let (mut inside, mut figures_vary) = (false, false);
    for (number, line) in text.lines().enumerate() {
        if let Some(fence) = line.strip_prefix("```") {
            inside = fence.split(' ').next() == Some("console");
            figures_vary = fence == "console figures";
        } else if !inside {
            continue;
        } else if let Some(command) = line.strip_prefix("$ ") {
            let (line, command, shown) = (number + 1, command.to_owned(), String::new());
            found.push(Example { line, command, shown, figures_vary });
        } else if let Some(last) = found.last_mut() {
            last.shown.push_str(line);
            last.shown.push('\n');
        }
    }
    found
}

fn check(document: &Path, example: &Example, folder: &Path) {
    let at = format!("{}:{}: {}", document.display(), example.line, example.command);
    let drops = ["seekless advise -- ", "seekless tour"];
    let drops = drops.iter().any(|command| example.command.contains(command));
    let _alone = drops.then(crate::caches::alone);
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &example.command])
        .current_dir(folder)
        .env("PATH", path_with_the_command())
        .env("XDG_STATE_HOME", folder.join(".state"))
        .output()
        .expect("bash runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{at}\nfailed: {errors}");
    if !example.shown.is_empty() {
        let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &errors;
        eprintln!("{at}");
        match example.figures_vary {
            true => Assert::new().eq(without_figures(&printed), without_figures(&example.shown)),
            false => Assert::new().eq(printed, example.shown.clone()),
        }
    }
}

/// The text with `#` for each figure and its unit, one blank for several, and short rules. Two
/// machines print the same.
fn without_figures(text: &str) -> String {
    text.lines().map(|line| line_without_figures(line) + "\n").collect()
}

fn line_without_figures(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        let unit = word.trim_end_matches([',', ';', ')']);
        match words.last_mut() {
            Some(figure) if UNITS.contains(&unit) && figure.ends_with('#') => {
                figure.push_str(&word[unit.len()..]);
            }
            _ if word.chars().all(|drawn| drawn == '─') => words.push("─".to_owned()),
            _ => words.push(word_without_figures(word)),
        }
    }
    words.join(" ")
}

/// The units that Seekless prints.
const UNITS: [&str; 11] = ["ns", "µs", "ms", "s", "min", "h", "B", "KB", "MB", "GB", "TB"];

fn word_without_figures(word: &str) -> String {
    let mut plain = String::new();
    let mut rest = word;
    while let Some(start) = rest.find(|at: char| at.is_ascii_digit()) {
        plain.push_str(&rest[..start]);
        plain.push('#');
        let figure =
            rest[start..].trim_start_matches(|at: char| at.is_ascii_digit() || ".,".contains(at));
        // A mark directly after a figure may end a clause: `3.4,` is a figure and a comma.
        let end = rest.len() - figure.len();
        let tail = &rest[start..end];
        plain.push_str(&tail[tail.trim_end_matches(['.', ',']).len()..]);
        rest = figure;
    }
    plain + rest
}

#[test]
fn figures_are_compared_by_their_places() {
    let here = "pack, on demand   217.3 ms   13.9×  26  18.5 MB, (0.3 %)\n──────\n";
    let there = "pack, on demand  1.2 s  7×  1,263  900 B, (12 %)\n────────\n";
    assert_eq!(without_figures(here), "pack, on demand # #× # #, (# %)\n─\n");
    assert_eq!(without_figures(here), without_figures(there));
    assert_ne!(
        without_figures(here),
        without_figures("pack by name  217.3 ms   13.9×  26  18.5 MB\n")
    );
    assert_ne!(without_figures("lost events 0"), without_figures("lost events none"));
}

fn path_with_the_command() -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_seekless"));
    let folder = binary.parent().expect("the folder of the command").display();
    format!("{folder}:{}", std::env::var("PATH").unwrap_or_default())
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder to read") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
