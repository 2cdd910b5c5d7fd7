//! `seekless advise TRACE...`: what it says of generated traces is what full sweeps find.

use super::shared_data::data;
use super::{printed, run, workplace};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Requests that the ids come in, as `--format ids` reads them.
fn write_ids(path: &Path, ids: impl Iterator<Item = u64>) {
    fs::write(path, ids.map(|id| format!("{id}\n")).collect::<String>()).unwrap();
}

/// Numbers that look random; the same each time.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) * limit) >> 31
    }
}

fn looping() -> Vec<u64> {
    (0..60_000).map(|turn| turn % 2000).collect()
}

/// Four of five requests are for 1,000 hot ids, the others for new ones.
fn scan_with_hot_set() -> Vec<u64> {
    let (mut draws, mut next) = (Draws(3), 1000);
    let mut id = || {
        if draws.below(5) > 0 {
            return draws.below(1000);
        }
        next += 1;
        next
    };
    (0..120_000).map(|_| id()).collect()
}

/// The chance of an id is as 1 / (id + 1).
fn zipf() -> Vec<u64> {
    let mut draws = Draws(7);
    let mut id =
        || (20_000_f64.powf(draws.below(1 << 30) as f64 / f64::from(1 << 30)) - 1.0) as u64;
    (0..120_000).map(|_| id()).collect()
}

