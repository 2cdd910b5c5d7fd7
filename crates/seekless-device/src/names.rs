//! Which known names an unknown one was meant for: what an error offers instead.

/// How many names are offered.
const OFFERED: usize = 3;
/// A name is near if at most one character in this many differs.
const CHARACTERS_PER_ERROR: usize = 3;
/// A word of at least this length may stand for a longer name that contains it.
const PART_CHARACTERS: usize = 3;

/// The names that `wrong` may have been meant for, the nearest first: at most three, perhaps none.
///
/// Case and punctuation do not count. A name is near if it holds `wrong`, or if at most a third of
/// its characters, or of those of `wrong` if that is longer, differ (Damerau-Levenshtein distance).
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let plain = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
    };
    let wrong = plain(wrong);
    let near = |name: &'a str| {
        let known = plain(name);
        let longer = known.len().max(wrong.len());
        let apart = strsim::damerau_levenshtein(&wrong, &known);
        let is_part = wrong.len() >= PART_CHARACTERS && known.contains(&wrong);
        // A part of a name is nearer than another name of its length.
        let likeness = (apart as f64 / longer.max(1) as f64) / if is_part { 2.0 } else { 1.0 };
        (is_part || apart * CHARACTERS_PER_ERROR <= longer).then_some((likeness, name))
    };
    let mut near: Vec<(f64, &str)> = names.into_iter().filter_map(near).collect();
    near.sort_by(|one, next| one.0.total_cmp(&next.0));
    near.truncate(OFFERED);
    near.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 7] = ["lru", "lru-2", "w-tinylfu", "s3-fifo", "fifo", "landlord", "850evo"];

    #[test]
    fn what_was_meant_comes_first() {
        for (wrong, meant) in [
            ("lur", "lru"),
            ("LRU", "lru"),
            ("tinylfu", "w-tinylfu"),
            ("s3fifo", "s3-fifo"),
            ("landlrod", "landlord"),
            ("land", "landlord"),
            ("850-evo", "850evo"),
        ] {
            assert_eq!(nearest(wrong, NAMES).first(), Some(&meant), "{wrong}");
        }
    }

    #[test]
    fn only_near_names_are_offered() {
        assert_eq!(nearest("landlor", NAMES), ["landlord"]);
        for wrong in ["", "-", "something else entirely", "xyz", "o"] {
            assert_eq!(nearest(wrong, NAMES), [""; 0], "{wrong}");
        }
        assert_eq!(nearest("lru", ["lru-2", "lru-3", "lru-4", "lru-5"]).len(), OFFERED);
    }
}
