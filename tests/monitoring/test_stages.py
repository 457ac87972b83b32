"""What Spark's workers are handed, without Spark: rows packed, shuffled, matched with a state, and made rows again.

Partitions, groups and batch ends are drawn. On Spark the same functions run in tests/monitoring/test_equivalence.py.
"""

import random
from collections import Counter, defaultdict
from decimal import Decimal
from types import SimpleNamespace

import pyarrow as pa
import pytest

import firesteel as fs
from firesteel import Record
from firesteel.evidence.monitoring import Said
from firesteel.monitoring.matching.plan import spread
from firesteel.monitoring.matching.step import with_places
from firesteel.spark.monitor import pairs as on_spark
from firesteel.spark.monitor import rules
from firesteel.spark.monitor.values import arrow_column, records_of
from firesteel.values import schemas
from firesteel.values.records import canonical
from tests.monitoring.pairs import ALONE, DEPENDENCES, EQUALITIES, SCHEMA, START, drawn, expected

PARSED = schemas.parse(SCHEMA)


class State:
    """As much of Spark's GroupState as the functions use."""

    def __init__(self):
        self.value, self.timeout, self.watermark, self.hasTimedOut = None, None, 0, False

    @property
    def exists(self):
        return self.value is not None

    @property
    def get(self):
        return self.value

    def update(self, value):
        self.value = value

    def remove(self):
        self.value = None

    def getCurrentWatermarkMs(self):
        return self.watermark

    def getCurrentProcessingTimeMs(self):
        return 1_000

    def setTimeoutTimestamp(self, at):
        assert at >= self.watermark
        self.timeout = at


@pytest.fixture
def task(monkeypatch):
    """What a task knows of itself."""
    now = SimpleNamespace(partition=0, batch=0)
    context = SimpleNamespace(partitionId=lambda: now.partition, getLocalProperty=lambda name: str(now.batch))
    monkeypatch.setattr("pyspark.TaskContext.get", lambda: context)
    return now


def batches_of(rows, schema, extra, most):
    """Record batches of at most so many rows."""
    for at in range(0, len(rows), most):
        part = rows[at : at + most]
        arrays = [arrow_column([row[field.name] for row in part], field.dataType) for field in schema.fields]
        arrays += [pa.array([function(row) for row in part], pa.int32()) for function in extra.values()]
        yield pa.RecordBatch.from_arrays(arrays, names=[*schema.fieldNames(), *extra])


def run(task, how, batches, draw, ends=()):
    """All rows that a monitor puts out; after the batches come calls at the watermarks `ends`."""
    states = defaultdict(State)
    group_of = {"_fs_group": lambda row: hash(canonical([row[name] for name in how.columns])) % how.groups}
    called = on_spark._Called(how.pairing.step, with_places, by_event_time=bool(ends))
    out = []
    for task.batch, sides in enumerate(batches):
        packs = defaultdict(list)
        task.partition = 0
        for side, rows in enumerate(sides):
            # A row's partition follows from its pair: the order of one pair stays what it is.
            parts = draw.randint(1, 3)
            for part in range(parts):
                own = [row for row in rows if row.pair % parts == part]
                is_mark = how.pairing.is_mark if how.pairing.barriers else None
                pack = on_spark._Packed(PARSED, side, is_mark)
                written = pack(batches_of(own, PARSED, group_of, draw.randint(1, 9)))
                for batch in written:
                    frame = batch.to_pandas()
                    for group, some in frame.groupby("group"):
                        packs[group].append(some)
                task.partition += 1
        for group, some in packs.items():
            draw.shuffle(some)  # a shuffle delivers in any order
            out += called((group,), some, states[group])
    for task.batch, watermark in enumerate(ends, len(batches)):
        for group, state in states.items():
            state.watermark = watermark
            if state.timeout is not None and state.timeout < watermark:
                state.hasTimedOut, state.timeout = True, None
                out += called((group,), [], state)
    rows = []
    for frame in out:
        part = pa.RecordBatch.from_pandas(frame, preserve_index=False)
        for made in on_spark._Rows(PARSED)([part]):
            assert made.schema.names == on_spark._output(PARSED).fieldNames()
            rows += made.to_pylist()
    return rows


def made(dependence, equal, **changed):
    options = {"event_time": None, "at_most": None, "overflow": "shed", "progress": False, "groups": 4}
    return spread(PARSED, dependence, equal, **{**options, **changed})


def batches_with(pairs, count):
    return [
        tuple([row for pair in pairs for row in pair.batches[number][side]] for side in (0, 1))
        for number in range(count)
    ]


def record(struct):
    return Record(struct)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["same_key", "barrier", "depends", "key or barrier"])
