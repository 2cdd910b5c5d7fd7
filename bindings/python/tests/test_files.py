"""Large files through a page cache of ours."""

from __future__ import annotations

import io
import multiprocessing
import os
import pickle
import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import seekless


@pytest.fixture()
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large"
    path.write_bytes(random.Random(7).randbytes(3_000_017))
    return path


def test_a_file_reads_as_the_systems_does(large: Path) -> None:
    draws = random.Random(1)
    cache = seekless.PageCache(cache="1MiB", window="256KiB")
    with open(large, "rb") as expected, cache.open(large) as file:
        assert isinstance(file, io.BufferedReader) and file.seekable() and not file.writable()
        assert file.raw.name == str(large)
        for _ in range(200):
            offset, length = draws.randrange(3_100_000), draws.randrange(70_000)
            assert file.seek(offset) == expected.seek(offset)
            assert file.read(length) == expected.read(length)
            assert file.tell() == expected.tell()
        assert file.seek(-5, os.SEEK_END) == 3_000_012 and len(file.read()) == 5
        file.seek(10)
        assert file.seek(-4, os.SEEK_CUR) == 6
        file.seek(0)
        assert file.read() == large.read_bytes()
        with pytest.raises(OSError, match="before"):
            file.seek(-1)


def test_lines_and_copies_come_through_the_reader(large: Path, tmp_path: Path) -> None:
    text = tmp_path / "lines"
    text.write_text("".join(f"{number}\n" for number in range(50_000)))
    with seekless.open_file(text) as file:
        assert [int(line) for line in file] == list(range(50_000))
    with seekless.open_file(large) as file, open(tmp_path / "copy", "wb") as copy:
        shutil.copyfileobj(file, copy)
    assert (tmp_path / "copy").read_bytes() == large.read_bytes()


def test_backward_reads_by_several_threads(large: Path) -> None:
    cache = seekless.PageCache(cache="512KiB", policy="s3-fifo")
    content = large.read_bytes()

    def backward(_: int) -> bool:
        with cache.open(large, buffering=1) as file:
            for offset in range(len(content) - 10_000, 0, -10_000):
                file.seek(offset)
                if file.read(10_000) != content[offset : offset + 10_000]:
                    return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(backward, range(4)))


def test_what_cannot_be_is_an_exception_that_says_why(large: Path, tmp_path: Path) -> None:
    with pytest.raises(seekless.NotFoundError) as missing:
        seekless.open_file(tmp_path / "none")
    assert missing.value.path == str(tmp_path / "none")
    with pytest.raises(seekless.UsageError, match="no readahead is called"):
        seekless.PageCache(readahead="stream")
    with pytest.raises(seekless.UsageError, match="too few"):
        seekless.PageCache(cache=100)
    with pytest.raises(seekless.UsageError, match="buffering"):
        seekless.open_file(large, buffering=0)
    file = seekless.open_file(large)
    file.close()
    file.close()
    with pytest.raises(ValueError):
        file.read()


def read_in_child(cache: seekless.PageCache, path: Path) -> bytes:
    with cache.open(path) as file:
        return file.read(100)


def test_a_cache_is_made_anew_elsewhere(large: Path) -> None:
    cache = seekless.PageCache(cache="1MiB", policy="arc")
    start = large.read_bytes()[:100]
    assert read_in_child(pickle.loads(pickle.dumps(cache)), large) == start
    assert "policy='arc'" in repr(cache)
    open_here = cache.open(large)
    for method in ["fork", "spawn"]:
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.apply(read_in_child, (cache, large)) == start
    assert open_here.read(100) == start
