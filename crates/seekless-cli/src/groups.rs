//! The verbs in groups, by what a user wants, as the help shows them.

use clap::Command;
use std::fmt::Write as _;

/// Each group, and its verbs. Every verb that is shown is in one.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Find out", &["advise", "record", "trace", "sim", "sleds", "doctor", "probe", "devices"]),
    ("Start faster", &["run", "warm", "cool", "layout", "mount", "profiles", "export"]),
    ("Pack and load", &["order", "pack", "compare", "replay"]),
    ("Scan", &["wc", "grep", "find", "fits"]),
    ("Try", &["tour", "synth"]),
    ("Set up", &["completions"]),
];

/// What `seekless` alone prints.
pub(crate) fn welcome() -> String {
    let mut text = "\
Seekless finds out what a program reads, and makes those reads cheap.

Begin with a program that starts slowly:

  seekless advise -- YOUR PROGRAM

"
    .to_owned();
    for (group, verbs) in GROUPS.iter().filter(|(group, _)| *group != "Set up") {
        let _ = writeln!(text, "  {group:<14} {}", verbs.join(", "));
    }
    text + "\n`seekless --help` says what each does, `seekless VERB --help` how.\n"
}

/// The command with its verbs in groups in its help.
pub(crate) fn in_help(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\
         Options:\n{{options}}\n\n\
         `seekless VERB --help` has the options of a verb, with examples.\n",
        listed(&command)
    );
    command.help_template(template)
}

/// All groups, each verb with what it does.
fn listed(command: &Command) -> String {
    let mut text = String::new();
    for (group, verbs) in GROUPS {
        let _ = writeln!(text, "{group}:");
        for verb in verbs {
            let about = command.find_subcommand(verb).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {verb:<11}  {}", about.trim_end_matches('.'));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_verb_is_in_one_group_and_says_what_it_does() {
        let whole = crate::whole();
        let shown = whole.get_subcommands().filter(|verb| !verb.is_hide_set());
        let shown: BTreeSet<&str> = shown.map(Command::get_name).collect();
        let grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        assert_eq!(grouped.len(), shown.len(), "no verb twice");
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), shown);
        assert!(listed(&whole).lines().all(|line| !line.starts_with("  ") || line.len() > 18));
    }

    #[test]
    fn the_welcome_is_short_and_names_the_first_verb() {
        let text = welcome();
        assert!(text.lines().count() <= 14, "{text}");
        assert!(text.contains("seekless advise -- "));
    }
}
