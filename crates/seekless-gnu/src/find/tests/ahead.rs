//! Looking ahead changes nothing in find's output.

use super::{compare, is_gnu, ours, words};
use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A tree large enough for helper threads to start.
fn broad(root: &Path) -> std::io::Result<()> {
    for number in 0..60 {
        let folder = root.join(format!("{number}/in"));
        std::fs::create_dir_all(&folder)?;
        for file in 0..30 {
            std::fs::write(folder.join(format!("{file}.txt")), vec![b'x'; file * number])?;
        }
        symlink(folder, root.join(format!("{number}/link")))?;
    }
    (0..700)
        .try_for_each(|number| std::fs::write(root.join(format!("f{number}")), vec![b'x'; number]))
}

#[test]
fn looking_ahead_changes_no_answer() {
    if !is_gnu() {
        return;
    }
    let folder = tempfile::tempdir().expect("room");
    broad(folder.path()).expect("a tree");
    for (leading, expression) in [
        ("", "-size +1"),
        ("", "-size 0 -print0 , -type f -links 1 -printf %s|%p\\n"),
        ("-L", "-size +1 -printf %p|%y|%s\\n"),
        ("", "-depth -size +1 -printf %p|%y|%i\\n"),
        ("", "-name in -prune -o -size +1 -print"),
        ("", "-path */3*/in -size +0 -prune -o -size +1 -print"),
        ("", "-mindepth 2 -maxdepth 2 -size +1 -printf %p|%y\\n"),
        ("", "-xdev -name 2*.txt -size +0 -ls"),
        ("", "-size +1 -name f6* -quit"),
        ("", "-newer /proc/version -size -3 -exec true {} +"),
    ] {
        let mut arguments = words(leading);
        arguments.push(folder.path().into());
        arguments.extend(words(expression));
        if expression.contains("-exec") {
            let (_, messages, well) = ours(&arguments);
            assert!(well, "{messages}");
            continue;
        }
        compare(&arguments);
    }
}

#[test]
fn a_folder_whose_files_were_all_seen_to_fail_ends_a_command_of_many_files() {
    if !is_gnu() {
        return;
    }
    let folder = tempfile::tempdir().expect("room");
    // Between two files that pass lies a folder, in which none does.
    for number in 0..60 {
        let inner = folder.path().join(format!("{number}"));
        std::fs::create_dir(&inner).expect("made");
        (0..9).for_each(|file| std::fs::write(inner.join(format!("{file}")), "").expect("room"));
        std::fs::write(folder.path().join(format!("{number}.txt")), "x").expect("room");
    }
    for number in 0..60 {
        std::fs::write(folder.path().join(format!("{number}.later")), "x").expect("room");
    }
    let mut arguments: Vec<OsString> = vec![folder.path().into()];
    // The lines are written by commands, so they come through a file.
    arguments.extend(words("-type f -size 1 -execdir sh -c"));
    let list = folder.path().with_extension("list");
    let command = format!("echo \"$@\" >> {}", list.display());
    arguments.extend([command.into(), "sh".into(), "{}".into(), "+".into()]);
    let lines = || {
        let lines = std::fs::read_to_string(&list).expect("written");
        std::fs::remove_file(&list).expect("removed");
        lines
    };
    super::gnus(&arguments).expect("GNU find is there");
    let expected = lines();
    let (_, messages, well) = ours(&arguments);
    assert!(well, "{messages}");
    assert_eq!(lines(), expected);
    assert!(expected.lines().count() > 1, "{expected}");
}

#[test]
fn what_a_command_removes_is_not_shown_although_it_was_seen() {
    let folder = tempfile::tempdir().expect("room");
    broad(folder.path()).expect("a tree");
    let mut arguments: Vec<OsString> = vec![folder.path().into()];
    arguments.extend(words("-type f -size -9 -print -exec sh -c"));
    // A word of 100 KB limits each command to some hundred files. The first command removes the
    // files of all others.
    let remove = format!("rm -rf {}/*/in # {}", folder.path().display(), "x".repeat(100_000));
    arguments.extend([remove.into(), "{}".into(), "+".into()]);
    let (out, messages, _) = ours(&arguments);
    let shown = out.split(|&byte| byte == b'\n').filter(|path| path.ends_with(b".txt")).count();
    assert!((1..1000).contains(&shown), "{shown} of 1800");
    assert!(messages.lines().all(|line| line.ends_with("No such file or directory")), "{messages}");
}
