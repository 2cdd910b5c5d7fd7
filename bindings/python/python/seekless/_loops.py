"""Loads for asyncio: one descriptor an event loop wakes it when loads have arrived."""

from __future__ import annotations

import asyncio
import weakref

from . import _seekless


class Bridge:
    """The loads of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._arrivals = _seekless.Arrivals()
        self._waiting: dict[int, asyncio.Future[memoryview]] = {}
        loop.add_reader(self._arrivals.fileno(), self._take)

    async def load(self, store: _seekless.Store, name: str) -> memoryview:
        content, ticket = self._arrivals.begin(store, name)
        if content is not None:
            return content
        future: asyncio.Future[memoryview] = asyncio.get_running_loop().create_future()
        self._waiting[ticket] = future
        try:
            return await future
        finally:
            del self._waiting[ticket]
            if future.cancelled():
                self._arrivals.forget(ticket)

    def _take(self) -> None:
        for ticket, content, error in self._arrivals.take():
            future = self._waiting.get(ticket)
            if future is None or future.done():
                continue
            if error is not None:
                future.set_exception(error)
            elif content is not None:
                future.set_result(content)


_bridges: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Bridge] = weakref.WeakKeyDictionary()


def bridge(loop: asyncio.AbstractEventLoop) -> Bridge:
    """The bridge of a loop."""
    known = _bridges.get(loop)
    if known is None:
        known = _bridges[loop] = Bridge(loop)
    return known
