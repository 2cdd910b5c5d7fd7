#!/usr/bin/env python3
"""Miss ratios beside libCacheSim's: its Python wheel and `seekless sim` on the same traces.

    python3 -m venv venv && venv/bin/pip install libcachesim==0.3.5
    venv/bin/python bench/referee.py target/release/seekless --data DIR

Three traces are generated (Zipf's law; the same with scans; popularity that shifts, and loops);
libCacheSim's CloudPhysics sample is taken too if it is there. Each runs at five capacities, by
objects of weight 1 and by bytes; LRU, FIFO and SIEVE also behind each rule of admission. The wheel
is built without lifetimes, so that those have no rival here. Each of the wheel's caches runs in a new thread, since its draws
begin anew there. The exit status is 1 if a policy that should be equal differs in four decimals.
"""

import argparse
import bisect
import itertools
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.pop(0)  # this file's folder: libcachesim.py there has the package's name
import libcachesim  # noqa: E402

# Ours, theirs, and whether both should be equal by objects, and by bytes.
POLICIES = {
    "lru": ("LRU", True, True),
    "fifo": ("FIFO", True, True),
    "clock": ("Clock", True, True),
    "sieve": ("Sieve", True, True),
    "lfu": ("LFU", True, True),
    "arc": ("ARC", True, False),
    "lru-2": ("LRUK", True, True),
    "size@heap": ("Size", True, True),
    "lecar": ("LeCaR", True, True),
    "lhd": ("LHD", True, True),
    "cacheus@libcachesim": ("Cacheus", True, True),
    "size": ("Size", False, False),
    "cacheus": ("Cacheus", False, False),
}
# Rules of admission before a policy: ours, and how theirs is made.
ADMISSIONS = {
    "size:16KiB": lambda: libcachesim.SizeAdmissioner(16384),
    "probability:0.3": lambda: libcachesim.ProbAdmissioner(0.3),
    "probability-by-size:0.00005": lambda: libcachesim.SizeProbabilisticAdmissioner(0.00005),
    "bloom": libcachesim.BloomFilterAdmissioner,
    "adaptsize": libcachesim.AdaptSizeAdmissioner,
}
ADMITTED = ["lru", "fifo", "sieve"]
SHARES = [1, 5, 10, 20, 40]
RECORD = struct.Struct("<IQIq")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("binary", help="seekless")
    parser.add_argument("--data", default="../shared/data", help="folder that holds cloudphysics/")
    parser.add_argument("--policy", help="ours, with commas between; by default all")
    parser.add_argument("--requests", type=int, default=300_000, help="of each generated trace")
    arguments = parser.parse_args()
    chosen = arguments.policy.split(",") if arguments.policy else list(POLICIES)
    unknown = [name for name in chosen if name not in POLICIES]
    if unknown:
        parser.error(f"not in both: {', '.join(unknown)}; there are {', '.join(POLICIES)}")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for trace in traces(arguments, pathlib.Path(folder)):
            for by_bytes in (False, True):
                wrong += judge(arguments.binary, trace, by_bytes, chosen)
    sys.exit(wrong > 0)


def traces(arguments, folder):
    """The paths of all traces."""
    for name, ids in generated(arguments.requests):
        path = folder / f"{name}.oracleGeneral.bin"
        path.write_bytes(records(ids))
        yield path
    sample = pathlib.Path(arguments.data, "cloudphysics/cloudPhysicsIO.oracleGeneral.bin")
    if sample.exists():
        yield sample
    else:
        print(f"skipped: CloudPhysics, there is no {sample}")


