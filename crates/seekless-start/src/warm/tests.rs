use super::*;
use seekless_trace::{Access, Metadata, Op, Writer};
use std::fs::File;
use std::os::fd::AsFd;

const MIB: u64 = 1 << 20;

/// Costs at which a gap of 64 KiB is worth reading.
fn costs() -> Option<Costs> {
    Some(Costs { request_ns: 1_000_000, bytes_per_second: 65_536_000, depth: 8 })
}

/// A file of 4 MiB that is not cached, and a trace that needs parts of it.
struct Sample {
    folder: tempfile::TempDir,
    file: PathBuf,
    trace: PathBuf,
}

fn sample(rows: &[(Op, i64, u64)]) -> Sample {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let (file, trace) = (folder.path().join("data"), folder.path().join("run.parquet"));
    std::fs::write(&file, vec![b'.'; 4 * MIB as usize]).unwrap();
    let open = File::open(&file).unwrap();
    open.sync_all().unwrap();
    seekless_sys::residency::drop_cached(open.as_fd()).unwrap();
    let mut writer = Writer::create(&trace, Metadata::default()).unwrap();
    let number = writer.file(file.to_str().unwrap());
    for (time_ns, &(op, offset, bytes)) in (0..).zip(rows) {
        let access = Access { time_ns, offset, bytes, ..Access::new(op, number) };
        writer.push(Access { file_bytes: Some(4 * MIB), ..access }).unwrap();
    }
    writer.finish().unwrap();
    Sample { folder, file, trace }
}

fn cached(path: &Path) -> Option<u64> {
    seekless_sys::residency::resident_bytes(File::open(path).unwrap().as_fd()).unwrap()
}

#[test]
fn only_what_the_run_needed_comes_in_with_small_gaps() {
    let sample = sample(&[
        (Op::Read, 3 * MIB as i64, 4096),
        (Op::Fault, 0, 65_536),
        (Op::Read, 100_000, 100), // the gap before it is smaller than 64 KiB
    ]);
    let options = Options { costs: costs(), ..Options::default() };
    let dry = Options { dry_run: true, ..options.clone() };
    let expected = warm(std::slice::from_ref(&sample.trace), &dry, &mut |_, _| {}).unwrap().0;
    assert_eq!((expected.files, expected.needed_bytes), (1, 65_536 + 2 * 4096));
    // Byte 100,000 lies in the page that ends at 102,400.
    assert_eq!((expected.asked_bytes, expected.requests), (102_400 + 4096, 2));
    assert_eq!(cached(&sample.file), Some(0), "a dry run reads nothing");
    let warmed = warm(std::slice::from_ref(&sample.trace), &options, &mut |_, _| {}).unwrap().0;
    assert_eq!(Warmed { seconds: 0.0, ..warmed }, expected);
    assert_eq!(cached(&sample.file), Some(102_400 + 4096));
    let again = warm(std::slice::from_ref(&sample.trace), &options, &mut |_, _| {}).unwrap().0;
    assert_eq!((again.requests, again.cached_bytes), (0, Some(102_400 + 4096)));
}

/// As `git status` is: it looks at files and reads none.
#[test]
fn a_run_that_looked_at_names_alone_has_them_looked_up() {
    let sample = sample(&[(Op::Stat, 0, 0), (Op::Open, 0, 0)]);
    let options = Options { costs: costs(), ..Options::default() };
    let warmed = warm(std::slice::from_ref(&sample.trace), &options, &mut |_, _| {}).unwrap().0;
    assert_eq!((warmed.names, warmed.files, warmed.requests), (1, 0, 0));
    assert_eq!(cached(&sample.file), Some(0), "nothing is read");
    let listed = sample.folder.path().join("list");
    std::fs::write(&listed, format!("{}\n", sample.file.display())).unwrap();
    let warmed = warm(&[listed], &options, &mut |_, _| {}).unwrap().0;
    assert_eq!((warmed.names, warmed.files), (0, 1), "a list is looked up as it is read");
}

#[test]
fn a_budget_goes_to_what_is_needed_first() {
    let sample = sample(&[(Op::Read, 2 * MIB as i64, 8192), (Op::Read, 0, 8192)]);
    let options =
        Options { costs: costs(), budget_bytes: Some(10_000), dry_run: true, ..Options::default() };
    let warmed = warm(std::slice::from_ref(&sample.trace), &options, &mut |_, _| {}).unwrap().0;
    assert_eq!((warmed.needed_bytes, warmed.requests), (8192, 1));
}

#[test]
fn files_that_changed_or_lie_elsewhere_are_left_out() {
    let sample = sample(&[(Op::Read, 0, 8192)]);
    let elsewhere = Options { within: vec![PathBuf::from("/nowhere")], ..Options::default() };
    let refused =
        warm(std::slice::from_ref(&sample.trace), &elsewhere, &mut |_, _| {}).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Missing);
    std::fs::write(&sample.file, "short").unwrap();
    let options = Options { costs: costs(), ..Options::default() };
    let warmed = warm(std::slice::from_ref(&sample.trace), &options, &mut |_, _| {}).unwrap().0;
    assert_eq!(warmed.left_out, [("of another size than when it was recorded", 1)].into());
    assert_eq!(warmed.asked_bytes, 0);
}