fn json(folder: &Path, words: &str) -> Value {
    serde_json::from_str(&printed(folder, words)).expect("JSON alone")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// What is advised on a cache.
fn advice(folder: &Path, words: &str) -> Value {
    json(folder, &format!("advise {words} --format ids --unit-weights --json"))["cache"].clone()
}

/// The least misses of all requests of these policies in a cache of this size.
fn best(folder: &Path, trace: &str, policies: &str, capacity: u64) -> f64 {
    let words = format!(
        "sim {trace} --format ids --unit-weights --policy {policies} --capacity {capacity} --json"
    );
    let rows = json(folder, &words);
    rows.as_array().unwrap().iter().map(|row| number(&row["miss_ratio"])).fold(1.0, f64::min)
}

/// Policies that take weights.
const WEIGHED: &str =
    "lru,fifo,clock,slru,lfu-da,lru-2,mq,sieve,s3-fifo,2q,arc,lirs,clock-pro,clock2q+,w-tinylfu";
const SWEPT: &str = "lru,fifo,clock,slru,lfu-da,lru-2,mq,sieve,s3-fifo,2q,arc,car,lirs,clock-pro,clock2q+,w-tinylfu";

/// New ids until the cache is full, and then a loop that is a little larger than it: the first half
/// does not show which policy the second half needs.
fn filling_then_looping() -> Vec<u64> {
    (0..10_000).chain((0..10_000).map(|turn| 10_000 + turn % 1000)).collect()
}

#[test]
fn the_advised_policy_hits_as_the_best_of_a_full_sweep() {
    let folder = workplace();
    let traces = [
        ("loop", looping()),
        ("scan", scan_with_hot_set()),
        ("zipf", zipf()),
        ("phases", filling_then_looping()),
    ];
    for (name, ids) in traces {
        write_ids(&folder.path().join(name), ids.into_iter());
        for cache in ["", "--cache 700", "--cache 10%"] {
            let advice = advice(folder.path(), &format!("{name} {cache}"));
            let advised = &advice["advised"];
            let capacity = advised["capacity"].as_u64().unwrap();
            let least = best(folder.path(), name, SWEPT, capacity);
            let found = number(&advised["miss_ratio"]);
            assert!(found - least <= 0.02, "{name} {cache}: {found}, at best {least}: {advised}");
        }
    }
}

#[test]
fn a_choice_that_half_of_the_trace_would_not_make_is_said_to_be_less_sure() {
    let folder = workplace();
    let doubt = |name: &str, ids: Vec<u64>| {
        write_ids(&folder.path().join(name), ids.into_iter());
        let words = format!("advise {name} --format ids --unit-weights --cache 700");
        let text = printed(folder.path(), &words);
        assert!(text.contains("Held out:"), "{text}");
        text.contains("its first half would have chosen lru")
    };
    assert!(doubt("phases", filling_then_looping()));
    assert!(!doubt("loop", looping()), "both halves choose alike");
    let words = "advise phases --format ids --unit-weights --cache 700 --json";
    let advice = json(folder.path(), words)["cache"].clone();
    let at_base = |it: &&Value| it["capacity"] == 700;
    let first = advice["measures"].as_array().unwrap().iter().find(at_base).unwrap().clone();
    assert_eq!(
        (&first["held_out"]["policy"], &first["held_out_saved"]),
        (&"lru".into(), &0.0.into())
    );
    assert!(number(&first["misses_saved"]) > 0.2, "{first}");
}

#[test]
fn the_knee_is_where_the_second_derivative_of_the_curve_is_largest() {
    let folder = workplace();
    for (name, ids) in [("loop", looping()), ("scan", scan_with_hot_set())] {
        write_ids(&folder.path().join(name), ids.into_iter());
        let knee = advice(folder.path(), name)["knee"].clone();
        let capacity = knee["capacity"].as_u64().unwrap();
        let ratio = |size: u64| best(folder.path(), name, "lru", size.max(1));
        let bend = |size: u64| ratio(size / 2) - 2.0 * ratio(size) + ratio(2 * size);
        assert!((number(&knee["bend"]) - bend(capacity)).abs() < 0.005, "{name}: {knee}");
        for other in [capacity / 4, capacity / 2, capacity * 2 / 3] {
            assert!(bend(other) < bend(capacity), "{name}: {other} bends more than {capacity}");
        }
        for other in [capacity * 3 / 2, capacity * 3, capacity * 6] {
            assert!(bend(other) <= 1.06 * bend(capacity), "{name}: {other} bends more: {knee}");
        }
    }
    write_ids(&folder.path().join("zipf"), zipf().into_iter());
    assert_eq!(advice(folder.path(), "zipf")["knee"], Value::Null);
}

#[test]
fn the_present_cache_stands_beside_what_would_help_and_the_commands_run() {
    let folder = workplace();
    write_ids(&folder.path().join("scan.ids"), scan_with_hot_set().into_iter());
    let words = "advise scan.ids --format ids --unit-weights --cache 700 --policy fifo";
    let text = printed(folder.path(), words);
    assert!(text.contains("Your cache of 700 ids hits"), "{text}");
    assert!(text.contains("1,400 ids would hit"), "{text}");
    assert!(text.contains("(now: fifo, 700 ids)"), "{text}");
    let commands: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("  seekless ")).collect();
    assert_eq!(commands.len(), 2, "{text}");
    for command in commands {
        printed(folder.path(), command);
    }
    let figures = json(folder.path(), &format!("{words} --json"))["cache"].clone();
    let measures = figures["measures"].as_array().unwrap();
    let misses: Vec<f64> = measures.iter().map(|it| number(&it["miss_ratio"])).collect();
    assert!(misses.is_sorted() && (1..=5).contains(&misses.len()), "{misses:?}");
    let present = number(&figures["present"]["miss_ratio"]);
    assert!(measures.iter().all(|it| number(&it["misses_saved"]) >= 0.05 * present), "{figures}");
}

#[test]
fn nothing_helps_where_every_request_is_the_first() {
    let folder = workplace();
    write_ids(&folder.path().join("once.ids"), 0..5000);
    let text = printed(folder.path(), "advise once.ids --format ids --unit-weights");
    assert!(text.contains("Nothing helps"), "{text}");
}

