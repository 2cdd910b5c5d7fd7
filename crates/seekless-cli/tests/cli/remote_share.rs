//! A profile that machines share: the first start of a new machine is warm.

use super::remote::with_storage::on;
use super::workplace;
use seekless_testing::{Conduct, ObjectServer};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

const NAME: &str = "s3://bucket/app.parquet";

/// A machine with a home folder and a state of its own. What it starts lies in the home folder of
/// each, since files for tests lie in no other place that is shared.
struct Machine {
    home: PathBuf,
}

impl Machine {
    fn new(folder: &Path, name: &str) -> Self {
        let home = folder.join(name);
        fs::create_dir_all(home.join("state")).unwrap();
        fs::write(home.join("data"), vec![7; 300_000]).unwrap();
        Self { home }
    }

    fn run(&self, server: &ObjectServer, name: &str, options: &[&str]) -> Output {
        let mut command = on(server, &self.home);
        command.env("HOME", &self.home).env("XDG_STATE_HOME", self.home.join("state"));
        command.args(["run", "--profile", name, "--share"]).args(options);
        command.args(["--", "cat"]).arg(self.home.join("data")).output().unwrap()
    }

    /// The files that a start is expected to need.
    fn knows(&self, server: &ObjectServer, name: &str) -> serde_json::Value {
        let output = self.run(server, name, &["--dry-run", "--json"]);
        assert!(output.status.success(), "{}", said(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What machines share through `name`, of which `content` gives the bytes.
fn machines_share(server: &ObjectServer, folder: &Path, name: &str, content: &dyn Fn() -> Vec<u8>) {
    let [one, other] = ["ada", "eve"].map(|name| Machine::new(folder, name));
    let before = one.knows(server, name);
    assert!(before["recording"].as_str().unwrap().contains("no profile yet"), "{before}");
    let first = one.run(server, name, &[]);
    if said(&first).contains("cannot be recorded") || said(&first).contains("cannot be traced") {
        println!("skipped: starts cannot be recorded here: {}", said(&first));
        return;
    }
    assert!(first.status.success() && first.stdout == vec![7; 300_000], "{}", said(&first));
    assert!(!said(&first).contains("cannot be shared"), "{}", said(&first));
    let shared = content();
    fs::write(folder.join("shared.parquet"), &shared).unwrap();
    let [files, about] = ["trace files shared.parquet --json", "trace info shared.parquet --json"]
        .map(|words| super::printed(folder, words));
    assert!(files.contains("\"~/data\""), "{files}");
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    for secret in [folder.to_str().unwrap(), "/ada", "the-secret", "state", host.trim()] {
        assert!(!files.contains(secret) && !about.contains(secret), "{secret}: {files}{about}");
    }
    let known = other.knows(server, name);
    assert!(!known["recording"].as_str().unwrap().contains("no profile yet"), "{known}");
    let second = other.run(server, name, &["--record"]);
    assert!(second.status.success(), "{}", said(&second));
    assert!(!said(&second).contains("cannot be shared"), "{}", said(&second));
    let grown = content();
    assert!(grown != shared, "its run was merged");
    fs::write(folder.join("shared.parquet"), grown).unwrap();
    let merged = super::run(folder, "profiles show shared.parquet --json");
    let merged: serde_json::Value = serde_json::from_slice(&merged.stdout).unwrap();
    assert_eq!(merged["runs"], 2, "{merged}");
}

#[test]
fn the_first_start_of_a_new_machine_goes_by_what_another_has_learned() {
    let folder = workplace();
    let folder = folder.path().canonicalize().unwrap();
    let server = ObjectServer::start(Conduct::plain()).unwrap();
    let content = || server.content("/bucket/app.parquet").unwrap();
    machines_share(&server, &folder, NAME, &content);
}

#[test]
fn a_file_in_a_shared_folder_does_as_well() {
    let folder = workplace();
    let folder = folder.path().canonicalize().unwrap();
    let server = ObjectServer::start(Conduct::plain()).unwrap();
    let file = folder.join("app.parquet");
    let content = || fs::read(&file).unwrap();
    machines_share(&server, &folder, file.to_str().unwrap(), &content);
    assert_eq!(server.served().requests, 0);
}

#[test]
fn a_storage_that_cannot_be_reached_keeps_no_program_from_starting() {
    let folder = workplace();
    let machine = Machine::new(folder.path(), "ada");
    let server = ObjectServer::start(Conduct::plain()).unwrap();
    let output = machine.run(&server, "s3://bucket", &["--no-record"]);
    assert!(output.status.success() && output.stdout == vec![7; 300_000], "{}", said(&output));
    assert!(said(&output).contains("the shared profile s3://bucket cannot be read"));
    server.put("/bucket/app.parquet", *b"no profile");
    let output = machine.run(&server, NAME, &["--no-record"]);
    assert!(output.status.success() && output.stdout == vec![7; 300_000], "{}", said(&output));
    assert!(said(&output).contains("it is no profile"), "{}", said(&output));
    assert_eq!(server.content("/bucket/app.parquet").unwrap(), b"no profile");
}
