"""Packs and stores: contents, views, errors, processes, event loops."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import multiprocessing
import os
import pickle
import random
import resource
import stat
import warnings
import zipfile
from pathlib import Path

import pytest

import seekless


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.bin")}


def test_what_is_not_read_here_is_told_from_damage(tmp_path: Path) -> None:
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as written:
        written.writestr("a", "hello")
    bytes_ = bytearray(whole.read_bytes())
    directory = bytes_.index(b"PK\1\2")
    for name, local, field in [("encrypted", 6, 1), ("method 97", 8, 97)]:
        changed = bytearray(bytes_)
        changed[local], changed[directory + local + 2] = field, field
        path = tmp_path / f"{name}.zip"
        path.write_bytes(changed)
        with seekless.Store(path) as store, pytest.raises(seekless.UnsupportedError, match=name):
            store.load("a")
    bytes_[bytes_.index(b"hello")] ^= 1
    whole.write_bytes(bytes_)
    with seekless.Store(whole) as store, pytest.raises(seekless.CorruptError):
        store.load("a")


def test_every_way_gives_the_files(folder: Path, archive: Path) -> None:
    files = contents(folder)
    with seekless.Store(archive) as store:
        assert len(store) == len(files) and set(store) == set(files)
        assert store.sizes() == {name: len(content) for name, content in files.items()}
        assert {name: bytes(store.load(name)) for name in store} == files
        assert {name: bytes(view) for name, view in store.load_many(files)} == files
        names = sorted(files) * 2
        assert [bytes(view) for view in store.load_all(names)] == [files[name] for name in names]
        for name, content in files.items():
            assert bytes(store.read_range(name, 10, 90)) == content[10:90]
            assert store.size(name) == len(content) and name in store
        assert bytes(store.read_range(name, 50, 10**12)) == content[50:]
        assert "part9/none" not in store and "files" in store._repr_html_()


def test_views_are_read_only_shared_and_outlive_the_store(archive: Path) -> None:
    with seekless.Store(archive) as store:
        name = store.names()[5]
        view = store.load(name)
        copy = bytes(view)
        assert view.readonly and view.contiguous and view.format == "B"
        with pytest.raises(TypeError):
            view[0] = 1
        part = view[10:20]
        numpy = pytest.importorskip("numpy")
        array, again = numpy.frombuffer(view, "u1"), numpy.frombuffer(store.load(name), "u1")
        assert array.ctypes.data == again.ctypes.data, "both are the cache's memory"
        assert not array.flags.writeable
    del view
    gc.collect()
    assert bytes(part) == copy[10:20] and array.tobytes() == copy
    assert store.closed and repr(store).startswith("seekless.Store(")
    with pytest.raises(ValueError, match="closed"):
        store.load(name)
    store.close()


def test_zips_of_others_and_folders_are_stores(folder: Path, tmp_path: Path) -> None:
    files = contents(folder)
    foreign = tmp_path / "foreign.zip"
    with zipfile.ZipFile(foreign, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in files.items():
            out.writestr(name, content)
    override = tmp_path / "override"
    (override / "part0").mkdir(parents=True)
    (override / "part0" / "f0.bin").write_bytes(b"patched")
    with seekless.Store(foreign, override, cache=1 << 20, policy="lru") as store:
        assert bytes(store.load("part0/f0.bin")) == b"patched"
        assert bytes(store.load("part1/f1.bin")) == files["part1/f1.bin"]
        assert len(store) == len(files)


def test_what_pack_writes_others_open(folder: Path, archive: Path) -> None:
    files = contents(folder)
    with zipfile.ZipFile(archive) as pack:
        assert pack.testzip() is None
        names = [name for name in pack.namelist() if not name.startswith(".seekless")]
        assert {name: pack.read(name) for name in names if not name.endswith("/")} == files
        assert [name for name in names if name.endswith("/")] == ["part0/", "part1/", "part2/"]


def test_a_pack_lies_in_the_order_of_the_trace(
    folder: Path, archive: Path, loads: list[Path]
) -> None:
    known = {str(path.relative_to(folder)) for path in loads}
    names = seekless.Store(archive).names()
    assert names != sorted(names) and known <= set(names)


def test_folders_keep_mode_and_time(tmp_path: Path) -> None:
    private = tmp_path / "data" / "private"
    private.mkdir(parents=True)
    (private / "a").write_bytes(b"1")
    private.chmod(0o700)
    os.utime(private, ns=(0, 1_600_000_000_123_456_700))
    packed = seekless.pack(tmp_path / "data", tmp_path / "data.zip")
    assert (packed["entries"], packed["folders"]) == (1, 1)
    with seekless.Store(tmp_path / "data.zip") as store:
        assert store.folders() == {"private": (0o40700, 1_600_000_000_123_456_700)}
        assert (store.names(), len(store)) == (["private/a"], 1)


def _written(path: Path, *entries: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", method) as written:
        warnings.simplefilter("ignore")  # of a name that stands there twice
        for name, content in entries:
            written.writestr(name, content)
    return path


def test_links_are_kept_as_links(tmp_path: Path) -> None:
    folder, archive = tmp_path / "files", tmp_path / "files.zip"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "a.py").write_bytes(b"content")
    outside = tmp_path / "outside.bin"
    outside.write_bytes(b"secret")
    targets = {"lib64": "lib", "b.py": "lib/a.py", "out": str(outside), "up": "../outside.bin"}
    for name, target in targets.items():
        (folder / name).symlink_to(target)
    packed = seekless.pack(folder, archive, links="keep")
    assert packed["links"] == len(targets) and packed["left_out"]["count"] == 0
    with zipfile.ZipFile(archive) as pack:
        for name, target in targets.items():
            assert stat.S_ISLNK(pack.getinfo(name).external_attr >> 16)
            assert pack.read(name).decode() == target
    with seekless.Store(archive) as store:
        assert bytes(store.load("b.py")) == bytes(store.load("lib64/a.py")) == b"content"
        for name in ("out", "up"):
            with pytest.raises(seekless.SeeklessError):
                store.load(name)
    followed = seekless.pack(folder, archive, force=True)
    assert followed["links"] == 0 and followed["left_out"]["count"] == 2
    with zipfile.ZipFile(archive) as pack:
        assert pack.read("b.py") == b"content"
    with pytest.raises(seekless.UsageError, match="follow"):
        seekless.pack(folder, archive, links="drop", force=True)


def test_archives_of_other_tools_are_read_as_zipfile_reads_them(tmp_path: Path) -> None:
    text = b"the same words again and again " * 20_000
    dots = ("../up", b"bad")
    for case, left_out in [
        (_written(tmp_path / "dots.zip", dots, ("a", b"1")), "leads out"),
        (_written(tmp_path / "twice.zip", ("a", b"old"), ("a", b"new")), "stands there again"),
        (_written(tmp_path / "long.zip", ("x" * 256, b"bad"), ("a", b"1")), "longer than 255"),
        (_written(tmp_path / "folder.zip", ("d/", b""), ("d/a", b"1")), None),
        (_written(tmp_path / "bzip2.zip", ("a", text), method=zipfile.ZIP_BZIP2), None),
        (_written(tmp_path / "lzma.zip", ("a", text), method=zipfile.ZIP_LZMA), None),
    ]:
        with seekless.Store(case, cache=1 << 20) as store, zipfile.ZipFile(case) as other:
            assert store.names(), case
            for name in store.names():
                assert bytes(store.load(name)) == other.read(name), case
                assert bytes(store.read_range(name, 1, 9)) == other.read(name)[1:9], case
            assert (left_out or "") in " ".join(store.left_out()), case
            assert bool(store.left_out()) == bool(left_out), case


def test_names_are_read_in_the_encoding_that_is_named(tmp_path: Path) -> None:
    path = _written(tmp_path / "old.zip", ("XX.txt", b"1"))
    path.write_bytes(path.read_bytes().replace(b"XX", "表".encode("cp932")))
    with seekless.Store(path, names="cp932") as store:
        assert store.names() == ["表.txt"]
        assert bytes(store.load("表.txt")) == b"1"
    with pytest.raises(seekless.UsageError, match="such as cp437"):
        seekless.Store(path, names="cp999")


def test_errors_are_pythons_own(folder: Path, archive: Path, tmp_path: Path) -> None:
    store = seekless.Store(archive, max_entry_bytes=4000)
    with pytest.raises(FileNotFoundError, match="no entry named") as raised:
        store.load("none")
    assert raised.value.path == str(archive)  # type: ignore[attr-defined]
    large = max(store.sizes().items(), key=lambda item: item[1])[0]
    with pytest.raises(seekless.LimitError, match="max_entry_bytes"):
        store.load(large)
    with pytest.raises(FileNotFoundError):
        seekless.Store(tmp_path / "none.zip")
    with pytest.raises(seekless.CorruptError, match="not a Zip"):
        seekless.Store(__file__)
    with pytest.raises(seekless.UsageError, match="policy"):
        seekless.Store(archive, policy="magic")
    with pytest.raises(seekless.UsageError):
        seekless.Store(archive, cache="much")
    with pytest.raises(seekless.UsageError, match="nothing to load"):
        seekless.Store()
    with pytest.raises(FileExistsError, match="force=True"):
        seekless.pack(folder, archive)
    with pytest.raises(seekless.UsageError, match="codec"):
        seekless.pack(folder, tmp_path / "x.zip", codec="magic")
    with pytest.raises(seekless.SeeklessError):
        seekless.pack(tmp_path / "no folder", tmp_path / "x.zip")
    assert not (tmp_path / "x.zip").exists()
    with pytest.raises(ValueError):
        store.read_range(large, -1, 3)


def test_one_bad_file_does_not_end_the_others(archive: Path) -> None:
    store = seekless.Store(archive)
    names = store.names()
    arrived, failed = 0, 0
    loads = store.load_many([names[0], "none", names[1]])
    while True:
        try:
            next(loads)
            arrived += 1
        except StopIteration:
            break
        except FileNotFoundError:
            failed += 1
    assert (arrived, failed) == (2, 1)
    with pytest.raises(FileNotFoundError):
        store.load_all([names[0], "none"])


def test_a_damaged_pack_is_an_error_or_the_same(
    folder: Path, archive: Path, tmp_path: Path
) -> None:
    files, whole = contents(folder), archive.read_bytes()
    choice = random.Random(5)
    path = tmp_path / "damaged.zip"
    for _ in range(100):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[choice.randrange(len(whole))] ^= 1 << choice.randrange(8)
        path.write_bytes(damaged[: choice.choice([len(whole), choice.randrange(len(whole))])])
        try:
            store = seekless.Store(path)
        except seekless.SeeklessError as error:
            assert str(path) in str(error)
            continue
        for name in store.names():
            try:
                assert bytes(store.load(name)) == files.get(name, bytes(store.load(name)))
            except seekless.SeeklessError as error:
                assert str(path) in str(error)


def test_a_store_is_pickled_by_its_paths(folder: Path, archive: Path) -> None:
    store = seekless.Store(archive, cache="1MiB", policy="lru")
    again = pickle.loads(pickle.dumps(store))
    assert again.paths == store.paths and again._options == store._options
    name = store.names()[0]
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(first_bytes, store, name).result() == bytes(store.load(name))


def first_bytes(store: seekless.Store, name: str) -> bytes:
    return bytes(store.load(name))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_opens_its_own(folder: Path, archive: Path, trace: seekless.Trace) -> None:
    store = seekless.Store(archive)
    files = contents(folder)
    names = sorted(files)
    view = store.load(names[0])
    under_way = store.load_many(names)
    next(under_way)
    figures = seekless.simulate(trace, ["lru", "arc"], ["10%", "20%"])["hits"]
    child = os.fork()
    if child == 0:
        status = 1
        try:
            whole = {name: bytes(store.load(name)) for name in names} == files
            kept = bytes(view) == files[names[0]]
            same = seekless.simulate(trace, ["lru", "arc"], ["10%", "20%"])["hits"] == figures
            try:
                next(under_way)
                refused = False
            except RuntimeError:
                refused = True
            del view, under_way
            store.close()
            status = 0 if whole and kept and same and refused else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert {name: bytes(content) for name, content in under_way}.items() <= files.items()


def test_event_loops_load(folder: Path, archive: Path) -> None:
    files = contents(folder)
    store = seekless.Store(archive)

    async def load(names: list[str]) -> dict[str, bytes]:
        views = await asyncio.gather(*(store.aload(name) for name in names))
        return {name: bytes(view) for name, view in zip(names, views)}

    for _ in range(3):  # a loop each
        assert asyncio.run(load(list(files))) == files

    async def fail() -> None:
        with pytest.raises(FileNotFoundError):
            await store.aload("none")
        cancelled = 0
        for _ in range(100):
            task = asyncio.ensure_future(seekless.Store(archive).aload(next(iter(files))))
            await asyncio.sleep(0)
            if task.cancel():  # else the load was quicker
                with pytest.raises(asyncio.CancelledError):
                    await task
                cancelled += 1
        assert cancelled > 0

    asyncio.run(fail())


def test_many_threads_load(folder: Path, archive: Path) -> None:
    files = contents(folder)
    store = seekless.Store(archive, cache=100_000)

    def load(seed: int) -> bool:
        names = random.Random(seed).choices(sorted(files), k=400)
        return all(bytes(store.load(name)) == files[name] for name in names)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(load, range(8)))


def test_100000_loads_leave_nothing_behind(archive: Path) -> None:
    store = seekless.Store(archive, cache=200_000)
    names = store.names()

    def load() -> None:
        for turn in range(50_000):
            len(store.load(names[turn // 5 * 7 % len(names)]))

    load()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    load()
    gc.collect()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000, f"grew by {grown} KiB"
    assert store.statistics()["held_bytes"] < 10_000_000


def test_a_store_heeds_what_will_be_loaded(folder: Path, archive: Path) -> None:
    files = contents(folder)
    names = sorted(files)
    cache = sum(map(len, files.values())) // 4
    with seekless.Store(archive, cache=cache, policy="belady", read_ahead_cache=0) as store:
        store.will_load(names * 2)
        for name in names * 2:
            assert bytes(store.load(name)) == files[name]
        # An LRU cache has nothing of a list that is longer than itself, when it comes again.
        assert store.statistics()["hits"] > len(names) / 5
        following = store.follow(names)
        assert [bytes(view) for view in following.take(names[5:0:-1])] == [
            files[name] for name in names[5:0:-1]
        ]
        assert bytes(following.take(["part0/f0.bin"])[0]) == files["part0/f0.bin"]
        for wrong in (store.will_load, store.follow):
            with pytest.raises(FileNotFoundError, match="no entry named"):
                wrong([names[0], "none"])
        with pytest.raises(FileNotFoundError):
            following.take(["none"])
