use super::*;
use seekless_trace::{Access, Metadata, Op, Writer, escape_path};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

/// A trace: for each run the reads of files, as path, offset and bytes.
fn trace(folder: &Path, runs: &[&[(&str, i64, u64)]]) -> PathBuf {
    let path = folder.join("runs.parquet");
    let mut writer = Writer::create(&path, Metadata::default()).unwrap();
    for (run, reads) in (0..).zip(runs) {
        for (time_ns, &(name, offset, bytes)) in (0..).zip(*reads) {
            let file = writer.file(&escape_path(name.as_bytes()));
            let file_bytes = Some(40_960);
            let read =
                Access { run, time_ns, offset, bytes, file_bytes, ..Access::new(Op::Read, file) };
            writer.push(read).unwrap();
        }
    }
    writer.finish().unwrap();
    path
}

fn unchecked(format: Format) -> Options {
    Options { unchecked: true, ..Options::new(format) }
}

/// The list of one trace, and what the report says of it.
fn listed(trace: &Path, options: &Options) -> Result<(Vec<u8>, Exported)> {
    let folder = tempfile::tempdir().unwrap();
    let out = Destination::new(folder.path().join("list"));
    let exported = export(&[trace.to_owned()], Some(&out), options, &mut |_, _| {})?;
    Ok((fs::read(out.path()).unwrap(), exported))
}

fn text(trace: &Path, options: &Options) -> String {
    String::from_utf8(listed(trace, options).unwrap().0).unwrap()
}

/// The second run reads two files of the first, and another one.
const RUNS: [&[(&str, i64, u64)]; 2] = [
    &[("/srv/bin/app", 0, 40_960), ("/srv/lib/a b.so", 8_192, 100), ("/srv/old", 0, 1)],
    &[
        ("/srv/new", 0, 5_000),
        ("/srv/bin/app", 0, 40_960),
        ("/srv/lib/a b.so", 0, 1),
        ("/srv/lib/a b.so", 8_192, 100),
        ("/etc/passwd", 0, 1),
    ],
];

#[test]
fn each_format_is_as_its_tool_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace(folder.path(), &RUNS);
    let root = Root { old: "/srv".into(), new: "/jfs".into() };
    let all = |format| text(&trace, &Options { root: root.clone(), ..unchecked(format) });
    assert_eq!(
        all(Format::Estargz),
        "{\"path\":\"bin/app\"}\n{\"path\":\"lib/a b.so\"}\n{\"path\":\"new\"}\n{\"path\":\"old\"}\n"
    );
    assert_eq!(
        all(Format::Nydus),
        "{\"version\":\"v1\",\"files\":[\n\
         {\"path\":\"/bin/app\"},\n\
         {\"path\":\"/lib/a b.so\",\"ranges\":[[0,4096],[8192,4096]]},\n\
         {\"path\":\"/new\",\"ranges\":[[0,8192]]},\n\
         {\"path\":\"/old\",\"ranges\":[[0,4096]]}\n]}\n"
    );
    assert_eq!(all(Format::NydusPatterns), "/bin/app\n/lib/a b.so\n/new\n/old\n");
    assert_eq!(all(Format::Soci), "[\n\"bin/app\",\n\"lib/a b.so\",\n\"new\",\n\"old\"\n]\n");
    assert_eq!(
        all(Format::Juicefs),
        "/jfs/bin/app [0-40960]\n/jfs/lib/a b.so [0-4096;8192-12288]\n/jfs/new [0-8192]\n\
         /jfs/old [0-4096]\n"
    );
    assert_eq!(
        all(Format::CvmfsBundle),
        "{\n  \"name\": \"CVMFS_BUNDLE\",\n  \"version\": \"1.0.0\",\n  \"encoding\": \"UTF-8\",\n  \
         \"dependencies\": [\n    \"/lib/a b.so\",\n    \"/new\",\n    \"/old\"\n  ]\n}\n"
    );
    assert_eq!(all(Format::Dwarfs), "bin/app\nlib/a b.so\nnew\nold\n");
    assert_eq!(
        all(Format::SquashfsSort),
        "new 32767\nbin/app 32766\nlib/a\\ b.so 32765\nold 32764\n",
        "a layout, in the order of need"
    );
    assert_eq!(
        all(Format::Unreal),
        "\"../../../bin/app\" 1\n\"../../../lib/a b.so\" 2\n\"../../../new\" 3\n\
         \"../../../old\" 4\n"
    );
    assert_eq!(all(Format::Vmtouch), "/jfs/bin/app\n/jfs/lib/a b.so\n/jfs/new\n/jfs/old\n");
}

