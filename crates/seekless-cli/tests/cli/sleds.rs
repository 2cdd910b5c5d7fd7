//! `seekless sleds` and `seekless probe`: kept figures, error messages, and two machines that talk.

use super::{printed, run, seekless, workplace};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};

const TAPE: &str = "[[range]]\nbytes = \"1MiB\"\nlevel = \"memory\"\nlatency = \"175ns\"\nbandwidth = \"48MB/s\"\n\n\
[[range]]\nlevel = \"archive\"\nlatency = \"40s\"\nbandwidth = \"4MiB/s\"\n";

fn tape(folder: &Path) {
    fs::write(folder.join("tape.bin"), vec![1; 5 << 20]).expect("written");
    fs::write(folder.join("tape.bin.sleds.toml"), TAPE).expect("written");
    fs::write(folder.join("none.toml"), "").expect("written");
}

#[test]
fn the_figures_of_a_tape_in_json() {
    let folder = workplace();
    tape(folder.path());
    let text = printed(
        folder.path(),
        "sleds --mock --json --config none.toml --table none.devices tape.bin",
    );
    let figures: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let file = &figures[0];
    assert_eq!((file["file"].as_str(), file["bytes"].as_u64()), (Some("tape.bin"), Some(5 << 20)));
    let expected = serde_json::json!([
        { "offset": 0, "bytes": 1 << 20, "latency_s": 0.000_000_175, "bandwidth": 48e6, "level": "memory",
          "confidence": "exact", "age_s": 0.0 },
        { "offset": 1 << 20, "bytes": 4 << 20, "latency_s": 40.0, "bandwidth": 4_194_304.0, "level": "archive",
          "confidence": "exact", "age_s": 0.0 },
    ]);
    assert_eq!(file["sleds"], expected);
    let best = &file["total_s"]["best"];
    assert_eq!(best["low"], best["high"]);
    assert!((best["high"].as_f64().expect("seconds") - 41.021_845).abs() < 1e-3, "{best}");
    assert!(file["total_s"]["linear"]["low"].is_number());
}

#[test]
fn a_tape_in_words() {
    let folder = workplace();
    tape(folder.path());
    let text =
        printed(folder.path(), "sleds --mock --config none.toml --table none.devices tape.bin");
    let bar = "█".repeat(13) + &"▁".repeat(51);
    assert!(
        text.starts_with(&format!("tape.bin  5.2 MB\n{bar}\n█ memory  ▁ archive\n\n")),
        "{text}"
    );
    assert!(text.contains("linear 41.02 s: from the first byte to the last"), "{text}");
    assert!(text.contains("best   41.02 s: cached data first"), "{text}");
}

#[test]
fn what_has_no_sleds_is_said_and_the_rest_is_shown() {
    let folder = workplace();
    fs::write(folder.path().join("file"), "text").expect("written");
    fs::write(folder.path().join("none.toml"), "").expect("written");
    fs::write(folder.path().join("empty"), "").expect("written");
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe"), rustix::fs::Mode::RUSR)
        .expect("made");
    let output =
        run(folder.path(), "sleds --config none.toml --table none.devices pipe file missing empty");
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("pipe: a pipe, which has no SLEDs") && errors.contains("missing: "),
        "{errors}"
    );
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("file  4 B") && text.contains("empty  0 B"), "{text}");
}

#[test]
fn a_folder_is_summed_up_in_words_and_in_json() {
    let folder = workplace();
    fs::create_dir_all(folder.path().join("data/deep")).expect("made");
    fs::write(folder.path().join("data/one"), vec![1; 100_000]).expect("written");
    fs::write(folder.path().join("data/deep/two"), vec![2; 50_000]).expect("written");
    fs::write(folder.path().join("none.toml"), "").expect("written");
    let text = printed(folder.path(), "sleds --config none.toml --table none.devices data");
    assert!(text.starts_with("data  150.0 KB in 2 files\n"), "{text}");
    assert!(text.contains("linear ") && text.contains("best "), "{text}");
    let text = printed(folder.path(), "sleds --json --config none.toml --table none.devices data");
    let figures: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let sum = &figures[0];
    assert_eq!((sum["folder"].as_str(), sum["files"].as_u64()), (Some("data"), Some(2)));
    let levels = sum["levels"].as_object().expect("levels").values();
    assert_eq!(levels.map(|bytes| bytes.as_u64().expect("bytes")).sum::<u64>(), 150_000);
    assert!(sum["total_s"]["best"]["high"].is_number() && sum["unreadable"] == 0, "{text}");
}

#[test]
fn an_entry_that_cannot_be_asked_about_is_said_and_the_others_are_summed_up() {
    use rustix::fs::{Mode, OFlags, mkdirat, openat};
    let folder = workplace();
    fs::create_dir(folder.path().join("data")).expect("made");
    fs::write(folder.path().join("data/one"), vec![1; 1000]).expect("written");
    // Nested folders whose path is longer than the limit: not even root can list the innermost.
    let name = "d".repeat(250);
    let mut inner =
        std::os::fd::OwnedFd::from(fs::File::open(folder.path().join("data")).expect("there"));
    for _ in 0..20 {
        mkdirat(&inner, &name, Mode::RWXU).expect("made");
        inner =
            openat(&inner, &name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).expect("there");
    }
    let output = run(folder.path(), "sleds data");
    assert_eq!(output.status.code(), Some(2));
    let (out, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(errors.contains("seekless: data/d"), "{errors}");
    assert!(
        out.contains("in 1 file") && out.contains("not counted: 1 that could not be asked"),
        "{out}"
    );
}

#[test]
fn a_device_that_was_never_measured_is_said_to_be_assumed_beside_its_figures() {
    let _kept = crate::caches::kept();
    let folder = workplace();
    let file = fs::File::create(folder.path().join("cold")).expect("made");
    (&file).write_all(&vec![7; 1 << 20]).expect("room");
    file.sync_all().expect("synced");
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).expect("a file");
    fs::write(folder.path().join("none.toml"), "").expect("written");
    let text = printed(folder.path(), "sleds --config none.toml --table none.devices cold");
    if !text.contains("device") {
        return eprintln!("skipped: the file stays in memory, or nobody tells");
    }
    assert!(text.contains("assumed\n"), "{text}");
    assert!(
        text.contains(" was never measured, its figures are assumed: seekless probe cold\n"),
        "{text}"
    );
}

