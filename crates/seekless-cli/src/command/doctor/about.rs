//! What there is to say of each facility: what it is for, what is used instead where it is missing,
//! what that costs, and how to get it.

use seekless::tools::doctor::Facility;

/// What the facilities below a heading are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Reading,
    Cache,
    Watching,
    Serving,
}

impl Group {
    pub(super) const ALL: [Group; 4] =
        [Group::Reading, Group::Cache, Group::Watching, Group::Serving];

    pub(super) fn heading(self) -> &'static str {
        match self {
            Group::Reading => "To read",
            Group::Cache => "To know and govern what is cached",
            Group::Watching => "To watch programs and disks",
            Group::Serving => "To serve packs as folders",
        }
    }
}

/// The words for a facility.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    pub(super) group: Group,
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    pub(super) verbs: &'static [&'static str],
    pub(super) instead: &'static str,
    pub(super) cost: &'static str,
    pub(super) get: &'static str,
}

#[rustfmt::skip]
pub(super) fn about(facility: Facility) -> About {
    match facility {
        Facility::IoUring => About {
            group: Group::Reading,
            name: "io_uring",
            what: "many reads by one call",
            verbs: &["compare", "mount", "replay", "probe", "wc", "grep", "fits"],
            instead: "a pool of threads that call pread",
            cost: "two switches of threads for each read; fewer reads at once on a fast device",
            get: "Linux 5.6 and `sysctl kernel.io_uring_disabled=0`; in a container, a seccomp \
                  profile that allows io_uring_setup (Docker: --security-opt seccomp=FILE)",
        },
        Facility::Direct => About {
            group: Group::Reading,
            name: "O_DIRECT",
            what: "reads past the page cache",
            verbs: &["wc", "grep", "fits", "probe", "replay"],
            instead: "RWF_DONTCACHE, else reads through the cache",
            cost: "large scans push out what programs have cached; `probe` measures the cache too",
            get: "a file system on a disk, such as ext4, XFS or btrfs: `seekless doctor FOLDER` \
                  tries another",
        },
        Facility::DontCache => About {
            group: Group::Reading,
            name: "RWF_DONTCACHE",
            what: "reads that leave nothing cached",
            verbs: &["wc", "grep", "fits"],
            instead: "O_DIRECT, which is tried first; where both are missing, plain reads",
            cost: "nothing while O_DIRECT works",
            get: "Linux 6.14 and ext4, XFS or btrfs",
        },
        Facility::LargeFolios => About {
            group: Group::Reading,
            name: "large folios",
            what: "mapped files by pieces of 2 MiB",
            verbs: &["wc", "grep", "fits"],
            instead: "reads, which leave pages of 4 KiB",
            cost: "a later pass over cached data takes up to five times as long",
            get: "Linux 5.18 on a machine with pages of 4 KiB",
        },
        Facility::Cachestat => About {
            group: Group::Cache,
            name: "cachestat",
            what: "how much of a file is cached",
            verbs: &["sleds", "wc", "grep", "find", "run", "warm", "compare"],
            instead: "mincore, through a mapping of the file",
            cost: "20 to 60 ms for each GB that is asked about, instead of a third of a \
                   millisecond",
            get: "Linux 6.5; for files of others root, and since 6.14 for any file that you may \
                  not write to",
        },
        Facility::Mincore => About {
            group: Group::Cache,
            name: "mincore",
            what: "which pages of a mapping are cached",
            verbs: &["sleds", "wc", "grep", "compare"],
            instead: "cachestat, where it counts; else what is cached stays unknown",
            cost: "nothing while cachestat works; else nothing is read in a better order",
            get: "be the owner of the files, or root",
        },
        Facility::DropCaches => About {
            group: Group::Cache,
            name: "drop_caches",
            what: "an empty page cache, for cold trials",
            verbs: &["compare", "probe"],
            instead: "each file is dropped by itself",
            cost: "directories and inodes stay cached, so that cold figures are too low; the \
                   report says so",
            get: "root, outside a container or with /proc/sys writable",
        },
        Facility::Locked => About {
            group: Group::Cache,
            name: "locked memory",
            what: "files kept in memory",
            verbs: &["warm", "wc", "grep", "fits"],
            instead: "nothing is locked",
            cost: "what was brought in may leave again before it is read",
            get: "`ulimit -l unlimited` as root, or LimitMEMLOCK= of systemd",
        },
        Facility::Groups => About {
            group: Group::Cache,
            name: "control groups",
            what: "what limits this process",
            verbs: &["wc", "grep", "fits", "sleds"],
            instead: "the machine's memory and the device's own costs are assumed",
            cost: "under a limit, more is kept than fits, and reads take longer than expected",
            get: "mount them: `mount -t cgroup2 none /sys/fs/cgroup`",
        },
        Facility::Fiemap => About {
            group: Group::Reading,
            name: "FIEMAP",
            what: "where a file lies on its device",
            verbs: &["trace", "record", "compare", "sleds", "find"],
            instead: "holes are looked up by SEEK_DATA; places stay unknown",
            cost: "`trace blocks` and `record --block` have no rows for such files",
            get: "a file system such as ext4, XFS or btrfs",
        },
        Facility::Handles => About {
            group: Group::Watching,
            name: "file handles",
            what: "a file found again after a move",
            verbs: &["record"],
            instead: "it is looked up by its name",
            cost: "`record --block` has no places of files that were written and then moved",
            get: "root, or CAP_DAC_READ_SEARCH",
        },
        Facility::Ptrace => About {
            group: Group::Watching,
            name: "ptrace",
            what: "a program stopped at its calls",
            verbs: &["record", "run"],
            instead: "nothing: no program can be recorded; `run` has page faults alone",
            cost: "traces come only from other tools, by `seekless trace import`",
            get: "in a container --cap-add=SYS_PTRACE; else `sysctl kernel.yama.ptrace_scope=1`",
        },
        Facility::Filter => About {
            group: Group::Watching,
            name: "seccomp filter",
            what: "stops at calls on files only",
            verbs: &["record", "run"],
            instead: "eBPF; without that a program cannot be recorded from its start",
            cost: "with --pid each call stops the program twice",
            get: "Linux 5.3; in a container, a seccomp profile that allows seccomp(2)",
        },
        Facility::Notification => About {
            group: Group::Watching,
            name: "seccomp notify",
            what: "calls handed to the recorder",
            verbs: &["record"],
            instead: "the method ptrace, the default of `record` without root",
            cost: "recording small files takes up to 1.7 times the processor time of --method notify",
            get: "Linux 5.5; a process has one such filter at a time (container managers use it)",
        },
        Facility::PageFaults => About {
            group: Group::Watching,
            name: "perf page faults",
            what: "touched parts of mapped files",
            verbs: &["record", "run"],
            instead: "ptrace alone sees which pages of mapped files came into the cache",
            cost: "of a cold start readahead is recorded too, of a warm one nothing: warming then \
                   brings in several times as much",
            get: "`sysctl kernel.perf_event_paranoid=2`; in a container --cap-add=PERFMON",
        },
        Facility::Ebpf => About {
            group: Group::Watching,
            name: "eBPF",
            what: "calls reported without a stop",
            verbs: &["record"],
            instead: "ptrace, which stops the program at each call on a file",
            cost: "5,000 small files take 6.1 times the plain CPU time to record, instead of 2.5",
            get: "root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE: `sudo seekless record`",
        },
        Facility::Fetches => About {
            group: Group::Watching,
            name: "cache events",
            what: "what comes into the page cache",
            verbs: &["record"],
            instead: "nothing: `record --fetches` says that it is missing",
            cost: "the trace has reads and touches, not what was read ahead for them",
            get: "root, where tracefs is readable: `sudo seekless record --fetches`",
        },
        Facility::BlockEvents => About {
            group: Group::Watching,
            name: "block events",
            what: "what reaches the disks",
            verbs: &["record"],
            instead: "nothing: `record --post` says that it is missing",
            cost: "what the page cache saves is simulated (`seekless sim`), not seen",
            get: "root: `sudo seekless record --post FILE`",
        },
        Facility::Fuse => About {
            group: Group::Serving,
            name: "FUSE",
            what: "a pack served as a folder",
            verbs: &["mount", "run"],
            instead: "nothing: programs read the loose files",
            cost: "one or two requests for each small file",
            get: "`apt install fuse3`; in a container --device /dev/fuse --cap-add SYS_ADMIN",
        },
        Facility::OwnMounts => About {
            group: Group::Serving,
            name: "user namespaces",
            what: "a pack over a folder for one program",
            verbs: &["run"],
            instead: "`seekless mount PACK DIR --over`, which all programs see",
            cost: "the folder is hidden for everybody as long as the pack is mounted",
            get: "Linux 5.2, and root or `sysctl kernel.unprivileged_userns_clone=1` \
                  (Ubuntu: kernel.apparmor_restrict_unprivileged_userns=0)",
        },
    }
}
