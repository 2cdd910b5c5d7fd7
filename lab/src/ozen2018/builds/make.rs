//! The sources, and the script that builds them.

use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is built.
#[derive(Clone, Debug)]
pub(super) enum Sources {
    /// Packages of C sources.
    Packages(Vec<Package>),
    /// An archive of Linux, as Debian's `linux-source` brings it.
    Kernel(PathBuf),
}

/// A package of C sources.
#[derive(Clone, Debug)]
pub(super) struct Package {
    pub(super) name: String,
    sources: PathBuf,
    flags: &'static str,
}

impl Sources {
    /// What they are, in words.
    pub(super) fn words(&self) -> String {
        let names = |packages: &[Package]| {
            packages.iter().map(|package| package.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Packages(packages) => names(packages),
            Self::Kernel(archive) => {
                let name = archive.file_name().unwrap_or_default().to_string_lossy();
                format!("{}, allnoconfig", name.trim_end_matches(".tar.xz"))
            }
        }
    }

    /// The words for `sh` that build them in `folder`.
    ///
    /// # Errors
    /// The archive cannot be unpacked.
    pub(super) fn script(&self, folder: &Path) -> Result<Vec<OsString>> {
        match self {
            Self::Packages(packages) => Ok(script(packages, folder)),
            Self::Kernel(archive) => kernel(archive, folder),
        }
    }
}

/// Linux from an archive, or from the newest one in a folder.
///
/// # Errors
/// The folder has no archive of Linux.
pub(super) fn linux(archive: &Path) -> Result<Sources> {
    if !archive.is_dir() {
        return Ok(Sources::Kernel(archive.to_path_buf()));
    }
    let entries = std::fs::read_dir(archive)?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_linux = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("linux-source-") && name.ends_with(".tar.xz")
    };
    let newest = entries
        .filter(is_linux)
        .max_by_key(|path| path.metadata().and_then(|about| about.modified()).ok());
    let newest = newest.with_context(|| {
        format!("{} has no linux-source-*.tar.xz; install Debian's linux-source", archive.display())
    })?;
    Ok(Sources::Kernel(newest))
}

/// Unpacks Linux, which is not part of the build, and configures and builds the least of it with
/// eight jobs, as he did.
fn kernel(archive: &Path, folder: &Path) -> Result<Vec<OsString>> {
    let inside = folder.join("linux");
    std::fs::create_dir_all(&inside)?;
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(archive).arg("--strip-components=1").arg("-C").arg(&inside);
    let status = tar.status().context("cannot run tar")?;
    ensure!(status.success(), "tar cannot unpack {}", archive.display());
    const SCRIPT: &str = "cd \"$1\" && make -s allnoconfig && make -s -j 8 >/dev/null 2>&1";
    Ok(vec!["-c".into(), SCRIPT.into(), "sh".into(), inside.into()])
}

/// Packages by the start of their names, the folder with C sources in them, and what their sources
/// need; the smallest first.
const PACKAGES: [(&str, &str, &str); 3] = [
    ("libdeflate-sys-", "libdeflate", "-I."),
    ("zstd-sys-", "zstd/lib", "-I. -Icommon -DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=1"),
    ("libsqlite3-sys-", "sqlite3", "-I."),
];

/// Finds the packages under cargo's folder of sources.
///
/// # Errors
/// The folder has no such packages.
pub(super) fn packages(sources: Option<&Path>, one: bool) -> Result<Sources> {
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
    Ok(Sources::Packages(found))
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
fn script(packages: &[Package], folder: &Path) -> Vec<OsString> {
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
