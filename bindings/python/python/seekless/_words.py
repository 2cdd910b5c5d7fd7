"""Numbers as text and tables as HTML, in the units of the command: KB is 1000 bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def format_bytes(number: float) -> str:
    """``1500`` is ``1.5 KB``."""
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if number < 1000 or unit == "TB":
            return f"{number:.0f} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    raise AssertionError


def format_value(name: str, value: object) -> str:
    """A cell of a table for people: shares in percent, bytes with units."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{100 * value:.2f} %" if name.endswith("ratio") else f"{value:,.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table of text; the caption stands above it."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>"
        + "".join(f"<td style='text-align:right'>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for row in rows
    )
    above = f"<caption style='text-align:left'>{escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same as text; the first column stands left."""
    widths = [max([len(name), *(len(row[at]) for row in rows)]) for at, name in enumerate(header)]
    lines = [header, *rows]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )
