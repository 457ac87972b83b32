"""What is read from functions: clocks, random numbers, state, shapes. Without Spark."""

import datetime as dt
import functools
import math
import operator
import random
import time
import uuid
from time import time as now

import numpy as np
import pandas as pd
import pytest

from firesteel.model.lint.reading import (
    Cause,
    attributes_in,
    causes_in,
    forgets,
    gives_none,
    state_in,
    uses_parameter,
)
from firesteel.model.lint.shapes import (
    WHOLE,
    Merge,
    lucky_places,
    merge_of,
    moved_parts,
    neutral_of,
    order_of_values,
    parts_of_key,
    places_of,
    reads_of_key,
)


def helper(x):
    return random.randint(0, x)


def imports_inside(x):
    import time as clock
    from uuid import uuid4

    return clock.time_ns(), uuid4()


def seeded(x):
    random.seed(x)
    return random.random()


class Callable_:
    def __call__(self, x):
        return time.time()

    def method(self, x):
        return uuid.uuid1()


def partly(a, x):
    return a, now()


@pytest.mark.parametrize(
    "function, causes",
    [
        (lambda x: random.random(), {Cause.RANDOM}),
        (lambda x: [random.choice(x) for _ in x], {Cause.RANDOM}),
        (lambda x: helper(x), {Cause.RANDOM}),
        (lambda x: now(), {Cause.CLOCK}),
        (lambda x: dt.datetime.now(), {Cause.CLOCK}),
        (lambda x: dt.date.today(), {Cause.CLOCK}),
        (imports_inside, {Cause.CLOCK, Cause.RANDOM}),
        (Callable_(), {Cause.CLOCK}),
        (Callable_().method, {Cause.CLOCK}),
        (functools.partial(partly, 1), {Cause.CLOCK}),
        (lambda x: np.random.rand(), {Cause.RANDOM}),
        (lambda x: np.random.default_rng().random(), {Cause.RANDOM}),
        (lambda x: random.Random().random(), {Cause.RANDOM}),
        (random.random, {Cause.RANDOM}),
        (lambda x: time.strftime("%F"), {Cause.CLOCK}),
        (lambda x: time.strftime(x), {Cause.CLOCK}),
        (lambda x: time.localtime(), {Cause.CLOCK}),
        (lambda x: time.gmtime(x), set()),
        (lambda x: time.mktime(x), set()),
        (lambda x: pd.Timestamp.now(), {Cause.CLOCK}),
        (lambda x: pd.Timestamp(x), set()),
        (lambda x: __import__("os") and x, set()),
        (seeded, set()),
        (lambda x: random.Random(x).random(), set()),
        (lambda x: np.random.default_rng(x).random(), set()),
        (lambda x: dt.datetime(2024, 1, 1), set()),
        (lambda x: time.strftime("%Y", time.gmtime(x)), set()),
        (lambda x: uuid.uuid5(uuid.NAMESPACE_URL, x), set()),
        (len, set()),
        (str.upper, set()),
    ],
)
def test_what_hangs_on_luck(function, causes):
    assert {seen.cause for seen in causes_in(function)} == causes


COUNTS = {"n": 0}
SEEN = []


def changes_an_item(x):
    COUNTS["n"] += 1
    return x


def changes_a_global(x):
    global SEEN
    SEEN = [x]


def changes_its_own(x):
    seen = []
    seen.append(x)
    COUNTS.get(x)
    return seen


def changes_one_of_the_same_name(x):
    COUNTS = {}
    COUNTS["n"] = 1

    def inner():
        SEEN.append(x)

    SEEN = []
    inner()
    return COUNTS, SEEN


def test_state_outside_of_a_function():
    assert state_in(changes_one_of_the_same_name) == ()
    kept = set()
    assert state_in(changes_an_item) == ("COUNTS",)
    assert state_in(changes_a_global) == ("SEEN",)
    assert state_in(lambda x: kept.add(x)) == ("kept",)
    assert state_in(changes_its_own) == ()
    assert state_in(len) == ()


def test_parameters_that_are_used():
    assert not uses_parameter(lambda frame, number: frame.count(), 1)
    assert uses_parameter(lambda frame, number: [number for _ in frame], 1)
    assert uses_parameter(print, 1)


@pytest.mark.parametrize(
    "function, kind",
    [
        (lambda a, b: a + b, Merge.BY_TYPE),
        (operator.add, Merge.BY_TYPE),
        (lambda a, b: b + a, Merge.BY_TYPE),
        (lambda a, b: a * b, Merge.ANY_ORDER),
        (lambda a, b: a | b, Merge.BY_TYPE),
        (operator.or_, Merge.BY_TYPE),
        (lambda a, b: a & b, Merge.ANY_ORDER),
        (lambda a, b: max(a, b), Merge.ANY_ORDER),
        (max, Merge.ANY_ORDER),
        (lambda a, b: (a[0] + b[0], min(a[1], b[1])), Merge.BY_TYPE),
        (lambda a, b: a - b, Merge.IN_ORDER),
        (lambda a, b: a, Merge.IN_ORDER),
        (lambda a, b: (max(a[0], b[0]), a[1]), Merge.UNKNOWN),
        (lambda a, b: a + b[0], Merge.UNKNOWN),
        (lambda a, b: a + a, Merge.UNKNOWN),
        (lambda a, b: a if a > b else b, Merge.ANY_ORDER),
        (lambda a, b: b if a[0] >= b[0] else a, Merge.UNKNOWN),
        (lambda a, b: a if a == b else b, Merge.UNKNOWN),
        (lambda a, b: a if -a > -b else b, Merge.UNKNOWN),
        (math.gcd, Merge.ANY_ORDER),
        (helper, Merge.UNKNOWN),
    ],
)
def test_how_values_are_merged(function, kind):
    assert merge_of(function) is kind


