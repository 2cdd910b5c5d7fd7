//! What a pack says of its program's loads: an entry of its own, which updates keep.

use super::*;

/// A folder of files that compress to nothing much, two runs of it, and its pack.
fn packed_for_runs(options: &Options) -> (TempDir, PathBuf, PathBuf, Summary) {
    let (room, dir) = folder(&[("a", "0"), ("b", "1"), ("c", "2"), ("d", "3"), ("e/f", "4")]);
    let traces = [("old.csv", "0,d,1\n1,b,1\n"), ("new.csv", "0,d,1\n1,e/f,1\n2,b,1\n")];
    let traces = traces.map(|(name, loads)| {
        let path = room.path().join(name);
        fs::write(&path, format!("time_s,path,size\n{loads}")).expect("room");
        path
    });
    let out = dir.with_file_name("data.zip");
    let how = OrderBy::by("recent");
    let summary =
        pack_for_runs(&dir, &out, &traces, &how, options, &mut |_, _| {}).expect("packed");
    (room, dir, out, summary)
}

fn entry(archive: &Path) -> Option<(Method, Vec<u8>, bool)> {
    let bytes = fs::read(archive).expect("it is there");
    let index = Index::open(bytes.as_slice(), bytes.len() as u64).expect("our own");
    let number = index.find(PREDICTION)?;
    let entry = index.entry(number);
    let mut content = Vec::new();
    decode(&entry, PREDICTION, &bytes[entry.header_offset as usize..], &mut content)
        .expect("whole");
    Some((entry.method, content, number as usize + 1 == index.entries().len()))
}

/// The model in a pack of these names.
fn model_of(archive: &Path, runs: &[&[&str]]) -> Model {
    let names = names(contents(archive));
    let number = |name: &&str| names.iter().position(|other| other == name).expect("there") as Id;
    let runs: Vec<Vec<Id>> = runs.iter().map(|run| run.iter().map(number).collect()).collect();
    Model::train(names.len() as u32, &runs)
}

#[test]
fn a_pack_for_runs_says_what_they_load_and_counts_only_the_folder() {
    let (_room, _dir, out, summary) =
        packed_for_runs(&Options { verify: true, ..Options::default() });
    let (method, content, is_last) = entry(&out).expect("it is there");
    assert_eq!((method, is_last), (Method::Stored, true));
    let expected = model_of(&out, &[&["d", "b"], &["d", "e/f", "b"]]);
    assert_eq!(Model::from_bytes(&content).expect("our own"), expected);
    assert_eq!((summary.entries, summary.stored, summary.bytes), (5, 5, 5));
    assert_eq!(summary.prediction_bytes, content.len() as u64);
    assert_eq!(summary.archive_bytes, fs::metadata(&out).expect("it is there").len());
}

#[test]
fn a_pack_says_nothing_if_told_so_or_if_there_is_nothing_to_say() {
    let (_room, dir, out, summary) =
        packed_for_runs(&Options { no_prediction: true, ..Options::default() });
    assert_eq!((entry(&out), summary.prediction_bytes), (None, 0));
    pack_to(&dir, replacing(&out), &["d", "b"], &Options::default()).expect("packed");
    assert_eq!(entry(&out), None, "an order is no run");
}

/// The names in the pack of a folder of scenes that name models, which name textures, of which one
/// run loads some.
fn packed_scenes(options: &Options) -> (Vec<String>, Option<Model>, Summary) {
    let mut files = Vec::new();
    for scene in 0..6 {
        let models = [2 * scene, 2 * scene + 1];
        let named = models.map(|model| format!("<m>models/{model:02}.mesh</m>")).concat();
        files.push((format!("scenes/{scene:02}.xml"), named));
        for model in models {
            files.push((format!("models/{model:02}.mesh"), format!("skin=skins/{model:02}.dds")));
            files.push((format!("skins/{model:02}.dds"), "0123456789".repeat(4)));
        }
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (&name[..], &text[..])).collect();
    let (room, dir) = folder(&files);
    let load = |scene: u32| -> String {
        let of = |model| format!("0,models/{model:02}.mesh,1\n0,skins/{model:02}.dds,1\n");
        format!("0,scenes/{scene:02}.xml,1\n{}{}", of(2 * scene), of(2 * scene + 1))
    };
    let trace = room.path().join("run.csv");
    let loads: String = (0..4).map(load).collect();
    fs::write(&trace, format!("time_s,path,size\n{loads}")).expect("room");
    let out = dir.with_file_name("data.zip");
    let how = OrderBy::by("best");
    let summary = pack_for_runs(&dir, &out, &[trace], &how, options, &mut |_, _| {});
    let model = entry(&out).map(|(_, content, _)| Model::from_bytes(&content).expect("our own"));
    (names(contents(&out)), model, summary.expect("packed"))
}

