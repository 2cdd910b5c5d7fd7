"""One store for all processes of a machine that train on it.

The process that opened the store serves it: a thread for each connection over a Unix socket, which
only its user may connect to. An answer is a file in memory with the contents of a whole batch,
copied once. The asking process maps it; it goes when the last view of it does.

A store in each worker would split the cache, and none of them would see the order of all loads."""

from __future__ import annotations

import array
import mmap
import os
import pickle
import shutil
import socket
import struct
import tempfile
import threading
import weakref
from collections.abc import Sequence
from typing import Any, Protocol

from .errors import SystemFailure

#: Of a question: its kind, and how many numbers follow. Of an answer: its kind, and how many
#: numbers, or bytes of an error, follow.
HEADER = struct.Struct("<cQ")

LOAD, PLAN = b"L", b"P"
CONTENTS, ERROR = b"C", b"E"

#: Most pieces of one write.
PIECES_MAX = 1024

#: Longest address of a Unix socket that every system takes.
ADDRESS_MAX = 100


class Served(Protocol):
    """What is served. Its calls may come from several threads."""

    def load(self, numbers: Sequence[int]) -> list[memoryview]: ...

    def plan(self, order: Sequence[int], following: Sequence[int]) -> None: ...


class Serving:
    """Serves from threads of this process, until it is closed or no longer referred to."""

    def __init__(self, served: Served) -> None:
        self._folder = tempfile.mkdtemp(prefix="seekless-")
        if len(self._folder) > ADDRESS_MAX:
            os.rmdir(self._folder)
            self._folder = tempfile.mkdtemp(prefix="seekless-", dir="/tmp")
        self.address = os.path.join(self._folder, "store")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.address)
        self._listener.listen(128)
        open_ones: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        threading.Thread(
            target=_accept, args=(self._listener, open_ones, served), daemon=True
        ).start()
        self.close = weakref.finalize(
            self, _end, self._listener, open_ones, self._folder, os.getpid()
        )

    def leave(self) -> None:
        """In a child: what it has of the parent's socket must not keep that alive."""
        self._listener.close()


def _end(
    listener: socket.socket,
    connections: weakref.WeakSet[socket.socket],
    folder: str,
    process: int,
) -> None:
    if os.getpid() != process:
        return
    for one in [listener, *connections]:
        try:
            one.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for it
        except OSError:
            pass  # it has ended already
    listener.close()
    shutil.rmtree(folder, ignore_errors=True)


def _accept(
    listener: socket.socket, connections: weakref.WeakSet[socket.socket], served: Served
) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        connections.add(connection)
        threading.Thread(target=_answer, args=(connection, served), daemon=True).start()


def _answer(connection: socket.socket, served: Served) -> None:
    """Answers the questions of one process until it ends."""
    with connection:
        try:
            while True:
                kind, count = HEADER.unpack(_received(connection, HEADER.size))
                numbers = array.array("Q", bytes(_received(connection, 8 * count)))
                try:
                    if kind == PLAN:
                        served.plan(numbers[1 : 1 + numbers[0]], numbers[1 + numbers[0] :])
                        contents = []
                    else:
                        contents = served.load(numbers)
                except Exception as error:
                    said = pickle.dumps(error)
                    connection.sendall(HEADER.pack(ERROR, len(said)) + said)
                else:
                    _send(connection, contents)
        except (EOFError, OSError):
            return  # the other process has ended


def _send(connection: socket.socket, contents: list[memoryview]) -> None:
    header = HEADER.pack(CONTENTS, len(contents))
    lengths = array.array("Q", map(len, contents))
    memory = os.memfd_create("seekless", os.MFD_CLOEXEC)
    try:
        _write(memory, contents)
        sent = socket.send_fds(connection, [header], [memory])
    finally:
        os.close(memory)
    connection.sendall(header[sent:] + lengths.tobytes())


def _write(file: int, contents: list[memoryview]) -> None:
    left = [content for content in contents if len(content) > 0]
    while left:
        written = os.writev(file, left[:PIECES_MAX])
        done = 0
        while done < len(left) and written >= len(left[done]):
            written -= len(left[done])
            done += 1
        left = left[done:]
        if left:
            left[0] = left[0][written:]


def _received(connection: socket.socket, count: int) -> bytearray:
    received = bytearray(count)
    view = memoryview(received)
    while view:
        got = connection.recv_into(view)
        if got == 0:
            raise EOFError
        view = view[got:]
    return received


class Asking:
    """What is served, from another process. Any thread may ask."""

    def __init__(self, address: str) -> None:
        self._lock = threading.Lock()
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._connection.connect(address)
        except OSError as error:
            raise _gone() from error

    def load(self, numbers: Sequence[int]) -> list[memoryview]:
        return self._ask(LOAD, numbers)

    def plan(self, order: Sequence[int], following: Sequence[int]) -> None:
        self._ask(PLAN, [len(order), *order, *following])

    def _ask(self, kind: bytes, numbers: Sequence[int]) -> list[memoryview]:
        question = HEADER.pack(kind, len(numbers)) + array.array("Q", numbers).tobytes()
        with self._lock:
            try:
                self._connection.sendall(question)
                answer = self._answer()
            except (EOFError, OSError) as error:
                raise _gone() from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _answer(self) -> list[memoryview] | Exception:
        flags = socket.MSG_CMSG_CLOEXEC
        header, files, _, _ = socket.recv_fds(self._connection, HEADER.size, 1, flags)
        try:
            if not header:
                raise EOFError
            header += _received(self._connection, HEADER.size - len(header))
            kind, count = HEADER.unpack(header)
            if kind == ERROR:
                error: Exception = pickle.loads(_received(self._connection, count))
                return error
            lengths = array.array("Q", bytes(_received(self._connection, 8 * count)))
            return _views(files[0], lengths)
        finally:
            for file in files:
                os.close(file)


def _views(file: int, lengths: Sequence[int]) -> list[memoryview]:
    total = sum(lengths)
    flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
    mapped: Any = mmap.mmap(file, total, flags, mmap.PROT_READ) if total else b""
    whole = memoryview(mapped)
    views, start = [], 0
    for length in lengths:
        views.append(whole[start : start + length])
        start += length
    return views


def _gone() -> SystemFailure:
    return SystemFailure(
        "the process that made this data set has ended or closed it: make the data set in the "
        "process that runs the loader"
    )
