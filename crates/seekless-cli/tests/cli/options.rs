//! Options mean the same in all verbs; names that they had before still work, and are not shown.

use super::{printed, run, workplace};
use clap::{Arg, Command};
use seekless_cli::whole;
use std::collections::BTreeMap;
use std::fs;

/// Verbs with the options of the tools that they are named after.
const STAND_INS: [&str; 3] = ["wc", "grep", "find"];

const RUN: &str = "time_s,path,size\n0.5,art/wall.dds,30000\n0.75,b,10\n1,art/wall.dds,30000\n";

/// Each option that a help shows, with its verb.
fn shown() -> Vec<(String, Arg)> {
    fn below(command: &Command, verb: &str, all: &mut Vec<(String, Arg)>) {
        let visible = command.get_opts().filter(|option| !option.is_hide_set());
        all.extend(visible.map(|option| (verb.to_owned(), option.clone())));
        let verbs = command.get_subcommands().filter(|verb| !STAND_INS.contains(&verb.get_name()));
        verbs.for_each(|next| below(next, &format!("{verb} {}", next.get_name()), all));
    }
    let mut all = Vec::new();
    below(&whole(), "", &mut all);
    assert!(all.len() > 100, "the options of all verbs: {}", all.len());
    all
}

#[test]
fn a_letter_stands_for_one_word_in_all_verbs() {
    let mut words: BTreeMap<char, (String, String)> = BTreeMap::new();
    for (verb, option) in shown() {
        let (Some(letter), Some(word)) = (option.get_short(), option.get_long()) else { continue };
        let (first, named) = words.entry(letter).or_insert((verb.clone(), word.to_owned()));
        assert_eq!(word, named, "-{letter} of`{verb}`, and of`{first}`");
    }
    assert_eq!(words[&'f'].1, "force");
}

#[test]
fn a_device_is_named_alike_and_former_names_are_not_shown() {
    let mut devices = 0;
    for (verb, option) in shown() {
        let mut words: Vec<&str> = option.get_long().into_iter().collect();
        words.extend(option.get_visible_aliases().unwrap_or_default());
        let former = words.iter().find(|word| ["plot", "repeat"].contains(word));
        assert_eq!(former, None, "`seekless{verb}`");
        if words.contains(&"device") {
            devices += 1;
            let value = option.get_value_names().expect("a device has a name");
            assert_eq!(value, ["DEVICE"], "`seekless{verb}`");
        }
    }
    assert!(devices > 5, "{devices} verbs take a device");
}

#[test]
fn options_work_by_their_former_names() {
    let folder = workplace();
    let path = folder.path();
    fs::write(path.join("run.csv"), RUN).unwrap();
    printed(path, "synth run.csv data");
    printed(path, "pack data -o data.zip");
    let device = "--device iops=500,bandwidth=150MB/s --json";
    for (former, today) in [
        (
            format!("sim --pack data.zip --trace run.csv {device}"),
            format!("sim run.csv --pack data.zip {device}"),
        ),
        (
            "export run.csv -f dwarfs --unchecked".to_owned(),
            "export run.csv --format dwarfs --unchecked".to_owned(),
        ),
    ] {
        assert_eq!(printed(path, &former), printed(path, &today), "{former}");
    }
    printed(path, "sim run.csv --plot former.svg");
    printed(path, "sim run.csv --picture today.svg");
    let drawn = |name| fs::read_to_string(path.join(name)).unwrap();
    assert_eq!(drawn("former.svg"), drawn("today.svg"));

    fs::write(path.join("blocks.txt"), "r 0\nr 8\n").unwrap();
    fs::write(path.join("target.bin"), [7; 1 << 16]).unwrap();
    let played = printed(path, "replay blocks.txt --on target.bin --repeat 3 --json");
    let report: serde_json::Value = serde_json::from_str(&played).unwrap();
    assert_eq!(report["real"]["rounds_ns"].as_array().unwrap().len(), 3);

    let refused = run(path, "replay blocks.txt --rounds 2 --device iops=500,bandwidth=150MB/s");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--rounds is for a real target"));
}
