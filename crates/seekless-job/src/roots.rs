//! Trees that have moved since they were traced: `OLD=NEW`, given by the user or found by the
//! longest common tail of names.

use crate::error::{Error, ErrorKind};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// How many traced names a guess examines, spread evenly over all of them.
const LOOKED_AT: usize = 2_000;
/// How many files of the same name a guess compares with a traced name.
const NAMESAKES: usize = 50;
/// A guess counts if it fits at least one name in this many. Without such a limit a single common
/// name, such as `__init__.py`, would decide.
const BELIEVED: usize = 20;

/// Where a tree was when it was traced, and where it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Root {
    /// The start of its names in the trace.
    pub old: String,
    /// The start of its names now.
    pub new: String,
}

impl FromStr for Root {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let trimmed = |path: &str| match path.trim_end_matches('/') {
            "" if path.starts_with('/') => "/".to_owned(),
            trimmed => trimmed.to_owned(),
        };
        match text.split_once('=') {
            Some((old, new)) if !old.is_empty() => {
                Ok(Root { old: trimmed(old), new: trimmed(new) })
            }
            _ => {
                let why =
                    format!("{text:?} does not say what moved where: write /old/place=/new/place");
                Err(Error::new(ErrorKind::Invalid, why))
            }
        }
    }
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &str| if path.is_empty() { ".".to_owned() } else { path.to_owned() };
        write!(f, "{}={}", shown(&self.old), shown(&self.new))
    }
}

impl Root {
    /// What follows the old root in `traced`; `None` if it lies elsewhere.
    pub fn below<'a>(&self, traced: &'a str) -> Option<&'a str> {
        match self.old.as_str() {
            "" => (!traced.starts_with('/')).then_some(traced),
            "/" => traced.strip_prefix('/'),
            old => traced.strip_prefix(old).and_then(|rest| rest.strip_prefix('/')),
        }
    }

    fn apply(&self, traced: &str) -> Option<String> {
        let below = self.below(traced)?;
        Some(match self.new.as_str() {
            "" => below.to_owned(),
            "/" => format!("/{below}"),
            new => format!("{new}/{below}"),
        })
    }
}

/// All roots that are known. If several fit a name, the longest is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots(Vec<Root>);

impl Roots {
    /// Collects roots.
    #[must_use]
    pub fn new(mut roots: Vec<Root>) -> Self {
        roots.sort_by_key(|root| std::cmp::Reverse(root.old.len()));
        Roots(roots)
    }

    /// Whether there are no roots.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The present name of `traced`.
    #[must_use]
    pub fn apply<'a>(&self, traced: &'a str) -> Cow<'a, str> {
        let moved = self.0.iter().find_map(|root| root.apply(traced));
        moved.map_or(Cow::Borrowed(traced), Cow::Owned)
    }

    /// The same roots, with the canonical name of each new folder that exists.
    #[must_use]
    pub fn resolved(&self) -> Self {
        let resolve = |root: &Root| {
            let found = Path::new(&root.new).canonicalize().ok();
            let new = found.and_then(|path| path.to_str().map(str::to_owned));
            Root { old: root.old.clone(), new: new.unwrap_or_else(|| root.new.clone()) }
        };
        Roots(self.0.iter().map(resolve).collect())
    }
}

