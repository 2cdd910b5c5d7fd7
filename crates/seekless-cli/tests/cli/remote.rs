//! Packs in object storage, as users name them.

#[cfg(feature = "remote")]
use super::seekless;
use super::{run, workplace};
use std::fs;
use std::path::Path;

fn folder_to_pack(at: &Path) {
    fs::create_dir_all(at.join("data/art")).unwrap();
    fs::write(at.join("data/art/a"), "brick").unwrap();
    fs::write(at.join("data/b"), "wood".repeat(10_000)).unwrap();
}

#[cfg(not(feature = "remote"))]
#[test]
fn a_build_without_object_storage_names_the_build_that_has_it() {
    let folder = workplace();
    folder_to_pack(folder.path());
    fs::create_dir(folder.path().join("at")).unwrap();
    fs::write(folder.path().join("run.csv"), "time_s,path,size\n0,b,40000\n").unwrap();
    for words in [
        "pack data -o s3://bucket/data.zip",
        "mount s3://bucket/data.zip at",
        "probe s3://bucket/data.zip",
        "sleds s3://bucket/data.zip",
        "trace info s3://bucket/data.zip",
        "trace files s3://bucket/data.zip",
        "sim s3://bucket/data.zip",
        "advise s3://bucket/data.zip",
        "order --trace s3://bucket/data.zip",
        "warm s3://bucket/data.zip",
        "export s3://bucket/data.zip --format vmtouch",
        "pack data -o here.zip --order s3://bucket/data.zip",
        "pack data -o here.zip --trace s3://bucket/data.zip",
        "compare data here.zip --trace s3://bucket/data.zip",
        "trace import run.csv -o s3://bucket/data.zip",
        "profiles show s3://bucket/data.zip",
    ] {
        let output = run(folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        let how = "cargo build --release --package seekless-cli --features remote";
        assert!(said.contains("s3://bucket/data.zip") && said.contains(how), "{words}: {said}");
    }
}

#[cfg(feature = "remote")]
pub(crate) mod with_storage {
    use super::*;
    use seekless_testing::{Conduct, ObjectServer};
    use std::process::{Command, Output};
    use std::time::Duration;

    /// Runs the command with this server for S3.
    pub(crate) fn run_on(server: &ObjectServer, folder: &Path, words: &str) -> Output {
        on(server, folder).args(words.split_whitespace()).output().unwrap()
    }

    pub(crate) fn on(server: &ObjectServer, folder: &Path) -> Command {
        let mut command = seekless(folder);
        command
            .env("AWS_ENDPOINT_URL", format!("http://{}", server.address()))
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_ACCESS_KEY_ID", "the-access-key")
            .env("AWS_SECRET_ACCESS_KEY", "the-secret")
            .env("AWS_REGION", "us-east-1")
            // What another test has measured of a bucket is of another server.
            .env("XDG_STATE_HOME", folder.join("state"));
        command
    }

    #[test]
    fn a_pack_is_written_as_an_object_and_replaced_only_on_request() {
        let folder = workplace();
        folder_to_pack(folder.path());
        let server = ObjectServer::start(Conduct::plain()).unwrap();
        let words = "pack data -o s3://bucket/data.zip --verify";
        let output = run_on(&server, folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(run(folder.path(), "pack data -o here.zip").status.success());
        let here = fs::read(folder.path().join("here.zip")).unwrap();
        assert!(server.content("/bucket/data.zip").unwrap() == here, "the same pack as a file");
        let output = run_on(&server, folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2));
        assert!(said.contains("s3://bucket/data.zip: exists already; give --force"), "{said}");
        let output = run_on(&server, folder.path(), &format!("{words} --force"));
        assert!(output.status.success());
        assert!(!said.contains("the-"), "no key and no secret: {said}");
    }

    #[test]
    fn a_mounted_object_is_read_as_a_folder() {
        let folder = workplace();
        folder_to_pack(folder.path());
        fs::create_dir(folder.path().join("at")).unwrap();
        let server = ObjectServer::start(Conduct::plain()).unwrap();
        assert!(run_on(&server, folder.path(), "pack data -o s3://bucket/d.zip").status.success());
        let words = ["mount", "s3://bucket/d.zip", "at", "--", "sh", "-c", "cat at/art/a at/b"];
        let output = on(&server, folder.path()).args(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if said.contains("cannot mount") {
            println!("skipped: FUSE is not to be had here: {said}");
            return;
        }
        let expected = format!("brick{}", "wood".repeat(10_000));
        assert!(output.stdout == expected.as_bytes(), "{said}");
    }

    #[test]
    fn an_object_is_probed_and_kept_as_a_device() {
        let folder = workplace();
        let delay = Duration::from_millis(3);
        let server = ObjectServer::start(Conduct::plain().delayed(delay, delay / 3)).unwrap();
        server.put("/bucket/large", vec![7; 9 << 20]);
        let words = "probe s3://bucket/large --save mine.toml --seed 1";
        let output = run_on(&server, folder.path(), words);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.starts_with("s3://bucket/large\n  size        9.4 MB\n"), "{said}");
        let device = run(folder.path(), "devices mine.toml");
        let said = String::from_utf8_lossy(&device.stdout).into_owned();
        assert!(device.status.success() && said.contains("[object-store]"), "{said}");
        let before = server.served().requests;
        let sleds = run_on(&server, folder.path(), "sleds s3://bucket/large --json");
        let found: serde_json::Value = serde_json::from_slice(&sleds.stdout).unwrap();
        assert_eq!(
            (&found[0]["origin"], &found[0]["device"]),
            (&"calibrated".into(), &"s3://bucket".into())
        );
        assert!(found[0]["sleds"][0]["latency_s"].as_f64().unwrap() >= 0.002, "{found}");
        assert_eq!(server.served().requests, before + 1, "what requests cost is known");
    }

    #[test]
    fn a_pack_in_object_storage_is_compared_with_its_folder() {
        let folder = workplace();
        folder_to_pack(folder.path());
        let server = ObjectServer::start(Conduct::plain()).unwrap();
        assert!(run_on(&server, folder.path(), "pack data -o s3://bucket/d.zip").status.success());
        let run = "time_s,path,size\n0,b,40000\n1,art/a,5\n";
        fs::write(folder.path().join("run.csv"), run).unwrap();
        let words = "compare data s3://bucket/d.zip --trace run.csv --rounds 1 --json";
        let output = run_on(&server, folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["bytes"], 40_005, "{found}");
    }

    /// A pack that is an object, and a folder to mount it at; a cache for this test alone.
    fn packed(server: &ObjectServer, folder: &Path) {
        folder_to_pack(folder);
        fs::create_dir(folder.join("at")).unwrap();
        assert!(run_on(server, folder, "pack data -o s3://bucket/d.zip").status.success());
    }

    fn caching(server: &ObjectServer, folder: &Path, words: &[&str]) -> Output {
        let cache = folder.join("cache");
        on(server, folder).env("XDG_CACHE_HOME", cache).args(words).output().unwrap()
    }

    #[test]
    fn a_mount_reads_from_the_disk_what_an_earlier_one_has_read() {
        let folder = workplace();
        let server = ObjectServer::start(Conduct::plain()).unwrap();
        packed(&server, folder.path());
        let mut words = vec!["mount", "s3://bucket/d.zip", "at", "--disk-cache", "16MiB"];
        words.extend(["--", "sh", "-c", "cat at/art/a at/b"]);
        let mut requests = Vec::new();
        for _ in 0..3 {
            let before = server.served().requests;
            let output = caching(&server, folder.path(), &words);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if said.contains("cannot mount") {
                println!("skipped: FUSE is not to be had here: {said}");
                return;
            }
            let expected = format!("brick{}", "wood".repeat(10_000));
            assert!(output.stdout == expected.as_bytes() && said.is_empty(), "{said}");
            requests.push(server.served().requests - before);
        }
        assert!(requests[0] > 1, "{requests:?}");
        assert_eq!(requests[1..], [1, 1], "it only asks which version there is");
        assert!(folder.path().join("cache/seekless/objects").exists());
    }

    #[test]
    fn a_cache_that_cannot_be_made_is_said_and_nothing_fails() {
        let folder = workplace();
        let server = ObjectServer::start(Conduct::plain()).unwrap();
        packed(&server, folder.path());
        fs::write(folder.path().join("cache"), "no folder").unwrap();
        let mut words = vec!["mount", "s3://bucket/d.zip", "at", "--disk-cache", "16MiB"];
        words.extend(["--", "cat", "at/art/a"]);
        let output = caching(&server, folder.path(), &words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if said.contains("cannot mount") {
            println!("skipped: FUSE is not to be had here: {said}");
            return;
        }
        assert!(output.stdout == b"brick" && said.contains("there is no disk cache"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        words[4] = "1MiB";
        let output = caching(&server, folder.path(), &words[..5]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains("give 8 MiB or more"), "{said}");
    }

    #[test]
    fn sleds_say_what_of_an_object_the_disk_cache_has() {
        let folder = workplace();
        let delay = Duration::from_millis(4);
        let server = ObjectServer::start(Conduct::plain().delayed(delay, delay / 4)).unwrap();
        packed(&server, folder.path());
        let sleds = || {
            let output = caching(&server, folder.path(), &["sleds", "s3://bucket/d.zip", "--json"]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()[0].clone()
        };
        let before = sleds();
        assert_eq!(before["sleds"].as_array().unwrap().len(), 1, "{before}");
        assert_eq!(
            (&before["sleds"][0]["level"], &before["origin"]),
            (&"network".into(), &"assumed".into())
        );
        assert!(before["sleds"][0]["latency_s"].as_f64().unwrap() >= 0.003, "{before}");
        assert!(!folder.path().join("cache").exists(), "asking keeps nothing");
        let run = "time_s,path,size\n0,art/a,5\n";
        fs::write(folder.path().join("run.csv"), run).unwrap();
        let mut words = vec!["compare", "data", "s3://bucket/d.zip", "--trace", "run.csv"];
        words.extend(["--rounds", "1", "--disk-cache", "16MiB"]);
        let output = caching(&server, folder.path(), &words);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let after = sleds();
        let levels: Vec<_> = after["sleds"].as_array().unwrap().iter().collect();
        let bytes: u64 = levels.iter().map(|sled| sled["bytes"].as_u64().unwrap()).sum();
        assert_eq!(bytes, server.content("/bucket/d.zip").unwrap().len() as u64);
        let here = levels.iter().find(|sled| sled["level"] != "network").unwrap();
        assert!(here["latency_s"].as_f64() < before["sleds"][0]["latency_s"].as_f64(), "{after}");
        assert!(after["notes"][0].as_str().unwrap().contains("cache/seekless/objects"), "{after}");
        // Another version has nothing of the cache.
        let words = "pack data -o s3://bucket/d.zip --force";
        assert!(run_on(&server, folder.path(), words).status.success());
        assert_eq!(sleds()["sleds"].as_array().unwrap().len(), 1);
    }

    /// Updates the pack with these words, and gives what the command says of it. The pack is that
    /// which the update of a file makes.
    fn updated(server: &ObjectServer, folder: &Path, words: &str) -> serde_json::Value {
        fs::write(folder.join("here.zip"), server.content("/bucket/d.zip").unwrap()).unwrap();
        let local = format!("pack data -o here.zip --update {words}");
        assert!(run(folder, &local).status.success());
        let remote = format!("pack data -o s3://bucket/d.zip --update --json {words}");
        let output = run_on(server, folder, &remote);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let here = fs::read(folder.join("here.zip")).unwrap();
        assert!(server.content("/bucket/d.zip").unwrap() == here, "as the file: {words}");
        assert_eq!(server.parts(), 0);
        serde_json::from_slice(&output.stdout).unwrap()
    }

    #[test]
    fn of_an_object_that_is_updated_only_what_has_changed_travels() {
        let folder = workplace();
        folder_to_pack(folder.path());
        for (number, name) in ["c", "d", "e"].iter().enumerate() {
            let byte = |at: u32| (at.wrapping_mul(2_654_435_761) >> (20 + number)) as u8;
            let bytes: Vec<u8> = (0..12 << 20).map(byte).collect();
            fs::write(folder.path().join("data").join(name), bytes).unwrap();
        }
        let server = ObjectServer::start(Conduct::plain()).unwrap();
        let words = "pack data -o s3://bucket/d.zip --codec stored";
        assert!(run_on(&server, folder.path(), words).status.success());
        let before = server.served().bytes;
        let done = updated(&server, folder.path(), "--codec stored");
        assert!(done["pack"].is_null() && done["travelled"].is_null(), "{done}");
        fs::write(folder.path().join("data/b"), "a file that has changed").unwrap();
        let done = updated(&server, folder.path(), "--codec stored");
        let travelled = &done["travelled"];
        let bytes = |name: &str| travelled[name].as_u64().unwrap();
        assert!(bytes("copied_bytes") > 24 << 20, "{done}");
        assert!(bytes("sent_bytes") < 12 << 20, "{done}");
        assert!(server.served().bytes - before < 12 << 20, "{done}");
        // With a check all of it is read, and the same is sent.
        fs::write(folder.path().join("data/new"), "one more").unwrap();
        let done = updated(&server, folder.path(), "--codec stored --verify");
        assert_eq!(done["pack"]["verified"], true, "{done}");
        assert!(done["travelled"]["copied_bytes"].as_u64().unwrap() > 24 << 20, "{done}");
        let whole = run_on(&server, folder.path(), "pack data --check s3://bucket/d.zip");
        assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    }

    #[test]
    fn a_small_pack_is_updated_and_one_that_is_absent_is_named() {
        let folder = workplace();
        folder_to_pack(folder.path());
        let server = ObjectServer::start(Conduct::plain()).unwrap();
        let words = "pack data -o s3://bucket/d.zip --update";
        let output = run_on(&server, folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("s3://bucket/d.zip") && said.contains("no such object"), "{said}");
        assert!(run_on(&server, folder.path(), "pack data -o s3://bucket/d.zip").status.success());
        fs::write(folder.path().join("data/b"), "stone").unwrap();
        let done = updated(&server, folder.path(), "");
        assert_eq!(done["rewritten"]["files"], 1, "{done}");
        let output = run_on(&server, folder.path(), "pack --from s3://bucket/d.zip -o copy.zip");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
