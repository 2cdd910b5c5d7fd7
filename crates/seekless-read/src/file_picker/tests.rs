//! The picker of open files, over mock levels.

use super::*;
use crate::ErrorKind;
use crate::headroom::Headroom;
use seekless_sled::{Config, Devices};
use seekless_sys::residency;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A file whose mock says: 30 bytes far away, 40 near, the rest far away.
fn mocked(folder: &Path, text: &[u8]) -> (PathBuf, File, Surveyor) {
    let path = folder.join("data");
    std::fs::write(&path, text).unwrap();
    std::fs::write(
        folder.join("data.sleds.toml"),
        include_str!("../../../../tests/three_levels.sleds.toml"),
    )
    .unwrap();
    let config = Config { mock_files: true, ..Config::default() };
    let file = File::open(&path).unwrap();
    (path, file, Surveyor::with(config, Devices::default()))
}

fn text() -> Vec<u8> {
    (0..100).map(|at| if at % 8 == 7 { b'\n' } else { b'a' }).collect()
}

fn picks(pick: &mut FilePicker, file: &File, surveyor: &mut Surveyor) -> Vec<Range<u64>> {
    std::iter::from_fn(|| pick.next_read(file, surveyor).unwrap()).collect()
}

#[test]
fn the_cheapest_comes_first_in_whole_records() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let (_, file, mut surveyor) = mocked(folder.path(), &text());
    let mut pick =
        FilePicker::new(&file, &mut surveyor, 0..u64::MAX, 24, Records::Delimiter(b'\n')).unwrap();
    assert_eq!(pick.unseen_bytes(), 100);
    let found = picks(&mut pick, &file, &mut surveyor);
    assert_eq!(found, [32..56, 56..64, 64..88, 88..100, 0..24, 24..32]);
}

#[test]
fn elements_of_a_part_come_whole_and_nothing_beside_it() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let (_, file, mut surveyor) = mocked(folder.path(), &text());
    let records = Records::Fixed { origin: 10, bytes: 8 };
    let mut pick = FilePicker::new(&file, &mut surveyor, 10..90, 1000, records).unwrap();
    assert_eq!(picks(&mut pick, &file, &mut surveyor), [34..66, 66..90, 10..34]);
}

#[test]
fn a_new_look_sorts_what_is_left() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let (path, file, mut surveyor) = mocked(folder.path(), &text());
    let mut pick = FilePicker::new(&file, &mut surveyor, 0..u64::MAX, 20, Records::None).unwrap();
    assert_eq!(pick.next_read(&file, &mut surveyor).unwrap(), Some(30..50));
    let near = "[[range]]\nbytes = \"100\"\nlevel = \"memory\"\nlatency = \"1us\"\nbandwidth = \"4GB/s\"\n";
    std::fs::write(path.with_file_name("data.sleds.toml"), near).unwrap();
    pick.refresh(&file, &mut surveyor).unwrap();
    pick.set_chunk_bytes(40);
    assert_eq!(picks(&mut pick, &file, &mut surveyor), [0..30, 50..90, 90..100]);
}

#[test]
fn a_file_that_shrinks_or_is_another_is_an_error_and_growth_is_left_out() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let (path, file, mut surveyor) = mocked(folder.path(), &text());
    let mut pick = FilePicker::new(&file, &mut surveyor, 0..u64::MAX, 40, Records::None).unwrap();
    File::options().append(true).open(&path).unwrap().write_all(b"more").unwrap();
    assert_eq!(pick.next_read(&file, &mut surveyor).unwrap(), Some(30..70));
    let other = tempfile::tempfile().unwrap();
    assert_eq!(pick.next_read(&other, &mut surveyor).unwrap_err().kind(), ErrorKind::Changed);
    assert_eq!(pick.clone().next_read(&file, &mut surveyor).unwrap(), Some(70..100));
    File::options().write(true).open(&path).unwrap().set_len(99).unwrap();
    let error = pick.next_read(&file, &mut surveyor).unwrap_err();
    assert!(error.to_string().contains("data: became shorter"), "{error}");
}

/// A file of 3 MB of lines; about a third is cached where the page cache can be made to forget the
/// rest.
fn cached_in_part(text: &[u8]) -> File {
    let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    file.write_all(text).unwrap();
    file.sync_data().unwrap();
    residency::drop_cached(file.as_fd()).unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
    file.read_exact_at(&mut vec![0; 1 << 20], 1 << 20).unwrap();
    file
}

#[test]
fn in_a_full_cache_all_lines_come_once_and_the_cache_stays_as_it_was() {
    let line = |at: u32| format!("{}\n", "x".repeat((at * 7919 % 211) as usize));
    let text: Vec<u8> = (0..30_000).flat_map(|at| line(at).into_bytes()).collect();
    let file = cached_in_part(&text);
    let cached = || residency::resident_bytes(file.as_fd()).unwrap();
    let before = cached();
    let mut surveyor = Surveyor::with(Config::default(), Devices::default());
    for chunk_bytes in [100_000, 4096, 1 << 20] {
        let mut pick = FilePicker::new(
            &file,
            &mut surveyor,
            0..u64::MAX,
            chunk_bytes,
            Records::Delimiter(b'\n'),
        )
        .unwrap();
        let full = Keeper::with_headroom(&file, || Some(Headroom { free: 0, cached: 0 }));
        pick.keeper = Arc::new(full.unwrap());
        assert_eq!(
            pick.read(&file, &mut [0; 10], 0).unwrap(),
            10,
            "judged before the first search"
        );
        let mut seen = vec![0; text.len()];
        let mut bytes = 0;
        while let Some(range) = pick.next_read(&file, &mut surveyor).unwrap() {
            let part = &mut seen[range.start as usize..range.end as usize];
            assert_eq!(pick.read(&file, part, range.start).unwrap(), part.len());
            assert_eq!(part.last(), Some(&b'\n'));
            bytes += part.len();
        }
        assert_eq!(bytes, text.len());
        assert!(seen == text);
        pick.keeper().finish(&file);
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
    }
    match seekless_sys::reads::read_at(&file, &mut [0; 1], 0, Caching::Leave) {
        Ok(_) => assert_eq!(cached(), before),
        Err(_) => eprintln!("skipped in part: no RWF_DONTCACHE here"),
    }
}
