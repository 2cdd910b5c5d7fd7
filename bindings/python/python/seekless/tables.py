"""Tables: rows in Arrow's layout, which pyarrow, pandas, polars and DuckDB take without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _seekless
from ._words import format_value, html_table, text_table

if TYPE_CHECKING:
    import os

    import matplotlib.axes
    import pandas
    import polars
    import pyarrow

#: Rows that are shown of a long table.
SHOWN_ROWS = 60


class Table:
    """Rows in Arrow's layout.

    Any package that knows the Arrow PyCapsule interface takes it as it is:
    ``pyarrow.table(t)``, ``polars.DataFrame(t)``, ``duckdb.sql("from t")``. They share its memory.

    >>> t = Table.from_arrow(table)      # of pyarrow, pandas, polars, DuckDB: shared too
    >>> t["miss_ratio"]                  # a column as a list
    """

    def __init__(self, data: _seekless.Table) -> None:
        self._data = data

    @classmethod
    def from_arrow(cls, table: Any) -> Table:
        """Shares a table of another package, or anything that has ``__arrow_c_stream__``.

        Raises TypeError if it has not."""
        return cls(_seekless.Table.share(table))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._data.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._data)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""
        return self._data.column_names

    @property
    def nbytes(self) -> int:
        """Bytes of memory of all columns."""
        return self._data.nbytes

    def __getitem__(self, name: str) -> list[Any]:
        """The values of a column. Raises KeyError if there is none of this name."""
        return self._data.column(name)

    def rows(self) -> list[dict[str, Any]]:
        """All rows as dictionaries: for small tables."""
        names = self.column_names
        return [dict(zip(names, row)) for row in zip(*(self[name] for name in names))]

    def to_pyarrow(self) -> pyarrow.Table:
        """As a table of pyarrow, which shares the memory."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a DataFrame of pandas, through pyarrow where that is installed."""
        import pandas

        try:
            import pyarrow
        except ImportError:
            return pandas.DataFrame({name: self[name] for name in self.column_names})
        frame: pandas.DataFrame = pyarrow.table(self).to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """As a DataFrame of polars, which shares the memory of numbers."""
        import polars

        return polars.DataFrame(self)

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes a Parquet file, by pyarrow."""
        import pyarrow.parquet

        pyarrow.parquet.write_table(self.to_pyarrow(), path)

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        names = self._shown_columns()
        columns = [self[name][:SHOWN_ROWS] for name in names]
        return names, [
            [format_value(name, value) for name, value in zip(names, row)] for row in zip(*columns)
        ]

    def _shown_columns(self) -> list[str]:
        return self.column_names

    def _caption(self) -> str:
        left = len(self) - SHOWN_ROWS
        return f"{SHOWN_ROWS} of {len(self):,} rows" if left > 0 else ""

    def __repr__(self) -> str:
        if len(self) > 10 * SHOWN_ROWS:
            names = ", ".join(self.column_names)
            return f"<seekless.{type(self).__name__}: {len(self):,} rows of {names}>"
        header, rows = self._shown()
        return "\n".join(part for part in (text_table(header, rows), self._caption()) if part)

    def _repr_html_(self) -> str:
        if len(self) > 10 * SHOWN_ROWS:
            return html_table(
                ["column"], [[name] for name in self.column_names], f"{len(self):,} rows"
            )
        header, rows = self._shown()
        return html_table(header, rows, self._caption())


class Figures(Table):
    """The figures of caches: a row for each capacity and policy, with the names of the command's
    ``--json``. Ratios are 0 to 1; ``capacity`` is in bytes, or in ids for bare ids."""

    def _shown_columns(self) -> list[str]:
        few = [
            "policy",
            "variant",
            "capacity",
            "readahead",
            "requests",
            "hits",
            "misses",
            "miss_ratio",
            "byte_miss_ratio",
            "seconds",
            "wait_seconds",
            "device_reads",
        ]
        known = self.column_names
        shown = [name for name in few if name in known]
        if "variant" in shown and not any(self["variant"]):
            shown.remove("variant")
        return shown

    def plot(
        self, y: str | None = None, ax: matplotlib.axes.Axes | None = None
    ) -> matplotlib.axes.Axes:
        """Draws ``y`` by capacity, a line for each policy (and readahead). Needs matplotlib.

        ``y`` is ``miss_ratio``, or ``seconds`` for a simulation in time, unless it says otherwise.
        """
        y = y or ("miss_ratio" if "miss_ratio" in self.column_names else "seconds")
        lines: dict[str, list[tuple[int, float]]] = {}
        for row in self.rows():
            words = [
                row["policy"],
                row.get("variant") and "@" + row["variant"],
                row.get("readahead") and ", " + row["readahead"],
            ]
            name = "".join(word for word in words if word)
            lines.setdefault(name, []).append((row["capacity"], row[y]))
        return _draw(lines, y, ax)


class Curves(Table):
    """Miss ratios by cache size: a row for each policy and size. ``low`` and ``high`` are the ends
    of the error bar of ``miss_ratio``, which holds the value of the full run with probability
    ``confidence``; on an exact curve they equal it."""

    def _shown_columns(self) -> list[str]:
        exact = all(confidence == 1 for confidence in self["confidence"])
        return [
            "policy",
            "capacity",
            "miss_ratio",
            "byte_miss_ratio",
            *([] if exact else ["low", "high"]),
        ]

    def plot(self, ax: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
        """Draws the curves, with their error bars as bands. Needs matplotlib."""
        lines: dict[str, list[tuple[int, float]]] = {}
        bands: dict[str, list[tuple[int, float, float]]] = {}
        for row in self.rows():
            lines.setdefault(row["policy"], []).append((row["capacity"], row["miss_ratio"]))
            bands.setdefault(row["policy"], []).append((row["capacity"], row["low"], row["high"]))
        axes = _draw(lines, "miss_ratio", ax)
        for band in bands.values():
            x, low, high = zip(*band)
            if low != high:
                axes.fill_between(x, low, high, alpha=0.2)
        return axes


def _draw(
    lines: dict[str, list[tuple[int, float]]], y: str, ax: matplotlib.axes.Axes | None
) -> matplotlib.axes.Axes:
    if ax is None:
        import matplotlib.pyplot

        ax = matplotlib.pyplot.figure().add_subplot()
    for name, points in lines.items():
        points = sorted(points)
        ax.plot(
            [x for x, _ in points],
            [y for _, y in points],
            marker="." if len(points) < 30 else "",
            label=name,
        )
    if len({x for points in lines.values() for x, _ in points}) > 1:
        ax.set_xscale("log")
    ax.set_xlabel("cache size")
    ax.set_ylabel(y.replace("_", " "))
    if y.endswith("ratio"):
        ax.set_ylim(bottom=0)
    ax.legend()
    return ax