def generated(requests):
    draws = random.Random(7)
    yield "zipf", list(zipf(draws, 20_000, 0.9, requests))
    popular = zipf(draws, 5_000, 1.0, requests)
    mixed, scanned = [], 10**6
    while len(mixed) < requests:
        mixed += itertools.islice(popular, 1200)
        mixed += range(scanned, scanned + 500)
        scanned += 500 if len(mixed) % 3 else -200
    yield "scans", mixed
    shifting = []
    for phase in range(6):
        names = zipf(draws, 8_000, 0.8, requests // 8)
        shifting += (name * 7919 % 50_021 + phase // 2 * 100_000 for name in names)
        shifting += (200_000 + at for _ in range(4) for at in range(3000))
    yield "shifts", shifting


def zipf(draws, objects, exponent, requests):
    weights = (1 / (rank + 1) ** exponent for rank in range(objects))
    sums = list(itertools.accumulate(weights))
    return (bisect.bisect_left(sums, draws.random() * sums[-1]) for _ in range(requests))


def records(ids):
    """oracleGeneral: time, object, size from 16 bytes to 128 KiB, next access."""
    following, last = [-1] * len(ids), {}
    for at in range(len(ids) - 1, -1, -1):
        following[at] = last.get(ids[at], -1)
        last[ids[at]] = at + 1
    sizes = {name: int(16 * 2 ** random.Random(name).uniform(0, 13)) for name in last}
    rows = enumerate(zip(ids, following))
    return b"".join(RECORD.pack(at, name, sizes[name], after) for at, (name, after) in rows)


def judge(binary, trace, by_bytes, chosen):
    """Prints a line a policy, and returns how many are wrong."""
    first = {}
    for _, name, size, _ in RECORD.iter_unpack(trace.read_bytes()):
        first.setdefault(name, size)
    total = sum(first.values()) if by_bytes else len(first)
    capacities = [total * share // 100 for share in SHARES]
    print(f"{trace.name.split('.')[0]}, by {'bytes' if by_bytes else 'objects'}")
    wrong = 0
    for policy in chosen:
        name, *equal = POLICIES[policy]
        ours = simulated(binary, trace, by_bytes, policy, capacities)
        theirs = [wheel(name, trace, capacity, by_bytes) for capacity in capacities]
        same = ours == theirs
        verdict = "equal" if same else "differs"
        if equal[by_bytes] and not same:
            verdict, wrong = "WRONG", wrong + 1
        pairs = "  ".join(a if a == b else f"{a}/{b}" for a, b in zip(ours, theirs))
        print(f"  {policy:<20} {verdict:<8} {pairs}", flush=True)
    for rule, make in ADMISSIONS.items():
        for policy in [policy for policy in ADMITTED if policy in chosen]:
            ours = simulated(binary, trace, by_bytes, policy, capacities, rule)
            name = POLICIES[policy][0]
            theirs = [wheel(name, trace, capacity, by_bytes, make) for capacity in capacities]
            verdict, wrong = ("equal", wrong) if ours == theirs else ("WRONG", wrong + 1)
            pairs = "  ".join(a if a == b else f"{a}/{b}" for a, b in zip(ours, theirs))
            print(f"  {rule + ' ' + policy:<34} {verdict:<8} {pairs}", flush=True)
    return wrong


def simulated(binary, trace, by_bytes, policy, capacities, rule=None):
    command = [binary, "sim", str(trace), "--json", "--unit", "object", "--policy", policy]
    command += ["--capacity", ",".join(map(str, capacities))]
    command += [] if by_bytes else ["--unit-weights"]
    command += ["--admission", rule] if rule else []
    rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return [f"{row['miss_ratio']:.4f}" for row in rows]


def wheel(name, trace, capacity, by_bytes, admission=None):
    found = []

    def run():
        kind = libcachesim.TraceType.ORACLE_GENERAL_TRACE
        options = libcachesim.ReaderInitParam(ignore_obj_size=not by_bytes)
        reader = libcachesim.TraceReader(str(trace), kind, options)
        admissioner = admission() if admission else None
        cache = getattr(libcachesim, name)(capacity, admissioner=admissioner)
        found.append(cache.process_trace(reader)[0])

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return f"{found[0]:.4f}"


if __name__ == "__main__":
    main()
