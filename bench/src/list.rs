//! The benches: what each answers, how long it takes and what it needs. `./run bench` prints this.

use seekless::report::table;

pub(crate) const ABOUT: &str = "How fast the parts are, and beside their rivals. \
    Without a name: the list of benches, with what each answers, takes and needs.";

/// One bench.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    answers: &'static str,
    /// About how long, without options.
    takes: &'static str,
    needs: &'static str,
    pub(crate) quick: Quick,
}

impl Entry {
    /// Whether it needs the recorded starts of 0 A.D.
    pub(crate) fn needs_data(&self) -> bool {
        self.needs.contains("the data of 0 A.D.")
    }
}

/// How a bench is run with little work.
pub(crate) enum Quick {
    /// With these words.
    Words(&'static str),
    /// Not at all: what it needs must be named.
    No,
}

/// Benches that `./run` builds apart.
pub(crate) const APART: [&str; 2] = ["cached", "python"];

pub(crate) const ENTRIES: [Entry; 24] = [
    Entry {
        name: "advise",
        answers: "whether a start becomes as fast as advise expects",
        takes: "40 minutes",
        needs: "root, FUSE, 3 GB of disk; node, git, a JDK, gcc, sqlite3 and Python packages for \
                their rows",
        quick: Quick::Words("--only shell --devices none --runs 1"),
    },
    Entry {
        name: "arcadia",
        answers: "how fast a game's start loads from a pack, beside loose files and squashfs",
        takes: "20 minutes",
        needs: "root, the data of 0 A.D., 8 GB of disk; with --simulated only the data",
        quick: Quick::Words("--simulated --throttle iops=500,bandwidth=150MB/s --method recent"),
    },
    Entry {
        name: "bandwidth",
        answers: "how near a load comes to reading and decoding alone",
        takes: "5 minutes",
        needs: "root, the data of 0 A.D., 3 GB of disk",
        quick: Quick::Words("--large 16 --rounds 1 --folder /var/tmp"),
    },
    Entry {
        name: "cached",
        answers: "what a cached load costs, beside quick_cache, moka and foyer",
        takes: "2 minutes",
        needs: "the registry, for the rivals",
        quick: Quick::Words("--files 200 --loads 20000 --rounds 1"),
    },
    Entry {
        name: "choosing",
        answers: "what the policy auto loses against the best of six on twelve traces, and costs",
        takes: "3 minutes",
        needs: "four of the traces need the shared data",
        quick: Quick::Words("--limit 20000 --rounds 1"),
    },
    Entry {
        name: "find",
        answers: "how fast find walks 130,000 files, beside GNU's",
        takes: "2 minutes",
        needs: "600 MB of disk",
        quick: Quick::Words("--files 1300 --rounds 1"),
    },
    Entry {
        name: "grep",
        answers: "how fast grep searches cached files, beside GNU's and ripgrep",
        takes: "5 minutes",
        needs: "2 GB of free memory; the registry, for ripgrep",
        quick: Quick::Words("--size 1024,4194304 --rounds 1"),
    },
    Entry {
        name: "landlord",
        answers: "what Landlord costs for each request, beside the naive algorithm",
        takes: "1 minute",
        needs: "the data of 0 A.D.",
        quick: Quick::Words("--files 300 --requests 500 --rounds 1"),
    },
    Entry {
        name: "latency-start",
        answers: "how much sooner programs start under run over a slow file system",
        takes: "15 minutes",
        needs: "FUSE; node, javac, git and Python packages for their rows",
        quick: Quick::Words("--modules 20 --classes 0 --tree 50 --rounds 1"),
    },
    Entry {
        name: "lists",
        answers: "what export's order saves of a squashfs root, beside first accesses",
        takes: "10 minutes",
        needs: "root, mksquashfs, a root file system, three starts",
        quick: Quick::No,
    },
    Entry {
        name: "mounted-reads",
        answers: "how fast a cached file is read from a mounted pack",
        takes: "1 minute",
        needs: "FUSE",
        quick: Quick::Words("--rounds 1"),
    },
    Entry {
        name: "python",
        answers: "what the Python package costs beside the command (simulation, sweep, loader)",
        takes: "5 minutes",
        needs: "CPython 3.10 or later; the registry, for the rivals",
        quick: Quick::Words("simulation --requests 100000 --rounds 1"),
    },
    Entry {
        name: "recall",
        answers: "whether a recording names all pages that a start needs",
        takes: "5 minutes",
        needs: "root, a folder of programs, their starts",
        quick: Quick::No,
    },
    Entry {
        name: "recording",
        answers: "what recording adds to programs' processor time, beside strace",
        takes: "20 minutes",
        needs: "python3, make, a C compiler; strace and root for their columns",
        quick: Quick::Words("--programs start,small --files 100 --rounds 1"),
    },
    Entry {
        name: "records",
        answers: "how fast records of a trace are read and numbered",
        takes: "1 minute",
        needs: "120 MB of disk",
        quick: Quick::Words("--requests 100000 --rounds 1 --folder /var/tmp"),
    },
    Entry {
        name: "remote",
        answers: "how fast a game's start loads from object storage, beside s3fs and rclone",
        takes: "6 minutes",
        needs: "the data of 0 A.D., Go for versitygw, 9 GB of disk; FUSE, rclone, s3fs and Python \
                for their rows",
        quick: Quick::Words("--quick"),
    },
    Entry {
        name: "replay",
        answers: "whether replay drives a disk as hard as fio, and on time",
        takes: "15 minutes",
        needs: "fio, a disk with direct I/O",
        quick: Quick::Words("--rounds 2 --size 32 --timed 500 --seconds 1 --quick 50"),
    },
    Entry {
        name: "simulate",
        answers: "how fast sim is from file to figures, beside libCacheSim's cachesim",
        takes: "10 minutes",
        needs: "cachesim for its column",
        quick: Quick::Words("--requests 100000 --policies 2 --sizes 2 --rounds 1"),
    },
    Entry {
        name: "speed",
        answers: "how many requests a second each policy simulates",
        takes: "20 minutes",
        needs: "2 GB of free memory",
        quick: Quick::Words("--quick --policy lru,sieve --rounds 1"),
    },
    Entry {
        name: "start",
        answers: "how much sooner cold programs start under run, mount and rivals on slow devices",
        takes: "20 minutes",
        needs: "root; a folder of Python packages, node, git, a JDK, gcc, vmtouch, squashfs and \
                preload for their rows",
        quick: Quick::Words("--whole --program git --device none --rounds 1 --folder /var/tmp"),
    },
    Entry {
        name: "store-costs",
        answers: "how well a store finds out what its device costs",
        takes: "5 minutes",
        needs: "root, the data of 0 A.D.",
        quick: Quick::Words(
            "--one --rounds 1 --seconds 2 --throttle iops=3000,bandwidth=150MB/s --folder /var/tmp",
        ),
    },
    Entry {
        name: "unchanged",
        answers: "what run --readahead gains for unchanged programs",
        takes: "15 minutes",
        needs: "root, 400 MB of disk; cc, python3, sqlite3 and git for their rows",
        quick: Quick::Words("--only Python --iops 5000 --rounds 1 --folder /var/tmp"),
    },
    Entry {
        name: "wc",
        answers: "how fast wc counts cached files, beside GNU's and uutils'",
        takes: "5 minutes",
        needs: "2 GB of free memory; the registry, for uutils",
        quick: Quick::Words("--size 1024,4194304 --rounds 1"),
    },
    Entry {
        name: "zipf",
        answers: "nothing: it writes the Zipf requests for other simulators",
        takes: "10 seconds",
        needs: "a file to write",
        quick: Quick::No,
    },
];

/// Prints the list.
pub(crate) fn print() -> anyhow::Result<()> {
    let row = |entry: &Entry| {
        [entry.name, entry.answers, entry.takes, entry.needs].map(str::to_owned).to_vec()
    };
    println!(
        "{}\n`./run bench NAME` measures, `--help` behind it lists its options, `--save` writes its\n\
         results for docs/measured. `./run bench all --quick` runs each with little work.\n\
         The times are rough, and those of a machine with two cores.",
        table(&["bench", "what it answers", "takes", "needs"], ENTRIES.iter().map(row).collect())
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use clap::{CommandFactory, Parser};

    #[test]
    fn every_bench_is_in_the_list() {
        let command = Cli::command();
        let names = command.get_subcommands().map(|bench| bench.get_name().to_owned());
        let mut known: Vec<String> = names.filter(|name| name != "all").collect();
        known.extend(APART.map(str::to_owned));
        known.sort();
        assert_eq!(known, ENTRIES.iter().map(|entry| entry.name).collect::<Vec<_>>());
    }

    #[test]
    fn the_words_of_a_quick_run_are_understood() {
        for Entry { name, quick, .. } in ENTRIES.iter().filter(|entry| !APART.contains(&entry.name))
        {
            let Quick::Words(words) = quick else { continue };
            let line = ["bench", name].into_iter().chain(words.split_whitespace());
            let cli = Cli::try_parse_from(line).unwrap();
            assert_eq!(cli.question.unwrap().name(), *name);
        }
    }
}
