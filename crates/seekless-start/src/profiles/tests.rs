use super::*;
use seekless_trace::{Access, Metadata, Need, Op, ProfiledFile, ProfiledRun, RunInfo, Writer};

fn need(file: u32, offset: u64, mapped: bool) -> Need {
    Need { file, offset, bytes: 4096, time_ns: offset, mapped }
}

/// A folder with two files, `a` and `b`, of 64 KiB.
fn sample() -> (tempfile::TempDir, [String; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a", "b"].map(|name| {
        let path = folder.path().canonicalize().unwrap().join(name);
        fs::write(&path, vec![b'.'; 65_536]).unwrap();
        path.to_str().unwrap().to_owned()
    });
    (folder, names)
}

fn recorded(folder: &Path, names: &[String], rows: &[(Op, usize, i64)]) -> PathBuf {
    let path = folder.join("run.parquet");
    let _ = fs::remove_file(&path);
    let mut writer = Writer::create(path.clone(), Metadata::default()).unwrap();
    for &(op, name, offset) in rows {
        let file = writer.file(&names[name]);
        let access = Access { time_ns: 1, offset, bytes: 4096, ..Access::new(op, file) };
        writer.push(access).unwrap();
    }
    writer.finish().unwrap();
    path
}

fn touch(file: u32, offset: i64) -> Access {
    Access { offset, bytes: 4096, file_bytes: Some(65_536), ..Access::new(Op::Fault, file) }
}

#[test]
fn a_cheap_run_reads_what_the_last_whole_run_read() {
    let (folder, names) = sample();
    let trace = recorded(folder.path(), &names, &[(Op::Read, 0, 0), (Op::Fault, 1, 8192)]);
    let first = learn_trace(&trace, Some(7)).unwrap().added_to(None, "cat");
    assert_eq!((first.key.as_str(), first.runs[0].cpu_ns), ("cat", Some(7)));
    let cheap = learn(&names[1..], &[touch(0, 0)], RunInfo::default(), None, &first);
    let both = cheap.added_to(Some(first), "cat");
    let of = |run: usize| {
        let needs = both.runs[run].needs.iter();
        let mut needs: Vec<_> = needs
            .map(|need| (both.files[need.file as usize].name.clone(), need.offset, need.mapped))
            .collect();
        needs.sort();
        needs
    };
    let name = |at: usize| names[at].clone();
    assert_eq!(of(0), [(name(0), 0, false), (name(1), 8192, true)]);
    assert_eq!(of(1), [(name(0), 0, false), (name(1), 0, true)]);
}

#[test]
fn what_was_needed_of_a_file_that_changed_is_forgotten() {
    let (folder, names) = sample();
    let trace = recorded(folder.path(), &names, &[(Op::Read, 0, 0), (Op::Fault, 1, 8192)]);
    let first = learn_trace(&trace, None).unwrap().added_to(None, "cat");
    fs::write(&names[0], "another").unwrap();
    fs::write(&names[1], vec![b'x'; 65_536]).unwrap();
    let cheap = learn(&names[1..], &[touch(0, 0)], RunInfo::default(), None, &first);
    let both = cheap.added_to(Some(first), "cat");
    let needs: Vec<&[Need]> = both.runs.iter().map(|run| run.needs.as_slice()).collect();
    let name = |need: &Need| both.files[need.file as usize].name.clone();
    assert_eq!(needs[0].iter().map(name).collect::<Vec<_>>(), [names[0].clone()]);
    assert_eq!(needs[1].iter().map(name).collect::<Vec<_>>(), [names[1].clone()]);
}

#[test]
fn files_that_the_run_changed_and_files_of_the_kernel_are_not_learned() {
    let (folder, mut names) = sample();
    names[0] = "/proc/self/status".to_owned();
    let trace = recorded(folder.path(), &names, &[(Op::Read, 0, 0), (Op::Read, 1, 0)]);
    let learned = learn_trace(&trace, None).unwrap();
    assert_eq!(learned.needs(), 1);
    let started = RunInfo { started_unix_ns: Some(1), ..RunInfo::default() };
    let cheap = learn(&names[1..], &[touch(0, 0)], started, None, &Profile::default());
    assert_eq!(cheap.needs(), 0, "the file is younger than the run's start");
}

#[test]
fn the_newest_five_runs_are_kept_with_their_files() {
    let file = |name: &str| ProfiledFile {
        name: name.to_owned(),
        bytes: Some(8192),
        ..ProfiledFile::default()
    };
    let mut profile = Profile { files: vec![file("/old"), file("/new")], ..Profile::default() };
    for run in 0..7 {
        let needs = vec![need(u32::from(run > 1), 0, true)];
        profile.runs.push(ProfiledRun { cpu_ns: Some(run), needs, ..ProfiledRun::default() });
    }
    learn::keep_newest(&mut profile, learn::RUNS_MAX);
    let kept: Vec<_> = profile.runs.iter().map(|run| run.cpu_ns).collect();
    assert_eq!(kept, [Some(2), Some(3), Some(4), Some(5), Some(6)]);
    assert_eq!(profile.files, [file("/new")]);
    assert_eq!(profile.runs[0].needs, [need(0, 0, true)]);
}

#[test]
fn two_processes_that_learn_at_once_do_not_lose_each_others_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deeper/profiles/cat.parquet");
    std::thread::scope(|scope| {
        for number in 0..4 {
            let path = &path;
            scope.spawn(move || {
                update(path, |before| {
                    let mut profile = before.unwrap_or_default();
                    profile.files =
                        vec![ProfiledFile { name: "/a".to_owned(), ..Default::default() }];
                    let needs = vec![need(0, number * 4096, true)];
                    profile.runs.push(ProfiledRun { needs, ..ProfiledRun::default() });
                    profile
                })
                .unwrap();
            });
        }
    });
    let mut offsets: Vec<u64> =
        read(&path).unwrap().runs.iter().map(|run| run.needs[0].offset).collect();
    offsets.sort_unstable();
    assert_eq!(offsets, [0, 4096, 8192, 12_288]);
    let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "the profile, and nothing else: {names:?}");
}
