"""The model without Spark: which runs a property asks for, and what it makes of made-up results."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from itertools import accumulate
from typing import Any

import pytest

from firesteel import operators
from firesteel.evidence.onspark import Fired, Grew, Unlike
from firesteel.evidence.operators import Finding
from firesteel.logic.verdicts import Verdict
from firesteel.operators.onspark.analysis import settled_by_others, untold
from firesteel.operators.onspark.feeds import LONG, SECOND, Feed, Gave, Material, in_halves, one_by_one
from firesteel.operators.onspark.harder import FEW_KEYS, QUESTIONS
from firesteel.operators.onspark.making import Maker, constants_of, simpler
from firesteel.operators.onspark.model import About, in_time
from firesteel.operators.onspark.plan import Output, Plan, Replaces
from firesteel.report.onspark import sentence
from firesteel.values.records import Record


def same(frame: Any) -> Any:
    return frame


ONE: Material = (("input", ("a", 1)), ("input", ("b", 2)), ("input", ("a", 3)))
KEYED = operators.transformation(same, input="k STRING, n INT", key="k")
UPDATED = operators.transformation(same, input="k STRING, n INT", key="k", output_mode="update")


def gave(*instants: list[Any], **more: Any) -> Gave:
    return Gave(tuple(map(tuple, instants)), **more)


def test_update_mode_counts_the_last_row_of_each_key() -> None:
    rows = gave([Record(k="a", n=1)], [Record(k="b", n=1)], [Record(k="a", n=2)])
    assert About(UPDATED).in_the_end(rows) == (Record(k="a", n=2), Record(k="b", n=1))
    assert len(About(KEYED).in_the_end(rows)) == 3


def updated(output: Output, key: str | None = "k") -> About:
    operator = operators.transformation(same, input="k STRING, n INT", key=key, output_mode="update")
    return About(operator, plan=Plan({"output": output}, watermark=False))


def windowed(k: str, minute: int, count: int) -> Record:
    return Record(k=k, window=Record(start=at(minute), end=at(minute + 10)), count=count)


def test_update_mode_counts_the_last_row_of_each_group_of_an_aggregate() -> None:
    """The key may have several windows: a row replaces those of its own window only."""
    rows = [windowed("a", 0, 1), windowed("a", 20, 1)]
    about = updated(Output(Replaces.GROUP, ("k", "window")))
    (question,) = QUESTIONS["commutative"](about, ONE[:2])
    assert question.judge([gave(rows[:1], rows[1:]), gave(rows[1:], rows[:1])]) is None
    assert about.in_the_end(gave(rows[:1], [windowed("a", 0, 2)])) == (windowed("a", 0, 2),)
    assert question.judge([gave(rows[:1]), gave([windowed("a", 0, 2)])]) is not None


def test_update_mode_without_an_aggregate_replaces_nothing() -> None:
    rows = gave([Record(k="a", n=1)], [Record(k="a", n=2)])
    assert updated(Output(Replaces.NONE)).in_the_end(rows) == rows.rows
    assert len(updated(Output(Replaces.KEY)).in_the_end(rows)) == 1


@pytest.mark.parametrize("output", [Output(Replaces.KEY), Output(Replaces.UNKNOWN, columns=("count",))])
def test_rows_that_do_not_say_what_they_replace(output: Output) -> None:
    """They are all there in the end, in any order; and they say nothing about runs of other batches."""
    about = updated(output)
    left, right = gave([Record(count=1), Record(count=2)]), gave([Record(count=2), Record(count=1)])
    for question in QUESTIONS["partition_independent"](about, ONE):
        assert question.judge([left, right]) is None and question.judge([left, gave([Record(count=2)])]) is not None
    for name in ("commutative", "batch_independent"):
        assert all(each.judge([left, gave([Record(count=2)])]) is None for each in QUESTIONS[name](about, ONE))
        why = untold(name, about)
        assert why is not None and "does not say which group" in why
    assert untold("partition_independent", about) is None
    assert untold("commutative", updated(Output(Replaces.KEY, columns=("k", "n")))) is None


def test_rows_of_several_outputs_do_not_replace_each_other() -> None:
    rows = gave([("left", Record(k="a", n=1)), ("right", Record(k="a", n=2))])
    assert About(UPDATED).in_the_end(rows) == rows.rows


def test_without_a_watermark_nothing_is_late() -> None:
    plans = [Plan({"output": Output(Replaces.NONE)}, watermark=each) for each in (True, False)]
    marked, unmarked = (untold("late_safe", About(TIMED, plan=plan)) for plan in plans)
    assert marked is None and unmarked is not None and "no watermark" in unmarked
    assert untold("late_safe", About(TIMED)) is None


def test_complete_mode_counts_the_last_table() -> None:
    whole = operators.transformation(same, input="k STRING, n INT", key="k", output_mode="complete")
    assert About(whole).in_the_end(gave([Record(k="a", n=1)], [Record(k="a", n=2)])) == (Record(k="a", n=2),)
    assert About(whole).in_the_end(gave([Record(k="a", n=1)], [])) == (Record(k="a", n=1),)


def test_stateless_looks_at_the_last_firing_only() -> None:
    question, *_ = QUESTIONS["stateless"](About(KEYED), ONE)
    assert question.feeds[0].batches == ((), (), (ONE[2],)), "it comes at the time at which it came after others"
    assert question.feeds[1].batches == one_by_one(ONE)
    assert question.judge([gave([], [], [1]), gave([7], [8], [1])]) is None
    found = question.judge([gave([], [], [1]), gave([1], [1], [2])])
    assert isinstance(found, Unlike) and found.left.batches == ((ONE[2],),), "empty batches are not worth reading"


def test_a_firing_is_one_record_of_a_long_material_too() -> None:
    """Equal records in a row share a batch there, which is no firing; in another order, others would share it."""
    long: Material = (ONE[0],) * (LONG + 3)
    for question in QUESTIONS["stateless"](About(KEYED), long):
        alone, after = question.feeds
        assert alone.batches[-1] == after.batches[-1] == (ONE[0],) and len(alone.batches) == len(after.batches)
    assert not list(QUESTIONS["commutative"](About(KEYED), (*long, ONE[1], *long)))


def test_isolation_looks_at_rows_of_the_key_and_gives_up_where_there_is_no_key() -> None:
    question, together = QUESTIONS["partition_isolated"](About(KEYED), ONE)
    assert [len(feed.batches) for feed in together.feeds] == [1, 1]
    alone, mixed = question.feeds
    assert alone.batches == ((ONE[0],), (), (ONE[2],)) and len(mixed.batches) == 3
    own, other = Record(k="a", n=4), Record(k="b", n=9)
    assert question.judge([gave([own]), gave([own, other])]) is None
    assert question.judge([gave([own]), gave([Record(k="a", n=5), other])]) is not None
    assert question.judge([gave([Record(n=1)]), gave([Record(n=2)])]) is None


def test_isolation_looks_at_the_first_key_too() -> None:
    """A sink that overwrites: what comes after a key removes its rows."""
    first = list(QUESTIONS["partition_isolated"](About(KEYED), ONE[:2]))[2]
    assert first.feeds[0].batches == ((ONE[0],), ())
    assert first.judge([gave([Record(k="a", n=1)]), gave([Record(k="b", n=2)])]) is not None


def test_with_long_pauses_time_goes_on_after_the_last_record() -> None:
    waiting = About(KEYED, pause=timedelta(days=2))
    whole, _ = next(iter(QUESTIONS["commutative"](waiting, ONE))).feeds
    assert whole.interval == timedelta(days=2) and whole.batches == (*one_by_one(ONE), (), ())
    alone, after = next(iter(QUESTIONS["stateless"](waiting, ONE))).feeds
    assert (len(alone.batches), len(after.batches)) == (3, 3), "a firing is looked at when its record comes"
    cut, _ = next(iter(QUESTIONS["batch_independent"](waiting, ONE))).feeds
    assert cut.interval == SECOND, "records of other batches would come at another time"


def test_selectivity_counts_the_rows_of_each_firing() -> None:
    (one,) = QUESTIONS["one_to_one"](About(KEYED), ONE)
    (some,) = QUESTIONS["selective"](About(KEYED), ONE)
    assert one.judge([gave([1], [1], [1])]) is None
    silent = one.judge([gave([1], [], [1])])
    assert isinstance(silent, Fired) and len(silent.seen.batches) == 2
    assert some.judge([gave([1], [], [1])]) is None and some.judge([gave([1], [], [1, 2])]) is not None


def test_a_single_row_is_a_firing_of_a_batch_job() -> None:
    job = operators.transformation(same, input="k STRING, n INT", engine="batch")
    assert [question.feeds[0].batches for question in QUESTIONS["one_to_one"](About(job), ONE)] == [
        ((step,),) for step in ONE
    ]


PORTS = operators.transformation(same, input={"left": "k INT, a INT", "right": "k INT, b INT"}, key="k")
BOTH: Material = (("left", (1, 5)), ("right", (1, 7)))


@pytest.mark.parametrize(
    "released, changed, alone, itself, before, blocks",
    [
        ([Record(k=1, a=5)], [Record(k=1, a=5)], [], [], [], True),  # a semi join
        ([Record(k=1, a=5, b=7)], [Record(k=1, a=5, b=8)], [], [], [], False),  # an inner join
        ([Record(k=1, b=7)], [Record(k=1, b=8)], [Record(k=1, b=7)], [], [], False),  # a union
        ([Record(k=1, a=5)], [Record(k=1, a=5)], [], [Record(k=1, a=5)], [], False),  # the port itself releases it
        ([Record(n=2)], [Record(n=2)], [Record(n=1)], [Record(n=2)], [Record(n=1)], False),  # a count of both
    ],
)
def test_a_port_blocks_where_another_releases_its_rows(
    released: Any, changed: Any, alone: Any, itself: Any, before: Any, blocks: bool
) -> None:
    question = next(iter(QUESTIONS["non_blocking"](About(PORTS), BOTH)))
    assert question.port == "left"
    results = [gave(before, released), gave(before, changed), gave(alone), gave(before, itself), gave(before)]
    assert (question.judge(results) is not None) is blocks


def test_a_row_that_may_be_the_last_record_is_not_held_back() -> None:
    both = {"left": "k INT, n INT", "right": "k INT, n INT"}
    turnstile = operators.transformation(same, input=both, key="k")
    material: Material = (("right", (1, 5)), ("left", (1, 5)))
    question = next(each for each in QUESTIONS["non_blocking"](About(turnstile), material) if each.port == "right")
    passed = gave([], [Record(k=1, n=5)])
    assert question.judge([passed, passed, gave([]), gave([], []), gave([])]) is None


@pytest.mark.parametrize(
    "right, record, row",
    [
        ("k INT, b INT, ok BOOLEAN", (1, 7, True), Record(k=1, a=5, ok=True)),
        ("k INT, b INT, x DOUBLE", (1, 7, 1e16), Record(k=1, a=5, x=1e16)),
        ("k INT, b INT, d DATE", (1, 7, date(2000, 1, 1)), Record(k=1, a=5, d=date(2000, 1, 1))),
        ("k INT, b INT, ns ARRAY<INT>", (1, 7, [3]), Record(k=1, a=5, ns=[3])),
        ("k INT, b INT, a INT", (1, 7, 9), Record(k=1, a=5, other=9)),  # a column that both have, by another name
        ("k INT, b INT, s STRING", (1, 7, None), Record(k=1, a=5, s=None)),  # nothing else is known that it could be
    ],
)
def test_an_inner_join_does_not_block_whichever_column_it_carries(right: str, record: Any, row: Record) -> None:
    """The record in its place has other values everywhere, so what comes out is another row."""
    join = operators.transformation(same, input={"left": "k INT, a INT", "right": right}, key="k")
    material: Material = (("left", (1, 5)), ("right", record))
    question = next(iter(QUESTIONS["non_blocking"](About(join), material)))
    changed = dict(zip(join.ports[1].columns, question.feeds[1].batches[-1][0][1], strict=True))
    carried = {"other": changed.get("a"), **{name: changed[name] for name in changed if name not in ("k", "a")}}
    joined = Record({name: carried.get(name, value) for name, value in row.__dict__.items()})
    results = [gave([], [row]), gave([], [joined]), gave([]), gave([], []), gave([])]
    assert question.judge(results) is None


def test_state_that_grows_is_evidence() -> None:
    (question,) = QUESTIONS["state_bounded"](About(KEYED), ONE)
    (feed,) = question.feeds
    keys = [row[0] for batch in feed.batches for _, row in batch]
    assert feed.state and len(set(keys)) == len(keys) == 4 * FEW_KEYS
    assert isinstance(question.judge([gave(state=tuple(range(16, 144, 16)))]), Grew)
    assert question.judge([gave(state=(16,) * 8)]) is None
    assert question.judge([gave(state=())]) is None


@pytest.mark.parametrize("most", [5, 20, 64])
def test_state_that_has_grown_to_its_bound_does_not_grow(most: int) -> None:
    """`groupBy(n % 5)` has five groups, however many records come; a ring of 20 keeps 20."""
    (question,) = QUESTIONS["state_bounded"](About(KEYED), ONE)
    (feed,) = question.feeds
    seen = accumulate(len(batch) for batch in feed.batches)
    assert question.judge([gave(state=tuple(min(most, size) for size in seen))]) is None


def test_keys_lie_within_the_years_of_pandas() -> None:
    (question,) = QUESTIONS["state_bounded"](About(TIMED), (("input", ("a", at(9))),))
    (feed,) = question.feeds
    times = [row[1] for batch in feed.batches for _, row in batch]
    assert times == sorted(times) and times[-1].year < 2262


TIMED = operators.transformation(same, input="k STRING, ts TIMESTAMP", key="k")


def at(minute: int) -> datetime:
    return datetime(2000, 1, 1, 0, minute, tzinfo=UTC)


def test_late_records_are_late_and_need_a_watermark() -> None:
    material = (("input", ("a", at(9))), ("input", ("b", at(3))))
    assert [step[1][1] for step in in_time(TIMED, material)] == [at(3), at(9)]
    (question,) = QUESTIONS["late_safe"](About(TIMED), material)
    after, without = question.feeds
    assert len(after.batches) == 3 and after.batches[-1][0][1][1].year < 2000 and len(without.batches) == 2
    assert question.judge([gave([1], [2], [3]), gave([1], [2])]) is None
    assert question.judge([gave([1], [2], [3], watermark=True), gave([1], [2])]) is not None
    (counted,) = QUESTIONS["late_safe"](About(TIMED, late="counted"), material)
    assert counted.feeds[1].batches[0] == counted.feeds[0].batches[-1]


def test_records_of_other_zones_are_in_the_order_of_time() -> None:
    west = datetime(2000, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=-1)))  # 01:30 in UTC
    material = (("input", ("a", west)), ("input", ("b", at(45))))
    assert [step[1][0] for step in in_time(TIMED, material)] == ["b", "a"]


def test_records_of_the_same_time_share_a_batch() -> None:
    """Behind the first one, a watermark of 0 seconds would drop the second."""
    material = tuple(("input", (k, at(minute))) for k, minute in (("a", 0), ("b", 3), ("c", 3), ("d", 9)))
    feeds = [feed for each in QUESTIONS["batch_independent"](About(TIMED), material) for feed in each.feeds]
    assert {tuple(map(len, feed.batches)) for feed in feeds} == {(1, 2, 1), (4,), (3, 1)}
    assert not list(QUESTIONS["batch_independent"](About(TIMED), material[1:3]))


def test_the_testing_order() -> None:
    def done(**verdicts: Verdict) -> dict[str, Finding]:
        return {name: Finding(name, verdict, 9, outputs=9) for name, verdict in verdicts.items()}

    broken = settled_by_others("stateless", KEYED, done(deterministic=Verdict.FALSE))
    assert broken is not None and broken.settled_by == "deterministic"
    assert settled_by_others("clock_free", KEYED, done(deterministic=Verdict.FALSE)) is None
    blocking = settled_by_others("stateless", PORTS, done(non_blocking=Verdict.FALSE))
    assert blocking is not None and blocking.verdict is Verdict.FALSE
    calm = settled_by_others("commutative", KEYED, done(stateless=Verdict.INCONCLUSIVE))
    assert calm is not None and (calm.verdict, calm.settled_by) == (Verdict.INCONCLUSIVE, "stateless")
    assert settled_by_others("commutative", KEYED, done(stateless=Verdict.FALSE)) is None
    silent = {"stateless": Finding("stateless", Verdict.INCONCLUSIVE, 9, outputs=0)}
    assert settled_by_others("commutative", KEYED, silent) is None, "what put out nothing settles nothing"
    job = operators.transformation(same, input="n INT", engine="batch")
    assert settled_by_others("commutative", job, done(stateless=Verdict.INCONCLUSIVE)) is None


def test_constants_inside_sql_are_tried() -> None:
    def busy(frame: Any) -> Any:
        return frame.where("n > 4711 and k = 'red'").withWatermark("ts", "12 minutes")

    pool, lengths = constants_of(operators.transformation(busy, input="k STRING, n INT, ts TIMESTAMP"))
    assert 4711 in pool.ints and "red" in pool.strings and [each.seconds for each in lengths] == [720]


def test_a_seed_makes_the_same_materials_and_ports_share_keys() -> None:
    first, again = Maker(PORTS).round(0, 40), Maker(PORTS).round(0, 40)
    assert first == again != Maker(PORTS, seed=1).round(0, 40)
    met = [m for m in first if {r[0] for p, r in m if p == "left"} & {r[0] for p, r in m if p == "right"}]
    assert len(met) > 10


def test_materials_of_a_round_share_event_times() -> None:
    assert len({tuple(step[1][1] for step in material) for material in Maker(TIMED).round(3, 20)}) == 1


def test_simpler_materials_begin_with_simple_values() -> None:
    material = (("input", ("xyz", 900)), ("input", ("uvw", 900)))
    assert next(simpler(KEYED, material)) == (("input", ("a", 0)), ("input", ("b", 0)))


def test_records_are_dealt_over_partitions_in_order() -> None:
    case = Feed((ONE,), dealt=2).case(KEYED)
    (batch,) = case["input"]
    assert batch.partitions == (2, 1) and [row.n for row in batch.records] == [1, 3, 2]
    assert in_halves(ONE) == (ONE[:2], ONE[2:])


def test_evidence_reads() -> None:
    feed = Feed(one_by_one(BOTH))
    said = sentence(Unlike(feed.fed(PORTS, ()), feed.fed(PORTS, (Record(k=1, a=5),))))
    assert said == "left(k=1, a=5); then right(k=1, b=7) gives nothing; the same again gives (k=1, a=5)"
    fired = sentence(Fired(Feed(one_by_one(ONE)).fed(KEYED, (1, 2), until=1)))
    assert fired == "k='b', n=2 has 2 outputs after k='a', n=1: 1 and 2"


def test_elements_of_rdds_are_tuples_and_their_first_values_the_key() -> None:
    pairs = operators.transformation(same, input="k STRING, n INT", key="k", engine="rdd")
    (batch,) = Feed((ONE,)).case(pairs)["input"]
    assert batch.records == (("a", 1), ("b", 2), ("a", 3)) and batch.schema is None
    words = operators.transformation(same, input="word STRING", engine="dstream")
    assert Feed(one_by_one((("input", ("a",)),))).case(words)["input"][0].records == ("a",)
    assert About(pairs).key_of(("a", 7)) == ("a",) and About(KEYED).key_of(Record(k="a", n=7)) == ("a",)
