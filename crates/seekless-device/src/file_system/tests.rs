//! Requests as ext4 makes them, written by hand.

use super::*;
use crate::Piece;
use Content::{Data, Inodes, Map, Names};
use proptest::prelude::*;

const BLOCK: u64 = 4096;

/// No readahead: each inode-table block by itself.
fn plain() -> Geometry {
    Geometry { inode_readahead_blocks: 0, ..Geometry::default() }
}

fn opened(files: &mut ColdFiles<'_>, file: usize) -> Vec<(Content, u64)> {
    let mut fetches = Vec::new();
    files.open(file, &mut |fetch| fetches.push((fetch.content, fetch.bytes / BLOCK)));
    fetches
}

fn read(files: &mut ColdFiles<'_>, file: usize) -> Vec<(Content, u64)> {
    let mut fetches = Vec::new();
    files.read(file, &mut |fetch| fetches.push((fetch.content, fetch.bytes / BLOCK)));
    fetches
}

#[test]
fn each_block_of_metadata_is_read_once() {
    let mut layout = Layout::default();
    let root = layout.add_root(2, 1);
    let folder = layout.add_folder(root, b"folder", 100, 1);
    for inode in [101, 102, 113, 129] {
        layout.add_file(folder, b"file", inode, &[Piece { place: None, bytes: BLOCK }]);
    }
    let mut files = ColdFiles::new(&layout, plain());
    // The root's inode, its names, the folder's inode, its names; the file's inode lies beside the
    // folder's.
    assert_eq!(opened(&mut files, 0), [(Inodes, 1), (Names, 1), (Inodes, 1), (Names, 1)]);
    assert_eq!(opened(&mut files, 1), []);
    assert_eq!(opened(&mut files, 2), [(Inodes, 1)]);
    assert_eq!(opened(&mut files, 3), [(Inodes, 1)]);
    assert_eq!(read(&mut files, 0), [(Data, 1)]);
    assert_eq!(read(&mut files, 0), [], "it is in memory");
}

#[test]
fn inodes_are_read_ahead_to_the_end_of_the_window_and_one_more() {
    let mut layout = Layout::default();
    let root = layout.add_root(1, 1);
    // 16 inodes a block: blocks 40, 64, 31, 65.
    for inode in [40 * 16 + 1, 64 * 16 + 1, 31 * 16 + 1, 65 * 16 + 1] {
        layout.add_file(root, b"file", inode, &[]);
    }
    let mut files = ColdFiles::new(&layout, Geometry::default());
    assert_eq!(
        opened(&mut files, 0),
        [(Inodes, 33), (Names, 1), (Inodes, 32)],
        "0 to 32, then 33 to 64"
    );
    assert_eq!(opened(&mut files, 1), []);
    assert_eq!(opened(&mut files, 2), []);
    assert_eq!(opened(&mut files, 3), [(Inodes, 32)]);

    let mut throttled = ColdFiles::new(
        &layout,
        Geometry { inode_readahead_blocks: 1, joins: false, ..Geometry::default() },
    );
    let expected = [(Inodes, 1), (Inodes, 1), (Names, 1), (Inodes, 1), (Inodes, 1)];
    assert_eq!(opened(&mut throttled, 0), expected, "each block and the next, charged apart");
}

#[test]
fn what_is_there_already_parts_a_window() {
    let mut layout = Layout::default();
    let root = layout.add_root(1, 1);
    layout.add_file(root, b"file", 5 * 16 + 1, &[]);
    let geometry = Geometry { inode_readahead_blocks: 8, ..Geometry::default() };
    let mut files = ColdFiles::new(&layout, geometry);
    files.blocks.insert(Block::Inode(3));
    assert_eq!(opened(&mut files, 0), [(Inodes, 3), (Inodes, 5), (Names, 1)]);
}

#[test]
fn a_large_folder_is_asked_for_its_index_and_a_leaf() {
    let mut layout = Layout::default();
    let root = layout.add_root(2, 101);
    for name in 0..500 {
        layout.add_file(root, format!("name {name}").as_bytes(), 3, &[]);
    }
    let mut files = ColdFiles::new(&layout, plain());
    assert_eq!(opened(&mut files, 0), [(Inodes, 1), (Names, 1), (Names, 1)]);
    let leaves: u64 =
        (1..500).flat_map(|file| opened(&mut files, file)).map(|(_, blocks)| blocks).sum();
    assert!((95..=99).contains(&leaves), "500 names fall into nearly all of 100 leaves: {leaves}");
}

