"""The exceptions of this package. Each says what is wrong, with which file, and what to do.

All are :class:`SeeklessError`, and also the built-in exception that such a thing has elsewhere: a
missing file is a :class:`FileNotFoundError`. Their attribute ``path`` is the file, where there is
one."""

from __future__ import annotations


class SeeklessError(Exception):
    """What this package raises."""

    #: The file that the error is about.
    path: str | None = None


class NotFoundError(SeeklessError, FileNotFoundError):
    """A file, a folder, a program or an entry of a pack is not there."""


class DeniedError(SeeklessError, PermissionError):
    """The system does not allow it."""


class ExistsError(SeeklessError, FileExistsError):
    """The output is there already: name another, or say ``force=True``."""


class SystemFailure(SeeklessError, OSError):
    """The system failed: a read, a write, a full disk."""


class CorruptError(SeeklessError, ValueError):
    """A file is damaged or cut short, or is not what it should be."""


class UnsupportedError(SeeklessError, NotImplementedError):
    """A file is whole, and cannot be read here: an entry is encrypted, or coded by a method that is
    not read."""


class UsageError(SeeklessError, ValueError):
    """The call makes no sense: an unknown name, a size without a number."""


class LimitError(SeeklessError, ValueError):
    """It would take more memory, ids or bytes than is allowed."""


class InternalError(SeeklessError, RuntimeError):
    """A mistake in seekless. Please report it."""