#[test]
fn the_order_may_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace(folder.path(), &RUNS);
    let root = Root { old: "/srv".into(), new: "/srv".into() };
    let by = |order| {
        let options = Options { root: root.clone(), order, ..unchecked(Format::Dwarfs) };
        text(&trace, &options)
    };
    assert_eq!(by(Some(Order::Need)), "new\nbin/app\nlib/a b.so\nold\n");
    assert_eq!(by(Some(Order::Runs)), "bin/app\nlib/a b.so\nnew\nold\n");
    assert_eq!(by(None), by(Some(Order::Runs)));
}

#[test]
fn the_budget_and_the_number_of_runs_cut_the_end_of_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace(folder.path(), &RUNS);
    let root = Root { old: "/srv".into(), new: "/srv".into() };
    let options = Options { root, ..unchecked(Format::Juicefs) };
    let (_, all) = listed(&trace, &options).unwrap();
    assert_eq!((all.runs, all.files, all.bytes), (2, 4, 40_960 + 8_192 + 8_192 + 4_096));
    assert_eq!(all.left_out, [("outside of the root", 1)].into());
    let few = Options { budget_bytes: Some(49_200), ..options.clone() };
    let (list, few) = listed(&trace, &few).unwrap();
    assert_eq!(String::from_utf8(list).unwrap().lines().count(), 2);
    assert_eq!((few.files, few.bytes, few.left_out["over the budget"]), (2, 49_152, 2));
    let both = Options { min_runs: 2, format: Format::Dwarfs, ..options.clone() };
    let (list, both) = listed(&trace, &both).unwrap();
    assert_eq!(list, b"bin/app\nlib/a b.so\n");
    assert_eq!((both.bytes, both.needed_bytes), (2 * 40_960, 40_960 + 8_192));
    assert_eq!(both.left_out["needed by too few runs"], 2);
    let none = Options { budget_bytes: Some(1), ..options };
    let error = listed(&trace, &none).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing);
    assert!(error.to_string().contains("runs.parquet names nothing to list below /srv"), "{error}");
}

#[test]
fn names_that_a_format_cannot_carry_are_counted_and_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let names =
        ["/ok", "/two\nlines", "/blank ", "/quo\"te", "/back\\slash", "/#hash", "/dir/*", "/../up"];
    let reads: Vec<(&str, i64, u64)> = names.iter().map(|name| (*name, 0, 1)).collect();
    let trace = trace(folder.path(), &[&reads]);
    let left = |format| {
        let (list, exported) = listed(&trace, &unchecked(format)).unwrap();
        assert_eq!(exported.files + exported.left_out.values().sum::<u64>(), 8, "{format:?}");
        (list.split(|byte| *byte == b'\n').count() - 1, exported.left_out)
    };
    let up = ("not a plain path", 1);
    let broken = ("with a line break in the name", 1);
    let blank = ("with white space around the name", 1);
    assert_eq!(left(Format::Estargz), (7, [up].into()), "JSON carries line breaks");
    assert_eq!(left(Format::Dwarfs), (6, [up, broken].into()));
    assert_eq!(left(Format::NydusPatterns), (5, [up, broken, blank].into()));
    assert_eq!(left(Format::Unreal).1["with a quote in the name"], 1);
    assert_eq!(left(Format::SquashfsSort).1["with a star as the name"], 1);
    let sorted = text(&trace, &unchecked(Format::SquashfsSort));
    assert!(sorted.contains("blank\\  3276") && sorted.contains("back\\\\slash 3276"), "{sorted}");
    assert!(sorted.contains("\n\\#hash 3276"), "{sorted}");
}

