//! Where the files of the game come from: made with the listed names and sizes, or the game's own.
//!
//! A folder of the game holds `public/` and `mod/`, the unpacked archives of Debian's package
//! 0ad-data. What the game writes when it first runs may be missing there: such files are made.

use anyhow::{Context, bail, ensure};
use seekless::device::units::format_count;
use seekless::tools::synth::{self, File};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// How to get the files.
pub(crate) const HOW_TO_GET: &str = "\
The game's own files, for --game (1.4 GB to fetch, 3.3 GB unpacked):
  apt-get download 0ad-data
  dpkg-deb -x 0ad-data_*.deb unpacked
  mkdir game
  for mod in public mod; do
    unzip -q unpacked/usr/share/games/0ad/mods/$mod/$mod.zip -d game/$mod
  done
  ./run bench arcadia --game game
  ./run bench remote --game game";

/// The version of the package that the list was made of.
const VERSION: &str = "0.0.26-1";

/// What the listed files hold.
#[derive(Clone, Debug)]
pub(crate) enum Files {
    /// Made up: only names and sizes are the game's.
    Synthesised,
    /// Those of the game in this folder; those that are not there are made up.
    Game(PathBuf),
}

impl Files {
    /// # Errors
    /// `game` is no folder of the game.
    pub(crate) fn new(game: Option<&Path>) -> anyhow::Result<Self> {
        let Some(game) = game else { return Ok(Self::Synthesised) };
        for below in ["public", "mod"] {
            ensure!(
                game.join(below).is_dir(),
                "{} holds no folder {below}; --help says how to get the game's files",
                game.display()
            );
        }
        Ok(Self::Game(game.to_owned()))
    }

    /// The game's own file of this name and size, or `None` if it is to be made.
    ///
    /// # Errors
    /// It has another size, or the name leads out of the folder.
    pub(crate) fn own(&self, name: &str, bytes: u64) -> anyhow::Result<Option<PathBuf>> {
        let Self::Game(game) = self else { return Ok(None) };
        let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        ensure!(inside, "the list names {name:?}, which could lead out of the folder");
        let path = game.join(name);
        match fs::metadata(&path) {
            Ok(found) if found.is_file() && found.len() == bytes => Ok(Some(path)),
            Ok(_) => bail!(
                "{} is no file of {bytes} bytes, as the list says; it is of 0ad-data {VERSION}",
                path.display()
            ),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    /// Makes a folder of all `files` at `folder`, which does not exist: links to the game's own, or
    /// copies where the file system takes no link, and the others made up.
    ///
    /// # Errors
    /// As [`own`](Self::own), or writing fails.
    pub(crate) fn lay_out(&self, files: &[File], folder: &Path) -> anyhow::Result<()> {
        let (mut own, mut made) = (Vec::new(), Vec::new());
        for file in files {
            match self.own(&file.path, file.bytes)? {
                Some(path) => own.push((path, folder.join(&file.path))),
                None => made.push(file.clone()),
            }
        }
        if let Self::Game(game) = self {
            let count = format_count(own.len() as u64);
            eprintln!("bench: takes {count} files from {}", game.display());
        }
        if !made.is_empty() {
            eprintln!("bench: makes {} files", format_count(made.len() as u64));
            synth::synth(folder, &made, &synth::Options::default(), &mut |_, _| ())?;
        }
        own.iter().try_for_each(|(from, to)| place(from, to))
    }
}

/// Links a file to another place, or copies it there.
fn place(from: &Path, to: &Path) -> anyhow::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    if fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    let copied = fs::copy(from, to);
    copied.with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, bytes: u64) -> File {
        File { path: path.to_owned(), bytes }
    }

    /// A folder of the game with one file.
    fn game() -> tempfile::TempDir {
        let game = tempfile::tempdir().expect("a folder");
        fs::create_dir(game.path().join("mod")).expect("a folder");
        fs::create_dir_all(game.path().join("public/maps")).expect("a folder");
        fs::write(game.path().join("public/maps/sahel.xml"), "<Scenario/>").expect("a file");
        game
    }

    #[test]
    fn what_the_game_has_is_taken_and_the_others_are_made() {
        let (game, below) = (game(), tempfile::tempdir().expect("a folder"));
        fs::write(game.path().join("public/unlisted.xml"), "x").expect("a file");
        let list = [file("public/maps/sahel.xml", 11), file("mod/a.xml.cached.xmb", 5000)];
        let folder = below.path().join("files");
        let files = Files::new(Some(game.path())).expect("a folder of the game");
        files.lay_out(&list, &folder).expect("a folder of all files");
        let content = fs::read_to_string(folder.join("public/maps/sahel.xml"));
        assert_eq!(content.expect("taken"), "<Scenario/>");
        assert_eq!(fs::read(folder.join("mod/a.xml.cached.xmb")).expect("made").len(), 5000);
        assert!(!folder.join("public/unlisted.xml").exists());
    }

    #[test]
    fn without_a_game_all_are_made() {
        let below = tempfile::tempdir().expect("a folder");
        let folder = below.path().join("files");
        let list = [file("public/maps/sahel.xml", 11)];
        let files = Files::new(None).expect("needs no folder");
        files.lay_out(&list, &folder).expect("a folder of all files");
        let content = fs::read(folder.join("public/maps/sahel.xml")).expect("made");
        assert_eq!((content.len(), content == b"<Scenario/>"), (11, false));
    }

    #[test]
    fn another_version_of_the_game_is_refused() {
        let game = game();
        let files = Files::new(Some(game.path())).expect("a folder of the game");
        let error = files.own("public/maps/sahel.xml", 12).expect_err("another size");
        assert!(error.to_string().contains("12 bytes"), "{error}");
        assert!(files.own("../secret", 1).is_err());
        fs::remove_dir(game.path().join("mod")).expect("an empty folder");
        let error = Files::new(Some(game.path())).expect_err("half a game");
        assert!(error.to_string().contains("no folder mod"), "{error}");
    }
}
