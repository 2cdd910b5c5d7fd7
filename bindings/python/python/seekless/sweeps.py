"""Sweeps: every policy at every size on every trace, on this machine's cores or on a Dask cluster.

A *cell* is one trace, one policy and one seed, at all sizes. Its rows are a file of the Parquet
data set, which appears whole or not at all. So a sweep that was cut off goes on where it stopped,
and a worker that is lost costs its cells only."""

from __future__ import annotations

import hashlib
import itertools
import json
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from . import _seekless
from ._progress import Progress, shown
from .caches import Size, listed
from .errors import SystemFailure, UsageError
from .tables import Figures, Table
from .traces import PLAIN, PathLike, Trace, Traces

if TYPE_CHECKING:
    import distributed

#: How often a cell is tried whose worker was lost.
TRIES = 3


@dataclass(frozen=True)
class Cell:
    """One trace, policy and seed, at all sizes."""

    trace: str
    policy: str
    capacities: tuple[Size, ...]
    seed: int
    sample: float | int | None
    reading: str  # as JSON, so that a cell has a key

    def file(self) -> str:
        """The name of the file with its rows."""
        key = hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]
        return f"cell-{key}.parquet"


class Sweep:
    """The rows of a sweep, in a folder of Parquet files.

    ``duckdb.sql("from 'FOLDER/*.parquet'")`` reads them too."""

    def __init__(self, folder: str, cells: list[Cell]) -> None:
        self.folder = folder
        self.cells = cells

    def table(self) -> Figures:
        """All rows, in the order of traces, policies, seeds and sizes."""
        import pyarrow
        import pyarrow.parquet

        files = (os.path.join(self.folder, cell.file()) for cell in self.cells)
        tables = [pyarrow.parquet.read_table(file) for file in files]
        return Figures(Table.from_arrow(pyarrow.concat_tables(tables))._data)

    def __len__(self) -> int:
        """Cells."""
        return len(self.cells)

    def __repr__(self) -> str:
        return f"<seekless.Sweep: {len(self.cells)} cells in {self.folder}>"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def sweep(
    traces: Traces,
    policies: str | Sequence[str],
    capacities: Size | Sequence[Size],
    *,
    out: PathLike = "sweep",
    seeds: Iterable[int] = (0,),
    sample: float | int | None = None,
    unit: str | None = None,
    unit_weights: bool = False,
    lines: str | None = None,
    client: distributed.Client | None = None,
    workers: int | None = None,
    progress: Progress = None,
) -> Sweep:
    """Simulates every policy at every capacity on every trace, and writes the rows into the folder
    ``out`` as they are found: those of :func:`seekless.simulate`, with the columns ``trace`` and
    ``seed``. Cells whose rows are in ``out`` already are not simulated again.

    It works on this machine in processes, as many as ``workers`` or cores, or on the cluster of a
    Dask ``client``: the same cells, the same rows. There ``out`` must be a folder that all workers
    share. A trace may be a URL of fsspec (``s3://...``); each worker fetches and reads it once.

    With ``sample``, a share or number of ids, each cell is a sampled curve (:func:`seekless.curve`)
    for each of the ``seeds``; without it there is nothing random, and one seed.

    Needs pyarrow. Raises SystemFailure if a cell's worker is lost three times, and what a cell
    raises. What was written before stays.

    >>> seekless.sweep(traces, ["lru", "arc"], "1%..64%*2", out="rows", client=Client()).table()
    """
    import pyarrow.parquet  # noqa: F401  (says now that it is missing)

    cells = _cells(
        traces,
        policies,
        capacities,
        seeds,
        sample,
        {"unit": unit, "unit_weights": unit_weights, "lines": lines, "memory": None},
    )
    folder = os.path.abspath(os.fspath(out))
    os.makedirs(folder, exist_ok=True)
    left = [cell for cell in cells if not os.path.exists(os.path.join(folder, cell.file()))]
    with shown("Sweeping", progress) as tell:
        done = len(cells) - len(left)
        finished = (
            _on_cluster(left, folder, client)
            if client is not None
            else _here(left, folder, workers)
        )
        for _ in finished:
            done += 1
            if tell is not None:
                tell(done, len(cells))
    return Sweep(folder, cells)


