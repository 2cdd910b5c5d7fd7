"""The extension. Use the package :mod:`seekless`, which explains it."""

from collections.abc import Callable, Iterator
from typing import Any, TypedDict

version: str

class ImportOptions(TypedDict):
    format: str | None
    columns: str | None
    ops: str | None
    binary: str | None
    delimiter: str
    header: bool
    lenient: bool

ReadingOptions = TypedDict(
    "ReadingOptions",
    {
        "unit": str | None,
        "unit_weights": bool,
        "lines": str | None,
        "memory": int | None,
        "import": ImportOptions,
    },
)

class TimeOptions(TypedDict):
    device: str
    readahead: list[str]
    readahead_max: str
    readahead_lead: str
    think: str
    arrivals: bool

class PackOptions(TypedDict):
    order: list[str]
    method: str
    device: str | None
    codec: str
    exclude: list[str]
    links: str
    strict: bool
    verify: bool
    prediction: bool
    references: bool
    force: bool

class PageCacheSettings(TypedDict):
    cache: int
    policy: str
    readahead: str
    window: int
    direct: bool

class StoreSettings(TypedDict):
    paths: list[str]
    cache: int
    policy: str
    direct: bool
    predict: bool
    workers: int | None
    read_ahead_cache: int | None
    window: int | None
    max_entry_bytes: int | None
    beyond_cache: int | None
    names: str | None
    device: str | None

_Progress = Callable[[int, int], None] | None

class Table:
    @staticmethod
    def share(table: Any) -> Table: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def nbytes(self) -> int: ...
    def column(self, name: str) -> list[Any]: ...

class Cache:
    """A cache whose policy decides with the simulator's and the store's own code, request by
    request. It holds no bytes. Ids are any hashable objects.

    >>> cache = seekless.Cache("s3-fifo", 1000)
    >>> cache.request("a.html", weight=300)      # False: a miss
    >>> cache.victims                            # what it pushed out

    ``capacity`` and weights are in any unit. Raises UsageError for a policy that is unknown, or
    that must know the future."""

    def __init__(self, policy: str, capacity: int) -> None: ...
    def request(self, id: object, weight: int = 1) -> bool:
        """Whether ``id`` is in the cache; if not, it comes in, unless it is too large."""
    def remove(self, id: object) -> bool:
        """Takes ``id`` out; True if it was there."""
    def __contains__(self, id: object) -> bool: ...
    @property
    def victims(self) -> list[Any]:
        """The ids that the last request pushed out."""
    @property
    def policy(self) -> str:
        """The policy's name."""
    @property
    def capacity(self) -> int:
        """Units of weight that may be in the cache."""
    @property
    def used(self) -> int:
        """The weight of what is in the cache."""

class PageCache:
    def __init__(self, settings: PageCacheSettings) -> None: ...
    def open(self, path: str) -> PageCacheFile: ...

class PageCacheFile:
    def read_at(self, offset: int, bytes: int) -> bytes: ...
    def size(self) -> int: ...
    def close(self) -> None: ...

class Following:
    def take(self, names: list[str]) -> list[memoryview]: ...

class LoadMany:
    def __iter__(self) -> Iterator[tuple[str, memoryview]]: ...
    def __next__(self) -> tuple[str, memoryview]: ...
    def __length_hint__(self) -> int: ...

class Requests:
    def __init__(
        self, traces: list[str], reading: ReadingOptions, progress: _Progress = None
    ) -> None: ...
    def simulate(self, policies: list[str], capacities: list[int | str]) -> Table: ...
    def sampled(
        self, policies: list[str], capacities: list[int | str], sample: float | int, seed: int
    ) -> Table: ...
    def __len__(self) -> int: ...

class Store:
    def __init__(self, settings: StoreSettings) -> None: ...
    def load(self, name: str) -> memoryview: ...
    def left_out(self) -> list[str]: ...
    def folders(self) -> list[tuple[str, int | None, int | None]]: ...
    def read_range(self, name: str, start: int, stop: int) -> memoryview: ...
    def load_all(self, names: list[str]) -> list[memoryview]: ...
    def load_many(self, names: list[str]) -> LoadMany: ...
    def will_load(self, names: list[str]) -> None: ...
    def follow(self, names: list[str]) -> Following: ...
    def bytes(self, name: str) -> int: ...
    def names(self) -> list[tuple[str, int]]: ...
    def __len__(self) -> int: ...
    def __contains__(self, name: str) -> bool: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def statistics(self) -> dict[str, Any]: ...

class Arrivals:
    def __init__(self) -> None: ...
    def fileno(self) -> int: ...
    def begin(self, store: Store, name: str) -> tuple[memoryview | None, int]: ...
    def take(self) -> list[tuple[int, memoryview | None, BaseException | None]]: ...
    def forget(self, ticket: int) -> None: ...

def after_fork() -> None: ...
def parse_bytes(text: str) -> int: ...
def shuffled(
    count: int, seed: int, number: int, groups: tuple[list[int], int, int] | None = None
) -> list[int]: ...
def policies() -> list[tuple[str, str, str]]: ...
def simulate(
    traces: list[str],
    policies: list[Any],
    capacities: list[int | str],
    reading: ReadingOptions,
    write_back: str = "evict",
    fetch_on_write: bool = False,
    changed: str = "hit",
    progress: _Progress = None,
) -> Table: ...
def simulate_timed(
    traces: list[str],
    policies: list[str],
    capacities: list[int | str],
    reading: ReadingOptions,
    time: TimeOptions,
    progress: _Progress = None,
) -> Table: ...
def curve(
    traces: list[str],
    policies: list[str],
    reading: ReadingOptions,
    points: int = 50,
    sample: float | int | None = None,
    stack: bool = False,
    seed: int = 0,
    progress: _Progress = None,
) -> Table: ...
def trace_table(path: str, reading: ImportOptions, progress: _Progress = None) -> Table: ...
def trace_info(path: str, reading: ImportOptions, progress: _Progress = None) -> str: ...
def import_files(
    files: list[str],
    out: str,
    reading: ImportOptions,
    force: bool = False,
    progress: _Progress = None,
) -> str: ...
def import_table(
    table: Any, name: str, out: str, force: bool = False, progress: _Progress = None
) -> str: ...
def pack(
    directory: str, out: str, traces: list[str], options: PackOptions, progress: _Progress = None
) -> str: ...
def record(
    command: list[str], output: str, only: list[str], exclude: list[str], special: bool, force: bool
) -> dict[str, Any]: ...
