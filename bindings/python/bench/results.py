"""Writes what a benchmark found in the one form of the project (`crates/seekless-results`).

`--save` writes bench/results/NAME.json in the checkout, `--results FILE` another file. Tables of
other runs stay in the file."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = 1
LOAD_BEFORE = os.getloadavg()[0]


def options(parser: argparse.ArgumentParser) -> None:
    """Adds the two options."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--save", action="store_true", help="write bench/results in the checkout")
    which.add_argument("--results", metavar="FILE", help="write the results to FILE (JSON)")


def figure(rounds: list[float]) -> dict[str, Any]:
    """The median of rounds, with their spread."""
    short = [float(f"{value:.4g}") for value in rounds]
    middle = float(f"{statistics.median(rounds):.4g}")
    return {"value": middle, "low": min(short), "high": max(short), "rounds": len(rounds)}


def table(
    id: str,
    title: str,
    cases: str,
    unit: str,
    better: str,
    contenders: list[str],
    rows: dict[str, list[dict[str, Any] | None]],
    conditions: str = "",
) -> dict[str, Any]:
    """A table; contenders that begin with `*` are ours, and stand first."""
    return {
        "id": id,
        "title": title,
        "cases": cases,
        "unit": unit,
        "better": better,
        "measured": {"conditions": conditions},
        "contenders": [
            {"name": name.removeprefix("*"), "ours": name.startswith("*")} for name in contenders
        ],
        "rows": [{"case": case, "figures": figures} for case, figures in rows.items()],
    }


def write(args: argparse.Namespace, name: str, tables: list[dict[str, Any]]) -> None:
    """Writes the tables of this run, if that was asked for."""
    if not args.save and args.results is None:
        return
    bench = f"python-{name}"
    path = Path(args.results or ROOT / "bench" / "results" / f"{bench}.json")
    found: dict[str, Any] = {"schema": SCHEMA, "bench": bench, "tables": []}
    if path.exists():
        found = json.loads(path.read_text())
        if found.get("schema") != SCHEMA:
            raise SystemExit(f"{path}: no results of form {SCHEMA}; name another file")
    known = {known["id"]: place for place, known in enumerate(found["tables"])}
    for one in tables:
        one["measured"] |= provenance(name)
        if one["id"] in known:
            found["tables"][known[one["id"]]] = one
        else:
            found["tables"].append(one)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    print(f"results: {path}", file=sys.stderr)


def provenance(name: str) -> dict[str, Any]:
    """The command, the day, the commit and the machine."""
    words = list(sys.argv[1:])
    if "--results" in words:
        at = words.index("--results")
        del words[at : at + 2]
    words = [word for word in words if word != "--save" and not word.startswith("--results=")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "command": " ".join(["./run bench python", name, *words]),
        "date": said("date", "-u", "+%F"),
        "commit": said("git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"),
        "load": [LOAD_BEFORE, os.getloadavg()[0]],
        "machine": {
            "cores": len(os.sched_getaffinity(0)),
            "memory_bytes": memory,
            "kernel": os.uname().release,
        },
    }


def said(*words: str) -> str | None:
    """What a program prints, if it succeeds."""
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else None
