//! Files that change, vanish or fail in the middle of a pass: the right answer or a clear error.

use super::*;

/// Reads a file of `bytes`, which `change` changes after the first chunk.
fn changed(bytes: usize, made: Option<Made>, change: impl FnOnce(&Path)) -> Received {
    let folder = TempDir::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, text(bytes)).unwrap();
    let kernel: Arc<dyn Kernel> = made.map_or(Arc::new(Linux::default()), |made| Arc::new(made));
    let mut reader = Reader::over(options(Records::Delimiter(b'\n'), 64 << 10), kernel);
    reader.add_path(&path);
    let mut received = Received::default();
    received.take(reader.next().unwrap());
    assert!(received.chunks.contains_key(&0));
    change(&path);
    while let Some(event) = reader.next() {
        received.take(event);
    }
    received
}

/// Both with what the system says, which maps the file, and with a cache that holds every other
/// page.
fn both_ways(change: impl Fn(&Path) + Copy, expected: &[u8], restarts: &[usize]) {
    for made in [None, Some(Made::new(&[true, false, false]))] {
        let received = changed(2 << 20, made, change);
        assert!(received.failed.is_empty());
        assert_eq!(received.restarts, restarts);
        assert!(received.content(0) == expected, "{} bytes", received.content(0).len());
        assert_eq!(received.ends[&0], (expected.len() as u64, 0));
    }
}

#[test]
fn cut_short() {
    let cut =
        |path: &Path| File::options().write(true).open(path).unwrap().set_len(300_000).unwrap();
    both_ways(cut, &text(2 << 20)[..300_000], &[0]);
}

#[test]
fn emptied() {
    both_ways(|path| drop(File::create(path).unwrap()), b"", &[0]);
}

#[test]
fn what_is_appended_is_read_too_and_nothing_twice() {
    let grow = |path: &Path| {
        File::options().append(true).open(path).unwrap().write_all(b"\nmore\nand more").unwrap();
    };
    let expected = [&text(2 << 20)[..], b"\nmore\nand more"].concat();
    both_ways(grow, &expected, &[]);
}

#[test]
fn a_line_that_is_completed_meanwhile_is_one_line() {
    assert_ne!(text(2 << 20).last(), Some(&b'\n'));
    let received = changed(2 << 20, None, |path| {
        File::options()
            .append(true)
            .open(path)
            .unwrap()
            .write_all(b"and the rest of it\n")
            .unwrap();
    });
    let last = received.chunks[&0].iter().max_by_key(|(offset, _)| *offset).unwrap();
    assert!(
        last.1.ends_with(b"and the rest of it\n") && last.1.len() > b"and the rest of it\n".len()
    );
    let begin = last.0 as usize;
    assert_eq!(text(2 << 20)[begin - 1], b'\n');
}

#[test]
fn what_is_appended_is_read_until_the_end_is_met_once() {
    let folder = TempDir::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, "0\n").unwrap();
    let (mut reader, _) = over(options(Records::Delimiter(b'\n'), 4096), Made::new(&[true]));
    reader.add_path(&path);
    let mut received = Received::default();
    let mut appended = 0;
    while let Some(event) = reader.next() {
        // Three times a line is there before the end is looked for; then no more.
        if matches!(event, Event::Chunk(_)) && appended < 3 {
            appended += 1;
            File::options()
                .append(true)
                .open(&path)
                .unwrap()
                .write_all(format!("{appended}\n").as_bytes())
                .unwrap();
        }
        received.take(event);
    }
    assert_eq!(received.content(0), b"0\n1\n2\n3\n");
    assert_eq!((received.ends[&0], reader.statistics().restarts), ((8, 0), 0));
}

#[test]
fn touched() {
    let touch = |path: &Path| {
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(std::time::SystemTime::now() + Duration::from_secs(5)).unwrap();
    };
    both_ways(touch, &text(2 << 20), &[]);
}

/// Each byte comes once, in some version of it: a file that was rewritten cannot be distinguished
/// from one that was touched.
#[test]
fn overwritten_in_place() {
    let overwrite = |path: &Path| {
        let file = File::options().write(true).open(path).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"\n\n\n\n", 1_000_000).unwrap();
    };
    let before = text(2 << 20);
    let mut after = before.clone();
    after[1_000_000..1_000_004].copy_from_slice(b"\n\n\n\n");
    for made in [None, Some(Made::new(&[true, false, false]))] {
        let received = changed(2 << 20, made, overwrite);
        assert_eq!((&received.restarts[..], received.ends[&0]), (&[][..], (2 << 20, 0)));
        let content = received.content(0);
        assert!(content == before || content == after);
    }
}

#[test]
fn deleted() {
    both_ways(|path| std::fs::remove_file(path).unwrap(), &text(2 << 20), &[]);
}