@pytest.mark.parametrize("equality", ["exact", "close"])
def test_500_pairs_in_one_query_as_one_matcher_each(task, name, equality):
    dependence, equal = DEPENDENCES[name], EQUALITIES[equality]
    draw = random.Random(f"{name}, {equality}")
    pairs = [drawn(draw, number, 4) for number in range(500)]
    told = {}
    for row in run(task, made(dependence, equal), batches_with(pairs, 4), draw):
        odd, other = (row["left"], row["right"]) if row["side"] == "left" else (row["right"], row["left"])
        place = row[f"{row['side']}_place"]
        assert odd["pair"] not in told
        told[odd["pair"]] = (row["side"], place["batch"], record(odd), record(other))
        assert row["id"] == f"pair={odd['pair']}/{row['side']}/" + "/".join(str(part) for part in place.values())
    wanted = {}
    for number, pair in enumerate(pairs):
        for outcome in expected(pair, dependence, equal).values():
            if outcome.difference is not None:
                wanted[number] = outcome.difference
    assert told == wanted
    assert len(wanted) > 50


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ordered", "barrier", "depends", "key or barrier", "two keys in turn"])
def test_500_pairs_that_do_not_reduce_to_keys_as_one_matcher_each(task, name):
    """Each pair by itself: all its rows are one stream, in one task."""
    dependence = ALONE[name]
    draw = random.Random(name)
    how = made(dependence, None)
    assert how.groups == 1
    differences = 0
    for number in range(500):
        pair = drawn(draw, number, 4)
        rows = run(task, how, batches_with([pair], 4), draw)
        (wanted,) = expected(pair, dependence, None).values() or (None,)
        assert len(rows) <= 1
        told = None
        for row in rows:
            odd, other = (row["left"], row["right"]) if row["side"] == "left" else (row["right"], row["left"])
            told = (row["side"], row[f"{row['side']}_place"]["batch"], record(odd), record(other))
            assert row["key"] is None
        assert told == (wanted and wanted.difference), pair
        differences += told is not None
    assert 50 < differences < 450


@pytest.mark.slow
@pytest.mark.parametrize("equality", EQUALITIES)
def test_500_pairs_without_an_order_as_matchers_that_are_finished(task, equality):
    equal = EQUALITIES[equality]
    draw = random.Random(equality)
    pairs = [drawn(draw, number, 4) for number in range(500)]
    ms = int(START.timestamp() * 1000)
    how = made(fs.unordered(), equal, event_time="ts")
    rows = run(task, how, batches_with(pairs, 4), draw, ends=[ms, ms + 4_000, ms + 100_000])
    wanted = Counter()
    for pair in pairs:
        matcher = fs.Matcher(fs.unordered(), equal=equal)
        for left, right in pair.batches:
            for each in left:
                matcher.left(each)
            for each in right:
                matcher.right(each)
        unmatched = zip(("left", "right"), matcher.unmatched, strict=True)
        wanted += Counter((side, each) for side, some in unmatched for each in some)
    assert Counter((row["side"], record(row[row["side"]])) for row in rows) == wanted
    assert len({row["id"] for row in rows}) == len(rows) > 100


def test_a_rule_gets_rows_in_order_with_all_their_types(task):
    schema = schemas.parse(
        "k DOUBLE, s STRUCT<x: INT, at: TIMESTAMP>, m MAP<STRING, DECIMAL(5,2)>, l ARRAY<BINARY>, d DATE, "
        "n TIMESTAMP_NTZ"
    )
    batch = fs.Batch(
        [
            (0.0, (1, START), {"a": Decimal("1.00")}, [b"x", None], START.date(), START.replace(tzinfo=None)),
            (-0.0, None, None, None, None, None),
            (float("nan"), (None, None), {}, [], None, None),
        ],
        schema=schema,
    )
    rows = list(batch)
    arrays = [arrow_column([row[field.name] for row in rows], field.dataType) for field in schema.fields]
    part = pa.RecordBatch.from_arrays(arrays, names=schema.fieldNames())
    assert list(records_of(part, schema)) == rows
    (written,) = rules._Written(schema, ("k",))([part])
    assert written.column("key").to_pylist() == ["[0.0]", "[0.0]", '[{"float":"nan"}]']
    assert written.column("position").to_pylist() == [0, 1, 2]
    said = Said("false", 1, 2, START, "why", tuple(written.column("record").to_pylist()), 3)
    made = pa.RecordBatch.from_pydict({"key": ["[0.5]"], "said": [rules._said_text(said)]})
    (out,) = rules._Rows(schema, ("k",))([made])
    (row,) = out.to_pylist()
    assert (row["k"], row["kind"], row["instant"], row["decided"], row["late"]) == (0.5, "false", 1, 2, 3)
    again = pa.RecordBatch.from_struct_array(out.column("records").flatten())
    assert list(records_of(again, schema)) == rows


def test_a_key_is_called_once_with_rows_in_order_and_again_when_its_time_has_come():
    import pandas as pd

    from firesteel.evidence.monitoring import Next

    calls = []

    def step(state, rows, now):
        calls.append((state, list(rows), now.watermark, now.timed_out))
        return Next(None, ()) if now.timed_out else Next("state", (), 9_999)

    state = State()
    called = rules._Called(step, "EventTimeTimeout")
    frames = [
        pd.DataFrame({"partition": [1, 0], "position": [0, 5], "record": ["c", "b"]}),
        pd.DataFrame({"partition": [0], "position": [1], "record": ["a"]}),
    ]
    assert list(called(("key",), frames, state)) == []
    assert (state.value, state.timeout) == (("state",), 9_999)
    state.watermark, state.hasTimedOut, state.value = 10_000, True, ("state",)
    list(called(("key",), frames, state))
    assert calls == [(None, ["a", "b", "c"], 0, False), ("state", [], 10_000, True)]
    assert not state.exists
