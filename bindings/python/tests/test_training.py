"""Training sets: true permutations, exact bytes, one store for all workers, going on where it
stopped."""

from __future__ import annotations

import gc
import os
import pickle
import random
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
from loader import loaded

import seekless
from seekless.training import Dataset, SeededSampler

FILES, BATCH = 400, 16


@pytest.fixture(scope="module")
def contents() -> list[bytes]:
    choice = random.Random(5)
    return [choice.randbytes(choice.randrange(500, 4000)) for _ in range(FILES - 1)] + [b""]


@pytest.fixture(scope="module")
def pack(contents: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("training") / "data.zip"
    with zipfile.ZipFile(path, "w") as out:
        for number, content in enumerate(contents):
            out.writestr(f"{number:04}.bin", content)
    return path


def numbered(name: str, content: memoryview) -> tuple[int, bytes]:
    return int(name[:4]), bytes(content)


def trained(
    dataset: Dataset, sampler: SeededSampler, contents: list[bytes], **how: Any
) -> list[int]:
    """The order in which an epoch's files came, each with its content."""
    samples = [sample for batch in loaded(dataset, sampler, BATCH, **how) for sample in batch]
    assert all(content == contents[number] for number, content in samples)
    return [number for number, _ in samples]


@pytest.mark.parametrize(
    "how", [{}, {"workers": 2}, {"workers": 2, "start": "spawn"}], ids=["0", "fork", "spawn"]
)
def test_epochs_are_permutations_read_by_one_store(
    pack: Path, contents: list[bytes], how: dict[str, Any]
) -> None:
    with Dataset(pack, transform=numbered, cache="25%") as dataset:
        sampler = SeededSampler(dataset, seed=3)
        orders, decoded = [], [0]
        for epoch in range(4):
            orders.append(trained(dataset, sampler, contents, **how))
            assert orders[-1] == sampler.order(epoch)
            said = dataset.statistics()
            decoded.append(said["coded_bytes"])
            assert said["hits"] + said["misses"] + said["bypassed"] == FILES * (epoch + 1)
        assert all(sorted(order) == list(range(FILES)) for order in orders)
        assert len({tuple(order) for order in orders}) == 4
        total = sum(map(len, contents))
        shares = [(after - before) / total for before, after in zip(decoded, decoded[1:])]
        assert shares[0] == 1 and max(shares[1:]) <= 0.77, shares


def test_an_order_follows_from_seed_and_epoch(pack: Path) -> None:
    with Dataset(pack) as dataset:
        one, other = SeededSampler(dataset, seed=3), SeededSampler(dataset, seed=4)
        assert one.order(7) == SeededSampler(dataset, seed=3).order(7)
        assert one.order(7) != one.order(8) != other.order(8)
        assert sorted(SeededSampler(dataset, seed=-1).order(2**40)) == list(range(FILES))
        # What it was in the first release: a training must go on the same after an update.
        assert one.order(0)[:5] == FIRST_ORDER


FIRST_ORDER = [109, 261, 221, 72, 335]


def test_a_training_goes_on_where_it_stopped(pack: Path, contents: list[bytes]) -> None:
    with Dataset(pack, transform=numbered) as dataset:
        sampler = SeededSampler(dataset, seed=9, epochs=3)
        whole = [trained(dataset, sampler, contents) for _ in range(3)]
        sampler = SeededSampler(dataset, seed=9, epochs=3)
        first = trained(dataset, sampler, contents)
        batches = loaded(dataset, sampler, BATCH)
        part = [number for _ in range(3) for number, _ in next(batches)]
        state = sampler.state_dict()
        assert state == {"seed": 9, "epoch": 1, "position": 3 * BATCH}
        assert sampler.state_dict(position=7)["position"] == 7
    with Dataset(pack, transform=numbered) as dataset:
        sampler = SeededSampler(dataset)
        sampler.load_state_dict(state)
        assert len(sampler) == FILES - 3 * BATCH
        rest = trained(dataset, sampler, contents)
        assert len(sampler) == FILES and sampler.state_dict()["epoch"] == 2
        assert [first, part + rest, trained(dataset, sampler, contents)] == whole
        sampler.set_epoch(1)
        assert trained(dataset, sampler, contents) == whole[1]
        with pytest.raises(seekless.UsageError, match="position"):
            sampler.load_state_dict({"seed": 1, "epoch": 0, "position": FILES + 1})


def test_groups_of_neighbours_come_together(pack: Path, contents: list[bytes]) -> None:
    with Dataset(pack, transform=numbered, window="64KiB") as dataset:
        sampler = SeededSampler(dataset, seed=1, groups="16KiB", mixed=2)
        order = trained(dataset, sampler, contents)
        assert sorted(order) == list(range(FILES)) and order != sorted(order)
        place = {number: at for at, number in enumerate(order)}
        apart = [abs(place[number] - place[number + 1]) for number in range(FILES - 1)]
        # Groups of some 7 files, two at a time.
        assert sum(distance < 20 for distance in apart) > 0.8 * FILES
        with pytest.raises(seekless.UsageError, match="mixed"):
            SeededSampler(dataset, groups="16KiB", mixed=0)


def test_processes_share_an_epoch(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Dataset(pack) as dataset:
        whole = SeededSampler(dataset, seed=3).order(5)

        def parts(world: int, **options: object) -> list[list[int]]:
            samplers = [
                SeededSampler(dataset, seed=3, rank=rank, world_size=world, **options)
                for rank in range(world)
            ]
            assert len({len(sampler) for sampler in samplers}) == 1
            return [sampler.order(5) for sampler in samplers]

        assert sum(parts(4), []) == whole
        filled = sum(parts(3), [])
        assert filled == whole + whole[: len(filled) - FILES] and len(filled) == 402
        assert sum(parts(3, drop_last=True), []) == whole[:399]
        assert sum(parts(2 * FILES), []) == whole + whole
        sampler = SeededSampler(dataset, seed=3, rank=1, world_size=4)
        sampler.set_epoch(5)
        assert list(sampler) == parts(4)[1]
        with pytest.raises(seekless.UsageError, match="position"):
            sampler.load_state_dict({"seed": 3, "epoch": 0, "position": 101})
        for wrong in [{"rank": 1}, {"rank": 2, "world_size": 2}, {"rank": -1, "world_size": 2}]:
            with pytest.raises(seekless.UsageError, match="rank"):
                SeededSampler(dataset, **wrong)
        monkeypatch.setenv("RANK", "2")
        assert SeededSampler(dataset).world_size == 1, "one of two says nothing"
        monkeypatch.setenv("WORLD_SIZE", "4")
        assert SeededSampler(dataset, seed=3).order(5) == parts(4)[2]
        monkeypatch.setenv("WORLD_SIZE", "many")
        with pytest.raises(seekless.UsageError, match="WORLD_SIZE=many"):
            SeededSampler(dataset)


def test_any_order_gives_the_right_files(pack: Path, contents: list[bytes]) -> None:
    with Dataset(pack, names=["0007.bin", "0003.bin", "0399.bin"]) as dataset:
        assert len(dataset) == 3 and dataset[1] == contents[3] and dataset[-1] == b""
        dataset.plan([0, 1, 2], [2])
        assert dataset.__getitems__([2, 2, 0, 1]) == [contents[at] for at in (399, 399, 7, 3)]
        with pytest.raises(IndexError, match="has 3 files"):
            dataset[3]
    with pytest.raises(seekless.NotFoundError):
        Dataset(pack, names=["none"])
    for wrong in ["much", "-1%", "x%", "101%"]:
        with pytest.raises(seekless.UsageError):
            Dataset(pack, cache=wrong)


def test_threads_share_a_data_set(pack: Path, contents: list[bytes]) -> None:
    with Dataset(pack, transform=numbered) as dataset:
        order = SeededSampler(dataset).order(0)
        dataset.plan(order)
        found: list[tuple[int, bytes]] = []

        def take(first: int) -> None:
            for start in range(first, FILES, 4 * BATCH):
                found.extend(dataset.__getitems__(order[start : start + BATCH]))

        threads = [threading.Thread(target=take, args=(first * BATCH,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(found) == list(enumerate(contents))


def broken(name: str, content: memoryview) -> bytes:
    raise RuntimeError(f"cannot decode {name}")


def test_errors_come_through_from_workers(pack: Path, tmp_path: Path) -> None:
    with Dataset(pack, transform=broken) as dataset:
        with pytest.raises(RuntimeError, match="cannot decode"):
            list(loaded(dataset, SeededSampler(dataset), BATCH, workers=1))
    damaged = tmp_path / "damaged.zip"
    content = bytearray(pack.read_bytes())
    content[60] ^= 1
    damaged.write_bytes(content)
    with Dataset(damaged) as dataset:
        with pytest.raises(seekless.CorruptError) as raised:
            list(loaded(dataset, range(4), 4, workers=1))
        assert raised.value.path == str(damaged)


def test_what_is_closed_says_so_and_leaves_nothing(pack: Path) -> None:
    dataset = Dataset(pack)
    copy = pickle.loads(pickle.dumps(dataset))
    assert copy[5] == dataset[5]
    with pytest.raises(seekless.UsageError, match="process"):
        copy.statistics()
    folder = os.path.dirname(dataset._address)
    assert os.stat(folder).st_mode & 0o077 == 0, "only its user may ask"
    dataset.close()
    assert not os.path.exists(folder)
    with pytest.raises(seekless.SystemFailure, match="ended or closed"):
        copy[6]
    with pytest.raises(seekless.SystemFailure, match="ended or closed"):
        pickle.loads(pickle.dumps(dataset))[0]
    forgotten = Dataset(pack)
    folder = os.path.dirname(forgotten._address)
    del forgotten
    gc.collect()
    assert not os.path.exists(folder)


@pytest.mark.parametrize("workers", [0, 2])
def test_pytorchs_loader(pack: Path, contents: list[bytes], workers: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch's own loader (torch is not installed)")
    with Dataset(pack, transform=numbered) as dataset:
        sampler = SeededSampler(dataset, seed=3)
        loader = torch.utils.data.DataLoader(
            dataset, batch_size=BATCH, sampler=sampler, num_workers=workers, collate_fn=list
        )
        for epoch in range(2):
            samples = [sample for batch in loader for sample in batch]
            assert [number for number, _ in samples] == sampler.order(epoch)
            assert all(content == contents[number] for number, content in samples)
        assert dataset.statistics()["failed"] == 0
