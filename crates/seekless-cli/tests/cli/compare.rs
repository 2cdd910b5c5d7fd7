//! `seekless compare` on a folder of one tiny file, where a pack cannot win, and on a folder of
//! many files, where it must.

use super::{printed, run, seekless, workplace};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Makes `files` files of `bytes` in `data`, a pack of them, and a run that loads them all.
fn prepare(directory: &Path, files: usize, bytes: usize) {
    std::fs::create_dir(directory.join("data")).unwrap();
    let mut run = "time_s,path,size\n".to_owned();
    for file in 0..files {
        std::fs::write(directory.join(format!("data/{file}")), vec![7; bytes]).unwrap();
        writeln!(run, "{file},{file},{bytes}").unwrap();
    }
    std::fs::write(directory.join("run.csv"), run).unwrap();
    printed(directory, "pack data -o data.zip");
}

#[test]
fn a_pack_that_loses_ends_with_1_if_asked_to() {
    let directory = workplace();
    // One tiny file is loaded from a pack whose directory alone has 2,000 long names.
    std::fs::create_dir(directory.path().join("data")).unwrap();
    for file in 0..2000 {
        std::fs::write(directory.path().join(format!("data/{file:0200}")), "x").unwrap();
    }
    std::fs::write(directory.path().join("run.csv"), format!("time_s,path,size\n0,{:0200},1\n", 7))
        .unwrap();
    printed(directory.path(), "pack data -o data.zip");
    let words =
        "compare data data.zip --trace run.csv --rounds 3 --device iops=100,bandwidth=100KB/s";
    assert_eq!(
        run(directory.path(), &format!("{words} --fail-if-slower 5%")).status.code(),
        Some(1)
    );
    assert_eq!(
        run(directory.path(), &format!("{words} --fail-if-slower 9000%")).status.code(),
        Some(0)
    );
    assert_eq!(run(directory.path(), words).status.code(), Some(0));
}

#[test]
fn a_pattern_is_read_through_the_kernel_and_through_us() {
    let directory = workplace();
    std::fs::write(directory.path().join("big"), vec![7; 1 << 20]).unwrap();
    let text = printed(
        directory.path(),
        "compare big --pattern backward:4KiB streams:2 --rounds 1 --amount 256KiB --cache 1MiB",
    );
    assert!(text.contains("median of 1 round"), "{text}");
    for pattern in ["backward:4KiB", "streams:2/4KiB"] {
        let begins = |line: &str| line.split_whitespace().take(2).eq([pattern, "kernel"]);
        assert!(text.lines().any(begins), "{pattern}: {text}");
    }
    assert_eq!(text.matches("seekless ").count(), 2, "{text}");
    for refused in [
        "compare big --pattern sideways",
        "compare big data.zip --trace run.csv --pattern forward",
        "compare big",
        "compare . --pattern forward",
    ] {
        assert_eq!(run(directory.path(), refused).status.code(), Some(2), "{refused}");
    }
}

#[test]
fn the_report_says_what_was_loaded_and_how_cold() {
    let directory = workplace();
    prepare(directory.path(), 20, 100);
    let text = printed(
        directory.path(),
        "compare data data.zip --trace run.csv --rounds 1 --device iops=2000,bandwidth=1GB/s",
    );
    let expected = [
        "20 loads of 2.0 KB; median of 1 round\n",
        "cached at the start: ",
        "iops=2000,bandwidth=1GB/s; the loose files ",
        " min to max ",
        "\nOne round decides nothing: give --rounds 3 or more.\n",
    ];
    assert!(expected.iter().all(|words| text.contains(words)), "{text}");
    assert!(!text.contains("times as fast"), "no verdict from one round: {text}");
    let loose = text.lines().find(|line| line.starts_with("loose files")).unwrap();
    let requests: u64 = loose.split_whitespace().rev().nth(2).unwrap().parse().unwrap();
    assert!((22..=30).contains(&requests), "20 files, and their metadata once: {text}");
    assert!(text.lines().all(|line| line == line.trim_end()), "{text:?}");
}

