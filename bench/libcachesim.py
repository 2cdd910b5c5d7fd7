#!/usr/bin/env python3
"""Ratios to libCacheSim: its Python wheel's process_trace and ours take turns over the same requests.

    python3 -m venv venv && venv/bin/pip install libcachesim==0.3.5
    venv/bin/python bench/libcachesim.py target/release/seekless-bench --data DIR

Both sides are measured in processor time of one thread. The wheel's process_trace reads its trace's file (mapped, in the page
cache: 24 bytes a request) and hashes names as it goes; opening the file and making the cache are left out. Ours takes the names
from memory: the ratio with their numbering is of the same work but for decoding those 24 bytes, the ratio without it compares
our policy alone with all that the wheel does. Policies of the same name need not be the same algorithm: the miss ratios stand
beside the speeds.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.pop(0)  # this file's folder: the package's name is its own
import libcachesim  # noqa: E402

# Ours, and theirs.
POLICIES = {
    "lru": "LRU",
    "fifo": "FIFO",
    "clock": "Clock",
    "sieve": "Sieve",
    "s3-fifo@2024": "S3FIFO",
    "arc": "ARC",
    "2q": "TwoQ",
    "lirs": "LIRS",
    "clock-pro": "ClockPro",
    "clock2q+": "Clock2QPlus",
    "mq": "MQ",
    "slru@4": "SLRU",
    "lfu": "LFU",
    "lfu-da": "LFUDA",
    "lru-2": "LRUK",
    "gdsf": "GDSF",
    "hyperbolic": "Hyperbolic",
    "w-tinylfu": "WTinyLFU",
    "random": "Random",
    "size@heap": "Size",
    "lecar": "LeCaR",
    "lhd": "LHD",
    "cacheus@libcachesim": "Cacheus",
    "opt": "Belady",
}


def main():
    arguments = options()
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as folder:
        traces = {}
        if arguments.requests:
            zipf = os.path.join(folder, "zipf.oracleGeneral.bin")
            run = [arguments.binary, "zipf", zipf, "--requests", str(arguments.requests)]
            subprocess.run(run, check=True)
            traces["Zipf(1.0)"] = zipf
        sample = pathlib.Path(arguments.data, "cloudphysics/cloudPhysicsIO.oracleGeneral.bin")
        if sample.exists():
            traces["CloudPhysics sample"] = str(sample)
        rounds = [one_round(arguments, traces) for _ in range(arguments.rounds + 1)][1:]
    rows = summary(rounds)
    if arguments.json:
        json.dump(rows, sys.stdout, indent=2)
        print()
    else:
        show(rows, arguments.rounds)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="seekless-bench")
    parser.add_argument("--data", default="../shared/data", help="folder that holds cloudphysics/")
    parser.add_argument("--requests", type=int, default=20_000_000, help="of the Zipf trace; 0 leaves it out")
    parser.add_argument("--rounds", type=int, default=5, help="timed, after one that is discarded")
    parser.add_argument("--policy", help="ours, with commas between; by default all that both have")
    parser.add_argument("--scratch", help="folder for the Zipf trace, 24 bytes a request")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    arguments.policies = arguments.policy.split(",") if arguments.policy else list(POLICIES)
    unknown = [name for name in arguments.policies if name not in POLICIES]
    if unknown:
        parser.error(f"not in both: {', '.join(unknown)}; there are {', '.join(POLICIES)}")
    return arguments


def one_round(arguments, traces):
    """By trace and policy: ours, ours with numbering, theirs (requests a second), our miss ratio and theirs."""
    command = [arguments.binary, "speed", "--json", "--rounds", "1", "--policy", ",".join(arguments.policies)]
    command += ["--requests", str(arguments.requests), "--data", arguments.data]
    ours = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    found = {}
    for trace in ours["traces"]:
        for row in trace["rows"]:
            if row["policy"] in POLICIES:
                theirs = wheel(POLICIES[row["policy"]], traces[trace["trace"]], trace)
                speeds = row["requests_per_second"], row["requests_per_second_numbered"], theirs[0]
                found[trace["trace"], row["policy"]] = *speeds, row["miss_ratio"], theirs[1]
    return found


def wheel(name, path, trace):
    """Requests a second, and the miss ratio."""
    kind = libcachesim.TraceType.ORACLE_GENERAL_TRACE
    reader = libcachesim.TraceReader(path, kind, libcachesim.ReaderInitParam(ignore_obj_size=True))
    cache = getattr(libcachesim, name)(trace["capacity"])
    started = time.process_time()
    miss_ratio, _ = cache.process_trace(reader)
    return trace["requests"] / (time.process_time() - started), miss_ratio


def summary(rounds):
    rows = []
    for trace, policy in rounds[0]:
        measured = [one[trace, policy] for one in rounds]
        ours, numbered, theirs = (statistics.median(one[column] for one in measured) for column in range(3))
        rows.append(
            {
                "trace": trace,
                "policy": policy,
                "libcachesim": POLICIES[policy],
                "requests_per_second": ours,
                "requests_per_second_numbered": numbered,
                "libcachesim_requests_per_second": theirs,
                "ratio": ours / theirs,
                "ratio_numbered": numbered / theirs,
                "miss_ratio": measured[0][3],
                "libcachesim_miss_ratio": measured[0][4],
            }
        )
    return rows


def show(rows, rounds):
    heading = f"{'policy':<14}{'M/s':>8}{'numbered':>10}{'wheel':>8}{'ratio':>8}{'numbered':>10}{'misses':>9}{'wheel':>9}"
    for trace in dict.fromkeys(row["trace"] for row in rows):
        print(f"{trace}\n\n{heading}")
        for row in (row for row in rows if row["trace"] == trace):
            speeds = row["requests_per_second"], row["requests_per_second_numbered"]
            ours, numbered, theirs = (speed / 1e6 for speed in (*speeds, row["libcachesim_requests_per_second"]))
            print(
                f"{row['policy']:<14}{ours:>8.1f}{numbered:>10.1f}{theirs:>8.2f}{row['ratio']:>8.1f}{row['ratio_numbered']:>10.1f}"
                f"{row['miss_ratio']:>9.4f}{row['libcachesim_miss_ratio']:>9.4f}"
            )
        print()
    print("ratio: of our policy alone; numbered: with names to ids inside our time, as the wheel's hashing is inside its. The wheel's\n"
          "time has the decoding of 24 bytes a request too, ours begins with the names in memory.")
    print(f"libcachesim {libcachesim.__version__ if hasattr(libcachesim, '__version__') else '0.3.5'}'s process_trace; "
          f"processor time, medians of {rounds} rounds that alternate, after one discarded; load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