#[test]
fn writes_and_sequential_reads_are_seen_in_a_block_trace() {
    let folder = workplace();
    // Reads of one page after the other, and a page that is written again and again.
    let rows: String = (0..4000_u64)
        .map(|turn| match turn % 4 {
            0 => format!("{turn},disk,0,write,4096\n"),
            _ => format!("{turn},disk,{},read,4096\n", 1_000_000 * 4096 + (turn - turn / 4) * 4096),
        })
        .collect();
    fs::write(folder.path().join("disk.csv"), format!("time_us,path,offset,op,bytes\n{rows}"))
        .unwrap();
    let output = run(folder.path(), "advise disk.csv --unit page --cache 1MiB --json");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let advice: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (writes, ahead) = (&advice["cache"]["writes"], &advice["cache"]["reading_ahead"]);
    assert_eq!(number(&writes["share"]), 0.25);
    assert!(number(&writes["rewritten"]) > 0.99 && number(&writes["absorbed"]) > 0.99, "{writes}");
    assert!(number(&ahead["sequential_share"]) > 0.7, "{ahead}");
    assert!(number(&ahead["with_s"]) < 0.5 * number(&ahead["without_s"]), "{ahead}");
}

/// Runs that load 200 small files of which all but ten are the same.
fn loads(folder: &Path, name: &str, own: u64) {
    let rows: String = (0..200_u64)
        .map(|turn| {
            let file = if turn < 190 { turn } else { 1000 * own + turn };
            format!("{}.0,game/art/{}/{file:04},9000\n", turn / 100, file % 3)
        })
        .collect();
    fs::write(folder.join(name), format!("time_s,path,size\n{rows}")).unwrap();
}

#[test]
fn the_wait_for_a_programs_files_is_estimated_and_its_parts_add_up() {
    let folder = workplace();
    loads(folder.path(), "monday.csv", 1);
    loads(folder.path(), "tuesday.csv", 2);
    let words = "advise monday.csv tuesday.csv --device iops=100,bandwidth=100MB/s";
    let advice = json(folder.path(), &format!("{words} --json"))["files"].clone();
    assert_eq!((&advice["estimated"], &advice["held_out"]), (&true.into(), &true.into()));
    assert_eq!(
        (&advice["needed_files"], &advice["device"]["source"]),
        (&200.into(), &"given".into())
    );
    let wait_s = number(&advice["wait_s"]);
    assert!(wait_s >= 200.0 * 0.01, "at least a request a file: {wait_s}");
    for parts in ["parts", "folders"] {
        let parts = advice[parts].as_array().unwrap();
        let sum_s: f64 = parts.iter().map(|part| number(&part["wait_s"])).sum();
        assert!((sum_s - wait_s).abs() < 1e-6, "{sum_s} of {wait_s}: {parts:?}");
    }
    let measures = advice["measures"].as_array().unwrap();
    assert!(!measures.is_empty(), "a pack of small files helps: {advice}");
    assert!(measures.iter().all(|it| wait_s - number(&it["wait_s"]) >= 0.02), "{measures:?}");
    let text = printed(folder.path(), words);
    assert!(text.contains("estimated from the trace") && text.contains("Do this:"), "{text}");
}

#[test]
fn tars_and_lists_of_image_layers_are_judged_and_their_commands_run() {
    let folder = workplace();
    let game = folder.path().join("game");
    fs::create_dir(&game).unwrap();
    let rows = (0..100).map(|turn| {
        let path = game.join(format!("{:04}", turn * 37 % 100));
        fs::write(&path, [0; 4000]).unwrap();
        format!("{turn}.0,{},4000\n", path.display())
    });
    let rows: String = rows.collect();
    fs::write(folder.path().join("run.csv"), format!("time_s,path,size\n{rows}")).unwrap();
    let text = printed(folder.path(), "advise run.csv");
    assert!(text.contains("If a container image holds its files"), "{text}");
    assert!(text.contains("A larger page cache or another policy would not help"), "{text}");
    let exports: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  seekless "))
        .filter(|line| line.starts_with("export"))
        .collect();
    assert_eq!(exports.len(), 2, "{text}");
    for command in exports {
        assert!(run(folder.path(), command).status.success(), "{command}");
    }
    assert!(folder.path().join("layer.tar").metadata().unwrap().len() > 400_000);
    assert_eq!(fs::read_to_string(folder.path().join("list.txt")).unwrap().lines().count(), 100);
}

