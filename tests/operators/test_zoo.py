"""The zoo: evidence is found where there is some, and no look-alike is ever flagged."""

from __future__ import annotations

from collections import Counter

import pytest

from firesteel import Verdict
from firesteel.operators.analysis import Wanted, analyze
from firesteel.operators.order import possible
from firesteel.values.equality import EXACT
from tests.operators.zoo import OTHERS, SIX, Instance, instances

ALL = instances()


def wrong(instance: Instance, tests: int, seed: int = 0) -> list[str]:
    """Look-alikes that were flagged, and violations that were missed."""
    names = tuple(dict.fromkeys((*instance.no, *instance.yes)))
    options = instance.options
    found = analyze(
        Wanted(
            instance.operator,
            names,
            sample=options.get("sample"),
            equal=options.get("equal", EXACT),
            tests=tests,
            seconds=120,
            seed=seed,
        )
    )
    said = {finding.property: finding for finding in found.findings}
    flagged = [f"flagged {name}: {said[name].proof}" for name in instance.yes if said[name].verdict is Verdict.FALSE]
    missed = [f"missed {name}" for name in instance.no if said[name].verdict is not Verdict.FALSE]
    return flagged + missed


def test_there_are_enough() -> None:
    violated = Counter(name for each in ALL for name in each.no)
    kept = Counter(name for each in ALL for name in each.yes)
    assert len(ALL) >= 60 and len({each.name for each in ALL}) == len(ALL)
    assert {name: violated[name] for name in SIX if violated[name] < 12 or kept[name] < 12} == {}
    assert {name: violated[name] for name in OTHERS if violated[name] < 6 or kept[name] < 6} == {}


@pytest.mark.parametrize("instance", ALL, ids=lambda each: each.name)
def test_every_answer_is_argued_and_makes_sense(instance: Instance) -> None:
    assert instance.why and not set(instance.no) & set(instance.yes)
    assert set(instance.no) | set(instance.yes) <= set(possible(instance.operator.kind))


def few() -> list[Instance]:
    """As few as possible in which every property is violated by one, and has a look-alike."""
    wanted = {(name, violated) for name in (*SIX, *OTHERS) for violated in (True, False)}
    chosen: list[Instance] = []
    while wanted:
        best = max(ALL, key=lambda each: len(wanted & answers(each)))
        chosen.append(best)
        wanted -= answers(best)
    return chosen


def answers(instance: Instance) -> set[tuple[str, bool]]:
    return {(name, True) for name in instance.no} | {(name, False) for name in instance.yes}


@pytest.mark.slow
@pytest.mark.parametrize("instance", few(), ids=lambda each: each.name)
def test_some_of_the_zoo(instance: Instance) -> None:
    assert wrong(instance, tests=40) == []


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("instance", ALL, ids=lambda each: each.name)
def test_all_of_the_zoo(instance: Instance) -> None:
    assert wrong(instance, tests=1000, seed=1) == []