#[test]
fn figures_come_as_json() {
    let directory = workplace();
    prepare(directory.path(), 3, 100);
    let words = "compare data data.zip --trace run.csv --rounds 2 --device iops=2000,bandwidth=1GB/s --json";
    let figures: serde_json::Value =
        serde_json::from_str(&printed(directory.path(), words)).unwrap();
    assert_eq!(figures["loads"], 3);
    assert_eq!(figures["rivals"][0]["requests"], figures["expected"]["requests"]);
    assert_eq!(figures["rivals"][1]["rounds_ns"].as_array().unwrap().len(), 2);
}

#[test]
fn a_changed_file_ends_with_2_and_its_name() {
    let directory = workplace();
    prepare(directory.path(), 2, 100);
    std::fs::write(directory.path().join("data/1"), "something else").unwrap();
    let output = run(directory.path(), "compare data data.zip --trace run.csv --rounds 1");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("hold other bytes than in the pack"), "{said}");
    assert!(said.contains("data/1;"), "{said}");
}

#[test]
fn rivals_in_other_orders_take_part_and_leave_nothing() {
    let directory = workplace();
    prepare(directory.path(), 20, 100);
    std::fs::copy(directory.path().join("run.csv"), directory.path().join("older.csv")).unwrap();
    let before = directory.path().read_dir().unwrap().count();
    let words = "compare data data.zip --trace older.csv run.csv --rounds 3 --device iops=2000,bandwidth=1GB/s --rivals";
    let text = printed(directory.path(), words);
    let rows = ["pack by name, on demand ", "pack by the newest run, list known "];
    assert!(rows.iter().all(|row| text.lines().any(|line| line.starts_with(row))), "{text}");
    assert!(text.contains("The pack is ") || text.contains("The pack takes "), "{text}");
    assert_eq!(directory.path().read_dir().unwrap().count(), before);
}

#[test]
fn the_real_clock_and_the_skipping_one_agree() {
    let directory = workplace();
    prepare(directory.path(), 20, 100);
    let median = |clock: &str| {
        let words = "compare data data.zip --trace run.csv --rounds 1 --device iops=100,bandwidth=1GB/s --json --clock";
        let text = printed(directory.path(), &format!("{words} {clock}"));
        let figures: serde_json::Value = serde_json::from_str(&text).unwrap();
        let requests = figures["rivals"][0]["requests"].as_u64().unwrap();
        (requests, figures["rivals"][0]["median_ns"].as_u64().unwrap())
    };
    let (skipped, waited) = (median("virtual"), median("real"));
    // What is read around a file depends on what is under way then, so the requests of both may
    // differ by a few on a busy machine: each time is judged by its own. Both clocks allow ten
    // requests in each tenth of a second. A busy machine only adds time.
    let least = |requests: u64| (requests - 1) / 10 * 100_000_000;
    assert!(
        skipped.1 >= least(skipped.0) && waited.1 >= least(waited.0) && least(skipped.0) > 0,
        "{skipped:?} {waited:?}"
    );
}

#[test]
fn a_verdict_takes_three_rounds() {
    let directory = workplace();
    prepare(directory.path(), 1, 1);
    let output = run(
        directory.path(),
        "compare data data.zip --trace run.csv --rounds 2 --fail-if-slower 5%",
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--rounds 3 or more"), "{output:?}");
}

#[test]
fn folders_swallowed_by_trace_are_asked_for_in_their_place() {
    let directory = workplace();
    prepare(directory.path(), 1, 1);
    let output = run(directory.path(), "compare --trace run.csv data data.zip");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("as in `seekless compare DIR PACK --trace RUN...`"), "{said}");
}

#[test]
fn a_tree_that_moved_is_said_in_a_line() {
    let directory = workplace();
    prepare(directory.path(), 3, 10);
    std::fs::write(
        directory.path().join("run.csv"),
        "time_s,path,size\n0,/gone/data/1,10\n1,/gone/data/2,10\n",
    )
    .unwrap();
    let words =
        "compare data data.zip --trace run.csv --rounds 1 --device iops=2000,bandwidth=1GB/s";
    let text = printed(directory.path(), words);
    assert!(
        text.contains("2 loads of 20 B")
            && text.contains("by the tails of names /gone/data=. was taken"),
        "{text}"
    );
    let text = printed(directory.path(), &format!("{words} --root /gone/data=data"));
    assert!(text.contains("2 loads of 20 B") && !text.contains("was taken"), "{text}");
}

