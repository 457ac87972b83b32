"""`fs.monitor_equivalence` on Spark: the verdicts of one `Matcher` a key, whatever the batches and partitions."""

import random
from collections import Counter
from datetime import timedelta

import pytest

import firesteel as fs
from firesteel import Record
from tests.monitoring.files import Files, started, written
from tests.monitoring.pairs import DEPENDENCES, EQUALITIES, SCHEMA, START, drawn, expected

PAIRS, BATCHES = 500, 4
CASES = {
    "same_key": (DEPENDENCES["same_key"], None),
    "barrier": (DEPENDENCES["barrier"], None),
    "depends": (DEPENDENCES["depends"], None),
    "close": (DEPENDENCES["key or barrier"], EQUALITIES["close"]),
    "unordered": (fs.unordered(), None),
}


def record(row):
    return Record(pair=row.pair, kind=row.kind, n=row.n, ts=row.ts and row.ts.astimezone(START.tzinfo))


@pytest.fixture(scope="module")
def pairs():
    draw = random.Random(24)
    return [drawn(draw, number, BATCHES) for number in range(PAIRS)]


@pytest.fixture(scope="module")
def found(spark, pairs, tmp_path_factory):
    """What each of the monitors put out. All read the same files; each was started again in the middle."""
    folder = tmp_path_factory.mktemp("pairs")
    files = Files(spark, folder / "in", f"file INT, side INT, {SCHEMA}", per_batch=2)
    stream = files.stream()
    left, right = (stream.where(f"side = {side}").select("pair", "kind", "n", "ts") for side in (0, 1))
    frames = {
        name: fs.monitor_equivalence(
            left,
            right,
            dependence=dependence,
            equal=equal,
            watermark=("ts", "1 hour") if name == "unordered" else None,
            groups=5,
        )
        for name, (dependence, equal) in CASES.items()
    }
    halves = [range(BATCHES // 2), range(BATCHES // 2, BATCHES)]
    for half in halves:
        for number in half:
            files.batch(
                (pair % 2, side, *r)
                for side in (0, 1)
                for pair, streams in enumerate(pairs)
                for r in streams.batches[number][side]
            )
        if half is halves[-1]:  # a row on both sides that moves the watermark past all others
            files.batch([(0, side, -1, "end", 0.0, START + timedelta(days=1)) for side in (0, 1)])
        for query in [started(frame, folder / name) for name, frame in frames.items()]:
            query.awaitTermination()
    return {name: written(frame, folder / name) for name, frame in frames.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name != "unordered"])
def test_as_one_matcher_a_key(found, pairs, name):
    dependence, equal = CASES[name]
    wanted = {}
    for number, pair in enumerate(pairs):
        for outcome in expected(pair, dependence, equal).values():
            if outcome.difference is not None:
                wanted[number] = outcome.difference
    told = {}
    for row in found[name]:
        assert row.kind == "difference"
        odd, other = (row.left, row.right) if row.side == "left" else (row.right, row.left)
        place = row.left_place if row.side == "left" else row.right_place
        assert odd.pair not in told
        told[odd.pair] = (row.side, place.batch, record(odd), record(other))
        assert row.key == f"pair={odd.pair}"
        assert row.id == f"pair={odd.pair}/{row.side}/{place.batch}/{place.partition}/{place.position}"
    assert told == wanted
    assert 50 < len(wanted) < PAIRS - 50


@pytest.mark.slow
def test_unordered_as_a_matcher_that_is_finished(found, pairs):
    wanted = Counter()
    for pair in pairs:
        matcher = fs.Matcher(fs.unordered())
        for left, right in pair.batches:
            for r in left:
                matcher.left(r)
            for r in right:
                matcher.right(r)
        wanted += Counter(
            (side, r) for side, some in zip(("left", "right"), matcher.unmatched, strict=True) for r in some
        )
    told = Counter((row.side, record(row.left or row.right)) for row in found["unordered"])
    assert told == wanted
    assert {row.kind for row in found["unordered"]} == {"unmatched"}
    ids = [row.id for row in found["unordered"]]
    assert len(set(ids)) == len(ids)


def numbers(spark):
    return spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()


def test_frames_that_cannot_be_compared_are_refused_before_anything_starts(spark):
    stream = numbers(spark)
    by_key = {"dependence": fs.same_key("value")}
    with pytest.raises(
        fs.InvalidArgument, match="left and right have different columns: n: not there on the left, INT"
    ):
        fs.monitor_equivalence(stream, stream.selectExpr("*", "1 AS n"), **by_key)
    with pytest.raises(fs.InvalidArgument, match=r"right=... holds an aggregation.*update mode"):
        fs.monitor_equivalence(stream, stream.groupBy("value").count(), **by_key)
    with pytest.raises(fs.InvalidArgument, match=r"left=... is not a streaming DataFrame"):
        fs.monitor_equivalence(spark.range(1), stream, **by_key)
    with pytest.raises(fs.InvalidArgument, match=r"unordered\(\) needs watermark="):
        fs.monitor_equivalence(stream, stream, dependence=fs.unordered())
    with pytest.raises(fs.InvalidArgument, match="no watermark on 'timestamp'"):
        fs.monitor_equivalence(stream, stream, dependence=fs.unordered(), watermark="timestamp")
    with pytest.raises(fs.InvalidArgument, match="asks for the column 'user': the frames have 'timestamp', 'value'"):
        fs.monitor_equivalence(stream, stream, dependence=fs.same_key("user"))
    with pytest.raises(fs.InvalidArgument, match="overflow='drop'"):
        fs.monitor_equivalence(stream, stream, overflow="drop", **by_key)
    with pytest.raises(fs.InvalidArgument, match=r"watermark=5 \(int\) is not a watermark"):
        fs.monitor_equivalence(stream, stream, watermark=5, **by_key)


def test_what_does_not_reduce_to_keys_says_that_it_runs_in_one_task(spark):
    stream = numbers(spark)
    with pytest.warns(UserWarning, match=r"ordered\(\) with equality\(\) .* all rows go through one task"):
        fs.monitor_equivalence(stream, stream, dependence=fs.ordered())
