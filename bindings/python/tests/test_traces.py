"""Traces as tables of other packages, and tables of other packages as traces."""

from __future__ import annotations

import gzip
import random
import shutil
from pathlib import Path

import pytest

import seekless

pa = pytest.importorskip("pyarrow")


def test_a_summary_is_that_of_the_loads(trace: seekless.Trace, loads: list[Path]) -> None:
    said = trace.summary()
    assert len(trace) == said["accesses"] == len(loads)
    assert said["files"] == len(set(loads))
    assert said["read_bytes"] == sum(path.stat().st_size for path in loads)
    assert "3,000" in trace._repr_html_()


def test_rows_are_those_of_the_file(trace: seekless.Trace, loads: list[Path]) -> None:
    table = pa.table(trace)
    assert table["path"].to_pylist() == [str(path) for path in loads]
    assert table["time_ns"].to_pylist() == [number * 1000 for number in range(len(loads))]
    assert table.schema.metadata[b"seekless.kind"] == b"files"


def test_pyarrow_reads_the_file_with_the_types_that_tables_have(
    trace: seekless.Trace, loads: list[Path]
) -> None:
    """The file holds its schema in Arrow's own encoding, as a constant."""
    read = pytest.importorskip("pyarrow.parquet").read_table(trace.path)
    assert read.schema.remove_metadata() == pa.table(trace).schema.remove_metadata()
    assert read.column("path").to_pylist() == [str(path) for path in loads]


def address(table: pa.Table, column: str) -> int:
    return table[column].chunk(0).buffers()[1].address


def test_tables_go_out_and_in_without_a_copy(trace: seekless.Trace) -> None:
    first, second = pa.table(trace), pa.table(trace)
    assert address(first, "bytes") == address(second, "bytes")
    again = pa.table(seekless.Table.from_arrow(first))
    assert address(first, "bytes") == address(again, "bytes")


def test_polars_pandas_and_duckdb_take_them(trace: seekless.Trace) -> None:
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    bytes_read = trace.summary()["read_bytes"]
    assert polars.DataFrame(trace)["bytes"].sum() == bytes_read
    frame = trace.to_arrow().to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame["bytes"].sum() == bytes_read
    rows = trace.to_arrow()
    assert duckdb.sql("select sum(bytes) from rows").fetchall() == [(bytes_read,)]
    assert len(rows) == len(frame)


def test_a_table_of_theirs_is_a_trace() -> None:
    table = pa.table({"path": ["b", "a", "b"], "time_s": [2.5, 1.0, 3.0], "size": [7, None, 7]})
    rows = seekless.Trace.from_arrow(table).to_arrow()
    assert rows["path"] == ["a", "b", "b"], "they are sorted by time"
    assert rows["time_ns"] == [1_000_000_000, 2_500_000_000, 3_000_000_000]
    assert rows["op"] == ["load"] * 3 and rows["bytes"] == [0, 7, 7]


def test_pandas_and_polars_frames_are_traces() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {
        "path": ["x", "y", "x"],
        "op": ["read", "read", "write"],
        "offset": [0, 4096, 0],
        "bytes": [4096, 4096, 100],
    }
    for frame in (pandas.DataFrame(columns), polars.DataFrame(columns)):
        trace = seekless.Trace.from_arrow(frame)
        assert trace.to_arrow()["op"] == ["read", "read", "write"]
        assert seekless.simulate(trace, "lru", "1MB", unit="page")["hits"] == [1]


def test_a_traces_own_table_comes_back(trace: seekless.Trace) -> None:
    again = seekless.Trace.from_arrow(trace)
    assert pa.table(again).equals(pa.table(trace))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"size": [1]}, "names no `path`"),
        ({"path": ["a", ""]}, "row 1: has an empty path"),
        ({"path": ["a"], "bytes": [-1]}, "row 0"),
        ({"path": ["a"], "op": ["fly"]}, "has op `fly`"),
        ({"path": ["a"], "time_s": ["noon"]}, "noon"),
        ({"path": ["a"], "bytes": [1.5]}, "1.5"),
    ],
)
def test_what_a_trace_cannot_hold_is_named(columns: dict[str, list[object]], words: str) -> None:
    with pytest.raises(seekless.CorruptError, match="mine") as raised:
        seekless.Trace.from_arrow(pa.table(columns), name="mine")
    assert words in str(raised.value)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        seekless.Trace.from_arrow([1, 2, 3])


def test_a_missing_trace_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        seekless.Trace(tmp_path / "none.parquet")
    assert isinstance(raised.value, seekless.SeeklessError)
    assert raised.value.path == str(tmp_path / "none.parquet")


def test_other_formats_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"when;what;much\n1;a;5\n2;b;6\n2;a;5\n"))
    trace = seekless.Trace(path, columns="time:s=when,path=what,size=much", delimiter=";")
    assert trace.to_arrow()["path"] == ["a", "b", "a"]
    assert seekless.simulate(trace, "lru", 100)["hits"] == [1]
    out = tmp_path / "t.parquet"
    options = {"columns": "time:s=when,path=what,size=much", "delimiter": ";"}
    assert len(seekless.Trace.convert(path, out, **options)) == 3
    with pytest.raises(FileExistsError, match="force=True"):
        seekless.Trace.convert(path, out, **options)


def test_a_damaged_trace_is_an_error_or_the_same(trace: seekless.Trace, tmp_path: Path) -> None:
    whole = Path(trace.path).read_bytes()
    rows = pa.table(trace)
    choice = random.Random(3)
    path = tmp_path / "damaged.parquet"
    for _ in range(150):
        damaged = bytearray(whole)
        damaged[choice.randrange(len(whole))] ^= 1 << choice.randrange(8)
        path.write_bytes(damaged)
        try:
            assert pa.table(seekless.Trace(path)).equals(rows)
        except seekless.SeeklessError as error:
            assert str(path) in str(error)


def test_a_recording_is_a_trace(recorder: None, tmp_path: Path, folder: Path) -> None:
    if shutil.which("cat") is None:
        pytest.skip("cat is missing")
    one = next(folder.rglob("*.bin"))
    recording = seekless.record(["cat", str(one)], tmp_path / "run.parquet")
    assert recording.status == 0 and recording.figures["bytes_read"] >= one.stat().st_size
    assert str(one) in recording.trace.to_arrow()["path"]
    assert "recording" in recording._repr_html_()
    with pytest.raises(FileExistsError):
        seekless.record(["cat", str(one)], tmp_path / "run.parquet")
    with pytest.raises(FileNotFoundError):
        seekless.record([str(tmp_path / "no such program")], tmp_path / "other.parquet")
    failed = seekless.record(["sh", "-c", "exit 3"], tmp_path / "failed.parquet")
    assert failed.status == 3
