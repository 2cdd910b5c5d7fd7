use super::learn::rate;
use super::mentions::{Lists, MENTIONS_OF_FILE_MAX};
use super::names::{How, Index, Way};
use super::tokens::NAME_BYTES_MAX;
use super::tokens::{Part, each};
use super::*;
use seekless_job::ErrorKind;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// A folder with these files, scanned: which names each file mentions.
fn scanned(files: &[(&str, &[u8])]) -> BTreeMap<String, Vec<String>> {
    let (folder, names, bytes) = written(files);
    let mentions = scan(folder.path(), &names, &bytes);
    let of = |file: usize| mentions.of(file as Id).map(|(to, _)| names[to as usize].clone());
    (0..names.len()).map(|file| (names[file].clone(), of(file).collect())).collect()
}

fn written(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Vec<String>, Vec<u64>) {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let names = files.iter().map(|(name, _)| (*name).to_owned()).collect();
    (folder, names, files.iter().map(|(_, content)| content.len() as u64).collect())
}

fn scan(dir: &Path, names: &[String], bytes: &[u64]) -> Mentions {
    scan_folder(dir, Files { names, bytes }, &AtomicBool::new(false), &mut |_, _| {}).unwrap()
}

/// What `token` in the file 0 means.
fn resolved(names: &[&str], token: &str) -> Vec<(Id, Way)> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut found = Vec::new();
    Index::new(&names).resolve(0, token.as_bytes(), &mut found);
    found.iter().map(|&(file, how)| (file, how.way)).collect()
}

#[test]
fn a_name_is_found_in_each_way() {
    let names = [
        "site/pages/index.html",
        "site/pages/img/logo.png",
        "site/img/wall.png",
        "art/skins/Stone.png.cached.dds",
        "art/actors/house.xml",
        "lib/json/decoder.py",
    ];
    for (token, file, way) in [
        ("site/img/wall.png", 2, Way::Whole),
        ("/site/img/wall.png", 2, Way::Whole),
        ("www.example.org/site/img/wall.png", 2, Way::Whole),
        ("img/logo.png", 1, Way::Relative),
        ("./img/logo.png", 1, Way::Relative),
        ("../img/wall.png", 2, Way::Relative),
        ("img/wall.png", 2, Way::End),
        ("wall.png", 2, Way::Last),
        ("skins/stone.png", 3, Way::Longer),
        ("stone.png", 3, Way::LastLonger),
        ("actors/house", 4, Way::Longer),
        ("house", 4, Way::LastLonger),
        ("skins/stone.tga", 3, Way::Other),
        ("stone.tga", 3, Way::LastOther),
        ("json.decoder", 5, Way::Dotted),
    ] {
        assert_eq!(resolved(&names, token), [(file, way)], "{token}");
    }
    for token in ["ouse.xml", "mg/wall.png", "../../../img/wall.png", "./wall.png", "img", "art"] {
        assert_eq!(resolved(&names, token), [], "{token}");
    }
}

#[test]
fn a_named_file_comes_with_what_was_made_of_it() {
    let names =
        ["maps/a.xml", "art/oak.xml", "art/oak.xml.cached.xmb", "art/oak.xmlx", "art/oak.png"];
    let both = |way| [(1, way), (2, Way::MadeOf)];
    assert_eq!(resolved(&names, "art/oak.xml"), both(Way::Whole));
    assert_eq!(resolved(&names, "../art/oak.xml"), both(Way::Relative));
    assert_eq!(resolved(&names, "oak.xml"), both(Way::Last));
    // A name without an extension means all alike.
    assert_eq!(resolved(&names, "art/oak").len(), 4);
}

