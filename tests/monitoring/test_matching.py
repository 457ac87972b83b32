"""One group of two streams, micro-batch by micro-batch, its state written and read in between: as `Matcher` says."""

import random
from collections import Counter
from datetime import datetime, timedelta

import pytest

import firesteel as fs
from firesteel.errors import InvalidArgument
from firesteel.evidence.monitoring import Now
from firesteel.monitoring.matching.plan import spread
from firesteel.monitoring.matching.state import MARK, POSITION, State, table_of
from firesteel.monitoring.matching.step import with_places
from firesteel.spark.monitor.values import arrow_column, records_of
from firesteel.values import schemas
from firesteel.values.record_texts import record_reader
from tests.monitoring.pairs import DEPENDENCES, EQUALITIES, SCHEMA, START, Expected, Pair, drawn, expected, key_of, row

PARSED = schemas.parse(SCHEMA)
READ = record_reader(PARSED.fieldNames())


def pairing(dependence, equal=None, **changed):
    options = {"event_time": None, "at_most": None, "overflow": "shed", "progress": False, "groups": 1}
    return spread(PARSED, dependence, equal, **{**options, **changed}).pairing


def table(rows, side, now):
    import pyarrow as pa

    columns = [arrow_column([record[field.name] for record in rows], field.dataType) for field in PARSED.fields]
    made = pa.table([*columns, pa.array(range(len(rows)), pa.int64())], names=[*PARSED.fieldNames(), POSITION])
    return with_places(made, side, 0, now)


def fed(how, batches, watermarks=None, resets=None):
    """What is said, and the state at the end."""
    calls, state = fed_by_call(how, batches, watermarks, resets)
    return [each for said in calls for each in said], state


def fed_by_call(how, batches, watermarks=None, resets=None):
    """What is said in each call, and the state at the end."""
    import pyarrow as pa

    kept, said = None, []
    for number, (left, right) in enumerate(batches):
        now = Now(0 if watermarks is None else watermarks[number], 1000 * number, batch=number)
        new = pa.concat_tables([table(left, 0, now), table(right, 1, now)])
        if how.barriers:
            new = new.append_column(MARK, pa.array(map(how.is_mark, [*left, *right]), pa.bool_()))
        some_resets = resets[number] if resets else []
        asked = table(some_resets, 0, now).select([*how.key, *([how.event_time] if how.event_time else [])])
        kept, some, _ = how.step(kept, new if new.num_rows else None, now, asked if some_resets else None)
        said.append(some)
    return said, State.restore(kept, how.digest)


def in_short(said, dependence, state):
    """By key, as `expected` tells it."""
    found = {}
    for each in said:
        left, right = READ(each.left[1]), READ(each.right[1])
        odd, other = (left, right) if each.side == "left" else (right, left)
        batch = (each.left if each.side == "left" else each.right)[0].batch
        found[key_of(dependence, odd)] = Expected((each.side, batch, odd, other), ((), ()))
    waiting = Counter()
    rows = [] if state.waiting is None else list(records_of(state.waiting, PARSED))
    sides = [] if state.waiting is None else state.waiting.column("_fs_side").to_pylist()
    kept = {}
    for record, side in zip(rows, sides, strict=True):
        kept.setdefault(key_of(dependence, record), ([], []))[side].append(record)
    for key, (left, right) in kept.items():
        assert key not in found, waiting
        found[key] = Expected(None, (tuple(left), tuple(right)))
    return found