def _cells(
    traces: Traces,
    policies: str | Sequence[str],
    capacities: Size | Sequence[Size],
    seeds: Iterable[int],
    sample: float | int | None,
    reading: dict[str, Any],
) -> list[Cell]:
    seeds = list(seeds)
    if sample is None and len(seeds) > 1:
        raise UsageError("seeds: a full simulation has nothing random; give sample= too")
    known = {name for name, _, _ in _seekless.policies()}
    for name in listed(policies):
        if name not in known:
            raise UsageError(f"no policy is called {name!r}; seekless.policies() lists all")
    every = [traces] if isinstance(traces, (str, os.PathLike, Trace)) else list(traces)
    sizes = tuple(listed(capacities))
    cells = []
    for trace, policy, seed in itertools.product(every, listed(policies), seeds):
        source = trace if isinstance(trace, Trace) else None
        path = source.path if source is not None else os.fspath(trace)  # type: ignore[arg-type]
        path = path if "://" in path else os.path.abspath(path)
        options = {**reading, "import": source.import_options if source is not None else PLAIN}
        cells.append(Cell(path, policy, sizes, seed, sample, json.dumps(options, sort_keys=True)))
    return cells


@lru_cache(maxsize=1)
def _requests(trace: str, reading: str) -> _seekless.Requests:
    """A trace's requests, which a worker keeps until it gets cells of another trace."""
    return _seekless.Requests([_local(trace)], json.loads(reading))


@lru_cache(maxsize=8)
def _local(trace: str) -> str:
    """A path of this machine for a trace."""
    if "://" not in trace:
        return trace
    import fsspec

    folder = tempfile.mkdtemp(prefix="seekless-")
    local = os.path.join(folder, os.path.basename(trace) or "trace")
    files, path = fsspec.core.url_to_fs(trace)
    files.get_file(path, local)
    return local


def run_cell(cell: Cell, folder: str) -> str:
    """Simulates a cell, and writes its rows: what workers call."""
    import pyarrow
    import pyarrow.parquet

    requests = _requests(cell.trace, cell.reading)
    capacities = list(cell.capacities)
    if cell.sample is None:
        table = pyarrow.table(requests.simulate([cell.policy], capacities))
    else:
        table = pyarrow.table(requests.sampled([cell.policy], capacities, cell.sample, cell.seed))
    for at, (name, value, kind) in enumerate(
        [("trace", cell.trace, pyarrow.string()), ("seed", cell.seed, pyarrow.int64())]
    ):
        table = table.add_column(at, name, pyarrow.array([value] * len(table), kind))
    path = os.path.join(folder, cell.file())
    beside = f"{path}.{os.getpid()}.part"
    try:
        pyarrow.parquet.write_table(table, beside)
        os.replace(beside, path)
    finally:
        if os.path.exists(beside):
            os.unlink(beside)
    return cell.file()


def _here(cells: list[Cell], folder: str, workers: int | None) -> Iterator[str]:
    """On this machine: each worker is a process of its own, which is replaced if it is lost."""
    count = max(1, min(workers or len(os.sched_getaffinity(0)), len(cells)))
    slots = [_Slot() for _ in range(count)]
    waiting = [(cell, 0) for cell in reversed(cells)]
    running: dict[Future[str], tuple[_Slot, Cell, int]] = {}
    try:
        while waiting or running:
            idle = [
                slot for slot in slots if all(slot is not busy for busy, _, _ in running.values())
            ]
            for slot in idle:
                if waiting:
                    cell, tries = waiting.pop()
                    running[slot.submit(run_cell, cell, folder)] = (slot, cell, tries)
            finished, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in finished:
                slot, cell, tries = running.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    if tries + 1 == TRIES:
                        raise _lost(cell) from None
                    slot.replace()
                    waiting.append((cell, tries + 1))
    finally:
        for slot in slots:
            slot.stop()


def _lost(cell: Cell) -> SystemFailure:
    error = SystemFailure(
        f"{cell.trace}: the worker for {cell.policy} was lost {TRIES} times: it may lack memory, "
        "so give fewer workers; what was found is kept, and another call goes on there"
    )
    error.path = cell.trace
    return error


class _Slot:
    """A worker process, and the one that replaces it."""

    def __init__(self) -> None:
        self._pool = self._made()

    def _made(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_one_thread)

    def submit(self, job: Callable[..., str], *arguments: Any) -> Future[str]:
        return self._pool.submit(job, *arguments)

    def replace(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = self._made()

    def stop(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


def _one_thread() -> None:
    """There is a worker for each core: it needs no threads of its own."""
    os.environ["RAYON_NUM_THREADS"] = "1"


def run_cluster_cell(cell: Cell, folder: str) -> str:
    """As run_cell, in a worker of a cluster, which runs as many cells at once as it has threads."""
    _one_thread()
    return run_cell(cell, folder)


def _on_cluster(cells: list[Cell], folder: str, client: Any) -> Iterator[str]:
    """On a Dask cluster, which runs a cell again if its worker is lost."""
    import distributed

    futures = client.map(run_cluster_cell, cells, [folder] * len(cells), pure=False)
    arriving: Any = distributed.as_completed
    try:
        for future in arriving(futures):
            yield future.result()
    finally:
        client.cancel(futures)
