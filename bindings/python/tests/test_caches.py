"""Simulations: the command's figures, policies in Python, curves, and live policies."""

from __future__ import annotations

import collections
import json
import random
import subprocess

import pytest

import seekless


class Lru:
    """What the published LRU does."""

    def __init__(self, capacity: int) -> None:
        self.order: collections.OrderedDict[int, None] = collections.OrderedDict()

    def request(self, id: int, weight: int, hit: bool) -> None:
        self.order[id] = None
        if hit:
            self.order.move_to_end(id)

    def evict(self) -> int:
        return self.order.popitem(last=False)[0]


#: Of a row: how long it took is another each time.
TIMES = {"seconds", "requests_per_second"}


def rows(table: seekless.Table) -> list[dict[str, object]]:
    return [
        {name: value for name, value in row.items() if name not in TIMES} for row in table.rows()
    ]


def test_rows_are_the_commands(trace: seekless.Trace, command: str) -> None:
    policies, capacities = list(seekless.policies()), ["10%", "100KB", "50KB..400KB*2"]
    policies = [name for name in policies if "@" not in name]
    words = [command, "sim", trace.path, "--json", "--unit", "page"]
    words += ["--policy", ",".join(policies), "--capacity", ",".join(capacities)]
    said = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    ours = rows(seekless.simulate(trace, policies, capacities, unit="page"))
    assert len(ours) == len(policies) * 6
    for row in said:
        for name in TIMES:
            row.pop(name)
    assert ours == said


def test_in_time_the_rows_are_the_commands(trace: seekless.Trace, command: str) -> None:
    words = [command, "sim", trace.path, "--json", "--device", "iops=500,bandwidth=150MB/s"]
    words += ["--policy", "lru,arc", "--capacity", "100KB,1MB", "--readahead", "none,linux"]
    said = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    ours = seekless.simulate(
        trace, ["lru", "arc"], ["100KB", "1MB"], device="iops=500,bandwidth=150MB/s"
    ).rows()
    assert ours == [{name: row[name] for name in ours[0]} for row in said]


def test_a_curve_is_the_commands(trace: seekless.Trace, command: str) -> None:
    words = [command, "sim", trace.path, "--json", "--points", "9", "--curve"]
    for method, sample in (("exact", None), ("sampled=0.5", 0.5), ("sampled=100", 100)):
        said = json.loads(
            subprocess.run(
                [*words, method, "--policy", "lru,sieve"], check=True, capture_output=True
            ).stdout
        )
        ours = seekless.curve(trace, ["lru", "sieve"], points=9, sample=sample).rows()
        theirs = [
            (curve["policy"], point["capacity"], point["miss_ratio"], point["low"])
            for curve in said
            for point in curve["points"]
        ]
        assert [
            (row["policy"], row["capacity"], row["miss_ratio"], row["low"]) for row in ours
        ] == theirs


def test_a_policy_in_python_decides_as_ours(trace: seekless.Trace) -> None:
    sizes = ["5%", "20%", "60%"]
    table = seekless.simulate(trace, ["fifo", Lru, "lru"], sizes)
    by = {
        name: [row for row in rows(table) if row["policy"] == name]
        for name in ("fifo", "Lru", "lru")
    }
    assert [row["policy"] for row in rows(table)] == ["fifo", "Lru", "lru"] * 3
    for ours, theirs in zip(by["lru"], by["Lru"]):
        assert {**ours, "policy": ""} == {**theirs, "policy": ""}
    assert by["fifo"] != by["lru"]


def test_what_a_policy_in_python_raises_comes_through(trace: seekless.Trace) -> None:
    class Broken(Lru):
        def evict(self) -> int:
            raise ZeroDivisionError("mine")

    class Liar(Lru):
        def evict(self) -> int:
            return 1_000_000

    class Wrong(Lru):
        def evict(self) -> int:
            return "no number"  # type: ignore[return-value]

    class Unmade(Lru):
        def __init__(self, capacity: int) -> None:
            raise KeyError("unmade")

    for policy, error in (
        (Broken, ZeroDivisionError),
        (Liar, ValueError),
        (Wrong, TypeError),
        (Unmade, KeyError),
    ):
        with pytest.raises(error):
            seekless.simulate(trace, [policy], "10%")
    with pytest.raises(TypeError, match="is no policy"):
        seekless.simulate(trace, [dict], "10%")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"policy": "magic"}, "seekless.policies()"),
        ({"capacity": "much"}, "64MiB"),
        ({"unit": "metre"}, "there are file, page and object"),
        ({"write_back": "never"}, "never"),
        ({"device": "iops=x"}, "iops"),
        ({"device": "gp3", "readahead": "magic"}, "magic"),
        ({"policy": "opt"}, 'unit="page"'),
    ],
)
def test_wrong_arguments_say_what_to_do(
    trace: seekless.Trace, arguments: dict[str, str], words: str
) -> None:
    with pytest.raises(seekless.UsageError) as raised:
        seekless.simulate(trace, **{"policy": "lru", "capacity": "1MB", **arguments})  # type: ignore[arg-type]
    assert words in str(raised.value)


