use super::form::{BLOCK, SECTORS, SET, WAYS};
use super::table::{NEW, SOON, Tag, Tags};
use super::*;
use seekless_device::SplitMix64;
use seekless_policy::eviction::{Eviction, Id, Pool, Request, named};
use std::fs;
use std::os::unix::fs::MetadataExt;
use tempfile::TempDir;

const OBJECT_BYTES: u64 = 2 * BLOCK + 5 * SECTOR + 77;

fn key(version: &str) -> Key {
    Key::of(&[b"s3://bucket", b"object", version.as_bytes()])
}

fn content(seed: u64, bytes: u64) -> Vec<u8> {
    let mut random = SplitMix64::new(seed);
    (0..bytes).map(|_| random.bits() as u8).collect()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn silent() -> Note {
    Box::new(|said| panic!("{said}"))
}

fn blocks(folder: &TempDir) -> Blocks {
    let (file, form) = form::open(folder.path(), Form::within(DiskCache::BYTES_MIN)).unwrap();
    Blocks::new(file, form)
}

/// Keeps the sectors in which a range lies.
fn put(blocks: &Blocks, key: Key, whole: &[u8], range: Range<u64>) {
    let offset = range.start / SECTOR * SECTOR;
    let end = range.end.next_multiple_of(SECTOR).min(whole.len() as u64);
    let content = whole[offset as usize..end as usize].to_vec();
    blocks.put(&Piece { key, offset, content }).unwrap();
}

/// Reads a range. What is not missing must be right. Returns the bytes that are missing.
fn check(blocks: &Blocks, key: Key, whole: &[u8], range: Range<u64>) -> u64 {
    let mut into = vec![0xEE; (range.end - range.start) as usize];
    let (copied, missing) = blocks.fill(&key, whole.len() as u64, range.start, &mut into);
    let mut absent = 0;
    for (offset, byte) in range.clone().zip(&into) {
        let is_missing = missing.iter().any(|missing| missing.contains(&offset));
        absent += u64::from(is_missing);
        assert!(is_missing || *byte == whole[offset as usize], "byte {offset}");
    }
    assert_eq!(copied + absent, range.end - range.start);
    absent
}

#[test]
fn what_was_kept_comes_back_and_the_rest_is_missing() {
    let folder = folder();
    let blocks = blocks(&folder);
    let (key, whole) = (key("1"), content(1, OBJECT_BYTES));
    let mut here = vec![false; OBJECT_BYTES.div_ceil(SECTOR) as usize];
    let mut random = SplitMix64::new(7);
    for _ in 0..300 {
        let (one, other) = (random.below(OBJECT_BYTES), random.below(OBJECT_BYTES));
        let range = one.min(other)..one.max(other) + 1;
        if random.below(8) == 0 {
            let range = range.start..range.end.min(range.start + 30_000);
            here[(range.start / SECTOR) as usize..range.end.div_ceil(SECTOR) as usize].fill(true);
            put(&blocks, key, &whole, range);
        }
        let absent = range.clone().filter(|at| !here[(at / SECTOR) as usize]).count();
        assert_eq!(check(&blocks, key, &whole, range), absent as u64);
    }
    let ranges = blocks.ranges(&key, OBJECT_BYTES).unwrap();
    let found = |at: u64| ranges.iter().any(|range| (range.offset..range.end()).contains(&at));
    for at in 0..OBJECT_BYTES {
        assert_eq!(found(at), here[(at / SECTOR) as usize], "byte {at}");
    }
    assert!(here.contains(&true) && here.contains(&false), "both were tried");
}

#[test]
fn two_versions_never_mix() {
    let folder = folder();
    let blocks = blocks(&folder);
    let (old, new) = (content(1, OBJECT_BYTES), content(2, OBJECT_BYTES));
    put(&blocks, key("1"), &old, 0..OBJECT_BYTES);
    assert_eq!(check(&blocks, key("2"), &new, 0..OBJECT_BYTES), OBJECT_BYTES);
    put(&blocks, key("2"), &new, 0..BLOCK);
    assert_eq!(check(&blocks, key("1"), &old, 0..OBJECT_BYTES), 0);
    assert_eq!(check(&blocks, key("2"), &new, 0..OBJECT_BYTES), OBJECT_BYTES - BLOCK);
}

#[test]
fn each_damaged_sector_is_found_and_kept_anew() {
    let folder = folder();
    let blocks = blocks(&folder);
    let (key, whole) = (key("1"), content(3, OBJECT_BYTES));
    put(&blocks, key, &whole, 0..OBJECT_BYTES);
    let ranges = blocks.ranges(&key, OBJECT_BYTES).unwrap();
    for (turn, at) in (0..OBJECT_BYTES).step_by(SECTOR as usize).enumerate() {
        let range = ranges.iter().find(|range| (range.offset..range.end()).contains(&at)).unwrap();
        let bytes = SECTOR.min(OBJECT_BYTES - at);
        let place = range.place + at - range.offset + turn as u64 * 577 % bytes;
        let mut byte = [0];
        blocks.file.read_exact_at(&mut byte, place).unwrap();
        blocks.file.write_all_at(&[byte[0] ^ 1 << (turn % 8)], place).unwrap();
        assert_eq!(check(&blocks, key, &whole, 0..OBJECT_BYTES), bytes, "sector at {at}");
        put(&blocks, key, &whole, at..at + bytes);
        assert_eq!(check(&blocks, key, &whole, 0..OBJECT_BYTES), 0);
    }
}

#[test]
fn no_damage_of_the_tables_gives_a_wrong_byte() {
    let folder = folder();
    let blocks = blocks(&folder);
    let (key, whole) = (key("1"), content(4, OBJECT_BYTES));
    put(&blocks, key, &whole, 0..OBJECT_BYTES);
    let mut random = SplitMix64::new(5);
    let mut lost = 0;
    for at in blocks.form.tags_at(0)..blocks.form.tags_at(blocks.form.sets) {
        let mut byte = [0];
        blocks.file.read_exact_at(&mut byte, at).unwrap();
        if byte != [0] || random.below(32) == 0 {
            blocks.file.write_all_at(&[byte[0] ^ 1 << random.below(8)], at).unwrap();
            lost += u64::from(check(&blocks, key, &whole, 0..OBJECT_BYTES) > 0);
            blocks.file.write_all_at(&byte, at).unwrap();
            put(&blocks, key, &whole, 0..OBJECT_BYTES);
        }
    }
    assert!(lost > 1000, "the damage was seen: {lost}");
}

/// The writer is killed after each byte that it has written, or nearly: what the next process finds
/// is right or missing, and can be kept again.
#[test]
fn a_writer_that_is_killed_leaves_no_wrong_byte() {
    let (old, new) = (content(5, OBJECT_BYTES), content(6, OBJECT_BYTES));
    // Of a set, so that the newcomer takes a place that was used.
    let folder = folder();
    let crowded = blocks(&folder);
    let one_set = |way: u64| key(&format!("other {way}"));
    let in_set =
        |key: &Key| crowded.form.set_of(key, 0) == crowded.form.set_of(&self::key("new"), 0);
    let others: Vec<Key> = (0..).map(one_set).filter(in_set).take(WAYS).collect();
    let bytes = 3 * SECTOR + 9;
    let (old, new) = (&old[..bytes as usize], &new[..bytes as usize]);
    let mut kept = 0;
    for killed_after in (0..24_000).step_by(97) {
        fs::remove_file(folder.path().join(form::NAME)).unwrap();
        let blocks = blocks(&folder);
        others.iter().for_each(|key| put(&blocks, *key, old, 0..bytes));
        blocks.killed_after.store(killed_after, Ordering::Relaxed);
        put(&blocks, key("new"), new, 0..bytes);
        let blocks = self::blocks(&folder);
        kept += u64::from(check(&blocks, key("new"), new, 0..bytes) == 0);
        for key in &others {
            check(&blocks, *key, old, 0..bytes);
        }
        put(&blocks, key("new"), new, 0..bytes);
        assert_eq!(check(&blocks, key("new"), new, 0..bytes), 0, "killed after {killed_after}");
    }
    assert!((1..200).contains(&kept), "some were killed before the end, and some after: {kept}");
}

#[test]
fn the_bound_is_kept_whatever_comes() {
    let folder = folder();
    let bytes = DiskCache::BYTES_MIN + 3_333_333;
    let cache = DiskCache::open(folder.path(), bytes, silent()).unwrap();
    let whole = content(8, OBJECT_BYTES);
    for version in 0..100 {
        put(&cache.store, key(&version.to_string()), &whole, 0..OBJECT_BYTES);
    }
    let about = fs::metadata(cache.path()).unwrap();
    assert!(about.len() <= bytes && about.blocks() * 512 <= bytes, "{about:?}");
    assert!(about.len() > bytes - 16 * BLOCK - SET as u64 - 2 * BLOCK, "and used: {about:?}");
    let here = |version: u32| {
        let ranges = cache.ranges(&key(&version.to_string()), OBJECT_BYTES).unwrap();
        ranges.iter().map(|range| range.bytes).sum::<u64>()
    };
    let kept: u64 = (0..100).map(here).sum();
    assert!(kept > bytes / 4 && kept <= bytes, "{kept}");
    assert_eq!(here(99), OBJECT_BYTES, "the newest is there");
}

#[test]
fn another_size_empties_it_and_another_file_is_left_alone() {
    let folder = folder();
    let open = |bytes| DiskCache::open(folder.path(), bytes, silent());
    let (key, whole) = (key("1"), content(9, OBJECT_BYTES));
    let here = |cache: &DiskCache| cache.ranges(&key, OBJECT_BYTES).unwrap().len();
    put(&open(20 << 20).unwrap().store, key, &whole, 0..OBJECT_BYTES);
    assert!(here(&open(20 << 20).unwrap()) > 0);
    assert_eq!(here(&open(40 << 20).unwrap()), 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let existing = || DiskCache::existing(folder.path(), silent()).unwrap();
    put(&existing().unwrap().store, key, &whole, 0..OBJECT_BYTES);
    assert!(here(&open(40 << 20).unwrap()) > 0, "the same one");
    // What a crash of the machine may leave behind.
    let path = folder.path().join(form::NAME);
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(5000).unwrap();
    assert!(existing().is_none());
    assert_eq!(here(&open(40 << 20).unwrap()), 0);
    fs::write(&path, "a letter").unwrap();
    assert!(existing().is_none());
    let error = open(40 << 20).unwrap_err().to_string();
    assert!(error.contains("name another folder"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"a letter");
    assert!(open(1 << 20).unwrap_err().to_string().contains("at least"));
}

#[test]
fn places_are_used_again_as_the_policy_says() {
    #[derive(Default)]
    struct Victims(Vec<Id>);
    impl Pool for Victims {
        fn evict(&mut self, victim: Id) {
            self.0.push(victim);
        }
        fn forget(&mut self, _: Id) {}
    }
    let mut policy = named("rrip", WAYS as u64).unwrap();
    policy.grow(64);
    let mut tags = Tags([None; WAYS]);
    let (key, mut random) = (key("1"), SplitMix64::new(3));
    let mut evicted = 0;
    for _ in 0..20_000 {
        let id = random.below(8).min(random.below(8)) * 5 + random.below(5);
        let mut expected = Victims::default();
        policy.request(&Request::page(id as Id), &mut expected);
        let victims = match tags.find(&key, id) {
            Some((way, _)) => {
                tags.0[way] = Some(Tag { key, block: id, prediction: SOON });
                Vec::new()
            }
            None => {
                let (way, rise) = tags.victim();
                tags.0.iter_mut().flatten().for_each(|tag| tag.prediction += rise);
                let victim = tags.0[way].replace(Tag { key, block: id, prediction: NEW });
                victim.map(|tag| tag.block as Id).into_iter().collect()
            }
        };
        assert_eq!(victims, expected.0);
        evicted += victims.len();
    }
    assert!(evicted > 1000);
}

#[test]
fn an_object_as_large_as_the_cache_fits_into_it() {
    let folder = folder();
    let blocks = blocks(&folder);
    let (key, whole) = (key("1"), content(10, blocks.form.sets * WAYS as u64 * BLOCK));
    let bytes = whole.len() as u64;
    put(&blocks, key, &whole, 0..bytes);
    assert_eq!(check(&blocks, key, &whole, 0..bytes), 0);
    // It lies there in few pieces.
    let pieces = blocks.ranges(&key, bytes).unwrap().len();
    assert!(pieces < WAYS + 2, "{pieces} pieces of {SECTORS} sectors");
}
