use super::layout::{self, rule};
use super::*;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::{Command, Stdio};

const OPENAT: Rule = Rule {
    number: libc::SYS_openat as u32,
    path: Some(1),
    directory: Some(0),
    opens: true,
    moves: false,
};
const LIST: Rule = Rule {
    number: libc::SYS_getdents64 as u32,
    path: None,
    directory: Some(0),
    opens: false,
    moves: false,
};

fn id_of(path: &Path) -> FileId {
    let found = std::fs::metadata(path).unwrap();
    let device = found.dev();
    FileId::new(rustix::fs::major(device), rustix::fs::minor(device), found.ino())
}

/// Runs a program once it is followed; what was seen of it.
fn seen(script: &str, each: impl FnMut(Event<'_>)) -> Option<u64> {
    let mut needs = match FirstNeeds::load(&[OPENAT, LIST]) {
        Ok(needs) => needs,
        Err(error) => {
            eprintln!("skipped: {error}");
            return None;
        }
    };
    let mut child = Command::new("sh")
        .args(["-c", &format!("read line; {script}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    needs.follow(child.id() as i32).unwrap();
    drop(child.stdin.take()); // it reads the end, and goes on
    child.wait().unwrap();
    while needs.has_any() {
        std::thread::yield_now();
    }
    needs.take(each);
    Some(needs.lost())
}

#[test]
fn pages_are_reported_once_and_names_with_their_files() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = folder.path().join("data");
    let file = std::fs::File::create(&path).unwrap();
    file.write_all_at(&vec![7; 300 * 4096], 0).unwrap();
    let (data, place) = (id_of(&path), path.display());
    let script = format!(
        "dd if={place} bs=4096 skip=10 count=3 status=none; dd if={place} bs=512 skip=80 count=24 \
         status=none; dd if={place} bs=4096 skip=100 count=1 status=none; ls {}; cat /no/such; :",
        folder.path().display()
    );
    let (mut pages, mut opened, mut failed, mut listed) = (Vec::new(), 0, 0, 0);
    let mut executed = Vec::new();
    let lost = seen(&script, |event| match event {
        Event::Pages { kind: Kind::Read, file, first, last, .. } if file == data => {
            pages.push((first, last));
        }
        Event::Named { name, opened: Some(of), result: 0.., .. } if of == data => {
            assert_eq!(name, path.as_os_str().as_encoded_bytes());
            opened += 1;
        }
        Event::Named { name: b"/no/such", opened, result, .. } => {
            assert_eq!((opened, result), (None, -i64::from(libc::ENOENT)));
            failed += 1;
        }
        Event::Listed { folder: of, .. } => listed += u32::from(of == id_of(folder.path())),
        Event::Executed { name, .. } => executed.push(String::from_utf8_lossy(name).into_owned()),
        _ => {}
    });
    let Some(lost) = lost else { return };
    assert_eq!(lost, 0);
    assert_eq!(pages, [(10, 10), (11, 11), (12, 12), (100, 100)], "the second reads them again");
    assert_eq!((opened, failed), (3, 1));
    assert!(listed > 0);
    assert!(executed.iter().any(|name| name.ends_with("/dd")), "{executed:?}");
}

#[test]
fn a_rule_has_its_arguments_in_their_places() {
    let bits = layout::packed(&OPENAT) as i32;
    assert_eq!(bits & 3, rule::WANTED | rule::OPENS);
    assert_eq!((bits >> rule::PATH & 7, bits >> rule::DIRECTORY & 7), (2, 1));
    assert_eq!(layout::packed(&LIST) as i32 >> rule::PATH & 7, 0);
}

#[test]
fn a_record_that_is_cut_off_is_none() {
    assert_eq!(Event::parse(&[1, 0, 0, 0, 0, 0, 0, 0, 1]), None);
    assert_eq!(Event::parse(&[0; 64]), None);
}
