"""What the tests share: a folder of files, a trace of a program that reads them, and its pack."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

import seekless


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 files of 100 to 9,000 bytes in three folders; some can be deflated."""
    root = tmp_path_factory.mktemp("files")
    choice = random.Random(1)
    for number in range(300):
        path = root / f"part{number % 3}" / f"f{number}.bin"
        path.parent.mkdir(exist_ok=True)
        size = choice.randrange(100, 9000)
        path.write_bytes(b"text " * (size // 5) if number % 4 == 0 else choice.randbytes(size))
    return root


@pytest.fixture(scope="session")
def loads(folder: Path) -> list[Path]:
    """3,000 loads, some files far more often than others."""
    files = sorted(folder.rglob("*.bin"))
    choice = random.Random(2)
    return [files[int(len(files) * choice.random() ** 3)] for _ in range(3000)]


@pytest.fixture(scope="session")
def trace(
    folder: Path, loads: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> seekless.Trace:
    """A Parquet trace of these loads."""
    text = tmp_path_factory.mktemp("trace") / "loads.csv"
    rows = (f"{number},{path},{path.stat().st_size}\n" for number, path in enumerate(loads))
    text.write_text("time_us,path,size\n" + "".join(rows))
    return seekless.Trace.convert(text, text.with_suffix(".parquet"))


@pytest.fixture(scope="session")
def archive(folder: Path, trace: seekless.Trace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack of the files in the order of the trace."""
    out = tmp_path_factory.mktemp("pack") / "data.zip"
    seekless.pack(folder, out, traces=[trace])
    return out


@pytest.fixture(scope="session")
def command() -> str:
    """The command that was built from the same checkout."""
    path = os.environ.get("SEEKLESS_COMMAND", "")
    if not os.access(path, os.X_OK):
        pytest.skip("the command seekless (SEEKLESS_COMMAND names none)")
    return path


@pytest.fixture(scope="session")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips a test that records where the kernel does not let us."""
    try:
        seekless.record(["true"], tmp_path_factory.mktemp("record") / "run.parquet")
    except (seekless.DeniedError, seekless.NotFoundError) as error:
        pytest.skip(f"recording ({error})")
