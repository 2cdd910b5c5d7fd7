//! The sources, and the script that builds them.

use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A package of C sources.
#[derive(Clone, Debug)]
pub(super) struct Package {
    pub(super) name: String,
    sources: PathBuf,
    flags: &'static str,
}

/// Packages by the start of their names, the folder with C sources in them, and what their sources
/// need; the smallest first.
const PACKAGES: [(&str, &str, &str); 3] = [
    ("libdeflate-sys-", "libdeflate", "-I."),
    ("zstd-sys-", "zstd/lib", "-I. -Icommon -DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=1"),
    ("libsqlite3-sys-", "sqlite3", "-I."),
];

/// Finds the packages under cargo's folder of sources.
pub(super) fn packages(sources: Option<&Path>, one: bool) -> Result<Vec<Package>> {
    let registry = sources.map_or_else(registry, |given| Ok(given.to_path_buf()))?;
    let folders = folders(&registry)
        .with_context(|| format!("cannot list {}; name it with --sources", registry.display()))?;
    let find = |&(start, inside, flags): &(&str, &str, &'static str)| {
        let of = |folder: &&PathBuf| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with(start) && folder.join(inside).is_dir()
        };
        let folder = folders.iter().filter(of).max()?;
        let name = folder.file_name()?.to_string_lossy().into_owned();
        Some(Package { name, sources: folder.join(inside), flags })
    };
    let count = if one { 1 } else { PACKAGES.len() };
    let found: Vec<Package> = PACKAGES[..count].iter().filter_map(find).collect();
    ensure!(
        !found.is_empty(),
        "{} has no C sources of libdeflate-sys, zstd-sys or libsqlite3-sys; name cargo's registry/src with --sources",
        registry.display()
    );
    Ok(found)
}

fn registry() -> Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")));
    Ok(home.context("neither CARGO_HOME nor HOME is set; use --sources")?.join("registry/src"))
}

/// The folders in `registry`, and one level deeper, where cargo has one for each registry.
fn folders(registry: &Path) -> std::io::Result<Vec<PathBuf>> {
    let inside = |folder: &Path| -> std::io::Result<Vec<PathBuf>> {
        let all = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
        Ok(all.filter(|path| path.is_dir()).collect())
    };
    let mut all = inside(registry)?;
    for folder in all.clone() {
        all.extend(inside(&folder)?);
    }
    all.sort();
    Ok(all)
}

/// The words for `sh`: unpacks each package, compiles its files with eight jobs, as he did, and
/// joins them in a library.
pub(super) fn script(packages: &[Package], folder: &Path) -> Vec<OsString> {
    const SCRIPT: &str = r#"
set -e
work=$1; shift
while [ $# -gt 0 ]; do
  name=$1 sources=$2 flags=$3; shift 3
  cp -r "$sources" "$work/$name"
  cd "$work/$name"
  find . -name '*.c' ! -name 'wasm*' ! -path './programs/*' ! -path './scripts/*' | sort | xargs -P 8 -I{} cc -O1 -w $flags -c {} -o {}.o
  ar rcs lib.a $(find . -name '*.o' | sort)
done
"#;
    let mut words: Vec<OsString> = vec!["-c".into(), SCRIPT.into(), "sh".into(), folder.into()];
    for Package { name, sources, flags } in packages {
        words.extend([name.into(), sources.into(), flags.into()]);
    }
    words
}
