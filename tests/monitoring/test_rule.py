"""The rule of one key, call by call, its state read from text each time: as the formula read on the whole trace."""

import json
import random
from datetime import timedelta

import pytest

import firesteel as fs
from firesteel.errors import InvalidArgument
from firesteel.evidence.monitoring import Now
from firesteel.logic.ltl.asking import Memory
from firesteel.logic.ltl.explain import explain_at
from firesteel.monitoring.live import milliseconds, moment
from firesteel.monitoring.rule import KeyedRule
from firesteel.values import schemas
from firesteel.values.batches import Batch
from firesteel.values.record_texts import record_text
from firesteel.values.records import Record
from firesteel.values.traces import Instant

SCHEMA = schemas.parse("n INT, ts TIMESTAMP")
MINUTE = 60_000


def text(minute, n=1):
    return record_text(Record(n=n, ts=moment(int(minute * MINUTE))))


def total(now):
    return sum(record.n for record in now.input)


def sums_to(wanted):
    return fs.now(lambda now: total(now) == wanted, name=f"sums_to({wanted})")


RULES = [
    fs.now(lambda now: len(now.input) > 0),
    fs.implies(lambda now: total(now) > 1, fs.eventually(lambda now: not now.input, within=3)),
    fs.let(lambda first: fs.next_(lambda second: total(second) >= total(first))),
    fs.since(lambda now: total(now) < 3, lambda now: len(now.input) > 1) | sums_to(0),
    fs.eventually(lambda now: total(now) == 4),
    fs.pptl("p ; q", p=lambda now: total(now) < 2, q=lambda now: total(now) > 1),
]


def false_instants(rule, trace, *, ended):
    return [
        at for at in range(len(trace)) if explain_at(rule, at, trace, Memory(), ended=ended).verdict is fs.Verdict.FALSE
    ]


def called(rule, calls):
    """What is said in each of some calls, (rows, watermark)."""
    state, said = None, []
    for rows, watermark in calls:
        after = rule.step(state, rows, Now(watermark, 0))
        state = after.state
        said += after.said
        assert after.wake is None or after.wake >= watermark
    return said, state


def instants(trace):
    return [Instant(index, {"input": Batch(rows)}) for index, rows in enumerate(trace)]


@pytest.mark.parametrize("number", range(len(RULES)))
def test_micro_batches_as_the_formula_read_on_the_whole_trace(number):
    rule, draw = RULES[number], random.Random(number)
    keyed = KeyedRule(rule, SCHEMA)
    for _ in range(60):
        trace = [
            [Record(n=draw.randint(0, 3), ts=moment(0)) for _ in range(draw.randint(1, 2))]
            for _ in range(draw.randint(1, 8))
        ]
        said, _ = called(keyed, [([record_text(record) for record in rows], 0) for rows in trace])
        assert sorted(each.instant for each in said) == false_instants(rule, instants(trace), ended=False)


def brute_force(over, calls):
    """The windows of a key that never finishes: each row is in those of its windows that end after the watermark."""
    rows = []  # each with its time and the watermark that it came at
    for texts, watermark in calls:
        rows += [(Record(n=n, ts=at), at, watermark) for n, at in map(read, texts)]
    spans = over.spans({"input": fs.Stream(SCHEMA, [[row for row, _, _ in rows]], span=None)}) if rows else []
    last = calls[-1][1]
    held = [[row for row, at, came in rows if start <= at < end and end > moment(came)] for start, end in spans]
    first = next((index for index, inside in enumerate(held) if inside), None)
    if first is None:
        return []
    trace = [inside for inside, (_, end) in zip(held, spans, strict=True) if end <= moment(last)][first:]
    # Empty windows after the last row, up to the watermark.
    end = spans[-1][1] + over.every
    while end <= moment(last):
        trace.append([])
        end += over.every
    return trace


def read(row):
    from firesteel.values.record_texts import record_reader

    record = record_reader(["n", "ts"])(row)
    return record.n, record.ts


@pytest.mark.parametrize("over", [fs.tumbling("1 minute", on="ts"), fs.sliding("3 minutes", every="1 minute", on="ts")])
@pytest.mark.parametrize("number", range(len(RULES)))
def test_windows_as_the_formula_read_on_the_whole_trace(number, over):
    rule, draw = RULES[number], random.Random(number)
    keyed = KeyedRule(rule, SCHEMA, over)
    judged = 0
    for _ in range(100):
        calls, watermark = [], 0
        for _ in range(draw.randint(1, 6)):
            minutes = [draw.randint(1, 8) + draw.choice([0, 0.5]) for _ in range(draw.randint(0, 2))]
            rows = [text(minute, draw.randint(0, 3)) for minute in minutes]
            calls.append((rows, watermark))
            watermark += draw.choice([0, MINUTE, 3 * MINUTE])
        trace = brute_force(over, calls)
        judged += len(trace)
        said, _ = called(keyed, calls)
        found = sorted(each.instant for each in said if each.kind == "false")
        assert found == false_instants(rule, instants(trace), ended=False), (calls, trace)
    assert judged > 100


