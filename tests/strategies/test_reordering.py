"""Streams that differ only in an order that does not matter."""

from itertools import permutations
from random import Random

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

import firesteel as fs
from firesteel import strategies as ss
from firesteel.logic.verdicts import Verdict
from tests.equivalence.random_streams import dependences, record
from tests.values.test_orders import allowed

MANY = settings(max_examples=400, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
RIDES = fs.Stream("taxi INT, at INT", [[(1, 1), (2, 2), (1, 3)], [], [(2, 4), (3, 5)]])


def rows(stream):
    return [tuple(r) for batch in stream for r in batch]


def drawn(strategy, examples=MANY):
    found = []

    @examples
    @given(strategy)
    def draw(stream):
        found.append(stream)

    draw()
    return found


def equal(left, right, dependence):
    matcher = fs.Matcher(dependence)
    for each in left:
        matcher.left(each)
    for each in right:
        matcher.right(each)
    return matcher.finish()


@pytest.mark.parametrize("name", dependences(Random(0)))
def test_what_is_drawn_is_equal_up_to_the_dependence(name):
    random = Random(3)
    dependence = dependences(random)[name]
    records = [record(random) for _ in range(6)]
    stream = fs.Stream(None, [records[:2], [], records[2:]])
    few = settings(MANY, max_examples=40)
    for other in drawn(ss.reordered(stream, keeping=dependence), few):
        assert equal(records, [r for b in other for r in b], dependence) is Verdict.TRUE
        assert [len(batch) for batch in other] == [2, 0, 4]


def test_every_equal_order_can_be_drawn():
    for dependence in (fs.same_key("taxi"), fs.same_key("taxi") | fs.barrier(lambda r: r.at == 3), fs.ordered()):
        records = [r for b in RIDES for r in b]
        right = {tuple(tuple(records[place]) for place in order) for order in allowed(records, dependence)}
        assert {tuple(rows(stream)) for stream in drawn(ss.reordered(RIDES, keeping=dependence))} == right
    assert len(allowed(records, fs.same_key("taxi"))) == 30


def test_within_its_batch():
    found = {tuple(rows(s)) for s in drawn(ss.reordered(RIDES, keeping=fs.same_key("taxi"), across_batches=False))}
    first = [[(1, 1), (2, 2), (1, 3)], [(1, 1), (1, 3), (2, 2)], [(2, 2), (1, 1), (1, 3)]]
    assert found == {(*a, *b) for a in first for b in permutations([(2, 4), (3, 5)])}


def test_it_shrinks_to_the_stream_as_it_is():
    loose = ss.reordered(RIDES, keeping=fs.unordered())
    assert rows(find(loose, lambda stream: True)) == rows(RIDES)
    moved = find(loose, lambda stream: rows(stream).index((3, 5)) == 0)
    assert rows(moved) == [(3, 5), (1, 1), (2, 2), (1, 3), (2, 4)], "the others stay where they were"
    with pytest.raises(NoSuchExample):
        find(ss.reordered(RIDES, keeping=fs.same_key("taxi")), lambda s: rows(s).index((1, 3)) == 0, settings=MANY)


def test_streams_that_are_drawn():
    batches = ss.batches(st.integers(0, 3), min_size=2, max_size=2)
    streams = ss.reordered(ss.always(batches, during=2), keeping=fs.ordered())
    assert find(streams, lambda s: s[1][0] == 3) == fs.Stream(None, [[0, 0], [3, 0]])
    (only,) = find(ss.reordered(batches, keeping=fs.unordered()), lambda s: s[0][0] == 1)
    assert list(only) == [1, 0], "a batch is a stream of one"


def test_large_streams_take_one_choice():
    many = fs.Stream("k INT, n INT", [[(n % 7, n) for n in range(150)], [(n % 7, n) for n in range(150, 300)]])
    strategy = ss.reordered(many, keeping=fs.same_key("k"))
    found = drawn(strategy, settings(MANY, max_examples=5))
    assert any(rows(stream) != rows(many) for stream in found)
    for stream in found:
        records = [r for batch in stream for r in batch]
        assert equal([r for batch in many for r in batch], records, fs.same_key("k")) is Verdict.TRUE
    assert rows(find(strategy, lambda s: True, settings=settings(MANY, max_examples=3))) == rows(many)


def test_partitions_stay():
    batch = fs.Batch([(1,), (2,), (3,)], schema="k INT", partitions=[1, 2])
    stream = find(ss.reordered(fs.Stream(None, [batch]), keeping=fs.unordered()), lambda s: s[0][0].k == 3)
    assert stream[0].partitions == (1, 2)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([[1]], fs.unordered()), r"streams=\[\[1\]\] .* is not a stream: write fs.Stream"),
        ((RIDES, "taxi"), r"keeping='taxi' .* is not a dependence: write fs.same_key"),
        ((RIDES, lambda a, b: True), "is not a dependence: write fs.depends"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(fs.InvalidArgument, match=message):
        ss.reordered(arguments[0], keeping=arguments[1])
    with pytest.raises(fs.InvalidArgument, match=r"across_batches=1 .* write True or False"):
        ss.reordered(RIDES, keeping=fs.unordered(), across_batches=1)


def test_a_column_that_is_not_there():
    with pytest.raises(fs.InvalidArgument, match=r"same_key\('cab'\) asks for the column 'cab'"):
        find(ss.reordered(st.just(RIDES), keeping=fs.same_key("cab")), lambda s: True)