/// The root under which most of `traced` are among `names`, compared from their ends; `None` if
/// hardly any are under any.
#[must_use]
pub fn guess<'a>(names: impl IntoIterator<Item = &'a str>, traced: &[&str]) -> Option<Root> {
    let mut namesakes: HashMap<&str, Vec<&str>> = HashMap::new();
    for name in names {
        let same = namesakes.entry(last(name)).or_default();
        if same.len() < NAMESAKES {
            same.push(name);
        }
    }
    let step = traced.len().div_ceil(LOOKED_AT).max(1);
    let mut votes: HashMap<(&str, &str), usize> = HashMap::new();
    let mut looked_at = 0;
    for path in traced.iter().step_by(step) {
        looked_at += 1;
        let same = namesakes.get(last(path)).map_or(&[][..], Vec::as_slice);
        let longest = same
            .iter()
            .map(|name| heads(path, name))
            .min_by_key(|(old, new)| (old.len(), new.len()));
        if let Some(heads) = longest {
            *votes.entry(heads).or_default() += 1;
        }
    }
    // Of equals, the one with the longest common ends; then by name, so that the result is stable.
    let mut ranked: Vec<((&str, &str), usize)> = votes.into_iter().collect();
    ranked.sort_unstable_by_key(|&((old, new), count)| {
        (std::cmp::Reverse(count), old.len() + new.len(), old, new)
    });
    let &((old, new), count) = ranked.first()?;
    (count * BELIEVED >= looked_at).then(|| Root { old: old.to_owned(), new: new.to_owned() })
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The heads of both names, before their common end.
fn heads<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str) {
    let (mut one, mut other) = (one, other);
    loop {
        let split = |path: &'a str| path.rsplit_once('/').unwrap_or(("", path));
        let ((one_head, one_part), (other_head, other_part)) = (split(one), split(other));
        if one_part != other_part || one_part.is_empty() {
            return (one, other);
        }
        let at_root = |path: &str, head: &str| head.is_empty() && path.starts_with('/');
        if at_root(one, one_head) || at_root(other, other_head) {
            return (if at_root(one, one_head) { "/" } else { one_head }, other_head);
        }
        (one, other) = (one_head, other_head);
        if one.is_empty() || other.is_empty() {
            return (one, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(text: &str) -> Root {
        text.parse().unwrap()
    }

    #[test]
    fn the_longest_root_that_fits_holds() {
        let roots =
            Roots::new(vec![root("/home/u=/srv"), root("/home/u/game/=/data/"), root("/=/mnt")]);
        for (traced, now) in [
            ("/home/u/notes", "/srv/notes"),
            ("/home/u/game/art/x", "/data/art/x"),
            ("/home/user/x", "/mnt/home/user/x"),
            ("relative", "relative"),
        ] {
            assert_eq!(roots.apply(traced), now);
        }
        assert_eq!(Roots::new(vec![root("/old=")]).apply("/old/a/b"), "a/b");
        assert_eq!(root("/a/=/b/").to_string(), "/a=/b");
    }

    #[test]
    fn what_says_no_move_is_refused() {
        for text in ["", "/old", "=/new"] {
            assert!(
                text.parse::<Root>().unwrap_err().to_string().contains("/old/place=/new/place"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_moved_tree_is_found_by_its_tails() {
        let names = ["art/wall.dds", "art/floor.dds", "maps/wall.dds", "config"];
        let guessed =
            guess(names, &["/old/game/art/wall.dds", "/old/game/config", "/usr/lib/libc.so.6"]);
        assert_eq!(guessed, Some(Root { old: "/old/game".into(), new: String::new() }));
        // The folder holds more above than the trace names, and the other way round.
        let guessed = guess(["data/art/wall.dds", "data/config"], &["art/wall.dds", "config"]);
        assert_eq!(guessed, Some(Root { old: String::new(), new: "data".into() }));
        let guessed = guess(["new/art/a", "new/art/b"], &["/old/art/a", "/old/art/b"]);
        assert_eq!(guessed, Some(Root { old: "/old".into(), new: "new".into() }));
        let guessed = guess(["art/a"], &["/art/a"]);
        assert_eq!(guessed, Some(Root { old: "/".into(), new: String::new() }));
    }

    #[test]
    fn one_namesake_among_many_is_no_tree() {
        let strangers: Vec<String> =
            (0..100).map(|number| format!("/usr/share/{number}")).collect();
        let mut traced: Vec<&str> = strangers.iter().map(String::as_str).collect();
        traced.push("/usr/lib/__init__.py");
        assert_eq!(guess(["__init__.py", "main.py"], &traced), None);
        assert_eq!(guess([], &["/a"]), None);
        assert_eq!(guess(["a"], &[]), None);
    }

    #[test]
    fn what_was_guessed_leads_to_the_names() {
        for (name, traced) in
            [("a/b/c", "/x/b/c"), ("c", "/x/y/c"), ("a/b", "b"), ("a/b", "/a/b"), ("b", "b")]
        {
            let roots = Roots::new(guess([name], &[traced]).into_iter().collect());
            assert_eq!(roots.apply(traced), name, "{traced}: {roots:?}");
        }
    }
}
