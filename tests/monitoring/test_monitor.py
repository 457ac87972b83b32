"""`fs.monitor` on Spark: the rule at every instant of every key, as the formula read on the whole trace."""

import random
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta

import pytest

import firesteel as fs
from firesteel.evidence.monitoring import Now
from firesteel.logic.ltl.asking import Memory
from firesteel.logic.ltl.explain import explain_at
from firesteel.monitoring.rule import KeyedRule
from firesteel.values import schemas
from firesteel.values.batches import Batch
from firesteel.values.record_texts import record_text
from firesteel.values.records import Record
from firesteel.values.traces import Instant
from tests.monitoring.files import Files, started, written

KEYS, BATCHES = 500, 8
START = datetime(2030, 1, 1, tzinfo=UTC)


def total(now):
    return sum(record.n for record in now.input)


RULE = fs.implies(lambda now: total(now) > 3, fs.eventually(lambda now: total(now) == 0, within=2)) & fs.let(
    lambda first: fs.next_(lambda second: total(second) <= total(first) + 2)
) | fs.once(lambda now: total(now) == 5)
INTERVALS = fs.pptl("(small and skip)* ; big", small=lambda now: total(now) < 4, big=lambda now: total(now) > 4)

OF_BATCHES = {"formula": (RULE, KEYS), "intervals": (INTERVALS, 100)}
"""Rules, and for how many keys they are judged."""


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
    stream = files.stream().repartition(3)
    frames = {name: fs.monitor(stream.where(f"k < {keys}"), rule, key="k") for name, (rule, keys) in OF_BATCHES.items()}
    for half in (batches[: BATCHES // 2], batches[BATCHES // 2 :]):  # the second one goes on from the checkpoint
        for batch in half:
            files.batch(batch)
        for query in [started(frame, folder / name) for name, frame in frames.items()]:
            query.awaitTermination()
    return {name: written(frame, folder / name) for name, frame in frames.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_BATCHES)
def test_the_rule_is_judged_at_every_instant_of_every_key_across_a_restart(of_batches, batches, name):
    traces = defaultdict(list)
    for batch in batches:
        by_key = defaultdict(list)
        for row in batch:
            by_key[row[0]].append(row)
        for key, rows in by_key.items():
            traces[key].append(instant(len(traces[key]), rows))
    rule, keys = OF_BATCHES[name]
    wanted = {
        (key, at) for key, trace in traces.items() if key < keys for at in false_instants(rule, trace, ended=False)
    }
    found = [(row.k, row.instant) for row in of_batches[name]]
    assert len(found) == len(set(found))
    assert set(found) == wanted
    assert len(wanted) > keys


@pytest.mark.slow
def test_a_row_says_what_decided_it(of_batches):
    for row in [*of_batches["formula"][:200], *of_batches["intervals"][:200]]:
        assert row.kind == "false"
        assert row.decided >= row.instant
        assert row.reason
        assert row.late == 0
        assert row.records
        assert {record.k for record in row.records} == {row.k}
        assert row.records[0].ts == row.records[0].ts.replace(year=2030)


# --- keys that finish by the clock ---

CLOSING = fs.eventually(lambda now: total(now) > 3)


def until(query, is_so, seconds=150):
    """Wait until something holds of the query's last micro-batch."""
    end = time.monotonic() + seconds
    while not (query.lastProgress is not None and is_so(query.lastProgress)):
        assert query.isActive, query.exception()
        assert time.monotonic() < end, query.lastProgress
        time.sleep(0.1)


@pytest.mark.slow
def test_keys_without_rows_are_finished_by_the_clock_and_begin_anew(spark, tmp_path):
    """Spark goes on with micro-batches while keys wait for the clock: so the query is stopped when none is left."""
    draw = random.Random(5)
    batches = [[(k, draw.randint(0, 4), START) for k in range(KEYS) if draw.random() < 0.5] for _ in range(3)]
    files = Files(spark, tmp_path / "in", "k INT, n INT, ts TIMESTAMP")
    frame = fs.monitor(files.stream(), CLOSING, key="k", idle="3 seconds")
    writer = frame.writeStream.format("parquet").option("path", str(tmp_path / "out"))
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(processingTime="1 second")
    files.batch(batches[0])
    files.batch(batches[1])
    query = writer.start()
    try:
        until(query, lambda last: last["batchId"] > 1 and last["stateOperators"][0]["numRowsTotal"] == 0)
        before = query.lastProgress["batchId"]
        files.batch(batches[2])
        until(query, lambda last: last["batchId"] > before and last["stateOperators"][0]["numRowsTotal"] > 0)
        until(query, lambda last: last["stateOperators"][0]["numRowsTotal"] == 0)
    finally:
        query.stop()
    wanted = Counter()
    for trace_of in (batches[:2], batches[2:]):
        traces = defaultdict(list)
        for batch in trace_of:
            for row in batch:
                traces[row[0]].append(instant(len(traces[row[0]]), [row]))
        for key, trace in traces.items():
            wanted += Counter((key, at) for at in false_instants(CLOSING, trace, ended=True))
    found = written(frame, tmp_path)
    assert Counter((row.k, row.instant) for row in found) == wanted
    assert len(wanted) > KEYS // 4
    assert all(row.decided is None for row in found)


# --- windows ---

MINUTE = timedelta(minutes=1)
OVER = fs.tumbling("1 minute", on="ts")
DELAY, IDLE = 3 * MINUTE, 5 * MINUTE
# `eventually` without a bound closes only when a key is finished.
FINISHED = fs.eventually(lambda now: total(now) > 6) | fs.next_(lambda now: not now.input)


@pytest.fixture(scope="module")
def in_time():
    """Rows whose event time goes on by two minutes a batch, some of them too late."""
    draw = random.Random(7)
    return [
        [
            (k, draw.randint(0, 4), START + MINUTE * (2 * number - draw.choice([0, 0, 1, 1, 2, 4, 9])))
            for k in range(KEYS)
            if draw.random() < 0.4
            for _ in range(draw.randint(1, 2))
        ]
        for number in range(BATCHES)
    ]


@pytest.fixture(scope="module")
def of_windows(spark, in_time, tmp_path_factory):
    """What two rules over windows put out: one for keys that never finish, one with `idle=`."""
    folder = tmp_path_factory.mktemp("windows")
    files = Files(spark, folder / "in", "k INT, n INT, ts TIMESTAMP", per_batch=2)
    stream = files.stream().withWatermark("ts", "3 minutes")
    frames = {
        "for ever": fs.monitor(stream, RULE, key="k", over=OVER),
        "idle": fs.monitor(stream, FINISHED, key=["k"], over=OVER, idle="5 minutes"),
    }
    for half in (in_time[: BATCHES // 2], in_time[BATCHES // 2 :]):
        for batch in half:
            files.batch(batch)
        for query in [started(frame, folder / name) for name, frame in frames.items()]:
            query.awaitTermination()
    return {name: written(frame, folder / name) for name, frame in frames.items()}


def watermarks(batches):
    """The watermark of each micro-batch, and of the one without rows that follows the last."""
    found, latest = [datetime(1970, 1, 1, tzinfo=UTC)], None
    for batch in batches:
        latest = max([ts for _, _, ts in batch] + ([latest] if latest else []))
        found.append(latest - DELAY)
    return found


@pytest.mark.slow
def test_windows_of_every_key_are_judged_when_the_watermark_passes_them(of_windows, in_time):
    marks = watermarks(in_time)
    held, late = defaultdict(lambda: defaultdict(list)), defaultdict(int)
    for batch, mark in zip(in_time, marks, strict=False):
        for k, n, ts in batch:
            start = ts.replace(second=0)
            if start + MINUTE <= mark:
                late[k] += 1
            else:
                held[k][start].append((k, n, ts))
    wanted = set()
    for key, windows in held.items():
        first, trace = min(windows), []
        while first + MINUTE <= marks[-1]:
            trace.append(instant(len(trace), windows[first]))
            first += MINUTE
        wanted |= {(key, at) for at in false_instants(RULE, trace, ended=False)}
    rows = of_windows["for ever"]
    found = [(row.k, row.instant) for row in rows if row.kind == "false"]
    assert len(found) == len(set(found))
    assert set(found) == wanted
    assert len(wanted) > KEYS // 2
    counted = defaultdict(int)
    for row in rows:
        if row.kind == "late":
            counted[row.k] += len(row.records)
    assert counted == late
    assert sum(late.values()) > 100


@pytest.mark.slow
def test_idle_keys_are_finished_as_the_state_of_one_key_says(of_windows, in_time):
    judged = KeyedRule(FINISHED, schemas.parse("k INT, n INT, ts TIMESTAMP"), OVER, IDLE)
    states, wakes, wanted = {}, {}, set()
    numbers = [int(mark.timestamp() * 1000) for mark in watermarks(in_time)]
    half = BATCHES // 2
    calls = [*zip(in_time[:half], numbers, strict=False), ([], numbers[half])]
    calls += [*zip(in_time[half:], numbers[half:], strict=False), ([], numbers[-1])]
    for batch, mark in calls:
        rows = defaultdict(list)
        for k, n, ts in batch:
            rows[k].append(record_text(Record(k=k, n=n, ts=ts)))
        for key in {*rows, *(key for key, wake in wakes.items() if wake < mark)}:
            after = judged.step(states.get(key), rows[key], Now(mark, 0))
            states[key], wakes[key] = after.state, after.wake if after.wake is not None else mark + 10**12
            wanted |= {
                (key, said.kind, said.instant, said.decided, mark) for said in after.said if said.kind == "false"
            }
    found = [(row.k, row.kind, row.instant, row.decided) for row in of_windows["idle"] if row.kind == "false"]
    assert sorted(found, key=str) == sorted((each[:4] for each in wanted), key=str)
    assert any(decided is None for *_, decided in found)


# --- what is refused ---


def test_what_a_monitor_cannot_follow_is_refused_before_anything_starts(spark):
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    rule = fs.now(lambda now: len(now.input) < 5)
    with pytest.raises(fs.InvalidArgument, match="no watermark on 'timestamp', so nothing says when all its rows have"):
        fs.monitor(stream, rule, over=fs.tumbling("1 minute", on="timestamp"))
    with pytest.raises(fs.InvalidArgument, match="has no column 'ts': its columns are 'timestamp', 'value'"):
        fs.monitor(stream, rule, over=fs.tumbling("1 minute", on="ts"))
    with pytest.raises(fs.InvalidArgument, match="key='user'"):
        fs.monitor(stream, rule, key="user")
    with pytest.raises(fs.InvalidArgument, match="holds an aggregation"):
        fs.monitor(stream.groupBy("value").count(), rule)
    with pytest.raises(fs.InvalidArgument, match="is not a streaming DataFrame"):
        fs.monitor(spark.range(3), rule)
    with pytest.raises(fs.InvalidArgument, match="rule=True"):
        fs.monitor(stream, True)
    with pytest.raises(fs.InvalidArgument, match="idle='soon'"):
        fs.monitor(stream, rule, idle="soon")
