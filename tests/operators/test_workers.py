"""The worker: what a function leaves behind, other days, delays, what it is seen to do."""

from __future__ import annotations

import datetime
import importlib
import random
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from numpy.random import rand

from firesteel import operators
from firesteel.evidence.operators import Firing
from firesteel.operators.analysis import Wanted, analyze
from firesteel.operators.execute import Loaded
from firesteel.operators.outcomes import Gave, Job, Seen, Twice
from firesteel.operators.sending import CannotLoad
from firesteel.operators.workers import Workers, _stop_idle
from tests.operators.zoo import instances

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


def test_a_worker_loads_little_and_the_rest_when_it_is_asked_for() -> None:
    # Functions within functions are sent by value, so this module is not imported there.
    def heavy_modules(x: int) -> list[str]:
        import sys

        return sorted({"firesteel.api", "pyspark"} & set(sys.modules))

    def asks_for_firesteel(x: int) -> list[str]:
        import firesteel as fs

        return [fs.equality().__class__.__name__, fs.operators.reducer(max).name, fs.Verdict.TRUE.name]

    _stop_idle()  # those that wait have loaded what earlier tests needed
    assert outputs(ran(heavy_modules, ((1,),))[0]) == [[]]
    assert outputs(ran(asks_for_firesteel, ((1,),))[0]) == [["Equality", "max", "TRUE"]]


def test_modules_that_the_user_sends_by_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark import cloudpickle

    (tmp_path / "only_here.py").write_text("def twice(x): return 2 * x")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("only_here")
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != str(tmp_path)])
    loaded = Loaded(operators.function(module.twice))
    with pytest.raises(CannotLoad, match="only_here"), Workers(loaded) as workers:
        workers.ready()
    cloudpickle.register_pickle_by_value(module)
    try:
        assert outputs(ran(module.twice, ((3,),))[0]) == [6]
    finally:
        cloudpickle.unregister_pickle_by_value(module)


@pytest.mark.parametrize("name", ["clips_in_place", "fills_in_place", "sorts_in_place", "zeroes_then_adds"])
def test_a_frame_that_is_changed_in_place(name: str) -> None:
    (instance,) = [each for each in instances() if each.operator.name == name]
    (finding,) = analyze(Wanted(instance.operator, ("pure",), tests=40)).findings
    assert isinstance(finding.proof, Firing) and "became" in finding.proof.did[0]


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
