"""The laws of the stream generators: lengths and contents; and that shrinking keeps the shape."""

from random import Random

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

import firesteel as fs
from firesteel import Batch, InvalidArgument, Record, Stream
from firesteel import strategies as ss

A, B = ss.batches(st.just("a"), min_size=1, max_size=2), ss.batches(st.just("b"), min_size=1, max_size=2)
TWO_A = ss.concat(A, A)


def letters(stream):
    """Each batch as the set of its records, written as a word: '', 'a', 'b' or 'ab'."""
    return ["".join(sorted(set(batch))) for batch in stream]


has_a, has_b = fs.now(lambda batch: "a" in batch), fs.now(lambda batch: "b" in batch)
only_a, only_b = fs.now(lambda batch: set(batch) == {"a"}), fs.now(lambda batch: set(batch) == {"b"})


@given(A)
def test_now_is_a_batch(batch):
    assert isinstance(batch, Batch) and 1 <= len(batch) <= 2 and set(batch) == {"a"}


@given(st.integers(1, 4).flatmap(lambda n: st.tuples(st.just(n), ss.next_(A, times=n))))
def test_next(drawn):
    times, stream = drawn
    assert letters(stream) == [""] * times + ["a"]


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), ss.always(A, during=n))))
def test_always(drawn):
    during, stream = drawn
    assert letters(stream) == ["a"] * during
    assert fs.always(only_a, during=during).evaluate(stream)


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), ss.eventually(A, within=n))))
def test_eventually(drawn):
    within, stream = drawn
    assert 1 <= len(stream) <= within
    assert letters(stream) == [""] * (len(stream) - 1) + ["a"]
    assert fs.eventually(only_a, within=within).evaluate(stream)


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), ss.until(A, B, within=n))))
def test_until(drawn):
    within, stream = drawn
    assert 1 <= len(stream) <= within
    assert letters(stream) == ["a"] * (len(stream) - 1) + ["b"]
    assert fs.until(only_a, only_b, within=within).evaluate(stream)


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), ss.release(A, B, during=n))))
def test_release_is_weak(drawn):
    during, stream = drawn
    word = letters(stream)
    released = word == ["b"] * (len(word) - 1) + ["ab"] and len(word) <= during
    assert released or word == ["b"] * during
    assert fs.release(has_a, has_b, during=during).evaluate(stream)


def test_release_draws_both_endings():
    find(ss.release(A, B, during=3), lambda stream: letters(stream) == ["b", "b", "b"])
    find(ss.release(A, B, during=3), lambda stream: letters(stream) == ["b", "b", "ab"])


@given(ss.always(TWO_A, during=3), ss.eventually(TWO_A, within=3), ss.next_(TWO_A), ss.until(TWO_A, B, within=3))
def test_whole_streams_are_laid_over_each_other(every, some, later, until):
    assert letters(every) == ["a"] * 4  # starts at 0, 1 and 2, two batches each
    assert all(2 <= len(every[k]) <= 4 for k in (1, 2))
    assert letters(some)[-2:] == ["a", "a"] and 2 <= len(some) <= 4
    assert letters(later) == ["", "a", "a"]
    end = next(k for k, word in enumerate(letters(until)) if "b" in word)
    assert letters(until)[:end] == ["a"] * end and end <= 2
    if end:  # the last stream of a's reaches one batch further than where b starts
        assert letters(until)[end] == "ab"


@given(st.data())
def test_concat_overlay_and_repeat(data):
    one = data.draw(ss.always(A, during=2))
    joined = data.draw(ss.concat(st.just(one), B, ss.empty(during=2)))
    assert joined == [*one, joined[2], Batch(), Batch()] and letters(joined) == ["a", "a", "b", "", ""]
    laid = data.draw(ss.overlay(st.just(one), ss.next_(B, times=3)))
    assert laid == [one[0], one[1], Batch(), laid[3]] and letters(laid) == ["a", "a", "", "b"]
    batch = data.draw(ss.overlay(A, B))
    assert isinstance(batch, Batch) and set(batch) == {"a", "b"}
    again = data.draw(ss.repeat(ss.until(A, B, within=2), times=3))
    assert letters(again).count("b") == 3 and letters(again)[-1] == "b" and 3 <= len(again) <= 6


