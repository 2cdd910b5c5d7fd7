"""The package where nothing else is installed: what needs another package says so."""

import sys
import tempfile
from pathlib import Path

import seekless

folder = Path(tempfile.mkdtemp())
(folder / "in").mkdir()
(folder / "in" / "a.txt").write_bytes(b"content")
seekless.pack(folder / "in", folder / "a.zip", progress=True)
with seekless.Store(folder / "a.zip") as store:
    assert bytes(store.load("a.txt")) == b"content"
(folder / "t.csv").write_text("path,size\na,1\nb,1\na,1\n")
figures = seekless.simulate(folder / "t.csv", ["lru", "arc"], 100)
assert figures["hits"] == [1, 1] and "lru" in repr(figures) and "lru" in figures._repr_html_()
assert seekless.Trace.from_arrow(seekless.Trace(folder / "t.csv")).summary()["accesses"] == 3
for needs in (figures.to_pandas, figures.to_polars, figures.plot):
    try:
        needs()
    except ImportError as error:
        assert error.name in ("pandas", "polars", "matplotlib"), error
    else:
        sys.exit(f"{needs} ran without its package")
