//! `-perm`: compares a file's permissions with octal or symbolic modes.

use rustix::fs::RawMode;

/// The bits that `-perm` compares.
const BITS: RawMode = 0o7777;

/// The required permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permissions {
    /// Exactly these bits.
    Exactly(Modes),
    /// All of these bits.
    All(Modes),
    /// Any of these bits; if none are given, every file passes.
    Any(Modes),
}

/// One mode for files and one for folders, which differ if `X` was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Modes {
    file: RawMode,
    folder: RawMode,
}

impl Permissions {
    /// Parses `644`, `-u+w`, `/022` and the like. `+644`, an old form of `/644`, is refused.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        match text {
            [b'-', modes @ ..] => Modes::parse(modes).map(Permissions::All),
            [b'/', modes @ ..] => Modes::parse(modes).map(Permissions::Any),
            [b'+', b'0'..=b'7', ..] => None,
            modes => Modes::parse(modes).map(Permissions::Exactly),
        }
    }

    /// Whether it is `/0`: no bits are given, so every file passes.
    pub(super) fn is_any_of_none(self) -> bool {
        self == Permissions::Any(Modes { file: 0, folder: 0 })
    }

    /// GNU find's estimate of how likely a file passes.
    pub(super) fn odds(self) -> f32 {
        match self {
            _ if self.is_any_of_none() => 0.9986,
            Permissions::Exactly(_) => 0.01,
            Permissions::All(_) => 0.2,
            Permissions::Any(_) => 0.3,
        }
    }

    pub(super) fn hold(self, mode: RawMode, folder: bool) -> bool {
        let (Permissions::Exactly(modes) | Permissions::All(modes) | Permissions::Any(modes)) =
            self;
        let wanted = if folder { modes.folder } else { modes.file };
        match self {
            Permissions::Exactly(_) => mode & BITS == wanted,
            Permissions::All(_) => mode & wanted == wanted,
            Permissions::Any(_) => wanted == 0 || mode & wanted != 0,
        }
    }
}

impl Modes {
    /// Parses a mode as chmod(1) does, starting from no permissions and without a umask.
    fn parse(text: &[u8]) -> Option<Self> {
        if let (Some(bits), []) = octal(text)? {
            return Some(Modes { file: bits, folder: bits });
        }
        let mut modes = Modes { file: 0, folder: 0 };
        text.split(|&byte| byte == b',').try_for_each(|clause| modes.apply(clause))?;
        Some(modes)
    }

    /// Applies one clause: `[ugoa]*`, followed by operators with their permissions.
    fn apply(&mut self, clause: &[u8]) -> Option<()> {
        let start = clause.iter().position(|byte| b"+-=".contains(byte))?;
        let mut who = 0;
        for letter in &clause[..start] {
            who |= match letter {
                b'u' => 0o4700,
                b'g' => 0o2070,
                b'o' => 0o1007,
                b'a' => 0o7777,
                _ => return None,
            };
        }
        let mut rest = &clause[start..];
        while let [operator, operand @ ..] = rest {
            let change;
            (change, rest) = Change::parse(*operator, who, operand)?;
            change.apply(&mut self.file, false);
            change.apply(&mut self.folder, true);
        }
        Some(())
    }
}

/// An operator and its operand.
struct Change {
    operator: u8,
    /// The bits of the users it applies to; 0 if none are given.
    who: RawMode,
    bits: RawMode,
    /// The bits that are given explicitly. A folder keeps its set-ID bits unless they are given.
    named: RawMode,
    what: What,
}

enum What {
    Bits,
    /// Copies the permissions of one class.
    Copy,
    /// Adds execution for a folder, or if some class has it already.
    Execute,
}

impl Change {
    /// Parses an operand and returns the text after it.
    fn parse(operator: u8, who: RawMode, operand: &[u8]) -> Option<(Self, &[u8])> {
        if let (Some(bits), rest) = octal(operand)? {
            let whole = who == 0 && rest.is_empty();
            let change = Change { operator, who: BITS, bits, named: BITS, what: What::Bits };
            return whole.then_some((change, rest));
        }
        let (bits, what, rest) = match operand {
            [b'u', rest @ ..] => (0o700, What::Copy, rest),
            [b'g', rest @ ..] => (0o070, What::Copy, rest),
            [b'o', rest @ ..] => (0o007, What::Copy, rest),
            _ => letters_of(operand),
        };
        let named = if who == 0 { bits } else { who & bits };
        matches!(rest, [] | [b'+' | b'-' | b'=', ..])
            .then_some((Change { operator, who, bits, named, what }, rest))
    }

    fn apply(&self, mode: &mut RawMode, folder: bool) {
        let kept = if folder { 0o6000 & !self.named } else { 0 };
        let bits = match self.what {
            What::Bits => self.bits,
            What::Copy => spread(*mode & self.bits),
            What::Execute if folder || *mode & 0o111 != 0 => self.bits | 0o111,
            What::Execute => self.bits,
        };
        let bits = bits & if self.who == 0 { BITS } else { self.who } & !kept;
        match self.operator {
            b'+' => *mode |= bits,
            b'-' => *mode &= !bits,
            _ => *mode = *mode & (if self.who == 0 { 0 } else { !self.who } | kept) | bits,
        }
    }
}

/// Reads an octal number at the start, if there is one; `None` if it is too large.
fn octal(text: &[u8]) -> Option<(Option<RawMode>, &[u8])> {
    let end = text.iter().position(|byte| !(b'0'..=b'7').contains(byte)).unwrap_or(text.len());
    if end == 0 {
        return Some((None, text));
    }
    let bits = text[..end].iter().try_fold(0, |bits: RawMode, digit| {
        Some(bits * 8 + RawMode::from(digit - b'0')).filter(|bits| bits & !BITS == 0)
    });
    Some((Some(bits?), &text[end..]))
}

fn letters_of(operand: &[u8]) -> (RawMode, What, &[u8]) {
    let (mut bits, mut what) = (0, What::Bits);
    for (at, letter) in operand.iter().enumerate() {
        bits |= match letter {
            b'r' => 0o444,
            b'w' => 0o222,
            b'x' => 0o111,
            b's' => 0o6000,
            b't' => 0o1000,
            b'X' => {
                what = What::Execute;
                0
            }
            _ => return (bits, what, &operand[at..]),
        };
    }
    (bits, what, &[])
}

/// Gives each right that some class has to all three classes.
fn spread(mode: RawMode) -> RawMode {
    [0o444, 0o222, 0o111].iter().filter(|&&all| mode & all != 0).sum()
}

/// The permission bits alone.
pub(super) fn permission_bits(mode: RawMode) -> RawMode {
    mode & BITS
}

/// The ten letters that `ls -l` prints.
pub(super) fn letters(mode: RawMode) -> String {
    let bit = |bit: RawMode, letter: char| if mode & bit != 0 { letter } else { '-' };
    let special =
        |execute: RawMode, set: RawMode, letter: char| match (mode & set != 0, mode & execute != 0)
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
