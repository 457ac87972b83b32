"""The search on those operators of the suite whose steps are plain Python: all violations are found, nothing else is.

A step is called here as Spark calls it: for each key of a batch, with what was kept. So this is about how tests are
made and judged, and not about Spark.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from firesteel.logic.verdicts import Verdict
from firesteel.operators.onspark.examine import Budget, Examiner
from firesteel.operators.onspark.feeds import Feed, Gave, Result
from firesteel.operators.onspark.making import Maker
from firesteel.operators.onspark.model import About
from firesteel.operators.onspark.running import Runner
from firesteel.values.records import make_record

ROOT = Path(__file__).parents[3]
STEPS = {  # the processor of each, and whether one group holds all keys
    "a running count, appended": ("RunningCount", False),
    "a running sum, appended": ("RunningSum", False),
    "what changed": ("Changed", False),
    "every third record": ("EveryThird", False),
    "sums of three records": ("ThreeRecords", False),
    "the largest of a delta window": ("DeltaMax", False),
    "the count of a delta window": ("DeltaCount", False),
    "a sort over a delta window": ("DeltaSort", True),
    "numbered in turn": ("InTurn", True),
    "a vault with one code": ("Vault", True),
    "a lookup of the latest": ("Lookup", False),
    "how many on each side": ("Sides", False),
    "a turnstile that drops": ("Turnstile", False),
    "records of a lifetime, of two ports": ("Larger", False),
    "muted by one word": ("Muted", False),
    "a gate for each key": ("Gate", False),
    "one gate for all keys": ("Gate", True),
    "a gate with a password": ("PasswordGate", False),
    "a gate that lets 1,000 pass": ("WideGate", False),
    "a barrier": ("Barrier", False),
    "sums on a tick": ("OnTick", False),
    "two streams in step": ("InStep", False),
}


@pytest.fixture(scope="module")
def suite() -> Iterator[Any]:
    sys.path.insert(0, str(ROOT))
    from benchmarks.operators import holding, keyed, ports, suite

    named = {name: value for module in (keyed, ports, holding) for name, value in vars(module).items()}
    yield {each.name: (each, named) for each in suite.instances()}
    sys.path.remove(str(ROOT))


class InPython(Runner):
    """Calls the step of a processor in place of Spark."""

    def __init__(self, operator: Any, stepping: Any, *, for_all: bool) -> None:
        super().__init__(None, operator)  # type: ignore[arg-type]
        self._stepping, self._for_all = stepping, for_all
        self._results: dict[str, Result] = {}

    def screened(self, feeds: Sequence[Feed]) -> list[Result]:
        return [self.alone(feed) for feed in feeds]

    def alone(self, feed: Feed) -> Result:
        return self._results.setdefault(repr(feed), self._gave(feed))

    def _gave(self, feed: Feed) -> Gave:
        kept: dict[str, str] = {}
        stepping = self._stepping()
        return Gave(tuple(tuple(self._stepped(stepping, batch, kept)) for batch in feed.batches))

    def _stepped(self, stepping: Any, batch: Any, kept: dict[str, str]) -> Iterator[Any]:
        groups: dict[str, list[tuple[Any, ...]]] = {}
        names = {"left": "a left", "right": "b right"}
        for name, row in batch:
            columns = dict(zip(self.operator.port(name).columns, row, strict=True), port=names.get(name))
            group = "all" if self._for_all else columns["k"]
            groups.setdefault(group, []).append(tuple(columns[each] for each in stepping.reads))
        for group, rows in groups.items():
            before = json.loads(kept[group]) if group in kept else None
            after, out = stepping.step(before, sorted(rows))
            kept[group] = json.dumps(after)
            yield from (make_record(dict(zip(stepping.writes, row, strict=True))) for row in out)


@dataclass(frozen=True)
class Answered:
    """What the search said of an instance."""

    evidence: set[str]
    claimed_no: set[str]
    claimed_yes: set[str]


def answered(suite: Any, name: str, seed: int) -> Answered:
    from firesteel.operators.onspark.analysis import possible, why_not

    instance, named = suite[name]
    stepping, for_all = STEPS[name]
    operator = instance.operator
    runner = InPython(operator, named[stepping], for_all=for_all)
    examiner = Examiner(About(operator), runner, Maker(operator, seed=seed), shrinks=False)
    claimed = [each for each in (*instance.no, *instance.yes) if each in possible(operator)]
    found = set()
    for each in claimed:
        assert why_not(each, operator) is None
        tests = 300 if each in instance.no else 100
        if examiner.answer(each, Budget(tests, time.monotonic() + 60)).verdict is Verdict.FALSE:
            found.add(each)
    return Answered(found, set(instance.no), set(instance.yes))


@pytest.mark.parametrize("name", STEPS)
def test_all_violations_are_found_and_nothing_else(suite: Any, name: str) -> None:
    found = answered(suite, name, seed=0)
    assert found.evidence == found.claimed_no, f"missed {found.claimed_no - found.evidence}, flagged {found.evidence}"


@pytest.mark.sweep
@pytest.mark.parametrize("name", STEPS)
def test_with_other_seeds_nearly_all_are_found(suite: Any, name: str, sweep_seed: int) -> None:
    wanted, missed = 0, []
    for seed in range(10 * sweep_seed + 1, 10 * sweep_seed + 11):
        found = answered(suite, name, seed)
        assert not found.evidence & found.claimed_yes
        wanted += len(found.claimed_no)
        missed += [(seed, each) for each in found.claimed_no - found.evidence]
    assert len(missed) <= wanted / 10, missed
