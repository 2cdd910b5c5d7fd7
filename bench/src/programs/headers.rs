//! Headers in folders that the compiler searches one after another, and files in C that include
//! all of them: so most names are looked up in folders where they are not.

use super::sources::put;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Folders of headers.
const FOLDERS: usize = 20;

/// Writes `count` headers in folders below `folder`, and a file of each of these names that
/// includes all of them. Returns the folders' names.
pub(crate) fn write(folder: &Path, count: usize, files: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    let mut includes = String::new();
    for header in 0..count {
        let name = format!("include-{}/part-{header}.h", header * 7 % FOLDERS);
        put(&folder.join(name), &text(header))?;
        let _ = writeln!(includes, "#include <part-{header}.h>");
    }
    for (number, file) in files.iter().enumerate() {
        let main = format!("{includes}int file_{number}(void) {{ return part_0({number}); }}\n");
        put(&folder.join(file), &main)?;
    }
    Ok((0..FOLDERS.min(count)).map(|number| PathBuf::from(format!("include-{number}"))).collect())
}

/// A header whose length differs from others', as headers' do.
fn text(header: usize) -> String {
    let mut text = format!("#ifndef PART_{header}\n#define PART_{header}\n");
    for line in 0..10 + header * 7919 % 190 {
        let _ = writeln!(text, "/* Line {line} of what header {header} says of itself. */");
    }
    let _ =
        writeln!(text, "static inline int part_{header}(int x) {{ return x + {header}; }}\n#endif");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_header_is_included_once_and_lies_in_a_named_folder() {
        let place = tempfile::tempdir().unwrap();
        let folders = write(place.path(), 45, &["a.c", "b.c"]).unwrap();
        assert_eq!(folders.len(), FOLDERS);
        for file in ["a.c", "b.c"] {
            let text = std::fs::read_to_string(place.path().join(file)).unwrap();
            assert_eq!(text.matches("#include").count(), 45);
        }
        let lie = |header: usize| {
            let name = format!("part-{header}.h");
            folders.iter().filter(|it| place.path().join(it).join(&name).exists()).count()
        };
        assert!((0..45).all(|header| lie(header) == 1));
    }
}
