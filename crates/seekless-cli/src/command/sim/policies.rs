//! The names of policies: listed by family, and read from `--policy`.

use clap::builder::PossibleValuesParser;
use seekless::policy::eviction::{
    About, Family, NAMES, POLICIES, Parameter, TUNABLE, nearest, needs_of, split_names,
};

/// All families, for `--policies`.
pub(super) const ALL: &str = "all";

/// A family, or all of them.
pub(super) fn family() -> PossibleValuesParser {
    PossibleValuesParser::new(Family::ALL.map(Family::name).into_iter().chain([ALL]))
}

/// The policies that `--policy` names.
#[derive(Clone, Debug)]
pub(crate) struct Names(Vec<String>);

impl Names {
    pub(super) fn each(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// What `--policies` prints: all, with their parameters, or one family.
pub(super) fn list(family: &str) -> String {
    match Family::named(family) {
        Some(one) => lines("  ", Some(one)),
        None => format!("{}\nParameters:\n{}", lines("  ", None), parameters()),
    }
}

/// The same for the long help, in its width.
pub(super) fn help() -> String {
    format!(
        "Policies, by family:\n{}\nParameters of policies:\n{}",
        lines("\n", None),
        parameters()
    )
}

/// Each policy, its description and its source, by family; or those of one family. They stand on
/// one line, or on two if `between` is a line feed, to fit the width of the help.
fn lines(between: &str, one: Option<Family>) -> String {
    let width = |of: fn(&About) -> &str| {
        POLICIES.iter().map(|about| of(about).chars().count()).max().unwrap_or(0)
    };
    let (names, whats) = (width(|about| about.name), width(|about| about.what));
    let source = |about: &About| match between {
        "\n" => format!("\n  {:names$}  {}", "", about.source),
        _ => format!(
            "{:pad$}{between}{}",
            "",
            about.source,
            pad = whats - about.what.chars().count()
        ),
    };
    let line =
        |about: &About| format!("  {:names$}  {}{}\n", about.name, about.what, source(about));
    let section = |family: Family| {
        let of_family = POLICIES.iter().filter(|about| about.family == family);
        format!("{}: {}\n{}", family.name(), family.what(), of_family.map(line).collect::<String>())
    };
    let shown = Family::ALL.into_iter().filter(|&family| one.is_none_or(|one| one == family));
    shown.map(section).collect::<Vec<_>>().join("\n")
}

/// The parameters of policies, each with its default.
fn parameters() -> String {
    let line = |(policy, parameters): &(&str, &[Parameter])| {
        let of = |one: &Parameter| format!("{}={} ({})", one.name, one.default, one.what);
        format!("  {policy}: {}\n", parameters.iter().map(of).collect::<Vec<_>>().join(", "))
    };
    TUNABLE.iter().map(line).collect()
}

/// Checks the names of policies and their parameters.
pub(super) fn names(list: &str) -> Result<Names, String> {
    split_names(list).into_iter().map(policy_name).collect::<Result<_, _>>().map(Names)
}

/// Checks a policy's name. The error names the most similar policies.
fn policy_name(name: String) -> Result<String, String> {
    if NAMES.contains(&name.as_str()) {
        return Ok(name);
    }
    let plain = name.split(':').next().unwrap_or_default();
    if NAMES.contains(&plain) {
        return needs_of(&name).map(|_| name).map_err(|error| error.to_string());
    }
    let meant = match nearest(plain) {
        near if near.is_empty() => ";".to_owned(),
        near => format!("; did you mean {}?", near.join(", ")),
    };
    Err(format!("no policy has this name{meant} `seekless sim --policies` lists all"))
}
