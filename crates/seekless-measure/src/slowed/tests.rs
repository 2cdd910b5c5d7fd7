use super::*;
use seekless_sys::residency::drop_cached;
use std::fs;
use std::io::Write;

#[test]
fn what_is_read_is_counted_and_all_is_put_back() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let slowed = match Slowed::new(&[here, here], 1_000_000, 1 << 40) {
        Ok(slowed) => slowed,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let mut file = tempfile::tempfile_in(here).unwrap();
    file.write_all(&[7; 100_000]).unwrap();
    file.sync_all().unwrap();
    drop_cached(file.as_fd()).unwrap();
    let (read, served) = slowed
        .during(|| std::os::unix::fs::FileExt::read_at(&file, &mut [0; 4096], 0).unwrap())
        .unwrap();
    assert_eq!(read, 4096);
    assert!(served.requests >= 1 && served.bytes >= 4096, "{served:?}");
    let group = slowed.group.folder().to_owned();
    let setting = slowed._locks.first().map(|lock| lock.undo().unwrap().to_string());
    if let Some(setting) = &setting {
        assert_eq!(value(setting).0, "1");
        assert!(
            Slowed::new(&[here], 1, 1).unwrap_err().to_string().contains("another measurement")
        );
    }
    drop(slowed);
    assert!(!group.exists());
    if let Some((now, before)) = setting.as_deref().map(value) {
        assert_eq!(now, before);
    }
}

/// What a setting is now, and what `write BEFORE to PATH` puts back.
fn value(step: &str) -> (String, String) {
    let (before, path) =
        step.strip_prefix("write ").and_then(|rest| rest.split_once(" to ")).unwrap();
    (fs::read_to_string(path).unwrap().trim().to_owned(), before.to_owned())
}

#[test]
fn what_lies_on_no_disk_is_refused_by_name() {
    let error = Slowed::new(&[Path::new("/proc")], 1, 1).unwrap_err().to_string();
    assert!(error.contains("/proc") && error.contains("no block device"), "{error}");
}
