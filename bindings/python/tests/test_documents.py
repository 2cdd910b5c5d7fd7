"""The Python blocks of docs/python.md, one after another in a folder with its levels."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


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
    page = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) > 6
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)  # noqa: S102
    assert os.path.exists("data.zip")
