"""The suite of operators on Spark: its table says what the instances say, and there is enough of everything."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def suite() -> Iterator[Any]:
    sys.path.insert(0, str(ROOT))
    from benchmarks.operators import suite

    yield suite
    sys.path.remove(str(ROOT))


def test_the_table_is_what_the_instances_say(suite: Any) -> None:
    assert suite.TABLE.read_text() == suite.as_text(suite.instances()), "python -m benchmarks.operators.suite makes it"


def test_there_are_enough_of_every_kind(suite: Any) -> None:
    table = json.loads(suite.TABLE.read_text())
    assert len(table) >= 60 and len({each["name"] for each in table}) == len(table)
    for name in suite.SIX:
        found = Counter(each["answers"][name] for each in table)
        assert found[True] >= 12 and found[False] >= 12, f"{name}: {found}"
    assert 2 * sum(bool(each["surprise"]) for each in table) >= len(table)
    kinds = {each["kind"].split(",")[0] for each in table}
    assert kinds == {"transformation", "processor", "state_function", "sink", "udtf", "expression"}
    engines = {each["kind"] for each in table if each["kind"].startswith("transformation")}
    assert engines == {f"transformation, {each}" for each in ("structured", "batch", "rdd", "dstream")}


def test_the_kinds_and_the_failures_of_the_paper_are_there(suite: Any) -> None:
    said = " ".join(each["like"] for each in json.loads(suite.TABLE.read_text()))
    kinds = "windowed aggregate, join, deduplicate, split, union, gate, throttle, delay, barrier, punctor, custom state"
    failed = "120 s, three concatenated strings, 1,000 records, a delta window, very specific input"
    for each in (*kinds.split(", "), *failed.split(", ")):
        assert each in said
    assert said.count("failed: a delta window") == 3


def test_answers_do_not_contradict_the_model(suite: Any) -> None:
    from firesteel.operators.onspark.analysis import possible, why_not

    for each in suite.instances():
        assert each.why and not set(each.no) & set(each.yes), each.name
        claimed = {*each.no, *each.yes}
        assert claimed <= set(possible(each.operator)), each.name
        assert all(why_not(name, each.operator) is None for name in claimed), each.name
        if "non_blocking" in each.no:
            assert "stateless" in each.no, f"{each.name}: what blocks is stateful"
        if "stateless" in each.yes and each.fires:
            assert "commutative" in each.yes, each.name
            assert "partition_isolated" in each.yes or not each.operator.key, each.name
        if "deterministic" in each.no:
            assert each.no == ("deterministic",) and not each.yes, f"{each.name}: the order comes to nothing else"
