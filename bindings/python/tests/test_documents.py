"""The Python blocks of docs/how-to/python.md, and the recipes of docs/reference/trace-format.md."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

import seekless

ROOT = Path(__file__).resolve().parents[3]


def blocks(page: str, kind: str) -> list[str]:
    """The blocks of this kind in a page of docs/."""
    text = (ROOT / "docs" / page).read_text()
    return re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)


def test_the_page_runs(recorder: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars")
    pytest.importorskip("pandas")
    (tmp_path / "levels").mkdir()
    for level in ROOT.glob("examples/*/*.txt"):
        shutil.copy(level, tmp_path / "levels")
    for level in ROOT.glob("examples/*.txt"):
        shutil.copy(level, tmp_path / "levels")
    assert (tmp_path / "levels" / "desert.txt").exists()
    monkeypatch.chdir(tmp_path)
    found = blocks("how-to/python.md", "python")
    assert len(found) > 6
    names: dict[str, object] = {}
    for block in found:
        exec(compile(block, "docs/how-to/python.md", "exec"), names)  # noqa: S102
    assert os.path.exists("data.zip")


def test_the_recipes_run(recorder: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars")
    pytest.importorskip("pandas")
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    seekless.record(["cat", str(ROOT / "examples" / "desert.txt")], "run.parquet")
    found = blocks("reference/trace-format.md", "python")
    assert len(found) == 2
    for block in found:
        exec(compile(block, "docs/reference/trace-format.md", "exec"), {})  # noqa: S102
    queries = ";".join(blocks("reference/trace-format.md", "sql")).split(";")
    answers = [duckdb.sql(query).fetchall() for query in queries if query.strip()]
    assert len(answers) == 4
