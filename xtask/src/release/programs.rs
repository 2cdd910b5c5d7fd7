//! The archives of programs and of libraries for C.

use super::build::Target;
use super::{Release, archive};
use crate::dist::{self, PROGRAMS};
use std::fs;
use std::process::Command;

/// What lies beside the programs and libraries in each archive.
const DOCUMENTS: [&str; 3] = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Completions, man pages and notices, which are the same for all architectures: `pages/`.
pub(super) fn pages(release: &Release, native: &Target) -> anyhow::Result<()> {
    let pages = release.stage("pages")?;
    let [completions, man] = ["completions", "man"].map(|name| pages.join(name));
    fs::create_dir_all(&completions)?;
    fs::create_dir_all(&man)?;
    dist::write_pages(&native.built(release).join("seekless"), &completions, &man)?;
    fs::copy(release.notices()?, pages.join("THIRD-PARTY.txt"))?;
    for name in DOCUMENTS {
        fs::copy(release.root.join(name), pages.join(name))?;
    }
    Ok(())
}

/// `seekless-VERSION-ARCH-linux.tar.gz`: programs that need no library of the system, and
/// `pages/`.
pub(super) fn archive_programs(release: &Release, target: &Target) -> anyhow::Result<()> {
    let name = format!("seekless-{}-{}-linux", release.version, target.name);
    let folder = release.stage(&name)?;
    release.copy_tree(&release.stage("pages")?, &folder)?;
    fs::create_dir_all(folder.join("bin"))?;
    for program in PROGRAMS {
        fs::copy(target.built(release).join(program), folder.join("bin").join(program))?;
    }
    let tar = archive::tar(&folder, &name, release.commit.seconds)?;
    release.write(&format!("{name}.tar.gz"), &archive::gzip(&tar)?)
}

/// `seekless-c-VERSION-ARCH-linux.tar.gz`: what lies below `/usr/local` after
/// `bindings/c/install.sh`.
pub(super) fn archive_libraries(release: &Release, target: &Target) -> anyhow::Result<()> {
    let name = format!("seekless-c-{}-{}-linux", release.version, target.name);
    let folder = release.stage(&name)?;
    dist::run(
        Command::new(release.root.join("bindings/c/install.sh"))
            .args(["--prefix", "/usr/local", "--built"])
            .arg(target.built(release))
            .env("DESTDIR", &folder)
            .env_remove("LIBDIR")
            .env_remove("MANDIR"),
    )?;
    let local = folder.join("usr/local");
    for file in DOCUMENTS {
        fs::copy(release.root.join(file), local.join(file))?;
    }
    fs::copy(release.notices()?, local.join("THIRD-PARTY.txt"))?;
    let tar = archive::tar(&local, &name, release.commit.seconds)?;
    release.write(&format!("{name}.tar.gz"), &archive::gzip(&tar)?)
}