@pytest.mark.parametrize("equality", EQUALITIES)
@pytest.mark.parametrize("name", DEPENDENCES)
def test_as_one_matcher_a_key(name, equality):
    dependence, equal = DEPENDENCES[name], EQUALITIES[equality]
    draw = random.Random(f"{name} {equality}")
    how = pairing(dependence, equal)
    differences = 0
    for _ in range(60):
        pairs = [drawn(draw, number, 4) for number in range(3)]
        batches = tuple(
            tuple([r for pair in pairs for r in pair.batches[number][side]] for side in (0, 1)) for number in range(4)
        )
        wanted = expected(Pair(batches), dependence, equal)
        calls, state = fed_by_call(how, batches)
        said = [each for some in calls for each in some]
        found = in_short(said, dependence, state)
        # The verdict is said in the call that brought the row, which is when the matcher knows.
        assert [getattr(each, each.side)[0].batch for each in said] == [
            call for call, some in enumerate(calls) for _ in some
        ]
        nothing = Expected(None, ((), ()))
        for key in wanted:
            assert found.get(key, nothing) == wanted[key], (key, batches)
        assert found.keys() <= wanted.keys()
        matched = sum(each.matched for each in wanted.values())
        assert state.counts.matched == matched
        seen = 2 * matched + 2 * len(said) + (0 if state.waiting is None else state.waiting.num_rows)
        assert state.counts.quarantined == sum(len(side) for both in batches for side in both) - seen
        differences += sum(each.difference is not None for each in wanted.values())
    assert differences > 8


@pytest.mark.parametrize("equality", EQUALITIES)
def test_unordered_as_a_matcher_that_is_finished(equality):
    equal = EQUALITIES[equality]
    draw = random.Random(equality)
    how = pairing(fs.unordered(), equal, event_time="ts")
    for _ in range(100):
        pair = drawn(draw, 0, 4)
        matcher = fs.Matcher(fs.unordered(), equal=equal)
        for left, right in pair.batches:
            for record in left:
                matcher.left(record)
            for record in right:
                matcher.right(record)
        far = int((START + timedelta(days=1)).timestamp() * 1000)
        said, state = fed(how, [*pair.batches, ((), ())], [0, 0, 0, 0, far])
        assert state.waiting is None
        found = [[READ(getattr(each, side)[1]) for each in said if each.side == side] for side in ("left", "right")]
        assert [Counter(side) for side in found] == [Counter(side) for side in matcher.unmatched]
        assert all(each.kind == "unmatched" for each in said)


@pytest.mark.parametrize("name", ["unordered", "same_key"])
def test_what_has_no_match_is_said_in_the_call_in_which_the_watermark_passes_it(name):
    dependence = {"unordered": fs.unordered(), **DEPENDENCES}[name]
    draw = random.Random(name)
    how = pairing(dependence, event_time="ts")
    ms = int(START.timestamp() * 1000)
    marks = [0, ms + 2000, ms + 4000, ms + 7000, ms + 60_000]
    late = []
    for _ in range(60):
        pair = drawn(draw, 0, 4)
        calls, _ = fed_by_call(how, [*pair.batches, ((), ())], marks)
        for call, said in enumerate(calls):
            for each in said:
                place, text = getattr(each, each.side)
                passed = next(at for at, mark in enumerate(marks) if ms_of(READ(text).ts) <= mark)
                assert call == (max(place.batch, passed) if each.kind == "unmatched" else place.batch)
                late.append(call - place.batch)
    assert len(set(late)) > 2


def ms_of(time):
    return int(time.timestamp() * 1000)


def rows(*kinds, pair=1):
    return [fs.Record(pair=pair, kind=kind, n=1.0, ts=START + timedelta(seconds=at)) for at, kind in enumerate(kinds)]


def test_a_key_reports_its_first_difference_and_is_quarantined():
    how = pairing(fs.same_key("pair"))
    batches = [(rows("a", "b"), rows("a", "c", "b")), (rows("a"), rows("d")), (rows("a", pair=2), rows("b", pair=2))]
    said, state = fed(how, batches)
    assert [(each.key, each.side, each.id) for each in said] == [
        ("pair=1", "right", "pair=1/right/0/0/1"),
        ("pair=2", "right", "pair=2/right/2/0/0"),
    ]
    assert state.waiting is None
    assert state.counts.matched == 1
    assert state.counts.quarantined == 3
    assert state.quarantine.num_rows == 2