def test_late_rows_are_counted_and_shown():
    keyed = KeyedRule(RULES[0], SCHEMA, fs.tumbling("1 minute", on="ts"))
    said, state = called(
        keyed, [([text(5)], 0), ([text(3), text(5.5), text(4.9)], 5 * MINUTE), ([text(1)], 6 * MINUTE)]
    )
    assert [(each.kind, each.late, len(each.records)) for each in said] == [("late", 2, 2), ("late", 3, 1)]
    assert json.loads(state)["late"] == 3


def test_a_key_without_a_state_is_not_begun_by_a_late_row():
    keyed = KeyedRule(RULES[0], SCHEMA, fs.tumbling("1 minute", on="ts"))
    after = keyed.step(None, [text(1)], Now(5 * MINUTE, 0))
    assert after.state is None
    assert [each.kind for each in after.said] == ["late"]


def test_idle_finishes_a_key_and_closes_what_has_no_bound():
    keyed = KeyedRule(
        fs.eventually(lambda now: total(now) == 9), SCHEMA, fs.tumbling("1 minute", on="ts"), timedelta(minutes=3)
    )
    first = keyed.step(None, [text(1)], Now(0, 0))
    assert first.wake == 2 * MINUTE - 1
    second = keyed.step(first.state, [], Now(3 * MINUTE, 0, timed_out=True))
    assert not second.said
    assert second.wake == 4 * MINUTE - 1
    last = keyed.step(second.state, [text(9)], Now(8 * MINUTE, 0))
    assert [each.instant for each in last.said if each.kind == "false"] == [0, 1, 2]
    assert [each.decided for each in last.said] == [None, None, None]
    assert json.loads(last.state)["standing"]["index"] == 0  # the new row begins a trace of its own


def test_a_key_is_not_finished_before_the_windows_of_its_rows_are_judged():
    keyed = KeyedRule(RULES[0], SCHEMA, fs.tumbling("10 minutes", on="ts"), timedelta(minutes=1))
    first = keyed.step(None, [text(1)], Now(0, 0))
    assert keyed.step(first.state, [], Now(5 * MINUTE, 0)).state is not None
    judged = KeyedRule(fs.FALSE | RULES[0], SCHEMA, fs.tumbling("10 minutes", on="ts"), timedelta(minutes=1))
    first = judged.step(None, [text(1), text(12)], Now(0, 0))
    last = judged.step(first.state, [], Now(20 * MINUTE, 0))
    assert last.state is None
    assert not last.said  # both windows have rows


def test_idle_counts_from_the_latest_row_not_from_the_last_that_came():
    keyed = KeyedRule(RULES[0], SCHEMA, fs.tumbling("1 minute", on="ts"), timedelta(minutes=5))
    first = keyed.step(None, [text(9), text(3)], Now(0, 0))
    second = keyed.step(first.state, [], Now(9 * MINUTE, 0))
    assert second.state is not None
    assert [each.instant for each in second.said] == [1, 2, 3, 4, 5]


def test_idle_without_windows_goes_by_the_clock():
    keyed = KeyedRule(fs.eventually(lambda now: total(now) == 9), SCHEMA, idle=timedelta(seconds=2))
    first = keyed.step(None, [text(1)], Now(0, 500))
    assert first.wake == 2_500
    last = keyed.step(first.state, [], Now(0, 3_000, timed_out=True))
    assert last.state is None
    assert [(each.instant, each.decided) for each in last.said] == [(0, None)]


def test_rows_that_come_instead_of_a_timeout_begin_a_new_trace():
    """Spark calls with the rows, and not with the timeout, where both are due in one micro-batch."""
    keyed = KeyedRule(fs.eventually(lambda now: total(now) == 9), SCHEMA, idle=timedelta(seconds=3))
    first = keyed.step(None, [text(1)], Now(0, 500))
    in_time = keyed.step(first.state, [text(1)], Now(0, 3_500))  # as Spark: it is over after the time, not at it
    assert not in_time.said
    assert in_time.wake == 6_500
    later = keyed.step(in_time.state, [text(9)], Now(0, 60_000))
    assert [(each.instant, each.decided) for each in later.said] == [(0, None), (1, None)]
    assert json.loads(later.state)["standing"]["index"] == 1
    without = KeyedRule(keyed.rule, SCHEMA)
    assert not without.step(without.step(None, [text(1)], Now(0, 0)).state, [text(1)], Now(0, 10**9)).said


def test_a_state_that_does_not_know_when_it_was_called_goes_on():
    keyed = KeyedRule(RULES[0], SCHEMA, idle=timedelta(seconds=3))
    kept = json.loads(keyed.step(None, [text(1)], Now(0, 500)).state)
    del kept["called"]
    after = keyed.step(json.dumps(kept), [text(1)], Now(0, 60_000))
    assert json.loads(after.state)["standing"]["index"] == 2


