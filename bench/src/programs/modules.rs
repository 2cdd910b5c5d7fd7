//! Modules for node: packages with an index that requires the package's other modules, and one file
//! that requires all packages; and in each package a file that is not required. Their texts differ
//! in length, as modules' do.

use super::sources::put;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Modules of a package, its index included.
const OF_PACKAGE: usize = 5;
/// Lines of comment in a module: this many, and up to this many more.
const LINES: (usize, usize) = (20, 180);

/// Writes at least `count` modules below `folder`, and `all.js`, whose `sum` is their number.
/// Returns that number.
pub(crate) fn write(folder: &Path, count: usize) -> anyhow::Result<usize> {
    let packages = count.div_ceil(OF_PACKAGE);
    let mut all = String::from("exports.sum = 0;\n");
    for package in 0..packages {
        let name = format!("package-{package}");
        write_package(&folder.join("node_modules").join(&name), package)?;
        let _ = writeln!(all, "exports.sum += require('{name}').sum;");
    }
    put(&folder.join("all.js"), &all)?;
    Ok(packages * OF_PACKAGE)
}

fn write_package(folder: &Path, package: usize) -> anyhow::Result<()> {
    fs::create_dir_all(folder.join("lib"))?;
    let name = format!("package-{package}");
    let main = format!("{{\"name\":\"{name}\",\"version\":\"1.0.0\",\"main\":\"index.js\"}}\n");
    put(&folder.join("package.json"), &main)?;
    let mut index = filling(package * OF_PACKAGE) + "exports.sum = 1;\n";
    for part in 1..OF_PACKAGE {
        let _ = writeln!(index, "exports.sum += require('./lib/part-{part}').one;");
        let text = filling(package * OF_PACKAGE + part) + "exports.one = 1;\n";
        put(&folder.join(format!("lib/part-{part}.js")), &text)?;
    }
    put(&folder.join("unused.js"), &filling(package))?;
    put(&folder.join("index.js"), &index)
}

/// Comments of a length that differs from module to module.
fn filling(module: usize) -> String {
    let (least, more) = LINES;
    let lines = least + module * 7919 % (more + 1);
    (0..lines)
        .map(|line| format!("// Line {line} of what module {module} says of itself.\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_module_is_required_once() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(write(folder.path(), 12).unwrap(), 15);
        let all = fs::read_to_string(folder.path().join("all.js")).unwrap();
        assert_eq!(all.matches("require(").count(), 3);
        let index =
            fs::read_to_string(folder.path().join("node_modules/package-2/index.js")).unwrap();
        assert_eq!(index.matches("require(").count(), OF_PACKAGE - 1);
    }
}