#[test]
fn a_name_that_many_files_have_means_none() {
    let names: Vec<String> = (0..10).map(|number| format!("{number}/init.py")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(resolved(&names[..5], "init.py"), [(0, Way::Relative)]);
    assert_eq!(resolved(&[&["x"], &names[..4]].concat(), "init.py").len(), 4);
    assert_eq!(resolved(&[&["x"], &names[..5]].concat(), "init.py"), []);
    assert_eq!(resolved(&[&["x"], &names[..8]].concat(), "init").len(), 8);
    assert_eq!(resolved(&[&["x"], &names[..9]].concat(), "init"), []);
    assert_eq!(resolved(&names, "7/init.py"), [(7, Way::Whole)]);
}

#[test]
fn files_that_differ_in_extensions_belong_together() {
    let names = ["a/foo.xml", "a/foo.xml.cached.xmb", "a/foo.pmp", "b/foo.xml", "a/foobar.xml"];
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let index = Index::new(&names);
    let companions = |file| {
        let mut found = Vec::new();
        index.companions(file, &mut found);
        found.iter().map(|&(other, how)| (other, how.way)).collect::<Vec<_>>()
    };
    assert_eq!(companions(0), [(1, Way::Made), (2, Way::Sibling)]);
    assert_eq!(companions(1), [(0, Way::Source), (2, Way::Sibling)]);
    assert_eq!(companions(2), [(0, Way::Sibling), (1, Way::Sibling)]);
    assert_eq!((companions(3), companions(4), companions(9)), (vec![], vec![], vec![]));
}

/// The candidates in `bytes`.
fn tokens(bytes: &[u8], with_spaces: bool) -> Vec<String> {
    let mut found = Vec::new();
    let part = Part { bytes, is_first: true, is_last: true };
    each(part, with_spaces, &mut |token| {
        found.push(String::from_utf8_lossy(token).into_owned());
        true
    });
    found
}

#[test]
fn candidates_stand_in_text_and_between_binary_numbers() {
    assert_eq!(tokens(b"<a href=\"x/wall.png\">go</a>", false), ["href", "x/wall.png"]);
    assert_eq!(tokens(b"\x05\0\0\0grass9\x01\0", false), ["grass", "grass9"]);
    assert_eq!(tokens(b"\x01g\0r\0a\0s\0s\0\0\0", false), ["grass"]);
    let text = "see 'My Wall.png' now";
    assert!(tokens(text.as_bytes(), true).contains(&"My Wall.png".to_owned()));
    assert_eq!(tokens(&[b'a'; NAME_BYTES_MAX + 1], true), Vec::<String>::new());
}

#[test]
fn what_a_part_cuts_is_left_to_the_next() {
    let count = |is_first, is_last| {
        let mut count = 0;
        let bytes = b"wall.png road.png";
        each(Part { bytes, is_first, is_last }, false, &mut |_| {
            count += 1;
            true
        });
        count
    };
    assert_eq!((count(true, true), count(false, true), count(false, false)), (2, 1, 0));
}

#[test]
fn a_folder_is_scanned() {
    let mut long = vec![b'.'; (1 << 20) - 7];
    long.extend_from_slice(b" art/wall.dds ");
    let found = scanned(&[
        ("map.pmp", b"\x12\0\0\0\x04\0\0\0walltail\x05\0\0\0roads"),
        ("art/wall.dds", b"\xff\xfe\x80"),
        ("art/roads.xml", b"<texture file='WALL.DDS'/><self file='roads.xml'/>"),
        ("over.txt", &long),
        ("nothing.txt", b""),
        ("My Page.html", b"<a href=\"over.txt\"> <a href='My%20Other.html'>"),
        ("My Other.html", b"<a href=\"My Page.html\">"),
    ]);
    assert_eq!(found["map.pmp"], ["art/wall.dds", "art/roads.xml"]);
    assert_eq!(found["art/roads.xml"], ["art/wall.dds"]);
    assert_eq!(found["over.txt"], ["art/wall.dds"]);
    assert_eq!(found["My Page.html"], ["over.txt", "My Other.html"]);
    assert_eq!(found["My Other.html"], ["My Page.html"]);
    assert_eq!(found["nothing.txt"].len() + found["art/wall.dds"].len(), 0);
}

#[test]
fn hostile_content_names_nothing_and_ends() {
    let many: Vec<u8> = b"nothing.txt ".repeat(1 << 16);
    let found = scanned(&[
        ("a.bin", &vec![b'a'; 64 << 20]),
        ("b.bin", &vec![0xff; 1 << 20]),
        ("c.bin", &b"../".repeat(1 << 18)),
        ("d.bin", &b"a.".repeat(1 << 18)),
        ("e.bin", &b"a\0".repeat(1 << 19)),
        ("f.bin", &b"%%25%zz\\\\//".repeat(1 << 16)),
        ("nothing.txt", &many),
        ("\u{fc}n\u{ef}.txt", "\u{dc}n\u{ef}.txt".as_bytes()),
    ]);
    assert!(found.values().all(Vec::is_empty), "{found:?}");
}

#[test]
fn what_cannot_be_read_has_no_mentions() {
    let long = "l/".repeat(3_000) + "end.txt";
    let names = ["gone.txt", "../up.txt", "/etc/passwd", "folder/", "", ".", &long, "one.txt"];
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("one.txt"), "gone.txt").unwrap();
    let mut progress = Vec::new();
    let files = Files { names: &names, bytes: &[5, 5] };
    let cancel = AtomicBool::new(false);
    let mentions =
        scan_folder(folder.path(), files, &cancel, &mut |done, all| progress.push((done, all)));
    let mentions = mentions.unwrap();
    assert_eq!((mentions.len(), mentions.of(7).next().unwrap().0), (1, 0));
    assert_eq!(mentions.of(99).count(), 0);
    assert_eq!(progress.last(), Some(&(10, 10)));
    cancel.store(true, Ordering::Relaxed);
    let refused = scan_folder(folder.path(), files, &cancel, &mut |_, _| {}).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Interrupted);
    let none = Files { names: &[], bytes: &[] };
    assert!(scan_folder(folder.path(), none, &AtomicBool::new(false), &mut |_, _| {}).is_ok());
}