@pytest.mark.parametrize("event_time", [None, "ts"])
@pytest.mark.parametrize("name", ["same_key", "two keys", "barrier"])
def test_a_key_that_is_reset_is_compared_anew(name, event_time):
    """As a new matcher for each key that was reset after its difference; with an event time only on rows from then."""
    dependence = DEPENDENCES[name]
    draw = random.Random(f"{name} {event_time}")
    how = pairing(dependence, event_time=event_time)
    second = 0
    for _ in range(60):
        pairs = [drawn(draw, number, 5) for number in range(3)]
        batches = [
            tuple([r for pair in pairs for r in pair.batches[number][side]] for side in (0, 1)) for number in range(5)
        ]
        rows = [r for both in batches for side in both for r in side]
        resets = [draw.sample(rows, min(len(rows), draw.choice([0, 0, 2, 5]))) for _ in batches]
        wanted = []
        for key in dict.fromkeys(key_of(dependence, r) for r in rows):
            matcher, since = fs.Matcher(dependence), START - timedelta(days=1)
            for number, sides in enumerate(batches):
                for asked in resets[number]:
                    if key_of(dependence, asked) == key and matcher.verdict is fs.Verdict.FALSE:
                        latest = [r.ts for r in resets[number] if key_of(dependence, r) == key][-1]
                        matcher, since = fs.Matcher(dependence), latest if event_time else since
                        second += 1
                for side, some in zip((matcher.left, matcher.right), sides, strict=True):
                    for r in some:
                        if key_of(dependence, r) == key and r.ts >= since:
                            before = matcher.verdict
                            if before is fs.Verdict.INCONCLUSIVE:
                                side(r)
                            if before is not matcher.verdict:
                                wanted.append((matcher.mismatch.side, number, r))
        said, _ = fed(how, batches, resets=resets)
        found = [(each.side, getattr(each, each.side)[0].batch, READ(getattr(each, each.side)[1])) for each in said]
        assert Counter(found) == Counter(wanted)
    assert second > 10


def test_without_a_key_the_whole_stream_is_quarantined():
    how = pairing(fs.ordered())
    said, state = fed(how, [(rows("a"), rows("b")), (rows("a"), rows("c", "d"))])
    assert len(said) == 1
    assert state.counts.quarantined == 3


def test_what_waits_beyond_the_watermark_is_reported_once():
    how = pairing(fs.same_key("pair"), event_time="ts")
    ms = int(START.timestamp() * 1000)
    batches = [(rows("a", "b", "c"), rows("a")), ((), ()), ((), ()), (rows("d"), ())]
    said, state = fed(how, batches, [0, ms, ms + 1000, ms + 5000])
    assert [(each.kind, each.side, each.id) for each in said] == [("unmatched", "left", "pair=1/left/0/0/1")]
    assert state.waiting is None
    assert state.counts.quarantined == 2  # the other that waited, and the one that came later


def test_the_next_call_is_when_the_watermark_reaches_the_first_that_waits():
    how = pairing(fs.unordered(), event_time="ts")
    now = Now(0, 0, batch=0)
    kept, said, wake = how.step(None, table(rows("a", "b"), 0, now), now)
    assert not said
    assert wake == int(START.timestamp() * 1000) - 1
    _, said, _ = how.step(kept, None, Now(wake, 0))
    assert not said
    _, said, wake = how.step(kept, None, Now(wake + 1, 0))
    assert [each.id for each in said] == ["/left/0/0/0"]
    assert wake == int(START.timestamp() * 1000) + 999


@pytest.mark.parametrize("side", [0, 1])
def test_a_side_that_is_empty(side):
    how = pairing(fs.unordered(), event_time="ts")
    ms = int(START.timestamp() * 1000)
    some = rows("a", "a", "b")
    batches = [((), some) if side else (some, ()), ((), ())]
    said, state = fed(how, batches, [0, ms + 10_000])
    assert [each.side for each in said] == [("left", "right")[side]] * 3
    assert len({each.id for each in said}) == 3
    assert state.waiting is None