def test_parts_of_records():
    assert parts_of_key(lambda p: (-p[1], p[0])) == {0, 1}
    assert parts_of_key(lambda p: p) == {WHOLE}
    assert parts_of_key(None) == {WHOLE}
    assert parts_of_key(operator.itemgetter(1)) == {1}
    assert parts_of_key(lambda p: len(p[0])) == frozenset()
    assert parts_of_key(len) == frozenset()
    assert moved_parts(lambda p: (p[1], p[0], 7)) == {0: 1, 1: 0}
    assert moved_parts(lambda p: p[0]) is None


def test_what_parts_of_a_result_are_made_of():
    made = places_of(lambda p: (p[0], p[1] + len(p[0]), 7, p, sorted(p[1]), p[1][0]))
    assert [set(made[place].reads) for place in range(6)] == [{0}, {0, 1}, set(), {WHOLE}, {1}, set()]
    assert [set(made[place].lists) for place in range(6)] == [{0}, set(), set(), {WHOLE}, set(), set()]
    for unknown in (lambda p: p[1]["a"], lambda p: p[1].a, lambda p: p[1].get("a"), lambda p: p[1][-1]):
        assert places_of(unknown)[WHOLE].reads == frozenset(), "a part of a part"
    assert places_of(lambda p: p[1].strip(p[0]))[WHOLE].reads == {0, 1}
    assert places_of(len) is None and places_of(lambda a, b: a) is None
    assert places_of(operator.itemgetter(1)) == places_of(lambda p: p[1])
    assert reads_of_key(lambda p: (p[1], p[0])) == [{1}, {0}] and reads_of_key(len) == []
    assert neutral_of(lambda a, b: b + a) == neutral_of(operator.add) == 0 and neutral_of(lambda a, b: a * b) == 1
    assert neutral_of(lambda a, b: a + a) is neutral_of(max) is None


def test_state_that_is_dropped():
    def drops(new, old):
        if not new:
            return None
        return sum(new)

    def keeps(new, old):
        return sum(new) + (old or 0)

    assert gives_none(drops) is True and gives_none(keeps) is False and gives_none(sum) is None


class Processor:
    """As Spark's own is: with two classes above it."""


class Base(Processor):
    pass


class Keeps(Base):
    def init(self, handle):
        self.seen = handle.getValueState("seen", "n INT")

    def handleInputRows(self, key, rows, timers):
        self.seen.update((1,))


class Clears(Keeps):
    def init(self, handle):
        self.seen = handle.getValueState("seen", "n INT")
        self.seen.clear()


class Lives(Base):
    def init(self, handle):
        self.seen = handle.getMapState("seen", "k INT", "n INT", ttlDurationMs=1000)


def test_processors_that_forget():
    assert forgets(Keeps()) is False and forgets(Lives()) is True
    assert forgets(Clears()) is None, "what it inherits is not read"
    assert forgets(Base()) is None and forgets(None) is None


def test_attributes_that_are_read():
    assert attributes_in(lambda frame, file: file.write(frame.columns)) == {"write()", "columns"}
    assert attributes_in(print) == frozenset()


def test_the_parts_that_luck_is_in():
    draw = random.random
    assert lucky_places(lambda x: (random.random(), x)) == lucky_places(lambda x: (draw(), x)) == {0}
    assert lucky_places(lambda x: (x, random.random())) == {1}
    assert lucky_places(lambda x: (x, x, random.random(), draw())) == {2, 3}
    assert lucky_places(lambda x: random.random()) == {WHOLE}


def test_the_order_of_grouped_values():
    for sorts in (sorted, sum, len, set, lambda vs: max(vs), lambda vs: len(vs)):
        assert order_of_values(sorts, of_pair=False) is False
    for keeps in (list, tuple, lambda vs: list(vs), lambda vs: next(iter(vs)), lambda vs: [v + 1 for v in vs]):
        assert order_of_values(keeps, of_pair=False) is True
    for keeps in (lambda vs: ",".join(vs), lambda vs: ",".join(map(str, vs)), lambda vs: list(map(str, vs))):
        assert order_of_values(keeps, of_pair=False) is True
    for sorts in (lambda vs: sum(v + 1 for v in vs), lambda vs: {v + 1 for v in vs}, lambda vs: sorted(map(str, vs))):
        assert order_of_values(sorts, of_pair=False) is False
    for unknown in (lambda vs: helper(vs), str):
        assert order_of_values(unknown, of_pair=False) is None
    assert order_of_values(lambda kv: (kv[0], next(iter(kv[1]))), of_pair=True) is True
    assert order_of_values(lambda kv: (kv[0], sum(kv[1])), of_pair=True) is False


def test_the_handler_of_a_table_function():
    class Noisy:
        def eval(self, x):
            yield x, random.random()

    class Plain:
        def eval(self, x):
            yield x, x

    assert [one.cause for one in causes_in(Noisy)] == [Cause.RANDOM] and causes_in(Plain) == ()
