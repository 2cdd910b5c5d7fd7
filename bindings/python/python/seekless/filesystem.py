"""``fsspec.filesystem("seekless", fo="data.zip")``: packs and Zips for pandas, xarray, PIL."""

from __future__ import annotations

import errno
import io
import os
from typing import Any, Union

from fsspec.archive import AbstractArchiveFileSystem
from fsspec.spec import AbstractBufferedFile
from fsspec.utils import tokenize

from .errors import NotFoundError, UsageError
from .packs import Store

#: A larger file is read in parts as they are asked for, if it is stored as it is.
WHOLE_BYTES_MAX = 64 << 20
#: So often packs are opened that others are put in place of meanwhile.
_OPENINGS_MAX = 10


class SeeklessFileSystem(AbstractArchiveFileSystem):
    """The files of a pack, or of a Zip that another tool made, read-only, through the cache of a
    :class:`seekless.Store`.

    ``fo`` is a path of this machine, or a list of them; later ones override earlier ones.
    Other arguments are those of the store: ``cache="256MiB"``, ``policy="lru"``.

    >>> pandas.read_csv("seekless://tables/a.csv", storage_options={"fo": "data.zip"})
    """

    protocol = "seekless"
    root_marker = ""
    cachable = True

    def __init__(
        self,
        fo: Union[str, list[str]] = "",
        mode: str = "r",
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        for name in (
            "use_listings_cache",
            "listings_expiry_time",
            "max_paths",
            "skip_instance_cache",
            "asynchronous",
            "loop",
            "batch_size",
        ):
            options.pop(name, None)
        super().__init__()
        if mode != "r":
            raise UsageError(f"mode {mode!r}: packs are read-only here; seekless.pack() makes them")
        if target_protocol not in (None, "file", "local"):
            raise UsageError(
                f"{target_protocol}://: a pack must lie on this machine; copy it first"
            )
        paths = [fo] if isinstance(fo, str) else list(fo)
        if not any(paths):
            raise UsageError('name the pack: fsspec.filesystem("seekless", fo="data.zip")')
        sources = [str(path).removeprefix("file://") for path in paths]
        # As they were when they were opened: a pack may be replaced meanwhile.
        for _ in range(_OPENINGS_MAX):
            self._identities = {source: _identity(source) for source in sources}
            self.store = Store(*sources, **options)
            if all(_identity(source) == known for source, known in self._identities.items()):
                break
            self.store.close()
        else:
            raise OSError(f"{sources}: replaced again and again while they were opened; try again")
        self.dir_cache: dict[str, dict[str, Any]] | None = None

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        stripped = super()._strip_protocol(path)
        return stripped if isinstance(stripped, list) else stripped.lstrip("/")

    def _get_dirs(self) -> None:
        if self.dir_cache is not None:
            return
        sizes, folders = self.store.sizes(), self.store.folders()
        found: dict[str, dict[str, Any]] = {}
        for folder in {*self._all_dirnames([*sizes, *(folder + "/x" for folder in folders)])}:
            found[folder] = {"name": folder, "size": 0, "type": "directory"}
            mode, modified = folders.get(folder, (None, None))
            if mode is not None:
                found[folder]["mode"] = mode
            if modified is not None:
                found[folder]["mtime"] = modified / 1e9
        for name, size in sizes.items():
            found[name] = {"name": name, "size": size, "type": "file"}
        self.dir_cache = found

    def _file(self, path: str) -> tuple[str, int]:
        """The name and size of a file."""
        name = self._strip_protocol(path)
        try:
            return name, self.store.size(name)
        except NotFoundError:
            if self.isdir(name):
                raise IsADirectoryError(f"{name}: is a folder") from None
            raise

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> Any:
        if mode != "rb":
            raise OSError(f"{path}: packs are read-only here; seekless.pack() makes them")
        name, size = self._file(path)
        if size <= WHOLE_BYTES_MAX:
            return io.BufferedReader(_Whole(name, self.store.load(name)))
        parts: Any = _Parts  # its types are wrong in fsspec
        return parts(
            self, name, mode, block_size or 1 << 20, cache_options=cache_options, size=size
        )

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """The bytes of a file, or of a part of it."""
        name, size = self._file(path)
        if start is None and end is None:
            return bytes(self.store.load(name))
        start, end, _step = slice(start, end).indices(size)
        return bytes(self.store.read_range(name, start, end))

    def cat(
        self, path: Any, recursive: bool = False, on_error: str = "raise", **options: Any
    ) -> Any:
        """The bytes of files; those of a list are planned together."""
        paths = self.expand_path(path, recursive=recursive)
        if isinstance(path, str) and not recursive and paths == [self._strip_protocol(path)]:
            return self.cat_file(path, **options)
        if on_error != "raise":
            return super().cat(path, recursive=recursive, on_error=on_error, **options)
        names = [name for name in paths if not self.isdir(name)]
        return {name: bytes(content) for name, content in zip(names, self.store.load_all(names))}

    def ukey(self, path: str) -> str:
        """A key that changes with a file: its size, and the device, inode, size and times of
        the packs as they were opened; of loose files as they are now."""
        name, size = self._file(path)
        loose = [
            _identity(os.path.join(source, name))
            for source in self._identities
            if os.path.isdir(source)
        ]
        return f"{self.store.paths}:{list(self._identities.values())}:{loose}:{name}:{size}"

    def checksum(self, path: str) -> int:
        """:meth:`ukey` as a number."""
        return int(tokenize(self.ukey(path)), 16)

    def close(self) -> None:
        """Ends the store's threads."""
        self.store.close()


def _identity(path: str) -> str:
    """Which file it is, and when it was last written to, to the nanosecond."""
    try:
        found = os.stat(path)
    except OSError:
        return "none"
    times = (found.st_mtime_ns, found.st_ctime_ns)
    return f"{found.st_dev}:{found.st_ino}:{found.st_size}:{times[0]}:{times[1]}"


class _Whole(io.RawIOBase):
    """A file whose content is in memory, which is not copied but for what is read."""

    def __init__(self, name: str, content: memoryview) -> None:
        self.name = name
        self._content = content
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._content[self._at : self._at + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)

    def readall(self) -> bytes:
        part = bytes(self._content[self._at :])
        self._at = max(self._at, len(self._content))
        return part

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._content)}[whence]
        if base + offset < 0:
            # As files of the system do; zipfile.is_zipfile() goes by it.
            why = f"cannot go to {base + offset}, before its start"
            raise OSError(errno.EINVAL, why, self.name)
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        return self._at


class _Parts(AbstractBufferedFile):
    """A large file, read in parts."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        return bytes(self.fs.store.read_range(self.path, start, end))