#[test]
fn more_files_than_priorities_share_them_in_order() {
    let listed: Vec<Listed> = (0..70_000)
        .map(|file| Listed {
            name: format!("{file}").into_bytes(),
            path: PathBuf::new(),
            file_bytes: 1,
            ranges: Vec::new(),
            runs: 1,
            file,
        })
        .collect();
    let mut out = Vec::new();
    forms::squashfs::write(&listed, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let priorities: Vec<i32> =
        text.lines().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    assert!(priorities.is_sorted_by(|one, other| one >= other));
    assert!(priorities[0] == 32_767 && *priorities.last().unwrap() > 0);
}

#[test]
fn a_list_is_scored_on_runs_that_it_was_not_made_from() {
    let folder = tempfile::tempdir().unwrap();
    let runs: [&[(&str, i64, u64)]; 3] =
        [&[("/a", 0, 4096), ("/b", 0, 4096)], &[("/a", 0, 8192)], &[("/a", 0, 4096), ("/b", 0, 1)]];
    let trace = trace(folder.path(), &runs);
    let options = Options { score: true, ..unchecked(Format::Nydus) };
    let score = listed(&trace, &options).unwrap().1.score.unwrap();
    let row = |run, needed_bytes, covered_bytes, listed_bytes| HeldOut {
        run,
        needed_bytes,
        covered_bytes,
        listed_bytes,
        vain_bytes: listed_bytes - covered_bytes,
    };
    assert_eq!(
        score.held_out,
        [row(0, 8192, 8192, 12_288), row(1, 8192, 4096, 8192), row(2, 8192, 8192, 12_288)]
    );
    // Of one run: the lists of 2, 2 and 1 cover 8192, 4096 and 4096 of 8192 bytes each.
    assert_eq!(
        score.learned[0],
        Learned {
            runs: 1,
            covered: 16_384.0 / 24_576.0,
            listed_bytes: 8192,
            vain_bytes: (4096 + 4096) / 3
        }
    );
    assert_eq!((score.learned.len(), score.learned[1].covered), (2, 20_480.0 / 24_576.0));
    // Whole files cover more, and bring more in vain.
    let whole = Options { score: true, ..unchecked(Format::Dwarfs) };
    let score = listed(&trace, &whole).unwrap().1.score.unwrap();
    assert_eq!(score.held_out[1], row(1, 8192, 8192, 2 * 40_960));
    let other = tempfile::tempdir().unwrap();
    let one = tests::trace(other.path(), &RUNS[..1]);
    let error = listed(&one, &options).unwrap_err();
    assert!(error.to_string().contains("at least two runs"), "{error}");
}

/// A folder with files, and a trace that reads some of them from the last to the first.
fn tree() -> (tempfile::TempDir, PathBuf, Vec<&'static str>) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("root");
    let names = ["a", "b c", "back\\slash", "#hash", "sub/deep/d", "z"];
    for name in names {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Contents differ, or mksquashfs would keep one of them.
        fs::write(path, name.repeat(40_960).as_bytes().split_at(40_960).0).unwrap();
    }
    fs::create_dir(root.join("none")).unwrap();
    std::os::unix::fs::symlink("sub/deep/d", root.join("link")).unwrap();
    fs::hard_link(root.join("a"), root.join("zz again")).unwrap();
    let wanted = ["z", "#hash", "link", "back\\slash", "b c"];
    let paths: Vec<String> = wanted.iter().map(|name| format!("/seen/{name}")).collect();
    let mut reads: Vec<(&str, i64, u64)> = paths.iter().map(|path| (path.as_str(), 0, 9)).collect();
    reads.push(("/seen/gone", 0, 9));
    reads.push(("/seen/sub", 0, 9));
    trace(folder.path(), &[&reads]);
    (folder, root, vec!["z", "#hash", "sub/deep/d", "back\\slash", "b c"])
}

fn below(root: &Path, format: Format) -> Options {
    let new = root.to_str().unwrap().to_owned();
    Options { root: Root { old: "/seen".into(), new }, ..Options::new(format) }
}

#[test]
fn files_are_looked_for_where_they_lie_and_links_are_followed() {
    let (folder, root, order) = tree();
    let (list, exported) =
        listed(&folder.path().join("runs.parquet"), &below(&root, Format::Dwarfs)).unwrap();
    assert_eq!(String::from_utf8(list).unwrap().lines().collect::<Vec<_>>(), order);
    let gone = [("no longer there", 1), ("not a regular file", 1)];
    assert_eq!((exported.bytes, exported.left_out), (5 * 40_960, gone.into()));
    // Ranges of a file that has changed are no longer true.
    fs::write(root.join("z"), "short").unwrap();
    let (_, exported) =
        listed(&folder.path().join("runs.parquet"), &below(&root, Format::Nydus)).unwrap();
    assert_eq!((exported.files, exported.left_out["of another size than traced"]), (4, 1));
}

/// Runs a program on files of the folder; `None` if it is not here.
fn ran(folder: &Path, program: &str, words: &[&str]) -> Option<String> {
    let output = match Command::new(program).args(words).current_dir(folder).output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: {program} cannot be run here ({error})");
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{program}: {said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(said)
}

fn export_to(folder: &Path, root: &Path, format: Format, name: &str) -> Exported {
    let out = Destination::new(folder.join(name));
    let trace = folder.join("runs.parquet");
    export(&[trace], Some(&out), &below(root, format), &mut |_, _| {}).unwrap()
}

#[test]
fn mksquashfs_writes_the_files_in_the_order_of_the_list() {
    let (folder, root, order) = tree();
    export_to(folder.path(), &root, Format::SquashfsSort, "sort.txt");
    let words = ["root", "image", "-sort", "sort.txt", "-info", "-no-progress", "-processors", "1"];
    let Some(said) = ran(folder.path(), "mksquashfs", &words) else { return };
    let written: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("file root/")?.split_once(", uncompressed"))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(written[..order.len()], order, "{said}");
    assert_eq!(written.len(), 7, "{said}");
}

/// By containerd's own library, in a program that `./test` builds from `tests/estargz`.
#[test]
fn an_estargz_holds_the_listed_files_first_in_order_and_then_its_landmark() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/estargz");
    if !Path::new(program).exists() {
        println!("skipped: no Go to build tests/estargz with");
        return;
    }
    let (folder, root, order) = tree();
    export_to(folder.path(), &root, Format::Estargz, "record-in");
    ran(folder.path(), "tar", &["-C", "root", "--sort=name", "-cf", "layer.tar", "."]);
    let said = ran(folder.path(), program, &["layer.tar", "record-in"]).unwrap();
    let files = said.lines().filter(|name| !name.ends_with('/'));
    let names: Vec<&str> = files.map(|name| name.trim_start_matches("./")).collect();
    assert_eq!(names[..order.len()], order, "{said}");
    assert_eq!(names[order.len()], ".prefetch.landmark", "{said}");
    assert!(names.contains(&"a") && names.last() == Some(&"stargz.index.json"), "{said}");
}

