"""A stand-in for PyTorch's loader, with its protocol: a batch sampler in this process, a worker for
each process, batches handed out in turn some ahead, samples sent back by pickle, in order."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from typing import Any

#: Batches that each worker is given ahead, as PyTorch's `prefetch_factor`.
AHEAD = 2


def batches(sampler: Any, size: int) -> Iterator[list[int]]:
    """As PyTorch's `BatchSampler`: `iter(sampler)` is called with the first batch."""
    batch: list[int] = []
    for index in sampler:
        batch.append(index)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def fetched(dataset: Any, batch: list[int]) -> list[Any]:
    try:
        return list(dataset.__getitems__(batch))
    except Exception as error:
        return [error]


def work(dataset: Any, questions: Any, answers: Any) -> None:
    for batch in iter(questions.recv, None):
        answers.send(fetched(dataset, batch))


def loaded(
    dataset: Any, sampler: Any, size: int, workers: int = 0, start: str = "fork"
) -> Iterator[list[Any]]:
    """The samples of an epoch, a batch at a time. What a worker raises is raised here."""
    if workers == 0:
        for batch in batches(sampler, size):
            yield checked(fetched(dataset, batch))
        return
    context: Any = multiprocessing.get_context(start)
    pipes = [(context.Pipe(), context.Pipe()) for _ in range(workers)]
    processes = [
        context.Process(target=work, args=(dataset, asked[1], told[1]), daemon=True)
        for asked, told in pipes
    ]
    for process in processes:
        process.start()
    try:
        waiting = batches(sampler, size)
        given = taken = 0
        done = False
        while not done or taken < given:
            while not done and given - taken < AHEAD * workers:
                batch = next(waiting, None)
                done = batch is None
                if batch is not None:
                    pipes[given % workers][0][0].send(batch)
                    given += 1
            if taken < given:
                yield checked(pipes[taken % workers][1][0].recv())
                taken += 1
    finally:
        for asked, _ in pipes:
            asked[0].send(None)
        for process in processes:
            process.join()


def checked(samples: Sequence[Any]) -> list[Any]:
    for sample in samples:
        if isinstance(sample, Exception):
            raise sample
    return list(samples)
