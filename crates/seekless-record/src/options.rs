//! How to record, and how a program is watched.

use crate::live::Live;
use crate::sink::Limits;
use std::path::PathBuf;

/// How to record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Record pipes, sockets, terminals, /proc, /sys and /dev too.
    pub special: bool,
    /// Replace an existing output, and the spool of a recording that was killed.
    pub force: bool,
    /// Globs of the files to record; if there are none, all files are. A glob that does not start
    /// with `/` matches at any depth. A glob that matches a folder matches everything below it. `*`
    /// does not match `/`, `**` does. Globs are compared with the kernel's name of a file, without
    /// links; if an open failed, with the name that the program passed.
    pub only: Vec<String>,
    /// Globs of files not to record, even if `only` names them.
    pub exclude: Vec<String>,
    /// Find out where files lie, at each close and at the end
    /// ([`Recorded::places`](crate::Recorded::places)).
    pub places: bool,
    /// At the end write files back that have no places yet, so that they get some.
    pub sync: bool,
    /// Write what reaches the devices of the files behind the page cache to this file, as a block
    /// trace of the whole machine's requests. This needs root or CAP_PERFMON; else the result says
    /// why that trace is missing ([`Recorded::post_cache`](crate::Recorded::post_cache)).
    pub post_cache: Option<PathBuf>,
    /// Record what comes into the page cache for the program, as `fetch` rows: by its reads, its
    /// touches of mapped files, requests of its rings, and readahead for these. Only
    /// [`Method::Ebpf`] sees it; else the summary says why there are no such rows.
    pub fetches: bool,
    /// How the program is watched.
    pub method: Method,
    /// The size of the ring between the kernel and the recorder, if not the usual one: a power of
    /// two, at least a page. Only for [`Method::Ebpf`].
    pub ring_bytes: Option<u32>,
    /// When to stop recording. A program that was started for it runs on, unrecorded.
    pub limits: Limits,
    /// Leave the program's arguments out of the trace, which otherwise has them.
    pub no_arguments: bool,
    /// Counts here what is recorded, for somebody who looks meanwhile.
    pub live: Option<Live>,
}

/// How a program is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Ebpf where the kernel allows it and nothing else is asked for that needs ptrace.
    #[default]
    Auto,
    /// A filter stops the program at calls on files, and the recorder looks at each. It needs no
    /// privileges. Latencies include the stops.
    Ptrace,
    /// As ptrace, but the commonest calls do not stop the program twice: the kernel notifies the
    /// recorder of them before they happen. What they will do is foreseen, so they have no
    /// latencies. It needs no privileges.
    Notify(Grain),
    /// Small programs in the kernel report calls, and the program does not stop. This needs root,
    /// or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE. With CAP_SYS_NICE the recording thread has the
    /// highest ordinary priority meanwhile.
    Ebpf,
}

/// How finely [`Method::Notify`] sees a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grain {
    /// Each call on a file.
    #[default]
    Calls,
    /// Opens, maps and programs only. A file that is opened for reading, and is not mapped, is
    /// taken for one that is read whole.
    Files,
}