#[test]
fn a_list_of_files_is_wanted_whole() {
    let sample = sample(&[(Op::Read, 0, 8192)]);
    let list = sample.folder.path().join("list");
    std::fs::write(&list, format!("{}\n", sample.file.display())).unwrap();
    let options = Options { costs: costs(), ..Options::default() };
    let warmed = warm(&[list], &options, &mut |_, _| {}).unwrap().0;
    assert_eq!((warmed.needed_bytes, cached(&sample.file)), (4 * MIB, Some(4 * MIB)));
}

#[test]
fn a_link_does_not_lead_out_of_the_folders_given() {
    let sample = sample(&[]);
    let (inside, link) = (sample.folder.path().join("in"), sample.folder.path().join("in/link"));
    std::fs::create_dir(&inside).unwrap();
    std::os::unix::fs::symlink(&sample.file, &link).unwrap();
    let list = sample.folder.path().join("list");
    std::fs::write(&list, format!("{}\n", link.display())).unwrap();
    let options = Options { costs: costs(), within: vec![inside], ..Options::default() };
    let warmed = warm(&[list], &options, &mut |_, _| {}).unwrap().0;
    assert_eq!(warmed.left_out, [("a link that leads out of the folders given", 1)].into());
    assert_eq!(cached(&sample.file), Some(0));
}

#[test]
fn what_is_locked_stays_until_it_is_dropped() {
    let sample = sample(&[(Op::Read, 0, 8192), (Op::Read, MIB as i64, 4096)]);
    let options = Options { costs: costs(), lock: true, ..Options::default() };
    let (warmed, held) =
        warm(std::slice::from_ref(&sample.trace), &options, &mut |_, _| {}).unwrap();
    if let Some(why) = warmed.not_locked {
        return eprintln!("skipped: {why}");
    }
    assert_eq!(warmed.locked_bytes, 3 * 4096);
    let drop_cached = || {
        let file = File::open(&sample.file).unwrap();
        seekless_sys::residency::drop_cached(file.as_fd()).unwrap();
    };
    drop_cached();
    assert_eq!(cached(&sample.file), Some(3 * 4096));
    drop(held);
    drop_cached();
    assert_eq!(cached(&sample.file), Some(0));
}

#[test]
fn a_profile_is_brought_in_but_for_files_that_changed() {
    use seekless_trace::{Identity, Need, Profile, ProfiledFile, ProfiledRun};
    let sample = sample(&[]);
    let path = sample.folder.path().join("profile.parquet");
    let name = sample.file.to_str().unwrap().to_owned();
    let (_, identity) = crate::profiles::identify(&name).unwrap();
    let write = |identity: Identity| {
        let need = Need { file: 0, offset: MIB, bytes: 8192, time_ns: 0, mapped: true };
        let file = ProfiledFile {
            name: name.clone(),
            bytes: Some(4 * MIB),
            identity: Some(identity),
            ..ProfiledFile::default()
        };
        let run = ProfiledRun { needs: vec![need], ..ProfiledRun::default() };
        let profile = Profile { files: vec![file], runs: vec![run], ..Profile::default() };
        profile.write(seekless_sys::output::Destination::new(&path).replacing(true)).unwrap();
    };
    let options = Options { costs: costs(), ..Options::default() };
    write(Identity { modified_ns: identity.modified_ns - 1, ..identity });
    let warmed = warm(std::slice::from_ref(&path), &options, &mut |_, _| {}).unwrap().0;
    assert_eq!(warmed.left_out, [("changed since it was recorded", 1)].into());
    write(identity);
    warm(std::slice::from_ref(&path), &options, &mut |_, _| {}).unwrap();
    assert_eq!(cached(&sample.file), Some(8192));
}

/// One row with a huge size once took all memory; so did one of a size that the file seems to have.
#[test]
fn a_row_may_claim_more_than_its_file_has() {
    let sample = sample(&[]);
    let options = Options { costs: costs(), ..Options::default() };
    let trace = sample.folder.path().join("huge.csv");
    let file = sample.file.display();
    for (offset, bytes) in [(0, i64::MAX as u64), (i64::MAX, u64::MAX), (8192, 200_000_000_000_000)]
    {
        std::fs::write(&trace, format!("path,op,offset,bytes\n{file},read,{offset},{bytes}\n"))
            .unwrap();
        let warmed = warm(std::slice::from_ref(&trace), &options, &mut |_, _| {}).unwrap().0;
        assert_eq!(warmed.needed_bytes, (4 * MIB).saturating_sub(offset as u64));
    }
    let row = format!("path,op,offset,bytes,size\n{file},read,0,200000000000000,200000000000000\n");
    std::fs::write(&trace, row).unwrap();
    let warmed = warm(&[trace], &options, &mut |_, _| {}).unwrap().0;
    assert_eq!(warmed.left_out, [("of another size than when it was recorded", 1)].into());
}

