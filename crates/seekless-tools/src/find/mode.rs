//! `-perm`: octal and symbolic modes, held against a file's permissions.

use rustix::fs::RawMode;

/// The bits that `-perm` looks at.
const BITS: RawMode = 0o7777;

/// What the permissions must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permissions {
    /// These bits and no others.
    Exactly(Modes),
    /// At least these.
    All(Modes),
    /// One of these; any file if none are named.
    Any(Modes),
}

/// A mode for files and one for folders: they differ where `X` was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Modes {
    file: RawMode,
    folder: RawMode,
}

impl Permissions {
    /// Reads `644`, `-u+w`, `/022` and the like.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text.as_bytes().first()? {
            b'-' => Modes::parse(&text[1..]).map(Permissions::All),
            b'/' => Modes::parse(&text[1..]).map(Permissions::Any),
            _ => Modes::parse(text).map(Permissions::Exactly),
        }
    }

    pub(super) fn hold(self, mode: RawMode, folder: bool) -> bool {
        let (Permissions::Exactly(modes) | Permissions::All(modes) | Permissions::Any(modes)) = self;
        let wanted = if folder { modes.folder } else { modes.file };
        match self {
            Permissions::Exactly(_) => mode & BITS == wanted,
            Permissions::All(_) => mode & wanted == wanted,
            Permissions::Any(_) => wanted == 0 || mode & wanted != 0,
        }
    }
}

impl Modes {
    fn parse(text: &str) -> Option<Self> {
        if text.bytes().all(|byte| (b'0'..=b'7').contains(&byte)) && !text.is_empty() {
            let bits = RawMode::from_str_radix(text, 8).ok().filter(|bits| bits & !BITS == 0)?;
            return Some(Modes { file: bits, folder: bits });
        }
        let mut modes = Modes { file: 0, folder: 0 };
        for clause in text.split(',') {
            modes.apply(clause)?;
        }
        Some(modes)
    }

    /// One clause: `[ugoa]*` and then operators with the permissions after each.
    fn apply(&mut self, clause: &str) -> Option<()> {
        let start = clause.find(['+', '-', '='])?;
        let mut who = 0;
        for letter in clause[..start].bytes() {
            who |= match letter {
                b'u' => 0o4700,
                b'g' => 0o2070,
                b'o' => 0o1007,
                b'a' => 0o7777,
                _ => return None,
            };
        }
        // Without a letter it means everybody; find sets the file creation mask to 0 while it reads this.
        let who = if who == 0 { 0o7777 } else { who };
        let mut rest = &clause[start..];
        while let Some(operator) = rest.bytes().next() {
            let end = rest[1..].find(['+', '-', '=']).map_or(rest.len(), |next| next + 1);
            self.operate(who, operator, &rest[1..end])?;
            rest = &rest[end..];
        }
        Some(())
    }

    fn operate(&mut self, who: RawMode, operator: u8, permissions: &str) -> Option<()> {
        for (mode, is_folder) in [(&mut self.file, false), (&mut self.folder, true)] {
            let mut bits = 0;
            for letter in permissions.bytes() {
                bits |= match letter {
                    b'r' => 0o444,
                    b'w' => 0o222,
                    b'x' => 0o111,
                    b'X' if is_folder || *mode & 0o111 != 0 => 0o111,
                    b'X' => 0,
                    b's' => 0o6000,
                    b't' => 0o1000,
                    b'u' => spread(*mode >> 6),
                    b'g' => spread(*mode >> 3),
                    b'o' => spread(*mode),
                    _ => return None,
                };
            }
            let bits = bits & who;
            match operator {
                b'+' => *mode |= bits,
                b'-' => *mode &= !bits,
                _ => *mode = *mode & !who | bits,
            }
        }
        Some(())
    }
}

/// One class's permissions given to all three.
fn spread(class: RawMode) -> RawMode {
    (class & 7) * 0o111
}

/// The ten letters of `ls -l`.
pub(super) fn letters(mode: RawMode) -> String {
    let bit = |bit: RawMode, letter: char| if mode & bit != 0 { letter } else { '-' };
    let special = |execute: RawMode, set: RawMode, letter: char| match (mode & set != 0, mode & execute != 0)
    {
        (true, true) => letter,
        (true, false) => letter.to_ascii_uppercase(),
        (false, true) => 'x',
        (false, false) => '-',
    };
    let kind = match super::entry::type_letter(rustix::fs::FileType::from_raw_mode(mode)) {
        'f' => '-',
        other => other,
    };
    [
        kind,
        bit(0o400, 'r'),
        bit(0o200, 'w'),
        special(0o100, 0o4000, 's'),
        bit(0o040, 'r'),
        bit(0o020, 'w'),
        special(0o010, 0o2000, 's'),
        bit(0o004, 'r'),
        bit(0o002, 'w'),
        special(0o001, 0o1000, 't'),
    ]
    .iter()
    .collect()
}