#[test]
fn a_kind_that_names_nothing_is_left_unread() {
    let noise = vec![0x81; 300 << 10];
    let names: Vec<String> = (0..100).map(|number| format!("picture{number:02}.dds")).collect();
    let mut files: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &*noise)).collect();
    // Every fifth is tried, the second is not.
    files[1].1 = b"list.txt";
    files.push(("list.txt", b"picture00.dds picture01.dds"));
    let found = scanned(&files);
    assert_eq!(found["picture01.dds"], Vec::<String>::new());
    assert_eq!(found["list.txt"], ["picture00.dds", "picture01.dds"]);
}

#[test]
fn mentions_are_bounded() {
    let names: Vec<String> = (0..5_000).map(|number| format!("file{number}.txt")).collect();
    let all = names.join("\n");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(&names[0]), &all).unwrap();
    let mentions = scan(folder.path(), &names, &[all.len() as u64]);
    assert_eq!(mentions.of(0).count(), MENTIONS_OF_FILE_MAX);
    // The first of each file stay, in whatever order the files come.
    let how = How::new(Way::Whole, 1);
    let kept = |order: &[Id]| {
        let mut lists = Lists::new(5, 10);
        for &file in order {
            lists.add(file, (0..file * 3).map(|to| (to, how)).collect());
        }
        let mentions = Mentions::new(&names[..20], lists);
        let of = |file| mentions.of(file).map(|(to, _)| to).collect::<Vec<_>>();
        (0..5).map(of).collect::<Vec<_>>()
    };
    let expected = [vec![], vec![0, 1], vec![0, 1], vec![0, 1], vec![0, 1]];
    assert_eq!(kept(&[0, 1, 2, 3, 4]), expected);
    assert_eq!(kept(&[4, 3, 2, 1, 0]), expected);
}