def test_a_side_that_stops_leaves_what_the_other_one_goes_on_with():
    how = pairing(fs.same_key("pair"), progress=True)
    said, state = fed(how, [(rows("a"), rows("a")), (rows("b"), ()), (rows("c"), ())])
    assert [each.unmatched for each in said] == [0, 1, 2]
    assert said[-1].lag == 1000
    assert state.counts.matched == 1


def test_late_and_double_delivery_is_a_difference():
    how = pairing(fs.same_key("pair"))
    said, _ = fed(how, [(rows("a", "b", "c"), rows("a", "b", "b", "c"))])
    assert [(each.side, each.right[0].position) for each in said] == [("right", 2)]
    said, _ = fed(how, [(rows("a", "b", "c"), rows("a")), ((), rows("c", "b"))])
    assert [(each.side, each.right[0].batch, each.right[0].position) for each in said] == [("right", 1, 0)]


def test_too_much_that_waits_is_shed_by_keys_and_said():
    how = pairing(fs.same_key("pair"), at_most=4)
    batches = [([*rows("a", pair=2), *rows(*"aaaaa")], ()), ((), rows("b")), ((), rows("b", pair=2))]
    said, state = fed(how, batches)
    assert [each.kind for each in said] == ["shed", "difference"]
    assert said[0].unmatched == 1
    assert "6 rows waited" in said[0].reason
    assert state.counts.quarantined == 6
    assert said[1].key == "pair=2"


def test_shed_rows_give_no_false_alarm_where_nothing_is_ordered():
    how = pairing(fs.unordered(), event_time="ts", at_most=2)
    ms = int(START.timestamp() * 1000)
    later = [fs.Record(pair=1, kind="z", n=1.0, ts=START + timedelta(seconds=60))]
    batches = [(rows("a", "b", "c"), ()), ((), rows("a", "b")), (later, ()), ((), ())]
    said, _ = fed(how, batches, [0, 0, ms + 5000, ms + 90_000])
    assert [each.kind for each in said] == ["shed", "unmatched"]
    assert "kind='z'" in said[1].reason


@pytest.mark.parametrize("equal", [fs.equality(ignore=["ts"]), fs.equality(by=lambda r: (r.kind, r.ts))])
def test_nothing_is_left_out_by_event_times_that_equal_rows_need_not_share(equal):
    """Rows at 0 to 2 s would be shed, and their matches at 60 to 62 s reported."""
    with pytest.raises(InvalidArgument, match=r"different event times \('ts'\).*write overflow='stop'"):
        pairing(fs.unordered(), equal, event_time="ts", at_most=2)
    with pytest.raises(InvalidArgument, match=r"resets=... does not go with watermark= here: equality\("):
        pairing(fs.same_key("pair"), equal, event_time="ts", resets=True)
    pairing(fs.unordered(), equal, event_time="ts")
    pairing(fs.unordered(), equal, event_time="ts", at_most=2, overflow="stop")
    pairing(fs.same_key("pair"), equal, event_time="ts", at_most=2)  # whole keys are shed
    pairing(fs.same_key("pair"), equal, resets=True)
    pairing(fs.unordered(), fs.equality(abs_tol=1, ignore=["n"]), event_time="ts", at_most=2)


def test_shedding_a_row_without_event_time_does_not_silence_the_others():
    how = pairing(fs.unordered(), event_time="ts", at_most=2)
    ms = int(START.timestamp() * 1000)
    timeless = fs.Record(pair=1, kind="n", n=1.0, ts=None)
    later = [fs.Record(pair=1, kind="z", n=1.0, ts=START + timedelta(seconds=60))]
    batches = [([*rows("a", "b"), timeless], ()), (later, rows("a")), ((), ())]
    said, _ = fed(how, batches, [0, 0, ms + 90_000])
    assert [each.kind for each in said] == ["shed", "unmatched"]
    assert "kind='z'" in said[1].reason
    said, state = fed(how, [([timeless] * 3, ()), (later, ()), ((), ())], [0, 0, ms + 90_000])
    assert [each.kind for each in said] == ["shed", "unmatched"]
    assert state.counts.blind is None


