//! Files that change, vanish or fail in the middle of a pass: the right answer or a clear error.

use super::*;

/// Reads a file of `bytes` of which `change` makes something else after the first chunk.
fn changed(bytes: usize, made: Option<Made>, change: impl FnOnce(&Path)) -> Told {
    let folder = TempDir::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, text(bytes)).unwrap();
    let kernel: Arc<dyn Kernel> = made.map_or(Arc::new(Linux), |made| Arc::new(made));
    let mut reader = Reader::over(options(Records::Delimiter(b'\n'), 64 << 10), kernel);
    reader.add_path(&path);
    let mut told = Told::default();
    told.hear(reader.next().unwrap());
    assert!(told.chunks.contains_key(&0));
    change(&path);
    while let Some(event) = reader.next() {
        told.hear(event);
    }
    told
}

/// Both with what the system says, which maps the file, and with a cache that holds every other page.
fn both_ways(change: impl Fn(&Path) + Copy, expected: &[u8], restarts: &[usize]) {
    for made in [None, Some(Made::new(&[true, false, false]))] {
        let told = changed(2 << 20, made, change);
        assert!(told.failed.is_empty());
        assert_eq!(told.restarts, restarts);
        assert!(told.content(0) == expected, "{} bytes", told.content(0).len());
        assert_eq!(told.ends[&0], (expected.len() as u64, 0));
    }
}

#[test]
fn cut_short() {
    let cut = |path: &Path| File::options().write(true).open(path).unwrap().set_len(300_000).unwrap();
    both_ways(cut, &text(2 << 20)[..300_000], &[0]);
}

#[test]
fn emptied() {
    both_ways(|path| drop(File::create(path).unwrap()), b"", &[0]);
}

#[test]
fn grown() {
    let grow = |path: &Path| {
        File::options().append(true).open(path).unwrap().write_all(b"\nmore\n").unwrap();
    };
    let expected = [&text(2 << 20)[..], b"\nmore\n"].concat();
    both_ways(grow, &expected, &[0]);
}

#[test]
fn overwritten_in_place() {
    let overwrite = |path: &Path| {
        let file = File::options().write(true).open(path).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"\n\n\n\n", 1_000_000).unwrap();
    };
    let mut expected = text(2 << 20);
    expected[1_000_000..1_000_004].copy_from_slice(b"\n\n\n\n");
    both_ways(overwrite, &expected, &[0]);
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
fn a_failing_device_fails_that_file_alone() {
    for broken in [0, 5 * PAGE + 7, 39_000] {
        for cached in [&[true][..], &[false], &[true, false]] {
            let (first, second) = (written(40_000), written(3_000));
            let (mut reader, _) =
                over(options(Records::None, 4096), Made { broken: Some(broken), ..Made::new(cached) });
            reader.add_path(first.path());
            reader.add_path(second.path());
            let told = all(&mut reader);
            assert!(told.failed[&0].contains("os error 5") && !told.ends.contains_key(&0));
            if broken > 3_000 {
                assert_eq!(told.content(1), text(3_000));
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
    let mut told = Told::default();
    told.hear(reader.next().unwrap());
    std::fs::remove_file(path(20)).unwrap();
    std::fs::write(path(30), "another\n").unwrap();
    while let Some(event) = reader.next() {
        told.hear(event);
    }
    assert!(told.failed[&20].contains("No such file"));
    assert_eq!(told.restarts, [30]);
    assert_eq!(told.content(30), b"another\n");
    assert_eq!((told.ends.len(), told.failed.len()), (199, 1));
    assert!(
        (0..200)
            .filter(|number| ![20, 30].contains(number))
            .all(|number| told.content(number) == text(5_000 + number))
    );
}

#[test]
fn what_cannot_be_opened_or_read_is_named() {
    let folder = TempDir::new().unwrap();
    let mut reader = Reader::new(Options::default());
    reader.add_path(&folder.path().join("missing"));
    reader.add_path(folder.path());
    let told = all(&mut reader);
    assert!(told.failed[&0].contains("missing: No such file"));
    assert!(told.failed[&1].contains("Is a directory"));
}

#[test]
fn what_was_absent_and_is_cached_when_its_turn_comes_is_read_all_the_same() {
    let file = written(50_000);
    let options = Options { overlap: false, ..options(Records::None, 4_096) };
    let (mut reader, made) = over(options, Made::new(&[true, false]));
    reader.add_path(file.path());
    let mut told = Told::default();
    while let Some(event) = reader.next() {
        told.hear(event);
        if !made.warm.swap(true, std::sync::atomic::Ordering::Relaxed) {
            // Longer than an answer about the cache is believed.
            std::thread::sleep(std::time::Duration::from_millis(350));
        }
    }
    assert_eq!(told.content(0), text(50_000));
    assert_eq!(told.ends[&0], (50_000, 0));
}
