"""`fs.monitor` on Spark: the rule at every instant of every key, as the formula read on the whole trace."""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest

import firesteel as fs
from firesteel.logic.ltl.asking import Memory
from firesteel.logic.ltl.explain import explain_at
from firesteel.values.batches import Batch
from firesteel.values.records import Record
from firesteel.values.traces import Instant
from tests.monitoring.files import Files, run

KEYS, BATCHES = 500, 8
START = datetime(2030, 1, 1, tzinfo=UTC)


def total(now):
    return sum(record.n for record in now.input)


RULE = fs.implies(lambda now: total(now) > 3, fs.eventually(lambda now: total(now) == 0, within=2)) & fs.let(
    lambda first: fs.next_(lambda second: total(second) <= total(first) + 2)
) | fs.once(lambda now: total(now) == 5)


def false_instants(rule, trace, *, ended):
    return {
        at for at in range(len(trace)) if explain_at(rule, at, trace, Memory(), ended=ended).verdict is fs.Verdict.FALSE
    }


def instant(index, rows):
    return Instant(index, {"input": Batch([Record(k=k, n=n, ts=ts) for k, n, ts in rows])})


@pytest.fixture(scope="module")
def batches():
    draw = random.Random(24)
    return [
        [(k, draw.randint(0, 4), START) for k in range(KEYS) if draw.random() < 0.7 for _ in range(draw.randint(1, 2))]
        for _ in range(BATCHES)
    ]


@pytest.fixture(scope="module")
def of_batches(spark, batches, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    files = Files(spark, folder / "in", "k INT, n INT, ts TIMESTAMP", per_batch=2)
    frame = fs.monitor(files.stream().repartition(3), RULE, key="k")
    for batch in batches[: BATCHES // 2]:
        files.batch(batch)
    run(frame, folder)
    for batch in batches[BATCHES // 2 :]:
        files.batch(batch)
    return run(frame, folder)  # from its checkpoint


@pytest.mark.slow
def test_the_rule_is_judged_at_every_instant_of_every_key_across_a_restart(of_batches, batches):
    traces = defaultdict(list)
    for batch in batches:
        by_key = defaultdict(list)
        for row in batch:
            by_key[row[0]].append(row)
        for key, rows in by_key.items():
            traces[key].append(instant(len(traces[key]), rows))
    wanted = {(key, at) for key, trace in traces.items() for at in false_instants(RULE, trace, ended=False)}
    found = [(row.k, row.instant) for row in of_batches]
    assert len(found) == len(set(found))
    assert set(found) == wanted
    assert len(wanted) > KEYS


@pytest.mark.slow
def test_a_row_says_what_decided_it(of_batches):
    for row in of_batches[:200]:
        assert row.kind == "false"
        assert row.decided >= row.instant
        assert row.reason
        assert row.late == 0
        assert row.records
        assert {record.k for record in row.records} == {row.k}
        assert row.records[0].ts == row.records[0].ts.replace(year=2030)