/// A comparison behind a throttle so slow that it never ends, and what it has changed on this
/// machine.
struct Throttled {
    child: Child,
    group: PathBuf,
    /// The changed setting of ext4 and its former value, if the files lie on ext4.
    setting: Option<(PathBuf, String)>,
    /// The child process that puts everything back.
    guardian: i32,
}

impl Throttled {
    /// `None` if nothing can be throttled here, after printing why.
    fn start(directory: &Path) -> Option<Self> {
        prepare(directory, 3, 100);
        let settings = settings();
        let mut child = seekless(directory)
            .args([
                "compare",
                "data",
                "data.zip",
                "--trace",
                "run.csv",
                "--throttle",
                "iops=1,bandwidth=1KB/s",
            ])
            .env("XDG_STATE_HOME", directory.join("state"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let group = loop {
            if child.try_wait().unwrap().is_some() {
                let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
                eprintln!("skipped: {}", said.trim());
                return None;
            }
            let groups =
                std::fs::read_to_string(format!("/proc/{}/cgroup", child.id())).unwrap_or_default();
            if let Some(group) = groups
                .lines()
                .find_map(|line| line.rsplit(':').next().filter(|path| path.contains("/seekless-")))
            {
                break group.to_owned();
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let changed = settings.into_iter().find(|(path, before)| value(path) != *before);
        let guardian =
            std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).unwrap();
        let guardian = guardian.split_whitespace().next().expect("a guardian").parse().unwrap();
        Some(Throttled { group: PathBuf::from(group), setting: changed, guardian, child })
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whether the group is gone and the setting has its former value.
    fn is_put_back(&self) -> bool {
        let name = self.group.file_name().unwrap();
        let hierarchies = std::fs::read_dir("/sys/fs/cgroup").unwrap().flatten();
        hierarchies.into_iter().all(|hierarchy| !hierarchy.path().join(name).exists())
            && self.setting.as_ref().is_none_or(|(path, before)| value(path) == *before)
    }
}

fn settings() -> Vec<(PathBuf, String)> {
    let file_systems = std::fs::read_dir("/sys/fs/ext4").into_iter().flatten().flatten();
    let settings = file_systems.map(|system| system.path().join("inode_readahead_blks"));
    settings
        .filter(|setting| setting.exists())
        .map(|setting| {
            let now = value(&setting);
            (setting, now)
        })
        .collect()
}

fn value(setting: &Path) -> String {
    std::fs::read_to_string(setting).unwrap_or_default().trim().to_owned()
}

#[test]
fn a_throttled_comparison_that_is_killed_leaves_nothing_changed() {
    // A second throttle on the same file system fails, too.
    let _alone = crate::caches::alone();
    let directory = workplace();
    let Some(mut throttled) = Throttled::start(directory.path()) else { return };
    assert!(!throttled.is_put_back());
    throttled.kill();
    let started = Instant::now();
    while !throttled.is_put_back() {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "{:?} {:?}",
            throttled.group,
            throttled.setting
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_a_killed_comparison_and_its_guardian_left_is_put_back_by_the_next() {
    // A second throttle on the same file system fails, too.
    let _alone = crate::caches::alone();
    let directory = workplace();
    let Some(mut throttled) = Throttled::start(directory.path()) else { return };
    let guardian = nix::unistd::Pid::from_raw(throttled.guardian);
    nix::sys::signal::kill(guardian, nix::sys::signal::Signal::SIGKILL).unwrap();
    throttled.kill();
    assert!(!throttled.is_put_back());
    let next = || {
        let words =
            "compare data data.zip --trace run.csv --rounds 1 --device iops=2000,bandwidth=1GB/s";
        let command = seekless(directory.path())
            .args(words.split(' '))
            .env("XDG_STATE_HOME", directory.path().join("state"))
            .output();
        String::from_utf8(command.unwrap().stderr).unwrap()
    };
    let said = next();
    assert!(
        said.contains("a run that was killed had left this machine changed; put back: "),
        "{said}"
    );
    assert!(throttled.is_put_back());
    assert_eq!(next(), "");
}