def test_any_of():
    either = ss.any_of(ss.next_(A), ss.always(B, during=3), TWO_A)
    for word in (["", "a"], ["b", "b", "b"], ["a", "a"]):
        find(either, lambda stream, word=word: letters(stream) == word)
    assert letters(find(either, lambda stream: True)) == ["", "a"]
    assert find(ss.any_of(B, A), lambda batch: True) == ["b"], "batches stay batches"
    stream = find(ss.timed(ss.any_of(*[ss.batches(ss.records("at TIMESTAMP"), min_size=1)] * 2), **HOURLY), bool)
    assert stream[0][0].at.year == 2000, "and keep their schema"


HOURLY = {"every": "1 hour", "column": "at"}


@given(ss.then(ss.always(A, during=2), lambda stream: ss.always(B, during=len(stream[0]))))
def test_then_depends_on_what_came_before(stream):
    assert letters(stream) == ["a", "a"] + ["b"] * len(stream[0])


def test_repeat_and_always_draw_anew():
    numbers = ss.batches(st.integers(0, 9), min_size=1, max_size=1)
    find(ss.repeat(numbers, times=2), lambda stream: stream[0] != stream[1])
    find(ss.always(numbers, during=2), lambda stream: stream[0] != stream[1])


@given(ss.empty(during=3))
def test_empty(stream):
    assert letters(stream) == ["", "", ""]


# --- shrinking -----------------------------------------------------------------------------------------

N = ss.batches(st.integers(0, 100), max_size=5)
SOME = ss.batches(st.integers(0, 100), min_size=1, max_size=5)


def total(stream):
    return sum(sum(batch) for batch in stream)


@pytest.mark.parametrize(
    "strategy, predicate, smallest",
    [
        (N, lambda batch: any(n > 50 for n in batch), [51]),
        (ss.next_(N, times=2), lambda s: total(s) > 50, [[], [], [51]]),
        (ss.always(N, during=4), lambda s: len(s[2]) >= 2, [[], [], [0, 0], []]),
        (ss.always(SOME, during=3), lambda s: any(n > 50 for n in s[1]), [[0], [51], [0]]),
        (ss.eventually(SOME, within=9), lambda s: len(s) >= 4, [[], [], [], [0]]),
        (ss.until(SOME, N, within=9), lambda s: len(s) >= 3, [[0], [0], []]),
        (ss.until(N, SOME, within=9), lambda s: any(n > 50 for n in s[-1]), [[51]]),
        (ss.release(SOME, N, during=9), lambda s: len(s) >= 3, [[], [], [0]]),
        (ss.concat(ss.until(N, SOME, within=5), ss.always(N, during=2)), lambda s: len(s) >= 4, [[], [0], [], []]),
        (ss.overlay(ss.always(N, during=2), ss.eventually(SOME, within=4)), lambda s: len(s) > 2, [[], [], [0]]),
        (ss.repeat(ss.until(N, SOME, within=3), times=2), lambda s: total(s[1:]) > 9, [[0], [10]]),
        (ss.then(SOME, lambda s: ss.always(N, during=len(s[0]))), lambda s: len(s) > 3, [[0, 0, 0], [], [], []]),
        (ss.next_(N) | ss.empty(during=3), lambda s: len(s) > 2, [[], [], []]),
    ],
)
def test_shrinking_keeps_the_shape_and_finds_the_smallest(strategy, predicate, smallest):
    found = find(strategy, predicate, settings=settings(max_examples=2_000, database=None), random=Random(0))
    assert found == smallest