def test_progress_is_told(trace: seekless.Trace) -> None:
    told: list[tuple[int, int]] = []
    sizes = "1KB..400KB*1.02"
    seekless.simulate(
        trace,
        ["lru", "arc", "lirs"],
        sizes,
        progress=lambda done, total: told.append((done, total)),
    )
    assert all(0 <= done <= total for done, total in told)


def test_an_error_in_the_progress_ends_the_call(trace: seekless.Trace) -> None:
    def stop(done: int, total: int) -> None:
        raise LookupError("enough")

    class Slow(Lru):
        pass

    policies = [name for name in seekless.policies() if name.startswith("l")]
    try:
        seekless.curve(trace, policies, points=400, progress=stop)
    except LookupError:
        pass  # it is only told of what takes over a twentieth of a second


def test_a_live_cache_decides_as_the_simulator(trace: seekless.Trace) -> None:
    paths = trace.to_arrow()["path"]
    for policy in ("lru", "arc", "s3-fifo", "sieve", "2q", "lirs", "w-tiny-lfu"):
        if policy not in seekless.policies():
            continue
        cache = seekless.Cache(policy, 40)
        hits, inside = 0, set()
        for path in paths:
            hit = cache.request(path)
            assert hit == (path in inside), policy
            hits += hit
            inside.add(path)
            inside.difference_update(cache.victims)
            assert cache.used == len(inside)
        expected = seekless.simulate(trace, policy, 40, unit_weights=True)
        assert hits == expected["hits"][0], policy


def test_a_live_cache_weighs_removes_and_forgets() -> None:
    cache = seekless.Cache("lru", 10)
    assert not cache.request(("any", "hashable"), weight=6)
    assert not cache.request("b", 4) and cache.request("b", 4)
    assert not cache.request("too large", 11) and "too large" not in cache
    assert not cache.request("c", 3) and cache.victims == [("any", "hashable")]
    assert "b" in cache and cache.remove("b") and not cache.remove("b") and cache.used == 3
    for number in range(100_000):
        cache.request(number)
    assert cache.used <= 10
    with pytest.raises(TypeError):
        cache.request([])
    with pytest.raises(seekless.UsageError, match="future|next"):
        seekless.Cache("opt", 10)


def test_objects_show_themselves(trace: seekless.Trace) -> None:
    table = seekless.simulate(trace, ["lru", "arc"], ["10%", "20%"])
    assert "miss_ratio" in repr(table) and "<table>" in table._repr_html_()
    assert len(table) == 4 and set(table.column_names) >= {"policy", "hits", "seconds"}
    with pytest.raises(KeyError, match="there are policy"):
        table["colour"]


def test_tables_draw_themselves(trace: seekless.Trace) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    figures = seekless.simulate(trace, ["lru", "arc"], "10%..50%+10%").plot()
    assert [line.get_label() for line in figures.get_lines()] == ["lru", "arc"]
    curves = seekless.curve(trace, "lru", sample=0.5).plot()
    assert len(curves.collections) == 1, "the error bars"


def test_many_traces_go_through_one_cache(trace: seekless.Trace) -> None:
    once = seekless.simulate(trace, "lru", "1GB")
    twice = seekless.simulate([trace, trace.path], "lru", "1GB")
    assert twice["requests"][0] == 2 * once["requests"][0]
    assert twice["misses"] == once["misses"]


def test_random_requests_are_simulated_as_by_hand() -> None:
    pa = pytest.importorskip("pyarrow")
    choice = random.Random(4)
    paths = [str(choice.randrange(50)) for _ in range(2000)]
    trace = seekless.Trace.from_arrow(pa.table({"path": paths, "size": [1] * len(paths)}))
    order: collections.OrderedDict[str, None] = collections.OrderedDict()
    hits = 0
    for path in paths:
        hits += path in order
        order[path] = None
        order.move_to_end(path)
        if len(order) > 20:
            order.popitem(last=False)
    assert seekless.simulate(trace, "lru", 20, unit_weights=True)["hits"] == [hits]
