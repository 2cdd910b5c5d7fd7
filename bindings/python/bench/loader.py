"""Shuffled epochs from one volume: this package beside loose files, Python's zipfile, webdataset,
mosaicml-streaming and litdata, with 0 and 2 workers: `./run bench python loader`.

Each loader reads the same files in a process of its own, under the kernel's throttle (blkio, so it
needs root and control groups of version 1), and may keep a share of the bytes: its page cache is
held to that, and the store gets no more. Loaders take turns. Printed are samples a second, the
bytes and requests that the device served in each epoch, and how random the orders are: how many
samples apart two files come that are neighbours in the data set, beside what a true permutation
does."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import results

BATCH = 64
SHARD_BYTES = 64 << 20


# The files, and each rival's form of them. A sample is its number, its length and its sum.


def content(number: int) -> bytes:
    choice = random.Random(number)
    return choice.randbytes(choice.randrange(10_000, 100_001))


def sample(number: int, data: Any) -> tuple[int, int, int]:
    import zlib

    return number, len(data), zlib.adler32(data)


def make_loose(out: Path, files: int) -> None:
    for number in range(files):
        folder = out / f"{number // 1000:03}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number:06}.bin").write_bytes(content(number))


def make_zip(out: Path, files: int) -> None:
    import zipfile

    with zipfile.ZipFile(out / "data.zip", "w") as zipped:
        for number in range(files):
            zipped.writestr(f"{number:06}.bin", content(number))


def make_webdataset(out: Path, files: int) -> None:
    import webdataset

    with webdataset.ShardWriter(str(out / "%06d.tar"), maxsize=SHARD_BYTES, verbose=0) as shards:
        for number in range(files):
            shards.write({"__key__": f"{number:06}", "bin": content(number)})


def make_mosaicml(out: Path, files: int) -> None:
    from streaming import MDSWriter

    columns = {"number": "int", "data": "bytes"}
    with MDSWriter(out=str(out), columns=columns, size_limit=SHARD_BYTES) as shards:
        for number in range(files):
            shards.write({"number": number, "data": content(number)})


def litdata_item(number: int) -> dict[str, Any]:
    return {"number": number, "data": content(number)}


def make_litdata(out: Path, files: int) -> None:
    import litdata

    litdata.optimize(
        fn=litdata_item,
        inputs=list(range(files)),
        output_dir=str(out),
        chunk_bytes=SHARD_BYTES,
        num_workers=1,
        verbose=False,
    )


MADE: dict[str, Callable[[Path, int], None]] = {
    "loose": make_loose,
    "zip": make_zip,
    "webdataset": make_webdataset,
    "mosaicml": make_mosaicml,
    "litdata": make_litdata,
}


# The loaders: each gives the samples of an epoch.

Epoch = Callable[[int], Iterable[tuple[int, int, int]]]


class Mapped:
    """A map-style data set of numbers, as PyTorch's users write it."""

    def __init__(self, files: int, read: Callable[[int], bytes]) -> None:
        self.files = files
        self.read = read

    def __len__(self) -> int:
        return self.files

    def __getitem__(self, number: int) -> tuple[int, int, int]:
        return sample(number, self.read(number))


def batched(loader: Iterable[Any]) -> Iterator[tuple[int, int, int]]:
    for batch in loader:
        yield from batch


def by_pytorch(dataset: Any, workers: int, **options: Any) -> Any:
    from torch.utils.data import DataLoader

    return DataLoader(
        dataset, batch_size=BATCH, num_workers=workers, collate_fn=list, **options
    )


def loose(data: Path, args: argparse.Namespace) -> Epoch:
    def read(number: int) -> bytes:
        return (data / f"{number // 1000:03}" / f"{number:06}.bin").read_bytes()

    return lambda epoch: batched(by_pytorch(Mapped(args.files, read), args.workers, shuffle=True))


