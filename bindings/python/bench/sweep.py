"""Sweeps at size: `./run bench python sweep`.

20 policies at 20 sizes on 4 traces, by a Dask cluster of two processes and of one, in turn: rows
against the command's, times, and a worker that is killed in the middle. Then the same policies of
libCacheSim's own Python, where it is installed, and a sampled curve of a thousand million
generated requests with the memory that it takes."""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import results
import seekless

POLICIES = (
    "lru fifo clock sieve s3-fifo arc 2q lirs slru lfu lru-2 mq car w-tinylfu qdlp hyperbolic "
    "gdsf random lfu-da clock-pro"
).split()
#: Those of libCacheSim's Python that mean the same.
RIVALS = {"lru": "LRU", "fifo": "FIFO", "arc": "ARC", "sieve": "Sieve", "s3-fifo": "S3FIFO"}
SIZES = "1%..20%+1%"
TIMES = {"seconds", "requests_per_second"}
RECORD = 24


def made(path: Path, requests: int, objects: int, skew: float, seed: int) -> None:
    """Records of libCacheSim's oracleGeneral, of 1 byte each, some far more often than others."""
    import numpy

    choice = numpy.random.default_rng(seed)
    kind = numpy.dtype([("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
    assert kind.itemsize == RECORD
    with path.open("wb") as out:
        for first in range(0, requests, 1 << 20):
            count = min(1 << 20, requests - first)
            rows = numpy.zeros(count, kind)
            rows["time"] = first >> 10
            # A power law by inversion: ids near 0 are asked for most.
            rows["id"] = (objects * choice.random(count) ** skew).astype("u8")
            rows["size"] = 1
            rows["next"] = -1
            out.write(rows.tobytes())


def without_times(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    left = TIMES | {"trace", "seed"}
    return [{name: value for name, value in row.items() if name not in left} for row in rows]


def by_command(trace: Path) -> list[dict[str, Any]]:
    words = [os.environ["SEEKLESS_COMMAND"], "sim", str(trace), "--json", "--capacity", SIZES]
    words += ["--policy", ",".join(POLICIES)]
    rows = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    place = {name: at for at, name in enumerate(POLICIES)}
    return sorted(rows, key=lambda row: (place[row["policy"]], row["capacity"]))


def swept(traces: list[Path], out: Path, workers: int, kill: bool = False) -> tuple[float, Any]:
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, local_directory=out
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(int)  # all have started
        if kill:
            process = cluster.workers[0].pid
            threading.Timer(1.0, os.kill, (process, signal.SIGKILL)).start()
        began = time.perf_counter()
        found = seekless.sweep(
            traces, POLICIES, SIZES, out=out / "rows", client=client, progress=False
        )
        seconds = time.perf_counter() - began
        return seconds, found.table().rows()


def compare(folder: Path, requests: int, rounds: int) -> list[dict[str, Any]]:
    traces = []
    for number, skew in enumerate([1.5, 2.0, 3.0, 4.0]):
        traces.append(folder / f"t{number}.oracleGeneral")
        made(traces[-1], requests, requests // 10, skew, number)
    expected = [row for trace in traces for row in by_command(trace)]
    times: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(rounds + 1):
        for workers in times:
            out = folder / f"out-{turn}-{workers}"
            seconds, rows = swept(traces, out, workers)
            assert without_times(rows) == without_times(expected), "the rows differ"
            shutil.rmtree(out)
            if turn > 0:
                times[workers].append(seconds)
    count = len(expected)
    print(f"{count:,} rows of {requests:,} requests each: the command's")
    for workers, seconds in times.items():
        print(
            f"{workers} processes{statistics.median(seconds):12.2f} s  "
            f"{min(seconds):.2f} to {max(seconds):.2f} s"
        )
    ratio = statistics.median(times[1]) / statistics.median(times[2])
    print(f"two are {ratio:.2f} times as fast as one")
    _, rows = swept(traces, folder / "killed", 2, kill=True)
    assert without_times(rows) == without_times(expected), "a lost worker changed the rows"
    print("a worker killed in the middle: the same rows")
    dask = results.table(
        "dask",
        "`seekless.sweep` on a Dask cluster",
        "what",
        "s",
        "lower",
        ["*two processes", "*one process"],
        {
            f"{count:,} rows of {requests:,} requests each": [
                results.figure(times[2]),
                results.figure(times[1]),
            ]
        },
        "The rows are the command's, also if a worker is killed.",
    )
    return [dask, *rivals(traces[0], expected, rounds)]


def rivals(trace: Path, expected: list[dict[str, Any]], rounds: int) -> list[dict[str, Any]]:
    """One trace, the policies that both have, at all sizes: ours in one process, then theirs."""
    try:
        import libcachesim as theirs
    except ImportError:
        print("libCacheSim's Python is not installed: not compared")
        return []
    sizes = [row["capacity"] for row in expected[: len(expected) // 4 // len(POLICIES)]]

    def by_us() -> list[float]:
        rows = seekless.simulate(trace, list(RIVALS), sizes, progress=False).rows()
        return [row["miss_ratio"] for row in rows]

    def by_them() -> list[float]:
        found = []
        for size in sizes:
            for name in RIVALS.values():
                reader = theirs.TraceReader(str(trace), theirs.TraceType.ORACLE_GENERAL_TRACE)
                found.append(getattr(theirs, name)(size).process_trace(reader)[0])
        return found

    times: dict[str, list[float]] = {"seekless": [], "libCacheSim": []}
    misses = {}
    for turn in range(min(rounds, 2) + 1):
        for name, way in [("seekless", by_us), ("libCacheSim", by_them)]:
            began = time.perf_counter()
            misses[name] = way()
            if turn > 0:
                times[name].append(time.perf_counter() - began)
    apart = max(abs(one - other) for one, other in zip(*misses.values()))
    ours, others = (statistics.median(seconds) for seconds in times.values())
    print(
        f"{len(RIVALS)} policies at {len(sizes)} sizes of one trace: {ours:.2f} s, libCacheSim's "
        f"Python {others:.2f} s: {others / ours:.1f} times as long; miss ratios differ by at most "
        f"{apart:.4f}"
    )
    return [
        results.table(
            "rival",
            "A sweep of one trace",
            "what",
            "s",
            "lower",
            ["*seekless.sweep", "libCacheSim, Python"],
            {
                f"{len(RIVALS)} policies at {len(sizes)} sizes": [
                    results.figure(seconds) for seconds in times.values()
                ]
            },
            f"Miss ratios differ by at most {apart:.4f}.",
        )
    ]


def long_one(folder: Path, requests: int, sample: float) -> None:
    """In a process of its own, whose memory is measured; the requests come through a pipe."""
    pipe = folder / "long.oracleGeneral"
    os.mkfifo(pipe)
    program = (
        "import sys, resource, seekless\n"
        "found = seekless.curve(sys.argv[1], 'lru', sample=float(sys.argv[2]), stack=True)\n"
        "rows = found.rows()\n"
        "print(rows[len(rows) // 2])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)\n"
    )
    began = time.perf_counter()
    words = [sys.executable, "-c", program, str(pipe), str(sample)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        made(pipe, requests, requests // 20, 3.0, 9)
        assert process.stdout is not None
        said = process.stdout.read().splitlines()
    assert process.returncode == 0
    print(
        f"a sampled curve of {requests:,} requests: {time.perf_counter() - began:.0f} s with their "
        f"making, at most {int(said[1]) / 1e9:.2f} GB of memory\n{said[0]}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1_000_000, help="of each trace")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", type=int, default=1_000_000_000)
    parser.add_argument("--sample", type=float, default=0.001)
    results.options(parser)
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(dir="target") as folder:
        tables = compare(Path(folder), args.requests, args.rounds)
        if args.long:
            long_one(Path(folder), args.long, args.sample)
    results.write(args, "sweep", tables)


if __name__ == "__main__":
    main()
