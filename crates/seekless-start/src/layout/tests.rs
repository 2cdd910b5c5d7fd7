//! Arithmetic of orders and requests, on files that are made up. What needs a file system is tested
//! with the command.

use super::find::{ELSEWHERE, Found, Looks};
use super::order::{IN_ORDER, laid, lie_alike, settle};
use super::{Report, figures};
use crate::warm::wave::READS_MAX;
use seekless_device::Costs;
use seekless_policy::layout::extents::Extent;
use seekless_sys::extents;
use std::path::PathBuf;

const KIB: u64 = 1 << 10;

fn extent(offset: u64, bytes: u64, place: u64) -> extents::Extent {
    extents::Extent { offset, bytes, place: Some(place), unwritten: false, placeless: None }
}

/// A file that is needed whole and lies in one piece.
fn file(inode: u64, bytes: u64, place: u64) -> Found {
    Found {
        path: PathBuf::from(format!("/tree/{inode}")),
        looks: Looks { device: 1, inode, bytes, modified: (0, 0), changed: (0, 0) },
        block_bytes: 4 * KIB,
        reads: vec![Extent { offset: 0, bytes }],
        extents: vec![extent(0, bytes.next_multiple_of(4 * KIB), place)],
        stays: None,
    }
}

fn requests(files: &[Found]) -> u64 {
    figures::wait(files, &Costs::ASSUMED).requests
}

fn settled(files: &mut [Found], copied: &[PathBuf]) -> Report {
    let mut report = Report::default();
    settle(files, copied, &mut report);
    report
}

#[test]
fn neighbours_are_one_request_and_what_is_apart_is_not() {
    let together = [file(1, 5000, 0), file(2, 4096, 8192), file(3, 100, 12_288)];
    let apart = [file(1, 5000, 0), file(2, 4096, 1 << 20), file(3, 100, 2 << 20)];
    assert_eq!((requests(&together), requests(&apart)), (1, 3));
    assert_eq!(requests(&laid(&apart, &[])), 1);
    let mut split = file(1, 8 * KIB, 0);
    split.extents = vec![extent(0, 4 * KIB, 0), extent(4 * KIB, 4 * KIB, 1 << 20)];
    assert_eq!(requests(&[split]), 2);
    let large = file(1, 5 << 19, 0);
    assert_eq!(requests(&[large]), 3, "requests are of 1 MiB at most");
}

/// What a start asks for later is not asked for together with what it needs first.
#[test]
fn neighbours_far_apart_in_the_order_of_need_are_not_joined() {
    let far = READS_MAX as u64 + 44;
    let mut files: Vec<Found> = (0..far).map(|n| file(n, 4096, n * 100 * KIB)).collect();
    files[far as usize - 1].extents = vec![extent(0, 4096, 4096)]; // behind the first
    assert_eq!(requests(&files), far);
    files.swap(1, far as usize - 1);
    assert_eq!(requests(&files), far - 1);
}

#[test]
fn long_runs_stay_and_the_rest_moves() {
    let mut files: Vec<Found> = (0..300).map(|n| file(n, 4096, n * 4096)).collect();
    files.extend((0..20).map(|n| file(1000 + n, 4096, (1 << 30) + n * (1 << 20))));
    let report = settled(&mut files, &[]);
    assert_eq!((report.in_order, report.out_of_place), (300, 20));
    assert!(files[..300].iter().all(|file| file.stays == Some(IN_ORDER)));
    let after = laid(&files, &[]);
    let again = settled(&mut after.clone(), &[]);
    assert_eq!(
        (again.in_order, again.out_of_place),
        (20, 0),
        "a short end is as good as it can be"
    );
}

#[test]
fn one_file_in_pieces_is_out_of_place() {
    let mut pieces = file(1, 2 << 20, 0);
    pieces.extents =
        (0..32).map(|n| extent(n * 64 * KIB, 64 * KIB, n * 128 * KIB)).collect::<Vec<_>>();
    let report = settled(&mut [pieces], &[]);
    assert_eq!((report.in_order, report.out_of_place), (0, 1));
}

#[test]
fn files_that_stay_are_counted_unless_a_copy_takes_them_along() {
    let mut files = [file(1, 4096, 0), file(2, 4096, 1 << 20)];
    files[0].stays = Some("with holes");
    files[1].stays = Some(ELSEWHERE);
    let report = settled(&mut files, &[]);
    assert_eq!(report.left_out, [("with holes", 1), (ELSEWHERE, 1)].into());
    let report = settled(&mut files, &[PathBuf::from("/tree")]);
    assert_eq!((report.left_out.len(), report.out_of_place), (0, 1));
}

#[test]
fn places_are_compared_whatever_the_extents_are_cut_into() {
    let whole = [extent(0, 8192, 4096)];
    assert!(lie_alike(&whole, &[extent(0, 4096, 4096), extent(4096, 4096, 8192)]));
    assert!(!lie_alike(&whole, &[extent(0, 4096, 4096), extent(4096, 4096, 16_384)]));
}

#[test]
fn a_profile_learns_the_new_places_of_files_that_are_the_same() {
    use seekless_trace::{Identity, Need, Profile, ProfiledFile, ProfiledRun};
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let (data, path) = (folder.path().join("data"), folder.path().join("profile.parquet"));
    std::fs::write(&data, [7; 5000]).unwrap();
    std::fs::File::open(&data).unwrap().sync_all().unwrap();
    let name = data.to_str().unwrap().to_owned();
    let (bytes, identity) = crate::profiles::identify(&name).unwrap();
    let stale = Identity { modified_ns: 1, ..identity };
    let file = |identity| ProfiledFile {
        name: name.clone(),
        bytes: Some(bytes),
        identity: Some(identity),
        place: Some(12_345),
    };
    let need = |file| Need { file, offset: 0, bytes, time_ns: 0, mapped: false };
    let renewed = |identity| {
        let run = ProfiledRun { needs: vec![need(0)], ..ProfiledRun::default() };
        let profile =
            Profile { files: vec![file(identity)], runs: vec![run], ..Profile::default() };
        profile.write(seekless_sys::output::Destination::new(&path).replacing(true)).unwrap();
        crate::profiles::renew_places(&path).unwrap();
        Profile::read(&path).unwrap().files[0].place
    };
    assert_ne!(renewed(identity), Some(12_345));
    assert_eq!(renewed(stale), Some(12_345), "it is another file by now");
}
