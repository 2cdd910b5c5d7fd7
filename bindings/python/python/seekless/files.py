"""Large files, read through a page cache with a readahead of ours."""

from __future__ import annotations

import io
import os
from typing import Any

from . import _seekless
from .errors import UsageError
from .packs import Bytes, _bytes
from .traces import PathLike

#: Bytes of a reader's own buffer.
BUFFER_BYTES = 128 << 10


class PageCache:
    """A cache of pages beside the system's, for files larger than memory or read out of order.

    What is read goes past the system's page cache, and other files do not push it out. The
    readahead sees what the program does: it fetches ahead of backward, strided and interleaved
    reads, too, which Linux's does not. Any thread may open and read files.

    - ``cache``: memory for pages and for reads under way, in bytes or as ``"64MiB"``.
    - ``policy``: what leaves the cache (:func:`seekless.policies`).
    - ``readahead``: ``"streams"``, ``"linux"``, ``"none"`` or another that ``seekless sim
      --readahead`` takes; ``window``: the most that it fetches at once.
    - ``direct``: read past the system's page cache where the file system allows it.

    Raises UsageError for a policy or readahead that is unknown, or fewer than 64 KiB.

    >>> cache = seekless.PageCache(cache="256MiB")
    >>> with cache.open("huge.bin") as file:
    ...     file.seek(-100, os.SEEK_END)
    ...     end = file.read()
    """

    def __init__(
        self,
        cache: Bytes = "64MiB",
        *,
        policy: str = "lru",
        readahead: str = "streams",
        window: Bytes = "8MiB",
        direct: bool = True,
    ) -> None:
        self._settings: _seekless.PageCacheSettings = {
            "cache": _bytes(cache) or 0,
            "policy": policy,
            "readahead": readahead,
            "window": _bytes(window) or 0,
            "direct": direct,
        }
        self._cache = _seekless.PageCache(self._settings)

    def open(self, path: PathLike, *, buffering: int = BUFFER_BYTES) -> io.BufferedReader:
        """Opens a file for reading. ``buffering`` are the bytes of the reader's own buffer.

        Raises NotFoundError or DeniedError as :func:`open` would.
        """
        if buffering < 1:
            raise UsageError("buffering: give at least 1 byte")
        name = os.fspath(path)
        return io.BufferedReader(_Raw(self._cache.open(name), name), buffering)

    def __repr__(self) -> str:
        words = ", ".join(f"{name}={value!r}" for name, value in self._settings.items())
        return f"PageCache({words})"

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self._settings,)


def _made(settings: _seekless.PageCacheSettings) -> PageCache:
    return PageCache(**settings)


class _Raw(io.RawIOBase):
    """An open file with a position, as :class:`io.BufferedReader` takes it."""

    def __init__(self, file: _seekless.PageCacheFile, name: str) -> None:
        super().__init__()
        self.name = name
        self._file = file
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        content = self._file.read_at(self._position, len(view))
        view[: len(content)] = content
        self._position += len(content)
        return len(content)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if self.closed:
            raise ValueError("seek of a closed file")
        bases = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}
        base = self._file.size() if whence == os.SEEK_END else bases.get(whence)
        if base is None:
            raise ValueError(f"whence is {whence}: it must be 0, 1 or 2")
        if base + offset < 0:
            raise OSError(22, "a seek to before the file's beginning", self.name)
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


_shared: PageCache | None = None


def open_file(
    path: PathLike, *, cache: PageCache | None = None, buffering: int = BUFFER_BYTES
) -> io.BufferedReader:
    """Opens a file for reading through ``cache``, or through one of 64 MiB that all such calls
    share: see :class:`PageCache`.

    >>> with seekless.open_file("huge.log") as file:
    ...     newest = file.seek(-4096, 2) and file.read()
    """
    global _shared
    if cache is None:
        _shared = cache = _shared or PageCache()
    return cache.open(path, buffering=buffering)