#[test]
fn it_stops_while_the_sources_are_read() {
    let sample = sample(&[(Op::Read, 0, 8192)]);
    let list = sample.folder.path().join("list");
    std::fs::write(&list, format!("{}\n", sample.file.display())).unwrap();
    for source in [sample.trace, list] {
        let options = Options { costs: costs(), ..Options::default() };
        options.cancel.store(true, Ordering::Relaxed);
        let error = warm(&[source], &options, &mut |_, _| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}");
    }
}

/// vmtouch takes a list whatever its first line is.
#[test]
fn a_list_may_be_out_of_date_and_name_files_twice() {
    let sample = sample(&[]);
    let list = sample.folder.path().join("list");
    let file = sample.file.display();
    std::fs::write(&list, format!("/no/such/file\r\n/dev/null\r\n{file}\r\n{file}\r\n")).unwrap();
    let options = Options { costs: costs(), ..Options::default() };
    let warmed = warm(std::slice::from_ref(&list), &options, &mut |_, _| {}).unwrap().0;
    assert_eq!((warmed.files, warmed.needed_bytes), (1, 4 * MIB));
    assert_eq!(warmed.left_out, [("no longer there", 1), ("not a regular file", 1)].into());
    std::fs::write(&list, format!("/no/such\nfile\0{file}\0")).unwrap();
    let warmed = warm(&[list], &options, &mut |_, _| {}).unwrap().0;
    assert_eq!((warmed.needed_bytes, cached(&sample.file)), (4 * MIB, Some(4 * MIB)));
    assert_eq!(warmed.left_out, [("no longer there", 1)].into());
}

#[test]
fn a_listed_folder_is_walked_but_no_link_in_it() {
    let sample = sample(&[]);
    let (tree, below) = (sample.folder.path().join("tree"), sample.folder.path().join("tree/a/b"));
    std::fs::create_dir_all(&below).unwrap();
    for (name, bytes) in [("one", 5000), ("two\\", 10), ("empty", 0)] {
        std::fs::write(below.join(name), vec![b'.'; bytes]).unwrap();
    }
    std::fs::write(tree.join("three"), vec![b'.'; 100]).unwrap();
    std::os::unix::fs::symlink(&sample.file, tree.join("a/link")).unwrap();
    std::os::unix::fs::symlink(&tree, below.join("up")).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, tree.join("pipe"), fifo, mode, 0).unwrap();
    let list = sample.folder.path().join("list");
    std::fs::write(&list, format!("{}/\n{}\n", tree.display(), below.join("one").display()))
        .unwrap();
    let options = Options { costs: costs(), ..Options::default() };
    let warmed = warm(std::slice::from_ref(&list), &options, &mut |_, _| {}).unwrap().0;
    assert_eq!((warmed.files, warmed.needed_bytes), (4, 5110));
    assert_eq!(
        warmed.left_out,
        [("a link in a listed folder", 2), ("not a regular file", 1)].into()
    );
    assert_eq!(cached(&sample.file), Some(0));
    let within = Options { within: vec![below], ..options };
    let warmed = warm(&[list], &within, &mut |_, _| {}).unwrap().0;
    assert_eq!(warmed.needed_bytes, 5010);
}

#[test]
fn a_file_of_several_names_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a"), vec![7; 65_536]).unwrap();
    std::fs::write(at("z"), vec![8; 65_536]).unwrap();
    for name in ["b", "c"] {
        std::fs::hard_link(at("a"), at(name)).unwrap();
    }
    let list = at("list");
    let names = ["a", "b", "c", "z"].map(|name| at(name).display().to_string());
    std::fs::write(&list, names.join("\n")).unwrap();
    let trace = at("run.parquet");
    let mut writer = Writer::create(&trace, Metadata::default()).unwrap();
    for name in names {
        let access = Access { bytes: 65_536, ..Access::new(Op::Read, writer.file(&name)) };
        writer.push(access).unwrap();
    }
    writer.finish().unwrap();
    for source in [list, trace, folder.path().to_owned()] {
        let is_folder = source.is_dir();
        let options = Options {
            costs: costs(),
            budget_bytes: Some(2 * 65_536 + u64::from(is_folder) * MIB),
            dry_run: true,
            ..Options::default()
        };
        let warmed = warm(&[source], &options, &mut |_, _| {}).unwrap().0;
        // The folder has the list and the trace as well.
        assert_eq!(warmed.files, if is_folder { 4 } else { 2 });
        assert!(is_folder || warmed.needed_bytes == 2 * 65_536, "{warmed:?}");
    }
}

#[test]
fn an_empty_list_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    std::fs::write(&list, "").unwrap();
    let warmed = warm(&[list], &Options::default(), &mut |_, _| {}).unwrap().0;
    assert_eq!((warmed.files, warmed.requests), (0, 0));
}
