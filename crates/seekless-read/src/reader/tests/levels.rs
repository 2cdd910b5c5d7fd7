//! Files that lie on several levels: memory, a local cache, a disk, a network, an archive.

use super::*;
use seekless_sled::Confidence;

const MIB: u64 = 1 << 20;

/// Bytes of a file on one level.
type Part = (Level, u64);

/// Neighbours on one level are one SLED.
fn sleds(parts: &[Part]) -> Vec<Sled> {
    let mut joined: Vec<Part> = Vec::new();
    for &(level, bytes) in parts {
        match joined.last_mut() {
            Some(last) if last.0 == level => last.1 += bytes,
            _ => joined.push((level, bytes)),
        }
    }
    let mut offset = 0;
    let sled = |&(level, bytes): &Part| {
        // The local cache of a mount is a device, too.
        let (latency_us, bandwidth) = match level {
            Level::Memory => (1, 1e10),
            Level::Hole => (100, 5e8), // stands for the local cache
            Level::Device => (5_000, 1.5e8),
            Level::Network => (270_000, 1e6),
            _ => (40_000_000, 3e8),
        };
        let level = if level == Level::Hole { Level::Device } else { level };
        let (confidence, age) = (Confidence::Exact, Duration::ZERO);
        let latency = Duration::from_micros(latency_us);
        let sled = Sled { offset, bytes, latency, bandwidth, level, confidence, age };
        offset += bytes;
        sled
    };
    joined.iter().map(sled).collect()
}

/// Files with these parts, and a system whose rules say so. Its page cache says that it holds
/// nothing: memory, too, is a level of the rules.
fn made(folder: &TempDir, files: &[Vec<Part>]) -> (Made, Vec<PathBuf>) {
    let made = Made::new(&[false]);
    let mut paths = Vec::new();
    for (number, parts) in files.iter().enumerate() {
        let path = folder.path().join(number.to_string());
        let bytes = parts.iter().map(|(_, bytes)| bytes).sum();
        File::create(&path).unwrap().set_len(bytes).unwrap();
        made.levels.lock().unwrap().insert(path.clone(), sleds(parts));
        paths.push(path);
    }
    (made, paths)
}

fn workplace() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
}

/// The expected cost of a search that stops at the byte that it looks for, each as likely, if the
/// bytes come in this order: those of a SLED after its latency.
fn expected_s(order: impl Iterator<Item = (Sled, u64)>) -> f64 {
    let (mut clock_s, mut sum, mut all) = (0.0, 0.0, 0.0);
    let mut last: Option<Sled> = None;
    for (sled, bytes) in order {
        if last.is_none_or(|last| {
            (last.offset, last.latency, last.bytes) != (sled.offset, sled.latency, sled.bytes)
        }) {
            clock_s += sled.latency.as_secs_f64();
        }
        let transfer_s = bytes as f64 / sled.bandwidth;
        sum += bytes as f64 * (clock_s + transfer_s / 2.0);
        clock_s += transfer_s;
        all += bytes as f64;
        last = Some(sled);
    }
    sum / all
}

/// By Smith's rule: ascending cost a byte.
fn best_s(files: &[Vec<Part>]) -> f64 {
    let mut all: Vec<Sled> = files.iter().flat_map(|parts| sleds(parts)).collect();
    let rate = |sled: &Sled| sled.cost().as_secs_f64() / sled.bytes as f64;
    all.sort_by(|one, other| rate(one).total_cmp(&rate(other)));
    expected_s(all.into_iter().map(|sled| (sled, sled.bytes)))
}

/// Reads files to their ends as one that may stop early, and returns what that is expected to cost.
fn read_s(files: &[Vec<Part>]) -> f64 {
    let folder = workplace();
    let (made, paths) = made(&folder, files);
    let (mut reader, _) =
        over(Options { overlap: false, ..options(Records::None, 256 << 10) }, made);
    paths.iter().for_each(|path| _ = reader.add_path(path));
    let all: Vec<Vec<Sled>> = files.iter().map(|parts| sleds(parts)).collect();
    let (mut order, mut seen) = (Vec::new(), vec![Vec::new(); files.len()]);
    while let Some(event) = reader.next() {
        match event {
            Event::Chunk(chunk) => {
                let range = chunk.offset..chunk.offset + chunk.bytes.len() as u64;
                for sled in &all[chunk.file] {
                    let part = range.start.max(sled.offset)..range.end.min(sled.end());
                    if !part.is_empty() {
                        order.push((*sled, part.end - part.start));
                    }
                }
                seen[chunk.file].push(range);
            }
            Event::End { skipped, .. } => assert_eq!(skipped, 0),
            other => panic!("{other:?}"),
        }
    }
    for (ranges, parts) in seen.iter_mut().zip(files) {
        ranges.sort_by_key(|range| range.start);
        let end = ranges.iter().fold(0, |end, range| {
            assert_eq!(range.start, end, "every byte once");
            range.end
        });
        assert_eq!(end, parts.iter().map(|(_, bytes)| bytes).sum::<u64>());
    }
    expected_s(order.into_iter())
}

