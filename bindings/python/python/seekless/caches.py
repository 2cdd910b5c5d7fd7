"""Caches: what another policy, size, readahead or device would have cost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol, Union

from . import _seekless
from ._progress import Progress, shown
from .tables import Curves, Figures
from .traces import Traces, import_options, opened

#: A number of bytes (for bare ids: of ids), or text: "64MB", "10000pages", "10%" of the working
#: set, "1MB..64MB*2".
Size = Union[int, str]


class Policy(Protocol):
    """A policy written in Python, for :func:`simulate`: a class whose objects have these methods.

    The simulator keeps the account of what is in the cache and of the room. It makes an object of
    the class for each capacity, with the capacity in units of weight: pages, or bytes.

    >>> class Lru:
    ...     def __init__(self, capacity):
    ...         self.order = collections.OrderedDict()
    ...     def request(self, id, weight, hit):
    ...         self.order[id] = None
    ...         if hit:
    ...             self.order.move_to_end(id)
    ...     def evict(self):
    ...         return self.order.popitem(last=False)[0]
    """

    def __init__(self, capacity: int) -> None: ...

    def request(self, id: int, weight: int, hit: bool) -> object:
        """``id`` is used. Unless ``hit``, it has just come in; :meth:`evict` has been called before
        until there was room. Ids are whole numbers from 0. What it returns is ignored."""

    def evict(self) -> int:
        """Names an id in the cache, which leaves it."""
        ...


#: The name of a policy of ours (see :func:`policies`), or a class of Python.
PolicyLike = Union[str, type[Any]]


def policies() -> dict[str, str]:
    """The names of all policies, each with what it does and its source."""
    return {name: f"{what} ({source})" for name, what, source in _seekless.policies()}


def _reading(
    traces: Traces, unit: str | None, unit_weights: bool, lines: str | None, memory: int | None
) -> tuple[list[str], _seekless.ReadingOptions]:
    found = opened(traces)
    options: _seekless.ReadingOptions = {
        "unit": unit,
        "unit_weights": unit_weights,
        "lines": lines,
        "memory": memory,
        "import": import_options(found),
    }
    return [trace.path for trace in found], options


def listed(value: Any) -> list[Any]:
    """A list of one or of several."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def simulate(
    trace: Traces,
    policy: PolicyLike | Sequence[PolicyLike] = ("lru", "arc", "landlord"),
    capacity: Size | Sequence[Size] = "64MB",
    *,
    unit: str | None = None,
    unit_weights: bool = False,
    lines: str | None = None,
    write_back: str = "evict",
    fetch_on_write: bool = False,
    changed: str = "hit",
    device: str | None = None,
    readahead: str | Sequence[str] = ("none", "linux"),
    readahead_max: str = "128KiB",
    readahead_lead: str = "auto",
    think: str = "0s",
    arrivals: bool = False,
    memory: int | None = None,
    progress: Progress = None,
) -> Figures:
    """Simulates caches on a trace: hits, misses, reads and writes of each policy at each capacity.

    It is ``seekless sim``: the same rows with the same numbers. Several traces go through the same
    cache one after another. All cores work, without the interpreter's lock.

    - ``policy``: names (:func:`policies`) or classes of Python (:class:`Policy`).
    - ``capacity``: bytes, or text such as ``"64MB"``, ``"10%"``, ``"1MB..64MB*2"``.
    - ``unit``: the unit of a request: ``"file"``, ``"page"`` or ``"object"``; by default the
      trace decides. ``unit_weights``: each file or object weighs 1.
    - ``lines``: back-to-back accesses to one page are one request (``"merged"``) or several
      (``"raw"``).
    - ``write_back``: ``"evict"``, ``"every=30s"``, ``"dirty=10%"``, ``"sync"``, joined by commas.
    - ``changed``: a request for an object that is in the cache with another size is a ``"hit"``,
      which resizes it, or a ``"miss"``, since it asks for a new version.
    - ``device``: simulates in time, on a device such as ``"iops=500,bandwidth=150MB/s"``, with
      ``readahead`` (``"none"``, ``"linux"``, ``"ondemand"``, ...), whose largest window is
      ``readahead_max``; a program works ``think`` on a page.
    - ``memory``: bytes that the requests may take; by default half of what is free.

    Raises UsageError for unknown names and sizes, CorruptError if the trace cannot be read,
    LimitError if it takes too much memory. What a policy in Python raises comes through.

    >>> seekless.simulate("run.parquet", ["lru", "s3-fifo", "arc"], "10%..50%+10%").plot()
    """
    traces, reading = _reading(trace, unit, unit_weights, lines, memory)
    named, capacities = listed(policy), listed(capacity)
    with shown("Simulating", progress) as tell:
        if device is None:
            table = _seekless.simulate(
                traces, named, capacities, reading, write_back, fetch_on_write, changed, tell
            )
        else:
            time: _seekless.TimeOptions = {
                "device": os.fspath(device),
                "readahead": listed(readahead),
                "readahead_max": readahead_max,
                "readahead_lead": readahead_lead,
                "think": think,
                "arrivals": arrivals,
            }
            table = _seekless.simulate_timed(traces, named, capacities, reading, time, tell)
    return Figures(table)


def curve(
    trace: Traces,
    policy: str | Sequence[str] = "lru",
    *,
    points: int = 50,
    sample: float | int | None = None,
    stack: bool = False,
    seed: int = 0,
    unit: str | None = None,
    unit_weights: bool = False,
    lines: str | None = None,
    memory: int | None = None,
    progress: Progress = None,
) -> Curves:
    """Miss ratios over a range of cache sizes, up to everything.

    Exact without ``sample``: for LRU in one pass, for other policies size by size. With ``sample``,
    a share of the ids (0.01) or a number of them (8192), by SHARDS with error bars: small caches on
    samples for any policy, or with ``stack`` LRU's stack distances of one sample, which is quicker.
    With ``stack`` and a share, a trace of records (libCacheSim's formats) may be a pipe and larger
    than memory: it takes some 35 bytes an id, and 4 a request of the sample.
    ``seed`` chooses the ids. The other arguments are those of :func:`simulate`.

    >>> seekless.curve("blocks.parquet", ["lru", "arc"], sample=0.05).plot()
    """
    traces, reading = _reading(trace, unit, unit_weights, lines, memory)
    with shown("Simulating", progress) as tell:
        return Curves(
            _seekless.curve(traces, listed(policy), reading, points, sample, stack, seed, tell)
        )


Cache = _seekless.Cache
