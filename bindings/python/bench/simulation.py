"""Simulation from Python beside the command, and a policy in Python: `./run bench python`.

Both take turns over the same file after a discarded round; the rows are compared before the times.
Prints medians and ranges of whole calls, reading included."""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import statistics
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable

import results
import seekless

TIMES = {"seconds", "requests_per_second"}


class Lru:
    """The simplest policy that uses both calls."""

    def __init__(self, capacity: int) -> None:
        self.order: collections.OrderedDict[int, None] = collections.OrderedDict()

    def request(self, id: int, weight: int, hit: bool) -> None:
        if hit:
            self.order.move_to_end(id)
        else:
            self.order[id] = None

    def evict(self) -> int:
        return self.order.popitem(last=False)[0]


def made(path: str, requests: int, objects: int) -> None:
    """Records of libCacheSim's oracleGeneral: Pareto-distributed objects of 1 byte."""
    choice = random.Random(1)
    with open(path, "wb") as out:
        for first in range(0, requests, 1 << 16):
            ids = (
                int(choice.paretovariate(0.7)) % objects
                for _ in range(min(1 << 16, requests - first))
            )
            out.write(b"".join(struct.pack("<IQIq", first, id, 1, -1) for id in ids))


def said(name: str, seconds: list[float]) -> str:
    return (
        f"{name:28}{statistics.median(seconds):8.3f} s  {min(seconds):.3f} to {max(seconds):.3f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    results.options(parser)
    args = parser.parse_args()
    command = os.environ["SEEKLESS_COMMAND"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.oracleGeneral")
        made(path, args.requests, args.requests // 10)
        policies, sizes = ["lru", "arc", "s3-fifo", "sieve"], ["1%", "10%"]
        words = [
            command,
            "sim",
            path,
            "--json",
            "--policy",
            ",".join(policies),
            "--capacity",
            ",".join(sizes),
        ]
        rows: dict[str, list[dict[str, object]]] = {}

        def by_command() -> None:
            rows["command"] = json.loads(
                subprocess.run(words, check=True, capture_output=True).stdout
            )

        def by_python() -> None:
            rows["python"] = seekless.simulate(path, policies, sizes, progress=False).rows()

        times: dict[str, list[float]] = {"the command": [], "seekless.simulate": []}
        ways: list[tuple[str, Callable[[], None]]] = [
            ("the command", by_command),
            ("seekless.simulate", by_python),
        ]
        for turn in range(args.rounds + 1):
            for name, way in ways:
                began = time.perf_counter()
                way()
                if turn > 0:
                    times[name].append(time.perf_counter() - began)
        for one in rows.values():
            for row in one:
                for name in TIMES:
                    row.pop(name, None)
        assert rows["command"] == rows["python"], "the rows differ"
        print(
            f"{args.requests:,} requests, {len(policies)} policies at "
            f"{len(sizes)} sizes: the same rows"
        )
        for name, seconds in times.items():
            print(said(name, seconds))
        ratio = statistics.median(times["seekless.simulate"]) / statistics.median(
            times["the command"]
        )
        print(f"ratio {ratio:.3f}")
        rates = [
            seekless.simulate(path, [Lru], "1%", progress=False)["requests_per_second"][0] / 1e6
            for _ in range(args.rounds)
        ]
        print(
            f"a policy in Python: {statistics.median(rates):.2f} M requests/s, "
            f"{min(rates):.2f} to {max(rates):.2f}"
        )
        what = f"{len(policies)} policies at {len(sizes)} sizes"
        of = [ours / its for ours, its in zip(times["seekless.simulate"], times["the command"])]
        seconds = results.table(
            "seconds",
            "`seekless.simulate`, a whole call: time, of the command's",
            "what",
            "",
            "lower",
            ["*seekless.simulate"],
            {what: [results.figure(of)]},
            f"{args.requests:,} requests; the rows are the same.",
        )
        rate = results.table(
            "rate",
            "A policy written in Python",
            "what",
            "million requests/s",
            "higher",
            ["*seekless.simulate"],
            {"LRU in Python": [results.figure(rates)]},
        )
        results.write(args, "simulation", [seconds, rate])


if __name__ == "__main__":
    main()
