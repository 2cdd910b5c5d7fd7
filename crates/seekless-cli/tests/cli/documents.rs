//! Every `console` block of README.md and docs/*.md runs, in order, in a folder that holds a copy of `examples/`; what a
//! block shows below a command must be what the command prints (`...` stands for any lines, `[..]` for any text).

use snapbox::assert::Assert;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// One command of a document and what it is said to print.
struct Example {
    line: usize,
    command: String,
    shown: String,
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
    if let Ok(docs) = std::fs::read_dir(Path::new(ROOT).join("docs")) {
        found.extend(docs.map(|entry| entry.expect("an entry").path()));
    }
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found.sort();
    found
}

/// The commands of all `console` blocks: a line that starts with `$ `, and the lines below it up to the next one.
fn examples(text: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if let Some(fence) = line.strip_prefix("```") {
            inside = fence == "console";
        } else if !inside {
            continue;
        } else if let Some(command) = line.strip_prefix("$ ") {
            found.push(Example { line: number + 1, command: command.to_owned(), shown: String::new() });
        } else if let Some(last) = found.last_mut() {
            last.shown.push_str(line);
            last.shown.push('\n');
        }
    }
    found
}

fn check(document: &Path, example: &Example, folder: &Path) {
    let at = format!("{}:{}: {}", document.display(), example.line, example.command);
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &example.command])
        .current_dir(folder)
        .env("PATH", path_with_the_command())
        .output()
        .expect("bash runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{at}\nfailed: {errors}");
    if !example.shown.is_empty() {
        let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &errors;
        eprintln!("{at}");
        Assert::new().eq(printed, example.shown.clone());
    }
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
