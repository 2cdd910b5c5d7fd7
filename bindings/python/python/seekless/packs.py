"""Packs: ordered Zips, and stores that load files from them."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Union

from . import _loops, _seekless
from ._progress import Progress, shown
from ._words import format_bytes, html_table
from .errors import UsageError
from .traces import PathLike, Traces, opened

#: Bytes, or text such as "64MiB".
Bytes = Union[int, str]


def _bytes(value: Bytes | None) -> int | None:
    return _seekless.parse_bytes(value) if isinstance(value, str) else value


class Packed(dict[str, Any]):
    """What was packed: ``entries``, ``bytes`` of content, ``archive_bytes``, what was left out."""

    def _repr_html_(self) -> str:
        rows = [
            ["entries", f"{self['entries']:,}"],
            ["content", format_bytes(self["bytes"])],
            ["the pack", format_bytes(self["archive_bytes"])],
            ["left out", f"{self['left_out']['count']:,}"],
        ]
        return html_table(["pack", ""], rows)


def pack(
    directory: PathLike,
    out: PathLike,
    traces: Traces = (),
    *,
    order: Iterable[str] = (),
    method: str = "best",
    device: str | None = None,
    codec: str = "auto",
    exclude: Sequence[str] = (),
    links: str = "follow",
    strict: bool = False,
    verify: bool = False,
    prediction: bool = True,
    references: bool = True,
    force: bool = False,
    progress: Progress = None,
) -> Packed:
    """Packs a folder into an ordered Zip, which any tool opens. It appears whole or not at all.

    The files lie in the order in which ``traces`` read them (the last trace is the newest), or as
    ``order`` lists them, or else by name. ``codec`` is ``"auto"``, ``"stored"``, ``"deflate"`` or
    ``"zstd"``; ``exclude`` are globs; with ``verify`` the pack is read back. With traces the pack
    also says what they load, for stores that read ahead, unless ``prediction`` is False. Unless
    ``references`` is False, files are looked through for names of others: what no trace has loaded
    lies behind what names it, and is read ahead.

    With ``links="follow"`` a symbolic link is packed as what it leads to, which must lie in the
    folder too; with ``"keep"`` as a link, wherever it leads. ``unzip`` and ``mount`` restore it. A
    store loads what it leads to in the pack, and nothing outside.

    Raises ExistsError if ``out`` is there, unless ``force``; NotFoundError if there is no such
    folder; UsageError if a trace and the folder have no file in common.

    >>> seekless.pack("data", "data.zip", traces=["run.parquet"])
    """
    paths = [trace.path for trace in opened(traces)]
    options: _seekless.PackOptions = {
        "order": list(order),
        "method": method,
        "device": device,
        "codec": codec,
        "exclude": list(exclude),
        "links": links,
        "strict": strict,
        "verify": verify,
        "prediction": prediction,
        "references": references,
        "force": force,
    }
    with shown("Packing", progress) as tell:
        return Packed(
            json.loads(_seekless.pack(os.fspath(directory), os.fspath(out), paths, options, tell))
        )


class Store:
    """Loads files from packs, from any other Zip and from folders, through a cache.

    Of files that several sources have under one name, the last source's is loaded. Contents are
    read-only ``memoryview`` of the cache's own memory: ``numpy.frombuffer(view, "u1")`` and
    ``io.BytesIO(view)`` take them, ``bytes(view)`` copies. A view stays valid as long as it lives,
    also when the cache has released the file and when the store is closed.

    Any thread may load. A store is pickled by its paths and settings, and opened again where it
    arrives; in the child of a fork it opens itself again with its first load.

    - ``cache``: what is kept between loads, in bytes or as ``"64MiB"``.
    - ``policy``: what leaves the cache (:func:`seekless.policies`); ``"belady"`` evicts by the
      order that :meth:`will_load` gives.
    - ``direct``: read past the system's page cache where the file system allows it.
    - ``predict``: read ahead what a pack says its program loads next.
    - ``workers``: threads that decode; by default as many as there are cores.
    - ``read_ahead_cache``: bytes for files that came with others; a part of the cache by default.
    - ``window``: bytes that :meth:`load_many` reads ahead of its caller, beside the cache; by
      default 64 MiB, or 256 MiB where requests are dear.
    - ``max_entry_bytes``: larger files are refused (1 GiB), so that a small archive cannot ask for
      all memory. ``beyond_cache``: bytes that may be held beyond the cache.
    - ``names``: the characters of names that an archive does not say to be UTF-8, such as
      ``"cp932"``; by default UTF-8 where they are that, else ``"cp437"``.
    - ``device``: what the device charges, as ``"iops=3000,bandwidth=125MB/s"``; without it the
      store learns it from its reads.

    Raises NotFoundError if a source is not there, CorruptError if it is no Zip or a hostile one.

    >>> with seekless.Store("data.zip", cache="256MiB") as store:
    ...     pixels = numpy.frombuffer(store.load("art/wall.dds"), "u1")
    """

    def __init__(
        self,
        *paths: PathLike,
        cache: Bytes = "64MiB",
        policy: str = "landlord",
        direct: bool = True,
        predict: bool = True,
        workers: int | None = None,
        read_ahead_cache: Bytes | None = None,
        window: Bytes | None = None,
        max_entry_bytes: Bytes | None = None,
        beyond_cache: Bytes | None = None,
        names: str | None = None,
        device: str | None = None,
    ) -> None:
        self.paths = tuple(os.fspath(path) for path in paths)
        self._options: dict[str, Any] = {
            "cache": cache,
            "policy": policy,
            "direct": direct,
            "predict": predict,
            "workers": workers,
            "read_ahead_cache": read_ahead_cache,
            "window": window,
            "max_entry_bytes": max_entry_bytes,
            "beyond_cache": beyond_cache,
            "names": names,
            "device": device,
        }
        cache_bytes = _bytes(cache)
        assert cache_bytes is not None
        settings: _seekless.StoreSettings = {
            "paths": list(self.paths),
            "cache": cache_bytes,
            "policy": policy,
            "direct": direct,
            "predict": predict,
            "workers": workers,
            "read_ahead_cache": _bytes(read_ahead_cache),
            "window": _bytes(window),
            "max_entry_bytes": _bytes(max_entry_bytes),
            "beyond_cache": _bytes(beyond_cache),
            "names": names,
            "device": device,
        }
        self._store = _seekless.Store(settings)

    def load(self, name: str) -> memoryview:
        """The content of a file: a read-only view, which is not a copy.

        Raises NotFoundError, LimitError if it is larger than allowed, CorruptError if its bytes are
        not what the pack's directory says, SystemFailure if the read failed."""
        return self._store.load(name)

    def load_many(self, names: Iterable[str]) -> Iterator[tuple[str, memoryview]]:
        """Loads files, and yields ``(name, content)`` as they arrive. Reading runs ahead of the
        caller by a window, and neighbours in the pack become one read. A file that cannot be loaded
        raises in its place; the others follow if the caller goes on."""
        return self._store.load_many(list(names))

    def load_all(self, names: Iterable[str]) -> list[memoryview]:
        """As :meth:`load_many`, all at once and in the order of ``names``."""
        return self._store.load_all(list(names))

    def will_load(self, names: Iterable[str]) -> None:
        """Says in which order files will be loaded, in place of all that was said before. A store
        with the policy ``"belady"`` evicts by it: what is needed last leaves first. Loads that
        differ are right all the same. Raises NotFoundError for a name that is not there.

        >>> store.will_load(this_epoch + next_epoch)
        """
        self._store.will_load(list(names))

    def follow(self, names: Iterable[str]) -> _seekless.Following:
        """Loads files in this order, ahead of a program that takes them in about the same: the
        result's ``take(names)`` gives the contents of some, in the order asked for, in any thread.
        Reading runs ahead by ``window`` bytes. Raises NotFoundError for a name that is not there.
        """
        return self._store.follow(list(names))

    def read_range(self, name: str, start: int, stop: int) -> memoryview:
        """The bytes from ``start`` up to ``stop``, cut at the file's end. Of a stored entry only
        these are read, and not kept; of a deflated one of over 4 MiB in a pack that Seekless
        made, the chunks of 1 MiB that hold them. Another is loaded whole, if the cache can keep
        it; if not, it is decoded as a stream, in memory for these bytes alone."""
        if start < 0 or stop < 0:
            raise UsageError(f"{name}: a range is of bytes from 0 on, not {start} to {stop}")
        return self._store.read_range(name, start, stop)

    async def aload(self, name: str) -> memoryview:
        """As :meth:`load`, for asyncio: many loads at once need no threads.

        >>> contents = await asyncio.gather(*(store.aload(name) for name in names))
        """
        return await _loops.bridge(asyncio.get_running_loop()).load(self._store, name)

    def size(self, name: str) -> int:
        """The bytes of a file. Raises NotFoundError."""
        return self._store.bytes(name)

    def names(self) -> list[str]:
        """The names of all files, in the order of the pack."""
        return [name for name, _ in self._store.names()]

    def sizes(self) -> dict[str, int]:
        """The bytes of each file, by name, in the order of the pack."""
        return dict(self._store.names())

    def folders(self) -> dict[str, tuple[int | None, int | None]]:
        """The folders that have entries of their own, by path: the Unix mode, and the time of
        modification in nanoseconds since 1970, each None where the archive does not say."""
        found = self._store.folders()
        return {name.rstrip("/"): (mode, modified) for name, mode, modified in found}

    def left_out(self) -> list[str]:
        """What is left out of archives, a text for each that has such entries: names that no file
        can have, names that occur again, bytes behind the end."""
        return self._store.left_out()

    def statistics(self) -> dict[str, Any]:
        """How the loads were served since the store was opened: ``hits``, ``misses``,
        ``read_bytes``, ``device_requests``, ... Bytes and nanoseconds. ``request_ns`` and
        ``bytes_per_second`` are what the store takes its device to charge, and ``costs_source``
        says how it knows: ``"given"``, ``"probed"``, ``"estimated"`` or ``"assumed"``."""
        return self._store.statistics()

    def close(self) -> None:
        """Ends the store's threads. Views stay valid."""
        self._store.close()

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self._store.closed

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._store)

    def __contains__(self, name: str) -> bool:
        return name in self._store

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __reduce__(self) -> tuple[Any, ...]:
        return _store, (self.paths, self._options)

    def __repr__(self) -> str:
        return f"seekless.Store({', '.join(map(repr, self.paths))})"

    def _repr_html_(self) -> str:
        if self.closed:
            return html_table(["store", ", ".join(self.paths)], [["closed", ""]])
        said = self.statistics()
        rows = [
            ["files", f"{len(self):,}"],
            ["loads that hit", f"{said['hits'] + said['revived']:,}"],
            ["that missed", f"{said['misses'] + said['bypassed']:,}"],
            ["delivered", format_bytes(said["delivered_bytes"])],
            ["read", format_bytes(said["device_bytes"])],
            ["requests to the device", f"{said['device_requests']:,}"],
        ]
        return html_table(["store", ", ".join(self.paths)], rows)


def _store(paths: tuple[str, ...], options: dict[str, Any]) -> Store:
    return Store(*paths, **options)