class Zipped:
    """A ZipFile for each process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.opened: Any = None
        self.process = 0

    def read(self, number: int) -> bytes:
        import zipfile

        if self.process != os.getpid():
            self.opened, self.process = zipfile.ZipFile(self.path), os.getpid()
        return bytes(self.opened.read(f"{number:06}.bin"))


def zipped(data: Path, args: argparse.Namespace) -> Epoch:
    dataset = Mapped(args.files, Zipped(data / "data.zip").read)
    return lambda epoch: batched(by_pytorch(dataset, args.workers, shuffle=True))


def webdataset(data: Path, args: argparse.Namespace) -> Epoch:
    import webdataset

    shards = sorted(map(str, data.glob("*.tar")))

    def made(found: dict[str, Any]) -> tuple[int, int, int]:
        return sample(int(found["__key__"]), found["bin"])

    def epoch(number: int) -> Iterator[tuple[int, int, int]]:
        stream = webdataset.WebDataset(shards, shardshuffle=len(shards), seed=number)
        return batched(by_pytorch(stream.shuffle(1000).map(made), args.workers))

    return epoch


def mosaicml(data: Path, args: argparse.Namespace) -> Epoch:
    import streaming

    streaming.base.util.clean_stale_shared_memory()

    class Samples(streaming.StreamingDataset):  # type: ignore[misc]
        def __getitem__(self, at: int) -> tuple[int, int, int]:
            found = super().__getitem__(at)
            return sample(found["number"], found["data"])

    dataset = Samples(local=str(data), shuffle=True, batch_size=BATCH, shuffle_seed=1)
    return lambda epoch: batched(by_pytorch(dataset, args.workers))


def litdata(data: Path, args: argparse.Namespace) -> Epoch:
    import litdata

    class Samples(litdata.StreamingDataset):  # type: ignore[misc]
        def __getitem__(self, at: Any) -> tuple[int, int, int]:
            found = super().__getitem__(at)
            return sample(found["number"], found["data"])

    dataset = Samples(str(data), shuffle=True, seed=1)
    loader = litdata.StreamingDataLoader(
        dataset, batch_size=BATCH, num_workers=args.workers, collate_fn=list
    )
    return lambda epoch: batched(loader)


def decoded(name: str, content: memoryview) -> tuple[int, int, int]:
    return sample(int(name[:6]), content)


def seekless(data: Path, args: argparse.Namespace, is_told: bool = True, **order: Any) -> Epoch:
    from seekless.training import Dataset, SeededSampler

    device = f"iops={args.iops},bandwidth={args.bandwidth}B/s" if is_told else None
    dataset = Dataset(data / "data.zip", cache=args.cache, transform=decoded, device=device)
    sampler = SeededSampler(dataset, seed=1, epochs=args.epochs, **order)
    loader = by_pytorch(dataset, args.workers, sampler=sampler)
    return lambda epoch: batched(loader)


def seekless_untold(data: Path, args: argparse.Namespace) -> Epoch:
    return seekless(data, args, is_told=False)


def seekless_groups(data: Path, args: argparse.Namespace) -> Epoch:
    return seekless(data, args, groups="4MiB")


LOADERS: dict[str, tuple[str, Callable[[Path, argparse.Namespace], Epoch]]] = {
    "loose files": ("loose", loose),
    "zipfile": ("zip", zipped),
    "webdataset": ("webdataset", webdataset),
    "mosaicml": ("mosaicml", mosaicml),
    "litdata": ("litdata", litdata),
    "seekless": ("zip", seekless),
    # It finds out itself what the volume charges.
    "seekless, untold": ("zip", seekless_untold),
    "seekless, groups": ("zip", seekless_groups),
}


# The throttle, and the limit of the page cache.

GROUPS = Path("/sys/fs/cgroup")


class Limits:
    """Control groups for one process and its children."""

    def __init__(self, device: str, iops: int, bandwidth: int, cache: int) -> None:
        self.device, self.cache = device, cache
        self.reads = GROUPS / "blkio" / "seekless-bench"
        self.memory = GROUPS / "memory" / "seekless-bench"
        for group in (self.reads, self.memory):
            group.mkdir(exist_ok=True)
        throttle = "blkio.throttle.read_{}_device"
        (self.reads / throttle.format("iops")).write_text(f"{device} {iops}")
        (self.reads / throttle.format("bps")).write_text(f"{device} {bandwidth}")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._hold, daemon=True)

    def enter(self, process: int) -> None:
        for group in (self.reads, self.memory):
            (group / "cgroup.procs").write_text(str(process))
        self._thread.start()

    def _hold(self) -> None:
        """Holds the page cache to its share, whatever memory the programs take themselves."""
        while not self._ended.wait(0.05):
            figures = dict(
                line.split() for line in (self.memory / "memory.stat").read_text().splitlines()
            )
            own = int(figures["total_rss"]) + int(figures.get("total_shmem", 0))
            try:
                limit = own + self.cache + (16 << 20)
                (self.memory / "memory.limit_in_bytes").write_text(str(limit))
            except OSError:
                pass  # what it holds cannot be given back so fast

    def served(self) -> tuple[int, int]:
        """Requests and bytes read so far."""

        def of(name: str) -> int:
            for line in (self.reads / f"blkio.throttle.{name}").read_text().splitlines():
                if line.startswith(f"{self.device} Read "):
                    return int(line.split()[2])
            return 0

        return of("io_serviced"), of("io_service_bytes")

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        for group in (self.reads, self.memory):
            for _ in range(100):
                try:
                    group.rmdir()
                    break
                except OSError:
                    time.sleep(0.1)


def device_of(path: Path) -> str:
    """The disk of a path: a limit on a partition is refused."""
    number = os.stat(path).st_dev
    folder = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    if (folder / "partition").exists():
        folder = folder.parent
    return (folder / "dev").read_text().strip()


def drop(folder: Path) -> None:
    """Takes the files out of the page cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as opened:
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


