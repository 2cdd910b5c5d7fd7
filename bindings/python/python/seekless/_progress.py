"""Progress of calls that take over a second: by tqdm where it is installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Union

#: What is done, and what there is in all.
Callback = Callable[[int, int], None]

#: None: a bar where somebody looks; False: none; or a function that is called with both numbers.
Progress = Union[Callback, bool, None]

#: Shorter calls show no bar.
PATIENCE_SECONDS = 1.0


@contextmanager
def shown(what: str, progress: Progress) -> Iterator[Callback | None]:
    """The function to call with the progress of ``what``."""
    if callable(progress):
        yield progress
        return
    bar = _Bar(what)
    try:
        yield bar.set if progress or (progress is None and _is_watched()) else None
    finally:
        bar.close()


def _is_watched() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


class _Bar:
    def __init__(self, what: str) -> None:
        self._what = what
        self._began = time.monotonic()
        self._bar: Any = None

    def set(self, done: int, total: int) -> None:
        if self._bar is None:
            if time.monotonic() - self._began < PATIENCE_SECONDS:
                return
            try:
                from tqdm.auto import tqdm
            except ImportError:
                self._bar = False
                return
            self._bar = tqdm(desc=self._what, total=total, unit_scale=True, leave=False)
        if self._bar is not False:
            self._bar.total = total
            self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar:
            self._bar.close()
