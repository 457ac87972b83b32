"""The driver of three monitors is killed again and again: the same verdicts as without, none lost, none twice."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from datetime import timedelta
from pathlib import Path

import pytest

from firesteel import Matcher, Record, unordered
from firesteel.logic.ltl.asking import Memory
from firesteel.logic.ltl.explain import explain_at
from firesteel.logic.verdicts import Verdict
from firesteel.values.batches import Batch
from firesteel.values.traces import Instant
from tests.monitoring.files import Files
from tests.monitoring.killed import RULE, frames
from tests.monitoring.pairs import DEPENDENCES, SCHEMA, START, Pair, drawn, expected

ROOT = Path(__file__).parent.parent.parent
KILLS, PAIRS, BATCHES, PATIENCE = 10, 60, 40, 180
DAYS = 4


def started(folder, *more):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.monitoring.killed", str(folder), *more],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def killed(folder, draw, *, early):
    """Start the process, and kill it with all that it started: some time after its first micro-batch, or any time."""
    process = started(folder)
    patience = threading.Timer(PATIENCE, os.killpg, (process.pid, signal.SIGKILL))  # then the next line is empty
    patience.start()
    try:
        if early:
            time.sleep(draw.uniform(0, 12))
        else:
            assert process.stdout.readline() == "running\n"
            time.sleep(draw.uniform(0, 3))
    finally:
        patience.cancel()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
        process.stdout.close()


def on_one_day(draw, number):
    """A pair whose rows all come in the batches of one day, so that the watermark passes them on the next one.

    No match comes later than the watermark. What is late hangs on the micro-batch in which it comes, and after a kill
    Spark may read the files of two micro-batches in one.
    """
    day, length = number % DAYS, BATCHES // DAYS
    nothing = (((), ()),)
    rows = tuple(
        tuple([Record(pair=r.pair, kind=r.kind, n=r.n, ts=r.ts + timedelta(days=day)) for r in side] for side in both)
        for both in drawn(draw, number, length).batches
    )
    return Pair(nothing * (day * length) + rows + nothing * ((DAYS - 1 - day) * length))


@pytest.mark.sweep
def test_ten_kills_change_nothing(spark, tmp_path, sweep_seed):
    draw = random.Random(sweep_seed)
    pairs = [on_one_day(draw, number) for number in range(PAIRS)]
    files = Files(spark, tmp_path / "in", f"file INT, side INT, {SCHEMA}")
    for number in range(BATCHES):
        files.batch((0, side, *row) for side in (0, 1) for streams in pairs for row in streams.batches[number][side])
        kill, rest = divmod(number + 1, BATCHES // KILLS)
        if not rest:  # so that every process finds new files
            killed(tmp_path, draw, early=kill % 3 == 0)
    for day in (DAYS, DAYS + 1):  # the second finds the watermark that the first one moved
        files.batch([(0, side, -1, "end", 0.0, START + timedelta(days=day)) for side in (0, 1)])
    whole = tmp_path / "whole"
    shutil.copytree(tmp_path / "in", whole / "in")
    for folder in (tmp_path, whole):
        last = started(folder, "once")
        assert last.wait(PATIENCE) == 0
        last.stdout.close()
    for name in ("equivalence", "unordered", "rule"):
        starts = sorted(int(path.name) for path in (tmp_path / f"{name}-state" / "commits").glob("[0-9]*"))
        print(f"{name}: {KILLS} kills, {len(starts)} micro-batches, the last one {starts[-1]}")
    made = frames(spark, tmp_path)
    found, without = (
        {name: spark.read.schema(made[name].schema).parquet(str(folder / name)).collect() for name in made}
        for folder in (tmp_path, whole)
    )
    said, wanted_said = (
        Counter((row.side, str(row.left), str(row.right)) for row in rows["unordered"]) for rows in (found, without)
    )
    assert said == wanted_said
    assert len({row.id for row in found["unordered"]}) == len(found["unordered"]) > PAIRS // 2
    left_over = Counter()
    for pair in pairs:
        matcher = Matcher(unordered())
        for left, right in pair.batches:
            for feed, rows in ((matcher.left, left), (matcher.right, right)):
                for row in rows:
                    feed(row)
        for side, rows in zip(("left", "right"), matcher.unmatched, strict=True):
            left_over.update((side, row.pair) for row in rows)
    assert Counter((row.side, (row.left or row.right).pair) for row in found["unordered"]) == left_over

    places = [row.left_place if row.side == "left" else row.right_place for row in found["equivalence"]]
    told = [(row.key, row.side, place.batch) for row, place in zip(found["equivalence"], places, strict=True)]
    wanted = []
    for number, pair in enumerate(pairs):
        for outcome in expected(pair, DEPENDENCES["same_key"], None).values():
            if outcome.difference is not None:
                wanted.append((f"pair={number}", *outcome.difference[:2]))
    assert sorted(told) == sorted(wanted)
    assert wanted

    traces = defaultdict(list)
    for number in range(BATCHES):
        for pair, streams in enumerate(pairs):
            rows = streams.batches[number][0]
            if rows:
                traces[pair].append(Instant(len(traces[pair]), {"input": Batch(rows)}))
    false = [
        (pair, at)
        for pair, trace in traces.items()
        for at in range(len(trace))
        if explain_at(RULE, at, trace, Memory(), ended=False).verdict is Verdict.FALSE
    ]
    assert sorted((row.pair, row.instant) for row in found["rule"]) == sorted(false)
    assert false
    print(
        f"the same {len(wanted)} differences, {len(found['unordered'])} rows that stay unmatched, and {len(false)} "
        "instants at which the rule is false"
    )