def test_rows_from_before_1970_are_shed_up_to_their_own_time():
    how = pairing(fs.unordered(), event_time="ts", at_most=1)
    old = [fs.Record(pair=1, kind=kind, n=1.0, ts=datetime(1960, 1, 1, second=at)) for at, kind in enumerate("ab")]
    later = [fs.Record(pair=1, kind="z", n=1.0, ts=datetime(1965, 1, 1))]
    said, _ = fed(how, [(old, ()), (later, ()), ((), ())], [-(10**15), -(10**15), 0])
    assert [each.kind for each in said] == ["shed", "unmatched"]


def test_too_much_that_waits_stops_the_monitor_where_it_is_asked_to():
    how = pairing(fs.same_key("pair"), at_most=4, overflow="stop")
    with pytest.raises(InvalidArgument, match="5 rows wait for their match, and unmatched_at_most allows 4"):
        fed(how, [(rows(*"aaaaa"), ())])


def test_progress_says_what_waits_and_for_how_long():
    how = pairing(fs.same_key("pair"), progress=True)
    said, _ = fed(how, [(rows("a", "b"), ()), ((), rows("a"))])
    assert [(each.kind, each.unmatched, each.matched, each.lag) for each in said] == [
        ("progress", 2, 0, 0),
        ("progress", 1, 1, 1000),
    ]


def test_another_dependence_is_refused():
    kept, _, _ = pairing(fs.same_key("pair")).step(None, None, Now(0, 0))
    with pytest.raises(InvalidArgument, match="another dependence"):
        pairing(fs.same_key("pair", "kind")).step(kept, None, Now(0, 0))
    barriers = [fs.barrier(lambda r, than=than: r.n > than) for than in (1, 1, 2)]
    kept, _, _ = pairing(barriers[0]).step(None, None, Now(0, 0))
    pairing(barriers[1]).step(kept, None, Now(0, 0))
    with pytest.raises(InvalidArgument, match="another dependence"):
        pairing(barriers[2]).step(kept, None, Now(0, 0))


@pytest.mark.parametrize(
    ("dependence", "equal", "columns"),
    [
        (fs.same_key("pair"), None, ("pair",)),
        (fs.same_key("pair") & fs.barrier(bool), None, ("pair",)),
        (fs.unordered(), None, ("pair", "kind", "n", "ts")),
        (fs.unordered(), fs.equality(abs_tol=1), ("pair", "kind", "ts")),
        (fs.unordered(), fs.equality(ignore=["ts", "n"]), ("pair", "kind")),
        (fs.unordered(), EQUALITIES["by"], ()),
        (fs.ordered(), None, ()),
        (fs.barrier(bool), None, ()),
        (fs.same_key("pair") | fs.same_key("kind"), None, ()),
    ],
)
def test_rows_are_spread_by_what_the_dependence_says(dependence, equal, columns):
    options = {"event_time": "ts", "at_most": None, "overflow": "shed", "progress": False, "groups": 7}
    made = spread(PARSED, dependence, equal, **options)
    assert made.columns == columns
    assert made.groups == (7 if columns else 1)


def test_the_state_holds_only_what_waits():
    import pyarrow as pa

    how = pairing(fs.same_key("pair"))
    draw = random.Random(1)
    some = [row(draw, number % 5, number) for number in range(100)]
    kept = None
    for number in range(10):
        now = Now(0, 0, batch=number)
        new = pa.concat_tables([table(some, 0, now), table(some[:-1] if number == 9 else some, 1, now)])
        kept, said, _ = how.step(kept, new, now)
        assert not said
        assert table_of(kept[1]) is None or number == 9
    assert table_of(kept[1]).num_rows == 1