/// Maps 0 to 3, the known list 4, pictures 5 to 12: a map names two pictures wholly, and the list.
fn toy() -> Mentions {
    let mut names: Vec<String> = (0..4).map(|number| format!("{number}.map")).collect();
    names.push("list.xml".into());
    names.extend((5..13).map(|number| format!("{number}.png")));
    let whole = How::new(Way::Whole, 1);
    let mut lists = Lists::new(names.len(), 100);
    for map in 0..4 {
        lists.add(map, vec![(5 + 2 * map, whole), (6 + 2 * map, whole)]);
    }
    Mentions::new(&names, lists)
}

#[test]
fn chances_are_the_rates_of_runs_without_the_others() {
    // Both runs load their map and the first picture, and only one the second.
    let runs: [&[Id]; 2] = [&[4, 0, 5, 6], &[4, 1, 7, 4]];
    let references = learn(&toy(), 13, &runs);
    // Of 4 mentions 3 came true, in each of three classes, the coarser counting as 4.
    let chance = (rate(3, 4, rate(3, 4, rate(3, 4, 0.1))) * 255.0).round() as u8;
    assert_eq!((rate(3, 4, 0.1), chance), (0.425, 171));
    let all: Vec<(Id, Id, u8)> = references.all().collect();
    assert_eq!(all, [(2, 9, chance), (2, 10, chance), (3, 11, chance), (3, 12, chance)]);
}

#[test]
fn what_was_loaded_before_or_that_others_have_is_not_judged() {
    // The first picture came before the map, the second in another run too.
    let runs: [&[Id]; 2] = [&[5, 0, 6], &[6]];
    assert!(learn(&toy(), 13, &runs).is_empty());
    // Without runs, and with runs of other files, nothing is likely.
    assert!(learn(&toy(), 13, &[]).is_empty());
    assert!(learn(&toy(), 13, &[&[4, 99, u32::MAX]]).is_empty());
    assert!(learn(&Mentions::default(), 0, &[&[4]]).is_empty());
    // Nothing of what the only run's map names came.
    assert!(learn(&toy(), 13, &[&[0]]).is_empty());
}

#[test]
fn a_known_file_between_is_a_step() {
    let names: Vec<String> =
        ["0.map", "1.map", "a.xml", "b.xml", "a.png", "b.png"].map(str::to_owned).to_vec();
    let mut lists = Lists::new(6, 100);
    let how = How::new(Way::Last, 1);
    for (from, to) in [(0, 2), (1, 3), (2, 4), (3, 5)] {
        lists.add(from, vec![(to, how)]);
    }
    let mentions = Mentions::new(&names, lists);
    // Every run has both lists; the first also the map and picture `a`.
    let runs: [&[Id]; 2] = [&[2, 3, 0, 4], &[2, 3]];
    let chance = rate(1, 1, rate(1, 1, rate(1, 1, 0.1)));
    let references: Vec<_> = learn(&mentions, 6, &runs).all().collect();
    assert_eq!(references, [(1, 5, (chance * 255.0).round() as u8)]);
    assert_eq!(chance, 0.5392);
}

#[test]
fn files_that_only_some_runs_have_are_named_too() {
    let names: Vec<String> = (0..8)
        .map(|number| format!("{number}.{}", if number < 5 { "map" } else { "png" }))
        .collect();
    let mut lists = Lists::new(8, 100);
    // Each map names the same three pictures.
    for map in 0..5 {
        lists.add(map, (5..8).map(|to| (to, How::new(Way::Whole, 1))).collect());
    }
    let mentions = Mentions::new(&names, lists);
    // Three of four runs have picture 5, all have 6, and none has 7.
    let runs: [&[Id]; 4] = [&[0, 5, 6], &[1, 5, 6], &[2, 5, 6], &[3, 6]];
    // To each of the first three runs 5 is a file that some of the others have, and it came. To the
    // last it is one that all others have.
    let chance = rate(3, 3, rate(3, 3, rate(3, 3, 0.1)));
    let references: Vec<_> = learn(&mentions, 8, &runs).all().collect();
    assert_eq!(references, [(4, 5, (chance * 255.0).round() as u8)]);
}
