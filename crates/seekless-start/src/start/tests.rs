use super::decide::decide;
use super::plan::{Plan, PlannedRead};
use super::*;
use seekless_trace::{Need, ProfiledFile, ProfiledRun, RunInfo};
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

const MIB: u64 = 1 << 20;

fn slow(depth: u32) -> Options {
    let costs = Costs { request_ns: 10_000_000, bytes_per_second: 10_000_000, depth };
    Options { costs: Some(costs), ..Options::default() }
}

fn key() -> Key {
    Key::new("prog".as_ref(), &[])
}

/// A file of this many bytes that is not cached.
fn cold(path: PathBuf, bytes: u64) -> ProfiledFile {
    std::fs::write(&path, vec![b'.'; bytes as usize]).unwrap();
    let file = File::open(&path).unwrap();
    file.sync_all().unwrap();
    seekless_sys::residency::drop_cached(file.as_fd()).unwrap();
    let name = path.to_str().unwrap().to_owned();
    ProfiledFile { name, bytes: Some(bytes), ..ProfiledFile::default() }
}

fn need(file: u32, offset: u64, bytes: u64, time_ns: u64) -> Need {
    Need { file, offset, bytes, time_ns, mapped: true }
}

fn profile(files: Vec<ProfiledFile>, needs: Vec<Need>) -> Profile {
    let info = RunInfo { duration_ns: Some(1000), ..RunInfo::default() };
    let run = ProfiledRun { info, whole: true, cpu_ns: Some(500), needs };
    Profile { key: "prog".to_owned(), files, runs: vec![run], ..Profile::default() }
}

/// A folder on a disk, since a temporary file system has nothing to bring in.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
}

fn places(plan: &Plan) -> Vec<(&Path, u64, u64)> {
    let place = |read: &PlannedRead| {
        (plan.files[read.file].path.as_path(), read.extent.offset, read.extent.bytes)
    };
    plan.reads.iter().map(place).collect()
}

#[test]
fn reads_are_planned_in_the_order_of_need_within_the_budget() {
    let folder = folder();
    let files =
        vec![cold(folder.path().join("a"), 32 * MIB), cold(folder.path().join("b"), 32 * MIB)];
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    let needs =
        vec![need(1, 16 * MIB, 65_536, 10), need(0, 0, 65_536, 20), need(0, 8 * MIB, 65_536, 30)];
    let known = profile(files, needs);
    let (plan, decision) = decide(Some(&known), &key(), &slow(1));
    assert!(decision.warms, "{decision:?}");
    assert_eq!(
        places(&plan),
        [(b.as_path(), 16 * MIB, 65_536), (&a, 0, 65_536), (&a, 8 * MIB, 65_536)]
    );
    // Half of the run's time was its own.
    let times: Vec<u64> = plan.reads.iter().map(|read| read.needed_ns).collect();
    assert_eq!(times, [5, 10, 15]);
    assert!(decision.head_start_s > 0.0);
    let other = Profile { key: "other".to_owned(), ..known.clone() };
    let (_, decision) = decide(Some(&other), &key(), &slow(1));
    assert!(decision.warms && decision.head_start_s == 0.0, "nobody waits for another's profile");
    let tight = Options { budget_bytes: Some(140_000), ..slow(1) };
    let (plan, _) = decide(Some(&known), &key(), &tight);
    assert_eq!(places(&plan), [(b.as_path(), 16 * MIB, 65_536), (&a, 0, 65_536)]);
    let hidden = Options { hidden: Hidden::below(vec![a]), ..slow(1) };
    let (plan, _) = decide(Some(&known), &key(), &hidden);
    assert_eq!(places(&plan), [(b.as_path(), 16 * MIB, 65_536)], "the program will not see it");
}

