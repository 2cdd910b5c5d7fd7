"""Sweeps: rows, going on, lost workers, and the same on a Dask cluster."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import seekless
from seekless import sweeps as module

pytest.importorskip("pyarrow")

TIMES = {"seconds", "requests_per_second"}


def rows(table: seekless.Table) -> list[dict[str, object]]:
    return [
        {name: value for name, value in row.items() if name not in TIMES} for row in table.rows()
    ]


def expected(
    trace: seekless.Trace, policies: list[str], sizes: list[str]
) -> list[dict[str, object]]:
    found = [row for policy in policies for row in rows(seekless.simulate(trace, policy, sizes))]
    return [{"trace": trace.path, "seed": 0, **row} for row in found]


def test_rows_are_those_of_simulate(trace: seekless.Trace, tmp_path: Path) -> None:
    policies, sizes = ["lru", "arc", "sieve"], ["10%", "20%", "40%"]
    found = seekless.sweep(trace, policies, sizes, out=tmp_path / "rows", workers=2)
    assert len(found) == 3 and rows(found.table()) == expected(trace, policies, sizes)
    assert sorted(os.listdir(found.folder)) == sorted(cell.file() for cell in found.cells)


def test_a_sweep_goes_on_where_it_stopped(trace: seekless.Trace, tmp_path: Path) -> None:
    out = tmp_path / "rows"
    first = seekless.sweep(trace, ["lru", "arc"], "10%", out=out, workers=1)
    kept = {file: (out / file).stat().st_mtime_ns for file in os.listdir(out)}
    second = seekless.sweep(trace, ["lru", "sieve", "arc"], "10%", out=out, workers=1)
    assert {file: (out / file).stat().st_mtime_ns for file in kept} == kept
    assert rows(second.table()) == expected(trace, ["lru", "sieve", "arc"], ["10%"])
    assert len(first) == 2


def test_samples_take_seeds(trace: seekless.Trace, tmp_path: Path) -> None:
    found = seekless.sweep(
        trace, "lru", ["50KB", "100KB"], out=tmp_path, seeds=[1, 2], sample=0.5, workers=1
    )
    table = found.table()
    assert table["seed"] == [1, 1, 2, 2] and all(table["confidence"][at] < 1 for at in range(4))
    with pytest.raises(seekless.UsageError, match="sample"):
        seekless.sweep(trace, "lru", "1MB", out=tmp_path, seeds=[1, 2])
    with pytest.raises(seekless.UsageError, match="magic"):
        seekless.sweep(trace, "magic", "1MB", out=tmp_path)


def killed(cell: module.Cell, folder: str) -> str:
    """As run_cell, but the worker dies at its first try of one cell."""
    mark = Path(folder) / "killed"
    if cell.policy == "arc" and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return module.run_cell(cell, folder)


def dies(cell: module.Cell, folder: str) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def test_a_lost_worker_costs_its_cells_only(
    trace: seekless.Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = module._cells(
        trace,
        ["lru", "arc", "sieve"],
        "10%",
        (0,),
        None,
        {"unit": None, "unit_weights": False, "lines": None, "memory": None},
    )
    monkeypatch.setattr(module, "run_cell", killed)
    assert sorted(module._here(cells, str(tmp_path), 2)) == sorted(cell.file() for cell in cells)
    assert (tmp_path / "killed").exists()
    assert rows(module.Sweep(str(tmp_path), cells).table()) == expected(
        trace, ["lru", "arc", "sieve"], ["10%"]
    )
    monkeypatch.setattr(module, "run_cell", dies)
    with pytest.raises(seekless.SystemFailure, match="lost 3 times"):
        list(module._here(cells[:1], str(tmp_path), 1))


def test_urls_are_fetched(trace: seekless.Trace, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    assert fsspec
    found = seekless.sweep(f"file://{trace.path}", "lru", "10%", out=tmp_path, workers=1)
    assert found.table()["hits"] == seekless.simulate(trace, "lru", "10%")["hits"]


def test_a_cluster_gives_the_same(trace: seekless.Trace, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    policies, sizes = ["lru", "arc", "sieve"], ["10%", "20%"]
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=tmp_path / "dask",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = seekless.sweep(trace, policies, sizes, out=tmp_path / "rows", client=client)
    assert rows(found.table()) == expected(trace, policies, sizes)
