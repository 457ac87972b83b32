"""The worker: what a function leaves behind, other days, delays, what it is seen to do."""

from __future__ import annotations

import datetime
import random
import time
from typing import Any

import pytest
from numpy.random import rand

from firesteel import operators
from firesteel.operators.execute import Loaded
from firesteel.operators.outcomes import Gave, Job, Seen, Twice
from firesteel.operators.workers import Workers

_calls: list[int] = []
_last: list[float] = []


def counts(x: int) -> int:
    _calls.append(x)
    return len(_calls)


def today(x: int) -> int:
    return datetime.date.today().toordinal()


def pause(x: int) -> bool:
    """Has a minute passed since the last call?"""
    _last.append(time.monotonic())
    return len(_last) > 1 and _last[-1] - _last[-2] > 60


def branches(x: int) -> str:
    if x > 100:
        return "many"
    return "few"


def draws(x: int) -> float:
    return random.random()


def of_numpy(x: int) -> float:
    return float(rand())


_buffer: list[int] = []


def reuses_a_buffer(x: int) -> list[int]:
    _buffer.clear()
    _buffer.append(x)
    return _buffer


def outputs(seen: Seen) -> list[Any]:
    return [outcome.outputs[0] for outcome in seen.outcomes if isinstance(outcome, Gave)]


def ran(function: Any, *runs: Any, elsewhere: bool = False, **options: Any) -> list[Seen]:
    with Workers(Loaded(operators.function(function))) as workers:
        return workers.run(Job(tuple(runs), **options), elsewhere=elsewhere)


def test_a_job_finds_the_function_as_it_was_loaded() -> None:
    with Workers(Loaded(operators.function(counts))) as workers:
        for _ in range(2):
            assert [outputs(seen) for seen in workers.run(Job((((1,), (1,)), ((1,),))))] == [[1, 2], [3]]
        apart = workers.run(Job((((1,), (1,)), ((1,),)), together=1))
        assert [outputs(seen) for seen in apart] == [[1, 2], [1]]
    assert _calls == []


def test_elsewhere_it_is_another_day_and_time_passes() -> None:
    assert outputs(ran(today, ((1,),))[0]) == [datetime.date.today().toordinal()]
    assert outputs(ran(today, ((1,),), elsewhere=True)[0])[0] > datetime.date.today().toordinal() + 30
    assert outputs(ran(pause, ((1,), (1,)))[0]) == [False, False]
    assert outputs(ran(pause, ((1,), (1,)), elsewhere=True)[0]) == [False, True]


def test_random_numbers_are_not_inherited() -> None:
    first, second = ran(draws, ((1,),), ((1,),), together=1)
    assert outputs(first) != outputs(second)


def test_numpys_are_not_either() -> None:
    first, second = ran(of_numpy, ((1,),), ((1,),), together=1)
    assert outputs(first) != outputs(second)


def test_an_output_is_what_it_was_when_it_came() -> None:
    assert outputs(ran(reuses_a_buffer, ((1,), (2,)))[0]) == [[1], [2]]


def test_which_lines_are_reached() -> None:
    few, many, again = ran(branches, ((1,),), ((101,),), ((5,),), traced=True)
    assert few.lines == again.lines and few.lines != many.lines and few.lines


def test_a_function_of_its_own_output() -> None:
    assert outputs(ran(lambda x: x + 1, (Twice((1,)),))[0]) == [3]


@pytest.mark.parametrize("change", ["append", "sort"])
def test_an_argument_is_not_shared_by_calls(change: str) -> None:
    def changing(xs: list[int]) -> list[int]:
        xs.append(1) if change == "append" else xs.sort()
        return xs

    given = [3, 2]
    (seen,) = ran(changing, ((given,), (given,)), watched=True)
    first, second = outputs(seen)
    assert first == second == ([3, 2, 1] if change == "append" else [2, 3]) and given == [3, 2]
    assert seen.watched is not None and seen.watched.mutated