#[test]
fn what_no_run_loads_lies_behind_what_names_it_and_is_foretold() {
    let (names, model, summary) = packed_scenes(&Options::default());
    let place = |name: &str| names.iter().position(|other| other == name).expect("there");
    let scene = place("scenes/04.xml");
    let mut behind = names[scene + 1..scene + 5].to_vec();
    behind.sort();
    assert_eq!(behind, ["models/08.mesh", "models/09.mesh", "skins/08.dds", "skins/09.dds"]);
    let model = model.expect("it is there");
    let named: Vec<Id> = model.references().of(scene as Id).map(|(file, _)| file).collect();
    let mut models = ["models/08.mesh", "models/09.mesh"].map(|name| place(name) as Id);
    models.sort();
    assert!(models.iter().all(|file| named.contains(file)), "{names:?} {named:?}");
    let seen = place("scenes/00.xml") as Id;
    assert_eq!(model.references().of(seen).count(), 0, "the runs tell what comes after it");
    assert_eq!(summary.references, model.references().len() as u64);
}

#[test]
fn files_are_not_looked_through_if_told_so() {
    let without = Options { no_references: true, ..Options::default() };
    let (names, model, summary) = packed_scenes(&without);
    assert_eq!((model.map(|model| model.references().len()), summary.references), (Some(0), 0));
    assert_eq!(names.len(), 30);
}

#[test]
fn what_an_unpacked_pack_has_left_is_not_packed() {
    let (_room, dir) = folder(&[("a", "0"), (PREDICTION, "of another pack")]);
    assert_eq!(names(packed(&dir, &[], &Options::default()).expect("packed")), ["a"]);
    let summary =
        pack_to(&dir, replacing(&dir.with_file_name("data.zip")), &[], &Options::default());
    assert_eq!(summary.expect("packed").excluded, 1);
}

#[test]
fn an_update_keeps_what_the_pack_says_under_new_numbers() {
    let (_room, dir, out, _) = packed_for_runs(&Options::default());
    let is_current = |options: &Options| {
        differences(&dir, &out, Evidence::SizeAndTime, options).expect("both are there").is_empty()
    };
    let options = Options { verify: true, ..Options::default() };
    let before = names(contents(&out));
    let said = Model::from_bytes(&entry(&out).expect("it is there").1).expect("our own");
    assert!(is_current(&options), "the folder has no such file, and need not");
    fs::write(dir.join("a0"), "new").expect("room");
    fs::remove_file(dir.join("d")).expect("ours");
    update(&dir, &out, Evidence::SizeAndTime, &options, &mut |_, _| {}).expect("updated");
    let found = Model::from_bytes(&entry(&out).expect("kept").1).expect("our own");
    let after = names(contents(&out));
    let place = |number: Id| after.iter().position(|name| *name == before[number as usize]);
    let expected = said.renumbered(5, |number| place(number).map(|place| place as Id));
    assert_eq!((found.loads(), found == expected), (3, true), "{before:?}, then {after:?}");
    fs::write(dir.join("a1"), "new").expect("room");
    let without = Options { no_prediction: true, ..options };
    update(&dir, &out, Evidence::SizeAndTime, &without, &mut |_, _| {}).expect("updated");
    assert_eq!(entry(&out), None);
}

#[test]
fn an_update_leaves_out_what_is_unwanted_though_nothing_else_changed() {
    let (_room, dir, out, _) = packed_for_runs(&Options::default());
    let without = Options { no_prediction: true, ..Options::default() };
    let done = update(&dir, &out, Evidence::SizeAndTime, &without, &mut |_, _| {}).expect("ok");
    assert_eq!((entry(&out), done.pack.is_some(), done.kept.files), (None, true, 5));
    let done = update(&dir, &out, Evidence::SizeAndTime, &without, &mut |_, _| {}).expect("ok");
    assert!(done.pack.is_none());
}

#[test]
fn an_update_tells_that_what_the_pack_says_is_damaged() {
    let (_room, dir, out, _) = packed_for_runs(&Options::default());
    let mut bytes = fs::read(&out).expect("it is there");
    let index = Index::open(bytes.as_slice(), bytes.len() as u64).expect("our own");
    let said = index.entry(index.find(PREDICTION).expect("it is there"));
    bytes[(said.header_offset + said.extent_bytes - 1) as usize] ^= 0xFF;
    fs::write(&out, &bytes).expect("room");
    let by = |verify| {
        let options = Options { verify, ..Options::default() };
        update(&dir, &out, Evidence::SizeAndTime, &options, &mut |_, _| {}).expect("updated")
    };
    let told = by(false);
    assert!(told.pack.is_none() && told.prediction_fault.is_some(), "{told:?}");
    let mended = by(true);
    assert!(mended.pack.is_some() && mended.prediction_fault.is_some(), "{mended:?}");
    assert_eq!((entry(&out), by(true).prediction_fault), (None, None));
}