#[test]
fn of_one_run_nothing_is_held_out_and_a_fast_device_needs_no_help() {
    let folder = workplace();
    loads(folder.path(), "run.csv", 1);
    let fast = "advise run.csv --device iops=1000000,bandwidth=10GB/s";
    let advice = json(folder.path(), &format!("{fast} --json"))["files"].clone();
    assert_eq!(advice["held_out"], false);
    assert_eq!(advice["measures"].as_array().unwrap().len(), 0, "{advice}");
    assert!(printed(folder.path(), fast).contains("Nothing helps"));
    let assumed = json(folder.path(), "advise run.csv --json")["files"].clone();
    assert_eq!(assumed["device"]["source"], "assumed");
}

#[test]
fn the_page_holds_the_answer_and_the_curve_or_the_files() {
    let folder = workplace();
    write_ids(&folder.path().join("loop.ids"), looping().into_iter());
    loads(folder.path(), "run.csv", 1);
    let cached = "advise loop.ids --format ids --unit-weights --cache 700";
    for (words, answer, part) in [
        (cached, "Your cache of 700 ids hits", "Misses by size"),
        ("advise run.csv", "With nothing cached the newest run waits", "Where the wait goes"),
    ] {
        let text = printed(folder.path(), &format!("{words} --html page.html --force"));
        let html = fs::read_to_string(folder.path().join("page.html")).unwrap();
        let sentence = text.lines().find(|line| line.starts_with(answer)).expect("the answer");
        assert!(html.contains(part) && html.contains(sentence), "{sentence}");
        assert!(html.len() < 1 << 20, "{} bytes", html.len());
        let again = run(folder.path(), &format!("{words} --html page.html"));
        assert!(!again.status.success(), "it is there");
    }
}

#[test]
fn a_program_without_dashes_is_explained() {
    let folder = workplace();
    let output = run(folder.path(), "advise no-such-trace");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("no-such-trace"), "{said}");
    assert!(said.contains("seekless advise -- CMD"), "{said}");
    assert!(!run(folder.path(), "advise a.parquet --runs 3").status.success());
    assert!(!run(folder.path(), "advise --cache 1MiB -- true").status.success());
}

#[test]
fn advice_on_public_traces_is_near_the_best_of_a_full_sweep() {
    let folder = workplace();
    let near = |trace: &str, how: &str, policies: &str, caches: &[&str]| {
        let Some(path) = data(trace) else { return };
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        std::os::unix::fs::symlink(&path, folder.path().join(&name)).unwrap();
        for cache in caches {
            let words = format!("advise {name} {how} --cache {cache} --json");
            let advised = json(folder.path(), &words)["cache"]["advised"].clone();
            let capacity = &advised["capacity"];
            let words =
                format!("sim {name} {how} --policy {policies} --capacity {capacity}B --json");
            let rows = json(folder.path(), &words);
            let misses = rows.as_array().unwrap().iter().map(|row| number(&row["miss_ratio"]));
            let least = misses.fold(1.0, f64::min);
            let found = number(&advised["miss_ratio"]);
            assert!(found - least <= 0.02, "{name} {cache}: {found}, best {least}: {advised}");
        }
    };
    let weighed = format!("{WEIGHED},landlord,gds,gdsf,hyperbolic,qdlp");
    let blocks = "cloudphysics/cloudPhysicsIO.oracleGeneral.bin";
    near(blocks, "--format oracle-general", &weighed, &["200MB", "400MB", "800MB", "1600MB"]);
    let web = "mccarthy-2015/trace3.txt";
    near(web, "--format ids --unit-weights", SWEPT, &["2000", "20000"]);
}