#[test]
fn a_broken_configuration_is_named_with_its_line() {
    let folder = workplace();
    fs::write(folder.path().join("sleds.toml"), "mock_files = true\nmonut = 3\n").expect("written");
    let output = run(folder.path(), "sleds --config sleds.toml sleds.toml");
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("sleds.toml: ") && errors.contains("monut"), "{errors}");
}

/// Ends the server when the test ends.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn another_machine_is_asked_over_the_network() {
    let folder = workplace();
    let at =
        |name: &str| folder.path().join(name).canonicalize().expect("there").display().to_string();
    for name in ["export", "mount"] {
        fs::create_dir(folder.path().join(name)).expect("made");
    }
    tape(&folder.path().join("export"));
    // On the client it is a file without data, as on a mount that knows only names.
    fs::File::create(folder.path().join("mount/tape.bin"))
        .expect("made")
        .set_len(5 << 20)
        .expect("sparse");
    fs::write(folder.path().join("none.toml"), "").expect("written");

    let words =
        ["sleds", "--mock", "--config", "none.toml", "--serve", "127.0.0.1:0", "--root", "export"];
    let child =
        seekless(folder.path()).args(words).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut server = Serving(child);
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().expect("piped"))
        .read_line(&mut line)
        .expect("it says where");
    let address = line.trim().strip_prefix("serving at ").expect("an address").to_owned();

    let config = format!(
        "[[mount]]\npath = {:?}\nremote = {{ server = {address:?}, prefix = {:?} }}\n",
        at("mount"),
        at("export")
    );
    fs::write(folder.path().join("client.toml"), config).expect("written");
    let text = printed(
        folder.path(),
        "sleds --json --config client.toml --table none.devices mount/tape.bin",
    );
    let figures: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let levels: Vec<_> =
        figures[0]["sleds"].as_array().expect("some").iter().map(|sled| &sled["level"]).collect();
    assert_eq!(levels, ["network", "archive"], "{text}");
    drop(server);
    let text =
        printed(folder.path(), "sleds --config client.toml --table none.devices mount/tape.bin");
    assert!(text.contains("note: remote: "), "{text}");
}

#[test]
fn a_server_that_runs_out_of_descriptors_goes_on() {
    let folder = workplace();
    fs::create_dir(folder.path().join("export")).expect("made");
    tape(&folder.path().join("export"));
    fs::write(folder.path().join("none.toml"), "").expect("written");
    // With fewer descriptors than clients accept(2) fails with EMFILE.
    let program = seekless(folder.path()).get_program().to_owned();
    let mut command = std::process::Command::new("sh");
    let words = "ulimit -n 12; exec \"$0\" sleds --mock --config none.toml --serve 127.0.0.1:0 --root export";
    command.args(["-c", words]).arg(program).current_dir(folder.path()).stdout(Stdio::piped());
    let mut server = Serving(command.spawn().expect("it starts"));
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().expect("piped"))
        .read_line(&mut line)
        .expect("it says where");
    let address = line.trim().strip_prefix("serving at ").expect("an address").to_owned();
    let silent: Vec<_> =
        (0..40).filter_map(|_| std::net::TcpStream::connect(&address).ok()).collect();
    let path = folder.path().join("export/tape.bin").canonicalize().expect("there");
    let mut stream = std::net::TcpStream::connect(&address).expect("it listens");
    writeln!(stream, "{{\"seekless\":1,\"path\":{path:?}}}").expect("it takes the question");
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).expect("it answers");
    assert!(answer.starts_with("{\"bytes\":5242880,"), "{answer}");
    drop(silent);
}

#[test]
fn a_device_is_probed_and_kept() {
    let folder = workplace();
    let file = fs::File::create(folder.path().join("data")).expect("made");
    (&file).write_all(&vec![7; 16 << 20]).expect("room");
    file.sync_all().expect("synced");
    let text = printed(folder.path(), "probe data --table devices.toml --json");
    let probed: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(probed["latency_s"].as_f64().is_some_and(|latency| latency > 0.0), "{text}");
    assert!(
        probed["calibration"]["bytes_read"].as_u64().is_some_and(|bytes| bytes <= 1 << 30),
        "{text}"
    );
    let again = printed(folder.path(), "probe data --table devices.toml");
    assert!(again.contains("latency") && again.contains("conditions"), "{again}");
    assert!(!again.contains("read of"), "known, so not measured again: {again}");
    let list = printed(folder.path(), "probe --table devices.toml");
    assert!(list.contains(probed["device"].as_str().expect("a name")), "{list}");
    assert!(printed(folder.path(), "probe --table other.toml").contains("nothing measured yet"));
}
