//! Every byte once, in whole records, cheapest first.

use super::*;

fn any_records() -> impl Strategy<Value = Records> {
    prop_oneof![
        Just(Records::None),
        Just(Records::Delimiter(b'\n')),
        Just(Records::Delimiter(0)),
        Just(Records::Either(b'\n', b'k')),
        (0..20_000_u64, 1..9_000_u64).prop_map(|(origin, bytes)| Records::Fixed { origin, bytes }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_byte_comes_once_in_whole_records(
        sizes in prop::collection::vec(0..60_000_usize, 1..4),
        cached in prop::collection::vec(any::<bool>(), 1..12),
        records in any_records(),
        chunk_bytes in prop_oneof![Just(1_000_usize), 3_000..9_000_usize, Just(256 << 10)],
        overlap in any::<bool>(),
        known in any::<bool>(),
        full in any::<bool>(),
        tight in any::<bool>(),
    ) {
        // Little more than the longest record, so that pieces in any order take too much.
        let record_bytes_max = match records {
            Records::Delimiter(b'\n') | Records::Either(..) if tight => 1_000,
            Records::Fixed { origin, bytes } if tight => origin.max(bytes) as usize,
            _ => usize::MAX,
        };
        let files: Vec<_> = sizes.iter().map(|&bytes| written(bytes)).collect();
        let room = full.then_some(Headroom { free: 0, cached: 0 });
        let made = Made { known, room, ..Made::new(&cached) };
        let (mut reader, _) = over(Options { overlap, record_bytes_max, ..options(records, chunk_bytes) }, made);
        for file in &files {
            reader.add_path(file.path());
        }
        let received = all(&mut reader);
        prop_assert!(received.failed.is_empty() && received.restarts.is_empty());
        for (file, &bytes) in sizes.iter().enumerate() {
            prop_assert_eq!(received.content(file), text(bytes));
            prop_assert_eq!(received.ends[&file], (bytes as u64, 0));
            for (offset, chunk) in received.chunks.get(&file).into_iter().flatten() {
                let end = offset + chunk.len() as u64;
                let whole = end == bytes as u64 || match records {
                    Records::None => true,
                    Records::Delimiter(delimiter) => chunk.last() == Some(&delimiter),
                    Records::Either(one, other) => chunk.last().is_some_and(|last| [one, other].contains(last)),
                    Records::Fixed { .. } => records.starts_at(end),
                };
                prop_assert!(whole, "{records:?} {offset} {end}");
            }
        }
    }

    #[test]
    fn cached_only_delivers_nothing_else(
        bytes in 1..60_000_usize,
        cached in prop::collection::vec(any::<bool>(), 1..12),
        records in any_records(),
    ) {
        let file = written(bytes);
        let options = Options { reach: CACHED_ONLY, ..options(records, 5_000) };
        let (mut reader, made) = over(options, Made::new(&cached));
        reader.add_path(file.path());
        let received = all(&mut reader);
        let mut delivered = 0;
        for (offset, chunk) in received.chunks.get(&0).into_iter().flatten() {
            delivered += chunk.len() as u64;
            prop_assert_eq!(&text(bytes)[*offset as usize..][..chunk.len()], &chunk[..]);
            for page in offset / PAGE..(offset + chunk.len() as u64).div_ceil(PAGE) {
                prop_assert!(made.is_cached(page));
            }
        }
        prop_assert_eq!(received.ends[&0], (bytes as u64, bytes as u64 - delivered));
    }
}

#[test]
fn a_record_that_is_too_long_fails_its_file_after_what_lies_before() {
    let mut long = NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    long.write_all(&[&b"before\n"[..], &[b'x'; 60_000], b"\nafter\n"].concat()).unwrap();
    let short = written(3_000);
    for cached in [&[true][..], &[false], &[false, true]] {
        for plan in [Plan::Best, Plan::Linear] {
            let options = Options {
                plan,
                record_bytes_max: 20_000,
                ..options(Records::Delimiter(b'\n'), 4096)
            };
            let (mut reader, _) = over(options, Made::new(cached));
            reader.add_path(long.path());
            reader.add_path(short.path());
            let mut first = None;
            let mut failed = None;
            let mut rest = Vec::new();
            while let Some(event) = reader.next() {
                match event {
                    Event::Chunk(chunk) if chunk.file == 0 => {
                        first.get_or_insert((chunk.offset, chunk.bytes.to_vec()));
                    }
                    Event::Chunk(chunk) => rest.extend_from_slice(chunk.bytes),
                    Event::Failed { file: 0, error } => failed = Some(error),
                    Event::End { file: 1, .. } => {}
                    other => panic!("{other:?}"),
                }
            }
            let error = failed.unwrap();
            assert_eq!(error.kind(), ErrorKind::TooLong);
            assert_eq!(error.reason(), "the record at byte 7 is longer than 20000 bytes");
            assert!(error.to_string().starts_with(&*long.path().to_string_lossy()));
            // Cached or not, the first line lies before the long one.
            assert!(first.is_none_or(
                |(offset, bytes)| (offset, &bytes[..]) == (0, b"before\n") || offset > 7
            ));
            rest.sort_unstable();
            let mut expected = text(3_000);
            expected.sort_unstable();
            assert!(rest == expected);
        }
    }
}

#[test]
fn files_can_be_added_for_ever_and_are_forgotten_when_they_have_ended() {
    let file = written(5_000);
    let (mut reader, _) = over(options(Records::Delimiter(b'\n'), 4096), Made::new(&[true, false]));
    let mut ended = 0;
    for number in 0..300 {
        assert_eq!(reader.add_path(file.path()), number);
        if number % 3 > 0 {
            continue;
        }
        while let Some(event) = reader.next() {
            if let Event::End { file, bytes, .. } = event {
                assert_eq!((file, bytes), (ended, 5_000));
                ended += 1;
            }
        }
        assert!(reader.files.remembered() <= 1);
    }
}

#[test]
fn what_is_cached_of_all_files_comes_first() {
    let (first, second) = (written(40_000), written(40_000));
    let (mut reader, made) =
        over(Options { overlap: false, ..options(Records::None, 4096) }, Made::new(&[false, true]));
    reader.add_path(first.path());
    reader.add_path(second.path());
    let mut pages = Vec::new();
    while let Some(event) = reader.next() {
        if let Event::Chunk(chunk) = event {
            pages.push((chunk.file, chunk.offset / PAGE));
            let cached = pages.iter().filter(|(_, page)| made.is_cached(*page)).count();
            if cached < 10 {
                assert_eq!(made.reads.lock().unwrap().len(), cached, "nothing else is read before");
            }
        }
    }
    let cached_first =
        pages.iter().map(|&(file, page)| (!made.is_cached(page), file, page)).collect::<Vec<_>>();
    assert!(cached_first.is_sorted(), "{pages:?}");
}

#[test]
fn a_full_cache_is_read_past_and_an_empty_one_is_filled() {
    let file = written(8 << 20);
    let statistics = |room: Option<Headroom>, cached: &[bool]| {
        let (mut reader, _) = over(Options::default(), Made { room, ..Made::new(cached) });
        reader.add_path(file.path());
        assert_eq!(all(&mut reader).content(0).len(), 8 << 20);
        reader.statistics()
    };
    let half: Vec<bool> = (0..2048).map(|page| page < 1024).collect();
    let full = statistics(Some(Headroom { free: 0, cached: 4 << 20 }), &half);
    assert_eq!(
        (full.resident_bytes, full.device_bytes, full.bypassed_bytes),
        (4 << 20, 4 << 20, 4 << 20)
    );
    assert_eq!(full.resident_runs, 1);
    let empty = statistics(Some(Headroom { free: 1 << 30, cached: 0 }), &[false]);
    assert_eq!(empty.device_bytes, 8 << 20);
    let of_others = statistics(Some(Headroom { free: 0, cached: 1 << 30 }), &half);
    assert!(of_others.bypassed_bytes < 4 << 20, "others' pages may give way: that is tried");
}

#[test]
fn a_cache_that_keeps_nothing_is_soon_read_past() {
    let file = written(40 << 20);
    let (mut reader, _) = over(Options::default(), Made::new(&[false]));
    reader.add_path(file.path());
    all(&mut reader);
    let did = reader.statistics();
    assert_eq!(did.device_bytes, 40 << 20);
    assert!(did.bypassed_bytes >= 20 << 20, "{did:?}");
}

#[test]
fn nothing_is_read_past_the_cache_of_which_nothing_is_known() {
    let file = written(12 << 20);
    let made =
        Made { known: false, room: Some(Headroom { free: 0, cached: 0 }), ..Made::new(&[false]) };
    let (mut reader, _) = over(Options::default(), made);
    reader.add_path(file.path());
    assert_eq!(all(&mut reader).content(0).len(), 12 << 20);
    assert_eq!(reader.statistics().bypassed_bytes, 0);
}

#[test]
fn the_plain_order_is_file_by_file() {
    let (first, second) = (written(10_000), written(10_000));
    let options = Options { plan: Plan::Linear, ..options(Records::Delimiter(b'\n'), 3_000) };
    let (mut reader, _) = over(options, Made::new(&[false, true]));
    reader.add_path(first.path());
    reader.add_path(second.path());
    let mut seen = Vec::new();
    while let Some(event) = reader.next() {
        if let Event::Chunk(chunk) = event {
            seen.push((chunk.file, chunk.offset));
        }
    }
    assert!(seen.is_sorted() && seen.len() >= 6);
}

#[test]
fn a_terabyte_of_holes_is_skipped_at_once() {
    let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    file.set_len(1 << 40).unwrap();
    let mut reader = Reader::new(Options { reach: CACHED_ONLY, ..Options::default() });
    reader.add_file(Path::new("holes"), file);
    let received = all(&mut reader);
    assert_eq!(received.ends[&0], (1 << 40, 1 << 40));
}

#[test]
fn streams_proc_files_and_empty_files_are_read_to_their_end() {
    let (pipe, mut writer) = io::pipe().unwrap();
    let sent = text(300_000);
    let copy = sent.clone();
    let thread = std::thread::spawn(move || writer.write_all(&copy).unwrap());
    let empty = written(0);
    let mut reader = Reader::new(options(Records::Delimiter(b'\n'), 10_000));
    reader.add_file(Path::new("pipe"), File::from(std::os::fd::OwnedFd::from(pipe)));
    reader.add_path(empty.path());
    reader.add_path(Path::new("/proc/version"));
    let received = all(&mut reader);
    thread.join().unwrap();
    assert_eq!(received.content(0), sent);
    assert_eq!(received.ends[&1], (0, 0));
    assert_eq!(received.content(2), std::fs::read("/proc/version").unwrap());
}

#[test]
fn a_file_handed_in_open_is_read_from_where_it_stands_and_left_at_its_end() {
    for plan in [Plan::Best, Plan::Linear] {
        let named = written(50_000);
        let mut file = File::open(named.path()).unwrap();
        file.seek(io::SeekFrom::Start(10_001)).unwrap();
        let mut shared = file.try_clone().unwrap();
        let (mut reader, _) =
            over(Options { plan, ..options(Records::None, 4_096) }, Made::new(&[true, false]));
        reader.add_file(named.path(), file);
        let received = all(&mut reader);
        assert_eq!(received.content(0), text(50_000)[10_001..], "{plan:?}");
        assert_eq!(shared.stream_position().unwrap(), 50_000, "{plan:?}");
    }
}

#[test]
fn a_finished_file_is_heard_of_no_more() {
    let (first, second) = (written(40_000), written(40_000));
    let (mut reader, _) = over(options(Records::None, 4096), Made::new(&[false, true]));
    reader.add_path(first.path());
    reader.add_path(second.path());
    assert!(matches!(reader.next(), Some(Event::Chunk(Chunk { file: 0, .. }))));
    reader.finish_file(0);
    reader.pin(1, 0, 100);
    let received = all(&mut reader);
    assert!(!received.chunks.contains_key(&0) && !received.ends.contains_key(&0));
    assert_eq!(received.content(1), text(40_000));
}

#[test]
fn a_gap_at_the_very_end_is_not_forgotten() {
    for gap in [36_864, 40_960] {
        let file = written(gap + 1);
        let cached: Vec<bool> = (0..gap as u64 / PAGE).map(|_| true).chain([false]).collect();
        let (mut reader, _) = over(options(Records::None, 1_000), Made::new(&cached));
        reader.add_path(file.path());
        let received = all(&mut reader);
        assert_eq!(received.content(0), text(gap + 1));
        assert_eq!((received.ends[&0], reader.statistics().restarts), ((gap as u64 + 1, 0), 0));
    }
}

#[test]
fn what_is_cached_comes_before_the_cheap_device_and_that_before_the_dear_one() {
    let Ok(mut cheap) = NamedTempFile::new_in(SHARED_MEMORY) else {
        eprintln!("skipped: no {SHARED_MEMORY} to play another device");
        return;
    };
    let dear = written(40_000);
    cheap.write_all(&text(40_000)).unwrap();
    for overlap in [false, true] {
        let made = Made {
            room: Some(Headroom { free: 0, cached: 0 }),
            ..Made::new(&[true, true, false, false])
        };
        let (mut reader, _) = over(Options { overlap, ..options(Records::None, 256 << 10) }, made);
        reader.add_path(dear.path());
        reader.add_path(cheap.path());
        let mut absent = Vec::new();
        while let Some(event) = reader.next() {
            if let Event::Chunk(chunk) = event
                && chunk.offset / PAGE % 4 >= 2
            {
                absent.push(chunk.file);
            }
        }
        assert_eq!(absent.first(), Some(&1), "overlap {overlap}");
        assert!(absent.is_sorted_by(|left, right| left >= right), "overlap {overlap}: {absent:?}");
    }
}

#[test]
fn the_device_table_learns_once_from_many_reads_past_the_cache_and_not_from_a_few() {
    for (mebibytes, received) in [(2, 0), (20, 1)] {
        let file = written(mebibytes << 20);
        let made = Made { room: Some(Headroom { free: 0, cached: 0 }), ..Made::new(&[false]) };
        let (mut reader, made) = over(options(Records::None, 256 << 10), made);
        reader.add_path(file.path());
        assert_eq!(all(&mut reader).content(0).len(), mebibytes << 20);
        assert!(reader.next().is_none());
        assert_eq!(made.learned.lock().unwrap().len(), received, "{mebibytes} MiB");
    }
}

#[test]
fn for_those_who_need_order_a_gap_comes_before_what_is_cached_behind_it() {
    let file = written(12 << 20);
    let cached: Vec<bool> = (0..3072).map(|page| (1536..2304).contains(&page)).collect();
    for free in [0, 1 << 30] {
        let made = Made { room: Some(Headroom { free, cached: 0 }), ..Made::new(&cached) };
        let options = Options {
            in_order: true,
            overlap: false,
            ..options(Records::Delimiter(b'\n'), 256 << 10)
        };
        let (mut reader, _) = over(options, made);
        reader.add_path(file.path());
        let mut offsets = Vec::new();
        let mut received = Received::default();
        while let Some(event) = reader.next() {
            if let Event::Chunk(chunk) = &event {
                offsets.push(chunk.offset);
            }
            received.take(event);
        }
        assert_eq!(received.content(0), text(12 << 20));
        assert!(offsets.is_sorted(), "free {free}");
    }
}