# One loader in a process of its own.


def child(args: argparse.Namespace) -> None:
    form, make = LOADERS[args.child]
    data = Path(args.folder) / form
    epochs = make(data, args)
    __import__("torch")
    print("ready", flush=True)
    for epoch in range(args.epochs):
        sys.stdin.readline()
        began = time.perf_counter()
        samples = list(epochs(epoch))
        seconds = time.perf_counter() - began
        order = [number for number, _, _ in samples]
        total = sum(size for _, size, _ in samples)
        said = {"seconds": seconds, "bytes": total, "sums": sum(found for _, _, found in samples)}
        with open(Path(args.folder) / "order", "w") as out:
            json.dump(order, out)
        print(json.dumps(said), flush=True)


def run(name: str, workers: int, args: argparse.Namespace, cache: int) -> list[dict[str, Any]]:
    """The epochs of a loader under the limits."""
    folder = Path(args.folder)
    words = [sys.executable, __file__, "--child", name, "--workers", str(workers)]
    words += ["--cache", str(cache), "--folder", str(folder), "--files", str(args.files)]
    words += ["--epochs", str(args.epochs)]
    words += ["--iops", str(args.iops), "--bandwidth", str(args.bandwidth)]
    quiet = subprocess.DEVNULL if not args.loud else None
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=quiet, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    limits = Limits(device_of(folder), args.iops, args.bandwidth, cache)
    found = []
    try:
        if process.stdout.readline() != "ready\n":
            raise SystemExit(f"{name}: did not start; --loud shows why")
        drop(folder / LOADERS[name][0])
        limits.enter(process.pid)
        for _ in range(args.epochs):
            before = limits.served()
            process.stdin.write("\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                raise SystemExit(f"{name}: ended early; --loud shows why")
            after = limits.served()
            row = json.loads(line)
            row["requests"], row["read"] = after[0] - before[0], after[1] - before[1]
            row["order"] = json.loads((folder / "order").read_text())
            found.append(row)
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        limits.end()
    return found


def apart(order: list[int]) -> float:
    """How many samples apart neighbours come: the median."""
    place = {number: at for at, number in enumerate(order)}
    return statistics.median(
        abs(place[number] - place[number + 1])
        for number in place
        if number + 1 in place
    )


def described(name: str, workers: int, rounds: list[list[dict[str, Any]]], files: int) -> str:
    rate = statistics.median(
        sum(len(epoch["order"]) for epoch in epochs) / sum(epoch["seconds"] for epoch in epochs)
        for epochs in rounds
    )
    total = rounds[0][0]["bytes"]
    shares = [[epoch["read"] / total for epoch in epochs] for epochs in rounds]
    first = statistics.median(share[0] for share in shares)
    later = statistics.median(max(share[1:]) for share in shares) if len(shares[0]) > 1 else 0.0
    requests = statistics.median(
        statistics.mean(epoch["requests"] for epoch in epochs) / files for epochs in rounds
    )
    distance = statistics.median(apart(epoch["order"]) for epochs in rounds for epoch in epochs)
    whole = all(
        sorted(epoch["order"]) == list(range(files)) for epochs in rounds for epoch in epochs
    )
    return (
        f"{name:18}{workers:8}{rate:12,.0f}{100 * first:10.1f}{100 * later:10.1f}"
        f"{requests:11.2f}{distance:10,.0f}  {'yes' if whole else 'no'}"
    )


def rates(
    args: argparse.Namespace, found: dict[tuple[str, int], list[list[dict[str, Any]]]]
) -> dict[str, Any]:
    """Samples a second, by loader and number of workers."""

    def rate(epochs: list[dict[str, Any]]) -> float:
        samples = sum(len(epoch["order"]) for epoch in epochs)
        return samples / sum(epoch["seconds"] for epoch in epochs)

    workers = sorted({number for _, number in found})
    rows: dict[str, list[dict[str, Any] | None]] = {}
    for name in args.only:
        rounds = [found.get((name, number)) for number in workers]
        rows[name] = [
            results.figure([rate(epochs) for epochs in of]) if of else None for of in rounds
        ]
    return results.table(
        "rates",
        "Samples a second of each loader",
        "loader",
        "samples/s",
        "higher",
        [f"{number} workers" for number in workers],
        rows,
        f"{args.files:,} files, {args.epochs} shuffled epochs, a cache of {100 * args.share:.0f} %, "
        f"{args.iops:,} requests/s and {args.bandwidth / 1e6:.0f} MB/s.",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=40_000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--iops", type=int, default=3000)
    parser.add_argument("--bandwidth", type=int, default=125_000_000)
    parser.add_argument("--share", type=float, default=0.25, help="of the bytes, for the cache")
    parser.add_argument("--only", nargs="*", default=list(LOADERS))
    parser.add_argument("--each", type=int, nargs="*", default=[0, 2], help="numbers of workers")
    parser.add_argument("--folder", default="target/loader")
    parser.add_argument("--keep", action="store_true", help="the files, for the next time")
    parser.add_argument("--loud", action="store_true")
    results.options(parser)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=int, default=0, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.folder = os.path.abspath(args.folder)
    if args.child is not None:
        return child(args)
    folder = Path(args.folder)
    for form in {LOADERS[name][0] for name in args.only}:
        out = folder / form
        if not (out / "made").exists():
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir(parents=True)
            print(f"making {form}", file=sys.stderr)
            MADE[form](out, args.files)
            os.sync()
            (out / "made").touch()
    total = sum(sizes(args.files))
    cache = int(args.share * total)
    print(
        f"{args.files:,} files of {total / 1e9:.2f} GB, {args.epochs} shuffled epochs, "
        f"a cache of {100 * args.share:.0f} %, {args.iops:,} requests/s and "
        f"{args.bandwidth / 1e6:.0f} MB/s"
    )
    found: dict[tuple[str, int], list[list[dict[str, Any]]]] = {}
    try:
        for _ in range(args.rounds):
            for workers in args.each:
                for name in args.only:
                    epochs = run(name, workers, args, cache)
                    sums = {(epoch["bytes"], epoch["sums"]) for epoch in epochs}
                    if len(sums) > 1:
                        print(f"{name}: the epochs' contents differ", file=sys.stderr)
                    found.setdefault((name, workers), []).append(epochs)
                    print(described(name, workers, [epochs], args.files), file=sys.stderr)
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(
        f"{'loader':18}{'workers':>8}{'samples/s':>12}{'read 1st':>10}{'later %':>10}"
        f"{'requests':>11}{'apart':>10}  each once"
    )
    for (name, workers), rounds in found.items():
        print(described(name, workers, rounds, args.files))
    results.write(args, "loader", [rates(args, found)])
    order = list(range(args.files))
    random.Random(1).shuffle(order)
    print(f"apart in a true permutation: {apart(order):,.0f}; requests are those of a sample")


def sizes(files: int) -> Iterator[int]:
    for number in range(files):
        # Drawn after the bytes' own generator was seeded, as `content` does.
        yield random.Random(number).randrange(10_000, 100_001)


if __name__ == "__main__":
    main()
