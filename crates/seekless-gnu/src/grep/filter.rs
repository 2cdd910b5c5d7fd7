//! Implements `--include`, `--exclude` and `--exclude-dir`. File names are matched against shell
//! patterns, and the last pattern that matches decides.

/// Name patterns in the order of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    rules: Vec<(Vec<u8>, bool)>,
}

impl Filter {
    /// Excludes names that match.
    pub fn exclude(&mut self, pattern: &[u8]) {
        self.rules.push((pattern.to_vec(), true));
    }

    /// Includes names that match. If this is the first rule, names that match no rule are excluded.
    pub fn include(&mut self, pattern: &[u8]) {
        self.rules.push((pattern.to_vec(), false));
    }

    /// Whether a name is excluded. A name from the command line also matches by any part of it that
    /// follows a slash.
    pub(super) fn leaves_out(&self, name: &[u8], from_command_line: bool) -> bool {
        let Some((_, first_excludes)) = self.rules.first() else { return false };
        let fits = |pattern: &[u8]| match from_command_line {
            true => parts(name).any(|part| matches(pattern, part)),
            false => matches(pattern, name),
        };
        match self.rules.iter().rev().find(|(pattern, _)| fits(pattern)) {
            Some((_, excludes)) => *excludes,
            None => !first_excludes,
        }
    }
}

/// The name, and the rest of it after each slash.
fn parts(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let after = |(at, byte): (usize, &u8)| {
        (*byte == b'/' && name.get(at + 1) != Some(&b'/')).then(|| &name[at + 1..])
    };
    std::iter::once(name).chain(name.iter().enumerate().filter_map(after))
}

/// Matches a shell pattern as fnmatch(3) does without flags: `*` and `?` also match slashes and
/// leading dots.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if pattern.get(p) == Some(&b'*') {
            retry = Some((p + 1, n));
            p += 1;
            continue;
        }
        if p == pattern.len() && n == name.len() {
            return true;
        }
        if let Some((next, width)) = one(&pattern[p..], &name[n..]) {
            p += next;
            n += width;
            continue;
        }
        match retry {
            Some((after, from)) if from < name.len() => {
                retry = Some((after, from + 1));
                (p, n) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

/// Matches one element of the pattern with one character. Returns the length of both.
fn one(pattern: &[u8], name: &[u8]) -> Option<(usize, usize)> {
    let &first = name.first()?;
    let width = std::str::from_utf8(&name[..name.len().min(4)])
        .or_else(|error| std::str::from_utf8(&name[..error.valid_up_to()]))
        .ok()
        .and_then(|text| text.chars().next())
        .map_or(1, char::len_utf8);
    match *pattern.first()? {
        b'?' => Some((1, width)),
        b'\\' if pattern.len() > 1 => (pattern[1] == first).then_some((2, 1)),
        b'[' => match set(pattern, first) {
            Some((length, true)) => Some((length, 1)),
            Some((_, false)) => None,
            None => (first == b'[').then_some((1, 1)),
        },
        byte => (byte == first).then_some((1, 1)),
    }
}

/// Reads a bracket expression. Returns its length and whether it holds the byte, or `None` if it
/// has no closing bracket.
fn set(pattern: &[u8], byte: u8) -> Option<(usize, bool)> {
    let negated = matches!(pattern.get(1), Some(b'!' | b'^'));
    let start = 1 + usize::from(negated);
    let (mut at, mut found) = (start, false);
    loop {
        let mut low = *pattern.get(at)?;
        if low == b']' && at > start {
            return Some((at + 1, found != negated));
        }
        if low == b'\\' {
            at += 1;
            low = *pattern.get(at)?;
        }
        at += 1;
        let mut high = low;
        if pattern.get(at) == Some(&b'-') && pattern.get(at + 1).is_some_and(|&next| next != b']') {
            high = pattern[at + 1];
            at += 2;
        }
        found |= (low..=high).contains(&byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_the_shell_says() {
        for (pattern, name, expected) in [
            ("*.c", "a.c", true),
            ("*.c", "a.h", false),
            ("a?c", "abc", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("*", "", true),
            ("?", "é", true),
            ("[x", "[x", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn the_last_rule_that_fits_decides() {
        let mut filter = Filter::default();
        assert!(!filter.leaves_out(b"a", false));
        filter.include(b"*.c");
        assert!(filter.leaves_out(b"a.h", false));
        assert!(!filter.leaves_out(b"a.c", false));
        filter.exclude(b"b*");
        assert!(filter.leaves_out(b"b.c", false));
        assert!(!filter.leaves_out(b"dir/a.c", true));
        assert!(filter.leaves_out(b"dir/b.c", true));
    }
}
