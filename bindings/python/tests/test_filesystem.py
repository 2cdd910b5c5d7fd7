"""The file system of fsspec, on packs and on Zips that others made."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import pytest

import seekless

fsspec = pytest.importorskip("fsspec")


@pytest.fixture()
def files(folder: Path, archive: Path):  # type: ignore[no-untyped-def]
    return fsspec.filesystem("seekless", fo=str(archive), skip_instance_cache=True)


def test_it_is_registered_by_its_entry_point(archive: Path) -> None:
    assert fsspec.get_filesystem_class("seekless").__module__ == "seekless.filesystem"


def test_it_lists_as_a_folder_does(files, folder: Path) -> None:  # type: ignore[no-untyped-def]
    assert sorted(files.ls("", detail=False)) == ["part0", "part1", "part2"]
    assert len(files.ls("part1")) == 100 and len(files.find("")) == 300
    assert files.info("part0/f0.bin") == {
        "name": "part0/f0.bin",
        "type": "file",
        "size": (folder / "part0/f0.bin").stat().st_size,
    }
    assert files.isdir("part0") and files.isfile("part0/f0.bin") and not files.exists("part0/none")
    assert files.glob("part0/f1?.bin") == ["part0/f12.bin", "part0/f15.bin", "part0/f18.bin"]


def test_it_reads(files, folder: Path) -> None:  # type: ignore[no-untyped-def]
    content = (folder / "part1/f100.bin").read_bytes()
    assert files.cat("part1/f100.bin") == content
    assert files.cat_file("part1/f100.bin", 5, -7) == content[5:-7]
    many = files.cat(["part1/f100.bin", "part0/f0.bin"])
    assert many["part1/f100.bin"] == content and len(many) == 2
    with files.open("part1/f100.bin") as opened:
        assert opened.read(7) == content[:7] and opened.tell() == 7
        opened.seek(-3, 2)
        assert opened.read() == content[-3:] and opened.read() == b""
        with pytest.raises(OSError, match="before its start"):
            opened.seek(-1)
        assert not zipfile.is_zipfile(files.open("part0/f0.bin"))
    with fsspec.open(
        "seekless://part1/f100.bin", fo=files.fo if hasattr(files, "fo") else files.store.paths[0]
    ) as opened:
        assert opened.read() == content
    with pytest.raises(FileNotFoundError):
        files.open("none")
    with pytest.raises(IsADirectoryError):
        files.open("part0")
    with pytest.raises(OSError, match="read-only"):
        files.open("part0/f0.bin", "wb")


def test_it_travels(files) -> None:  # type: ignore[no-untyped-def]
    again = pickle.loads(pickle.dumps(files))
    assert again.cat("part0/f0.bin") == files.cat("part0/f0.bin")


def test_large_stored_files_are_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import seekless.filesystem

    monkeypatch.setattr(seekless.filesystem, "WHOLE_BYTES_MAX", 1000)
    content = bytes(range(256)) * 8000
    with zipfile.ZipFile(tmp_path / "large.zip", "w") as out:
        out.writestr("large.bin", content)
    files = fsspec.filesystem("seekless", fo=str(tmp_path / "large.zip"))
    with files.open("large.bin", block_size=4096) as opened:
        opened.seek(1_000_000)
        assert opened.read(300) == content[1_000_000:1_000_300]
    assert files.store.statistics()["delivered_bytes"] < 100_000


def test_pandas_xarray_and_pillow_open_files_through_it(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    source = tmp_path / "tables"
    source.mkdir()
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    frame.to_csv(source / "t.csv", index=False)
    frame.to_parquet(source / "t.parquet")
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (20, 10), (1, 2, 3)).save(source / "i.png")
    seekless.pack(source, tmp_path / "tables.zip")
    options = {"fo": str(tmp_path / "tables.zip")}
    assert pandas.read_csv("seekless://t.csv", storage_options=options).equals(frame)
    assert pandas.read_parquet("seekless://t.parquet", storage_options=options).equals(frame)
    files = fsspec.filesystem("seekless", **options)
    with files.open("i.png") as opened:
        assert image.open(opened).getpixel((3, 3)) == (1, 2, 3)
    xarray, h5netcdf = pytest.importorskip("xarray"), pytest.importorskip("h5netcdf")
    assert h5netcdf
    data = xarray.Dataset({"v": ("x", [1.0, 2.0])})
    data.to_netcdf(source / "d.nc", engine="h5netcdf")
    seekless.pack(source, tmp_path / "second.zip")
    with fsspec.open("seekless://d.nc", fo=str(tmp_path / "second.zip")) as opened:
        assert xarray.open_dataset(opened, engine="h5netcdf")["v"].sum() == 3


def test_what_it_cannot_do_it_says() -> None:
    with pytest.raises(seekless.UsageError, match="name the pack"):
        fsspec.filesystem("seekless")
    with pytest.raises(seekless.UsageError, match="read-only"):
        fsspec.filesystem("seekless", fo="x.zip", mode="w")
    with pytest.raises(FileNotFoundError):
        fsspec.filesystem("seekless", fo="/none/x.zip")


def test_what_tells_whether_a_file_has_changed_changes_with_its_pack(tmp_path: Path) -> None:
    def tokens(source: Path) -> tuple[str, int]:
        files = fsspec.filesystem("seekless", fo=str(source), skip_instance_cache=True)
        return files.ukey("a"), files.checksum("a")

    pack, loose = tmp_path / "a.zip", tmp_path / "loose"
    loose.mkdir()
    found = []
    for content in ("version A", "version B"):
        with zipfile.ZipFile(tmp_path / "new", "w") as archive:
            archive.writestr("a", content)
        (tmp_path / "new").replace(pack)
        (tmp_path / "new file").write_text(content)
        (tmp_path / "new file").replace(loose / "a")
        assert tokens(pack) == tokens(pack)
        found.append((tokens(pack), tokens(loose)))
    (first, first_loose), (second, second_loose) = found
    assert first[0] != second[0] and first[1] != second[1]
    assert first_loose[0] != second_loose[0] and first_loose[1] != second_loose[1]
