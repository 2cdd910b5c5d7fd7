"""Training sets: the files of a pack for PyTorch's loader, in an order that the store knows.

A sampler gives the store the order of this epoch and of the next. So each file is read ahead
exactly when it is needed, and the cache evicts the file needed last (Belady's rule): with a cache
of a quarter of the bytes, later epochs read three quarters of them, and any order is a true
random permutation. An LRU cache of that size reads about 97 % in such epochs.

>>> dataset = seekless.training.Dataset("data.zip", cache="25%", transform=decode)
>>> sampler = seekless.training.SeededSampler(dataset, seed=1)
>>> loader = torch.utils.data.DataLoader(dataset, batch_size=256, sampler=sampler, num_workers=2)
>>> for epoch in range(90):
...     for batch in loader: ...

This module imports nothing of PyTorch: any loader of map-style data sets will do."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import _seekless
from ._sharing import Asking, Serving
from .errors import UsageError
from .packs import Bytes, Store, _bytes
from .traces import PathLike


class _Source:
    """The store, and the files of this epoch that are read ahead."""

    def __init__(self, store: Store, names: Sequence[str]) -> None:
        self.store = store
        self._names = names
        self._following: _seekless.Following | None = None

    def plan(self, order: Sequence[int], following: Sequence[int]) -> None:
        names = [self._names[number] for number in order]
        self._following = None  # what it had begun to read ends before the next begins
        self.store.will_load(names + [self._names[number] for number in following])
        self._following = self.store.follow(names)

    def load(self, numbers: Sequence[int]) -> list[memoryview]:
        names = [self._names[number] for number in numbers]
        following = self._following
        return self.store.load_all(names) if following is None else following.take(names)


class Dataset:
    """The files of packs, Zips and folders as a map-style data set: ``dataset[i]`` is the ``i``-th
    file in the order of the pack, and a whole batch is one planned load.

    It has one store, in the process that makes it. Workers of a loader, forked or spawned, ask that
    process, which hands them the contents of a batch in shared memory: all have one cache, and the
    store sees the order of all loads. The data set is pickled without the store; what is unpickled
    asks too.

    - ``paths``: as for :class:`seekless.Store`.
    - ``transform``: ``transform(name, content)`` makes a sample, in the worker. ``content`` is a
      read-only ``memoryview``, valid as long as it lives, which cannot be sent to another process.
      Without it a sample is the content as ``bytes``.
    - ``names``: the files, in an order of yours; by default all, in the order of the pack.
    - ``cache``: bytes, or ``"64MiB"``, or a share of the content such as ``"25%"``.
    - ``window``: bytes that are read ahead, beside the cache; by default 64 MiB.
    - ``device``, ``direct``, ``workers``, ``max_entry_bytes``, ``beyond_cache``: as for
      :class:`seekless.Store`.

    Raises NotFoundError for a source or a name that is not there, CorruptError for what is no Zip,
    UsageError for a cache that makes no sense.
    """

    def __init__(
        self,
        *paths: PathLike,
        transform: Callable[[str, memoryview], Any] | None = None,
        names: Sequence[str] | None = None,
        cache: Bytes = "25%",
        window: Bytes | None = None,
        direct: bool = True,
        workers: int | None = None,
        max_entry_bytes: Bytes | None = None,
        beyond_cache: Bytes | None = None,
        device: str | None = None,
    ) -> None:
        with Store(*paths, cache=0, predict=False, workers=1) as whole:
            sizes = whole.sizes()
            self.names = list(sizes) if names is None else list(names)
            self.sizes = [sizes[name] if name in sizes else whole.size(name) for name in self.names]
        store = Store(
            *paths,
            cache=_cache_bytes(cache, sum(self.sizes)),
            policy="belady",
            # The order is known: what was not asked for is not read.
            predict=False,
            read_ahead_cache=0,
            window=window,
            direct=direct,
            workers=workers,
            max_entry_bytes=max_entry_bytes,
            beyond_cache=beyond_cache,
            device=device,
        )
        self.transform = transform
        self._source: _Source | None = _Source(store, self.names)
        self._serving: Serving | None = Serving(self._source)
        self._address = self._serving.address
        self._process = os.getpid()
        self._asking: Asking | None = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Any:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """The samples of a batch, in the order of ``indices``; PyTorch's loader calls it.

        Raises IndexError, CorruptError or SystemFailure if a file cannot be read, and what
        ``transform`` raises."""
        numbers = [self._number(index) for index in indices]
        contents = self._served().load(numbers)
        if self.transform is None:
            return [bytes(content) for content in contents]
        return [
            self.transform(self.names[number], content)
            for number, content in zip(numbers, contents)
        ]

    def plan(self, order: Sequence[int], following: Sequence[int] = ()) -> None:
        """Says that the files of ``order`` are loaded next, and then those of ``following``, as a
        :class:`SeededSampler` does. Loads of ``order`` are read ahead by the window from now on.
        Replaces what was said before. Loads in another order are right, and slower."""
        numbers = [self._number(index) for index in order]
        self._served().plan(numbers, [self._number(index) for index in following])

    def statistics(self) -> dict[str, Any]:
        """The store's figures: :meth:`seekless.Store.statistics`. Only where the store is."""
        if self._source is None or os.getpid() != self._process:
            raise UsageError("statistics: ask in the process that made the data set")
        return self._source.store.statistics()

    def close(self) -> None:
        """Ends the store, for the workers too. Contents stay valid. In other processes it does
        nothing."""
        if self._serving is not None and os.getpid() == self._process:
            self._serving.close()
            assert self._source is not None
            self._source.store.close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _number(self, index: int) -> int:
        number = index + len(self.names) if index < 0 else index
        if not 0 <= number < len(self.names):
            raise IndexError(f"{index}: the data set has {len(self.names)} files")
        return int(number)

    def _served(self) -> _Source | Asking:
        """The store if this process has it, else the way to it."""
        with self._lock:
            if os.getpid() != self._process:
                if self._serving is not None:
                    self._serving.leave()
                self._asking, self._process = None, os.getpid()
                self._serving = self._source = None
            if self._source is not None:
                return self._source
            if self._asking is None:
                self._asking = Asking(self._address)
            return self._asking

    def __getstate__(self) -> dict[str, Any]:
        left = {"_source": None, "_serving": None, "_asking": None, "_lock": None}
        return {**self.__dict__, **left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"<seekless.training.Dataset: {len(self)} files>"


def _cache_bytes(cache: Bytes, content: int) -> int:
    if isinstance(cache, str) and cache.strip().endswith("%"):
        try:
            share = float(cache.strip()[:-1]) / 100
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise UsageError(f"cache: {cache!r} is no share of the content; give 0% to 100%")
        return int(share * content)
    found = _bytes(cache)
    assert found is not None
    return found


class SeededSampler:
    """The orders of the epochs: in each, every file once, in a permutation that follows from
    ``seed`` and the number of the epoch alone, on every machine. Each call of ``iter`` begins the
    next epoch, and gives the data set its order and that of the epoch after it.

    - ``groups``: without it every permutation is equally likely. With bytes such as ``"4MiB"``,
      neighbours in the pack of that many bytes are a group; the groups come in any order, and the
      files of ``mixed`` groups at a time are shuffled together. That saves requests, for volumes
      that charge for each; docs/how-to/python.md says how many, and what it does to randomness.
    - ``epochs``: how many there are; so the last need not keep anything for a next one.
    - ``rank``, ``world_size``: this process is one of those that share each epoch. By default as
      ``torch.distributed`` says if it was begun, else as RANK and WORLD_SIZE in the environment
      do, which torchrun sets, else alone. Each gets a part of the epoch's order in one piece, all
      equally many files: the last parts are filled up with the first files of the order, or with
      ``drop_last`` left-over files come in no part.

    It is resumable: :meth:`state_dict` and :meth:`load_state_dict`."""

    def __init__(
        self,
        dataset: Dataset,
        seed: int = 0,
        *,
        groups: Bytes | None = None,
        mixed: int = 8,
        epochs: int | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        drop_last: bool = False,
    ) -> None:
        if mixed < 1:
            raise UsageError(f"mixed: at least 1 group, not {mixed}")
        #: Which process this is, and of how many.
        self.rank, self.world_size = _place(rank, world_size)
        self.drop_last = drop_last
        self.dataset = dataset
        self.seed = seed
        self.epochs = epochs
        group_bytes = _bytes(groups)
        self._groups = None if group_bytes is None else (dataset.sizes, group_bytes, mixed)
        #: Epoch and position of the next call of ``iter``.
        self._next = (0, 0)
        #: Those of the sample that comes next, after those that were given.
        self._now = (0, 0)

    def order(self, epoch: int) -> list[int]:
        """This process's part of the order of an epoch, from 0."""
        whole = _seekless.shuffled(len(self.dataset), self.seed % 2**64, epoch, self._groups)
        count = self._share()
        places = range(self.rank * count, (self.rank + 1) * count)
        return [whole[place % len(whole)] for place in places]

    def _share(self) -> int:
        """How many files of an epoch this process gets."""
        files = len(self.dataset) if self.drop_last else len(self.dataset) + self.world_size - 1
        return files // self.world_size

    def __len__(self) -> int:
        """Samples of the epoch that the next call of ``iter`` gives."""
        return self._share() - self._next[1]

    def __iter__(self) -> Iterator[int]:
        epoch, start = self._next
        self._next = (epoch + 1, 0)
        order = self.order(epoch)[start:]
        is_last = self.epochs is not None and epoch + 1 >= self.epochs
        self.dataset.plan(order, [] if is_last else self.order(epoch + 1))
        return self._given(order, epoch, start)

    def _given(self, order: list[int], epoch: int, start: int) -> Iterator[int]:
        self._now = (epoch, start)
        for at, number in enumerate(order, start + 1):
            self._now = (epoch, at)
            yield number
        self._now = (epoch + 1, 0)

    def set_epoch(self, epoch: int) -> None:
        """The next call of ``iter`` begins this epoch."""
        self._next = self._now = (epoch, 0)

    def state_dict(self, position: int | None = None) -> dict[str, int]:
        """Where it is: ``seed``, ``epoch``, and ``position``, the samples of the epoch that were
        given. A loader with workers runs ahead of the program: there say how many samples of the
        epoch it has used."""
        epoch, given = self._now
        return {
            "seed": self.seed,
            "epoch": epoch,
            "position": given if position is None else position,
        }

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Goes on there with the next call of ``iter``."""
        if not 0 <= state["position"] <= self._share():
            raise UsageError(
                f"position: {state['position']} is not in an epoch of {self._share()} files"
            )
        self.seed = state["seed"]
        self._next = self._now = (state["epoch"], state["position"])


def _place(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """Which process this is, and of how many."""
    if (rank is None) != (world_size is None):
        raise UsageError("rank and world_size: give both or neither")
    if rank is None or world_size is None:
        rank, world_size = _place_here()
    if not 0 <= rank < world_size:
        raise UsageError(f"rank: 0 to {world_size - 1} in a world of {world_size}, not {rank}")
    return rank, world_size


def _place_here() -> tuple[int, int]:
    """As PyTorch knows it, if the program uses that, or as the environment says."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.distributed.is_available():
        if torch.distributed.is_initialized():
            return torch.distributed.get_rank(), torch.distributed.get_world_size()
    said = [os.environ.get(name, "") for name in ("RANK", "WORLD_SIZE")]
    if not all(said):
        return 0, 1
    try:
        return int(said[0]), int(said[1])
    except ValueError:
        raise UsageError(f"RANK={said[0]}, WORLD_SIZE={said[1]}: these are no numbers") from None
