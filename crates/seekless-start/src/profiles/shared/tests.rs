use super::*;
use seekless_trace::{Need, ProfiledFile, RunInfo};
use std::path::PathBuf;

/// A profile with a run of this program that began at this time and needed these files.
fn learned(program: &str, started_ns: u64, files: &[(&str, u64)]) -> Profile {
    let need = |file| Need { file, offset: 0, bytes: 4096, time_ns: 1, mapped: false };
    let run = ProfiledRun {
        info: RunInfo {
            command: vec![program.to_owned()],
            started_unix_ns: Some(started_ns),
            exit_status: Some(0),
            ..RunInfo::default()
        },
        whole: true,
        cpu_ns: None,
        needs: (0..files.len() as u32).map(need).collect(),
    };
    let file = |(name, bytes): &(&str, u64)| ProfiledFile {
        name: (*name).to_owned(),
        bytes: Some(*bytes),
        ..ProfiledFile::default()
    };
    Profile {
        key: format!("{program} --option=~1234"),
        files: files.iter().map(file).collect(),
        runs: vec![run],
        ..Profile::default()
    }
}

fn own(folder: &Path, machine: u64, profile: &Profile) -> PathBuf {
    let path = folder.join(format!("machine-{machine}/own.parquet"));
    update(&path, |_| profile.clone()).unwrap();
    path
}

fn started(profile: &Profile) -> Vec<u64> {
    profile.runs.iter().map(|run| run.info.started_unix_ns.unwrap()).collect()
}

#[test]
fn of_machines_that_share_at_once_each_finds_what_all_have_learned() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("app.parquet");
    let machines: Vec<PathBuf> = (1..=8)
        .map(|machine| {
            let file = format!("/opt/lib{machine}.so");
            let files = [("/usr/bin/app", 9000), (file.as_str(), 5000)];
            own(folder.path(), machine, &learned("/usr/bin/app", 100 + machine, &files))
        })
        .collect();
    std::thread::scope(|scope| {
        for own in &machines {
            let name = &name;
            scope.spawn(move || share(name, own).unwrap());
        }
    });
    let shared = read(&name, Some("/usr/local/bin/app")).unwrap().unwrap();
    assert_eq!(started(&shared), (101..=108).collect::<Vec<_>>());
    assert_eq!(shared.files.len(), 9);
    let before = fs::read(&name).unwrap();
    for own in &machines {
        share(&name, own).unwrap();
        let own = super::super::read(own).unwrap();
        assert_eq!(started(&own), (101..=108).collect::<Vec<_>>(), "as all the others");
        assert_eq!(own.key, "/usr/bin/app --option=~1234", "its own words");
    }
    assert!(fs::read(&name).unwrap() == before, "there was nothing more to share");
}

#[test]
fn a_shared_profile_keeps_the_newest_runs_and_forgets_files_that_were_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("app.parquet");
    // The newest first, as a machine that was offline shares late.
    for started_ns in (1..=RUNS_MAX as u64 + 4).rev() {
        let bytes = if started_ns > 10 { 6000 } else { 5000 };
        let profile = learned("app", started_ns, &[("/usr/lib/a.so", bytes), ("/usr/lib/b.so", 1)]);
        share(&name, &own(folder.path(), started_ns, &profile)).unwrap();
    }
    let shared = read(&name, None).unwrap().unwrap();
    assert_eq!(started(&shared), (5..=RUNS_MAX as u64 + 4).collect::<Vec<_>>());
    let replaced = shared.files.iter().position(|file| file.name == "/usr/lib/a.so").unwrap();
    assert_eq!(shared.files[replaced].bytes, Some(6000));
    let needs_it = |run: &&ProfiledRun| run.needs.iter().any(|it| it.file == replaced as u32);
    let runs: Vec<u64> =
        shared.runs.iter().filter(needs_it).map(|run| id(run).0.unwrap()).collect();
    assert!(runs.iter().all(|started_ns| *started_ns > 10) && !runs.is_empty(), "{runs:?}");
}

#[test]
fn another_program_a_damaged_profile_and_a_folder_that_is_missing_are_errors_that_name_it() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("app.parquet");
    assert_eq!(read(&name, None).unwrap(), None);
    let mine = own(folder.path(), 1, &learned("/usr/bin/app", 1, &[("/usr/bin/app", 9000)]));
    share(&name, &mine).unwrap();
    let before = fs::read(&name).unwrap();
    let other = own(folder.path(), 2, &learned("/usr/bin/other", 2, &[("/usr/bin/other", 9000)]));
    for error in [share(&name, &other).unwrap_err(), read(&name, Some("other")).unwrap_err()] {
        let said = error.to_string();
        assert!(said.contains("app.parquet is of app, not of other: name another"), "{said}");
    }
    assert!(fs::read(&name).unwrap() == before);
    fs::write(&name, &before[..before.len() / 2]).unwrap();
    for error in [share(&name, &mine).unwrap_err(), read(&name, None).unwrap_err()] {
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(error.to_string().contains("app.parquet"), "{error}");
        assert!(cause.contains("no profile, or damaged"), "{cause}");
    }
    assert!(fs::read(&name).unwrap() == before[..before.len() / 2], "it is not replaced");
    let error = share(&folder.path().join("none/app.parquet"), &mine).unwrap_err();
    assert!(error.to_string().contains("none/app.parquet"), "{error}");
}

#[test]
fn a_start_that_failed_is_not_shared() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("app.parquet");
    let mut profile = learned("app", 1, &[("/usr/bin/app", 9000)]);
    profile.runs[0].info.exit_status = Some(1);
    share(&name, &own(folder.path(), 1, &profile)).unwrap();
    assert!(!name.exists());
}