#[test]
fn many_extents_are_found_through_a_map() {
    let mut layout = Layout::default();
    let root = layout.add_root(2, 1);
    let scattered = |count: u64| -> Vec<Piece> {
        (0..count).map(|piece| Piece { place: Some(piece * 10 * BLOCK), bytes: BLOCK }).collect()
    };
    for count in [4, 5, 341] {
        layout.add_file(root, b"file", 3, &scattered(count));
    }
    let mut files = ColdFiles::new(&layout, plain());
    assert_eq!(read(&mut files, 0), [(Data, 1); 4]);
    assert_eq!(read(&mut files, 1)[..2], [(Map, 1), (Data, 1)]);
    let maps = read(&mut files, 2).iter().filter(|(content, _)| *content == Map).count();
    assert_eq!(maps, 2, "340 extents fit a block");
}

#[test]
fn groups_have_tables_of_their_own() {
    let geometry = Geometry { inodes_per_group: 24, ..plain() };
    let blocks = [1, 16, 17, 24, 25, 40, 41].map(|inode| geometry.inode_block(inode));
    assert_eq!(blocks, [0, 0, 1, 1, 2, 2, 3]);
}

proptest! {
    /// Joined or not, the same blocks are read; what is read twice costs nothing; absurd numbers do
    /// no harm.
    #[test]
    fn joining_changes_requests_and_no_bytes(
        inodes in prop::collection::vec(prop_oneof![1u64..5000, any::<u64>()], 1..60),
        ahead in prop::sample::select(vec![0u64, 1, 2, 8, 32]),
        inodes_per_group in 0u64..3000,
    ) {
        let mut layout = Layout::default();
        let root = layout.add_root(2, 1);
        for &inode in &inodes {
            layout.add_file(root, b"file", inode, &[]);
        }
        let sum = |joins| {
            let geometry = Geometry { inode_readahead_blocks: ahead, inodes_per_group, joins, ..Geometry::default() };
            let mut files = ColdFiles::new(&layout, geometry);
            let fetches: Vec<_> = (0..inodes.len()).flat_map(|file| opened(&mut files, file)).collect();
            assert!((0..inodes.len()).all(|file| opened(&mut files, file).is_empty()));
            (fetches.len(), fetches.iter().map(|(_, blocks)| blocks).sum::<u64>())
        };
        let (joined, apart) = (sum(true), sum(false));
        prop_assert_eq!(joined.1, apart.1);
        prop_assert!(joined.0 <= apart.0);
        prop_assert_eq!(apart.0 as u64, apart.1);
    }
}

#[test]
fn each_fetch_has_a_place_of_its_own() {
    let files = [("a/one", 5000), ("a/two", 9000), ("b/three", 100)];
    let geometry = Geometry::default();
    let layout = Layout::fresh(&files, &geometry);
    let mut cold = ColdFiles::new(&layout, geometry);
    let mut fetched: Vec<(u64, u64)> = Vec::new();
    for file in 0..files.len() {
        cold.open(file, &mut |fetch| fetched.push((fetch.place, fetch.place + fetch.bytes)));
        cold.read(file, &mut |fetch| fetched.push((fetch.place, fetch.place + fetch.bytes)));
    }
    fetched.sort_unstable();
    assert!(fetched.is_sorted_by(|one, next| one.1 <= next.0), "{fetched:?}");
    // Files that follow each other by name lie end to end.
    let data: Vec<(u64, u64)> = fetched.split_off(fetched.len() - 3);
    assert!(data.windows(2).all(|pair| pair[0].1 == pair[1].0), "{data:?}");
}

#[test]
fn names_that_are_not_there_and_lists_are_charged_by_their_blocks() {
    let mut layout = Layout::default();
    let root = layout.add_root(2, 1);
    let large = layout.add_folder(root, b"large", 20_000, 5);
    let mut files = ColdFiles::new(&layout, plain());
    let mut told = Vec::new();
    let mut tell = |fetch: Fetch| told.push(fetch.content);
    files.know(root);
    files.look_for(large, b"gone", None, &mut tell);
    files.look_for(large, b"gone", None, &mut tell);
    let walked = [Names, Inodes]; // the root's names, and the folder's inode
    let sought = [Names, Names]; // the index and a leaf
    files.list(large, &mut tell);
    let listed = [Names; 3];
    files.walk_to(large, &mut tell);
    files.look_for(large, b"there", Some(90_000), &mut tell);
    assert_eq!(told, [&walked[..], &sought, &listed, &[Inodes]].concat());
}
