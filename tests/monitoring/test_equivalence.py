"""`fs.monitor_equivalence` on Spark: the verdicts of one `Matcher` a key, whatever the batches and partitions."""

import random
from collections import Counter
from datetime import timedelta

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming import StatefulProcessor

import firesteel as fs
from firesteel import Record
from tests.monitoring.files import Files, run, started, written
from tests.monitoring.pairs import (
    ALONE,
    DEPENDENCES,
    EQUALITIES,
    SCHEMA,
    START,
    Pair,
    drawn,
    expected,
    odd_deliveries,
)

PAIRS, BATCHES, GROUPS = 500, 4, 5
CASES = {
    "same_key": (DEPENDENCES["same_key"], None),
    "barrier": (DEPENDENCES["barrier"], None),
    "depends": (DEPENDENCES["depends"], None),
    "close": (DEPENDENCES["key or barrier"], EQUALITIES["close"]),
}
LONG = PAIRS  # the first of the odd deliveries
IN_ONE_TASK = ("ordered", "barrier", "depends")
SHED = 50


def record(row):
    return Record(pair=row.pair, kind=row.kind, n=row.n, ts=row.ts and row.ts.astimezone(START.tzinfo))


def in_short(row):
    """A difference as `expected` tells it."""
    odd, other, place = (
        (row.left, row.right, row.left_place) if row.side == "left" else (row.right, row.left, row.right_place)
    )
    return row.side, place.batch, record(odd), record(other)


@pytest.fixture(scope="module")
def pairs():
    draw = random.Random(24)
    return [*(drawn(draw, number, BATCHES) for number in range(PAIRS)), *odd_deliveries(LONG).values()]