/// A few files; some lie in an archive whole, the others on up to four levels.
fn layout() -> impl Strategy<Value = Vec<Vec<Part>>> {
    let near = [Level::Memory, Level::Hole, Level::Device, Level::Network];
    let part = (prop::sample::select(near.to_vec()), 1_u64..33)
        .prop_map(|(level, units)| (level, units * MIB / 8));
    let open = prop::collection::vec(part, 1..8);
    let archived = (1_u64..33).prop_map(|units| vec![(Level::Archive, units * MIB / 8)]);
    prop::collection::vec(prop_oneof![4 => open, 1 => archived], 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn a_search_costs_about_what_the_best_order_costs(files in layout()) {
        let (read_s, best_s) = (read_s(&files), best_s(&files));
        prop_assert!(read_s <= 1.05 * best_s, "{} s, and {} s is the best", read_s, best_s);
    }
}

#[test]
fn one_that_stops_early_reads_nothing_dear_and_recalls_nothing() {
    let folder = workplace();
    let files =
        [vec![(Level::Archive, MIB)], vec![(Level::Network, 3 * MIB), (Level::Hole, 2 * MIB)]];
    let (made, paths) = made(&folder, &files);
    let (mut reader, made) =
        over(Options { overlap: false, ..options(Records::None, 256 << 10) }, made);
    paths.iter().for_each(|path| _ = reader.add_path(path));
    let mut cheap = 0;
    while cheap < 2 * MIB {
        let Some(Event::Chunk(chunk)) = reader.next() else { panic!("there is more") };
        assert!(chunk.file == 1 && chunk.offset >= 3 * MIB);
        cheap += chunk.bytes.len() as u64;
    }
    assert!(made.reads.lock().unwrap().iter().all(|&offset| offset >= 3 * MIB));
    (0..2).for_each(|file| reader.finish_file(file));
    assert!(reader.next().is_none());
    assert_eq!(*made.recalled.lock().unwrap(), Vec::<PathBuf>::new());
}

#[test]
fn a_recall_comes_last_unless_it_is_to_come_at_once() {
    for recall in [false, true] {
        let folder = workplace();
        let files = [
            vec![(Level::Archive, MIB)],
            vec![(Level::Device, 3 * MIB)],
            vec![(Level::Archive, MIB)],
        ];
        let (made, paths) = made(&folder, &files);
        let reach = Reach { recall, ..Reach::default() };
        let (mut reader, made) =
            over(Options { reach, ..options(Records::None, MIB as usize) }, made);
        paths.iter().for_each(|path| _ = reader.add_path(path));
        let recalled = || made.recalled.lock().unwrap().len();
        while let Some(event) = reader.next() {
            match event {
                Event::Chunk(chunk) if chunk.file == 1 && !recall => assert_eq!(recalled(), 0),
                Event::Failed { error, .. } => panic!("{error}"),
                _ => {}
            }
        }
        assert_eq!(recalled(), 2);
        assert_eq!(reader.statistics().bytes, 5 * MIB);
    }
}

#[test]
fn what_is_too_far_is_left_out_and_counted() {
    let folder = workplace();
    let files =
        [vec![(Level::Archive, MIB)], vec![(Level::Device, 2 * MIB), (Level::Network, 3 * MIB)]];
    for (reach, expected) in [
        (CACHED_ONLY, [(MIB, MIB), (5 * MIB, 5 * MIB)]),
        (
            Reach { max_latency: Some(Duration::from_millis(20)), ..Reach::default() },
            [(MIB, MIB), (5 * MIB, 3 * MIB)],
        ),
        (
            Reach { max_latency: Some(Duration::from_secs(1)), ..Reach::default() },
            [(MIB, MIB), (5 * MIB, 0)],
        ),
        (
            Reach { max_latency: Some(Duration::from_secs(60)), ..Reach::default() },
            [(MIB, 0), (5 * MIB, 0)],
        ),
        // The first byte from the network comes after 0.27 s, the last after 3.4 s.
        (
            Reach { max_wait: Some(Duration::from_secs(1)), ..Reach::default() },
            [(MIB, MIB), (5 * MIB, 3 * MIB)],
        ),
        (
            Reach { max_wait: Some(Duration::from_secs(4)), ..Reach::default() },
            [(MIB, MIB), (5 * MIB, 0)],
        ),
        (
            Reach { max_wait: Some(Duration::from_secs(60)), ..Reach::default() },
            [(MIB, 0), (5 * MIB, 0)],
        ),
    ] {
        let (made, paths) = made(&folder, &files);
        let (mut reader, made) =
            over(Options { reach, ..options(Records::None, MIB as usize) }, made);
        paths.iter().for_each(|path| _ = reader.add_path(path));
        let received = all(&mut reader);
        assert_eq!([received.ends[&0], received.ends[&1]], expected, "{reach:?}");
        assert_eq!(made.recalled.lock().unwrap().is_empty(), expected[0].1 == MIB);
    }
}

#[test]
fn a_bound_holds_for_devices_without_rules() {
    let file = written(3_000_000);
    for (most_us, skipped) in [(10, 3_000_000), (1_000, 0)] {
        let reach = Reach { max_latency: Some(Duration::from_micros(most_us)), ..Reach::default() };
        let (mut reader, _) =
            over(Options { reach, ..options(Records::None, 1 << 20) }, Made::new(&[false]));
        reader.add_path(file.path());
        assert_eq!(all(&mut reader).ends[&0], (3_000_000, skipped));
    }
}

#[test]
fn a_range_whose_price_has_fallen_moves_up() {
    let folder = workplace();
    let files =
        [vec![(Level::Device, MIB)], vec![(Level::Network, MIB)], vec![(Level::Network, MIB)]];
    let (made, paths) = made(&folder, &files);
    let (mut reader, made) =
        over(Options { overlap: false, ..options(Records::None, 256 << 10) }, made);
    paths.iter().for_each(|path| _ = reader.add_path(path));
    let mut order = Vec::new();
    while let Some(event) = reader.next() {
        let Event::Chunk(chunk) = event else { continue };
        if order.is_empty() {
            // The mount's cache has fetched the last file meanwhile.
            made.levels.lock().unwrap().insert(paths[2].clone(), sleds(&[(Level::Hole, MIB)]));
            std::thread::sleep(Duration::from_millis(400));
        }
        if order.last() != Some(&chunk.file) {
            order.push(chunk.file);
        }
    }
    assert_eq!(order, [0, 2, 1]);
}

#[test]
fn of_whole_files_the_archived_come_last_or_their_recalls_begin_at_once() {
    for recall in [false, true] {
        let folder = workplace();
        let archived = vec![(Level::Archive, MIB)];
        let files = [archived.clone(), vec![(Level::Device, MIB)], archived];
        let (made, paths) = made(&folder, &files);
        let made = Arc::new(made);
        let reach = Reach { recall, ..Reach::default() };
        let mut files = WholeFiles::over(paths.clone(), reach, made.clone());
        let mut next = || match files.next() {
            Some(WholeFile::Ready { number, held }) => Some((number, held.is_some())),
            None => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(next(), Some((1, false)));
        // Recalls that begin at once run on threads of their own, which are not waited for.
        let started = std::time::Instant::now();
        while recall && made.recalled.lock().unwrap().len() < 2 {
            assert!(started.elapsed() < Duration::from_secs(60), "no recall begins");
            std::thread::yield_now();
        }
        assert_eq!(made.recalled.lock().unwrap().len(), if recall { 2 } else { 0 });
        let mut last = [next(), next()].map(|next| next.expect("recalled"));
        last.sort_unstable();
        assert_eq!((last, next()), ([(0, true), (2, true)], None));
    }
    let folder = workplace();
    let (made, paths) = made(&folder, &[vec![(Level::Archive, MIB)]]);
    let made = Arc::new(made);
    let mut files = WholeFiles::over(paths, CACHED_ONLY, made.clone());
    assert!(matches!(files.next(), Some(WholeFile::LeftOut { bytes: MIB, .. })));
    assert!(files.next().is_none() && made.recalled.lock().unwrap().is_empty());
}

#[test]
fn files_on_a_tape_are_recalled_in_the_order_of_their_positions() {
    // The sizes differ, so that the order of cost would be another one.
    let files: Vec<_> = [1, 9, 4, 2, 6].map(|mib| vec![(Level::Archive, mib * MIB)]).to_vec();
    let places = [("B", 7), ("A", 80), ("A", 3), ("B", 2), ("A", 41)];
    let upwards = [2, 4, 1, 3, 0].map(|file: usize| file.to_string());
    let names = |made: &Made| -> Vec<String> {
        let recalled = made.recalled.lock().unwrap();
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        recalled.iter().map(name).collect()
    };
    let placed = |folder: &TempDir| {
        let (made, paths) = made(folder, &files);
        for (path, (volume, at)) in paths.iter().zip(places) {
            let position = Position { volume: volume.to_owned(), at };
            made.positions.lock().unwrap().insert(path.clone(), position);
        }
        (made, paths)
    };
    for overlap in [false, true] {
        let folder = workplace();
        let (made, paths) = placed(&folder);
        let (mut reader, made) =
            over(Options { overlap, ..options(Records::None, MIB as usize) }, made);
        paths.iter().for_each(|path| _ = reader.add_path(path));
        while let Some(event) = reader.next() {
            assert!(!matches!(event, Event::Failed { .. }), "{event:?}");
        }
        assert_eq!(names(&made), upwards);
    }
    let folder = workplace();
    let (made, paths) = placed(&folder);
    let made = Arc::new(made);
    let worked = WholeFiles::over(paths, Reach::default(), made.clone());
    let order = worked.map(|file| match file {
        WholeFile::Ready { number, .. } => number.to_string(),
        other => panic!("{other:?}"),
    });
    assert_eq!(order.collect::<Vec<_>>(), upwards);
    assert_eq!(names(&made), upwards);
}
