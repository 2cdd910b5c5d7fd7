"""From the JSON of `seekless sleds` to the words of a panel. Pure: no window, no process, no clock."""

import json
from collections import namedtuple

#: Levels, cheapest first: name, block, colour, words. The blocks are those of `seekless sleds`.
LEVELS = (
    ("hole", "·", "#888888", "Holes"),
    ("memory", "█", "#2e9e4f", "In memory"),
    ("device", "▒", "#3070c0", "On the device"),
    ("network", "░", "#9050b0", "On another machine"),
    ("archive", "▁", "#c04030", "In an archive"),
    ("unknown", "?", "#b08000", "Unknown"),
)

Sled = namedtuple("Sled", "offset bytes latency_s bandwidth level confidence")
Figures = namedtuple("Figures", "bytes sleds linear best device origin residence_s notes")


class NotUnderstood(ValueError):
    """The command's answer was not figures."""


def parse(text):
    """The figures of the one file that was asked about."""
    try:
        (told,) = json.loads(text)
        total = told["total_s"]
        return Figures(
            bytes=int(told["bytes"]),
            sleds=[_sled(sled) for sled in told["sleds"]],
            linear=_range(total["linear"]),
            best=_range(total["best"]),
            device=str(told["device"]),
            origin=str(told["origin"]),
            residence_s=told.get("residence_s"),
            notes=[str(note) for note in told.get("notes", [])],
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise NotUnderstood(f"seekless answered what this panel does not understand: {error!r}") from error


def _sled(told):
    bandwidth = told["bandwidth"]
    return Sled(
        int(told["offset"]),
        int(told["bytes"]),
        float(told["latency_s"]),
        None if bandwidth is None else float(bandwidth),
        str(told["level"]),
        str(told["confidence"]),
    )


def _range(told):
    return float(told["low"]), float(told["high"])


def size(count):
    """Bytes in units of 1000."""
    for unit, power in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= power:
            return f"{count / power:.1f} {unit}"
    return f"{count:.0f} B"


def time(seconds):
    """Seconds in the unit that fits; infinity is `for ever`."""
    if seconds > 1e11:
        return "for ever"
    for unit, power in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * power:
            return f"{seconds / power:.1f} {unit}"
    for unit, power in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= power:
            return f"{seconds / power:.3g} {unit}" if seconds < 100 * power else f"{seconds / power:.0f} {unit}"
    return f"{seconds * 1e6:.3g} µs" if seconds > 0 else "no time"


def time_range(low_high):
    """A time, or two if they differ in words."""
    low, high = (time(seconds) for seconds in low_high)
    return low if low == high else f"{low} to {high}"


def bandwidth(sled):
    """Bytes per second in words; a hole has none."""
    return "" if sled.bandwidth is None else f"{size(sled.bandwidth)}/s"


def bytes_at(figures):
    """Bytes by level, cheapest level first, of those that the file has."""
    counted = {}
    for sled in figures.sleds:
        counted[sled.level] = counted.get(sled.level, 0) + sled.bytes
    known = [level for level, *_ in LEVELS]
    return {level: counted[level] for level in sorted(counted, key=lambda level: _rank(known, level))}


def _rank(known, level):
    return known.index(level) if level in known else len(known)


def look(level):
    """Block, colour and words of a level; a level that this panel does not know is `?`."""
    for name, block, colour, words in LEVELS:
        if name == level:
            return block, colour, words
    return "?", LEVELS[-1][2], level


def cells(figures, count):
    """Divides the file into `count` parts, or fewer if it has fewer bytes.

    Returns the level of most bytes of each."""
    count = min(count, figures.bytes)
    parts, first = [], 0
    for cell in range(count):
        start, end = figures.bytes * cell // count, figures.bytes * (cell + 1) // count
        while first < len(figures.sleds) and figures.sleds[first].offset + figures.sleds[first].bytes <= start:
            first += 1
        parts.append(_most(figures.sleds, first, start, end))
    return parts


def _most(sleds, first, start, end):
    counted = {}
    for at in range(first, len(sleds)):
        sled = sleds[at]
        if sled.offset >= end:
            break
        inside = min(sled.offset + sled.bytes, end) - max(sled.offset, start)
        counted[sled.level] = counted.get(sled.level, 0) + inside
    return max(counted, key=counted.get, default="unknown")


def bar(figures, count):
    """The cells as text."""
    return "".join(look(level)[0] for level in cells(figures, count))


def markup(figures, count):
    """The cells as Pango markup, a span for each run of one level."""
    spans = []
    for level in cells(figures, count):
        if spans and spans[-1][0] == level:
            spans[-1][1] += 1
        else:
            spans.append([level, 1])
    return "".join(f'<span foreground="{look(level)[1]}">{look(level)[0] * run}</span>' for level, run in spans)


def rows(figures):
    """What a panel shows of the file, as pairs of a name and a value."""
    told = [
        ("Reading it, cheapest first", time_range(figures.best)),
        ("Reading it from first to last", time_range(figures.linear)),
    ]
    for level, count in bytes_at(figures).items():
        share = 100.0 * count / figures.bytes if figures.bytes else 0.0
        told.append((look(level)[2], f"{size(count)} ({share:.0f} %)"))
    told.append(("Device", f"{figures.device} (costs {figures.origin})"))
    if figures.residence_s is not None and any(sled.level == "memory" for sled in figures.sleds):
        told.append(("What is in memory stays about", time(figures.residence_s)))
    told.extend(("Note", note) for note in figures.notes)
    return told


def sled_rows(figures, limit):
    """Offset, length, level, latency and bandwidth of each range, in words.

    After `limit` rows, says how many more there are."""
    told = [
        (size(sled.offset), size(sled.bytes), _level(sled), time(sled.latency_s), bandwidth(sled))
        for sled in figures.sleds[:limit]
    ]
    if len(figures.sleds) > limit:
        told.append(("…", "", f"{len(figures.sleds) - limit} more ranges", "", ""))
    return told


def _level(sled):
    return f"{sled.level} (sampled)" if sled.confidence == "sampled" else sled.level