def test_too_many_windows_without_rows_are_refused_and_idle_is_the_way_out():
    over, far = fs.tumbling("1 second", on="ts"), Now(int(timedelta(days=70 * 365).total_seconds() * 1000), 0)
    keyed = KeyedRule(RULES[0], SCHEMA, over)
    state = keyed.step(None, [text(1)], Now(0, 0)).state
    with pytest.raises(InvalidArgument, match=r"2,207,519,940 windows of tumbling\('1 second'.*Give idle=") as refused:
        keyed.step(state, [], far)
    assert "went on to 2039-12-15 00:00:00" in str(refused.value)
    after = KeyedRule(RULES[0], SCHEMA, over, timedelta(seconds=10)).step(state, [], far)  # from the same checkpoint
    assert after.state is None
    assert len(after.said) == 9
    sessions = KeyedRule(RULES[0], SCHEMA, fs.session_window("1 second", on="ts"))
    assert not sessions.step(sessions.step(None, [text(1)], Now(0, 0)).state, [], far).said


def test_sessions_are_judged_when_the_watermark_passes_their_end():
    keyed = KeyedRule(fs.now(lambda now: len(now.input) < 3), SCHEMA, fs.session_window("2 minutes", on="ts"))
    calls = [([text(1), text(2)], 0), ([text(3), text(9)], 3 * MINUTE), ([], 5 * MINUTE), ([], 20 * MINUTE)]
    said, state = called(keyed, calls)
    assert [(each.instant, len(each.records)) for each in said] == [(0, 3)]
    assert json.loads(state)["standing"]["index"] == 2


def test_the_reason_is_that_of_the_formula_where_enough_is_kept():
    asked = fs.now(lambda now: total(now) == 1, name="asked")
    answered = fs.now(lambda now: total(now) == 2, name="answered")
    rule = fs.implies(asked, fs.eventually(answered, within=2))
    said, _ = called(KeyedRule(rule, SCHEMA), [([text(0)], 0), ([text(0, 3)], 0)])
    assert [each.reason for each in said] == [
        "asked held in instant 0, so answered had to hold in one of instants 0 to 1. It does not in any of them."
    ]
    assert [(each.instant, each.decided, each.records) for each in said] == [(0, 1, (text(0, 3),))]


def test_the_reason_names_the_predicates_that_decided_where_too_little_is_kept():
    small = fs.now(lambda now: total(now) < 3, name="small")
    said, _ = called(KeyedRule(fs.historically(small), SCHEMA), [([text(0, n)], 0) for n in (1, 5, 1)])
    assert [each.instant for each in said] == [1, 2]
    assert said[0].reason.startswith("small had to hold in every instant")
    assert said[1].reason == "historically(small) had to hold in instant 2. Instant 2 makes it false: small holds."


def test_predicates_are_called_as_they_were_where_the_rule_was_written():
    made = {}
    exec("rule = lambda now: False", made)  # a worker does not have the file that a lambda is in
    said, _ = called(KeyedRule(fs.now(made["rule"]), SCHEMA, names=("n < 3",)), [([text(0)], 0)])
    assert said[0].reason == "n < 3 had to hold in instant 0. It does not."


def test_so_far_is_refused_and_says_what_to_write():
    keyed = KeyedRule(fs.now(lambda now: len(now.so_far.input) < 3), SCHEMA)
    with pytest.raises(fs.PredicateError, match=r"now\.so_far grows with the stream, so a monitor does not keep it"):
        keyed.step(None, [text(1)], Now(0, 0))


def test_the_checkpoint_of_another_rule_is_refused():
    def at_most(n):
        return KeyedRule(fs.now(lambda now: total(now) < n), SCHEMA)

    state = at_most(1).step(None, [text(1)], Now(0, 0)).state
    at_most(1).step(state, [text(1)], Now(0, 0))
    with pytest.raises(InvalidArgument, match="written by another rule"):
        at_most(2).step(state, [text(1)], Now(0, 0))
    windows = KeyedRule(at_most(1).rule, SCHEMA, fs.tumbling("1 minute", on="ts"))
    with pytest.raises(InvalidArgument, match="or for other windows"):
        windows.step(state, [text(1)], Now(0, 0))


def test_the_state_of_a_rule_with_bounds_does_not_grow():
    keyed = KeyedRule(RULES[1] & RULES[2], SCHEMA)
    sizes, state = [], None
    for number in range(300):
        state = keyed.step(state, [text(0, number % 4)], Now(0, 0)).state
        sizes.append(len(state))
    assert max(sizes[200:]) <= max(sizes[:100]) + 20


def test_moments_in_milliseconds():
    assert milliseconds(moment(1234)) == 1234
    assert milliseconds(moment(1234) + timedelta(microseconds=1)) == 1235
    assert milliseconds(moment(-1)) == -1
