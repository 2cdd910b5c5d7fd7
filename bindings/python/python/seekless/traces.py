"""Traces: what programs read, in which order."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

from . import _seekless
from ._progress import Progress, shown
from ._words import format_bytes, html_table
from .errors import NotFoundError
from .tables import Table

PathLike = Union[str, "os.PathLike[str]"]

#: One trace or several, which are read in order through the same cache.
Traces = Union["Trace", PathLike, Sequence[Union["Trace", PathLike]]]


class Trace:
    """A trace in a file: a Parquet trace, a recorder's spool, or any format that ``seekless trace
    import`` reads (CSV, libCacheSim's oracleGeneral and lcs, blktrace, strace, ...), compressed or
    not.

    ``format`` names the format where the content does not show it. For CSV, ``columns`` says which
    column holds which field (``time:ms=ts,path=name,bytes=#3+#4``), ``ops`` what the words of an
    operation column mean (``get=load,delete=skip``), ``delimiter`` and ``header`` what it looks
    like; with ``lenient`` malformed lines are skipped. ``binary`` names the fields of records of
    one length (``u32:time,u64:key,u32:bytes``).

    It is cheap to make: rows are read when they are asked for.

    Raises NotFoundError if there is no such file. What reads it raises CorruptError, with the
    place, if it is damaged or no trace.

    >>> trace = seekless.Trace("run.parquet")
    >>> trace                                 # a summary
    >>> polars.DataFrame(trace)               # its rows, without a copy
    """

    def __init__(
        self,
        path: PathLike,
        *,
        format: str | None = None,
        columns: str | None = None,
        ops: str | None = None,
        binary: str | None = None,
        delimiter: str = ",",
        header: bool = True,
        lenient: bool = False,
    ) -> None:
        self.path = os.fspath(path)
        self.import_options: _seekless.ImportOptions = {
            "format": format,
            "columns": columns,
            "ops": ops,
            "binary": binary,
            "delimiter": delimiter,
            "header": header,
            "lenient": lenient,
        }
        if not os.path.exists(self.path) and not os.path.exists(self.path + ".spool"):
            error = NotFoundError(f"{self.path}: no such trace")
            error.path = self.path
            raise error
        self._table: Table | None = None
        self._info: dict[str, Any] | None = None

    @classmethod
    def from_arrow(cls, table: Any, *, name: str = "table", progress: Progress = None) -> Trace:
        """A trace made of a table of pyarrow, pandas, polars or DuckDB, or of anything with
        ``__arrow_c_stream__``. It is read without a copy, checked as an import is, sorted by time,
        and kept in a temporary file that goes with the trace.

        Columns are named as in CSV: ``path`` (it alone must be there), ``time_ns`` (or ``_us``,
        ``_ms``, ``_s``), ``op``, ``offset``, ``bytes``, ``size``, ``pid``, ``run``, ... Without
        ``op`` each row is the load of a whole file. ``name`` stands for the table in messages.

        Raises CorruptError with the row if a cell does not hold what its column should."""
        folder = tempfile.mkdtemp(prefix="seekless-")
        try:
            path = os.path.join(folder, "trace.parquet")
            with shown("Importing", progress) as tell:
                _seekless.import_table(table, name, path, False, tell)
            trace = cls(path)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        weakref.finalize(trace, _remove, folder, os.getpid())
        return trace

    @classmethod
    def convert(
        cls,
        files: PathLike | Sequence[PathLike],
        out: PathLike,
        *,
        force: bool = False,
        progress: Progress = None,
        **options: Any,
    ) -> Trace:
        """Imports files of other formats as the Parquet trace ``out``: each file is a run.
        ``options`` are those of Trace. Raises ExistsError if ``out`` is there, unless ``force``."""
        files = [files] if isinstance(files, (str, os.PathLike)) else list(files)
        first = cls(files[0], **options) if files else None
        reading = first.import_options if first else PLAIN
        with shown("Importing", progress) as tell:
            _seekless.import_files(
                [os.fspath(file) for file in files], os.fspath(out), reading, force, tell
            )
        return cls(out)

    def to_arrow(self, *, progress: Progress = None) -> Table:
        """All rows as a table; docs/reference/trace-format.md explains the columns. ``op`` and
        ``path`` are dictionaries. It is kept, so that later calls give the same memory."""
        if self._table is None:
            with shown("Reading", progress) as tell:
                self._table = Table(_seekless.trace_table(self.path, self.import_options, tell))
        return self._table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        """Rows."""
        return int(self.summary()["accesses"])

    def summary(self, *, progress: Progress = None) -> dict[str, Any]:
        """The trace in figures, as ``seekless trace info --json``: accesses, files, bytes read,
        distinct bytes, sizes, reuse, and each run. Times are in nanoseconds."""
        info = self._info
        if info is None:
            with shown("Summing up", progress) as tell:
                info = self._info = json.loads(
                    _seekless.trace_info(self.path, self.import_options, tell)
                )
        return dict(info)

    def __repr__(self) -> str:
        return f"seekless.Trace({self.path!r})"

    def _repr_html_(self) -> str:
        info = self.summary()
        command = next(
            (" ".join(run["command"]) for run in info["metadata"]["runs"] if run["command"]), ""
        )
        rows = [
            ["kind", info["metadata"]["kind"]],
            ["runs", f"{len(info['runs']):,}"],
            ["command", command],
            ["accesses", f"{info['accesses']:,}"],
            ["files read", f"{info['files']:,}"],
            ["read", format_bytes(info["read_bytes"])],
            ["of distinct bytes", format_bytes(info["unique_bytes"])],
            ["loads of whole files", f"{info['reuse']['loads']:,}"],
            ["of them again", f"{info['reuse']['repeated']:,}"],
        ]
        lost = info["metadata"]["lost"]
        rows += [["lost events", f"{lost:,}"]] if lost else []
        return html_table(["trace", os.path.basename(self.path)], rows)


PLAIN: _seekless.ImportOptions = {
    "format": None,
    "columns": None,
    "ops": None,
    "binary": None,
    "delimiter": ",",
    "header": True,
    "lenient": False,
}


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def opened(traces: Traces) -> list[Trace]:
    """One trace or several, as a list of traces."""
    if isinstance(traces, Trace):
        return [traces]
    if isinstance(traces, (str, os.PathLike)):
        return [Trace(traces)]
    return [trace if isinstance(trace, Trace) else Trace(trace) for trace in traces]


def import_options(traces: list[Trace]) -> _seekless.ImportOptions:
    """How the files are read: as the first trace says."""
    return traces[0].import_options if traces else PLAIN


@dataclass(frozen=True)
class Recording:
    """A program that was recorded."""

    #: The trace.
    path: str
    #: The program's exit status as a shell reports it: 128 + signal if a signal ended it.
    status: int
    #: From its start to the end of its last child.
    seconds: float
    #: Accesses, opens, bytes read, lost events and more.
    figures: dict[str, Any]

    @property
    def trace(self) -> Trace:
        """What it read."""
        return Trace(self.path)

    def _repr_html_(self) -> str:
        seen = self.figures
        rows = [
            ["status", str(self.status)],
            ["seconds", f"{self.seconds:.2f}"],
            ["accesses", f"{seen['accesses']:,}"],
            ["files", f"{seen['files']:,}"],
            ["read", format_bytes(seen["bytes_read"])],
            ["lost events", f"{seen['lost']:,}"],
        ]
        return html_table(["recording", os.path.basename(self.path)], rows)


def record(
    command: Sequence[str],
    output: PathLike = "run.parquet",
    *,
    only: Sequence[str] = (),
    exclude: Sequence[str] = (),
    special: bool = False,
    force: bool = False,
) -> Recording:
    """Runs ``command`` and records what it and its children read and write, as ``seekless record``.

    ``only`` and ``exclude`` are globs of files; ``special`` records pipes, sockets, /proc and /dev
    too; ``force`` replaces ``output``. The program has this process's terminal and environment, and
    Ctrl-C is for it.

    Raises NotFoundError or DeniedError if it cannot be executed or followed, ExistsError if
    ``output`` is there. A program that fails is no error: see ``status``.

    >>> seekless.record(["python", "train.py"], "run.parquet").trace
    """
    figures = dict(
        _seekless.record(
            [os.fspath(word) for word in command],
            os.fspath(output),
            list(only),
            list(exclude),
            special,
            force,
        )
    )
    status, nanoseconds = figures.pop("status"), figures.pop("duration_ns")
    return Recording(os.fspath(output), status, nanoseconds / 1e9, figures)
