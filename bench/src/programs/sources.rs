//! What javac compiles, with a copy of its JDK, and the tree whose status git shows.

use anyhow::{Context, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Files of a folder of the tree.
const OF_FOLDER: usize = 50;

/// Writes `count` classes below `used/` that call each other, and a tenth as many files below
/// `unused/`.
pub(crate) fn write_classes(folder: &Path, count: usize) -> anyhow::Result<()> {
    let (used, unused) = (folder.join("used"), folder.join("unused"));
    for class in 0..count {
        let methods: String = (0..10 + class * 7919 % 90)
            .map(|method| format!("    public int m{method}(int x) {{ return x * {method}; }}\n"))
            .collect();
        let next = (class + 1) % count;
        let calls = format!("    public int next(int x) {{ return new C{next}().m0(x); }}\n");
        let text = format!("public class C{class} {{\n{methods}{calls}}}\n");
        put(&used.join(format!("C{class}.java")), &text)?;
        if class % 10 == 0 {
            put(&unused.join(format!("U{class}.java")), &text)?;
        }
    }
    Ok(())
}

/// Copies the JDK of a `javac`, but for what only other tools read.
pub(crate) fn copy_jdk(javac: &Path, to: &Path) -> anyhow::Result<()> {
    let found = Command::new("sh").args(["-c", "command -v \"$1\"", "sh"]).arg(javac).output()?;
    let found = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    ensure!(
        !found.is_empty(),
        "there is no {}: install a JDK, or give --classes 0",
        javac.display()
    );
    let real = fs::canonicalize(&found).with_context(|| found.clone())?;
    let jdk = real.ancestors().nth(2).context("javac lies in no JDK")?;
    for part in ["bin", "conf", "lib"] {
        fs::create_dir_all(to)?;
        let mut copy = Command::new("cp");
        copy.arg("-rL").arg(jdk.join(part)).arg(to);
        // Links that lead nowhere (a src.zip that is not installed) are left out.
        let _ = copy.output().context("cannot run cp")?;
    }
    let copied = to.join("bin/javac");
    ensure!(
        copied.is_file(),
        "{}: the JDK was not copied from {}",
        copied.display(),
        jdk.display()
    );
    Ok(())
}

/// Writes `count` files of 1 to 4 KB, an hour old: git reads each file again that is as new as its
/// index.
pub(crate) fn write_tree(folder: &Path, count: usize) -> anyhow::Result<()> {
    let old = SystemTime::now() - Duration::from_secs(3600);
    for file in 0..count {
        let text = format!("line of file {file}\n").repeat(60 + file * 7919 % 180);
        let name = format!("folder-{}/file-{file}.txt", file / OF_FOLDER);
        let path = folder.join(name);
        put(&path, &text)?;
        fs::File::options().write(true).open(&path)?.set_modified(old)?;
    }
    Ok(())
}

/// Writes a file, and the folders that it needs.
pub(crate) fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().context("a path without a folder")?;
    fs::create_dir_all(folder)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