#[test]
fn small_files_are_left_alone_where_requests_are_capped_and_not_even_opened() {
    let folder = folder();
    let files: Vec<ProfiledFile> =
        (0..200).map(|at| cold(folder.path().join(at.to_string()), 4096)).collect();
    let needs = (0..200)
        .map(|file| Need { mapped: false, ..need(file, 0, 4096, u64::from(file)) })
        .collect();
    let mut known = profile(files, needs);
    let (plan, decision) = decide(Some(&known), &key(), &slow(1));
    assert_eq!((decision.warms, decision.files_that_do_not_pay), (false, 200));
    assert!(plan.reads.is_empty());
    // Where many are served at once, each is worth it, in its place.
    let (plan, decision) = decide(Some(&known), &key(), &slow(32));
    assert_eq!((decision.warms, plan.reads.len()), (true, 200));
    // Names that lead nowhere good.
    let fifo = folder.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    for file in &mut known.files {
        file.name = fifo.to_str().unwrap().to_owned();
    }
    known.files[0].name = "relative".to_owned();
    let (plan, decision) = decide(Some(&known), &key(), &slow(32));
    assert!(!decision.left_out.is_empty() && decision.left_out["not a regular file"] <= 199);
    assert!(plan.files.iter().all(|file| file.path == fifo), "these are opened, and left out");
}

#[test]
fn without_a_profile_nothing_is_expected() {
    let (plan, decision) = decide(None, &key(), &slow(1));
    assert!(plan.reads.is_empty() && !decision.warms);
    assert_eq!(decision.runs, 0);
}

#[test]
fn a_whole_start_counts_what_is_left_to_the_program_whatever_pays() {
    let folder = folder();
    let mut files: Vec<ProfiledFile> =
        (0..200).map(|at| cold(folder.path().join(at.to_string()), 4096)).collect();
    files.push(cold(folder.path().join("large"), 32 * MIB));
    let needs: Vec<Need> = (0..200)
        .map(|file| Need { mapped: false, ..need(file, 0, 4096, u64::from(file)) })
        .chain((0..8).map(|at| need(200, at * 4 * MIB, 65_536, 300 + at)))
        .collect();
    let known = profile(files, needs);
    let expects = |depth| Options { expects: true, ..slow(depth) };
    let (_, few) = decide(Some(&known), &key(), &expects(1));
    let (_, many) = decide(Some(&known), &key(), &expects(32));
    assert_eq!((few.files_that_do_not_pay, many.files_that_do_not_pay), (200, 0));
    // Names are in memory, as these were just made. A large readahead takes several requests.
    assert!(few.names == 0 && few.plain.requests >= 200 + 8, "{few:?}");
    assert_eq!(few.plain, many.plain, "the program alone asks for the same");
    for decision in [&few, &many] {
        let Decision { warmed, brought_in, left_to_program, .. } = decision;
        assert_eq!(warmed.requests, brought_in.requests + left_to_program.requests);
    }
    assert_eq!((few.left_to_program.requests, many.left_to_program.requests), (200, 0));
    let (_, again) = decide(Some(&known), &key(), &expects(1));
    assert_eq!(few, again);
}

#[test]
fn names_that_are_not_in_memory_are_charged_with_their_folders() {
    let folder = folder();
    let root = folder.path().canonicalize().unwrap();
    let name = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let files = vec![cold(root.join("a"), 4096)];
    let mut known = profile(files, vec![need(0, 0, 4096, 1)]);
    let look = |name: String, kind, inode, bytes| seekless_trace::Look { name, kind, inode, bytes };
    use seekless_trace::LookKind::{Folder, Name};
    // Nothing of this is there, so that the kernel knows nothing of it.
    known.looks = vec![
        look(root.to_str().unwrap().to_owned(), Folder, Some(100), Some(4096)),
        look(name("new"), Folder, Some(20_000), Some(4096)),
        look(name("new/gone"), Name, None, None),
        look(name("new/there"), Name, Some(40_000), None),
    ];
    let (_, decision) = decide(Some(&known), &key(), &Options { expects: true, ..slow(1) });
    let of_file = 1;
    // Of `new` the root's names, its inode and its names; of `there` its inode. With the blocks
    // around it an inode may take three.
    assert_eq!(decision.names, 3);
    assert!((4 + of_file..=8 + of_file).contains(&decision.plain.requests), "{decision:?}");
}
