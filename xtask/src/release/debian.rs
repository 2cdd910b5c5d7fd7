//! The Debian package, made by `dpkg-deb` from a tree and a control file. Its programs are static,
//! so it installs on any release of Debian and depends on nothing; a mount needs fuse3.

use super::build::Target;
use super::{Release, archive};
use crate::dist::{self, PROGRAMS};
use anyhow::{Context, bail};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Debian's own number of this version.
const REVISION: u32 = 1;

const MAINTAINER: &str = "The Seekless developers <seekless@localhost.localdomain>";

/// What `lintian` is told: static programs are what this package is for.
const OVERRIDES: &str = "\
# Static, so that a cold start waits for no loader, and one package fits all releases.
seekless: shared-library-lacks-prerequisites
# The project has no address yet.
seekless: bogus-mail-host
seekless: bogus-mail-host-in-debian-changelog
";

/// Writes `seekless_VERSION-1_ARCH.deb`, and has `lintian` look at it.
pub(super) fn package(release: &mut Release, target: &Target) -> anyhow::Result<()> {
    if !release.has("dpkg-deb", "the .deb is left out") {
        return Ok(());
    }
    let version = format!("{}-{REVISION}", release.version);
    let name = format!("seekless_{version}_{}.deb", target.debian);
    let tree = release.stage(&format!("deb-{}", target.debian))?;
    fill(release, target, &tree, &version)?;
    control(target, &tree, &version)?;
    let out = release.out.join(&name);
    dist::run(
        Command::new("dpkg-deb")
            .args(["--root-owner-group", "--threads-max=1", "-Zxz", "--build"])
            .args([&tree, &out])
            .env("SOURCE_DATE_EPOCH", release.commit.seconds.to_string()),
    )?;
    release.made(&name);
    if release.has("lintian", "the .deb is not checked") {
        let mut command = Command::new("lintian");
        command.args(["--fail-on", "error", "--tag-display-limit", "0"]);
        // No request to package it lies with Debian, where such a bug would be closed.
        command
            .args(["--suppress-tags", "initial-upload-closes-no-bugs"])
            .arg("--allow-root")
            .arg(&out);
        dist::run(&mut command).context("lintian found errors")?;
    }
    Ok(())
}

/// Puts the files where Debian wants them.
fn fill(release: &Release, target: &Target, tree: &Path, version: &str) -> anyhow::Result<()> {
    let pages = release.stage("pages")?;
    let doc = tree.join("usr/share/doc/seekless");
    let man = tree.join("usr/share/man/man1");
    let overrides = tree.join("usr/share/lintian/overrides");
    let bin = tree.join("usr/bin");
    for folder in [&doc, &man, &overrides, &bin] {
        fs::create_dir_all(folder)?;
    }
    for program in PROGRAMS {
        fs::copy(target.built(release).join(program), bin.join(program))?;
    }
    for (from, folder, to) in [
        ("seekless.bash", "bash-completion/completions", "seekless"),
        ("_seekless", "zsh/vendor-completions", "_seekless"),
        ("seekless.fish", "fish/vendor_completions.d", "seekless.fish"),
    ] {
        let folder = tree.join("usr/share").join(folder);
        fs::create_dir_all(&folder)?;
        fs::copy(pages.join("completions").join(from), folder.join(to))?;
    }
    for page in archive::below(&pages.join("man"))? {
        let name = page.file_name().context("a page has a name")?.to_string_lossy().into_owned();
        fs::write(man.join(format!("{name}.gz")), archive::gzip(&fs::read(&page)?)?)?;
    }
    // The two programs that `seekless` becomes share its page.
    for program in &PROGRAMS[1..] {
        let page = man.join(format!("{program}.1.gz"));
        if !page.exists() {
            std::os::unix::fs::symlink("seekless.1.gz", page)?;
        }
    }
    fs::write(overrides.join("seekless"), OVERRIDES)?;
    let changelog = fs::read(release.root.join("CHANGELOG.md"))?;
    fs::write(doc.join("changelog.gz"), archive::gzip(&changelog)?)?;
    let entry = format!(
        "seekless ({version}) unstable; urgency=medium\n\n  * Version {}: see changelog.gz.\n\n \
         -- {MAINTAINER}  {}\n",
        release.version, release.commit.mail
    );
    fs::write(doc.join("changelog.Debian.gz"), archive::gzip(entry.as_bytes())?)?;
    fs::write(doc.join("copyright"), copyright(release)?)?;
    let notices = fs::read(release.notices()?)?;
    fs::write(doc.join("THIRD-PARTY.txt.gz"), archive::gzip(&notices)?)?;
    Ok(())
}

/// Debian's form of copyright. The notices of the packages that are inside lie beside it: they
/// repeat licences, which Debian wants to be named only.
fn copyright(release: &Release) -> anyhow::Result<String> {
    let indented = |text: &str| -> String {
        let lines = text.lines().map(|line| match line.trim() {
            "" => " .\n".to_owned(),
            _ => format!(" {}\n", line.trim_end()),
        });
        lines.collect()
    };
    let mit = fs::read_to_string(release.root.join("LICENSE-MIT"))?;
    let holder = mit
        .lines()
        .find_map(|line| line.strip_prefix("Copyright "))
        .context("LICENSE-MIT names no holder: it needs a line `Copyright ...`")?;
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: seekless\nComment:\n \
         The notices of the libraries that are linked in: THIRD-PARTY.txt.gz in this folder.\n\n\
         Files: *\nCopyright: {holder}\n\
         License: Expat or Apache-2.0\n\nLicense: Expat\n{}\nLicense: Apache-2.0\n \
         See /usr/share/common-licenses/Apache-2.0.\n",
        indented(&mit)
    ))
}

/// `DEBIAN/control` and `DEBIAN/md5sums`, and the modes of all files.
fn control(target: &Target, tree: &Path, version: &str) -> anyhow::Result<()> {
    let folder = tree.join("DEBIAN");
    let files = archive::below(tree)?;
    let mut bytes = 0;
    let mut names = Vec::new();
    for path in &files {
        let about = path.symlink_metadata()?;
        if about.is_symlink() {
            continue;
        }
        let is_program = path.starts_with(tree.join("usr/bin"));
        let mode = if about.is_dir() || is_program { 0o755 } else { 0o644 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        if about.is_file() {
            bytes += about.len();
            names.push(path.strip_prefix(tree)?.to_owned());
        }
    }
    fs::set_permissions(tree, fs::Permissions::from_mode(0o755))?;
    let sums = Command::new("md5sum").args(&names).current_dir(tree).output();
    let sums = sums.context("cannot start md5sum")?;
    if !sums.status.success() {
        bail!("md5sum: {}", String::from_utf8_lossy(&sums.stderr));
    }
    fs::create_dir_all(&folder)?;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
    fs::write(folder.join("md5sums"), sums.stdout)?;
    fs::write(
        folder.join("control"),
        format!(
            "Package: seekless\nVersion: {version}\nArchitecture: {}\nMaintainer: {MAINTAINER}\n\
             Installed-Size: {}\nRecommends: fuse3\nSection: utils\nPriority: optional\n\
             Description: finds out what a program reads, and makes it cheap\n \
             Programs wait on files when they start, load or scan. Seekless records what\n \
             an unmodified program reads, says where the wait goes and what would help,\n \
             simulates caches and readahead on it, lays files out in the order in which\n \
             they are read, and brings in what a start needs before it is asked for.\n",
            target.debian,
            bytes.div_ceil(1024)
        ),
    )?;
    for name in ["control", "md5sums"] {
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o644))?;
    }
    Ok(())
}