#[test]
fn vmtouch_reads_the_list() {
    let (folder, root, _) = tree();
    export_to(folder.path(), &root, Format::Vmtouch, "list.txt");
    let Some(said) = ran(folder.path(), "vmtouch", &["-t", "-b", "list.txt"]) else { return };
    assert!(said.contains("Files: 5") && said.contains("Touched Pages: 50"), "{said}");
}

#[test]
fn a_tar_holds_the_listed_files_in_order_and_is_always_the_same() {
    let (folder, root, order) = tree();
    let exported = export_to(folder.path(), &root, Format::Tar, "shard.tar");
    assert_eq!((exported.files, exported.bytes), (5, 5 * 40_960));
    let mut names = Vec::new();
    let bytes = fs::read(folder.path().join("shard.tar")).unwrap();
    for entry in tar::Archive::new(&bytes[..]).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().into_owned();
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut content).unwrap();
        assert_eq!(content, fs::read(root.join(&name)).unwrap());
        names.push(name.as_os_str().as_bytes().to_vec());
    }
    let expected: Vec<Vec<u8>> = order.iter().map(|name| name.as_bytes().to_vec()).collect();
    assert_eq!(names, expected);
    export_to(folder.path(), &root, Format::Tar, "again.tar");
    assert_eq!(fs::read(folder.path().join("again.tar")).unwrap(), bytes);
    ran(folder.path(), "tar", &["--compare", "--file=shard.tar", "--directory=root"]);
}

#[test]
fn the_tar_for_erofs_holds_the_whole_root() {
    let (folder, root, order) = tree();
    export_to(folder.path(), &root, Format::Erofs, "root.tar");
    let bytes = fs::read(folder.path().join("root.tar")).unwrap();
    let mut archive = tar::Archive::new(&bytes[..]);
    let names: Vec<(String, tar::EntryType)> = archive
        .entries()
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
            (name, entry.header().entry_type())
        })
        .collect();
    let kinds = |kind| names.iter().filter(|(_, found)| *found == kind).count();
    assert_eq!((kinds(tar::EntryType::Directory), kinds(tar::EntryType::Regular)), (3, 6));
    assert_eq!((kinds(tar::EntryType::Symlink), kinds(tar::EntryType::Link)), (1, 1));
    let regular: Vec<&str> = names
        .iter()
        .filter(|(_, kind)| *kind == tar::EntryType::Regular)
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(regular[..5], order);
    ran(folder.path(), "tar", &["--compare", "--file=root.tar", "--directory=root"]);
}

#[test]
fn another_name_of_a_file_takes_nothing_of_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for name in ["a", "z"] {
        fs::write(root.join(name), vec![7; 8192]).unwrap();
    }
    fs::hard_link(root.join("a"), root.join("b")).unwrap();
    let path = |name: &str| root.join(name).display().to_string();
    let names = ["a", "b", "z"].map(path);
    let rows: Vec<(&str, i64, u64)> = names.iter().map(|name| (&name[..], 0, 8192)).collect();
    let trace = trace(folder.path(), &[&rows]);
    let options = Options {
        root: Root { old: root.display().to_string(), new: root.display().to_string() },
        unchecked: false,
        budget_bytes: Some(2 * 8192),
        ..unchecked(Format::Vmtouch)
    };
    let expected: String = names.iter().map(|name| format!("{name}\n")).collect();
    assert_eq!(text(&trace, &options), expected);
}