#[test]
fn replaced_by_another() {
    let replace = |path: &Path| {
        let other = path.with_extension("new");
        std::fs::write(&other, "another\n").unwrap();
        std::fs::rename(&other, path).unwrap();
    };
    both_ways(replace, &text(2 << 20), &[]); // the file that was opened is still there
}

#[test]
fn a_file_that_had_to_be_closed_and_grew_or_was_touched_is_still_itself() {
    let folder = TempDir::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = |number: usize| folder.path().join(number.to_string());
    let (mut reader, _) = over(options(Records::None, 4096), Made::new(&[false]));
    for number in 0..200 {
        std::fs::write(path(number), text(5_000)).unwrap();
        reader.add_path(&path(number));
    }
    let mut received = Received::default();
    received.take(reader.next().unwrap());
    File::options().append(true).open(path(20)).unwrap().write_all(b"more").unwrap();
    let later = std::time::SystemTime::now() + Duration::from_secs(5);
    File::options().write(true).open(path(30)).unwrap().set_modified(later).unwrap();
    std::fs::write(path(999), text(6_000)).unwrap();
    std::fs::rename(path(999), path(40)).unwrap();
    while let Some(event) = reader.next() {
        received.take(event);
    }
    assert_eq!(received.restarts, [40]);
    assert_eq!(received.content(20), [&text(5_000)[..], b"more"].concat());
    assert_eq!((received.content(30), received.content(40)), (text(5_000), text(6_000)));
    assert_eq!((received.ends.len(), received.failed.len()), (200, 0));
}

#[test]
fn a_failing_device_fails_that_file_alone() {
    for broken in [0, 5 * PAGE + 7, 39_000] {
        for cached in [&[true][..], &[false], &[true, false]] {
            let (first, second) = (written(40_000), written(3_000));
            let (mut reader, _) = over(
                options(Records::None, 4096),
                Made { broken: Some(broken), ..Made::new(cached) },
            );
            reader.add_path(first.path());
            reader.add_path(second.path());
            let received = all(&mut reader);
            assert!(received.failed[&0].contains("os error 5") && !received.ends.contains_key(&0));
            if broken > 3_000 {
                assert_eq!(received.content(1), text(3_000));
            }
        }
    }
}

#[test]
fn files_that_had_to_be_closed_are_known_again_or_refused() {
    let folder = TempDir::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = |number: usize| folder.path().join(number.to_string());
    let (mut reader, _) = over(options(Records::None, 4096), Made::new(&[false]));
    for number in 0..200 {
        std::fs::write(path(number), text(5_000 + number)).unwrap();
        reader.add_path(&path(number));
    }
    let mut received = Received::default();
    received.take(reader.next().unwrap());
    std::fs::remove_file(path(20)).unwrap();
    std::fs::write(path(30), "another\n").unwrap();
    while let Some(event) = reader.next() {
        received.take(event);
    }
    assert!(received.failed[&20].contains("No such file"));
    assert_eq!(received.restarts, [30]);
    assert_eq!(received.content(30), b"another\n");
    assert_eq!((received.ends.len(), received.failed.len()), (199, 1));
    assert!(
        (0..200)
            .filter(|number| ![20, 30].contains(number))
            .all(|number| received.content(number) == text(5_000 + number))
    );
}

#[test]
fn what_cannot_be_opened_or_read_is_named() {
    let folder = TempDir::new().unwrap();
    let mut reader = Reader::new(Options::default());
    reader.add_path(&folder.path().join("missing"));
    reader.add_path(folder.path());
    let mut failed = Vec::new();
    while let Some(event) = reader.next() {
        if let Event::Failed { file, error } = event {
            failed.push((file, error.kind(), error.to_string()));
        }
    }
    assert!(
        failed[0].2.contains("missing: No such file") && failed[1].2.contains("Is a directory")
    );
    assert_eq!((failed[0].1, failed[1].1), (ErrorKind::Open, ErrorKind::Io));
    assert_eq!((failed[0].0, failed[1].0), (0, 1));
}

#[test]
fn what_was_absent_and_is_cached_when_its_turn_comes_is_read_all_the_same() {
    let file = written(50_000);
    let options = Options { overlap: false, ..options(Records::None, 4_096) };
    let (mut reader, made) = over(options, Made::new(&[true, false]));
    reader.add_path(file.path());
    let mut received = Received::default();
    while let Some(event) = reader.next() {
        received.take(event);
        if !made.warm.swap(true, Ordering::Relaxed) {
            // Longer than an answer about the cache is believed.
            std::thread::sleep(Duration::from_millis(350));
        }
    }
    assert_eq!(received.content(0), text(50_000));
    assert_eq!(received.ends[&0], (50_000, 0));
}
