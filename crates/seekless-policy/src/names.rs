//! Which names are most like one that is unknown: what an error offers instead.

/// How many names are offered.
const OFFERED: usize = 3;

/// The names most similar to `wrong`, the most similar first.
pub(crate) fn nearest(wrong: &str, names: &[&'static str]) -> Vec<&'static str> {
    let plain =
        |name: &str| -> String { name.chars().filter(char::is_ascii_alphanumeric).collect() };
    let wrong = plain(&wrong.to_lowercase());
    let likeness = |name: &str| {
        let name = plain(name);
        let longer = name.len().max(wrong.len()).max(1) as f64;
        let apart = strsim::damerau_levenshtein(&wrong, &name) as f64 / longer;
        // A part of a name is nearer than another name of its length.
        if name.contains(&wrong) { apart / 2.0 } else { apart }
    };
    let mut ranked: Vec<(f64, &str)> = names.iter().map(|name| (likeness(name), *name)).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranked.into_iter().take(OFFERED).map(|(_, name)| name).collect()
}