# --- large batches ---------------------------------------------------------------------------------------

SCHEMA = "user BIGINT NOT NULL, honest BOOLEAN NOT NULL"
user = ss.records(SCHEMA, user=st.integers(1, 50))
BIG = ss.batches(user, min_size=40, max_size=350)
LARGE = ss.always(ss.batches(user, min_size=350, max_size=350), during=20)


@settings(max_examples=20)
@given(LARGE)
def test_twenty_batches_of_350_are_drawn(stream):
    assert [len(batch) for batch in stream] == [350] * 20
    assert stream.schema.fieldNames() == ["user", "honest"]
    assert all(type(r) is Record and 1 <= r.user <= 50 and type(r.honest) is bool for batch in stream for r in batch)


@pytest.mark.slow
def test_large_batches_are_varied():
    records, mixtures = [], []

    @settings(max_examples=30, database=None, phases=[Phase.generate])
    @given(LARGE)
    def draw(stream):
        records.append(len({r for batch in stream for r in batch}))
        mixtures.append(len({batch.records for batch in stream}))

    draw()
    assert max(records) >= 20, "users and honesty are mixed"
    assert sorted(mixtures)[len(mixtures) // 2] >= 15, "each batch is its own mixture"


def smallest(strategy, predicate, seed=0):
    quick = settings(max_examples=2_000, database=None, phases=[Phase.generate, Phase.shrink])
    return find(strategy, predicate, settings=quick, random=Random(seed))


@pytest.mark.slow
def test_large_batches_shrink_to_a_few_records():
    """Of five seeds, as what Hypothesis draws also depends on the modules that are loaded: mostly a few are left."""
    twenty = ss.always(ss.batches(user, max_size=350), during=20)
    found = [smallest(twenty, lambda s: any(r == (15, True) for b in s for r in b), seed) for seed in range(5)]
    assert {len(stream) for stream in found} == {20}
    sizes = sorted(sum(map(len, stream)) for stream in found)
    assert sizes[2] <= 20, f"the record itself, or a few whose columns make it: {sizes}"


def test_large_batches_shrink_to_their_size():
    stream = smallest(ss.always(ss.batches(user, max_size=350), during=3), lambda s: len(s[1]) > 100)
    assert stream == [[], [(1, False)] * 101, []]


def test_large_batches_stay_in_their_bounds_when_they_shrink():
    stream = smallest(ss.until(BIG, BIG, within=9), lambda s: len(s) > 1 and any(r.user == 15 for r in s[1]))
    assert [len(batch) for batch in stream] == [40, 40]
    assert {r.user for batch in stream for r in batch} == {1, 15}


WIDE = ss.records(", ".join(f"c{n} INT" for n in range(12)))


@settings(max_examples=10, database=None, phases=[Phase.generate])
@given(ss.always(ss.batches(WIDE, min_size=10, max_size=20), during=40))
def test_many_small_batches_fit_into_one_example(stream):
    assert len(stream) == 40 and all(10 <= len(batch) <= 20 for batch in stream)


PAIRED = ss.records(SCHEMA, user=st.integers(1, 14), honest=st.just(True)) | ss.records(
    SCHEMA, user=st.just(15), honest=st.just(False)
)


@pytest.mark.parametrize(
    "elements", [PAIRED, user.filter(lambda r: (r.user == 15) != r.honest)], ids=["alternatives", "filtered"]
)
def test_large_batches_keep_what_their_records_promise(elements):
    @settings(max_examples=40, database=None, phases=[Phase.generate])
    @given(ss.batches(elements, min_size=40, max_size=60))
    def check(batch):
        assert all((r.user == 15) != r.honest for r in batch)

    check()


def test_a_batch_without_a_schema_takes_on_that_of_its_stream():
    by_hand = st.just(Batch([(15, False)]))
    for streams in (ss.concat(ss.batches(user), by_hand), ss.overlay(ss.always(ss.batches(user), during=1), by_hand)):
        stream = find(streams, lambda s: True)
        assert stream[-1][0].user == 15 and stream[-1].schema == stream.schema
    with pytest.raises(InvalidArgument, match="does not fit the schema"):
        find(ss.concat(ss.batches(user), st.just(Batch([("x", 1)]))), lambda s: True)


# --- schemas -------------------------------------------------------------------------------------------------


def test_the_schema_passes_through_alternatives_filters_and_combinators():
    good, bad = user.filter(lambda r: r.honest), user
    either = ss.batches(good | bad, max_size=3) | ss.batches(good, max_size=3)
    stream = find(ss.concat(ss.until(either, either, within=2), ss.empty(during=1)), lambda s: True)
    assert stream.schema.fieldNames() == ["user", "honest"] and not any(stream)


def test_a_schema_is_given_where_records_are_mapped():
    doubled = user.map(lambda r: (2 * r.user, r.honest))
    assert find(ss.batches(doubled, min_size=1), lambda b: True) == [(2, False)]
    assert find(ss.batches(doubled, min_size=1, schema=SCHEMA), lambda b: True)[0].user == 2


class Event:
    user: int
    note: str | None


def test_records_from_type_hints():
    assert find(ss.records(Event), lambda r: r.note is None and r.user > 3) == Record(user=4, note=None)


# --- bad input -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ss.records(SCHEMA, usr=st.integers()), "usr=integers() names no column: the schema has user, honest"),
        (lambda: ss.records(SCHEMA, user=5), "user=5 (int) is not a strategy: write st.just(...) around a fixed value"),
        (lambda: ss.records(None), "schema=None (NoneType) is not a schema"),
        (lambda: ss.batches([1, 2]), "elements=[1, 2] (list) is not a strategy"),
        (lambda: ss.batches(user, min_size=-1), "min_size=-1 (int) is not possible: write a whole number from 0"),
        (lambda: ss.batches(user, min_size=3, max_size=2), "max_size=2 (int) is less than min_size=3 (int)"),
        (lambda: ss.always(N, during=0), "during=0 (int) is not possible: write a whole number from 1"),
        (lambda: ss.always(N, during=True), "during=True (bool) is not possible"),
        (lambda: ss.until(N, N, within="3"), "within='3' (str) is not possible"),
        (lambda: ss.always([[1]], during=2), "each=[[1]] (list) is not a strategy"),
        (lambda: ss.always(Batch([1]), during=2), "each=Batch([1]) (Batch) is not a strategy"),
        (lambda: ss.concat(N, Stream(None, [])), "streams[1]=Stream(None, []) (Stream) is not a strategy"),
        (lambda: ss.any_of(), "ss.any_of() has nothing to choose from: write ss.any_of(first, second)"),
        (lambda: ss.any_of([N, N]), "is not a strategy: write ss.any_of(first, second), or ss.any_of(*streams)"),
        (lambda: ss.any_of(N, Batch([1])), "streams[1]=Batch([1]) (Batch) is not a strategy"),
        (lambda: ss.then(N, N), "is not a function: write a function of the stream drawn so far"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(InvalidArgument) as error:
        make()
    assert message in str(error.value)


@pytest.mark.parametrize(
    "strategy, message",
    [
        (ss.always(user, during=2), "ss.always drew the record Record(user=1, honest=False), where a batch"),
        (ss.concat(st.just([1])), "ss.concat drew value=[1] (list), where a batch or a stream is meant"),
        (ss.batches(ss.records("n TINYINT", n=st.just(300)), min_size=1), "n: 300 is out of range for TINYINT"),
        (ss.then(N, lambda s: 5), "what rest returned=5 (int) is not a strategy"),
    ],
)
def test_bad_draws(strategy, message):
    with pytest.raises(InvalidArgument) as error:
        find(strategy, lambda value: True)
    assert message in str(error.value)