def sides(files):
    stream = files.stream()
    return [stream.where(f"side = {side}").select("pair", "kind", "n", "ts") for side in (0, 1)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pairs")


@pytest.fixture(scope="module")
def files(spark, folder):
    return Files(spark, folder / "in", f"file INT, side INT, {SCHEMA}", per_batch=2)


@pytest.fixture(scope="module")
def found(spark, pairs, files, folder):
    """What each of the monitors put out. All read the same files; each was started again in the middle."""
    left, right = sides(files)
    resets = Files(spark, folder / "resets", "pair INT")
    by_pair = {"dependence": fs.same_key("pair"), "groups": GROUPS}
    frames = {
        name: fs.monitor_equivalence(
            left, right, dependence=dependence, equal=equal, groups=GROUPS, progress=name == "same_key"
        )
        for name, (dependence, equal) in CASES.items()
    }
    frames["unordered"] = fs.monitor_equivalence(
        left, right, dependence=fs.unordered(), watermark=("ts", "1 hour"), groups=GROUPS
    )
    frames["resets"] = fs.monitor_equivalence(left, right, resets=resets.stream(), **by_pair)
    frames["shed"] = fs.monitor_equivalence(left, right, unmatched_at_most=SHED, **by_pair)
    for name in IN_ONE_TASK:
        one = [side.where(f"pair = {LONG}") for side in (left, right)]
        with pytest.warns(UserWarning, match="all rows go through one task"):
            frames[f"{name} alone"] = fs.monitor_equivalence(*one, dependence=ALONE[name])
    halves = [range(BATCHES // 2), range(BATCHES // 2, BATCHES)]
    for half in halves:
        for number in half:
            files.batch(
                (pair % 2, side, *r)
                for side in (0, 1)
                for pair, streams in enumerate(pairs)
                for r in streams.batches[number][side]
            )
        if half is halves[-1]:
            # a row on both sides that moves the watermark past all others
            files.batch([(0, side, -1, "end", 0.0, START + timedelta(days=1)) for side in (0, 1)])
            resets.batch([(pair,) for pair in range(0, len(pairs), 2)])
        for query in [started(frame, folder / name) for name, frame in frames.items()]:
            query.awaitTermination()
    return {name: written(frame, folder / name) for name, frame in frames.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_as_one_matcher_a_key(found, pairs, name):
    dependence, equal = CASES[name]
    wanted = {}
    for number, pair in enumerate(pairs):
        for outcome in expected(pair, dependence, equal).values():
            if outcome.difference is not None:
                wanted[number] = outcome.difference
    told = {}
    for row in found[name]:
        if row.kind == "progress":
            continue
        assert row.kind == "difference"
        _, _, odd, _ = difference = in_short(row)
        assert odd.pair not in told
        told[odd.pair] = difference
        place = row.left_place if row.side == "left" else row.right_place
        assert row.key == f"pair={odd.pair}"
        assert row.id == f"pair={odd.pair}/{row.side}/{place.batch}/{place.partition}/{place.position}"
    assert told == wanted
    assert 50 < len(wanted) < PAIRS - 50


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_ONE_TASK)
def test_in_one_task_as_one_matcher(found, pairs, name):
    (wanted,) = expected(pairs[LONG], ALONE[name], None).values()
    assert [in_short(row) for row in found[f"{name} alone"]] == [wanted.difference]
    assert wanted.difference[1] == 3  # in the last batch, after restart


@pytest.mark.slow
def test_progress_counts_what_matchers_count(found, pairs):
    matched = waiting = rest = 0
    for pair in pairs:
        matcher = fs.Matcher(fs.same_key("pair"))
        for sides in pair.batches:
            for side, rows in zip((matcher.left, matcher.right), sides, strict=True):
                for r in rows:
                    if matcher.verdict is fs.Verdict.INCONCLUSIVE:
                        side(r)
        rows = sum(len(side) for sides in pair.batches for side in sides)
        matched += matcher.counts.matched
        if matcher.verdict is fs.Verdict.FALSE:
            rest += rows - 2 * matcher.counts.matched - 2  # but for the two that the difference names
        else:
            waiting += rows - 2 * matcher.counts.matched
    last = {}
    for row in sorted(found["same_key"], key=lambda row: row.time):
        if row.kind == "progress":
            last[row.id.rpartition("/")[2]] = row
    assert len(last) == GROUPS
    assert sum(row.matched for row in last.values()) == matched + 1  # the row that moves the watermark
    assert sum(row.unmatched for row in last.values()) == waiting
    assert sum(row.quarantined for row in last.values()) == rest
    assert max(row.lag for row in last.values()) > 0  # sides that stopped, or are empty


@pytest.mark.slow
def test_deliveries_that_go_wrong(found):
    odd = {name: (number, pair) for number, (name, pair) in enumerate(odd_deliveries(LONG).items(), LONG)}
    differing = {row.key: row for row in found["same_key"] if row.kind == "difference"}
    told = {name: differing.get(f"pair={number}") for name, (number, _) in odd.items()}
    assert {name: row and (row.side, in_short(row)[1]) for name, row in told.items()} == {
        "long": ("right", 3),
        "left alone": None,  # whatever waits can still be matched
        "right alone": None,
        "right stops": None,
        "twice": ("right", 2),
        "late": ("right", 1),
    }
    unmatched = {
        name: Counter((row.side, (row.left or row.right).n) for row in found["unordered"] if number == pair_of(row))
        for name, (number, _) in odd.items()
    }
    assert unmatched == {
        "long": {("left", 500.0): 1},
        "left alone": {("left", float(n)): 1 for n in range(12)},
        "right alone": {("right", float(n)): 1 for n in range(12)},
        "right stops": {("left", float(n)): 1 for n in range(6, 12)},
        "twice": {("right", float(n)): 1 for n in range(3, 6)},
        "late": {},
    }


def pair_of(row):
    return (row.left or row.right).pair


@pytest.mark.slow
def test_keys_that_are_reset_are_compared_anew(found, pairs):
    wanted = Counter()
    for number, pair in enumerate(pairs):
        whole = expected(pair, fs.same_key("pair"), None)
        first = expected(Pair(pair.batches[:2]), fs.same_key("pair"), None)
        for outcome in (first if any(each.difference for each in first.values()) else whole).values():
            if outcome.difference is not None:
                wanted[outcome.difference] += 1
        if number % 2 == 0 and any(each.difference for each in first.values()):
            rest = Pair((((), ()), ((), ()), *pair.batches[2:]))
            for outcome in expected(rest, fs.same_key("pair"), None).values():
                if outcome.difference is not None:
                    wanted[outcome.difference] += 1
    assert Counter(map(in_short, found["resets"])) == wanted
    ids = [row.id for row in found["resets"]]
    assert len(set(ids)) == len(ids) > len({row.key for row in found["resets"]}) + 10


@pytest.mark.slow
def test_what_is_shed_is_said_and_gives_no_false_alarm(found, pairs):
    wanted = set()
    for pair in pairs:
        for outcome in expected(pair, fs.same_key("pair"), None).values():
            wanted.add(outcome.difference)
    kinds = Counter(row.kind for row in found["shed"])
    assert kinds.keys() == {"shed", "difference"}
    assert all(in_short(row) in wanted for row in found["shed"] if row.kind == "difference")
    assert all(row.unmatched <= SHED // GROUPS for row in found["shed"] if row.kind == "shed")


@pytest.mark.slow
def test_too_much_that_waits_stops_the_query_where_it_is_asked_to(found, files, tmp_path):
    stopping = fs.monitor_equivalence(
        *sides(files), dependence=fs.same_key("pair"), unmatched_at_most=5, overflow="stop"
    )
    with pytest.raises(StreamingQueryException, match="rows wait for their match, and unmatched_at_most allows 1 here"):
        started(stopping, tmp_path).awaitTermination()


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


def in_words(rows):
    """What is said, without the places of rows: these hang on how the rows are spread."""
    return Counter((row.kind, row.key, row.side, *map(str, (row.left, row.right))) for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize(("partitions", "groups"), [(1, 1), (5, 16)])
def test_other_partitions_give_the_same_verdicts(found, spark, files, tmp_path, partitions, groups):
    name, before = "spark.sql.shuffle.partitions", spark.conf.get("spark.sql.shuffle.partitions")
    left, right = (side.coalesce(1) if groups == 1 else side for side in sides(files))
    frames = {
        "same_key": fs.monitor_equivalence(left, right, dependence=fs.same_key("pair"), groups=groups),
        "unordered": fs.monitor_equivalence(
            left, right, dependence=fs.unordered(), watermark=("ts", "1 hour"), groups=groups
        ),
    }
    try:
        spark.conf.set(name, partitions)
        for query in [started(frame, tmp_path / kind) for kind, frame in frames.items()]:
            query.awaitTermination()
    finally:
        spark.conf.set(name, before)
    for kind, frame in frames.items():
        wanted = [row for row in found[kind] if row.kind != "progress"]
        assert in_words(written(frame, tmp_path / kind)) == in_words(wanted)
        assert len(wanted) > 50


# --- a side that is silent, or late ---


def timed(*numbers, side, pair=0):
    """Rows for a file: one a second, numbered."""
    return [(0, side, pair, "a", float(n), START + timedelta(seconds=n)) for n in numbers]


@pytest.mark.slow
@pytest.mark.parametrize("stops_after", [0, 1])
def test_a_side_that_is_empty_or_stops(spark, tmp_path, stops_after):
    files = Files(spark, tmp_path / "in", f"file INT, side INT, {SCHEMA}")
    for number in range(3):
        seconds = range(number * 10, number * 10 + 10)
        left = [row for n in seconds for row in timed(n, side=0, pair=n % 5)]
        right = [(row[0], 1, *row[2:]) for row in left] if number < stops_after else []
        files.batch([*left, *right])
    left, right = sides(files)
    marked = files.stream().withWatermark("ts", "0 seconds")
    of_one_source = [marked.where(f"side = {side}").select("pair", "kind", "n", "ts") for side in (0, 1)]
    unordered = {"dependence": fs.unordered(), "groups": 2, "progress": True}
    frames = {
        "held back": fs.monitor_equivalence(left, right, watermark=("ts", "0 seconds"), **unordered),
        "passed": fs.monitor_equivalence(*of_one_source, watermark="ts", **unordered),
        "shed": fs.monitor_equivalence(left, right, dependence=fs.same_key("pair"), unmatched_at_most=4, groups=2),
        "stop": fs.monitor_equivalence(
            left, right, dependence=fs.same_key("pair"), unmatched_at_most=4, overflow="stop", groups=2
        ),
    }
    queries = {name: started(frame, tmp_path / name) for name, frame in frames.items()}
    with pytest.raises(StreamingQueryException, match="one side is ahead of the other, or stopped"):
        queries.pop("stop").awaitTermination()
    for query in queries.values():
        query.awaitTermination()
    found = {name: written(frames[name], tmp_path / name) for name in queries}
    alone = 10 * (3 - stops_after)

    # A side with a watermark of its own holds it back, and what the other one goes on with waits.
    assert {row.kind for row in found["held back"]} == {"progress"}
    last = {}
    for row in sorted(found["held back"], key=lambda row: row.time):
        last[row.id.rpartition("/")[2]] = row
    assert sum(row.unmatched for row in last.values()) == alone
    assert sum(row.matched for row in last.values()) == 10 * stops_after
    assert all(row.lag > 0 for row in last.values())

    # Where both sides have the watermark of their source, it goes on without the silent one.
    unmatched = [row for row in found["passed"] if row.kind == "unmatched"]
    assert {row.side for row in unmatched} == {"left"}
    assert sorted(row.left.n for row in unmatched) == [float(n) for n in range(30 - alone, 30)]

    assert {row.kind for row in found["shed"]} == {"shed"}
    assert all(row.unmatched <= 2 for row in found["shed"])


@pytest.mark.slow
def test_a_row_that_comes_after_the_watermark_has_passed_it_is_reported_and_not_dropped(spark, tmp_path):
    files = Files(spark, tmp_path / "in", f"file INT, side INT, {SCHEMA}")
    files.batch([*timed(0, 100, side=0), *timed(100, side=1)])
    files.batch([*timed(200, side=0), *timed(200, side=1)])  # now the watermark is at 100 s
    files.batch([*timed(300, side=0), *timed(0, 300, side=1)])
    files.batch([*timed(50, 400, side=0), *timed(50, 400, side=1)])  # late, but there is nothing to report
    frame = fs.monitor_equivalence(
        *sides(files), dependence=fs.unordered(), watermark=("ts", "0 seconds"), progress=True, groups=3
    )
    found = run(frame, tmp_path)
    told = [row for row in found if row.kind != "progress"]
    assert Counter((row.kind, row.side, (row.left or row.right).n) for row in told) == {
        ("unmatched", "left", 0.0): 1,
        ("unmatched", "right", 0.0): 1,
    }
    places = {row.side: row.left_place or row.right_place for row in told}
    assert {side: (place.batch, place.position) for side, place in places.items()} == {"left": (0, 0), "right": (2, 0)}
    assert {row.id for row in told} == {
        f"/{side}/{place.batch}/{place.partition}/{place.position}" for side, place in places.items()
    }
    last = {}
    for row in sorted(found, key=lambda row: row.time):
        if row.kind == "progress":
            last[row.id.rpartition("/")[2]] = row
    assert sum(row.matched for row in last.values()) == 5


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
    with pytest.raises(fs.InvalidArgument, match=r"resets=... does not go with ordered.*new checkpointLocation"):
        fs.monitor_equivalence(stream, stream, dependence=fs.ordered(), resets=stream)
    with pytest.raises(fs.InvalidArgument, match="has no column 'value' of the type bigint"):
        fs.monitor_equivalence(stream, stream, resets=stream.selectExpr("CAST(value AS INT)"), **by_key)
    with pytest.raises(fs.InvalidArgument, match=r"a reset has 'value', 'timestamp'"):
        only = stream.select("value")
        fs.monitor_equivalence(stream, stream, resets=only, watermark=("timestamp", "1 minute"), **by_key)
    with pytest.raises(fs.InvalidArgument, match=r"watermark=5 \(int\) is not a watermark"):
        fs.monitor_equivalence(stream, stream, watermark=5, **by_key)


class Counting(StatefulProcessor):
    """Passes rows on."""

    def init(self, handle):
        pass

    def handleInputRows(self, key, rows, timerValues):
        yield from rows

    def close(self):
        pass


def with_state(stream, mode):
    def passed_on(key, frames, state):
        yield from frames

    return stream.groupBy("value").applyInPandasWithState(passed_on, stream.schema, "n INT", mode, "NoTimeout")


def processed(stream, mode):
    return stream.groupBy("value").transformWithStateInPandas(Counting(), stream.schema, mode, "None")


@pytest.mark.parametrize("made", [with_state, processed])
def test_functions_with_state_in_update_mode_are_refused_before_anything_starts(spark, made):
    stream = numbers(spark)
    with pytest.raises(fs.InvalidArgument, match=r"right=... holds a function with state in update mode"):
        fs.monitor_equivalence(stream, made(stream, "Update"), dependence=fs.same_key("value"))
    with pytest.raises(fs.InvalidArgument, match=r"frame=... holds a function with state in update mode"):
        fs.monitor(made(stream, "Update"), lambda now: len(now.input) < 5)
    fs.monitor_equivalence(stream, made(stream, "Append"), dependence=fs.same_key("value"))


def test_event_times_that_are_not_compared_are_refused_where_rows_are_left_out_by_them(spark):
    stream = numbers(spark)
    unlike = {"equal": fs.equality(ignore=["timestamp"]), "watermark": ("timestamp", "1 minute")}
    with pytest.raises(fs.InvalidArgument, match="write overflow='stop'"):
        fs.monitor_equivalence(stream, stream, dependence=fs.unordered(), unmatched_at_most=5, **unlike)
    with pytest.raises(fs.InvalidArgument, match=r"resets=... does not go with watermark= here"):
        fs.monitor_equivalence(stream, stream, dependence=fs.same_key("value"), resets=stream, **unlike)


def test_what_does_not_reduce_to_keys_says_that_it_runs_in_one_task(spark):
    stream = numbers(spark)
    with pytest.warns(UserWarning, match=r"ordered\(\) with equality\(\) .* all rows go through one task"):
        fs.monitor_equivalence(stream, stream, dependence=fs.ordered())
