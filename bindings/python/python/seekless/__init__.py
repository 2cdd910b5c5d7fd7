"""Find out what your program reads, and make those reads cheap.

- :func:`record` and :class:`Trace`: what a program reads;
- :func:`simulate`, :func:`curve` and :class:`Cache`: what another cache would have cost;
- :func:`sweep`: all policies and sizes on all traces, on all cores or a Dask cluster;
- :func:`pack` and :class:`Store`: files in the order in which they are read, through a cache;
- :func:`open_file` and :class:`PageCache`: large files, with a readahead that sees what you do;
- :class:`training.Dataset`: the files of a pack for PyTorch, in shuffled epochs;
- ``fsspec.filesystem("seekless", fo="data.zip")``: the same for pandas, xarray and others.

docs/how-to/python.md explains them; ``help(seekless.simulate)`` lists what a call takes. KB, MB, GB
are powers of 1000, KiB, MiB, GiB of 1024."""

from __future__ import annotations

import os as _os

from . import _seekless, training
from .caches import Cache, Policy, curve, policies, simulate
from .errors import (
    CorruptError,
    DeniedError,
    ExistsError,
    InternalError,
    LimitError,
    NotFoundError,
    SeeklessError,
    SystemFailure,
    UnsupportedError,
    UsageError,
)
from .files import PageCache, open_file
from .packs import Packed, Store, pack
from .sweeps import Sweep, sweep
from .tables import Curves, Figures, Table
from .traces import Recording, Trace, record

__version__ = _seekless.version

__all__ = [
    "Cache",
    "CorruptError",
    "Curves",
    "DeniedError",
    "ExistsError",
    "Figures",
    "InternalError",
    "LimitError",
    "NotFoundError",
    "Packed",
    "PageCache",
    "Policy",
    "Recording",
    "SeeklessError",
    "Store",
    "Sweep",
    "SystemFailure",
    "Table",
    "Trace",
    "UnsupportedError",
    "UsageError",
    "curve",
    "open_file",
    "pack",
    "policies",
    "record",
    "simulate",
    "sweep",
    "training",
]

_os.register_at_fork(after_in_child=_seekless.after_fork)
