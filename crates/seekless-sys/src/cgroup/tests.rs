use super::*;

/// Hierarchies below a folder of the test's.
struct Machine {
    root: tempfile::TempDir,
}

const DISK: (u32, u32) = (254, 0);

impl Machine {
    fn new() -> Self {
        Machine { root: tempfile::tempdir().unwrap() }
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The groups, where `mounts` has a line `MOUNTED-FOLDER POINT TYPE OPTIONS` for each
    /// hierarchy.
    fn groups(&self, cgroup: &str, mounts: &[&str]) -> Groups {
        let lines: Vec<String> = mounts
            .iter()
            .map(|mount| {
                let [folder, point, kind, options] = mount.split(' ').collect::<Vec<_>>()[..]
                else {
                    panic!("{mount}")
                };
                format!(
                    "30 31 0:30 {folder} {}/{point} rw - {kind} {kind} {options}\n",
                    self.root.path().display()
                )
            })
            .collect();
        Groups::parse(cgroup, &Mounts::parse(&lines.concat()))
    }
}

fn limits(bytes: Option<u64>, requests: Option<u64>) -> ReadLimits {
    ReadLimits { bytes_per_second: bytes, requests_per_second: requests }
}

#[test]
fn the_narrowest_limit_on_the_way_up_holds() {
    let machine = Machine::new();
    machine.file("blkio/a/blkio.throttle.read_bps_device", "8:0 5\n254:0 200000000\n");
    machine.file("blkio/a/b/blkio.throttle.read_bps_device", "254:0 900000000\n");
    machine.file("blkio/a/b/blkio.throttle.read_iops_device", "254:0 500\n");
    let groups = machine.groups("7:blkio:/a/b\n", &["/ blkio cgroup rw,blkio"]);
    assert_eq!(groups.read_limits(DISK), limits(Some(200_000_000), Some(500)));
    assert_eq!(groups.read_limits((8, 16)), limits(None, None));
}

#[test]
fn version_2_has_other_words_for_the_same() {
    let machine = Machine::new();
    machine
        .file("a/b/io.max", "8:0 rbps=5 riops=5\n254:0 rbps=1000000 wbps=max riops=max wiops=7\n");
    machine.file("a/io.max", "254:0 rbps=max wbps=max riops=120 wiops=max\n");
    machine.file("a/b/memory.max", "1000\n");
    machine.file("a/b/memory.current", "400\n");
    machine.file("a/b/memory.stat", "anon 5\nfile 90\nshmem 30\n");
    machine.file("a/memory.max", "max\n");
    machine.file("a/memory.current", "7000\n");
    let groups = machine.groups("0::/a/b\n", &["/ . cgroup2 rw"]);
    assert_eq!(groups.read_limits(DISK), limits(Some(1_000_000), Some(120)));
    let memory = MemoryLimit { limit_bytes: 1000, used_bytes: 400, cached_bytes: Some(60) };
    assert_eq!(groups.memory_limits(), [memory]);
    assert_eq!(memory.free_bytes(), 600);
}

#[test]
fn of_a_hybrid_machine_both_hierarchies_are_asked() {
    let machine = Machine::new();
    machine.file("memory/a/memory.limit_in_bytes", "5000\n");
    machine.file("memory/a/memory.usage_in_bytes", "1000\n");
    machine.file("memory/memory.limit_in_bytes", "9223372036854771712\n");
    machine.file("memory/memory.usage_in_bytes", "1000\n");
    machine.file("unified/u/memory.max", "3000\n");
    machine.file("unified/u/memory.current", "100\n");
    let mounts = ["/ memory cgroup rw,memory", "/ unified cgroup2 rw,nsdelegate"];
    let groups = machine.groups("4:cpu,memory:/a\n1:name=systemd:/u\n0::/u\n", &mounts);
    let limits: Vec<u64> = groups.memory_limits().iter().map(|limit| limit.limit_bytes).collect();
    assert_eq!(limits, [5000, 3000]);
}

#[test]
fn in_a_container_the_mounted_part_is_the_top() {
    let machine = Machine::new();
    let folder = |cgroup: &str, mount: &str| {
        let groups = machine.groups(cgroup, &[mount]);
        let group = groups.version_1("blkio").unwrap();
        assert_eq!(group.top(), machine.root.path().join("blkio"));
        group.folder().strip_prefix(machine.root.path()).unwrap().to_owned()
    };
    assert_eq!(
        folder("7:blkio:/docker/c1\n", "/docker/c1 blkio cgroup rw,blkio"),
        Path::new("blkio")
    );
    assert_eq!(
        folder("7:blkio:/docker/c1/job\n", "/docker/c1 blkio cgroup rw,blkio"),
        Path::new("blkio/job")
    );
    assert_eq!(
        folder("7:blkio:/../outside\n", "/docker/c1 blkio cgroup rw,blkio"),
        Path::new("blkio")
    );
    assert_eq!(folder("7:blkio:/a:b\n", "/ blkio cgroup rw,blkio"), Path::new("blkio/a:b"));
    assert_eq!(machine.groups("7:blkio:/\n0::/\n", &["/ cpu cgroup rw,cpu"]), Groups::default());
}

#[test]
fn limits_are_written_in_the_words_of_each_version() {
    let machine = Machine::new();
    let mounts = ["/ blkio cgroup rw,blkio", "/ unified cgroup2 rw"];
    let groups = machine.groups("7:blkio:/\n0::/\n", &mounts);
    let (v1, v2) = (groups.version_1("blkio").unwrap(), groups.version_2().unwrap());
    let (both, none) = (limits(Some(150_000_000), Some(500)), limits(None, None));
    let (requests, bytes) = ("blkio.throttle.read_iops_device", "blkio.throttle.read_bps_device");
    assert_eq!(
        v1.limiting(DISK, both),
        [(requests, "254:0 500".into()), (bytes, "254:0 150000000".into())]
    );
    assert_eq!(v1.limiting(DISK, none), [(requests, "254:0 0".into()), (bytes, "254:0 0".into())]);
    assert_eq!(v2.limiting(DISK, both), [("io.max", "254:0 rbps=150000000 riops=500".into())]);
    assert_eq!(v2.limiting(DISK, none), [("io.max", "254:0 rbps=max riops=max".into())]);
    // What was written is what is read back.
    for (group, folder) in [(v1, "blkio"), (v2, "unified")] {
        group
            .limiting(DISK, both)
            .iter()
            .for_each(|(file, text)| machine.file(&format!("{folder}/{file}"), text));
        assert_eq!(group.limits_of(group.folder(), DISK), both);
    }
}

#[test]
fn counts_are_read_in_the_words_of_each_version() {
    let machine = Machine::new();
    machine.file(
        "blkio/blkio.throttle.io_serviced",
        "254:0 Read 4497\n254:0 Write 3\n254:16 Read 9\nTotal 4509\n",
    );
    machine.file(
        "blkio/blkio.throttle.io_service_bytes",
        "254:0 Read 8192\n254:0 Sync 1\nTotal 4509\n",
    );
    machine.file(
        "unified/io.stat",
        "254:0 rbytes=8192 wbytes=1 rios=4497 wios=3 dbytes=0 dios=0\n8:0 \n",
    );
    let mounts = ["/ blkio cgroup rw,blkio", "/ unified cgroup2 rw"];
    let groups = machine.groups("7:blkio:/\n0::/\n", &mounts);
    for group in [groups.version_1("blkio").unwrap(), groups.version_2().unwrap()] {
        let served = ReadsServed { requests: 4497, bytes: 8192 };
        assert_eq!(group.served(group.folder(), DISK).unwrap(), served);
        assert_eq!(group.served(group.folder(), (8, 0)).unwrap(), ReadsServed::default());
    }
    let error =
        groups.version_2().unwrap().served(machine.root.path(), DISK).unwrap_err().to_string();
    assert!(error.contains("io.stat"), "{error}");
}

#[test]
fn this_process_has_groups_where_they_are_mounted() {
    let Ok(groups) = Groups::of_this_process() else { return eprintln!("skipped: no /proc here") };
    assert_eq!(groups, Groups::as_mounted_now().unwrap());
    for group in &groups.0 {
        assert!(group.folder().starts_with(group.top()), "{group:?}");
    }
}
